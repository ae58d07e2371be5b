"""A reproduction of a paper: in the terminal at 80 columns, and as a page of Markdown.

Long columns of a printed table that agree throughout take one line; everything that does not agree
is shown cell by cell, and everything is when asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from crypsis.reproduce import Cell, Item, Reproduction

_MANY = 12
_COLOURS = {"erratum": "yellow", "not derivable": "dim", "differs": "bold red"}
_WIDTHS = {"what": 26, "paper": 14, "ours": 14, "verdict": 20}


@dataclass(frozen=True)
class Line:
    """A line of the table: a cell, or a folded column; the number of its note, if it has one."""

    what: str
    paper: str
    ours: str
    verdict: str
    note: int | None
    timed: bool


def lines(item: Item, *, everything: bool = False) -> tuple[list[Line], list[str]]:
    """The lines of an item and its notes, each note once."""
    notes: list[str] = []
    found: list[Line] = []
    for group, members in groupby(item.cells, key=lambda cell: cell.group):
        cells = list(members)
        if not everything and len(cells) > _MANY and all(_agrees(cell) for cell in cells):
            found.append(_folded(group, cells))
            continue
        found += [_line(cell, notes) for cell in cells]
    return found, notes


def _agrees(cell: Cell) -> bool:
    return cell.verdict.value.startswith("equal") and not cell.note


def _folded(group: str, cells: Sequence[Cell]) -> Line:
    counts = Counter(cell.verdict.value for cell in cells)
    first, last = cells[0], cells[-1]
    said = "equal" if set(counts) == {"equal"} else "equal after rounding"
    return Line(
        f"{group}, {len(cells)} values",
        f"{first.paper} ... {last.paper}",
        f"{first.ours} ... {last.ours}",
        said,
        None,
        False,
    )


def _line(cell: Cell, notes: list[str]) -> Line:
    note = None
    if cell.note:
        if cell.note not in notes:
            notes.append(cell.note)
        note = notes.index(cell.note) + 1
    what = f"{cell.group}: {cell.name}" if cell.group else cell.name
    return Line(what, cell.paper, cell.ours, cell.verdict.value, note, cell.timed)


def reproduction_view(found: Reproduction, *, everything: bool = False) -> RenderableType:
    """A paper in the terminal: every item by its name, then how many cells came out how."""
    parts: list[RenderableType] = [Text(found.paper, "bold"), Text(found.citation, "dim")]
    for item in found.items:
        parts += ["", Text.assemble((item.name, "bold"), f"  {item.title}")]
        shown, notes = lines(item, everything=everything)
        parts.append(Padding(_table(shown), (0, 0, 0, 2)))
        for number, note in enumerate(notes, 1):
            parts.append(Padding(_note(number, note), (0, 0, 0, 2)))
    return Group(*parts, "", summary_view([found]))


def _table(shown: Sequence[Line]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    for name, width in _WIDTHS.items():
        table.add_column(name, width=width, overflow="fold")
    for line in shown:
        verdict = line.verdict if line.note is None else f"{line.verdict} [{line.note}]"
        colour = _COLOURS.get(line.verdict, "")
        table.add_row(*map(Text, (line.what, line.paper, line.ours)), Text(verdict, colour))
    return table


def _note(number: int, note: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(f"[{number}]", "dim"), Text(note, "dim"))
    return grid


def summary_view(papers: Sequence[Reproduction]) -> Table:
    """How many cells of each paper came out how, and how long it took."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("paper", no_wrap=True)
    heads = ("equal", "rounded", "erratum", "not deriv.", "no data", "differs", "seconds")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for paper in papers:
        numbers = [str(number) for number in paper.counts.values()]
        table.add_row(paper.paper, *numbers, f"{paper.seconds:.0f}")
    return table


def reproduction_markdown(
    found: Reproduction, *, pictures: dict[str, str] | None = None, everything: bool = False
) -> str:
    """A paper as a page: what it says, what is wrong in it, and every item with its cells.

    `pictures` has the address of the figure of each item that has one.
    """
    lasting = [cell.verdict.value for cell in found.cells if not cell.timed]
    counted = ", ".join(f"{n} {verdict}" for verdict, n in Counter(lasting).most_common())
    head = [f"# {found.paper}", found.citation, "## What it says", *found.account]
    wrong = ["## What we found wrong in it", *_errata(found)]
    said = f"{len(lasting)} values were computed again (and some times measured): {counted}."
    body = ["## Every item", said]
    for item in found.items:
        body.append(f"### {item.name}: {item.title}")
        if pictures and item.name in pictures:
            body.append(f"![{_cell(item.figure)}]({pictures[item.name]})")
        body += _markdown_item(item, everything)
    return "\n\n".join([*head, *wrong, *body]) + "\n"


def _errata(found: Reproduction) -> Iterator[str]:
    """One point for each note on an erratum, naming all the cells that it explains."""
    notes: dict[str, list[tuple[Item, Cell]]] = {}
    for item in found.items:
        for cell in item.cells:
            if cell.verdict.value == "erratum":
                notes.setdefault(cell.note, []).append((item, cell))
    points = []
    for note, places in notes.items():
        item, cell = places[0]
        more = f" (and {len(places) - 1} more like it)" if len(places) > 1 else ""
        where = f"**{item.name}**, {_lower(_named(cell))}{more}"
        points.append(
            f"- {where}: printed {_cell(cell.paper)}, ours {_cell(cell.ours)}. {_prose(note)}"
        )
    yield "\n".join(points)


def _named(cell: Cell) -> str:
    return _cell(f"{cell.group}: {cell.name}" if cell.group else cell.name)


def _lower(text: str) -> str:
    return text if text[1:2].isupper() or not text[1:2].isalpha() else text[0].lower() + text[1:]


def _markdown_item(item: Item, everything: bool) -> list[str]:
    shown, notes = lines(item, everything=everything)
    rows = ["| what | paper | ours | verdict |", "| --- | --- | --- | --- |"]
    for line in map(_safe, shown):
        mark = "" if line.note is None else f" ({line.note})"
        rows.append(f"| {line.what} | {line.paper} | {line.ours} | {line.verdict}{mark} |")
    listed = "\n".join(f"{number}. {_prose(note)}" for number, note in enumerate(notes, 1))
    return ["\n".join(rows), *([listed] if listed else [])]


def _safe(line: Line) -> Line:
    return replace(line, what=_cell(line.what), paper=_cell(line.paper), ours=_cell(line.ours))


def _cell(text: str) -> str:
    """Text of ours so that Markdown takes nothing in it for a sign."""
    return re.sub(r"([\\`*_{}\[\]#|~<>$])", r"\\\1", text)


def _prose(text: str) -> str:
    """A note: code stays code, the rest is text."""
    parts = text.split("`")
    return "`".join(part if i % 2 else _cell(part) for i, part in enumerate(parts))
