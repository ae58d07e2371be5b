"""Where the rows live. Whoever asks `Rows` does not know whether DuckDB or Spark answers."""

from crypsis.engine.base import Column, Kind, Tally
from crypsis.engine.frame_sources import open_frame
from crypsis.engine.frames import Rows
from crypsis.engine.sources import open_source

__all__ = ["Column", "Kind", "Rows", "Tally", "open_frame", "open_source"]
