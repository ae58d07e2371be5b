"""One sheet of an Excel workbook: what it has besides one value a cell, all formatted alike."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from crypsis.tables.contents._archive import UnreadableError, parse
from crypsis.tables.contents._content import Content

_PARTS = {
    "f": "formulas",
    "headerFooter": "headers and footers",
    "hyperlink": "hyperlinks",
    "dataValidation": "validation rules",
    "cfRule": "conditional formats",
    "mergeCell": "merged cells",
    "filterColumn": "filters",
    "brk": "page breaks",
    "comment": "comments in the XML",
    "text": "texts outside of cells",
    "rPh": "phonetic texts",
    "r": "texts with parts in different formats",
}
_PLAIN = frozenset(
    "worksheet sheetPr tabColor outlinePr pageSetUpPr dimension sheetViews sheetView pane selection "
    "sheetFormatPr cols col sheetData row c v is t sheetProtection autoFilter pageMargins pageSetup "
    "printOptions phoneticPr ignoredErrors ignoredError tableParts tablePart dataValidations "
    "conditionalFormatting hyperlinks mergeCells rowBreaks colBreaks formula formula1 formula2 "
    "oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter".split()
)
"""Elements of a sheet that have no text of their own, or are listed with their members."""
_OF_ROW = frozenset(
    "r spans s customFormat ht hidden customHeight outlineLevel collapsed "
    "thickTop thickBot ph dyDescent rsid".split()
)
_OF_CELL = frozenset("r s t cm vm ph".split())
_PLACE = re.compile(r"[A-Z]+")
_ROW_FORMAT = ("s", "ht", "hidden", "outlineLevel", "collapsed", "thickTop", "thickBot")
_MOST_NUMBERS = 2_000_000


@dataclass
class _Seen:
    """What was seen in a sheet."""

    parts: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    styles: dict[str, set[str]] = field(default_factory=dict)
    rows: set[tuple[str | None, ...]] = field(default_factory=set)
    hidden: bool = False
    numbers: dict[float, str] = field(default_factory=dict)
    spellings: bool = False


def sheet_contents(archive: zipfile.ZipFile, sheet: str) -> Iterator[Content]:
    """What the sheet has besides values, and shared texts that none of its cells show."""
    try:
        seen = _read(archive, sheet)
        stored, different = _shared(archive, seen)
    except UnreadableError:
        yield Content("sheet-parts", "The parts of the sheet could not be inspected.")
        return
    for name in sorted(seen.parts):
        text = f"The sheet has {_PARTS.get(name, f'the element {name!r}')}."
        yield Content(f"sheet-part:{name}", text)
    if seen.hidden:
        yield Content("sheet-part:hidden", "Rows or columns of the sheet are hidden.")
    if len(seen.rows) > 1:
        text = "Rows below the header are formatted differently (height, outline, style)."
        yield Content("row-formats", text)
    if any(len(style) > 1 for style in seen.styles.values()):
        text = "Cells of one column are formatted differently below the header."
        yield Content("cell-formats", text)
    if seen.spellings or different < stored:
        yield Content("spelling", "Equal values of cells are stored in different ways.")
    if len(seen.used) < stored:
        yield Content("unused-texts", "The workbook has texts that no cell of the sheet shows.")


def _read(archive: zipfile.ZipFile, sheet: str) -> _Seen:
    seen = _Seen()
    first: str | None = None
    row = column = kind = ""
    value: list[str] = []
    path: list[str] = []

    def start(name: str, given: dict[str, str]) -> None:
        nonlocal first, row, column, kind
        path.append(name)
        attributes = {key.rsplit(":", 1)[-1]: text for key, text in given.items()}
        if name not in _PLAIN:
            seen.parts.add(name)
        elif name == "row":
            row = attributes.get("r", str(len(seen.rows)))
            first = first or row
            seen.hidden |= attributes.get("hidden") in ("1", "true")
            if row != first:
                seen.rows.add(tuple(attributes.get(part) for part in _ROW_FORMAT))
            seen.parts |= set(attributes) - _OF_ROW
        elif name == "c":
            place = _PLACE.match(attributes.get("r", ""))
            column, kind = place[0] if place else column + "+", attributes.get("t", "n")
            if row != first:
                seen.styles.setdefault(column, set()).add(attributes.get("s", "0"))
            seen.parts |= set(attributes) - _OF_CELL
        elif name == "col":
            seen.hidden |= attributes.get("hidden") in ("1", "true")

    def text(found: str) -> None:
        if path[-1] == "v":
            value.append(found)
        elif path[-1] in ("sheetData", "row", "c", "is", "worksheet") and found.strip():
            seen.parts.add("text")

    def end(name: str) -> None:
        path.pop()
        if name == "v" and value:
            written = "".join(value).strip()
            value.clear()
            if kind == "s":
                seen.used.add(written)
            elif kind == "n":
                _compare(seen, written)

    parse(archive, sheet, start, text, end, lambda: seen.parts.add("comment"))
    return seen


def _compare(seen: _Seen, written: str) -> None:
    """Whether a number was written in another way before."""
    try:
        number = float(written)
    except ValueError:
        return
    if len(seen.numbers) < _MOST_NUMBERS and seen.numbers.setdefault(number, written) != written:
        seen.spellings = True


def _shared(archive: zipfile.ZipFile, seen: _Seen) -> tuple[int, int]:
    """The number of shared texts, and how many are different."""
    member = "xl/sharedStrings.xml"
    if member not in archive.namelist():
        return 0, 0
    texts: set[str] = set()
    count = 0
    own: list[str] = []
    path: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        path.append(name)
        if name in ("rPh", "r"):
            seen.parts.add(name)

    def text(found: str) -> None:
        if "si" in path:
            own.append(found)
        elif found.strip():
            seen.parts.add("text")

    def end(name: str) -> None:
        nonlocal count
        path.pop()
        if name == "si":
            texts.add("".join(own))
            own.clear()
            count += 1

    parse(archive, member, start, text, end, lambda: seen.parts.add("comment"))
    return count, len(texts)
