"""Files of Stata, SPSS and SAS, through pyreadstat.

A column of which every value has a label of its own is read as these labels; another one has its
codes. On writing, labels of columns and values are kept, of values only those that a record has; notes,
file labels and everything else a file may carry are not.
"""

from __future__ import annotations

import datetime
import errno
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import OutputError, SourceError
from crypsis.extras import import_extra
from crypsis.options import ReadOptions
from crypsis.tables.forms import Labels
from crypsis.tables.schema import MAX_EXACT_INTEGER, unique_names

_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_BY_FORMAT = {"stata": "read_dta", "spss": "read_sav", "sas": "read_sas7bdat"}


def read_statistical(path: str, reading: ReadOptions, written: Sequence[str] = ()) -> tuple[pa.Table, Labels]:
    """The table of a file with the labels of its columns and values.

    The columns `written` have their codes.
    """
    portable = Path(path).suffix.lower() == ".por"  # its characters are those of one table
    reading.check_supported("a file of a statistical package", () if portable else ("encoding",))
    values, metadata = load(path, reading)
    labels = Labels(
        {name: text for name, text in metadata.column_names_to_labels.items() if text},
        dict(metadata.variable_value_labels),
    )
    names = unique_names(list(metadata.column_names))
    columns = [
        column_of(values[name], {} if name in written else labels.values.get(name, {})) for name in names
    ]
    return pa.table(columns, names=names), labels


def load(path: str, reading: ReadOptions, **options: Any) -> tuple[Mapping[str, list[Any]], Any]:
    """The values of each column, and what the file says about them."""
    pyreadstat = import_extra("pyreadstat", "Reading files of Stata, SPSS and SAS", "statistics")
    suffix = Path(path).suffix.lower()
    reader = _READERS.get(suffix) or _BY_FORMAT[reading.format or "stata"]
    if reading.encoding is not None:
        options["encoding"] = reading.encoding
    try:
        loaded: tuple[Mapping[str, list[Any]], Any] = getattr(pyreadstat, reader)(
            path, output_format="dict", **options
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        raise SourceError(
            f"{Path(path).name!r} could not be read as a file of {_PACKAGES[reader]}.",
            code="not-statistical",
            hint="Set {encoding}, or {format} if the file is of another kind.",
        ) from None
    return loaded


_PACKAGES = {
    "read_dta": "Stata",
    "read_sav": "SPSS",
    "read_por": "SPSS",
    "read_sas7bdat": "SAS",
    "read_xport": "SAS",
}


def column_of(values: Sequence[Any], labels: Mapping[float, str]) -> pa.Array:
    """One column: the labels if every value has one of its own, else the values."""
    cells = [None if cell == "" or cell != cell else cell for cell in values]
    present = {cell for cell in cells if cell is not None}
    used_labels = {code: text for code, text in labels.items() if code in present}
    if present and len(used_labels) == len(present) and len(set(used_labels.values())) == len(used_labels):
        return pa.array([None if cell is None else used_labels[cell] for cell in cells], pa.string())
    kinds = {type(cell) for cell in present}
    if kinds and kinds <= {float, int}:
        whole = all(float(cell).is_integer() and abs(cell) <= MAX_EXACT_INTEGER for cell in present)
        numbers = [None if cell is None else int(cell) if whole else float(cell) for cell in cells]
        return pa.array(numbers, pa.int64() if whole else pa.float64())
    if len(kinds) == 1 and kinds <= {datetime.date, datetime.datetime, datetime.time}:
        return pa.array(cells)
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


def write_statistical(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path, form: str, labels: Labels | None
) -> None:
    """A Stata or SPSS file, with the labels that its records have."""
    pyreadstat = import_extra("pyreadstat", "Writing files of Stata and SPSS", "statistics")
    pandas = import_extra("pandas", "Writing files of Stata and SPSS", "statistics")
    table = pa.Table.from_batches(list(batches)).rename_columns(list(names))
    file_labels = labels or Labels()
    columns, used = {}, {}
    for name in names:
        columns[name], used[name] = coded(table[name], file_labels.values.get(name, {}))
    frame = pandas.DataFrame(columns)
    write = pyreadstat.write_dta if form == "stata" else pyreadstat.write_sav
    try:
        write(
            frame,
            str(path),
            column_labels={n: t for n, t in file_labels.columns.items() if n in columns} or None,
            variable_value_labels={n: value_labels for n, value_labels in used.items() if value_labels}
            or None,
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError) as error:
        if "Unable to write" in str(error):  # the library does not say why
            raise OSError(errno.ENOSPC, "") from None
        raise OutputError(_cause(error, form)) from None


def coded(column: pa.ChunkedArray, labels: Mapping[float, str]) -> tuple[list[Any], dict[Any, str]]:
    """The values as a statistical package has them, and the labels of those that occur."""
    values = column.to_pylist()
    present = {value for value in values if value is not None}
    codes = {text: code for code, text in labels.items() if text in present}
    if present and len(codes) == len(present):  # they were read as their labels
        texts_by_code = {code: text for text, code in codes.items()}
        return [None if value is None else codes[value] for value in values], texts_by_code
    if pa.types.is_boolean(column.type):
        return [None if value is None else int(value) for value in values], {}
    if pa.types.is_decimal(column.type):
        return [None if value is None else float(value) for value in values], {}
    if pa.types.is_string(column.type):
        return [value or "" for value in values], {}
    return values, {code: text for code, text in labels.items() if code in present}


def _cause(error: Exception, form: str) -> str:
    """Why a file was not written; the library's own text may quote a value."""
    package = "Stata" if form == "stata" else "SPSS"
    if "name" in str(error).lower():
        return (
            f"{package} does not have names such as those of the columns: letters, digits and "
            "underscores, at most 32 characters in Stata and 64 in SPSS."
        )
    return f"{package} does not have a type for one of the columns, or it is too long."
