"""A block of kinds as the sampler takes it, and the true pairs whose cracks are counted."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms.kernels.chain import LONGEST
from crypsis.scientific import sparse

_MIN_VISIT_STEPS = 64
"""Steps of a visit at least."""
_STEPS_PER_ROW = 16
"""Steps of a visit for each row that shares the column."""
_MIN_INDEPENDENT_DRAWS = 100
"""Independent draws, which there will be at least."""


class Table:
    """The scaled cells of a block between kinds, by row and by column, and the lists of members."""

    def __init__(self, kinds: KindMatrix, values: NDArray[np.float64]) -> None:
        self.kinds, self.values = kinds, values
        weights = kinds.weights
        starts, indices = weights.indptr.astype(np.int64), weights.indices.astype(np.int64)
        cells = sparse.csr_array((values, indices, starts), shape=weights.shape)
        back = sparse.csr_array(cells.T)
        back.sort_indices()
        self.by_column = (back.indptr.astype(np.int64), back.indices.astype(np.int64), np.asarray(back.data))
        first, members = _listed(kinds.column_kind, kinds.columns)
        self.kernel: tuple[Any, ...] = (
            starts,
            indices,
            values,
            kinds.row_kind,
            kinds.column_kind,
            first,
            members,
        )
        self.row_lists = _listed(kinds.row_kind, kinds.rows)
        cumulative = np.cumsum(values * kinds.columns[indices])
        before = np.concatenate([[0.0], cumulative])[starts[:-1]]
        self.cumulative = cumulative - np.repeat(before, np.diff(starts))

    @cached_property
    def holes(self) -> tuple[NDArray[np.float64], Ints]:
        """From which kinds of columns visits start (cumulative shares), and how long they may be."""
        starts, indices, values = self.by_column
        columns = self.kinds.columns
        # One over the number of rows that share the column evenly.
        share = np.add.reduceat(values**2 * self.kinds.rows[indices], starts[:-1])
        limits = np.maximum(_MIN_VISIT_STEPS, np.ceil(_STEPS_PER_ROW / share)).astype(np.int64)
        return np.cumsum(share**2 * columns), np.minimum(limits, LONGEST * self.kinds.size)

    @cached_property
    def examples(self) -> tuple[Ints, Ints]:
        """One row and one column of each kind."""
        rows, columns = self.row_lists, self.kernel[5:7]
        return rows[1][rows[0][:-1]], columns[1][columns[0][:-1]]


def make_table(kinds: KindMatrix, values: NDArray[np.float64]) -> Table:
    """The table of a block whose stored cells have these scaled values."""
    return Table(kinds, np.ascontiguousarray(values))


def is_flat(kinds: KindMatrix) -> bool:
    """Whether all cells above 0 are equal: then so are the weights of all matchings."""
    return bool((kinds.weights.data == kinds.weights.data[0]).all())


class TruePairs(NamedTuple):
    """One item for each pair of kinds that has items and their own pseudonyms in it.

    `numbers` is how many such items there are, `of_row` the pair of each item, `smooth` whether its
    crack probability is smoothed, `bethe` the expected cracks under the Bethe marginals and `cost`
    the cells visited for one draw.
    """

    items: Ints
    truth: Ints
    numbers: NDArray[np.float64]
    of_row: Ints
    smooth: NDArray[np.bool_]
    bethe: float
    cost: int


def true_pairs(kinds: KindMatrix, marginals: NDArray[np.float64], truth: Ints, precision: float) -> TruePairs:
    """The pairs of kinds with true pairs, and which of them to smooth.

    Counting pairs between two kinds is quick and varies more: it is used where it adds little to
    the width of the interval, beginning with the pairs that cost most to smooth.
    """
    wide = kinds.weights.shape[1]
    keys = kinds.row_kind * wide + kinds.column_kind[truth]
    _, items, of_row, numbers = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    probabilities = KindMatrix(
        sparse.csr_array((marginals, kinds.weights.indices, kinds.weights.indptr), kinds.weights.shape),
        kinds.row_kind,
        kinds.column_kind,
    ).cells(items, truth[items])
    expected = float(numbers @ probabilities)
    of_items, of_columns = kinds.row_kind[items], kinds.column_kind[truth[items]]
    pairs = kinds.rows[of_items] * kinds.columns[of_columns]
    variance = probabilities * numbers**2 / pairs
    degrees = kinds.degrees[of_items]
    order = np.argsort(variance / degrees, kind="stable")
    allowed = _MIN_INDEPENDENT_DRAWS * (precision * max(expected, 0.25) / 2) ** 2
    smooth = np.ones(items.size, dtype=np.bool_)
    smooth[order] = np.cumsum(variance[order]) > allowed
    cost = int(np.where(smooth, degrees, kinds.rows[of_items]).sum())
    return TruePairs(items, truth[items], numbers.astype(np.float64), of_row.ravel(), smooth, expected, cost)


def _listed(kind: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Where the members of each kind begin in the list of all, and that list."""
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return first, np.argsort(kind, kind="stable").astype(np.int64)
