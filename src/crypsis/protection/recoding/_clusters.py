"""k-anonymity of one column: optimal clusters, quantile groups and their representatives."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.array_types import Flags, Floats, Ints
from crypsis.errors import ParameterError
from crypsis.protection.recoding.kernels import segments
from crypsis.results import Result, raw


class Cost(Enum):
    """The cost of a clustering (lodha2007, section 4.1; sum of squares: section 5.2)."""

    CENTER = "center"
    """k-center: the diameter of the widest cluster."""
    MEDIAN = "median"
    """k-median: the sum of distances to the cluster's median."""
    CELLULAR = "cellular"
    """The sum over the clusters of radius (half the diameter) times size."""
    SQUARES = "squares"
    """The sum of squared distances to the cluster's mean."""


_MAX_COMPARED_K = 64
"""The largest k for which comparing all k cuts before each is faster than the queue."""
_CODES = {Cost.SQUARES: segments.SQUARES, Cost.MEDIAN: segments.MEDIAN, Cost.CELLULAR: segments.CELLULAR}


class Clustering(Result, eq=False):
    """A column divided into groups of at least k neighboring values.

    `labels[i]` is the group of the i-th value, numbered from the smallest values; -1 if missing.
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
        """The number of groups."""
        return int(self.sizes.size)

    def transformed(self, representative: str = "median") -> NDArray[Any]:
        """Each value replaced by its group's "median", "mean" or "interval".

        Missing values stay missing: NaN, or None among intervals.
        """
        if representative in ("median", "mean"):
            numbers = np.append(getattr(self, representative), np.nan)
            return np.asarray(numbers[self.labels])
        if representative != "interval":
            raise ParameterError(
                "Parameter 'representative' must be 'median', 'mean' or 'interval'; "
                f"{representative!r} was given.",
                parameter="representative",
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
    """Divide a column into groups of at least k neighboring values at the least cost.

    Parameters
    ----------
    values : array-like
        The numbers of the column; NaN is missing, in no group and counted.
    k : int
        The smallest group allowed.
    cost : Cost or {"center", "median", "cellular", "squares"}
        The cost to minimize.
    keep_equal : bool
        Whether equal values always share a group, which k-anonymity by value needs.
    counts : array-like of int, optional
        The number of records of each value; implies `keep_equal`.

    Returns
    -------
    Clustering

    Notes
    -----
    Optimal for "center", "median" and "squares"; for "cellular" among contiguous clusterings.
    Cost: O(n log n), for any k.

    References
    ----------
    lodha2007, section 4.1.

    Examples
    --------
    >>> cluster([1, 12, 4, 7, 3], 2, cost="median").transformed()
    array([3., 7., 3., 7., 3.])
    """
    measure = _cost(cost)
    numbers, is_present = _numbers(values)
    present = numbers[is_present]
    points, times, point_index = _points(present, counts, is_present, keep_equal or counts is not None)
    _check_k(k, int(times.sum()))
    scaled, unit = _scaled(points)
    rows, sums, squares = segments.prefix_sums(scaled, times)
    if measure is Cost.CENTER:
        before = segments.narrowest_cuts(scaled, rows, k)
    elif measure is Cost.SQUARES and k <= _MAX_COMPARED_K and rows[-1] == points.size:
        before = segments.cheapest_squares(scaled, k)
    else:
        before = segments.cheapest_cuts(_CODES[measure], scaled, rows, sums, squares, k)
    cuts = segments.cuts_of(before)
    if measure is Cost.CENTER:
        total = unit * float((scaled[cuts[1:] - 1] - scaled[cuts[:-1]]).max())
    else:
        parts = segments.segment_costs(_CODES[measure], scaled, rows, sums, squares, cuts)
        total = float(np.sum(parts)) * (unit**2 if measure is Cost.SQUARES else unit)
    return _clustering(k, total, points, rows, sums, unit, cuts, point_index, is_present)


def quantile_groups(values: ArrayLike, k: int, *, keep_equal: bool = False) -> Clustering:
    """Divide a column into as many groups of nearly equal size as k allows.

    Parameters
    ----------
    values : array-like
        The numbers of the column; NaN is missing, in no group and counted.
    k : int
        The smallest group allowed.
    keep_equal : bool
        Whether equal values always share a group; the groups are then those with the smallest rank
        difference among all that keep equal values together.

    Returns
    -------
    Clustering
        Its cost is the rank difference to the group's median.

    References
    ----------
    lodha2007, Definition 9: n = qk + r values make q groups of k + r/q values, rounded down or up;
    no k-anonymous transformation has a smaller rank difference (Theorem 5).

    Examples
    --------
    >>> quantile_groups([1, 12, 4, 7, 3], 2).cost  # Example 11
    3.0
    """
    numbers, is_present = _numbers(values)
    present = numbers[is_present]
    _check_k(k, present.size)
    points, times, point_index = _points(present, None, is_present, keep_equal)
    if keep_equal:
        rows, sums, squares = segments.prefix_sums(np.zeros(points.size), times)
        cuts = segments.cuts_of(segments.cheapest_cuts(segments.RANKS, points, rows, sums, squares, k))
    else:
        groups = present.size // k
        cuts = np.arange(groups + 1) * present.size // groups  # sizes differ by one at most
        rows = np.arange(points.size + 1)
    scaled, unit = _scaled(points)
    _, sums, _ = segments.prefix_sums(scaled, times)
    sizes = np.diff(rows[cuts])
    rank_difference = float((sizes // 2 * ((sizes + 1) // 2)).sum())  # to the median rank of each
    return _clustering(k, rank_difference, points, rows, sums, unit, cuts, point_index, is_present)


def interval_labels(low: ArrayLike, high: ArrayLike) -> list[str]:
    """Intervals as text: "30-39"; a single value as itself; negative ones with "to".

    >>> interval_labels([17, 30, 90], [29, 89, 90]), interval_labels([-1.5], [0.25])
    (['17-29', '30-89', '90'], ['-1.5 to 0.25'])
    """
    labels = []
    for a, b in zip(np.asarray(low).tolist(), np.asarray(high).tolist(), strict=True):
        left, right = number_label(a), number_label(b)
        dash = " to " if left.startswith("-") or right.startswith("-") else "-"
        labels.append(left if left == right else f"{left}{dash}{right}")
    return labels


def number_label(value: Any) -> str:
    """A number as text, without a decimal point if it is an integer."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.12g}"
    return str(value)


