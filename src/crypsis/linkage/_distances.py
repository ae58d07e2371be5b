"""The distances of a linkage in plain form, for whoever turns them into a belief."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from crypsis.errors import ParameterError
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, pair
from crypsis.linkage._nearest import Floats, Ints
from crypsis.linkage._ranks import Ties, places
from crypsis.results import Result, raw


@dataclass(frozen=True)
class NearDistances(Result):
    """Pairs of an original and a masked record that are near each other, with their distances.

    `original[p]` and `masked[p]` are the rows of pair p, `distance[p]` is their permutation
    distance in ranks; pairs come by original row, the nearest first. `own` is the row of each
    original's masked record (-1: suppressed), or None where nobody knows.
    """

    columns: tuple[str, ...]
    shape: tuple[int, int]
    nearest: int
    original: Ints = raw()
    masked: Ints = raw()
    distance: Floats = raw()
    own: Ints | None = raw(default=None)

    def to_sparse(self) -> csr_array:
        """Originals by masked records as a SciPy table; a stored zero is a distance of zero."""
        return csr_array((self.distance, (self.original, self.masked)), shape=self.shape)


def near_distances(
    original: Any,
    masked: Any,
    *,
    nearest: int = 10,
    include_own: bool = True,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "random",
    seed: int = 0,
) -> NearDistances:
    """The permutation distances from each original to its nearest few masked records.

    What a belief needs: a link's distances say how much likelier one masked record is than another.
    `include_own` adds the pair of each original and its own masked record where it is not among the
    nearest, so that a belief built on the pairs allows the truth (a mapping that the pairs do not
    allow has no anonymity to measure). Cost: one k-d tree search; memory n times `nearest`.

    >>> near = near_distances({"a": [1, 2, 3]}, {"a": [1.1, 2.2, 2.9]}, nearest=2)
    >>> near.to_sparse().toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    both = pair(
        original, masked, columns=columns, orders=orders, on=on, row_map=row_map, ranks_only=True
    )
    if nearest < 1:
        raise ParameterError(f"nearest is at least 1; {nearest} was given.")
    points = places(both, ties=ties, seed=seed)
    # Not grouped into places: each masked record is a pair of its own here.
    tree_rows, tree_columns = _nearest_rows(points.masked, points.original, nearest)
    if include_own and both.own is not None:
        tree_rows, tree_columns = _with_own(tree_rows, tree_columns, both.own)
    apart = np.abs(points.original[tree_rows] - points.masked[tree_columns]).max(axis=1)
    order = np.lexsort((tree_columns, apart, tree_rows))
    return NearDistances(
        both.names,
        (both.original_records, both.masked_records),
        nearest,
        tree_rows[order],
        tree_columns[order],
        apart[order] / points.unit,
        both.own,
    )


def _nearest_rows(masked: Floats, original: Floats, k: int) -> tuple[Ints, Ints]:
    k = min(k, len(masked))
    found = cKDTree(masked).query(original, k=range(1, k + 1), p=np.inf, workers=-1)[1]
    return np.repeat(np.arange(len(original)), k), found.ravel().astype(np.int64)


def _with_own(rows: Ints, columns: Ints, own: Ints) -> tuple[Ints, Ints]:
    kept = np.flatnonzero(own >= 0)
    width = int(max(columns.max(), own.max())) + 1
    keys = np.unique(np.concatenate([rows * width + columns, kept * width + own[kept]]))
    return keys // width, keys % width
