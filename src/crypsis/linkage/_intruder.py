"""The maximum-knowledge intruder links originals to masked records (domingo2016, Sec. 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, Pair, pair
from crypsis.linkage._nearest import Field, Floats, Found, Ints, distinct
from crypsis.linkage._ranks import Places, Ties, places
from crypsis.linkage._reverse_mapping import measured
from crypsis.results import Estimate, Result, raw


class Matches(Sequence[NDArray[np.int64]]):
    """For each original record the rows of the masked records at the smallest distance."""

    def __init__(self, field: Field, found: Found, query_of: Ints) -> None:
        self._field, self._found, self._query_of = field, found, query_of

    def __len__(self) -> int:
        return len(self._query_of)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        query = self._query_of[row]
        there = self._found.place[self._found.start[query] : self._found.start[query + 1]]
        return np.sort(np.concatenate([self._field.members(place) for place in there]))


@dataclass(frozen=True)
class ColumnDistance(Result):
    """How far one column moved, in ranks: in the intruder's matches, and (if known) in truth.

    `matched` is the mean over all links, `zeros` the number of links that did not move at all in
    this column, `own` the mean distance between an original and its own masked record. A column
    with small distances was permuted least. That is not the same as least noise: it depends on how
    dense its values lie.
    """

    column: str
    matched: float
    zeros: int
    own: float | None


@dataclass(frozen=True)
class Link(Result):
    """What the intruder's linkage found.

    A record counts as `correct` where its one nearest masked record is its own, as `multiple` where
    several are equally near (`multiple_right` of them with the right one among them), else as
    `wrong`. `right` is the expected share of right guesses when he picks among equally near records
    at random, with its interval; `chance` is that share for an intruder who guesses blindly. The
    three are None where nobody knows who is who. `distances` and `matches` are per original record;
    `unmatched` and `multiply_matched` count masked records claimed by none and by several.
    """

    columns: tuple[str, ...]
    records: int
    masked_records: int
    correct: int | None
    multiple: int
    wrong: int | None
    multiple_right: int | None
    right: Estimate | None
    chance: float
    suppressed: int | None
    unmatched: int
    multiply_matched: int
    mean_distance: float
    column_distances: tuple[ColumnDistance, ...]
    distances: Floats = raw()
    matches: Matches = raw()
    matched_by: Ints = raw()

    @property
    def least_protected(self) -> str:
        """The column whose matches are nearest on average."""
        return min(self.column_distances, key=lambda column: column.matched).column


def link(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> Link:
    """Link every original record to the masked record(s) at the smallest permutation distance.

    domingo2016, Algorithms 2 and 3 with the reverse-mapped file in place of the masked one, and
    Table 4: the distance of two records is their largest rank difference over the columns (name
    some `columns` to link on a subset, Note 1 of the paper). All records at the smallest distance
    are found. Records are row-aligned, joined on a column of record numbers (`on`), or by a
    `row_map` (for each masked record the row of its original, or -1); unequal numbers of records
    are compared by rescaled ranks. Equal values share their mean rank (`ties="average"`): an
    intruder is not fooled by dice of our making. The paper breaks ties at random
    (`ties="random"`, repeatable by `seed`), which on columns full of equal values makes a file look
    safer than it is. Missing values are an error.

    Cost: a k-d tree search, about n log n for few columns; memory grows with the records, never
    with their pairs.

    >>> found = link({"a": [1, 2, 3], "b": [9, 5, 7]}, {"a": [1.1, 2.2, 2.9], "b": [9, 4, 8]})
    >>> found.correct, found.multiple, found.wrong, found.matches[1]
    (3, 0, 0, array([1]))
    """
    both = pair(
        original, masked, columns=columns, orders=orders, on=on, row_map=row_map, ranks_only=True
    )
    return link_places(both, places(both, ties=ties, seed=seed))


def link_values(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    on: str | None = None,
    row_map: RowMap = None,
) -> Link:
    """Link by distances between values instead of ranks: the usual distance-based record linkage.

    Each column is put on the scale of the original one (mean 0, standard deviation 1), records are
    compared by Euclid's distance, in standard deviations. For comparison with `link`, which does
    not mind how the protector stretched a column. Numbers and times only; missing and infinite
    values are an error.

    >>> link_values({"a": [1, 2, 3]}, {"a": [1.1, 2.2, 2.9]}).correct
    3
    """
    both = pair(original, masked, columns=columns, on=on, row_map=row_map)
    x = np.column_stack([measured(c.original, c) for c in both.columns])
    y = np.column_stack([measured(c.masked, c) for c in both.columns])
    spread = x.std(axis=0)
    spread[spread == 0] = 1.0
    x, y = (x - x.mean(axis=0)) / spread, (y - x.mean(axis=0)) / spread
    return link_places(both, Places(x, y, 1.0), norm=2.0)


def link_places(both: Pair, points: Places, *, norm: float = np.inf) -> Link:
    """Link points to points: the part of `link` that comes after the ranks."""
    field = Field(points.masked, norm=norm)
    queries, query_of = distinct(points.original)
    found = field.nearest(queries, "links")
    query = found.query
    asked = np.bincount(query_of, minlength=len(queries))
    candidates = candidate_counts(field, found)
    claims = np.bincount(found.place, weights=asked[query], minlength=len(field.points))
    matched_by = claims[field.place_of].astype(np.int64)
    counts = candidates[query_of]
    score = _Score.of(both, field, found, query_of, counts)
    return Link(
        columns=both.names,
        records=both.original_records,
        masked_records=both.masked_records,
        correct=score.correct,
        multiple=int((counts > 1).sum()),
        wrong=score.wrong,
        multiple_right=score.multiple_right,
        right=score.right,
        chance=1.0 / both.masked_records,
        suppressed=None if both.own is None else int((both.own < 0).sum()),
        unmatched=int((matched_by == 0).sum()),
        multiply_matched=int((matched_by > 1).sum()),
        mean_distance=float(found.distance[query_of].mean() / points.unit),
        column_distances=_column_distances(both, points, field, found, queries, asked, candidates),
        distances=found.distance[query_of] / points.unit,
        matches=Matches(field, found, query_of),
        matched_by=matched_by,
    )


@dataclass(frozen=True)
class _Score:
    correct: int | None
    wrong: int | None
    multiple_right: int | None
    right: Estimate | None

    @classmethod
    def of(cls, both: Pair, field: Field, found: Found, query_of: Ints, counts: Floats) -> _Score:
        if both.own is None:
            return cls(None, None, None, None)
        hit = right_among(both.own, field, found, query_of)
        single = counts == 1
        guesses = float((hit / counts).sum())
        return cls(
            int((hit & single).sum()),
            int((~hit & single).sum()),
            int((hit & ~single).sum()),
            share(guesses, both.original_records),
        )


def candidate_counts(field: Field, found: Found) -> Floats:
    """How many masked records are equally near to each query."""
    sizes = field.sizes[found.place].astype(np.float64)
    return np.bincount(found.query, weights=sizes, minlength=len(found.distance)).astype(np.float64)


def right_among(own: Ints, field: Field, found: Found, query_of: Ints) -> NDArray[np.bool_]:
    """Whether each original's own masked record is among its matches."""
    wanted = np.where(own >= 0, field.place_of[own], -1)
    if len(found.distance) == len(query_of):
        hits = found.place == np.repeat(wanted, np.diff(found.start))
        return np.bincount(found.query[hits], minlength=len(query_of)) > 0
    # Several originals share a query: look each wanted place up among that query's sorted places.
    keys = found.query * len(field.points) + found.place
    asked = query_of * len(field.points) + wanted
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.asarray((keys[at] == asked) & (wanted >= 0))


