"""The number of values of each column and how often they repeat, counted or estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crypsis import progress
from crypsis.counting.cells import ColumnSetCounts
from crypsis.counting.estimates import SampledClassSizes, class_total, singleton_total
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import MissingValues
from crypsis.results import Estimate, Number
from crypsis.tables.class_samples import sample_class_sizes, sketches, tally_in_parts
from crypsis.tables.rows import FIRST_ROWS

EXACT_ROWS = 20_000_000
"""Every column of a table of up to so many rows is counted."""
EXACT_VALUES = 5_000_000
"""In larger tables, columns with up to about so many values are still counted."""
_SAMPLED_VALUES = 200_000
"""About so many different values, or classes, are sampled for an estimate."""
_VALUES_AT_ONCE = 2_500_000
"""Values that are counted at once where a column hardly repeats."""
_STAGE = "counting the values of columns"


def count_columns(
    dataset: Dataset, names: Sequence[str], *, exact: bool = False, seed: int = 0
) -> dict[str, ColumnSetCounts]:
    """The classes of each column.

    In tables of up to 20 million rows, or with `exact`, the engine groups by every column: one pass
    each. In larger tables, quasi-identifiers and sensitive attributes are counted from their joint
    cells, which the measures need too. A column that hardly repeats in the first million rows is
    estimated from a hash sample of its values. The others are sketched in one pass (HyperLogLog),
    then counted where they have up to some million values, else estimated.
    """
    if exact or dataset.count <= EXACT_ROWS:
        return {name: _counted(dataset, name) for name in progress.track(names, _STAGE)}
    counts_by_column = _from_cells(dataset, names)
    for name in names:
        if name not in counts_by_column and (counts := _estimated_key(dataset, name, seed)) is not None:
            counts_by_column[name] = counts
    rest = [name for name in names if name not in counts_by_column]
    if rest:
        sizes = sketches(dataset.rows, [[name] for name in rest])
        for name, size in zip(progress.track(rest, _STAGE), sizes, strict=True):
            counts_by_column[name] = _by_expectation(dataset, (name,), size.distinct, size.missing, seed)
    return {name: counts_by_column[name] for name in names}


def _counted(dataset: Dataset, name: str) -> ColumnSetCounts:
    """The classes of a column; of one that hardly repeats, a part at a time: all take 70 bytes each."""
    rows = dataset.rows
    parts = -(-dataset.count // _VALUES_AT_ONCE)
    if parts > 1 and rows.local:
        first = rows.tally_first(name, FIRST_ROWS)
        if first.singletons >= first.rows / 2:
            return tally_in_parts(rows, [name], parts)
    return rows.tally([name])


def count_pair(
    dataset: Dataset, pair: tuple[str, str], max_classes: float, *, exact: bool, seed: int
) -> ColumnSetCounts:
    """The classes of two columns, of which there are at most `max_classes`."""
    if exact or dataset.count <= EXACT_ROWS or min(dataset.count, max_classes) <= EXACT_VALUES:
        return dataset.rows.tally(pair, drop_missing=dataset.missing is MissingValues.DROP)
    (size,) = sketches(dataset.rows, [pair])
    return _by_expectation(dataset, pair, size.distinct, size.missing, seed)


def _estimated_key(dataset: Dataset, name: str, seed: int) -> ColumnSetCounts | None:
    """An estimate for a column whose first rows hardly repeat; None for any other."""
    first = dataset.rows.tally_first(name, FIRST_ROWS)
    expected = dataset.count * float(first.distinct) / max(1, first.rows)
    if first.singletons < first.rows / 2 or expected <= EXACT_VALUES:
        return None
    sample = _sample(dataset, [name], expected, seed)
    if sample.seen < _SAMPLED_VALUES / 20:  # the first rows are not like the others
        return None
    return _estimated([name], sample, dataset.count, sample.missing or 0)


def _by_expectation(
    dataset: Dataset, names: Sequence[str], expected: float, missing: int, seed: int
) -> ColumnSetCounts:
    """Counted where about so many classes are expected that they can be, else estimated."""
    if expected <= EXACT_VALUES:
        return dataset.rows.tally(names)
    return _estimated(names, _sample(dataset, names, expected, seed), dataset.count, missing)


def _sample(dataset: Dataset, names: Sequence[str], expected: float, seed: int) -> SampledClassSizes:
    share = min(1.0, _SAMPLED_VALUES / expected)
    return sample_class_sizes(dataset.rows, names, share, drop_missing=True, seed=seed)


def _estimated(names: Sequence[str], sample: SampledClassSizes, rows: int, missing: int) -> ColumnSetCounts:
    filled = rows - missing
    classes, unique = (_bounded(find(sample), filled) for find in (class_total, singleton_total))
    if sample.seen and int(sample.sizes[-1]) == 1:  # no sampled value repeats: likely none does
        classes, unique = (
            Estimate(filled, estimate.low, filled, estimate.confidence, estimate.method)
            for estimate in (classes, unique)
        )
    ends = (int(sample.sizes[0]), int(sample.sizes[-1])) if sample.seen else (0, 0)
    return ColumnSetCounts(tuple(names), rows, classes, unique, 0, *ends, missing=missing)


def _bounded(number: Number, bound: int) -> Estimate:
    if not isinstance(number, Estimate):
        return Estimate(number, number, number, method="counted in full")
    return number.map(lambda x: min(float(bound), x))


def _from_cells(dataset: Dataset, names: Sequence[str]) -> dict[str, ColumnSetCounts]:
    """The classes of the columns whose cells are needed anyway."""
    needed = (*dataset.quasi_identifiers, *dataset.sensitive)
    if not needed:
        return {}
    try:
        cells = dataset.cells(needed)
    except (InputError, TooLargeError):
        return {}
    cells = replace(cells, missing=MissingValues.VALUE)
    return {name: cells.marginal((name,)).class_counts() for name in names if name in needed}
