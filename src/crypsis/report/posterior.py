"""The posterior of links in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.results import Estimate, number_text, percent_text

if TYPE_CHECKING:
    from crypsis.protection import LinkPosterior


def posterior_view(link_posterior: LinkPosterior, title: str) -> RenderableType:
    """How likely the links of an intruder are who knows the masks."""
    share = link_posterior.expected_share
    text = share.text(".2%") if isinstance(share, Estimate) else number_text(share, ".2%")
    parts: list[RenderableType] = [
        Text.assemble(
            (title, "bold"),
            f": {link_posterior.records:,} records, {len(link_posterior.columns)} "
            f"column{'' if len(link_posterior.columns) == 1 else 's'}",
        ),
        "",
        Text(
            "An intruder who knows the masks links each record to its most likely masked record. "
            f"Expected to be correct: {text} of the links; by chance it would be "
            f"{number_text(link_posterior.attack.chance, '.3%')}."
        ),
    ]
    number = link_posterior.attack.confident_links or 0
    parts.append(
        Text(f"{number:,} {'link has' if number == 1 else 'links have'} a probability of 0.9 or more.")
    )
    if link_posterior.attack.correct_share is not None:
        parts += [
            Text(f"Correct: {link_posterior.attack.correct_share.text('.2%')} of the links."),
            "",
            Text("Links by their probability", "bold"),
            _calibration(link_posterior),
        ]
    parts += ["", Text(_how(link_posterior), "dim")]
    return Group(*parts)


def _calibration(link_posterior: LinkPosterior) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("probability", "links", "mean probability", "correct"):
        table.add_column(name, justify="right")
    for calibration_bin in link_posterior.calibration:
        table.add_row(
            f"{calibration_bin.low:g} to {calibration_bin.high:g}",
            f"{calibration_bin.links:,}",
            percent_text(calibration_bin.probability),
            percent_text(calibration_bin.correct / calibration_bin.links),
        )
    return table


def _how(link_posterior: LinkPosterior) -> str:
    exact = link_posterior.exact_records
    text = f"Exact for {exact:,} records"
    if exact < link_posterior.records:
        text += (
            f"; sampled for {link_posterior.records - exact:,} (the largest block has "
            f"{link_posterior.largest_block:,} records)"
        )
    if link_posterior.captured < 1:
        text += f"; the pairs considered have {percent_text(link_posterior.captured)} of the likelihood"
    return text + "."
