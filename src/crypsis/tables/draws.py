"""Two ways to draw a sample of rows: by random places, and by the smallest hashes."""

from __future__ import annotations

import math
from collections.abc import Iterable

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.counting import arrays
from crypsis.tables.backend import Backend, Frame

HASHES = 2**60
"""Hashes are below this."""


def at_random_places(batches: Iterable[pa.RecordBatch], count: int, size: int, seed: int) -> pa.Table:
    """`size` of `count` rows, taken from the batches one after another; no row is numbered."""
    drawn = np.random.default_rng(seed).choice(count, min(size, count), replace=False)
    places = np.sort(drawn)
    taken, start = [], 0
    for batch in batches:
        first, last = np.searchsorted(places, (start, start + batch.num_rows))
        taken.append(batch.take(arrays.places(places[first:last] - start)))
        start += batch.num_rows
    return pa.Table.from_batches(taken)


def smallest_hashes(backend: Backend, frame: Frame, hashed: str, count: int, size: int) -> pa.Table:
    """The `size` of `count` rows whose column `hashed` is smallest, without that column.

    The engine filters by a threshold with a margin of ten standard deviations, so that few more
    rows than needed are fetched.
    """
    share = (size + 10 * math.sqrt(size) + 100) / max(1, count)
    if share < 1:
        frame = frame.filter(nw.col(hashed) < int(share * HASHES))
    table = pa.Table.from_batches(list(backend.batches(frame, "sampling")))
    order = pc.sort_indices(table[hashed])  # a missing key comes last
    return table.take(order[:size]).drop_columns([hashed])
