"""Where the rows are: DuckDB, Spark or memory. No other package knows which of them answers."""

from crypsis.tables.contents import Content
from crypsis.tables.frames import frame_like, open_frame
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Column, Kind
from crypsis.tables.sources import open_source

__all__ = ["Column", "Content", "Kind", "Rows", "frame_like", "open_frame", "open_source"]
