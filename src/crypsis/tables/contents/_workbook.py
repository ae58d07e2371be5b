"""Excel workbooks: other sheets, comments, names, properties, and texts that no cell shows."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from posixpath import join, normpath

from crypsis.options import ReadOptions
from crypsis.tables.contents._archive import UnreadableError, archive_contents, parse, texts
from crypsis.tables.contents._content import Content
from crypsis.tables.contents._sheet import sheet_contents

_HARMLESS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|xl/workbook\.xml|xl/_rels/workbook\.xml\.rels"
    r"|xl/styles\.xml|xl/theme/theme\d*\.xml|xl/sharedStrings\.xml|xl/calcChain\.xml"
    r"|xl/worksheets/_rels/[^/]+\.rels|docProps/(core|app)\.xml"
)
"""Members with the table, its formats and the list of members, or are inspected here."""
_PROPERTIES = frozenset(
    "creator lastModifiedBy title subject description keywords category Company Manager "
    "HyperlinkBase contentStatus identifier".split()
)
_PROGRAMS = ("openpyxl", "XlsxWriter", "Microsoft Excel", "LibreOffice", "calamine")
_KNOWN = _PROPERTIES | frozenset(
    "created modified lastPrinted revision version language Application AppVersion DocSecurity "
    "ScaleCrop LinksUpToDate SharedDoc HyperlinksChanged TotalTime TitlesOfParts HeadingPairs "
    "vector variant lpstr i4 coreProperties Properties Characters Words Lines Pages".split()
)
_LITERAL = re.compile(r'"([^"]*)"|\\(.)')
_MOST_LETTERS = 4
"""The letters of a unit in a number format, such as USD or kg."""


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
            sheets, names, about = _sheets(archive)
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
        for name in about:
            yield Content(f"property:{name}", f"The workbook has the property {name!r}.")
        yield from _properties(archive, members)
        own = sheets[read][1] if read in sheets else ""
        yield from sheet_contents(archive, own)
        yield from _formats(archive, members)
        other = {member for _, member in sheets.values()}
        for member in members:
            if not (_HARMLESS.fullmatch(member) or member in other or member.endswith("/")):
                yield Content(f"member:{member}", _member_text(member))
        yield from archive_contents(archive)


def sheet_title(path: str, reading: ReadOptions) -> str:
    """The name of the sheet that is read, or nothing."""
    import python_calamine

    try:
        names = python_calamine.CalamineWorkbook.from_path(path).sheet_names
    except (python_calamine.CalamineError, OSError, ValueError):
        names = []
    return reading.sheet or (names[0] if names else "")


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


def _sheets(archive: zipfile.ZipFile) -> tuple[dict[str, tuple[str, str]], list[str], list[str]]:
    """The state and the member of each sheet by its name, the defined names, and the author's."""
    targets: dict[str, str] = {}
    sheets: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    about: list[str] = []

    def relation(name: str, given: dict[str, str]) -> None:
        if name == "Relationship":
            target = given.get("Target", "")
            place = target[1:] if target.startswith("/") else normpath(join("xl", target))
            targets[given.get("Id", "")] = place

    def part(name: str, given: dict[str, str]) -> None:
        if name == "sheet":
            link = next((v for k, v in given.items() if k.endswith(":id")), "")
            sheets[given.get("name", "")] = (given.get("state", "visible"), targets.get(link, ""))
        elif name == "definedName" and not given.get("name", "").startswith("_xlnm."):
            names.append(given.get("name", ""))
        elif name in ("absPath", "fileSharing"):  # the folder of the author, and who saved it
            about.append(name)

    parse(archive, "xl/_rels/workbook.xml.rels", relation)
    parse(archive, "xl/workbook.xml", part)
    return sheets, names, about


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
        for name in sorted(set(found) - _KNOWN):
            yield Content(f"property:{name}", f"The workbook has the property {name!r}.")


def _formats(archive: zipfile.ZipFile, members: list[str]) -> Iterator[Content]:
    """Number formats that show a text of their own, and remarks or links in other members."""
    codes: list[str] = []
    remarks: list[str] = []
    links: list[str] = []

    def start(name: str, given: dict[str, str]) -> None:
        if name == "numFmt":
            codes.append(given.get("formatCode", ""))
        elif name == "Relationship" and given.get("TargetMode", "").casefold() == "external":
            links.append(given.get("Id", ""))

    for member in members:
        if not member.endswith((".xml", ".rels")) or member.startswith("xl/worksheets/sheet"):
            continue
        try:
            parse(archive, member, start, remark=lambda: remarks.append("one"))
        except UnreadableError:
            yield Content(f"member:{member}", f"{member!r} could not be inspected.")
    if any(_letters(code) > _MOST_LETTERS for code in codes):
        yield Content("number-format", "A number format shows a text of its own.")
    if links:
        yield Content("links", "The workbook has links to other files or addresses.")
    if remarks:
        yield Content("xml-comment", "The workbook has comments in the XML of its parts.")


def _letters(code: str) -> int:
    """The letters and digits that a number format writes as they are."""
    shown = "".join(quoted or single for quoted, single in _LITERAL.findall(code))
    return sum(character.isalnum() for character in shown)
