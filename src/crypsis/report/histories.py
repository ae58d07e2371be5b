"""Histories in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report.terminal import shown
from crypsis.results import percent_text

if TYPE_CHECKING:
    from crypsis.inference import HistoryDisclosure
    from crypsis.singling_out import HistoryClasses, SmallestEvents, Unicity

_BAR_CHARACTERS = 30
"""The width of a bar of all people."""


def histories_view(
    curve: Unicity,
    classes: HistoryClasses | None,
    title: str,
    inferred: Sequence[HistoryDisclosure] = (),
    fewest: SmallestEvents | None = None,
) -> RenderableType:
    """The unicity curve, the people whose whole history nobody else has, and what is inferred."""
    head = Text.assemble(
        (title, "bold"), f": {curve.records:,} records of {curve.people:,} people, linked by "
    )
    head.append_text(shown(curve.person))
    parts: list[RenderableType] = [head]
    knowledge_text = Text("Known of a record: ").append_text(Text(", ").join(map(shown, curve.columns)))
    tolerances = dict(curve.tolerance)
    if tolerances:
        knowledge_text.append(" (")
        knowledge_text.append_text(
            Text(", ").join(Text.assemble(shown(name), f" within {tolerances[name]}") for name in tolerances)
        )
        knowledge_text.append(")")
    parts += [knowledge_text, Text()]
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("known records", justify="right")
    table.add_column("people singled out")
    table.add_column("")
    for events, share in zip(curve.events, curve.curve, strict=True):
        table.add_row(
            str(events), percent_text(share), Text("█" * round(_BAR_CHARACTERS * float(share)), "red")
        )
    parts += [table, Text(), Text(curve.text_at(min(3, curve.events[-1])))]
    if curve.unlinked:
        parts.append(Text(f"{curve.unlinked:,} records without a person are not part of it."))
    if classes is not None:
        parts.append(Text(str(classes)))
    if fewest is not None:
        parts += [Text(), Text(str(fewest))]
    for disclosure in inferred:
        parts += [Text(), Text(str(disclosure)), Text(disclosure.text_at(min(3, disclosure.events[-1])))]
    return Group(*parts)
