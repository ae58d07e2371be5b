"""Two files: can masked records be linked back, and what does one person learn of her own?"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from crypsis import linkage
from crypsis.engine import Kind
from crypsis.errors import ColumnError, InputError
from crypsis.release import Release, Role
from crypsis.report.charts import linkage as charts
from crypsis.report.figures import figure
from crypsis.report.json import to_json
from crypsis.report.linkage import comparison_page, intruders
from crypsis.web.operations._assessing import figure_told
from crypsis.web.operations._desk import Desk


def compare(
    desk: Desk,
    *,
    original: dict[str, Any],
    masked: dict[str, Any],
    on: str | None = None,
    columns: list[str] | None = None,
    frequency: bool = False,
    acceptable: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Links, their trust, permutation and noise; the page is written to the table's folder."""
    with desk.engine:
        first, second = desk.release(original), desk.release(masked)
        names, orders, notes = _comparable(first, second, columns, frequency, on)
        found = linkage.compare(
            first, second, columns=names, orders=orders, on=on, acceptable=acceptable, seed=seed
        )
    title = f"{original['title']} and {masked['title']}"
    page = comparison_page(found, title, notes)
    (desk.folder / "comparison.html").write_text(page, encoding="utf-8")
    (desk.folder / "comparison.json").write_text(to_json("compare", found), encoding="utf-8")
    drawn = [charts.match_distances(found.verification.dependent or found.verification.independent)]
    drawn.append(charts.column_distances(found.link))
    if found.link.correct is not None:
        drawn.append(charts.links(intruders(found)))
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "records": found.records,
        "masked_records": found.masked_records,
        "columns": list(found.columns),
        "left_out": [*found.left_out, *notes],
        "intruders": [
            {
                "name": name, "correct": link.correct, "multiple": getattr(link, "multiple", 0),
                "records": link.records, "chance": link.chance,
                "right": None if link.right is None else link.right.to_dict(),
            }
            for name, link in intruders(found)
        ],
        "figures": [figure_told(figure(chart)) for chart in drawn],
    }  # fmt: skip


def _comparable(
    first: Release, second: Release, asked: list[str] | None, frequency: bool, on: str | None
) -> tuple[list[str], dict[str, Any], list[str]]:
    """The columns to compare, the orders of categories, and a note for each that is left out."""
    names: list[str] = []
    orders: dict[str, Any] = {}
    notes: list[str] = []
    for name in asked or first.names:
        if name == on or (not asked and name not in second.names):
            continue
        if first.roles.get(name) is Role.IDENTIFIER:
            continue
        if not _has_order(first, name):
            if not frequency and not asked:
                notes.append(f"Column {name!r}: categories without an order.")
                continue
            orders[name] = "frequency"
        if not asked and any(one.rows.tally([name]).missing for one in (first, second)):
            notes.append(f"Column {name!r}: a missing value has no rank.")
            continue
        names.append(name)
    if not names:
        raise ColumnError(
            "The files share no column that could be ranked. Let categories be ordered by how "
            "frequent they are."
        )
    return names, orders, notes


def _has_order(release: Release, name: str) -> bool:
    kind = release.rows.column(name).kind
    return kind.ordered or kind is Kind.BOOLEAN


def subject(
    desk: Desk,
    *,
    file: dict[str, Any],
    record: dict[str, str] | None = None,
    permutation_only: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """What one person can check with her own values and the release; nothing of it is kept."""
    with desk.engine:
        released = desk.release(file)
        if record is None:
            return {
                "columns": [
                    {"name": column.name, "kind": column.kind.value}
                    for column in released.rows.columns
                    if column.kind is not Kind.NESTED
                ],
                "rows": released.count,
            }
        mine = _typed(released, record)
        names = list(mine)
        orders: Any = {name: "frequency" for name in names if not _has_order(released, name)}
        found = linkage.subject(
            pa.table(mine), released, permutation_only=permutation_only, columns=names,
            orders=orders, seed=seed,
        )  # fmt: skip
    told = found.to_dict()
    notes = [f"Column {name!r}: categories, ordered by how frequent they are." for name in orders]
    return {
        "words": told["words"], "records": told["records"], "criterion": told["criterion"],
        "columns": told["columns"], "notes": notes,
    }  # fmt: skip


def _typed(release: Release, record: dict[str, str]) -> dict[str, Any]:
    """What was typed, as the release has it; no message quotes it."""
    given = {name: text.strip() for name, text in record.items() if text.strip()}
    if not given:
        raise InputError("Give your own value of at least one column.")
    for name in given:
        release.rows.column(name)  # says so if there is no such column
    schema = release.to_arrow(list(given)).schema
    typed = {}
    for name, text in given.items():
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        try:
            typed[name] = pa.array([text]).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ColumnError(
                f"What was typed for {name!r} cannot be read as the release has it ({kind})."
            ) from None
    return typed