def share(successes: float, trials: int, confidence: float = 0.95) -> Estimate:
    """A share with its Clopper-Pearson interval, which also takes fractions of a success.

    >>> print(share(5, 100))
    0.05 (0.01643 to 0.1128 at 95 %)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0
    if successes < trials:
        high = float(betaincinv(successes + 1, trials - successes, 1 - tail))
    value = min(successes / trials, 1.0)
    return Estimate(
        value, min(low, value), max(high, value), confidence, "Clopper-Pearson interval"
    )


def _column_distances(
    both: Pair,
    points: Places,
    field: Field,
    found: Found,
    queries: Floats,
    asked: NDArray[np.int64],
    candidates: Floats,
) -> tuple[ColumnDistance, ...]:
    query = found.query
    # Each original spreads one vote over its matches.
    votes = asked[query] * field.sizes[found.place] / candidates[query]
    kept = None if both.own is None else np.flatnonzero(both.own >= 0)
    result = []
    for j, column in enumerate(both.columns):
        apart = np.abs(queries[query, j] - field.points[found.place, j])
        zeros = int((asked[query] * field.sizes[found.place] * (apart == 0)).sum())
        own = None
        if both.own is not None and kept is not None and len(kept):
            moved = np.abs(points.original[kept, j] - points.masked[both.own[kept], j])
            own = float(moved.mean() / points.unit)
        matched = float((votes * apart).sum() / votes.sum() / points.unit)
        result.append(ColumnDistance(column.name, matched, zeros, own))
    return tuple(result)
