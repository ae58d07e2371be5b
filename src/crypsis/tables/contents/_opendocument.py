"""OpenDocument sheets: other tables, annotations, properties and members."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator

from crypsis.options import ReadOptions
from crypsis.tables.contents._archive import UnreadableError, archive_contents, parse, texts
from crypsis.tables.contents._content import Content

_HARMLESS = re.compile(
    r"mimetype|content\.xml|styles\.xml|meta\.xml|settings\.xml|manifest\.rdf"
    r"|META-INF/manifest\.xml|Configurations2/.*/"
)
_PROPERTIES = frozenset(
    "initial-creator creator title subject description keyword user-defined printed-by".split()
)
_PARTS = {
    "annotation": "comments",
    "remark": "comments in its XML",
    "hidden": "hidden rows or columns",
    "filter-condition": "filters",
    "named-range": "named ranges",
    "named-expression": "named expressions",
    "database-range": "database ranges",
    "content-validation": "validation rules",
    "tracked-changes": "recorded changes",
    "a": "hyperlinks",
    "shape": "drawings",
    "frame": "drawings",
}


def opendocument_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What an OpenDocument file contains besides the cells of the table that is read."""
    tables: list[str] = []
    seen: set[str] = set()

    def start(name: str, given: dict[str, str]) -> None:
        if name == "table" and "table:name" in given:
            tables.append(given["table:name"])
        elif name in _PARTS:
            seen.add(name)
        if "table:formula" in given:
            seen.add("formula")
        if given.get("table:visibility", "visible") != "visible":
            seen.add("hidden")

    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            parse(archive, "content.xml", start, remark=lambda: seen.add("remark"))
            around = list(archive_contents(archive))
            properties = texts(archive, "meta.xml") if "meta.xml" in members else {}
    except (UnreadableError, zipfile.BadZipFile, OSError):
        yield Content("workbook", "The parts of the document could not be inspected.")
        return
    read = reading.sheet or (tables[0] if tables else "")
    for name in tables:
        if name != read:
            yield Content(f"sheet:{name}", f"Sheet {name!r} is in the document.")
    for part in sorted(seen):
        yield Content(f"sheet-part:{part}", f"The document has {_PARTS.get(part, 'formulas')}.")
    yield from around
    for name in sorted(_PROPERTIES & set(properties)):
        yield Content(f"property:{name}", f"The document has the property {name!r}.")
    for member in members:
        if not _HARMLESS.fullmatch(member):
            yield Content(f"member:{member}", f"The document has {member!r} inside.")
