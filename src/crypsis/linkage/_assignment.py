"""One-to-one linkage: each masked record is linked to one original only.

domingo2016 links each original on its own, so that some masked records are linked to several
originals and some to none. An intruder who knows that each belongs to one original searches the
one-to-one assignment with the smallest total distance.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crypsis import progress
from crypsis.dataset import Data, takes_options
from crypsis.errors import TooLargeError
from crypsis.linkage._pair import Pair, RankOptions, pair
from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage._search import share
from crypsis.results import Estimate, Result, raw
from crypsis.scientific import csgraph, sparse, spatial

_MAX_RECORDS = 20_000
"""Records of a file at most; with more the assignment is refused."""
_MAX_NEAR_PAIRS = 20_000_000
"""Pairs of near records at most; with more the assignment is refused."""


class Assignment(Result, eq=False):
    """The one-to-one linkage with the smallest total distance.

    `true_matches`, `false_matches`, `correct_share` and `chance` are those of `Link`; there are no
    multiple matches. `mean_distance` is in ranks, `candidates` the number of pairs of records that
    were considered. `partner` has for each original the row of its masked record (-1 where there
    are fewer masked records).
    """

    columns: tuple[str, ...]
    records: int
    masked_records: int
    true_matches: int | None
    multiple_matches: int
    false_matches: int | None
    correct_share: Estimate | None
    chance: float
    mean_distance: float
    candidates: int
    partner: Ints = raw()
    distances: Floats = raw()


@takes_options(RankOptions)
def assign(original: Data, masked: Data, **options: Unpack[RankOptions]) -> Assignment:
    """Link originals and masked records one to one, with the smallest total permutation distance.

    Parameters
    ----------
    original, masked, **options
        See `link`.

    Returns
    -------
    Assignment
        The links and how many of them are correct.

    Raises
    ------
    TooLargeError
        There are more than 20,000 records, or more than 20 million near pairs.

    Notes
    -----
    The total is the exact minimum, although only near pairs are considered: the prices of an
    optimal assignment of the near pairs (linear programming duality) bound which other pairs could
    lower the total; those are added until there are none. Among assignments of equal total, one is
    drawn at random, so that the order of the rows reveals nothing.

    Examples
    --------
    >>> assign({"a": [1, 2, 3]}, {"a": [2.4, 2.5, 2.6]}).partner
    array([0, 1, 2])
    """
    return one_to_one(pair(original, masked, ranks_only=True, **options))


def one_to_one(both: Pair) -> Assignment:
    """The one-to-one linkage of a pair."""
    records = max(both.original_records, both.masked_records)
    if records > _MAX_RECORDS:
        raise TooLargeError(
            f"The one-to-one assignment takes at most {_MAX_RECORDS:,} records; the files have "
            f"{both.original_records:,} and {both.masked_records:,}.",
            hint="Use link(), which has no such limit, or a sample of the records.",
        )
    points = both.points
    rng = np.random.default_rng((both.seed, 2))
    if both.original_records <= both.masked_records:
        partner, candidates = _smallest_total(points.original, points.masked, rng)
    else:
        back, candidates = _smallest_total(points.masked, points.original, rng)
        partner = np.full(both.original_records, -1, dtype=np.int64)
        partner[back] = np.arange(both.masked_records)
    placed = np.flatnonzero(partner >= 0)
    moves = np.abs(points.original[placed] - points.masked[partner[placed]]).max(axis=1)
    distances = np.full(both.original_records, np.nan)
    distances[placed] = moves / points.unit
    hits = None
    if both.own is not None:
        hits = int(((partner == both.own) & (both.own >= 0)).sum())
    return Assignment(
        columns=both.names,
        records=both.original_records,
        masked_records=both.masked_records,
        true_matches=hits,
        multiple_matches=0,
        false_matches=None if hits is None else both.original_records - hits,
        correct_share=None if hits is None else share(hits, both.original_records),
        chance=1.0 / records,
        mean_distance=float(moves.mean() / points.unit),
        candidates=candidates,
        partner=partner,
        distances=distances,
    )


def _smallest_total(rows: Floats, columns: Floats, rng: np.random.Generator) -> tuple[Ints, int]:
    """For each row point its column point in an assignment of the smallest total distance."""
    row_order, column_order = rng.permutation(len(rows)), rng.permutation(len(columns))
    near_pairs = _NearPairs(rows[row_order], columns[column_order])
    with progress.step("one-to-one assignment") as step:
        while True:
            matched = near_pairs.solve()
            if matched is None:  # some records share the same few near records: search further
                wanted = 2 * near_pairs.radius + 1
            else:
                wanted = near_pairs.reach(matched)
                if not (wanted > near_pairs.radius).any():
                    break
            near_pairs.widen(wanted)
            step.advance()
    partner = np.empty(len(rows), dtype=np.int64)
    partner[row_order] = column_order[matched]
    return partner, len(near_pairs.column)


class _NearPairs:
    """The pairs of records within a radius of each row, and optimal assignments among them."""

    def __init__(self, rows: Floats, columns: Floats, first: int = 6) -> None:
        self._rows, self._columns = rows, columns
        self._tree = spatial.cKDTree(columns)
        k = min(first, len(columns))
        self.radius: Floats = self._tree.query(rows, k=[k], p=np.inf, workers=-1)[0][:, 0]
        self._lists = np.empty(len(rows), dtype=object)
        self._search(np.arange(len(rows)))

    def widen(self, radius: Floats) -> None:
        """Search further where `radius` is larger than before."""
        more = np.flatnonzero(radius > self.radius)
        self.radius = np.maximum(self.radius, radius)
        self._search(more)

    def _search(self, rows: Ints) -> None:
        sizes = np.array([0 if neighbors is None else len(neighbors) for neighbors in self._lists])
        sizes[rows] = self._tree.query_ball_point(
            self._rows[rows], self.radius[rows], p=np.inf, workers=-1, return_length=True
        )
        if sizes.sum() > _MAX_NEAR_PAIRS:
            raise TooLargeError(
                f"The one-to-one assignment would consider {sizes.sum():,} pairs of records, more "
                f"than the limit of {_MAX_NEAR_PAIRS:,}.",
                hint="Use link(), which has no such limit, or a sample of the records.",
            )
        nearby = self._tree.query_ball_point(
            self._rows[rows], self.radius[rows], p=np.inf, workers=-1, return_sorted=True
        )
        self._lists[rows] = [np.array(neighbors, dtype=np.int64) for neighbors in nearby]
        self.row: Ints = np.repeat(np.arange(len(sizes)), sizes)
        self.column: Ints = np.concatenate(list(self._lists))
        self.cost: Floats = np.abs(self._rows[self.row] - self._columns[self.column]).max(axis=1)

    def solve(self) -> Ints | None:
        """The column of each row in a cheapest assignment; None if these pairs have none."""
        # A sparse zero is not a pair; adding one to every cost changes no comparison.
        table = sparse.csr_array(
            (self.cost + 1, (self.row, self.column)), shape=(len(self._rows), len(self._columns))
        )
        try:
            return np.asarray(csgraph.min_weight_full_bipartite_matching(table)[1], dtype=np.int64)
        except ValueError:
            return None

    def reach(self, matched: Ints) -> Floats:
        """The distance within which a pair not yet considered could lower the total, for each row.

        Prices of the columns (at most 0) and rows with price(row) + price(column) <= cost on all
        pairs, and equal on the chosen ones, prove the assignment optimal (duality). A pair beyond
        price(row) + the highest column price cannot violate them. The prices are found by relaxing
        all pairs until nothing changes; costs are multiples of a half, so this is exact.
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
