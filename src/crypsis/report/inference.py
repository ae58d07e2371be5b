"""Leakage in the terminal: the best guess, ITPR, and the riskiest equivalence classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report.terminal import shown
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.inference import ClassRisk, Leakage


def leakage_view(found: Leakage, *, limit: int, reveal: bool) -> RenderableType:
    """What the given columns reveal about the target; data values only with `reveal`."""
    names = Text(", ").join(shown(name) for name in found.given)
    head = Text.assemble((shown(found.target).plain, "bold"), " from ", names)
    classes = "equivalence class" if found.classes == 1 else "equivalence classes"
    head.append(f": {found.records:,} records in {number_text(found.classes, ',')} {classes}")
    parts: list[RenderableType] = [head, "", _measures(found)]
    first = found.first(limit)
    if first:
        parts += ["", _classes(first, reveal)]
    if len(found.contributions) > 1:
        most = found.contributions[0]
        note = Text.assemble("Of the given columns ", shown(most.column), " adds the most: ")
        parts += ["", note.append(f"{most.added_bits:.3g} bits.")]
    notes = []
    if not found.complete:
        notes.append(
            f"Estimated from {found.classes_counted:,} classes that were counted in full, with "
            f"{100 * found.confidence:.3g} % confidence intervals. There may be riskier classes "
            "than those counted. --exact counts all."
        )
    for text in notes:
        parts += ["", Text(text, "yellow")]
    return Group(*parts, "")


def _measures(found: Leakage) -> Table:
    guess, shuffled = found.best_guess, found.itpr_shuffled
    chance = "of the riskiest class"
    if shuffled is not None:
        chance = f"{float(shuffled):.4g} if the target were shuffled"
    rows = [
        ("best guess", guess.worst, "in the worst class"),
        ("", guess.average, "on average"),
        ("", guess.prior, "without the given columns"),
        ("one value only", found.homogeneous_share, "share of the records in such classes"),
        ("ITPR", found.itpr, chance),
        ("discrimination rate", found.discrimination_rate, "share of the uncertainty removed"),
        ("mutual information", found.mutual_information, f"of {found.entropy_bits:.4g} bits"),
        ("l-diversity", found.distinct_l, "fewest values in a class"),
    ]
    if found.t is not None:
        rows.append(("t-closeness", found.t, "largest distance of a class from all records"))
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value, meaning in rows:
        table.add_row(name, number_text(value), meaning)
    return table


def _classes(classes: Sequence[ClassRisk], reveal: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("riskiest classes", overflow="fold")
    for name in ("records", "best guess", "values"):
        table.add_column(name, justify="right", no_wrap=True)
    if reveal:
        table.add_column("guess", overflow="fold")
    for place, one in enumerate(classes, 1):
        known = ", ".join(map(str, one.group.values)) if reveal else f"{place}."
        numbers = (f"{one.group.size:,}", f"{one.best_guess:.4g}", f"{one.distinct:,}")
        guess = [shown(str(one.guess))] if reveal else []
        table.add_row(shown(known, 60), *numbers, *guess)
    return table
