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


def quasi_identifiers_view(found: QuasiIdentifiers, *, limit: int = 10) -> RenderableType:
    """The minimal sets that single people out, and the columns that contribute most."""
    head = Text.assemble(("Quasi-identifiers", "bold"), f" at alpha {found.alpha:g}")
    head.append(f" by {found.measure}: {_MEANING[found.measure]}")
    parts: list[RenderableType] = [Text(), head]
    if found.found:
        parts.append(_sets(found, limit))
        if len(found.found) > limit:
            parts.append(Text(f"and {len(found.found) - limit:,} more", "dim"))
    else:
        parts.append(Text(f"No set of up to {found.max_columns} columns reaches alpha.", "green"))
    if found.ranking:
        first = [share for share in found.ranking if float(share.contribution) > 0][:5]
        names = Text(", ").join(
            Text.assemble(shown(share.column), f" {number_text(share.contribution, '.3f')}")
            for share in first
        )
        parts.append(Text.assemble("Largest contributions to uniqueness: ", names))
    if not found.complete:
        parts.append(Text("The search was interrupted; there may be more sets.", "yellow"))
    return Group(*parts)


def _sets(found: QuasiIdentifiers, limit: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("columns", overflow="fold")
    for name in ("unique records", "F1", *(["F2", "k"] if found.measure == "F2" else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found.found[:limit]:
        table.add_row(Text(", ").join(map(shown, one.columns)), *_numbers(one, found.measure))
    return table


def _numbers(one: ColumnSet, measure: str) -> list[str]:
    numbers = [f"{one.singletons:,}", f"{one.unique_fraction:.3f}"]
    if measure == "F2" and one.population_bound is not None:
        mean = one.population_mean_class_size or 1
        numbers += [f"{one.population_bound:.3f}", f"{mean:,.3g}"]
    return numbers
