"""Representatives of groups, rounded so that no value of one person follows from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crypsis.array_types import Floats

_MIN_SHARING_VALUES = 3
"""By so many values, were they spread evenly, a rounded median is shared: as many as a threshold rule."""


def rounding_base(how: str, spread: ArrayLike, size: ArrayLike, *, integer: bool = False) -> Floats:
    """What the representative of a group is rounded to; 0 where all values of the group are equal.

    Whoever knows all values but one, and the mean exactly, knows the last one. Rounded to the spread of
    the values over their number, the sum is open by the spread: nothing follows but the group. A
    median is the value of a person; rounded to three times as much, it is that of several.

    >>> rounding_base("mean", 90.0, 10).item(), rounding_base("median", 4.0, 40, integer=True).item()
    (10.0, 2.0)
    >>> rounding_base("mean", 0.0, 10).item()
    0.0
    """
    spread = np.asarray(spread, np.float64)
    least = spread / np.asarray(size) * (1 if how == "mean" else _MIN_SHARING_VALUES)
    if how == "median" and integer:
        least = np.maximum(least, 2.0)
    least = np.where(spread > 0, least, 1.0)
    unit = 10.0 ** np.floor(np.log10(least))
    factors = np.array([1.0, 2.0, 5.0, 10.0])
    factor = factors[np.searchsorted(factors, least / unit * (1 - 1e-12))]
    return np.where(spread > 0, unit * factor, 0.0)


def rounded_to(numbers: ArrayLike, base: ArrayLike) -> Floats:
    """The nearest multiples of `base`, as their decimals are read; a number whose base is 0 stays.

    >>> rounded_to([26.0, 0.31, 7.3], [10.0, 0.1, 0.0]).tolist()
    [30.0, 0.3, 7.3]
    """
    numbers, base = np.asarray(numbers, np.float64), np.asarray(base, np.float64)
    step = np.where(base > 0, base, 1.0)
    times = np.rint(numbers / step)
    multiple = np.where(step < 1, times / np.rint(1 / np.minimum(step, 1)), times * step)
    return np.where(base > 0, multiple, numbers)


def rounded_means(table: Floats, means: Floats) -> Floats:
    """The means of groups of records, those of each group rounded by the spread of its values.

    Records with equal means are one group. A missing value has no group.

    >>> table = np.array([[1.0], [2.0], [4.0], [9.0], [9.0]])
    >>> rounded_means(table, np.array([[7 / 3], [7 / 3], [7 / 3], [9.0], [9.0]]))[:, 0].tolist()
    [2.0, 2.0, 2.0, 9.0, 9.0]
    """
    after = means.copy()
    present = np.flatnonzero(~np.isnan(means).any(axis=1))
    if not present.size:
        return after
    groups, member = np.unique(means[present], axis=0, return_inverse=True)
    member = member.ravel()
    order = np.argsort(member, kind="stable")
    sizes = np.bincount(member)
    starts = np.cumsum(sizes) - sizes
    for position, column in enumerate(table[present].T):
        ordered = column[order]
        low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
        mean = np.where(high > low, groups[:, position], low)
        after[present, position] = rounded_to(mean, rounding_base("mean", high - low, sizes))[member]
    return after
