"""Rows that are computed part by part, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.tables import arrow_files
from crypsis.tables.rows import Rows


class StreamedRows(Rows):
    """Rows computed part by part in their order; counts come from a join instead, in any order.

    So they can be written in order without being sorted.

    Parameters
    ----------
    joined : Rows
        The same rows in any order.
    in_order : Rows
        The same rows, sorted by the engine.
    parts : Callable
        Computes the rows in their order.
    """

    def __init__(self, joined: Rows, in_order: Rows, parts: Callable[[], Iterator[pa.Table]]) -> None:
        super().__init__(joined.columns, lambda: joined.frame, joined.backend)
        self._in_order, self._parts = in_order, parts

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for part in self._parts():
            yield from arrow_files.batches_of(part)

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """All rows, in their order."""
        table = pa.Table.from_batches(list(self._batches()))
        return table if names is None else table.select(list(names))

    def batches(self, what: str) -> Iterator[pa.RecordBatch]:
        """The rows in their order, batch by batch."""
        return self._batches()

    def named_frame(self) -> Any:
        """The engine's own lazy frame, in order."""
        return self._in_order.named_frame()

    def in_order(self) -> Rows:
        """The same rows, sorted by the engine."""
        return self._in_order

    def write_file(self, path: Path | str, form: str, delimiter: str = ",") -> None:
        """Write the rows as they are computed."""
        arrow_files.write(self._batches(), self.names, Path(path), form, delimiter)
