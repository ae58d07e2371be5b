"""Quantile groups of columns: exact, in memory or in the engine, or from a sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from crypsis import progress
from crypsis.array_types import Floats, Ints
from crypsis.counting.arrays import places
from crypsis.counting.cells import Cells
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, TooLargeError
from crypsis.protection.recoding._representatives import rounded_to, rounding_base
from crypsis.protection.recoding._steps import Intervals, intervals
from crypsis.tables import Kind
from crypsis.tables.sampling import quantiles, sampled_quantiles
from crypsis.threads import map_threads

_MAX_SORTED_VALUES = 32_000_000
"""Columns of tables of up to so many rows are sorted in memory, at most so many values at once."""
_MAX_FETCHED_VALUES = 2_000_000
"""On a cluster, columns of up to so many different values are fetched with their counts."""


def quantile_steps(
    data: Dataset,
    groups: Mapping[str, int],
    *,
    integer: Mapping[str, bool],
    representative: str = "interval",
    rank_error: float | None = None,
    top_code: Mapping[str, float] | None = None,
    min_size: int = 1,
) -> dict[str, Intervals]:
    """Quantile groups of several columns: lodha2007, Definition 9, with equal values together.

    Columns with the same number of groups share one scan; with `rank_error` the quantiles come from
    a sample (see `Rows.sampled_quantiles`). The representative of a group is its mean or median,
    rounded so that no value of one person follows.
    Groups that ties leave with fewer than `min_size` rows join a neighbor, if the columns are
    sorted in memory.
    """
    if representative not in ("interval", "median", "mean"):
        raise ParameterError(
            "Parameter 'representative' must be 'interval', 'median' or 'mean'; "
            f"{representative!r} was given.",
            parameter="representative",
        )
    steps: dict[str, Intervals] = {}
    for count in sorted(set(groups.values())):
        names = [name for name, wanted in groups.items() if wanted == count]
        if count < 2:
            steps.update({name: intervals((), integer=True) for name in names})
            continue
        # Twice as many as there are groups: every second one is the middle of a group.
        shares = [j / (2 * count) for j in range(1, 2 * count)]
        for name, numbers, ordered in _quantiles(data, names, shares, rank_error):
            cuts = _cuts(numbers, integer[name], (top_code or {}).get(name))
            if ordered is not None:
                cuts = _large_enough(cuts, ordered, min_size)
            steps[name] = _from_quantiles(numbers, cuts, integer[name], representative != "interval")
    if representative != "interval":
        steps = {
            name: with_representatives(data, name, step, representative) if step.upper else step
            for name, step in steps.items()
        }
    return steps


def _quantiles(
    data: Dataset, names: Sequence[str], shares: Sequence[float], rank_error: float | None
) -> Iterator[tuple[str, list[float], _SortedColumn | None]]:
    """The quantiles of each column, and the sorted column if it is in memory.

    Sorting in NumPy takes a tenth of the time of the engine's quantiles.
    """
    if rank_error is not None:
        sampled = sampled_quantiles(data.rows, names, shares, rank_error=rank_error)
        yield from ((name, [float(v) for v in sampled[name].to_pylist()], None) for name in names)
        return
    sorted_columns = _sorted_columns(data, names)
    if sorted_columns is None:
        exact = quantiles(data.rows, names, shares)
        yield from ((name, [float(v) for v in exact[name].to_pylist()], None) for name in names)
        return
    for name, column in sorted_columns:
        yield name, column.at(shares), column


@dataclass(frozen=True, eq=False)
class _SortedColumn:
    """A column in ascending order, row by row or, with `cumulated`, value by value."""

    values: Floats
    cumulated: Ints | None = None
    """The number of rows at or below each value."""

    @property
    def size(self) -> int:
        """The number of values that are not missing."""
        if self.cumulated is None:
            return self.values.size
        return int(self.cumulated[-1]) if self.cumulated.size else 0

    def at(self, shares: Sequence[float]) -> list[float]:
        """The smallest values with at least each share of the rows at or below them."""
        if not self.size:
            return []
        ranks = np.array([max(1, math.ceil(share * self.size - 1e-9)) for share in shares])
        positions = ranks - 1 if self.cumulated is None else np.searchsorted(self.cumulated, ranks)
        numbers: list[float] = self.values[positions].tolist()
        return numbers

    def at_or_below(self, cuts: Sequence[float]) -> list[int]:
        """The number of rows at or below each cut."""
        below = np.searchsorted(self.values, cuts, "right")
        rows_below = below if self.cumulated is None else np.append(0, self.cumulated)[below]
        rows: list[int] = rows_below.tolist()
        return rows


def _sorted_columns(data: Dataset, names: Sequence[str]) -> Iterator[tuple[str, _SortedColumn]] | None:
    """Each column sorted: from cells that were counted before, else in one pass.

    On a cluster the values are fetched with their counts, if they are few enough.
    """
    counted_cells = [data.counted([name]) for name in names]
    if all(cells is not None for cells in counted_cells):
        columns = [_of_cells(cells) for cells in counted_cells if cells is not None]
        return zip(names, columns, strict=True)
    if data.count > _MAX_SORTED_VALUES:
        return None
    if data.rows.local:
        return _read_and_sorted(data, names)
    try:
        counted = data.rows.value_counts(names, at_most=_MAX_FETCHED_VALUES)
    except TooLargeError:
        return None
    return ((name, _counted(list(counts), list(counts.values()))) for name, counts in counted.items())


def _of_cells(cells: Cells) -> _SortedColumn:
    present = cells.values[0].drop_null()  # a missing value is the last one
    kept = cells.codes[0] < len(present)
    values = present.take(places(cells.codes[0][kept])).cast(pa.float64(), safe=False)
    return _counted(values.to_numpy(zero_copy_only=False), cells.counts[kept])


def _counted(values: Sequence[Any] | Floats, counts: Any) -> _SortedColumn:
    numbers = np.array(values, np.float64)
    order = np.argsort(numbers)
    return _SortedColumn(numbers[order], np.cumsum(np.array(counts, np.int64)[order]))


def _read_and_sorted(data: Dataset, names: Sequence[str]) -> Iterator[tuple[str, _SortedColumn]]:
    """A few columns at a time, on all cores."""
    many = max(1, _MAX_SORTED_VALUES // max(1, data.count))

    def ordered(column: pa.ChunkedArray) -> _SortedColumn:
        numbers = column.cast(pa.float64(), safe=False).combine_chunks().drop_null()
        sorted_numbers = np.sort(numbers.to_numpy(zero_copy_only=False))
        return _SortedColumn(sorted_numbers[: sorted_numbers.size - int(np.isnan(sorted_numbers).sum())])

    for start in progress.track(range(0, len(names), many), "quantiles"):
        table = data.to_arrow(names[start : start + many])
        yield from zip(table.column_names, map_threads(ordered, table.columns), strict=True)


def _cuts(numbers: Sequence[float], integer: bool, limit: float | None) -> list[tuple[float, int]]:
    """`numbers[j-1]` is the quantile at j of 2q; cuts at even j, repeated cuts once."""
    cuts: list[tuple[float, int]] = []
    for j in range(2, len(numbers) + 1, 2):
        if not cuts or numbers[j - 1] > cuts[-1][0]:
            cuts.append((numbers[j - 1], j))
    if limit is not None and numbers:
        below = limit - 1 if integer else float(np.nextafter(limit, -np.inf))
        cuts = [cut for cut in cuts if cut[0] < below] + [(below, len(numbers))]
    return cuts


def _large_enough(
    cuts: Sequence[tuple[float, int]], ordered: _SortedColumn, min_size: int
) -> list[tuple[float, int]]:
    """The cuts with at least `min_size` values between each two."""
    below = ordered.at_or_below([cut for cut, _ in cuts])
    kept, before = [], 0
    for cut, upto in zip(cuts, below, strict=True):
        if upto - before >= min_size and ordered.size - upto >= min_size:
            kept.append(cut)
            before = upto
    return kept


def _from_quantiles(
    numbers: Sequence[float], cuts: Sequence[tuple[float, int]], integer: bool, numeric: bool
) -> Intervals:
    upper = [cut for cut, _ in cuts]
    if not numeric or not numbers:
        return intervals(upper, integer=integer)
    edges = [0, *(j for _, j in cuts), len(numbers) + 1]
    middles = [numbers[max(0, (a + b) // 2 - 1)] for a, b in pairwise(edges)]
    bounds = [-np.inf, *upper, np.inf]
    inside = [
        min(max(middle, np.nextafter(low, np.inf)), high)
        for middle, (low, high) in zip(middles, pairwise(bounds), strict=True)
    ]
    return intervals(upper, integer=integer, representatives=inside)


def with_representatives(data: Dataset, name: str, step: Intervals, how: str) -> Intervals:
    """The same intervals, each labeled with the rounded mean or median of its values; one scan."""
    rows, column = data.rows, data.rows.column(name)
    value = nw.col(column.inner)
    number = value.cast(nw.Float64)
    places_of = Intervals(upper=step.upper, labels=tuple(map(float, range(len(step.labels)))))
    grouped = (
        rows.cleaned([column.inner])
        .select(place=places_of.expression(value, column.kind), number=number)
        .group_by("place")
        .agg(
            middle=nw.col("number").mean() if how == "mean" else nw.col("number").median(),
            low=nw.col("number").min(),
            high=nw.col("number").max(),
            size=nw.len(),
        )
    )
    table = rows.fetch(grouped, f"groups of {name!r}").to_pylist()
    by_position = {row["place"]: row for row in table if row["place"] is not None}
    bounds = [-math.inf, *step.upper, math.inf]
    labels = []
    for position, label in enumerate(map(float, step.labels)):
        row = by_position.get(float(position))
        if row is None or not all(math.isfinite(row[part]) for part in ("middle", "low", "high")):
            labels.append(label)
            continue
        spread, integer = row["high"] - row["low"], column.kind is Kind.INTEGER
        base = rounding_base(how, spread, row["size"], integer=integer).item()
        labels.append(_rounded(row["middle"], base, bounds[position], bounds[position + 1]))
    return Intervals(upper=step.upper, labels=tuple(labels))


def _rounded(number: float, base: float, low: float, high: float) -> float:
    """The nearest multiple of `base` that is above `low` and at most `high`, if there is one.

    >>> _rounded(26.0, 10.0, 24.0, 39.0), _rounded(26.0, 0.0, 24.0, 39.0)
    (30.0, 26.0)
    """
    if not base:
        return number
    for near in rounded_to([number, number + base, number - base], base).tolist():
        if low < near <= high:
            return float(near)
    return math.nextafter(low, high) if math.isfinite(low) else high
