"""A reproduction of a paper: in the terminal at 80 columns, and as a page of Markdown.

Long columns of a printed table that agree throughout take one line; everything that does not agree
is shown value by value, and everything is when asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from papers import ComparedValue, PaperItem, Reproduction

_MANY = 12
_COLORS = {"erratum": "yellow", "critique": "yellow", "not derivable": "dim", "differs": "bold red"}
_WIDTHS = {"what": 26, "paper": 14, "ours": 14, "agreement": 20}


@dataclass(frozen=True)
class Line:
    """A line of the table: a value, or a folded column; the number of its note, if it has one."""

    what: str
    paper: str
    ours: str
    agreement: str
    note: int | None
    timed: bool


def lines(item: PaperItem, *, everything: bool = False) -> tuple[list[Line], list[str]]:
    """The lines of an item and its notes, each note once."""
    notes: list[str] = []
    found: list[Line] = []
    for group, members in groupby(item.values, key=lambda value: value.group):
        values = list(members)
        if not everything and len(values) > _MANY and all(_agrees(value) for value in values):
            found.append(_folded(group, values))
            continue
        found += [_line(value, notes) for value in values]
    return found, notes


def _agrees(value: ComparedValue) -> bool:
    return value.agreement.value.startswith("equal") and not value.note


def _folded(group: str, values: Sequence[ComparedValue]) -> Line:
    counts = Counter(value.agreement.value for value in values)
    first, last = values[0], values[-1]
    said = "equal" if set(counts) == {"equal"} else "equal after rounding"
    return Line(
        f"{group}, {len(values)} values",
        f"{first.paper} ... {last.paper}",
        f"{first.ours} ... {last.ours}",
        said,
        None,
        False,
    )


def _line(value: ComparedValue, notes: list[str]) -> Line:
    note = None
    if value.note:
        if value.note not in notes:
            notes.append(value.note)
        note = notes.index(value.note) + 1
    what = f"{value.group}: {value.name}" if value.group else value.name
    return Line(what, value.paper, value.ours, value.agreement.value, note, value.timed)


def reproduction_view(found: Reproduction, *, everything: bool = False) -> RenderableType:
    """A paper in the terminal: every item by its name, then how many values came out how."""
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
        agreement = line.agreement if line.note is None else f"{line.agreement} [{line.note}]"
        color = _COLORS.get(line.agreement, "")
        table.add_row(*map(Text, (line.what, line.paper, line.ours)), Text(agreement, color))
    return table


def _note(number: int, note: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(f"[{number}]", "dim"), Text(note, "dim"))
    return grid


def summary_view(papers: Sequence[Reproduction]) -> Table:
    """How many values of each paper came out how, and how long it took."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("paper", no_wrap=True)
    heads = ("equal", "rounded", "erratum", "critique", "not deriv.", "no data", "differs", "s")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for paper in papers:
        numbers = [str(number) for number in paper.counts.values()]
        table.add_row(paper.paper, *numbers, f"{paper.seconds:.0f}")
    return table


def reproduction_markdown(
    found: Reproduction, *, pictures: dict[str, str] | None = None, everything: bool = False
) -> str:
    """A paper as a page: what it says, what is wrong in it, and every item with its values.

    `pictures` has the address of the figure of each item that has one.
    """
    lasting = [value.agreement.value for value in found.values if not value.timed]
    counted = ", ".join(f"{n} {agreement}" for agreement, n in Counter(lasting).most_common())
    head = [f"# {found.paper}", found.citation, "## What it says", *found.account]
    wrong = ["## What we found wrong in it", _points(found, "erratum", "printed")]
    wrong += ["## What we hold against it", _points(found, "critique", "the paper says")]
    said = f"{len(lasting)} values were computed again (and some times measured): {counted}."
    body = ["## Every item", said]
    for item in found.items:
        body.append(f"### {item.name}: {item.title}")
        if pictures and item.name in pictures:
            body.append(f"![{_cell(item.figure)}]({pictures[item.name]})")
        body += _markdown_item(item, everything)
    return "\n\n".join([*head, *wrong, *body]) + "\n"


def _points(found: Reproduction, agreement: str, theirs: str) -> str:
    """One point for each note of that agreement, naming all the values that it explains."""
    notes: dict[str, list[tuple[PaperItem, ComparedValue]]] = {}
    for item in found.items:
        for value in item.values:
            if value.agreement.value == agreement:
                notes.setdefault(value.note, []).append((item, value))
    points = []
    for note, places in notes.items():
        item, value = places[0]
        more = f" (and {len(places) - 1} more like it)" if len(places) > 1 else ""
        where = f"**{item.name}**, {_lower(_named(value))}{more}"
        said = f"{theirs} {_cell(value.paper)}, " if value.paper != "-" else ""
        points.append(f"- {where}: {said}ours {_cell(value.ours)}. {_prose(note)}")
    return "\n".join(points) or "Nothing."


def _named(value: ComparedValue) -> str:
    return _cell(f"{value.group}: {value.name}" if value.group else value.name)


def _lower(text: str) -> str:
    return text if text[1:2].isupper() or not text[1:2].isalpha() else text[0].lower() + text[1:]


def _markdown_item(item: PaperItem, everything: bool) -> list[str]:
    shown, notes = lines(item, everything=everything)
    rows = ["| what | paper | ours | agreement |", "| --- | --- | --- | --- |"]
    for line in map(_safe, shown):
        mark = "" if line.note is None else f" ({line.note})"
        rows.append(f"| {line.what} | {line.paper} | {line.ours} | {line.agreement}{mark} |")
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
