"""Benchmarking indicators in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report.terminal import shown

if TYPE_CHECKING:
    from crypsis.results import Estimate
    from crypsis.utility import IndicatorCheck


def indicators_view(found: IndicatorCheck) -> RenderableType:
    """Whether the indicators pass, and every estimate before and after."""
    state = Text("pass", "bold green") if found.passed else Text("fail", "bold red")
    head = Text.assemble(
        "The indicators ", state, f": {found.failed:,} of {found.checked:,} estimates fail."
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("indicator", "original", "masked", "overlap", "change", ""):
        right = name in ("original", "masked", "overlap", "change")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for one in found.results:
        table.add_row(
            Text.assemble(shown(one.name), f" ({one.part})"),
            _number(one.original),
            _number(one.masked),
            "–" if one.overlap is None else f"{one.overlap:.2f}",
            "–" if one.change is None else f"{100 * one.change:.3g} %",
            Text("passes", "green") if one.passed else Text("fails", "red"),
        )
    reasons = dict.fromkeys(
        f"{one.name}: {one.why}"
        for one in found.results
        if one.masked is None or one.original is None
    )
    return Group(head, Text(), table, *(Text(text) for text in reasons))


def _number(value: Estimate | None) -> str:
    if value is None:
        return "–"
    half = (value.high - value.low) / 2
    return " ± ".join(f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}" for x in (value.value, half))
