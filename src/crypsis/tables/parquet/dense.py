"""Cells of Parquet files counted in a dense table: a place for each combination of codes."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crypsis import progress
from crypsis.counting.arrays import missing, places, scalar
from crypsis.tables.parquet.codes import BatchCodes, CodedColumn, NotSmallCodesError, TextCodes, coded_column
from crypsis.threads import map_threads, thread_count

MAX_PLACES = 2**24
"""Places of a dense table: 128 MB."""
_MAX_PLACES_OF_ALL_THREADS = 2**25
"""Places of the dense tables of all threads together: 256 MB."""
_MAX_DICTIONARY_TEXTS = 2**14
"""A larger dictionary costs more to bring together than counting by code saves."""
_BATCH_ROWS = 65_536
"""Rows that are decoded and counted at a time."""
_TASK_ROWS = 1_000_000
"""Row groups are taken together until they have so many rows."""


@dataclass(frozen=True)
class _Task:
    """Some row groups of a file."""

    path: str
    metadata: pq.FileMetaData
    groups: tuple[int, ...]
    rows: int


def dense_cells(
    paths: Sequence[str], names: Sequence[str], kinds: Sequence[pa.DataType], what: str
) -> tuple[list[pa.DictionaryArray], NDArray[np.int64]]:
    """The combinations of some columns and their counts.

    Raises `NotSmallCodesError` where they are too many, or a file does not keep what it states.
    """
    files = [pq.read_metadata(path) for path in paths]
    room = _most_places() // 2 ** (len(names) - 1)
    columns = [
        coded_column(
            name, kind, files, min(room, _MAX_DICTIONARY_TEXTS) if pa.types.is_string(kind) else room
        )
        for name, kind in zip(names, kinds, strict=True)
    ]
    tasks = [task for path, file in zip(paths, files, strict=True) for task in _tasks(path, file)]
    with progress.step(what, float(sum(task.rows for task in tasks))) as step:
        counter = _Counter(names, columns, step)
        if tasks:
            counter.count(tasks[0])  # alone: it shows soon whether the columns are small codes
        map_threads(counter.count, tasks[1:])
    return counter.cells()


def _tasks(path: str, file: pq.FileMetaData) -> list[_Task]:
    tasks, waiting, rows = [], [], 0
    for group in range(file.num_row_groups):
        waiting.append(group)
        rows += file.row_group(group).num_rows
        if rows >= _TASK_ROWS or group == file.num_row_groups - 1:
            tasks.append(_Task(path, file, tuple(waiting), rows))
            waiting, rows = [], 0
    return tasks


def _most_places() -> int:
    return min(MAX_PLACES, _MAX_PLACES_OF_ALL_THREADS // thread_count())


class _Table:
    """Counts by code; it grows when a column gets more codes."""

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.counts = np.zeros(0, np.int64)
        self._places = np.zeros(_BATCH_ROWS, np.int32)

    def add(self, coded: Sequence[BatchCodes]) -> None:
        """Count the rows of a batch."""
        from crypsis.counting.kernels import dense as kernels

        step = self.counts.size
        for position, (codes, low, table_codes) in enumerate(coded):
            step //= self.shape[position]
            added = (table_codes * step).astype(np.int32)
            if position < len(coded) - 1:
                in_range = kernels.add_places(codes, low, added, self._places, position == 0)
            else:
                in_range = kernels.count_places(codes, low, added, self._places, self.counts)
            if not in_range:
                raise NotSmallCodesError

    def grow(self, columns: Sequence[CodedColumn]) -> None:
        """Make room for all codes that there are by now; a half more for texts still to come."""
        needed = tuple(column.size for column in columns)
        if all(a <= b for a, b in zip(needed, self.shape, strict=False)) and self.shape:
            return
        new = tuple(map(max, needed, self.shape or needed))
        ample = tuple(
            size + size // 2 if isinstance(column, TextCodes) else size
            for size, column in zip(new, columns, strict=True)
        )
        most = _most_places()
        new = ample if math.prod(ample) <= most else new
        if math.prod(new) > most:
            raise NotSmallCodesError
        grown = np.zeros(new, np.int64)
        if self.shape:
            grown[tuple(map(slice, self.shape))] = self.counts.reshape(self.shape)
        self.shape, self.counts = new, grown.ravel()


class _Counter:
    """Counts row groups; each thread in a table of its own."""

    def __init__(self, names: Sequence[str], columns: Sequence[CodedColumn], step: progress.Step) -> None:
        self._names, self._columns, self._step = list(names), list(columns), step
        texts = zip(names, columns, strict=True)
        self._texts = [name for name, column in texts if isinstance(column, TextCodes)]
        self._free: list[_Table] = []
        self._lock = threading.Lock()

    def count(self, task: _Task) -> None:
        """Count the rows of some row groups."""
        with self._lock:
            table = self._free.pop() if self._free else _Table()
        with pq.ParquetFile(
            task.path, metadata=task.metadata, read_dictionary=self._texts, pre_buffer=False
        ) as file:
            batches = file.iter_batches(_BATCH_ROWS, list(task.groups), self._names, use_threads=False)
            rows = sum(self._count(batch, table) for batch in batches)
        if rows != task.rows:
            raise NotSmallCodesError
        with self._lock:
            self._free.append(table)
            self._step.advance(float(rows))

    def _count(self, batch: pa.RecordBatch, table: _Table) -> int:
        coded = [
            column.codes(batch.column(name)) for name, column in zip(self._names, self._columns, strict=True)
        ]
        table.grow(self._columns)
        table.add(coded)
        return int(batch.num_rows)

    def cells(self) -> tuple[list[pa.DictionaryArray], NDArray[np.int64]]:
        """What was counted, of all threads together."""
        total, *partial_tables = self._free
        total.grow(self._columns)
        for table in partial_tables:
            table.grow(self._columns)
            shape = tuple(map(min, total.shape, table.shape))
            part = tuple(map(slice, shape))
            total.counts.reshape(total.shape)[part] += table.counts.reshape(table.shape)[part]
        seen = np.flatnonzero(total.counts)
        codes = np.unravel_index(seen, total.shape)
        pairs = zip(self._columns, codes, strict=True)
        return [_coded(column, codes) for column, codes in pairs], total.counts[seen]


def _coded(column: CodedColumn, codes: NDArray[np.int64]) -> pa.DictionaryArray:
    """Codes as a dictionary-coded column that has only values that occur."""
    used, inverse = np.unique(codes, return_inverse=True)
    first = int(used.size > 0 and used[0] == 0)
    indices = places(inverse.reshape(-1) - first)
    is_present = pc.greater_equal(indices, scalar(np.int64(0)))
    indices = pc.if_else(is_present, indices, missing(pa.int64())).cast(pa.int32())
    return pa.DictionaryArray.from_arrays(indices, column.values(used[first:]))