def _cost(cost: Cost | str) -> Cost:
    try:
        return Cost(cost)
    except ValueError:
        names = ", ".join(repr(choice.value) for choice in Cost)
        raise ParameterError(
            f"Parameter 'cost' must be one of {names}; {cost!r} was given.", parameter="cost"
        ) from None


def _check_k(k: int, count: int) -> None:
    if k != int(k) or k < 1:
        raise ParameterError(f"Parameter 'k' must be an integer of at least 1; {k} was given.", parameter="k")
    if k > count:
        raise ParameterError(
            f"Parameter 'k' is {k:,}, but the column has only {count:,} values.",
            hint="Lower {k} or remove the column.",
            parameter="k",
        )


def _numbers(values: ArrayLike) -> tuple[Floats, Flags]:
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1:
        raise ParameterError(f"A column has one dimension; {numbers.ndim} dimensions were given.")
    is_present = ~np.isnan(numbers)
    if np.isinf(numbers).any():
        raise ParameterError("The column has infinite values. Replace them or set them to missing.")
    return numbers, is_present


def _points(
    present: Floats, counts: ArrayLike | None, is_present: Flags, keep_equal: bool
) -> tuple[Floats, Ints, Ints]:
    """The sorted points, the count of each, and the point of each value that is not missing."""
    if not keep_equal:
        order = np.argsort(present, kind="stable")
        point_index = np.empty(order.size, np.int64)
        point_index[order] = np.arange(order.size)
        return present[order], np.ones(order.size, np.int64), point_index
    points, point_index = np.unique(present, return_inverse=True)
    if counts is None:
        return points, np.bincount(point_index, minlength=points.size).astype(np.int64), point_index
    times = np.asarray(counts)
    if times.shape != is_present.shape or not np.issubdtype(times.dtype, np.integer) or (times < 1).any():
        raise ParameterError(
            "Parameter 'counts' must have an integer of at least 1 for each value.", parameter="counts"
        )
    totals = np.zeros(points.size, np.int64)
    np.add.at(totals, point_index, times[is_present])
    return points, totals, point_index


def _scaled(points: Floats) -> tuple[Floats, float]:
    """The points divided by a power of two, which is exact, so that no square overflows."""
    largest = float(np.abs(points).max()) if points.size else 0.0
    unit = 2.0 ** np.frexp(largest)[1] if largest > 0 else 1.0
    return points / unit, float(unit)


def _clustering(
    k: int,
    cost: float,
    points: Floats,
    rows: Ints,
    sums: Floats,
    unit: float,
    cuts: Ints,
    point_index: Ints,
    is_present: Flags,
) -> Clustering:
    starts, ends = cuts[:-1], cuts[1:]
    labels = np.full(is_present.size, -1, np.int64)
    labels[is_present] = np.repeat(np.arange(starts.size), ends - starts)[point_index]
    sizes = np.diff(rows[cuts])
    totals = np.diff(sums[cuts, 0]) + np.diff(sums[cuts, 1])
    return Clustering(
        k=int(k),
        cost=cost,
        sizes=sizes,
        missing=int((~is_present).sum()),
        labels=labels,
        low=points[starts],
        high=points[ends - 1],
        median=points[segments.middles(rows, cuts)],
        mean=totals / sizes * unit,
    )
