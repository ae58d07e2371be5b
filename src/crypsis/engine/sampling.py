"""Samples of rows: how large they must be, two ways to draw one, and its quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.engine.base import Column
from crypsis.errors import ParameterError

if TYPE_CHECKING:
    from crypsis.engine.frames import Rows

_HASH_BITS = 60
_PASSING = 16_384
"""Rows that pass by at a time: one of them may be long."""


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


def sample_by_place(rows: Rows, columns: Sequence[Column], size: int, seed: int) -> pa.Table:
    """The rows at random places, taken out as all pass by; nothing has to be numbered."""
    frame = rows.frame.select(*(column.inner for column in columns))
    count = rows.count
    drawn = np.random.default_rng(seed).choice(count, min(size, count), replace=False)
    places = np.sort(drawn)
    taken, start = [], 0
    for batch in rows.backend.batches(frame, "sampling", _PASSING):
        first, last = np.searchsorted(places, (start, start + batch.num_rows))
        taken.append(batch.take(pa.array(places[first:last] - start)))
        start += batch.num_rows
    return pa.Table.from_batches(taken).rename_columns([column.name for column in columns])


def sample_by_hash(
    rows: Rows, columns: Sequence[Column], size: int, seed: int, key: Column | None
) -> pa.Table:
    """The rows with the smallest hashes of their key, or where there is none of their place.

    Far more than are needed never leave the engine: the share asked for leaves a margin of ten
    standard deviations.
    """
    hashed = rows.backend.with_hash(rows.frame, None if key is None else key.inner, seed, "h")
    picked = hashed.select(*(column.inner for column in columns), "h")
    share = (size + 10 * math.sqrt(size) + 100) / max(1, rows.count)
    if share < 1:
        picked = picked.filter(nw.col("h") < int(share * 2**_HASH_BITS))
    table = pa.Table.from_batches(list(rows.backend.batches(picked, "sampling")))
    order = pc.sort_indices(table["h"])  # a missing key comes last
    table = table.take(order[:size]).drop_columns(["h"])
    return table.rename_columns([column.name for column in columns])
