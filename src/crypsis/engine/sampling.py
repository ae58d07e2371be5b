"""How large a sample must be, and the quantiles of one. Tables in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from crypsis.errors import ParameterError


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
