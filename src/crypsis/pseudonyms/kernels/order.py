"""Which way through a matrix keeps the frontier small, and how large the frontier then is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from crypsis.array_types import Flags, Floats, Ints

_SWEEPS = 20
_HOPELESS = 70.0  # logarithm of a number of states beyond which it does not matter how many
MOST_OPEN = 63  # classes open at a time: each needs a bit of the key at least


class MergedMatrix(NamedTuple):
    """Identical rows and identical columns counted together: weights per class, sizes, members."""

    weights: Floats
    rows: Ints
    columns: Ints
    row_class: Ints
    column_class: Ints


def merge_identical(matrix: Floats) -> MergedMatrix:
    """Merge identical rows and identical columns.

    >>> merge_identical(np.array([[1., 1., 0.], [1., 1., 0.], [0., 1., 1.]])).rows
    array([2, 1])
    """
    row_class = _kinds(matrix)
    row_first = _first(row_class)
    column_class = _kinds(matrix[row_first].T)
    weights = matrix[np.ix_(row_first, _first(column_class))]
    return MergedMatrix(weights, np.bincount(row_class), np.bincount(column_class), row_class, column_class)


def _kinds(rows: Floats) -> Ints:
    """A number for each row, the same for identical ones, in order of first appearance."""
    seen: dict[bytes, int] = {}
    exact = np.ascontiguousarray(rows) + 0.0  # so that -0.0 is 0.0 to the last bit
    return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in exact], dtype=np.int64)


def _first(kinds: Ints) -> Ints:
    """The first member of each class."""
    return np.unique(kinds, return_index=True)[1]


def log_states(support: Flags, rows: Ints, columns: Ints) -> float:
    """Log of an upper bound of the number of states, if columns are done in the order given.

    A state is a vector of counts of free rows with a given sum; deadlines are ignored. Beyond
    exp(70) the rest is not added.
    """
    first = support.argmax(axis=1)
    last = support.shape[1] - 1 - support[:, ::-1].argmax(axis=1)
    total = -np.inf
    matched = 0
    for kind in range(support.shape[1]):
        if total > _HOPELESS:
            break
        matched += int(columns[kind])
        here = rows[(first <= kind) & (kind < last)]
        if here.size > MOST_OPEN:
            return np.inf
        closed = int(rows[last <= kind].sum())
        # How many vectors with entries up to n_k have the sum that is left: a product of
        # (1 + x + ... + x^n_k), one coefficient of it; scaled, as only its logarithm is wanted.
        ways = np.ones(1)
        scale = 0.0
        for count in here:
            ways = np.convolve(ways, np.ones(int(count) + 1))
            top = ways.max()
            ways /= top
            scale += float(np.log(top))
        free = int(here.sum()) - (matched - closed)
        if 0 <= free < ways.size and ways[free] > 0:
            total = float(np.logaddexp(total, scale + np.log(ways[free])))
    return total


class ColumnOrder(NamedTuple):
    """An order of the columns, and the logarithm of a bound of the states that it leads to."""

    columns: Ints
    log_states: float


def column_order(support: Flags, rows: Ints, columns: Ints) -> ColumnOrder | None:
    """The best of a few orders of the columns: as given, by barycentre, by Cuthill-McKee.

    None where no order will do, because some column alone meets too many classes of rows.
    """
    if support.sum(axis=0).max() > MOST_OPEN:
        return None
    orders = [np.arange(support.shape[1]), _barycentres(support), _cuthill_mckee(support)]
    costs = [log_states(support[:, order], rows, columns[order]) for order in orders]
    best = int(np.argmin(costs))
    return ColumnOrder(orders[best], costs[best]) if np.isfinite(costs[best]) else None


def _barycentres(support: Flags) -> Ints:
    """Move rows to the mean of their columns, and columns to that of their rows, repeatedly."""
    weights = support.astype(np.float64)
    position = _cuthill_mckee(support).argsort().astype(np.float64)
    for _ in range(_SWEEPS):
        of_rows = _ranks(weights @ position / weights.sum(axis=1))
        position = _ranks(of_rows @ weights / weights.sum(axis=0))
    return np.argsort(position, kind="stable")


def _ranks(values: Floats) -> Floats:
    ranks = np.empty(values.size)
    ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
    return ranks


def _cuthill_mckee(support: Flags) -> Ints:
    """Columns in the order in which Cuthill-McKee meets them in the bipartite graph."""
    many, wide = support.shape
    edges = csr_array(np.block([[np.zeros((many, many)), support], [support.T, np.zeros((wide, wide))]]))
    order = reverse_cuthill_mckee(edges.tocsr(), symmetric_mode=True)
    return np.asarray(order[order >= many] - many, dtype=np.int64)
