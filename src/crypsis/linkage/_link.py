"""The maximum-knowledge intruder links originals to masked records (domingo2016, Sec. 5.1)."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Literal, Unpack

import numpy as np

from crypsis import progress
from crypsis.dataset import Data, takes_options
from crypsis.errors import ParameterError, TooLargeError
from crypsis.linkage._pair import Pair, RankOptions, pair
from crypsis.linkage._ranks import Floats, Ints, Points
from crypsis.linkage._search import Matches, Search
from crypsis.results import Estimate, Result, percent_text, raw

_MAX_SUBSETS = 4096
"""Subsets of columns that are linked: all of twelve columns; more are refused."""


class ColumnDistance(Result):
    """How far one column was permuted, in ranks.

    `matched` is the mean over all links, `zeros` the number of links at distance 0 in this column,
    `own` the mean distance between an original and its own masked record (None where unknown). A
    column with small distances was permuted least, which is not the same as least noise: it depends
    on the density of its values.
    """

    column: str
    matched: float
    zeros: int
    own: float | None


class Link(Result, eq=False):
    """The links of the intruder.

    `true_matches` are records whose single nearest masked record is their own, `false_matches`
    those whose single nearest record is another one, `multiple_matches` those with several equally
    near records (`multiple_with_true` of them with their own among these). `correct_share` is the
    expected share of correct links when one of the equally near records is chosen at random,
    `chance` that of a random guess. What depends on the true matches is None where they are
    unknown. `unmatched` and `multiply_matched` count masked records linked to no original and to
    several; `distances`, `matches` and `matched_by` are by record.
    """

    columns: tuple[str, ...]
    records: int
    masked_records: int
    true_matches: int | None
    multiple_matches: int
    false_matches: int | None
    multiple_with_true: int | None
    correct_share: Estimate | None
    chance: float
    suppressed: int | None
    unmatched: int
    multiply_matched: int
    mean_distance: float
    column_distances: tuple[ColumnDistance, ...]
    distances: Floats = raw()
    matches: Matches = raw()
    matched_by: Ints = raw()

    def __str__(self) -> str:
        numbers = (self.true_matches, self.multiple_matches, self.false_matches)
        true, multiple, false = ("unknown" if number is None else f"{number:,}" for number in numbers)
        share = "unknown" if self.correct_share is None else percent_text(self.correct_share)
        return (
            f"Links of {self.records:,} records: true matches {true}, multiple matches {multiple}, "
            f"false matches {false}\nCorrect links: {share}; "
            f"by chance {percent_text(self.chance)}"
        )

    @property
    def least_protected(self) -> str:
        """The column whose matches are nearest on average."""
        return min(self.column_distances, key=lambda column: column.matched).column


@takes_options(RankOptions)
def link(
    original: Data,
    masked: Data,
    *,
    distance: Literal["rank", "value"] = "rank",
    **options: Unpack[RankOptions],
) -> Link:
    """Link every original record to the masked records at the smallest distance.

    Parameters
    ----------
    original, masked : Data
        The two files.
    distance : {"rank", "value"}
        The permutation distance: the largest rank difference over the columns (default). Or the
        Euclidean distance between values in standard deviations of the original, the usual
        distance-based record linkage, for numbers and times without infinite values.
    **options
        See `PairOptions` and `RankOptions`.

    Returns
    -------
    Link
        True, false and multiple matches, the share of correct links, and the links by record.

    Notes
    -----
    All records at the smallest distance are found. Files with unequal numbers of records are
    compared by rescaled ranks. A k-d tree search costs about n log n for few columns; memory grows
    with the records, not with their pairs.
    Reference: domingo2016, Algorithms 2 and 3 with the reverse-mapped file, Table 4 and Note 1.

    Examples
    --------
    >>> found = link({"a": [1, 2, 3], "b": [9, 5, 7]}, {"a": [1.1, 2.2, 2.9], "b": [9, 4, 8]})
    >>> found.true_matches, found.multiple_matches, found.false_matches, found.matches[1]
    (3, 0, 0, array([1]))
    """
    if distance == "value":
        return link_by_values(pair(original, masked, **options))
    if distance != "rank":
        raise ParameterError(
            f"Parameter 'distance' must be 'rank' or 'value'; {distance!r} is not a valid value.",
            parameter="distance",
        )
    both = pair(original, masked, ranks_only=True, **options)
    return links(both, Search.of(both.points))


def link_by_values(both: Pair) -> Link:
    """The links by Euclidean distance between standardized values."""
    x = np.column_stack([column.measured(column.original) for column in both.columns])
    y = np.column_stack([column.measured(column.masked) for column in both.columns])
    spread = x.std(axis=0)
    spread[spread == 0] = 1.0
    points = Points((x - x.mean(axis=0)) / spread, (y - x.mean(axis=0)) / spread)
    return links(both, Search.of(points, norm=2.0))


def links(both: Pair, search: Search) -> Link:
    """Count the links that a search found."""
    masked_rows, nearest, index = both.own, search.found, search.index
    counts = search.candidates[search.query_of]
    single = counts == 1
    query_counts = np.bincount(search.query_of, minlength=len(search.queries))
    claims = np.bincount(nearest.place, weights=query_counts[nearest.query], minlength=len(index.points))
    matched_by = claims[index.place_of].astype(np.int64)
    hit = None if masked_rows is None else search.own_found(masked_rows)
    return Link(
        columns=both.names,
        records=both.original_records,
        masked_records=both.masked_records,
        true_matches=None if hit is None else int((hit & single).sum()),
        multiple_matches=int((~single).sum()),
        false_matches=None if hit is None else int((~hit & single).sum()),
        multiple_with_true=None if hit is None else int((hit & ~single).sum()),
        correct_share=None if masked_rows is None else search.correct_share(masked_rows),
        chance=1.0 / both.masked_records,
        suppressed=None if masked_rows is None else int((masked_rows < 0).sum()),
        unmatched=int((matched_by == 0).sum()),
        multiply_matched=int((matched_by > 1).sum()),
        mean_distance=float(nearest.distance[search.query_of].mean() / search.points.unit),
        column_distances=_column_distances(both, search, query_counts),
        distances=search.distances,
        matches=Matches(search),
        matched_by=matched_by,
    )


def _column_distances(both: Pair, search: Search, query_counts: Ints) -> tuple[ColumnDistance, ...]:
    points, nearest, index = search.points, search.found, search.index
    query = nearest.query
    links_here = query_counts[query] * index.sizes[nearest.place]
    weights = links_here / search.candidates[query]  # one per original, spread over its matches
    masked_rows = np.array([], dtype=np.int64) if both.own is None else both.own
    kept = np.flatnonzero(masked_rows >= 0)
    result = []
    for j, name in enumerate(both.names):
        distances = np.abs(search.queries[query, j] - index.points[nearest.place, j])
        matched = float((weights * distances).sum() / weights.sum() / points.unit)
        moved = np.abs(points.original[kept, j] - points.masked[masked_rows[kept], j])
        mean_moved = float(moved.mean() / points.unit) if len(kept) else None
        zeros = int((links_here * (distances == 0)).sum())
        result.append(ColumnDistance(name, matched, zeros, mean_moved))
    return tuple(result)


class SubsetLink(Result):
    """The links on some of the columns: matches and the expected share of correct links."""

    columns: tuple[str, ...]
    true_matches: int | None
    multiple_matches: int
    false_matches: int | None
    correct_share: Estimate | None
    mean_distance: float


@takes_options(RankOptions)
def link_subsets(
    original: Data, masked: Data, *, max_columns: int | None = None, **options: Unpack[RankOptions]
) -> tuple[SubsetLink, ...]:
    """Link on every subset of the columns, the subset with the most correct links first.

    Parameters
    ----------
    original, masked, **options
        See `link`.
    max_columns : int, optional
        The size of the largest subset; by default all columns.

    Returns
    -------
    tuple of SubsetLink
        One result per subset.

    Raises
    ------
    TooLargeError
        There are more than 4,096 subsets.

    References
    ----------
    domingo2016, Note 1: an intruder who finds some columns permuted less links on those.

    Examples
    --------
    >>> x = {"a": [1, 2, 3, 4], "b": [9, 5, 7, 1]}
    >>> link_subsets(x, {"a": x["a"], "b": x["b"][::-1]})[0].columns
    ('a',)
    """
    return subset_links(pair(original, masked, ranks_only=True, **options), max_columns)


def subset_links(both: Pair, max_columns: int | None = None) -> tuple[SubsetLink, ...]:
    """The links on every subset of the columns of a pair."""
    m = len(both.columns)
    largest = m if max_columns is None else max_columns
    if not 1 <= largest <= m:
        raise ParameterError(
            f"Parameter 'max_columns' must be between 1 and the {m} columns; {largest} was given.",
            parameter="max_columns",
        )
    number = sum(comb(m, size) for size in range(1, largest + 1))
    if number > _MAX_SUBSETS:
        raise TooLargeError(
            f"{m} columns have {number:,} subsets of up to {largest}; at most {_MAX_SUBSETS:,} are linked.",
            hint="Set fewer {columns}, or lower {max_columns}.",
        )
    subsets = [s for size in range(1, largest + 1) for s in combinations(range(m), size)]
    link_results = []
    for subset in progress.track(subsets, "subsets of columns"):
        few = both.with_columns(list(subset))
        link_result = links(few, Search.of(both.points.of_columns(list(subset))))
        link_results.append(
            SubsetLink(
                link_result.columns,
                link_result.true_matches,
                link_result.multiple_matches,
                link_result.false_matches,
                link_result.correct_share,
                link_result.mean_distance,
            )
        )
    return tuple(sorted(link_results, key=lambda s: (-(s.correct_share or 0.0), s.mean_distance)))
