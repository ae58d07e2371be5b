"""Rows in random order: in memory, part by part through private files, or sorted on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.random import Generator, SeedSequence, default_rng

from crypsis.array_types import Ints
from crypsis.tables.duckdb.connection import private_folder
from crypsis.tables.frames import open_frame
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Kind
from crypsis.tables.sources import open_spilled

_PILE_ROWS = 1_000_000
"""Rows of a pile, about, which is put in order in memory."""
_MAX_PILES = 256
"""Piles of a table; those of a very large one have more rows."""
_HASH = "random_place"


def random_order(rows: int, seed: SeedSequence) -> Ints:
    """For each place of the random order the number of the row that comes there.

    >>> random_order(4, np.random.SeedSequence(1)).tolist()
    [3, 1, 0, 2]
    """
    draw, within, piles = _draws(rows, seed)
    pile = _piles(draw, rows, piles)
    order = np.argsort(pile, kind="stable")
    sizes = np.bincount(pile, minlength=piles)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    return np.concatenate([part[within.permutation(part.size)] for part in parts])


def shuffled(rows: Rows, seed: SeedSequence, *, in_memory: bool) -> Rows:
    """The same rows in the order of `random_order`; on a cluster in one that the seed alone fixes."""
    if in_memory:
        table = rows.to_arrow()
        shuffled_rows: Rows = open_frame(table.take(pa.array(random_order(table.num_rows, seed))))
    else:
        shuffled_rows = _ShuffledRows(rows, seed)
    shuffled_rows.records = rows.records
    return shuffled_rows


class _ShuffledRows(Rows):
    """Counts come from the rows as they are stored; what is written or returned is shuffled."""

    def __init__(self, rows: Rows, seed: SeedSequence) -> None:
        super().__init__(rows.columns, lambda: rows.frame, rows.backend)
        self._rows, self._seed = rows, seed

    @cached_property
    def _shuffled(self) -> Rows:
        if self.local:
            parts = shuffled_parts(self._rows.parts("shuffling rows"), self._rows.count, self._seed)
            return open_spilled(self.names, parts)
        # A cluster has no row numbers. Sorted by a hash of what is released, the order is a
        # function of the released values and the seed: it has nothing of the original order.
        inner = [column.inner for column in self.columns if column.kind is not Kind.NESTED]
        inner_names = [column.inner for column in self.columns]
        seed = int(self._seed.generate_state(1)[0])

        def in_order(frame: Any) -> Any:
            hashed = self.backend.with_class_hash(frame, inner, seed, _HASH)
            return hashed.sort(_HASH).select(*inner_names)

        return self._rows.derive(self.columns, in_order)

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """All rows, in their random order."""
        return self._shuffled.to_arrow(names)

    def batches(self, what: str) -> Iterator[pa.RecordBatch]:
        """The rows in their random order, batch by batch."""
        return self._shuffled.batches(what)

    def named_frame(self) -> Any:
        """The engine's own lazy frame, in random order."""
        return self._shuffled.named_frame()

    def in_order(self) -> Rows:
        """The same rows in random order."""
        return self._shuffled

    def write_file(self, path: Path | str, form: str, delimiter: str = ",") -> None:
        """Write the rows in random order."""
        self._shuffled.write_file(path, form, delimiter)


def shuffled_parts(parts: Iterable[pa.Table], rows: int, seed: SeedSequence) -> Iterator[pa.Table]:
    """Rows that come in parts, in the order of `random_order`.

    Every row is put on a random pile in a private folder; then the piles are read one by one, each
    in random order. All orders are equally likely (Rao 1961, Sandelius 1962), and the memory needed
    is that of one part and one pile. `rows` is their number.
    """
    draw, within, piles = _draws(rows, seed)
    folder = private_folder("crypsis-shuffle-")
    paths = [folder.path / f"{number}.arrow" for number in range(piles)]
    writers: list[pa.RecordBatchFileWriter] = []
    try:
        for part in parts:
            if not writers:
                writers = [pa.ipc.new_file(path, part.schema) for path in paths]
            pile = _piles(draw, part.num_rows, piles)
            order = np.argsort(pile, kind="stable")
            ends = np.cumsum(np.bincount(pile, minlength=piles))
            for writer, indices in zip(writers, np.split(order, ends[:-1]), strict=True):
                writer.write_table(part.take(pa.array(indices)))
        for writer, path in zip(writers, paths, strict=False):
            writer.close()
            with pa.OSFile(str(path)) as file:
                table = pa.ipc.open_file(file).read_all()
            path.unlink()
            yield table.take(pa.array(within.permutation(table.num_rows)))
    finally:
        folder.remove()


def _draws(rows: int, seed: SeedSequence) -> tuple[Generator, Generator, int]:
    """The randomness of the piles, that within them, and their number."""
    fresh = SeedSequence(seed.entropy, spawn_key=seed.spawn_key)  # spawning changes a sequence
    piles, within = fresh.spawn(2)
    count = min(_MAX_PILES, max(1, -(-rows // _PILE_ROWS)))
    return default_rng(piles), default_rng(within), count


def _piles(draw: Generator, rows: int, piles: int) -> Ints:
    """The pile of each row; one draw a row, so that the parts do not matter."""
    return (draw.random(rows) * piles).astype(np.int64)
