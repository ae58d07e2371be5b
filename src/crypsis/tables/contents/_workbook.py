"""Excel workbooks: other sheets, comments, names, properties, and texts that no cell shows."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from posixpath import join, normpath

from crypsis.options import ReadOptions
from crypsis.tables.contents._archive import UnreadableError, parse, texts
from crypsis.tables.contents._content import Content

_HARMLESS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|xl/workbook\.xml|xl/_rels/workbook\.xml\.rels"
    r"|xl/styles\.xml|xl/theme/theme\d*\.xml|xl/sharedStrings\.xml|xl/calcChain\.xml"
    r"|xl/worksheets/_rels/[^/]+\.rels|docProps/(core|app)\.xml"
)
"""Members that hold the table, its formats and the list of members, or are inspected here."""
_PROPERTIES = frozenset(
    "creator lastModifiedBy title subject description keywords category Company Manager "
    "HyperlinkBase contentStatus identifier".split()
)
_PROGRAMS = ("openpyxl", "XlsxWriter", "Microsoft Excel", "LibreOffice", "calamine")
_PARTS = {
    "f": "formulas",
    "headerFooter": "headers and footers",
    "hyperlink": "hyperlinks",
    "dataValidation": "validation rules",
    "cfRule": "conditional formats",
}


def workbook_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a workbook contains besides the cells of the sheet that is read."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError):
        yield from _not_inspected(path, reading)
        return
    with archive:
        members = archive.namelist()
        if "xl/workbook.xml" not in members:
            yield from _not_inspected(path, reading)
            return
        try:
            sheets, names = _sheets(archive)
        except UnreadableError:
            yield from _not_inspected(path, reading)
            return
        read = reading.sheet or next(iter(sheets), "")
        for name, (state, _) in sheets.items():
            if name != read:
                hidden = " and is hidden" if state != "visible" else ""
                yield Content(f"sheet:{name}", f"Sheet {name!r} is in the workbook{hidden}.")
        for name in names:
            yield Content(f"defined-name:{name}", f"The workbook has the defined name {name!r}.")
        yield from _properties(archive, members)
        own = sheets[read][1] if read in sheets else ""
        yield from _inside(archive, own, members)
        other = {member for _, member in sheets.values()}
        for member in members:
            if not (_HARMLESS.fullmatch(member) or member in other or member.endswith("/")):
                yield Content(f"member:{member}", _member_text(member))
        if archive.comment:
            yield Content("archive-comment", "The file has an archive comment.")


def _not_inspected(path: str, reading: ReadOptions) -> Iterator[Content]:
    """The other sheets of a format that only the reader understands, and that the rest is open."""
    import python_calamine

    try:
        sheets = python_calamine.CalamineWorkbook.from_path(path).sheets_metadata
    except (python_calamine.CalamineError, OSError, ValueError):
        sheets = []
    read = reading.sheet or (sheets[0].name if sheets else "")
    for sheet in sheets:
        if sheet.name != read:
            yield Content(f"sheet:{sheet.name}", f"Sheet {sheet.name!r} is in the workbook.")
    text = "Comments, names and properties of this kind of workbook cannot be inspected."
    yield Content("workbook", text)


def _member_text(member: str) -> str:
    if "comment" in member.lower() or "/persons/" in member:
        return f"The workbook has comments ({member!r})."
    return f"The workbook has {member!r} inside."


def _sheets(archive: zipfile.ZipFile) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """The state and the member of each sheet by its name, and the defined names."""
    targets: dict[str, str] = {}
    sheets: dict[str, tuple[str, str]] = {}
    names: list[str] = []

    def relation(name: str, given: dict[str, str]) -> None:
        if name == "Relationship":
            target = given.get("Target", "")
            place = target[1:] if target.startswith("/") else normpath(join("xl", target))
            targets[given.get("Id", "")] = place

    def part(name: str, given: dict[str, str]) -> None:
        if name == "sheet":
            link = next((v for k, v in given.items() if k.endswith(":id")), "")
            sheets[given.get("name", "")] = (
                given.get("state", "visible"), targets.get(link, "")
            )  # fmt: skip
        elif name == "definedName" and not given.get("name", "").startswith("_xlnm."):
            names.append(given.get("name", ""))

    parse(archive, "xl/_rels/workbook.xml.rels", relation)
    parse(archive, "xl/workbook.xml", part)
    return sheets, names


def _properties(archive: zipfile.ZipFile, members: list[str]) -> Iterator[Content]:
    for member in ("docProps/core.xml", "docProps/app.xml"):
        if member not in members:
            continue
        try:
            found = texts(archive, member)
        except UnreadableError:
            yield Content(f"member:{member}", f"{member!r} could not be inspected.")
            continue
        for name in sorted(_PROPERTIES & set(found)):
            if not found[name].startswith(_PROGRAMS):
                yield Content(f"property:{name}", f"The workbook has the property {name!r}.")


def _inside(archive: zipfile.ZipFile, sheet: str, members: list[str]) -> Iterator[Content]:
    """What the sheet has besides values, and shared texts that none of its cells show."""
    seen: set[str] = set()
    used: set[str] = set()
    shared = value = False

    def start(name: str, given: dict[str, str]) -> None:
        nonlocal shared, value
        if name == "c":
            shared = given.get("t") == "s"
        elif name in _PARTS:
            seen.add(name)
        value = name == "v"

    def text(found: str) -> None:
        if value and shared and found.strip():
            used.add(found.strip())

    count = 0

    def item(name: str, given: dict[str, str]) -> None:
        nonlocal count
        count += name == "si"

    try:
        parse(archive, sheet, start, text)
        if "xl/sharedStrings.xml" in members:
            parse(archive, "xl/sharedStrings.xml", item)
    except UnreadableError:
        yield Content("sheet-parts", "The parts of the sheet could not be inspected.")
        return
    for name in sorted(seen):
        yield Content(f"sheet-part:{name}", f"The sheet has {_PARTS[name]}.")
    if len(used) < count:
        text_ = "The workbook has texts that no cell of the sheet shows."
        yield Content("unused-texts", text_)
