"""All nearest neighbors in rank space, ties included. Arrays in, arrays out.

Points that coincide are one place with several members, so that files with many
equal records cost no more than their distinct ones, and no table of all pairs is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis import progress
from crypsis.counting.grouping import firsts, numbered
from crypsis.linkage._ranks import Floats, Ints
from crypsis.scientific import spatial

_CHUNK_RECORDS = 1 << 16
"""Records that are searched between two reports of progress."""
_MAX_NEIGHBORS_AT_ONCE = 1 << 22
"""Neighbors whose distances are in memory while ties are sought: 32 MB."""
_MIN_ORDERED_POINTS = 20_000
"""Fewer points are searched in their own order: sorting them does not pay."""


@dataclass(frozen=True)
class NearestPlaces:
    """For query i: the smallest distance, and the places at it, `place[start[i]:start[i + 1]]`."""

    distance: Floats
    start: Ints
    place: Ints

    @property
    def query(self) -> Ints:
        """Which query each entry of `place` answers."""
        return np.repeat(np.arange(len(self.distance)), np.diff(self.start))


class PointIndex:
    """An index of points, by default in the maximum norm; points that coincide share a place.

    >>> index = PointIndex(np.array([[1.0, 1.0], [3.0, 3.0], [3.0, 3.0]]))
    >>> found = index.nearest(np.array([[2.0, 2.0]]))
    >>> found.distance, found.place, index.sizes
    (array([1.]), array([0, 1]), array([1, 2]))
    """

    def __init__(self, points: Floats, *, norm: float = np.inf) -> None:
        self._norm = norm
        self.points, self.place_of = distinct(points)
        self.sizes: Ints = np.bincount(self.place_of, minlength=len(self.points)).astype(np.int64)
        # Sliding midpoints: ranks are spread evenly, so medians cost time without a gain.
        self._tree = spatial.cKDTree(self.points, balanced_tree=False, compact_nodes=False)

    def members(self, point: int) -> Ints:
        """The rows that lie at `point`."""
        by_place, first = self._members
        return by_place[first[point] : first[point + 1]]

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        by_place = np.argsort(self.place_of, kind="stable")
        return by_place, np.concatenate([[0], np.cumsum(self.sizes)])

    def nearest(self, queries: Floats, what: str = "nearest records") -> NearestPlaces:
        """Every place at the smallest distance from each query."""
        order = spatial_order(queries)
        parts = [self._nearest_chunk(queries[chunk]) for chunk in _chunks(order, what)]
        return _in_query_order(parts, order)

    def distances(self, queries: Floats, what: str = "nearest records") -> Floats:
        """The smallest distance from each query to any place."""
        distance = np.empty(len(queries))
        for chunk in _chunks(spatial_order(queries), what):
            distance[chunk] = self.some(queries[chunk], 1)[0][:, 0]
        return distance

    def some(self, queries: Floats, k: int) -> tuple[Floats, Ints]:
        """The k nearest places of each query, nearest first (all, if there are fewer)."""
        k = min(k, len(self.points))
        distance, point = self._tree.query(queries, k=range(1, k + 1), p=self._norm, workers=-1)
        return distance, point.astype(np.int64, copy=False)

    def _nearest_chunk(self, queries: Floats) -> NearestPlaces:
        distance, point = self.some(queries, 2)
        least = distance[:, 0].copy()
        tied = distance[:, -1] == least if distance.shape[1] > 1 else np.zeros(len(least), bool)
        pairs = [(np.flatnonzero(~tied), point[~tied, 0])]
        rows, k = np.flatnonzero(tied), 2
        while len(rows):
            k = min(4 * k, len(self.points))
            rows = self._settle(queries, rows, k, pairs)
        query = np.concatenate([chosen for chosen, _ in pairs])
        answer = np.concatenate([chosen for _, chosen in pairs])
        order = np.lexsort((answer, query))
        counts = np.bincount(query, minlength=len(queries))
        return NearestPlaces(least, np.concatenate([[0], np.cumsum(counts)]), answer[order])

    def _settle(self, queries: Floats, rows: Ints, k: int, pairs: list[tuple[Ints, Ints]]) -> Ints:
        """Add the ties of the rows whose k nearest include all of them; return the other rows."""
        left = []
        block = max(1, _MAX_NEIGHBORS_AT_ONCE // k)
        for begin in range(0, len(rows), block):
            chunk = rows[begin : begin + block]
            distance, point = self.some(queries[chunk], k)
            tied = distance == distance[:, :1]
            done = ~tied[:, -1] if k < len(self.points) else np.ones(len(chunk), bool)
            tied &= done[:, None]
            pairs.append((np.repeat(chunk, tied.sum(axis=1)), point[tied]))
            left.append(chunk[~done])
        return np.concatenate(left)


def _chunks(order: Ints, what: str) -> Iterator[Ints]:
    with progress.step(what, total=len(order)) as step:
        for begin in range(0, len(order), _CHUNK_RECORDS):
            yield order[begin : begin + _CHUNK_RECORDS]
            step.advance(len(order[begin : begin + _CHUNK_RECORDS]))


def spatial_order(points: Floats) -> Ints:
    """An order in which near points follow each other, which uses the cache better.

    Points are taken cell by cell of a coarse grid: twice as fast on a million points.
    """
    n, m = points.shape
    if n < _MIN_ORDERED_POINTS:
        return np.arange(n)
    used = min(m, 16)
    steps = max(2, int(np.ceil((n / 4) ** (1 / used))))
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    cell = np.zeros(n, dtype=np.int64)
    for j in range(used):
        scale = steps / span[j] if span[j] > 0 else 0.0
        cell *= steps
        cell += np.minimum((points[:, j] - low[j]) * scale, steps - 1).astype(np.int64)
    return np.argsort(cell)


def _in_query_order(parts: Sequence[NearestPlaces], order: Ints) -> NearestPlaces:
    """Results in the order of the queries, from results in the order of the search."""
    counts = np.empty(len(order), dtype=np.int64)
    counts[order] = np.concatenate([np.diff(part.start) for part in parts])
    distance = np.empty(len(order))
    distance[order] = np.concatenate([part.distance for part in parts])
    start = np.concatenate([[0], np.cumsum(counts)])
    taken = counts[order]
    first = np.concatenate([[0], np.cumsum(taken)])[:-1]
    into = np.repeat(start[order] - first, taken) + np.arange(start[-1])
    point = np.empty(start[-1], dtype=np.int64)
    point[into] = np.concatenate([part.place for part in parts])
    return NearestPlaces(distance, start, point)


def _all_different(values: Floats) -> bool:
    """Whether no two values are equal; for ranks without a sort."""
    whole = values.astype(np.int64)
    if whole.min() >= 0 and whole.max() <= 2 * len(values) and (whole == values).all():
        return bool(np.bincount(whole).max() == 1)
    return int(numbered(values).max(initial=-1)) + 1 == len(values)


def distinct(points: Floats) -> tuple[Floats, Ints]:
    """The distinct points, and for each point which of them it is (first seen, first numbered)."""
    if any(_all_different(column) for column in points.T):
        return points, np.arange(len(points))
    code = np.zeros(len(points), dtype=np.int64)
    for column in points.T:
        value = numbered(column)
        code = numbered(code * (int(value.max(initial=0)) + 1) + value)
    return points[firsts(code)], code
