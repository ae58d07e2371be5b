"""The distances of a linkage in plain form, for whoever turns them into a belief."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from crypsis.errors import ParameterError, TooLarge
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, pair
from crypsis.linkage._nearest import Floats, Ints
from crypsis.linkage._ranks import Ties, places
from crypsis.results import Result, raw

_MOST_DENSE = 5_000


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

    def to_dense(self) -> Floats:
        """Originals by masked records as an array, infinite where a pair is not near."""
        if max(self.shape) > _MOST_DENSE:
            raise TooLarge(
                f"A full table of distances is made for up to {_MOST_DENSE:,} records, and there "
                f"are {max(self.shape):,}. Use to_sparse(), or the arrays themselves."
            )
        table = np.full(self.shape, np.inf)
        table[self.original, self.masked] = self.distance
        return table


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
    ties: Ties = "average",
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
    tree = cKDTree(points.masked, balanced_tree=False, compact_nodes=False)
    k = min(nearest, both.masked_records)
    distance, masked_rows = tree.query(points.original, k=range(1, k + 1), p=np.inf, workers=-1)
    first, second = np.repeat(np.arange(both.original_records), k), masked_rows.ravel()
    apart = distance.ravel()
    if include_own and both.own is not None:
        absent = np.flatnonzero((masked_rows != both.own[:, None]).all(axis=1) & (both.own >= 0))
        own = both.own[absent]
        far = np.abs(points.original[absent] - points.masked[own]).max(axis=1)
        behind = (absent + 1) * k  # its own record is no nearer than the last of the nearest
        first, second, apart = (
            np.insert(values, behind, more)
            for values, more in ((first, absent), (second, own), (apart, far))
        )
    return NearDistances(
        both.names,
        (both.original_records, both.masked_records),
        nearest,
        first,
        second.astype(np.int64),
        apart / points.unit,
        both.own,
    )
