"""One column made k-anonymous: optimal clusters, quantile groups, and what stands for a group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.anonymize.kernels import segments
from crypsis.errors import ParameterError
from crypsis.results import Result, raw

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Cost(Enum):
    """What a clustering costs (lodha2007, section 4.1, and the sum of squares of section 5.2)."""

    CENTER = "center"
    """k-center: the diameter of the widest cluster."""
    MEDIAN = "median"
    """k-median: the sum of distances to the cluster's median."""
    CELLULAR = "cellular"
    """The sum over the clusters of radius (half the diameter) times size."""
    SQUARES = "squares"
    """The sum of squared distances to the cluster's mean."""


_FEW = 64
"""The largest k for which comparing all k cuts before each is the faster way."""
_CODES = {
    Cost.SQUARES: segments.SQUARES,
    Cost.MEDIAN: segments.MEDIAN,
    Cost.CELLULAR: segments.CELLULAR,
}


@dataclass(frozen=True, eq=False)
class Clustering(Result):
    """A column cut into groups of at least k values that lie side by side.

    `labels[i]` is the group of the i-th value given, counted from the smallest; -1 where it is
    missing.
    """

    k: int
    cost: float
    sizes: Ints
    missing: int
    labels: Ints = raw()
    low: Floats = raw()
    high: Floats = raw()
    median: Floats = raw()
    mean: Floats = raw()

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.sizes.size)

    def transformed(self, representative: str = "median") -> NDArray[Any]:
        """Each value replaced by what stands for its group: "median", "mean" or "interval".

        Missing values stay missing: NaN, or None among intervals.
        """
        if representative in ("median", "mean"):
            stands = np.append(getattr(self, representative), np.nan)
            return np.asarray(stands[self.labels])
        if representative != "interval":
            raise ParameterError(
                "The representative of a group is 'median', 'mean' or 'interval'; "
                f"{representative!r} was given."
            )
        labels = np.array([*interval_labels(self.low, self.high), None], object)
        return np.asarray(labels[self.labels])


def cluster(
    values: ArrayLike,
    k: int,
    *,
    cost: Cost | str = Cost.SQUARES,
    keep_equal: bool = False,
    counts: ArrayLike | None = None,
) -> Clustering:
    """The cheapest way to cut a column into groups of at least k that lie side by side.

    lodha2007, section 4.1. Optimal for the costs "center", "median" and "squares"; for "cellular"
    among contiguous clusterings (a better one may not be contiguous). Equal values may come to lie
    in different groups, as in the paper; with `keep_equal` they never do, which a release that is
    to be k-anonymous by value needs. `counts` says how often each value occurs (it implies
    `keep_equal`). Missing values (NaN) stay out and are counted. Cost: O(n log n), whatever k.

    >>> cluster([1, 12, 4, 7, 3], 2, cost="median").transformed()
    array([3., 7., 3., 7., 3.])
    """
    measure = _cost(cost)
    given, there = _numbers(values)
    present = given[there]
    points, times, place = _points(present, counts, there, keep_equal or counts is not None)
    _check_k(k, int(times.sum()))
    scaled, unit = _scaled(points)
    rows, sums, squares = segments.prefix_sums(scaled, times)
    if measure is Cost.CENTER:
        before = segments.narrowest_cuts(scaled, rows, k)
    elif measure is Cost.SQUARES and k <= _FEW and rows[-1] == points.size:
        before = segments.cheapest_squares(scaled, k)
    else:
        before = segments.cheapest_cuts(_CODES[measure], scaled, rows, sums, squares, k)
    cuts = segments.cuts_of(before)
    spent = _spent(measure, scaled, (rows, sums, squares), cuts, unit)
    return _clustering(k, spent, points, rows, sums, unit, cuts, place, there)


def quantile_groups(values: ArrayLike, k: int, *, keep_equal: bool = False) -> Clustering:
    """As many groups of nearly equal size as k allows: the quantile transformation.

    lodha2007, Definition 9: n = qk + r values make q groups of k + r/q values, rounded down or up;
    no k-anonymous transformation has a smaller rank difference (Theorem 5). With `keep_equal`,
    equal values share a group, and the groups are those with the smallest rank difference among
    all that keep them so. The cost reported is the rank difference to the group's median.

    >>> quantile_groups([1, 12, 4, 7, 3], 2).cost  # Example 11
    3.0
    """
    given, there = _numbers(values)
    present = given[there]
    _check_k(k, present.size)
    if keep_equal:
        points, times, place = _points(present, None, there, True)
        rows, sums, squares = segments.prefix_sums(np.zeros(points.size), times)
        cuts = segments.cuts_of(
            segments.cheapest_cuts(segments.RANKS, points, rows, sums, squares, k)
        )
    else:
        points, times, place = _points(present, None, there, False)
        groups = present.size // k
        share = np.arange(groups + 1) * present.size
        cuts = share // groups  # sizes differ by one at most, and none is below k
        rows = np.arange(points.size + 1)
    scaled, unit = _scaled(points)
    _, sums, _ = segments.prefix_sums(scaled, times)
    edges = rows[cuts]
    spent = float(_rank_spread(np.diff(edges)).sum())
    return _clustering(k, spent, points, rows, sums, unit, cuts, place, there)


