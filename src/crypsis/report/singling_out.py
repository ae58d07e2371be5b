"""Quasi-identifiers in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report.terminal import shown
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.singling_out import ColumnSet, QuasiIdentifiers

_MEANING = {
    "F1": "share of records that are unique",
    "F2": "share of people that may be unique in the population",
}


def quasi_identifiers_view(quasi_identifiers: QuasiIdentifiers, *, limit: int = 10) -> RenderableType:
    """The minimal sets that single people out, and the columns that contribute most."""
    head = Text.assemble(("Quasi-identifiers", "bold"), f" at alpha {quasi_identifiers.alpha:g}")
    head.append(f" by {quasi_identifiers.measure}: {_MEANING[quasi_identifiers.measure]}")
    parts: list[RenderableType] = [Text(), head]
    if quasi_identifiers.found:
        parts.append(_sets(quasi_identifiers, limit))
        if len(quasi_identifiers.found) > limit:
            parts.append(Text(f"and {len(quasi_identifiers.found) - limit:,} more", "dim"))
    else:
        parts.append(Text(f"No set of up to {quasi_identifiers.max_columns} columns reaches alpha.", "green"))
    if quasi_identifiers.ranking:
        first = [share for share in quasi_identifiers.ranking if float(share.contribution) > 0][:5]
        names = Text(", ").join(
            Text.assemble(shown(share.column), f" {number_text(share.contribution, '.3f')}")
            for share in first
        )
        parts.append(Text.assemble("Largest contributions to uniqueness: ", names))
    if not quasi_identifiers.complete:
        parts.append(Text("The search was interrupted; there may be more sets.", "yellow"))
    return Group(*parts)


def _sets(quasi_identifiers: QuasiIdentifiers, limit: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("columns", overflow="fold")
    for name in ("unique records", "F1", *(["F2", "k"] if quasi_identifiers.measure == "F2" else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for column_set in quasi_identifiers.found[:limit]:
        table.add_row(
            Text(", ").join(map(shown, column_set.columns)), *_numbers(column_set, quasi_identifiers.measure)
        )
    return table


def _numbers(column_set: ColumnSet, measure: str) -> list[str]:
    numbers = [f"{column_set.singletons:,}", f"{column_set.unique_fraction:.3f}"]
    if measure == "F2" and column_set.population_bound is not None:
        mean = column_set.population_mean_class_size or 1
        numbers += [f"{column_set.population_bound:.3f}", f"{mean:,.3g}"]
    return numbers
