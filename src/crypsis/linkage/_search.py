"""The nearest masked records of every original record, and how many of them are correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.linkage._nearest import NearestPlaces, PointIndex, distinct
from crypsis.linkage._ranks import Floats, Ints, Points
from crypsis.results import Estimate
from crypsis.scientific import special


@dataclass(frozen=True, eq=False)
class Search:
    """The masked records at the smallest distance from each original.

    Equal originals are one query; `query_of` gives the query of each original.
    """

    points: Points
    index: PointIndex
    queries: Floats
    query_of: Ints
    found: NearestPlaces

    @classmethod
    def of(cls, points: Points, *, norm: float = np.inf) -> Search:
        """Search the nearest masked records of all originals."""
        index = PointIndex(points.masked, norm=norm)
        queries, query_of = distinct(points.original)
        return cls(points, index, queries, query_of, index.nearest(queries, "links"))

    @property
    def distances(self) -> Floats:
        """The distance of each original to its nearest masked record, in ranks."""
        return np.asarray(self.found.distance[self.query_of] / self.points.unit)

    @cached_property
    def candidates(self) -> Floats:
        """The number of equally near masked records, by query."""
        sizes = self.index.sizes[self.found.place].astype(np.float64)
        counts = np.bincount(self.found.query, weights=sizes, minlength=len(self.queries))
        return np.asarray(counts, dtype=np.float64)

    def own_found(self, masked_rows: Ints) -> NDArray[np.bool_]:
        """Whether the own masked record of each original is among its nearest."""
        index, nearest = self.index, self.found
        wanted = np.where(masked_rows >= 0, index.place_of[masked_rows], -1)
        if len(self.queries) == len(self.query_of):
            hits = nearest.place == np.repeat(wanted, np.diff(nearest.start))
            return np.bincount(nearest.query[hits], minlength=len(self.query_of)) > 0
        # Several originals share a query: search each place in the sorted places of its query.
        keys = nearest.query * len(index.points) + nearest.place
        wanted_keys = self.query_of * len(index.points) + wanted
        at = np.minimum(np.searchsorted(keys, wanted_keys), len(keys) - 1)
        return np.asarray((keys[at] == wanted_keys) & (wanted >= 0))

    def correct_share(self, masked_rows: Ints, confidence: float = 0.95) -> Estimate:
        """The expected share of correct links when equally near records are chosen at random."""
        expected = float((self.own_found(masked_rows) / self.candidates[self.query_of]).sum())
        return share(expected, len(self.query_of), confidence)

    def distances_without_own(self, masked_rows: Ints) -> Floats:
        """The match distance of each original when its own masked record is not in the file."""
        index, nearest = self.index, self.found
        distance = nearest.distance[self.query_of].copy()
        alone = index.sizes[index.place_of[masked_rows]] == 1
        single = (np.diff(nearest.start) == 1)[self.query_of]
        # The distance changes only where the own record is the single nearest one.
        rows = np.flatnonzero(self.own_found(masked_rows) & single & alone)
        if len(rows):
            distances, point = index.some(self.points.original[rows], 2)
            is_own = point[:, 0] == index.place_of[masked_rows[rows]]
            distance[rows] = np.where(is_own, distances[:, 1], distances[:, 0])
        return distance


class Matches(Sequence[Ints]):
    """For each original record the rows of the masked records at the smallest distance."""

    def __init__(self, search: Search) -> None:
        self._index, self._found, self._query_of = search.index, search.found, search.query_of

    def __len__(self) -> int:
        return len(self._query_of)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        query = self._query_of[row]
        points = self._found.place[self._found.start[query] : self._found.start[query + 1]]
        return np.sort(np.concatenate([self._index.members(point) for point in points]))


def share(successes: float, trials: int, confidence: float = 0.95) -> Estimate:
    """A share with its Clopper-Pearson interval, which also takes fractions of a success.

    >>> print(share(5, 100))
    0.05 (95 % CI 0.01643 to 0.1128)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if successes <= 0 else float(special.betaincinv(successes, trials - successes + 1, tail))
    high = 1.0
    if successes < trials:
        high = float(special.betaincinv(successes + 1, trials - successes, 1 - tail))
    value = min(successes / trials, 1.0)
    return Estimate(value, min(low, value), max(high, value), confidence, "Clopper-Pearson interval")
