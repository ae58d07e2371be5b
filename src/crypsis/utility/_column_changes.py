"""Distributions before and after masking: of one column, of two columns, of every column."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from crypsis.counting.cells import Cells
from crypsis.dataset import Data, Dataset, as_columns, as_dataset
from crypsis.errors import unknown_columns
from crypsis.hierarchies.cover import covered
from crypsis.options import Columns, MissingValues
from crypsis.results import Result
from crypsis.tables import Kind

_MAX_VALUES = 100_000
"""The distributions of a column with more values are not compared."""
_MAX_LABELS = 400
"""Which values labels cover is not computed for more of them."""
_MAX_COVERED_PAIRS = 2_000_000
"""Nor for more pairs of a label and a value."""


class ColumnChange(Result):
    """How one column was changed."""

    column: str
    values_before: int
    values_after: int
    missing_before: int
    missing_after: int
    distance: float | None
    """Total variation between the two distributions; None where the two have no value in common, or
    too many values to compare."""
    entropy_before_bits: float | None
    entropy_after_bits: float | None
    """How much of it the released column can have at most: the smaller entropy of the two, or what the
    values that each label covers leave. Labels of different precision or added noise have more entropy,
    and not more information."""
    weighted_distance: float | None = None
    """Total variation between the two distributions of the population, by the weights; None where
    there are none, or there is no distance."""


class ColumnChanges(Result):
    """How each column was changed."""

    rows_before: int
    rows_after: int
    columns: tuple[ColumnChange, ...]
    removed: tuple[str, ...]
    """The columns that are not in the masked file."""


class PairDistance(Result):
    """The change of the joint distribution of two columns."""

    columns: tuple[str, str]
    distance: float


def column_changes(original: Data, masked: Data, columns: Columns | None = None) -> ColumnChanges:
    """The values, missing values, distribution and entropy of each column before and after.

    Parameters
    ----------
    original, masked : Dataset, frame or path
        The file and what was made of it.
    columns : str or sequence of str, optional
        The columns; by default those in both files.

    Returns
    -------
    ColumnChanges
        One row for each column, and the columns that were removed.

    Notes
    -----
    The missing value is one value. Where a column was generalized to other labels, its distance is
    None and the entropies show the loss. Columns of more than 100,000 values are only counted. Where
    both files have their weights, the distance of the weighted distributions is there as well: what
    changed in estimates for the population.

    Examples
    --------
    >>> import pyarrow as pa
    >>> before, after = pa.table({"a": [1, 2, 3, 4]}), pa.table({"a": ["1-2", "1-2", "3", "4"]})
    >>> change, = column_changes(before, after).columns
    >>> change.values_after, change.entropy_before_bits, change.entropy_after_bits
    (3, 2.0, 1.5)
    """
    first, second = (_strict(as_dataset(dataset)) for dataset in (original, masked))
    names = shared_columns(first, second)
    chosen = names if columns is None else [name for name in names if name in as_columns(columns)]
    return ColumnChanges(
        first.count,
        second.count,
        tuple(_column(first, second, name) for name in chosen if _is_flat(first, second, name)),
        tuple(name for name in first.names if name not in names),
    )


def pairwise_distances(
    original: Data, masked: Data, columns: Columns | None = None
) -> tuple[PairDistance, ...]:
    """The total variation distances between the joint distributions of every two columns.

    Parameters
    ----------
    original, masked : Dataset, frame or path
        The file and what was made of it.
    columns : str or sequence of str, optional
        The columns; by default those in both files.

    Returns
    -------
    tuple of PairDistance
        The largest distance first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> before, after = pa.table({"a": [1, 2], "b": [1, 2]}), pa.table({"a": [1, 2], "b": [2, 1]})
    >>> pairwise_distances(before, after)[0].distance
    1.0
    """
    first, second = as_dataset(original), as_dataset(masked)
    names = shared_columns(second, first) if columns is None else as_columns(columns)
    for side in (first, second):
        if not set(names) <= set(side.names):
            raise unknown_columns(names, side.names)
    pairs = [
        PairDistance((a, b), total_variation(first.cells([a, b]), second.cells([a, b])))
        for a, b in combinations(names, 2)
    ]
    return tuple(sorted(pairs, key=lambda pair: -pair.distance))


def shared_columns(first: Dataset, second: Dataset) -> list[str]:
    """The columns in both, in the order of the second."""
    return [name for name in second.names if name in first.names]


def _strict(data: Dataset) -> Dataset:
    """The same with the missing value as one value: as a wildcard it has no distribution."""
    if data.missing is not MissingValues.WILDCARD:
        return data
    return data.strict()


def _is_flat(first: Dataset, second: Dataset, name: str) -> bool:
    return Kind.NESTED not in {side.rows.column(name).kind for side in (first, second)}


def _column(first: Dataset, second: Dataset, name: str) -> ColumnChange:
    counts = [side.rows.tally([name]) for side in (first, second)]
    values, missing = [int(count.values) for count in counts], [count.missing for count in counts]
    distance: float | None = None
    bits: tuple[float | None, float | None] = (None, None)
    if max(count.distinct for count in counts) <= _MAX_VALUES:
        before, after = first.cells([name]), second.cells([name])
        left = _covered_bits(before, after)
        bits = (before.entropy_bits(), min(before.entropy_bits(), after.entropy_bits(), left))
        if not len(after) or set(_tuples(before)) & set(_tuples(after)):
            distance = total_variation(before, after)
    return ColumnChange(
        name,
        values[0],
        values[1],
        missing[0],
        missing[1],
        distance,
        *bits,
        None if distance is None else _weighted_distance(first, second, name),
    )


def _covered_bits(before: Cells, after: Cells) -> float:
    """The information of labels about the values that they cover; infinite where they cover none.

    A label leaves the entropy of the values that it covers, as they are distributed in the original
    (Gionis and Tassa 2009). What was missing in the original is missing and not suppressed.
    """
    values, labels = before.values[0].to_pylist(), after.values[0].to_pylist()
    if len(labels) > _MAX_LABELS or len(labels) * len(values) > _MAX_COVERED_PAIRS:
        return math.inf
    own_counts = np.bincount(before.codes[0], before.counts, minlength=len(values))
    released = np.bincount(after.codes[0], after.counts, minlength=len(labels))
    if None in labels and None in values:
        gone = labels.index(None)
        released[gone] = max(0, released[gone] - own_counts[values.index(None)])
    weights = covered(labels, values) * own_counts
    totals = weights.sum(axis=1)
    if (totals[released > 0] == 0).any():
        return math.inf
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    inside = np.log2(np.maximum(totals, 1)) - (weights * logs).sum(axis=1) / np.maximum(totals, 1)
    rows = max(1, int(after.counts.sum()))
    return max(0.0, before.entropy_bits() - float((released * inside).sum() / rows))


def _weighted_distance(first: Dataset, second: Dataset, name: str) -> float | None:
    """The distance of the distributions by the weights; None where a file has none."""
    if first.weight is None or second.weight is None or name in (first.weight, second.weight):
        return None
    before, after = (side.cells([name], weighted=True) for side in (first, second))
    return total_variation(before, after, weighted=True)


def total_variation(before: Cells, after: Cells, *, weighted: bool = False) -> float:
    """Half the sum of absolute differences of the shares of tuples, of records or of weights."""
    counts_before, two = _tuples(before, weighted), _tuples(after, weighted)
    total, total_after = (sum(part.values()) or 1 for part in (counts_before, two))
    gaps = (
        abs(counts_before.get(v, 0) / total - two.get(v, 0) / total_after)
        for v in counts_before.keys() | two.keys()
    )
    return float(sum(gaps) / 2)


def _tuples(cells: Cells, weighted: bool = False) -> dict[tuple[Any, ...], float]:
    values = [value.to_pylist() for value in cells.values]
    columns = [
        [value[code] for code in codes.tolist()] for value, codes in zip(values, cells.codes, strict=True)
    ]
    numbers = np.asarray(cells.weights if weighted else cells.counts).tolist()
    return dict(zip(zip(*columns, strict=True), numbers, strict=True))
