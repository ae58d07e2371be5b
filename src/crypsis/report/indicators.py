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


def indicators_view(indicator_check: IndicatorCheck) -> RenderableType:
    """Whether the indicators pass, and every estimate before and after."""
    state = Text("pass", "bold green") if indicator_check.passed else Text("fail", "bold red")
    head = Text.assemble(
        "The indicators ",
        state,
        f": {indicator_check.failed:,} of {indicator_check.checked:,} estimates fail.",
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("indicator", "original", "masked", "overlap", "change", ""):
        right = name in ("original", "masked", "overlap", "change")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for result in indicator_check.results:
        table.add_row(
            Text.assemble(shown(result.name), f" ({result.part})"),
            _number(result.original),
            _number(result.masked),
            "–" if result.overlap is None else f"{result.overlap:.2f}",
            "–" if result.change is None else f"{100 * result.change:.3g} %",
            Text("passes", "green") if result.passed else Text("fails", "red"),
        )
    reasons = dict.fromkeys(
        f"{result.name}: {result.why}"
        for result in indicator_check.results
        if result.masked is None or result.original is None
    )
    return Group(head, Text(), table, *(Text(text) for text in reasons))


def _number(value: Estimate | None) -> str:
    if value is None:
        return "–"
    half = (value.high - value.low) / 2
    return " ± ".join(f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}" for x in (value.value, half))
