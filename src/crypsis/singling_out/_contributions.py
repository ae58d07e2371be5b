"""What each column contributes to the share of unique records: Shapley values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.counting.cells import Cells
from crypsis.counting.kernels import refinement as kernels
from crypsis.counting.partitions import CodeTable, Partition, count_column_sets
from crypsis.results import Estimate, Result
from crypsis.scientific import special
from crypsis.singling_out._measures import CONFIDENCE, ColumnSet, singles
from crypsis.threads import map_threads, thread_count

_MAX_EXACT_WORK = 40_000_000
"""Cells times sets of columns; with more, orders of the columns are drawn."""
_DRAWN_ORDERS = 32
"""Random orders of the columns: half of them, and their reverses."""


class ColumnShare(Result):
    """How much a column contributes to the share of unique records."""

    column: str
    distinct: int
    alone: float
    """The share of records that are unique in this column alone."""
    contribution: float | Estimate
    """Its Shapley value: what it adds to the share of unique records, averaged over all orders."""
    sets: int
    """In how many of the minimal sets it is."""


def rank_columns(cells: Cells, column_sets: Sequence[ColumnSet], seed: int) -> tuple[ColumnShare, ...]:
    """The columns by their Shapley value for the share of unique records."""
    width = len(cells.columns)
    if len(cells) * 2**width <= _MAX_EXACT_WORK and width <= 12:
        shares: list[float | Estimate] = list(_exact_shares(cells))
    else:
        shares = list(_sampled_shares(cells, seed))
    rows = []
    for column_set, share in zip(singles(cells), shares, strict=True):
        (name,) = column_set.columns
        sets = sum(name in qi.columns for qi in column_sets)
        rows.append(ColumnShare(name, int(column_set.distinct), column_set.unique_fraction, share, sets))
    return tuple(sorted(rows, key=lambda row: (-float(row.contribution), row.column)))


def _exact_shares(cells: Cells) -> list[float]:
    """Shapley values from all subsets (Shapley 1953)."""
    width = len(cells.columns)
    unique = np.zeros(2**width)
    unique[0] = float(cells.counts.sum() == 1)
    for subset in count_column_sets(cells):
        bits = sum(1 << cells.columns.index(name) for name in subset.columns)
        unique[bits] = subset.unique_fraction
    sets = np.arange(2**width)
    sizes = np.bitwise_count(sets).astype(np.int64)
    shares = []
    for column in range(width):
        sets_without = sets[(sets >> column) & 1 == 0]
        weight = np.array([1 / (width * math.comb(width - 1, s)) for s in range(width)])
        gain = unique[sets_without | (1 << column)] - unique[sets_without]
        shares.append(float((weight[sizes[sets_without]] * gain).sum()))
    return shares


def _sampled_shares(cells: Cells, seed: int) -> list[Estimate]:
    """Shapley values from random orders of the columns, each with its reverse."""
    table = CodeTable(cells)
    width = len(table)
    random = np.random.default_rng(seed)
    drawn = [random.permutation(width) for _ in range(_DRAWN_ORDERS // 2)]
    orders = [order for drawn_order in drawn for order in (drawn_order, drawn_order[::-1])]
    gains = np.zeros((_DRAWN_ORDERS, width))
    at_once = 4 * thread_count()
    with progress.step("contribution of columns", _DRAWN_ORDERS) as work:
        for first in range(0, _DRAWN_ORDERS, at_once):
            chunk = orders[first : first + at_once]
            for i, gain in enumerate(map_threads(lambda order: _gains(table, order), chunk), first):
                gains[i, orders[i]] = gain
            work.advance(len(chunk))
    pairs = (gains[::2] + gains[1::2]) / 2  # independent draws; the two of a pair are not
    mean = pairs.mean(axis=0)
    error = special.ndtri((1 + CONFIDENCE) / 2) * pairs.std(axis=0, ddof=1) / math.sqrt(len(pairs))
    method = f"Shapley value from {_DRAWN_ORDERS} orders of the columns"
    ends = zip(mean, mean - error, mean + error, strict=True)
    estimates = [Estimate(value, low, high, CONFIDENCE, method) for value, low, high in ends]
    return [estimates[j] for j in np.argsort(table.places)]


def _gains(table: CodeTable, order: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each column of an order adds to the share of unique records."""
    branch = Partition.coarsest(table)
    shares = np.empty(order.size + 1)
    shares[0] = 0.0
    for step, column in enumerate(order):
        if branch.order.size:
            branch = branch.refine(int(column))
        chosen = np.asarray(order[: step + 1])
        rows = int(table.row_counts(tuple(chosen[:-1]), chosen[-1:])[0])
        # A cell that is alone in its class has left the partition, unless it is fragile.
        lone = branch.starts[:-1][np.diff(branch.starts) == 1]
        alone = int(branch.finished[kernels.SINGLETONS])
        alone += int((table.rows[branch.order[lone]] == 1).sum())
        shares[step + 1] = alone / rows if rows else 0.0
    return np.diff(shares)
