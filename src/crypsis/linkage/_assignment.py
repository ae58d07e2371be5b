"""A stronger intruder: he links all records at once, each masked record to one original only.

domingo2016 links each original on its own, so that some masked records are claimed by many and some
by none. Whoever knows that each belongs to one original looks for the one-to-one assignment with
the least total distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

from crypsis import progress
from crypsis.errors import TooLarge
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, pair
from crypsis.linkage._intruder import share
from crypsis.linkage._nearest import Floats, Ints
from crypsis.linkage._ranks import Ties, places
from crypsis.results import Estimate, Result, raw

MOST_RECORDS = 20_000
MOST_PAIRS = 20_000_000


@dataclass(frozen=True)
class Assignment(Result):
    """The one-to-one linkage with the least total distance.

    `partner` holds for each original the row of its masked record (-1 where there are fewer masked
    records), `correct` how many are right (None where nobody knows), `right` their share with its
    interval, `chance` the share of a blind guess. `mean_distance` is in ranks. `candidates` is the
    number of pairs of records that had to be looked at.
    """

    columns: tuple[str, ...]
    records: int
    masked_records: int
    correct: int | None
    right: Estimate | None
    chance: float
    mean_distance: float
    candidates: int
    partner: Ints = raw()
    distances: Floats = raw()


def assign(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> Assignment:
    """Link originals and masked records one to one, with the least total permutation distance.

    The least total is exact, though only near pairs are looked at: prices of an optimal assignment
    on the near pairs (linear programming duality) show which other pairs could still lower the
    total; those are added until there are none. Among assignments of the same total, one is taken
    at random (`seed`): the order of the rows tells nothing. More than 20,000 records, or more than
    20 million near pairs, raise `TooLarge`: use `link`, or link a sample of the originals.

    >>> assign({"a": [1, 2, 3]}, {"a": [2.4, 2.5, 2.6]}).partner
    array([0, 1, 2])
    """
    both = pair(
        original, masked, columns=columns, orders=orders, on=on, row_map=row_map, ranks_only=True
    )
    if max(both.original_records, both.masked_records) > MOST_RECORDS:
        raise TooLarge(
            f"The one-to-one assignment takes at most {MOST_RECORDS:,} records; the files have "
            f"{both.original_records:,} and {both.masked_records:,}. Use link(), which has no such "
            "limit, or give fewer records."
        )
    points = places(both, ties=ties, seed=seed)
    rng = np.random.default_rng((seed, 2))
    if both.original_records <= both.masked_records:
        partner, candidates = _least_total(points.original, points.masked, rng)
    else:
        back, candidates = _least_total(points.masked, points.original, rng)
        partner = np.full(both.original_records, -1, dtype=np.int64)
        partner[back] = np.arange(both.masked_records)
    placed = np.flatnonzero(partner >= 0)
    apart = np.abs(points.original[placed] - points.masked[partner[placed]]).max(axis=1)
    distances = np.full(both.original_records, np.nan)
    distances[placed] = apart / points.unit
    correct = None
    if both.own is not None:
        correct = int(((partner == both.own) & (both.own >= 0)).sum())
    return Assignment(
        columns=both.names,
        records=both.original_records,
        masked_records=both.masked_records,
        correct=correct,
        right=None if correct is None else share(correct, both.original_records),
        chance=1.0 / max(both.original_records, both.masked_records),
        mean_distance=float(apart.mean() / points.unit),
        candidates=candidates,
        partner=partner,
        distances=distances,
    )


def _least_total(rows: Floats, columns: Floats, rng: np.random.Generator) -> tuple[Ints, int]:
    """For each row point its column point in an assignment of the least total distance."""
    row_order, column_order = rng.permutation(len(rows)), rng.permutation(len(columns))
    near = _NearPairs(rows[row_order], columns[column_order])
    with progress.step("one-to-one assignment") as step:
        while True:
            matched = near.solve()
            if matched is None:  # some records have only the same few near: look further
                wanted = 2 * near.radius + 1
            else:
                wanted = near.reach(matched)
                if not (wanted > near.radius).any():
                    break
            near.widen(wanted)
            step.advance()
    partner = np.empty(len(rows), dtype=np.int64)
    partner[row_order] = column_order[matched]
    return partner, len(near.column)


class _NearPairs:
    """The pairs of records within a radius of each row, and optimal assignments among them."""

    def __init__(self, rows: Floats, columns: Floats, first: int = 6) -> None:
        self._rows, self._columns = rows, columns
        self._tree = cKDTree(columns)
        k = min(first, len(columns))
        self.radius: Floats = self._tree.query(rows, k=[k], p=np.inf, workers=-1)[0][:, 0]
        self._lists = np.empty(len(rows), dtype=object)
        self._look(np.arange(len(rows)))

    def widen(self, radius: Floats) -> None:
        """Look further where `radius` says so."""
        more = np.flatnonzero(radius > self.radius)
        self.radius = np.maximum(self.radius, radius)
        self._look(more)

    def _look(self, some: Ints) -> None:
        sizes = np.array([0 if near is None else len(near) for near in self._lists])
        sizes[some] = self._tree.query_ball_point(
            self._rows[some], self.radius[some], p=np.inf, workers=-1, return_length=True
        )
        if sizes.sum() > MOST_PAIRS:
            raise TooLarge(
                f"The one-to-one assignment would look at {sizes.sum():,} pairs of records, more "
                f"than the limit of {MOST_PAIRS:,}. Use link(), or give fewer records."
            )
        found = self._tree.query_ball_point(
            self._rows[some], self.radius[some], p=np.inf, workers=-1, return_sorted=True
        )
        self._lists[some] = [np.array(near, dtype=np.int64) for near in found]
        self.row: Ints = np.repeat(np.arange(len(sizes)), sizes)
        self.column: Ints = np.concatenate(list(self._lists))
        self.cost: Floats = np.abs(self._rows[self.row] - self._columns[self.column]).max(axis=1)

    def solve(self) -> Ints | None:
        """The column of each row in a cheapest assignment; None if these pairs allow none."""
        # A sparse zero would be no pair at all; one more on every pair changes no comparison.
        table = csr_array(
            (self.cost + 1, (self.row, self.column)), shape=(len(self._rows), len(self._columns))
        )
        try:
            return np.asarray(min_weight_full_bipartite_matching(table)[1], dtype=np.int64)
        except ValueError:
            return None

    def reach(self, matched: Ints) -> Floats:
        """How near a pair that was not looked at must be to lower the total, for each row.

        Prices of the columns (at most 0) and rows with price(row) + price(column) <= cost on all
        pairs, and equal on the chosen ones, prove the assignment optimal (duality). A pair beyond
        price(row) + the highest column price cannot break them. Found by relaxing all pairs until
        nothing changes; costs are whole multiples of a half, so the arithmetic is exact.
        """
        chosen = np.abs(self._rows - self._columns[matched]).max(axis=1)
        by_column = np.argsort(self.column, kind="stable")
        row, column = self.row[by_column], self.column[by_column]
        extra = self.cost[by_column] - chosen[row]
        first = np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
        price = np.zeros(len(self._columns))
        while True:
            offer = np.minimum.reduceat(extra + price[matched[row]], first)
            lower = np.minimum(price[column[first]], offer)
            if (lower == price[column[first]]).all():
                return np.asarray(chosen - price[matched] + price.max())
            price[column[first]] = lower
