"""Excel and OpenDocument sheets, through python-calamine."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from crypsis.engine.layout import unique_names
from crypsis.engine.reading import MISSING_MARKERS, Reading
from crypsis.errors import MissingPart, SourceError


def read_sheet(path: str, reading: Reading) -> pa.Table:
    """One sheet as an Arrow table; the first row with content names the columns."""
    reading.only("a spreadsheet", ("names", "header", "sheet"))
    try:
        import python_calamine
    except ImportError:
        raise MissingPart("Reading spreadsheets needs: pip install 'crypsis[excel]'") from None
    short = repr(path.rsplit("/", 1)[-1])
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
    except (python_calamine.CalamineError, OSError, ValueError):
        raise SourceError(f"{short} cannot be read as a spreadsheet.") from None
    if reading.sheet is not None and reading.sheet not in book.sheet_names:
        listed = ", ".join(repr(name) for name in book.sheet_names)
        raise SourceError(f"{short} has no sheet {reading.sheet!r}; the sheets are: {listed}.")
    sheet = book.get_sheet_by_name(reading.sheet or book.sheet_names[0])
    rows = sheet.to_python(skip_empty_area=True)
    if not rows:
        raise SourceError(f"{short}: the sheet is empty.")
    if reading.names is not None:
        names = [str(name) for name in reading.names]
        if len(names) != len(rows[0]):
            raise SourceError(
                f"{len(names)} names were given, but {short} has {len(rows[0])} columns."
            )
    else:
        head = rows.pop(0)
        names = [str(name).strip() or f"unnamed_{i + 1}" for i, name in enumerate(head)]
    if not rows:
        raise SourceError(f"{short} has a header and no rows.")
    columns = [_column(values) for values in zip(*rows, strict=True)]
    return pa.table(columns, names=unique_names(names))


def _whole(cell: float) -> bool:
    """Whether a number is whole and exact as a float, so that nothing changes as an integer."""
    return cell.is_integer() and abs(cell) <= 2**53


def _column(values: Sequence[Any]) -> pa.Array:
    """One column: of one type if its cells agree, else as text."""
    cells = [None if isinstance(v, str) and v.strip() in MISSING_MARKERS else v for v in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {float} and all(cell is None or _whole(cell) for cell in cells):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    if kinds <= {int, float} and kinds:
        return pa.array(cells, pa.float64())
    if len(kinds) == 1 and kinds <= {bool, datetime.date, datetime.datetime}:
        return pa.array(cells)
    return pa.array([None if cell is None else str(cell).strip() for cell in cells], pa.string())