def interval_labels(low: ArrayLike, high: ArrayLike) -> list[str]:
    """Groups as readable intervals: "30-39"; a single value as itself; negative ones with "to".

    >>> interval_labels([17, 30, 90], [29, 89, 90]), interval_labels([-1.5], [0.25])
    (['17-29', '30-89', '90'], ['-1.5 to 0.25'])
    """
    pairs = zip(np.asarray(low).tolist(), np.asarray(high).tolist(), strict=True)
    labels = []
    for a, b in pairs:
        left, right = _plain(a), _plain(b)
        dash = " to " if str(left).startswith("-") or str(right).startswith("-") else "-"
        labels.append(left if left == right else f"{left}{dash}{right}")
    return labels


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.12g}"
    return str(value)


def _cost(cost: Cost | str) -> Cost:
    try:
        return Cost(cost)
    except ValueError:
        names = ", ".join(repr(one.value) for one in Cost)
        raise ParameterError(f"The cost is one of {names}; {cost!r} was given.") from None


def _check_k(k: int, there: int) -> None:
    if k != int(k) or k < 1:
        raise ParameterError(f"k is a whole number of at least 1; {k} was given.")
    if k > there:
        raise ParameterError(
            f"k is {k:,}, but only {there:,} values are there. Choose a smaller k, or leave the "
            "column out of the release."
        )


def _numbers(values: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    given = np.asarray(values, np.float64)
    if given.ndim != 1:
        raise ParameterError(f"A column is one-dimensional; {given.ndim} dimensions were given.")
    there = ~np.isnan(given)
    if np.isinf(given).any():
        raise ParameterError("The column has infinite values; replace them or make them missing.")
    return given, there


def _points(
    present: Floats, counts: ArrayLike | None, there: NDArray[np.bool_], keep_equal: bool
) -> tuple[Floats, Ints, Ints]:
    """The sorted points, how often each occurs, and the point of each value that is there."""
    if not keep_equal:
        order = np.argsort(present, kind="stable")
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return present[order], np.ones(order.size, np.int64), place
    points, place = np.unique(present, return_inverse=True)
    if counts is None:
        return points, np.bincount(place, minlength=points.size).astype(np.int64), place
    times = np.asarray(counts)
    if (
        times.shape != there.shape
        or not np.issubdtype(times.dtype, np.integer)
        or (times < 1).any()
    ):
        raise ParameterError("counts needs a whole number of at least 1 for each value.")
    totals = np.zeros(points.size, np.int64)
    np.add.at(totals, place, times[there])
    return points, totals, place


def _scaled(points: Floats) -> tuple[Floats, float]:
    """The points divided by a power of two, which is exact, so that no square overflows."""
    largest = float(np.abs(points).max()) if points.size else 0.0
    unit = 2.0 ** np.frexp(largest)[1] if largest > 0 else 1.0
    return points / unit, float(unit)


def _rank_spread(sizes: Ints) -> Ints:
    """The sum of the distances of the ranks 1..size to their median."""
    return (sizes // 2) * ((sizes + 1) // 2)


def _spent(
    measure: Cost, scaled: Floats, sums: tuple[Ints, Floats, Floats], cuts: Ints, unit: float
) -> float:
    if measure is Cost.CENTER:
        return unit * float((scaled[cuts[1:] - 1] - scaled[cuts[:-1]]).max())
    parts = segments.segment_costs(_CODES[measure], scaled, *sums, cuts)
    return float(np.sum(parts)) * (unit**2 if measure is Cost.SQUARES else unit)


def _clustering(
    k: int,
    spent: float,
    points: Floats,
    rows: Ints,
    sums: Floats,
    unit: float,
    cuts: Ints,
    place: Ints,
    there: NDArray[np.bool_],
) -> Clustering:
    starts, ends = cuts[:-1], cuts[1:]
    labels = np.full(there.size, -1, np.int64)
    labels[there] = np.repeat(np.arange(starts.size), ends - starts)[place]
    sizes = np.diff(rows[cuts])
    totals = np.diff(sums[cuts, 0]) + np.diff(sums[cuts, 1])
    return Clustering(
        k=int(k), cost=spent, sizes=sizes, missing=int((~there).sum()), labels=labels,
        low=points[starts], high=points[ends - 1], median=points[segments.middles(rows, cuts)],
        mean=totals / sizes * unit,
    )  # fmt: skip
