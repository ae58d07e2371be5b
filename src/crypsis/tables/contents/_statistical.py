"""Files of Stata, SPSS and SAS: notes, labels of values that no record has, other missing values.

Whether a file has anything else is found by writing its table anew: if that gives the same bytes,
except the time of writing, there is nothing else. Other files are listed as not inspected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crypsis.errors import CrypsisError
from crypsis.files import PrivateFolder
from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.duckdb.connection import private_folder
from crypsis.tables.formats.statistical import load, read_statistical, write_statistical

_STATA_TIME = re.compile(rb"<timestamp>\x11.{17}", re.DOTALL)
_SPSS_TIME = slice(92, 109)


def statistical_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """What a file has besides the values of its records."""
    try:
        values, found = load(path, reading)
        yield from _said(found)
        yield from _labels(values, found)
        yield from _missing(path, reading, values)
        same = _has_nothing_else(path, reading)
    except CrypsisError:
        same = False
    if not same:
        short = Path(path).name
        yield Content(f"inside:{short}", f"Not all bytes of {short!r} could be inspected.")


def statistical_titles(path: str, reading: ReadOptions) -> Iterator[str]:
    """The label of the file and those of its columns."""
    _, found = load(path, reading, metadataonly=True)
    yield from (text for text in (found.file_label, *found.column_labels) if text)


def _said(found: Any) -> Iterator[Content]:
    if any(str(note).strip() for note in found.notes or ()):
        yield Content("notes", "The file has notes.")
    if found.file_label:
        yield Content("file-label", "The file has a label.")


def _labels(values: Any, found: Any) -> Iterator[Content]:
    used = set(found.variable_to_label.values())
    if set(found.value_labels) - used:
        yield Content("value-labels", "The file has labels of values that no column uses.")
    for name, labels in found.variable_value_labels.items():
        if set(labels) - set(values[name]):
            text = f"Column {name!r} has labels of values that no record has."
            yield Content(f"value-labels:{name}", text)


def _missing(path: str, reading: ReadOptions, values: Any) -> Iterator[Content]:
    """Columns in which several kinds of missing values are distinguished."""
    try:
        known, _ = load(path, reading, user_missing=True)
    except TypeError:  # a format that does not have them
        return
    for name, cells in known.items():
        if list(map(str, cells)) != list(map(str, values[name])):
            text = f"Missing values of column {name!r} have codes, which are not in the table."
            yield Content(f"missing-codes:{name}", text)


def _has_nothing_else(path: str, reading: ReadOptions) -> bool:
    form = {".dta": "stata", ".sav": "spss"}.get(Path(path).suffix.lower())
    if form is None:
        return False
    table, labels = read_statistical(path, reading)
    folder = private_folder("crypsis-compared-")
    try:
        copy = folder.path / Path(path).name
        write_statistical(table.to_batches(), table.column_names, copy, form, labels)
        return _timeless(copy.read_bytes(), form) == _timeless(Path(path).read_bytes(), form)
    finally:
        PrivateFolder.remove(folder)


def _timeless(data: bytes, form: str) -> bytes:
    """The bytes of a file without the time at which it was written."""
    if form == "stata":
        return _STATA_TIME.sub(b"", data, count=1)
    return data[: _SPSS_TIME.start] + data[_SPSS_TIME.stop :]
