"""The order of released rows: random, or that of the original with what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import SeedSequence

from crypsis.array_types import Ints
from crypsis.dataset import Dataset
from crypsis.protection.recoding._columns import MAX_MAPPED_ROWS, fits_in_memory
from crypsis.tables import Kind, Rows
from crypsis.tables.shuffled import random_order, shuffled

RowMap = tuple[int, ...] | None
_MIN_ORDER_CORRELATION = 0.5
"""From this correlation on, of positions and ranks, the order is said to show the values of a column."""
_ORDER_STREAM = 1_001
"""The place of the order among the streams of a seed; masks have the first ones."""


def in_random_order(rows: Rows, row_map: RowMap, seed: int, file: int = 0) -> tuple[Rows, RowMap]:
    """The rows in random order, and the original row of each.

    Rows in memory are permuted. Larger tables are put on random piles in private files, which are
    then shuffled one by one when the rows are first written or returned. A cluster sorts them by a
    hash of their values and the seed; there, and beyond 50 million rows, the row map is empty.
    Each further file of a release has an order of its own.
    """
    stream = SeedSequence(seed, spawn_key=(_ORDER_STREAM, file) if file else (_ORDER_STREAM,))
    shuffled_rows = shuffled(rows, stream, in_memory=fits_in_memory(rows))
    if not rows.local or rows.count > MAX_MAPPED_ROWS or row_map == ():
        return shuffled_rows, ()
    order = random_order(rows.count, stream)
    if row_map is not None:
        order = np.asarray(row_map)[order]
    return shuffled_rows, tuple(order.tolist())


def order_notes(original: Dataset, removed: Sequence[str]) -> tuple[str, ...]:
    """What the order of the original shows about columns that are not released, or of persons.

    Only what the rows themselves show is found: an order by something that is not a column, such
    as the day of arrival, cannot be.
    """
    names = list(dict.fromkeys((*removed, *filter(None, [original.person]))))
    if not names:
        return ()
    if not fits_in_memory(original.rows):
        return (
            "Whether this order shows anything about columns that are not released was not "
            "examined, because of the size of the table.",
        )
    return tuple(note for name in names for note in _column_notes(original, name))


def _column_notes(data: Dataset, name: str) -> Iterator[str]:
    if data.rows.column(name).kind is Kind.NESTED:
        return
    codes = _ranks(data.to_arrow([name])[name])
    distinct = np.unique(codes).size
    if codes.size < 3 or distinct < 2:
        return
    if distinct < codes.size and 1 + np.count_nonzero(np.diff(codes)) == distinct:
        yield f"Records with the same value of {name!r}, which is not released, are adjacent."
    else:
        along = abs(float(np.corrcoef(np.arange(codes.size), codes)[0, 1]))
        if along >= _MIN_ORDER_CORRELATION:
            how = "sorted by" if along > 0.999 else "nearly in the order of"
            yield (
                f"The records are {how} {name!r}, which is not released: the position of a record "
                "shows about where its value is."
            )


def _ranks(column: pa.ChunkedArray) -> Ints:
    """The rank of each value that is there, equal values sharing one."""
    coded = column.combine_chunks().drop_null().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    order = np.asarray(pc.sort_indices(coded.dictionary))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[np.asarray(coded.indices)], np.int64)
