"""The diversity of the values near a record (domingo2016, condition 2 of Definition 1).

S(d) is an interval of a sorted masked column: the values whose rank is within d of the rank of the
value nearest to the original one. Sums over such intervals come from cumulative sums, so that all
records of a column cost one pass. Arrays in, arrays out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.linkage._ranks import Floats, Ints, Scores

Criterion: TypeAlias = Literal["variance", "distinct", "entropy", "t-closeness"]


@dataclass(frozen=True)
class SortedColumn:
    """A masked column in increasing order, with its runs of equal values."""

    values: Scores
    run: Ints
    run_start: Ints

    @classmethod
    def of(cls, values: Scores) -> SortedColumn:
        """Sort a column and find where its runs of equal values begin."""
        ordered = np.sort(values, kind="stable")
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        return cls(ordered, np.cumsum(new) - 1, np.append(np.flatnonzero(new), len(values)))

    @cached_property
    def centered(self) -> Floats:
        """The values less their mean."""
        values = np.asarray(self.values, dtype=np.float64)
        return np.asarray(values - values.mean())

    @cached_property
    def totals(self) -> tuple[NDArray[np.longdouble], NDArray[np.longdouble]]:
        """Cumulative sums of the centered values and of their squares."""
        wide = self.centered.astype(np.longdouble)
        none = np.zeros(1, np.longdouble)
        return (np.concatenate([none, np.cumsum(wide)]), np.concatenate([none, np.cumsum(wide * wide)]))


def rank_interval(center: Floats, distance: Floats, records: int) -> tuple[Ints, Ints]:
    """First and one-past-last position of the ranks within `distance` of the rank `center`."""
    low = np.maximum(np.ceil(center - distance), 1).astype(np.int64) - 1
    high = np.minimum(np.floor(center + distance), records).astype(np.int64)
    return low, np.maximum(high, low + 1)


def diversity(
    column: SortedColumn,
    low: Ints,
    high: Ints,
    criterion: Criterion,
    *,
    hierarchy: tuple[Hierarchy, tuple[Any, ...]] | None = None,
) -> Floats:
    """The diversity of the intervals low..high of a sorted column.

    Variance divides by the number of values; for a nominal column with a hierarchy it is the mean
    marginality within the interval (Domingo-Ferrer et al. 2013). Entropy is in bits. "t-closeness"
    is the earth mover's distance between the interval and the column, with neighboring distinct
    values equally far apart (Li et al. 2007): there less is more diverse.
    """
    check_criterion(criterion)
    if criterion == "distinct":
        return (column.run[high - 1] - column.run[low] + 1).astype(np.float64)
    if criterion == "entropy":
        return _entropy(column, low, high)
    if criterion == "t-closeness":
        return _closeness(column, low, high)
    if hierarchy is not None:
        return _marginality(column, low, high, *hierarchy)
    return _variance(column, low, high)


def check_criterion(criterion: str) -> None:
    """Refuse a criterion that does not exist."""
    if criterion not in get_args(Criterion):
        names = ", ".join(repr(name) for name in get_args(Criterion))
        raise ParameterError(
            f"Parameter 'criterion' must be one of {names}; {criterion!r} is not a valid value.",
            parameter="criterion",
        )


def meets(criterion: Criterion, diversity: Any, wanted: float) -> Any:
    """Whether a diversity is enough. Definition 1 says "greater than v", its example "at least"."""
    slack = 1e-12 * abs(wanted)
    return diversity <= wanted + slack if criterion == "t-closeness" else diversity >= wanted - slack


def _variance(column: SortedColumn, low: Ints, high: Ints) -> Floats:
    values, (first, second) = column.centered, column.totals
    size = high - low
    squares = second[high] - second[low] - (first[high] - first[low]) ** 2 / size
    spread = np.maximum(squares, 0).astype(np.float64) / size
    spread[values[low] == values[high - 1]] = 0.0
    # Near-equal values far from the others are lost in the rounding of the sums: recompute them.
    rounding = np.finfo(np.longdouble).eps * second[-1]
    doubtful = np.flatnonzero((squares < 1e9 * rounding) & (values[low] < values[high - 1]))
    for width in np.unique(size[doubtful]).tolist():
        exact = doubtful[size[doubtful] == width]
        spread[exact] = _variance_of(values, low[exact], width)
    return np.asarray(spread)


def _variance_of(values: Floats, low: Ints, width: int) -> Floats:
    """The variance of `width` values from each `low` on, relative to the first of them."""
    start = values[low]
    total, squares = np.zeros(len(low)), np.zeros(len(low))
    for step in range(1, width):
        above = values[low + step] - start
        total += above
        squares += above * above
    return np.asarray(np.maximum(squares - total * total / width, 0.0) / width)


def _entropy(column: SortedColumn, low: Ints, high: Ints) -> Floats:
    """log2(size) minus the mean of log2(run length), ends separately."""
    runs = np.diff(column.run_start).astype(np.float64)
    totals = np.concatenate([[0.0], np.cumsum(runs * np.log2(runs))])
    first, last = column.run[low], column.run[high - 1]
    size = (high - low).astype(np.float64)
    head = np.minimum(column.run_start[first + 1], high) - low
    tail = high - np.maximum(column.run_start[last], low)
    inner = np.where(last > first, totals[last] - totals[np.minimum(first + 1, last)], 0.0)
    ends = head * np.log2(head) + np.where(last > first, tail * np.log2(tail), 0.0)
    return np.maximum(np.log2(size) - (inner + ends) / size, 0.0)


def _closeness(column: SortedColumn, low: Ints, high: Ints) -> Floats:
    """Sum over distinct values of |share of the interval - share of the column| up to that value.

    Up to a value below the interval the difference is minus the share of the column; beyond it,
    one minus that share; inside, it grows with the count and changes sign once.
    """
    n = len(column.values)
    up_to = column.run_start[1:].astype(np.float64)  # records up to and with each distinct value
    distinct = len(up_to)
    if distinct == 1:
        return np.zeros(len(low))
    totals = np.concatenate([[0.0], np.cumsum(up_to)])
    size = (high - low).astype(np.float64)
    first, last = column.run[low], column.run[high - 1]
    below = totals[first] / n
    above = (distinct - last) - (totals[distinct] - totals[last]) / n
    slope, offset = 1 / size - 1 / n, low / size
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(slope > 0, offset / slope, 0.0)
    middle = np.clip(np.searchsorted(up_to, turn), first, last)
    inside = _linear(totals, middle, last, slope, offset) - _linear(totals, first, middle, slope, offset)
    return np.asarray(np.maximum((below + above + inside) / (distinct - 1), 0.0))


def _linear(totals: Floats, begin: Ints, end: Ints, slope: Floats, offset: Floats) -> Floats:
    return np.asarray(slope * (totals[end] - totals[begin]) - offset * (end - begin))


def _marginality(
    column: SortedColumn, low: Ints, high: Ints, hierarchy: Hierarchy, values: tuple[Any, ...]
) -> Floats:
    """The mean over the interval of each value's total distance to the interval."""
    codes = column.values[column.run_start[:-1]].astype(np.int64)
    table = hierarchy.semantic_distances([values[code] for code in codes])
    begin, end = column.run_start[:-1], column.run_start[1:]
    intervals, which = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    counts = np.minimum(end, intervals[:, 1:]) - np.maximum(begin, intervals[:, :1])
    counts = np.maximum(counts, 0).astype(np.float64)
    size = counts.sum(axis=1)
    return np.asarray((np.einsum("ij,jk,ik->i", counts, table, counts) / size)[which.ravel()])
