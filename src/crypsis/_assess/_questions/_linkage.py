"""Can a masked record be linked back to its original?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crypsis._assess._questions._asked import Asked, unanswered
from crypsis.engine import Kind
from crypsis.errors import ColumnError
from crypsis.policy import Measurement, Policy
from crypsis.release import Release, Role
from crypsis.results import Estimate


def ask_linkage(
    release: Release, original: Release | None, policy: Policy, on: str | None, seed: int,
    row_map: Sequence[int] | None = None,
) -> Asked:  # fmt: skip
    """Can an intruder with the original link records back, and trust his links?"""
    if original is None:
        text = "Not asked: the original is needed (--original FILE)."
        return unanswered("linkage", policy, text)
    from crypsis import linkage  # not before it is asked for: it takes a second to load

    aligned = on is None and row_map is None and original.count == release.count
    names, left = _comparable(original, release, on, aligned)
    notes = [_left_out(left)] if left else []
    both: tuple[Any, Any] = (original, release)
    if aligned:
        both, gone = _whole_rows(original, release, names)
        if gone:
            notes.append(f"{gone:,} rows with missing values were left out of the links.")
    check = linkage.verify(*both, columns=names, on=on, row_map=row_map, seed=seed)
    links = linkage.link(*both, columns=names, on=on, row_map=row_map, seed=seed)
    asked = Asked("", results={"verification": check, "link": links}, notes=notes)
    if check.right is None:
        why = (
            "Nobody knows which masked record belongs to whom: the files differ in their rows. "
            "Name a column of record numbers (--on), or the key file (--key)."
        )
        asked.measured.append(
            Measurement("linkage.right_links_above_chance", None, why, asked=True)
        )
    else:
        right = check.right
        above = _above(right, check.chance)
        text = (
            f"The nearest masked record is the right one for {right.value:.2%} of "
            f"{check.records:,} records; a blind guess is for {check.chance:.3%}."
        )
        if left:
            text += f" {len(left)} columns without an order or with missing values are left out."
        people = round(right.value * check.records)
        asked.measured.append(
            Measurement(
                "linkage.right_links_above_chance",
                above,
                text,
                check.columns,
                people,
                floor=bool(left),
            )
        )
    if check.dependent is None:
        why = "It needs to be known which masked record belongs to whom (--on)."
        asked.measured.append(Measurement("linkage.nearer_than_strangers", None, why, asked=True))
    else:
        near = check.dependent
        text = (
            f"Originals match nearer than strangers by {near.advantage.value:.3f}; "
            f"{near.discoveries:,} links are too near for chance."
        )
        asked.measured.append(
            Measurement("linkage.nearer_than_strangers", near.advantage, text, check.columns,
                        near.discoveries, floor=bool(left))
        )  # fmt: skip
    headline = asked.measured[0].statement
    return Asked(headline, asked.measured, asked.results, asked.notes)


def _above(right: Estimate, chance: float) -> Estimate:
    low, value, high = (max(0.0, x - chance) for x in (right.low, right.value, right.high))
    return Estimate(value, low, high, right.confidence, right.method, right.assumes)


def _comparable(
    original: Release, release: Release, on: str | None, aligned: bool
) -> tuple[list[str], list[str]]:
    """The columns that both files can rank, and why others are left out."""
    names, left = [], []
    for column in release.rows.columns:
        name = column.name
        if name == on or name not in original.names:
            continue
        if release.roles.get(name) is Role.IDENTIFIER:
            continue
        before = original.rows.column(name).kind
        ranked = all(kind.ordered or kind is Kind.BOOLEAN for kind in (before, column.kind))
        if ranked and (aligned or not (_missing(original, name) or _missing(release, name))):
            names.append(name)
        else:
            left.append(name)
    if not names:
        raise ColumnError(
            "The original and the release share no column that could be ranked without missing "
            "values; compare them with `crypsis compare --order`."
        )
    return names, left


def _left_out(left: Sequence[str]) -> str:
    return (
        f"Left out of the links: {', '.join(map(repr, left))} (categories without an order, or "
        "missing values). With them an intruder may do better, so the links found are the least "
        "there are; `crypsis compare` takes orders."
    )


def _missing(release: Release, name: str) -> bool:
    return release.rows.tally([name]).missing > 0


def _whole_rows(
    original: Release, release: Release, names: list[str]
) -> tuple[tuple[pa.Table, pa.Table], int]:
    """The rows, aligned, that miss nothing on either side: a missing value has no rank."""
    tables = [one.to_arrow(names) for one in (original, release)]
    whole = pa.chunked_array([pa.array([True] * tables[0].num_rows)])
    for table in tables:
        for column in table.columns:
            whole = pc.and_(whole, pc.is_valid(column))
    kept = [table.filter(whole) for table in tables]
    return (kept[0], kept[1]), tables[0].num_rows - kept[0].num_rows
