"""Distributions before and after: one column, two columns, and what each column lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from crypsis.cells import Cells
from crypsis.engine.base import Kind
from crypsis.errors import unknown_columns
from crypsis.release import Release, as_release
from crypsis.results import Result

_MOST_COMPARED = 100_000


@dataclass(frozen=True)
class ColumnLoss(Result):
    """What one column lost."""

    column: str
    values_before: int
    values_after: int
    missing_before: int
    missing_after: int
    distance: float | None
    """Total variation between the two distributions; None where no value is the same any more, or
    where there are too many to compare."""
    entropy_before_bits: float | None
    entropy_after_bits: float | None


@dataclass(frozen=True)
class PairLoss(Result):
    """How far the joint distribution of two columns moved."""

    columns: tuple[str, str]
    distance: float


@dataclass(frozen=True)
class Lost(Result):
    """What was lost, column by column."""

    rows_before: int
    rows_after: int
    columns: tuple[ColumnLoss, ...]
    removed: tuple[str, ...]


def lost(original: Any, released: Any, columns: Sequence[str] | None = None) -> Lost:
    """A table of what each column (or each of some) lost; columns that are gone are named.

    Missing values count as one value. Where a column is told in other words than before (intervals,
    prefixes), the distance is None and the entropies say what was lost. Columns of more than
    100,000 values are only counted.
    """
    first, second = as_release(original), as_release(released)
    names = [name for name in second.names if name in first.names]
    asked = names if columns is None else [name for name in names if name in columns]
    return Lost(
        first.count,
        second.count,
        tuple(_column(first, second, name) for name in asked if _plain(first, second, name)),
        tuple(name for name in first.names if name not in names),
    )


def marginal_distance(original: Any, released: Any, column: str) -> float:
    """Total variation between a column's distributions: half the sum of differences in share."""
    first, second = as_release(original), as_release(released)
    return _distance(first, second, [column])


def pairwise_distances(
    original: Any, released: Any, columns: Sequence[str] | None = None
) -> tuple[PairLoss, ...]:
    """Total variation between the joint distributions of every two columns, worst first."""
    first, second = as_release(original), as_release(released)
    names = [name for name in first.names if name in second.names] if columns is None else columns
    for side in (first, second):
        unknown = [name for name in names if name not in side.names]
        if unknown:
            raise unknown_columns(unknown, side.names)
    pairs = [PairLoss((a, b), _distance(first, second, [a, b])) for a, b in combinations(names, 2)]
    return tuple(sorted(pairs, key=lambda pair: -pair.distance))


def _plain(first: Release, second: Release, name: str) -> bool:
    kinds = {side.rows.column(name).kind for side in (first, second)}
    return Kind.NESTED not in kinds


def _column(first: Release, second: Release, name: str) -> ColumnLoss:
    tallies = first.rows.tally([name]), second.rows.tally([name])
    if max(tally.distinct for tally in tallies) > _MOST_COMPARED:
        counts = [tally.distinct - (tally.missing > 0) for tally in tallies]
        missing = [tally.missing for tally in tallies]
        return ColumnLoss(name, counts[0], counts[1], missing[0], missing[1], None, None, None)
    before, after = first.cells([name]), second.cells([name])
    shared = set(_tuples(before)) & set(_tuples(after))
    return ColumnLoss(
        name,
        _values(before),
        _values(after),
        _missing(before),
        _missing(after),
        _between(before, after) if shared or not len(after) else None,
        before.entropy_bits(),
        after.entropy_bits(),
    )


def _distance(first: Release, second: Release, names: list[str]) -> float:
    return _between(first.cells(names), second.cells(names))


def _between(before: Cells, after: Cells) -> float:
    one, two = _tuples(before), _tuples(after)
    whole, other = max(1, sum(one.values())), max(1, sum(two.values()))
    gaps = (abs(one.get(v, 0) / whole - two.get(v, 0) / other) for v in one.keys() | two.keys())
    return float(sum(gaps) / 2)


def _tuples(cells: Cells) -> dict[tuple[Any, ...], int]:
    values = [value.to_pylist() for value in cells.values]
    columns = [
        [known[code] for code in codes.tolist()]
        for known, codes in zip(values, cells.codes, strict=True)
    ]
    return dict(zip(zip(*columns, strict=True), cells.counts.tolist(), strict=True))


def _values(cells: Cells) -> int:
    return int(len(cells.values[0]) - cells.values[0].null_count)


def _missing(cells: Cells) -> int:
    if not cells.values[0].null_count:
        return 0
    return int(cells.counts[cells.codes[0] == len(cells.values[0]) - 1].sum())
