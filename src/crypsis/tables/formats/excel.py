"""Excel and OpenDocument sheets, through python-calamine."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import OutputError, SourceError
from crypsis.extras import import_extra
from crypsis.options import MISSING_MARKERS, ReadOptions
from crypsis.tables.schema import MAX_EXACT_INTEGER, listed, unique_names

_MAX_SHEET_LINES = 1_048_576
"""The lines of a sheet of Excel."""


def read_sheet(path: str, reading: ReadOptions, written: Collection[str] = ()) -> tuple[pa.Table, None]:
    """One sheet as an Arrow table; the first row with content names the columns.

    The columns `written` are texts as the cells have them, of which only the empty one is missing.
    """
    reading.check_supported("a spreadsheet", ("names", "header", "sheet"))
    python_calamine = import_extra("python_calamine", "Reading spreadsheets", "excel")
    short = repr(path.rsplit("/", 1)[-1])
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
    except (python_calamine.CalamineError, OSError, ValueError):
        raise SourceError(
            f"{short} could not be read as a spreadsheet.",
            hint="Save the file anew, or set {format} if it is of another kind.",
        ) from None
    if reading.sheet is not None and reading.sheet not in book.sheet_names:
        raise SourceError(
            f"{short} has no sheet {reading.sheet!r}. The sheets are: {listed(book.sheet_names)}.",
            code="no-sheet",
            parameter="sheet",
        )
    chosen = reading.sheet or book.sheet_names[0]
    sheet = book.get_sheet_by_name(chosen)
    rows = sheet.to_python(skip_empty_area=True)
    if not rows:
        other_sheets = [name for name in book.sheet_names if name != chosen]
        more = f" The other sheets are: {listed(other_sheets)}." if other_sheets else ""
        raise SourceError(
            f"{short}: sheet {chosen!r} is empty.{more}",
            code="no-rows",
            hint="Set {sheet}." if other_sheets else "",
        )
    if reading.names is not None:
        names = [str(name) for name in reading.names]
        if len(names) != len(rows[0]):
            raise SourceError(
                f"{len(names)} names were given, but {short} has {len(rows[0])} columns.", parameter="names"
            )
    else:
        head = rows.pop(0)
        names = [str(name).strip() or f"unnamed_{i + 1}" for i, name in enumerate(head)]
    if not rows:
        raise SourceError(f"{short} has a header and no rows.")
    names = unique_names(names)
    columns = [
        _texts(values) if name in written else _column(values)
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    ]
    return pa.table(columns, names=names), None


def sheet_names(path: str) -> list[str]:
    """The sheets of a workbook, in its order; those that are not visible too."""
    python_calamine = import_extra("python_calamine", "Reading spreadsheets", "excel")
    with python_calamine.CalamineWorkbook.from_path(path) as book:
        return [str(name) for name in book.sheet_names]


def write_sheet(batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path) -> None:
    """A workbook with one sheet; texts are texts, even if they look like formulas."""
    xlsxwriter = import_extra("xlsxwriter", "Writing spreadsheets", "excel")
    settings = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "default_date_format": "yyyy-mm-dd",
        "remove_timezone": True,
        "tmpdir": str(path.parent),
    }
    book = xlsxwriter.Workbook(str(path), settings)
    book.set_properties({"created": datetime.datetime(2000, 1, 1)})  # not when it was made
    sheet = book.add_worksheet("release")
    time = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    for position, name in enumerate(names):
        sheet.write_string(0, position, name)
    line = 0
    for batch in batches:
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            line += 1
            if line >= _MAX_SHEET_LINES:
                book.close()
                raise OutputError(f"A sheet of Excel has at most {_MAX_SHEET_LINES:,} lines.")
            for position, value in enumerate(row):
                _write_cell(sheet, line, position, value, time)
    book.close()


def _write_cell(sheet: Any, line: int, column: int, value: Any, time: Any) -> None:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return
    if isinstance(value, datetime.datetime):
        sheet.write_datetime(line, column, value, time)
    elif isinstance(value, str) or (isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER):
        sheet.write_string(line, column, str(value))
    else:
        sheet.write(line, column, value)


def _texts(values: Sequence[Any]) -> pa.Array:
    """The cells as texts: the number 70 is another one than the text 70."""
    return pa.array([None if cell in ("", None) else str(cell) for cell in values], pa.string())


def _is_integer(cell: float) -> bool:
    """Whether a float is an integer that it represents exactly."""
    return cell.is_integer() and abs(cell) <= 2**53


def _column(values: Sequence[Any]) -> pa.Array:
    """One column: of one type if all its cells have it, else text."""
    cells = [None if isinstance(v, str) and v.strip() in MISSING_MARKERS else v for v in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {float} and all(cell is None or _is_integer(cell) for cell in cells):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    if kinds <= {int, float} and kinds:
        return pa.array(cells, pa.float64())
    if len(kinds) == 1 and kinds <= {bool, datetime.date, datetime.datetime}:
        return pa.array(cells)
    return pa.array([None if cell is None else str(cell).strip() for cell in cells], pa.string())
