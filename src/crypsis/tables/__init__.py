"""Where the rows are: DuckDB, Spark or memory. No other package knows which of them answers."""

from crypsis.tables.canonical import RECORD
from crypsis.tables.contents import Content
from crypsis.tables.formats.excel import sheet_names
from crypsis.tables.formats.postgresql import TableAddress, table_address
from crypsis.tables.forms import FileForm, form_for
from crypsis.tables.frames import frame_like, open_frame
from crypsis.tables.output import check_output, read_back, replacing, without_formulas, write_file, write_rows
from crypsis.tables.paths import format_of, suffix_by_content
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Column, Kind
from crypsis.tables.sources import open_source

__all__ = [
    "RECORD",
    "Column",
    "Content",
    "FileForm",
    "Kind",
    "Rows",
    "TableAddress",
    "check_output",
    "form_for",
    "format_of",
    "frame_like",
    "open_frame",
    "open_source",
    "read_back",
    "replacing",
    "sheet_names",
    "suffix_by_content",
    "table_address",
    "without_formulas",
    "write_file",
    "write_rows",
]
