"""Samples of rows: how large they must be, two ways to draw one, and its quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.engine.base import Backend
from crypsis.errors import ParameterError

_HASH_BITS = 60


def sample_size(rank_error: float, confidence: float) -> int:
    """How many rows to draw so that sampled quantiles are within `rank_error` (Massart 1990).

    >>> sample_size(0.01, 0.95)
    18445
    """
    if not 0 < rank_error < 1 or not 0 < confidence < 1:
        raise ParameterError("rank_error and confidence must lie between 0 and 1.")
    return math.ceil(math.log(2 / (1 - confidence)) / (2 * rank_error**2))


def table_quantiles(
    table: pa.Table, names: Sequence[str], probabilities: Sequence[float]
) -> dict[str, pa.Array]:
    """For each probability the smallest value with that share of the column's at or below it."""
    found = {}
    for name in names:
        column = table[name].drop_null()
        if pa.types.is_floating(column.type):
            column = column.filter(pc.invert(pc.is_nan(column)))
        ordered = column.take(pc.sort_indices(column)).combine_chunks()
        places = [max(0, math.ceil(p * len(ordered)) - 1) for p in probabilities]
        found[name] = ordered.take(pa.array(places)) if len(ordered) else ordered
    return found


def at_random_places(
    batches: Iterable[pa.RecordBatch], count: int, size: int, seed: int
) -> pa.Table:
    """`size` of `count` rows, taken out as all pass by; nothing has to be numbered."""
    drawn = np.random.default_rng(seed).choice(count, min(size, count), replace=False)
    places = np.sort(drawn)
    taken, start = [], 0
    for batch in batches:
        first, last = np.searchsorted(places, (start, start + batch.num_rows))
        taken.append(batch.take(pa.array(places[first:last] - start)))
        start += batch.num_rows
    return pa.Table.from_batches(taken)


def smallest_hashes(
    backend: Backend, frame: nw.LazyFrame[Any], hashed: str, count: int, size: int
) -> pa.Table:
    """The `size` of `count` rows whose column `hashed` is smallest, without that column.

    Far more than are needed never leave the engine: the share asked for leaves a margin of ten
    standard deviations.
    """
    share = (size + 10 * math.sqrt(size) + 100) / max(1, count)
    if share < 1:
        frame = frame.filter(nw.col(hashed) < int(share * 2**_HASH_BITS))
    table = pa.Table.from_batches(list(backend.batches(frame, "sampling")))
    order = pc.sort_indices(table[hashed])  # a missing key comes last
    return table.take(order[:size]).drop_columns([hashed])
