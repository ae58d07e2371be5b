"""What the order of rows discloses: those of one person together, or those of two files in the same order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from crypsis.array_types import Ints
from crypsis.columns.codes import as_numbers, codes_of
from crypsis.counting.grouping import numbered

_COMPARED_ROWS = 20_000
"""The order of two tables is compared in so many rows, the first."""
_MIN_ROWS = 50
"""The order of tables with fewer rows is not compared."""
_MAX_COLUMNS = 20
"""So many columns of each table, the first, are compared."""
_MAX_BINS = 12
"""A column is compared as at most so many intervals or frequent values, and one more."""
_SHIFTS = tuple(shift for distance in range(1, 11) for shift in (distance, -distance))
_CLEAR_DEVIATIONS = 8.0
"""Deviations by which rows at the same place agree more than rows that are not."""
_ROWS_APART = 50
"""Rows so far apart are of different people or households: what they share is by chance."""
_MIN_EXCESS = 0.2
"""Rows are alike if the share that equals the one before is by so much larger than by chance."""
_MAX_RUNS_PER_VALUE = 1.5
"""The rows are sorted by a column with at most so many runs of equal values for each value."""
_FEW_VALUES = 3
"""A column with no more values than this may repeat their order by chance."""


def same_order(table: pa.Table, other_table: pa.Table) -> tuple[str, str] | None:
    """The columns that show that row n of both tables is of one person; None if none do.

    Two columns of one person depend on each other, in rows at the same place much more than in rows
    one to ten places apart. Files that are sorted by something depend there as much, which shows
    nothing. The first 20,000 rows and 20 columns of each are compared.

    >>> ages = np.random.default_rng(0).integers(20, 80, 300)
    >>> table, other_table = pa.table({"age": ages}), pa.table({"birth": 2020 - ages})
    >>> same_order(table, other_table)
    ('age', 'birth')
    >>> same_order(table, other_table.take(np.roll(np.arange(300), 100))) is None
    True
    """
    rows = table.num_rows
    if rows != other_table.num_rows or rows < _MIN_ROWS:
        return None
    mine, theirs = _binned(table), _binned(other_table)
    best, related = _CLEAR_DEVIATIONS, None
    for name, left in mine.items():
        for second, right in theirs.items():
            here = _dependence(left, right)
            shifted = np.array([_dependence(left, np.roll(right, shift)) for shift in _SHIFTS])
            spread = max(float(shifted.std()), 1e-9)
            if here > shifted.max() and (here - shifted.mean()) / spread > best:
                best, related = float((here - shifted.mean()) / spread), (name, second)
    return related


def _binned(table: pa.Table) -> dict[str, Ints]:
    """The first rows of columns as few codes: frequent values, or intervals of numbers."""
    codes_by_column = {}
    for name in table.column_names[:_MAX_COLUMNS]:
        column = table[name].slice(0, _COMPARED_ROWS)
        if pa.types.is_nested(column.type):
            continue
        numbers = as_numbers(column)
        if numbers is None or np.isnan(numbers).all():
            codes = codes_of(column) + 1
            frequent = np.argsort(-np.bincount(codes), kind="stable")[:_MAX_BINS]
            codes = np.argmax(np.append(codes[:, None] == frequent, np.ones((codes.size, 1), bool), 1), 1)
        else:
            ends = np.nanquantile(numbers, np.linspace(0, 1, _MAX_BINS)[1:-1])
            codes = np.where(np.isnan(numbers), _MAX_BINS, np.searchsorted(np.unique(ends), numbers))
        if np.unique(codes).size > 1:
            codes_by_column[name] = codes.astype(np.int64)
    return codes_by_column


def _dependence(left: Ints, right: Ints) -> float:
    """The chi-squared statistic of two columns of codes."""
    width = int(right.max()) + 1
    counts = np.bincount(left * width + right, minlength=(int(left.max()) + 1) * width)
    table = counts.reshape(-1, width).astype(np.float64)
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / left.size
    is_expected = expected > 0
    return float(((table - expected)[is_expected] ** 2 / expected[is_expected]).sum())


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
    if not codes or table.num_rows <= 2 * _ROWS_APART:
        return None
    parts = _sorted_by(list(codes.values()))
    sets = [tuple(codes), *((name,) for name in codes if len(codes) > 1)]
    compared = [(names, *_alike(_joint([codes[name] for name in names]), parts)) for names in sets]
    best = max(compared, key=lambda candidate: candidate[1] - candidate[2])
    return best if best[1] - best[2] >= _MIN_EXCESS else None


def _alike(codes: Ints, parts: list[Ints]) -> tuple[float, float]:
    """The share of rows that equal the one before, and the largest by chance in some parts."""
    chances = [float((codes[_ROWS_APART:] == codes[:-_ROWS_APART]).mean())]
    for part in parts:
        both = _joint([part, codes])
        of_part, of_both = (np.bincount(codes)[codes] for codes in (part, both))
        by_chance = np.where(of_part > 1, (of_both - 1) / np.maximum(of_part - 1, 1), 0.0)
        chances.append(float((by_chance[1:] * (part[1:] == part[:-1])).mean()))
    return float((codes[1:] == codes[:-1]).mean()), max(chances)


def _sorted_by(columns: list[Ints]) -> list[Ints]:
    """The rows as one part, and by the columns that they are sorted by, one behind the other."""
    parts = [np.zeros(columns[0].size, np.int64)]
    left = sorted(columns, key=_runs)
    while left:
        joint = [_joint([parts[-1], column]) for column in left]
        sorted_part = next((position for position, codes in enumerate(joint) if _contiguous(codes)), None)
        if sorted_part is None:
            break
        parts.append(joint[sorted_part])
        del left[sorted_part]
    return parts


def _runs(codes: Ints) -> int:
    """How often equal values follow each other without another one between them."""
    return 1 + int((np.diff(codes) != 0).sum())


def _joint(columns: list[Ints]) -> Ints:
    """The combinations of some columns as codes."""
    joint = numbered(columns[0])
    for column in columns[1:]:
        codes = numbered(column)
        joint = numbered(joint * (int(codes.max()) + 1) + codes)
    return joint


def _contiguous(codes: Ints) -> bool:
    """Whether equal values are next to each other: in a few runs each, or in each part of the file.

    Runs are too long then to be of one person, or the values come in the same order again and again,
    as in files of several months that are one behind the other.
    """
    first = np.unique(codes, return_index=True, return_inverse=True)
    values = np.argsort(np.argsort(first[1]))[first[2]]  # numbered in the order of the file
    runs, back = _runs(values), int((np.diff(values) < 0).sum())
    few = runs <= max(_MAX_RUNS_PER_VALUE * first[1].size, codes.size / _ROWS_APART)
    return few or (first[1].size > _FEW_VALUES and back * first[1].size <= _MAX_RUNS_PER_VALUE * runs)
