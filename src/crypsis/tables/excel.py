"""Excel and OpenDocument sheets, through python-calamine."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from crypsis.errors import MissingDependencyError, SourceError
from crypsis.options import MISSING_MARKERS, ReadOptions
from crypsis.tables.schema import listed, unique_names


def read_sheet(path: str, reading: ReadOptions, written: Collection[str] = ()) -> pa.Table:
    """One sheet as an Arrow table; the first row with content names the columns.

    The columns `written` are texts as the cells have them, of which only the empty one is missing.
    """
    reading.check_supported("a spreadsheet", ("names", "header", "sheet"))
    try:
        import python_calamine
    except ImportError:
        raise MissingDependencyError(
            "Reading spreadsheets needs python-calamine.", hint="pip install 'crypsis[excel]'"
        ) from None
    short = repr(path.rsplit("/", 1)[-1])
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
    except (python_calamine.CalamineError, OSError, ValueError):
        raise SourceError(f"{short} could not be read as a spreadsheet.") from None
    if reading.sheet is not None and reading.sheet not in book.sheet_names:
        raise SourceError(
            f"{short} has no sheet {reading.sheet!r}. The sheets are: {listed(book.sheet_names)}.",
            code="no-sheet",
            parameter="sheet",
        )
    sheet = book.get_sheet_by_name(reading.sheet or book.sheet_names[0])
    rows = sheet.to_python(skip_empty_area=True)
    if not rows:
        raise SourceError(f"{short}: the sheet is empty.")
    if reading.names is not None:
        names = [str(name) for name in reading.names]
        if len(names) != len(rows[0]):
            raise SourceError(
                f"{len(names)} names were given, but {short} has {len(rows[0])} columns.",
                parameter="names",
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
    return pa.table(columns, names=names)


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
