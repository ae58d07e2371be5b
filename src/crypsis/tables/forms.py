"""The form of a file: its format, and how it writes values. A release has that of its source."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from crypsis.errors import OutputError
from crypsis.tables.csv.dialect import Dialect
from crypsis.tables.csv.files import stream
from crypsis.tables.csv.types import Notation
from crypsis.tables.formats.postgresql import SCHEMES

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".xlsx": "excel",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".dta": "stata",
    ".sav": "spss",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".delta": "delta",
}
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}
WRITTEN = tuple(_SUFFIXES)
"""The suffixes of the files that can be written."""


@dataclass(frozen=True)
class Labels:
    """What a statistical package writes beside the values.

    Examples
    --------
    >>> Labels({"sex": "Sex of the patient"}, {"sex": {1.0: "male", 2.0: "female"}}).columns["sex"]
    'Sex of the patient'
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    """The label of a column."""
    values: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    """The label of each code of a column."""


@dataclass(frozen=True)
class FileForm:
    """The format of a file, or "frame", and how it writes values.

    Examples
    --------
    >>> form_for("release.csv", FileForm("csv", delimiter=";", decimal=",")).delimiter
    ';'
    """

    format: str
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    dates: Mapping[str, str] = field(default_factory=dict)
    """The order of day, month and year in columns that do not have the usual one: %d.%m.%Y."""
    labels: Labels | None = None
    table: str | None = None
    """The table of a database."""
    compression: str | None = None
    times: Mapping[str, pa.DataType] = field(default_factory=dict)
    """The types of columns with durations and time zones."""

    @property
    def typed(self) -> bool:
        """Whether the file has the types of its columns."""
        return self.format != "csv"

    @property
    def plain(self) -> bool:
        """Whether every engine writes it itself."""
        file_form = FileForm(self.format, labels=self.labels, table=self.table)
        return self.format in ("csv", "parquet") and replace(self, dates={}) == file_form and (not self.dates)


def csv_form(dialect: Dialect, notations: Mapping[str, Notation]) -> FileForm:
    """The form of a CSV file that was read."""
    forms = {name: notation.form for name, notation in notations.items()}
    comma = any("," in form for form in forms.values())
    with stream(dialect.paths[0]) as opened:
        marked = opened.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return FileForm(
        "csv",
        dialect.delimiter,
        "utf-8-sig" if marked and dialect.encoding == "utf-8" else dialect.encoding,
        "," if comma else ".",
        {name: form for name, form in forms.items() if "%" in form},
    )


def form_for(path: str | Path, like: FileForm | None = None) -> FileForm:
    """The form that a path asks for; what it leaves open is that of the source.

    The rows of a table on a server are written to a file first.
    """
    if str(path).startswith(SCHEMES):
        return FileForm("parquet")
    name = str(path).lower().rsplit("/", 1)[-1]
    packed = next((suffix for suffix in _PACKED if name.endswith(suffix)), "")
    suffix = Path(name.removesuffix(packed)).suffix if packed else Path(name).suffix
    form = _SUFFIXES.get(suffix)
    unnamed = not (suffix or packed)
    if unnamed and like is not None and like.format in _SUFFIXES.values():
        form = like.format
    if form is None or (packed and form not in ("csv", "json")):
        raise OutputError(
            f"The suffix of {Path(str(path)).name!r} names no format that can be written. "
            f"The suffixes are: {', '.join(WRITTEN)}; of .csv and .jsonl also with .gz, .bz2, .xz "
            "or .zst.",
            code="output-format",
        )
    same = like is not None and like.format == form
    target_form = replace(like, compression=None) if like is not None and same else FileForm(form)
    if like is not None and {form, like.format} == {"stata", "spss"}:
        target_form = replace(target_form, labels=like.labels)
    if like is not None and form in ("parquet", "arrow"):
        target_form = replace(target_form, times=like.times)
    if suffix == ".tsv":
        target_form = replace(target_form, delimiter="\t")
    return replace(target_form, compression=_PACKED.get(packed))
