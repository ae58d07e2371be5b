"""What the order of rows discloses: those of one person together, or those of two files in the same order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from crypsis.columns.codes import Ints, as_numbers, codes_of
from crypsis.counting.grouping import numbered

_ROWS, _FEWEST, _MOST_COLUMNS, _BINS = 20_000, 50, 20, 12
_SHIFTS = tuple(shift for one in range(1, 11) for shift in (one, -one))
_CLEAR = 8.0
"""Deviations by which rows at the same place agree more than rows that are not."""
_APART, _EXCESS, _RUNS, _FEW = 50, 0.2, 1.5, 3


def same_order(one: pa.Table, other: pa.Table) -> tuple[str, str] | None:
    """The columns that show that row n of both tables is of one person; None if none do.

    Two columns of one person depend on each other, in rows at the same place much more than in rows
    one to ten places apart. Files that are sorted by something depend there as much, which shows
    nothing. The first 20,000 rows and 20 columns of each are compared.

    >>> ages = np.random.default_rng(0).integers(20, 80, 300)
    >>> one, other = pa.table({"age": ages}), pa.table({"birth": 2020 - ages})
    >>> same_order(one, other), same_order(one, other.take(np.roll(np.arange(300), 100)))
    (('age', 'birth'), None)
    """
    rows = one.num_rows
    if rows != other.num_rows or rows < _FEWEST:
        return None
    mine, theirs = _binned(one), _binned(other)
    best, found = _CLEAR, None
    for name, left in mine.items():
        for second, right in theirs.items():
            here = _dependence(left, right)
            apart = np.array([_dependence(left, np.roll(right, shift)) for shift in _SHIFTS])
            spread = max(float(apart.std()), 1e-9)
            if here > apart.max() and (here - apart.mean()) / spread > best:
                best, found = float((here - apart.mean()) / spread), (name, second)
    return found


def _binned(table: pa.Table) -> dict[str, Ints]:
    """The first rows of columns as few codes: frequent values, or intervals of numbers."""
    found = {}
    for name in table.column_names[:_MOST_COLUMNS]:
        column = table[name].slice(0, _ROWS)
        if pa.types.is_nested(column.type):
            continue
        numbers = as_numbers(column)
        if numbers is None or np.isnan(numbers).all():
            codes = codes_of(column) + 1
            frequent = np.argsort(-np.bincount(codes), kind="stable")[:_BINS]
            codes = np.argmax(np.append(codes[:, None] == frequent, np.ones((codes.size, 1), bool), 1), 1)
        else:
            ends = np.nanquantile(numbers, np.linspace(0, 1, _BINS)[1:-1])
            codes = np.where(np.isnan(numbers), _BINS, np.searchsorted(np.unique(ends), numbers))
        if np.unique(codes).size > 1:
            found[name] = codes.astype(np.int64)
    return found


def _dependence(one: Ints, other: Ints) -> float:
    """The chi-squared statistic of two columns of codes."""
    width = int(other.max()) + 1
    counts = np.bincount(one * width + other, minlength=(int(one.max()) + 1) * width)
    table = counts.reshape(-1, width).astype(np.float64)
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / one.size
    there = expected > 0
    return float(((table - expected)[there] ** 2 / expected[there]).sum())


def neighbors_alike(table: pa.Table) -> tuple[tuple[str, ...], float, float] | None:
    """Columns in which rows equal the one before, the share that does, and that by chance.

    Rows of one person, or of one household, that follow each other do. None if the share is not far
    larger in any column, nor in all. Columns that the rows are sorted by show nothing: by chance is
    among the rows that are alike in these. Nor do parts of a file that differ, such as its regions:
    rows fifty places apart are as alike then.

    >>> draw = np.random.default_rng(0)
    >>> ages = np.repeat(draw.integers(20, 80, 300), 4)
    >>> neighbors_alike(pa.table({"age": ages}))
    (('age',), 0.754..., 0.019...)
    >>> neighbors_alike(pa.table({"age": np.sort(ages)}))
    """
    codes = {name: codes_of(table[name]) for name in table.column_names}
    if not codes or table.num_rows <= 2 * _APART:
        return None
    parts = _sorted_by(list(codes.values()))
    sets = [tuple(codes), *((name,) for name in codes if len(codes) > 1)]
    found = [(one, *_alike(_joint([codes[name] for name in one]), parts)) for one in sets]
    best = max(found, key=lambda one: one[1] - one[2])
    return best if best[1] - best[2] >= _EXCESS else None


def _alike(codes: Ints, parts: list[Ints]) -> tuple[float, float]:
    """The share of rows that equal the one before, and the largest by chance in some parts."""
    chances = [float((codes[_APART:] == codes[:-_APART]).mean())]
    for part in parts:
        both = _joint([part, codes])
        of_part, of_both = (np.bincount(one)[one] for one in (part, both))
        by_chance = np.where(of_part > 1, (of_both - 1) / np.maximum(of_part - 1, 1), 0.0)
        chances.append(float((by_chance[1:] * (part[1:] == part[:-1])).mean()))
    return float((codes[1:] == codes[:-1]).mean()), max(chances)


def _sorted_by(columns: list[Ints]) -> list[Ints]:
    """The rows as one part, and by the columns that they are sorted by, one behind the other."""
    parts = [np.zeros(columns[0].size, np.int64)]
    left = sorted(columns, key=_runs)
    while left:
        joint = [_joint([parts[-1], one]) for one in left]
        found = next((position for position, one in enumerate(joint) if _contiguous(one)), None)
        if found is None:
            break
        parts.append(joint[found])
        del left[found]
    return parts


def _runs(codes: Ints) -> int:
    """How often equal values follow each other without another one between them."""
    return 1 + int((np.diff(codes) != 0).sum())


def _joint(columns: list[Ints]) -> Ints:
    """The combinations of some columns as codes."""
    found = numbered(columns[0])
    for column in columns[1:]:
        codes = numbered(column)
        found = numbered(found * (int(codes.max()) + 1) + codes)
    return found


def _contiguous(codes: Ints) -> bool:
    """Whether equal values are next to each other: in a few runs each, or in each part of the file.

    Runs are too long then to be of one person, or the values come in the same order again and again,
    as in files of several months that are one behind the other.
    """
    first = np.unique(codes, return_index=True, return_inverse=True)
    values = np.argsort(np.argsort(first[1]))[first[2]]  # numbered in the order of the file
    runs, back = _runs(values), int((np.diff(values) < 0).sum())
    few = runs <= max(_RUNS * first[1].size, codes.size / _APART)
    return few or (first[1].size > _FEW and back * first[1].size <= _RUNS * runs)
