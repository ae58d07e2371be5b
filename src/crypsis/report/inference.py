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


def leakage_view(leakage: Leakage, *, limit: int, reveal: bool) -> RenderableType:
    """What the given columns reveal about the target; data values only with `reveal`."""
    names = Text(", ").join(shown(name) for name in leakage.given)
    head = Text.assemble((shown(leakage.target).plain, "bold"), " from ", names)
    classes = "equivalence class" if leakage.classes == 1 else "equivalence classes"
    head.append(f": {leakage.records:,} records in {number_text(leakage.classes, ',')} {classes}")
    parts: list[RenderableType] = [head, "", _measures(leakage)]
    first = leakage.first(limit)
    if first:
        parts += ["", _classes(first, reveal)]
    if len(leakage.contributions) > 1:
        most = leakage.contributions[0]
        note = Text.assemble("Of the given columns ", shown(most.column), " adds the most: ")
        parts += ["", note.append(f"{most.added_bits:.3g} bits.")]
    notes = []
    if not leakage.complete:
        notes.append(
            f"Estimated from {leakage.classes_counted:,} classes that were counted in full, with "
            f"{100 * leakage.confidence:.3g} % confidence intervals. There may be riskier classes "
            "than those counted. --exact counts all."
        )
    for text in notes:
        parts += ["", Text(text, "yellow")]
    return Group(*parts, "")


def _measures(leakage: Leakage) -> Table:
    guess, shuffled = leakage.best_guess, leakage.itpr_shuffled
    chance = "of the riskiest class"
    if shuffled is not None:
        chance = f"{float(shuffled):.4g} if the target were shuffled"
    rows = [
        ("best guess", guess.worst, "in the worst class"),
        ("", guess.average, "on average"),
        ("", guess.prior, "without the given columns"),
        ("one value only", leakage.homogeneous_share, "share of the records in such classes"),
        ("ITPR", leakage.itpr, chance),
        ("discrimination rate", leakage.discrimination_rate, "share of the uncertainty removed"),
        ("mutual information", leakage.mutual_information, f"of {leakage.entropy_bits:.4g} bits"),
        ("l-diversity", leakage.distinct_l, "fewest values in a class"),
    ]
    if leakage.t is not None:
        rows.append(("t-closeness", leakage.t, "largest distance of a class from all records"))
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
    for position, equivalence_class in enumerate(classes, 1):
        values_text = ", ".join(map(str, equivalence_class.group.values)) if reveal else f"{position}."
        numbers = (
            f"{equivalence_class.group.size:,}",
            f"{equivalence_class.best_guess:.4g}",
            f"{equivalence_class.distinct:,}",
        )
        guess = [shown(str(equivalence_class.guess))] if reveal else []
        table.add_row(shown(values_text, 60), *numbers, *guess)
    return table
