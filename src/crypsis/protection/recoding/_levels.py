"""Generalization levels: the labels and the information loss of each value, column and cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from crypsis.array_types import Codes, Flags, Floats, Ints, Levels
from crypsis.counting.grouping import group, group_keys
from crypsis.counting.kernels.keys import group_totals, keys_of
from crypsis.protection.recoding._steps import HierarchyLevel, Intervals, Step, Suppress

_MIN_WEIGHT_SHARE = 1e-3
"""The least weight of a column, of the average: without any it would be generalized without need."""
_KEY_BITS = 62
"""The labels of a cell are one number if they fit into so many bits; else they are numbered one by one."""


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """The levels of a column, from what is released now (0) up to missing (the last).

    `codes[l][j]` is the place in `labels[l]` of value j on level l; `loss[l][j]` is its information
    loss there, 0 for the value itself and 1 for missing.
    """

    name: str
    labels: tuple[tuple[Any, ...], ...]
    codes: Codes
    loss: Floats
    keep: int | None = None
    """The coarsest level that is allowed; any if None."""

    @property
    def limit(self) -> int:
        """The coarsest level that is allowed."""
        return self.top if self.keep is None else min(self.keep, self.top)

    @property
    def top(self) -> int:
        """The level on which every value is missing."""
        return len(self.labels) - 1

    def average_loss(self, rows: Ints) -> Floats:
        """The average loss of each level over the rows; `rows` has the number of each value."""
        return np.asarray((self.loss * rows).sum(axis=1) / max(1, int(rows.sum())))


def column_levels(
    name: str,
    values: Sequence[Any],
    base: Step,
    coarser: Sequence[Step],
    originals: Sequence[Any] | None = None,
    keep: int | None = None,
) -> ColumnLevels:
    """The levels above a column that `base` was applied to; `values` are its values now.

    `originals` are the values before, from which the loss is counted; by default those that the
    values now represent. `keep` is the coarsest level that is allowed.

    Information loss is NCP (Xu et al. 2006): for a label of a hierarchy the share of the
    hierarchy's values below it, for an interval the share of the range, otherwise the share of the
    values that occur; 0 for a label with a single value.
    """
    raws = [None if value is None else base.raw_value(value) for value in values]
    levels: list[list[Any]] = [list(values)]
    before = dict.fromkeys(v for v in (raws if originals is None else originals) if v is not None)
    losses = [_loss(base, raws, levels[0], before)]
    for step in coarser:
        if isinstance(step, Suppress):
            continue
        labels = [None if value is None else step.label(value) for value in raws]
        levels.append(labels)
        losses.append(np.maximum(_loss(step, raws, labels, before), losses[-1]))
    levels.append([None] * len(values))
    present = np.array([value is not None for value in values], float)
    losses.append(present)
    coded = [_code(level) for level in levels]
    return ColumnLevels(
        name,
        tuple(labels for _, labels in coded),
        np.array([codes for codes, _ in coded], np.int32).reshape(len(levels), len(values)),
        np.array(losses).reshape(len(levels), len(values)) * present,
        keep,
    )


def _code(labels: Sequence[Any]) -> tuple[list[int], tuple[Any, ...]]:
    places: dict[Any, int] = {}
    codes = [places.setdefault(label, len(places)) for label in labels]
    return codes, tuple(places)


def _loss(step: Step, raws: Sequence[Any], labels: Sequence[Any], originals: Collection[Any]) -> Floats:
    """The loss of each label; `originals` are the values before, each once."""
    if isinstance(step, HierarchyLevel):
        total = sum(map(len, step.groups.values()))
        share = {label: _share(len(values), total) for label, values in step.groups.items()}
        return np.array([share.get(label, 0.0) for label in labels])
    if isinstance(step, Intervals):
        return _interval_loss(step, raws, originals)
    sizes = Counter(map(step.label, originals))
    return np.array([_share(sizes[label], len(originals)) for label in labels])


def _share(part: int, total: int) -> float:
    return 0.0 if part <= 1 else part / total


def _interval_loss(step: Intervals, raws: Sequence[Any], originals: Collection[Any]) -> Floats:
    numbers = [float(value) for value in originals]
    if not numbers or not step.upper:
        return np.ones(len(raws))
    edges = np.array([min(*numbers, step.upper[0]), *step.upper, max(*numbers, step.upper[-1])])
    edges = np.clip(
        edges, -np.finfo(float).max / 4, np.finfo(float).max / 4
    )  # so that infinities have a width
    widths = np.diff(edges) / max(edges[-1] - edges[0], np.finfo(float).tiny)
    if len(widths) > 1:
        # The extremes are not shown, so the first and last are at least as wide as their neighbors.
        widths[0], widths[-1] = max(widths[0], widths[1]), max(widths[-1], widths[-2])
    places = np.searchsorted(step.upper, [np.nan if v is None else float(v) for v in raws])
    return np.asarray(widths[np.minimum(places, widths.size - 1)])


@dataclass(frozen=True, eq=False)
class CellLevels:
    """Cells on the levels of their columns: `places[c][j]` is the value of cell j in column c."""

    columns: tuple[ColumnLevels, ...]
    places: tuple[Codes, ...]
    counts: Ints

    @cached_property
    def codes(self) -> Codes:
        """The label of every cell on every level of every column, one line each."""
        pairs = zip(self.columns, self.places, strict=True)
        return np.concatenate([column.codes.take(positions, axis=1) for column, positions in pairs])

    @cached_property
    def loss(self) -> Floats:
        """The information loss of those labels, one line each."""
        pairs = zip(self.columns, self.places, strict=True)
        return np.concatenate([column.loss.take(positions, axis=1) for column, positions in pairs])

    @cached_property
    def lines(self) -> Ints:
        """The first line of each column."""
        return np.cumsum([0, *(column.top + 1 for column in self.columns)])[:-1]

    @cached_property
    def tops(self) -> Ints:
        """The highest level of each column, on which it is missing."""
        return np.array([column.top for column in self.columns], np.int64)

    @cached_property
    def limits(self) -> Ints:
        """The coarsest level of each column that is allowed."""
        return np.array([column.limit for column in self.columns], np.int64)

    @cached_property
    def limited(self) -> bool:
        """Whether a column may not be generalized to the top of its hierarchy."""
        return bool((self.limits < self.tops).any())

    @cached_property
    def there(self) -> Flags:
        """Whether each cell has a value in each column that could be suppressed."""
        return np.asarray(self.loss[self.lines + self.tops].T > 0)

    def weighted(self, weights: Sequence[float]) -> CellLevels:
        """The same with the losses of each column times its weight, over their average.

        A column of weight 0 still has a little, so that it is not generalized without need.
        """
        mean = sum(weights) / len(weights) or 1.0
        weights = [max(weight, _MIN_WEIGHT_SHARE * mean) for weight in weights]
        mean = sum(weights) / len(weights)
        pairs = zip(self.columns, weights, strict=True)
        columns = tuple(replace(column, loss=column.loss * (weight / mean)) for column, weight in pairs)
        return CellLevels(columns, self.places, self.counts)

    def classes(self, vector: Sequence[int]) -> tuple[Ints, Ints]:
        """Cells with equal labels on these levels: the class of each, the rows of each class."""
        domains = [len(column.labels[i]) for column, i in zip(self.columns, vector, strict=True)]
        lines = self.lines + np.array(vector)
        bits = np.array([(domain - 1).bit_length() for domain in domains])
        if bits.sum() > _KEY_BITS:  # too many for one number: number them column by column
            keys, _ = group_keys(tuple(self.codes[lines]), tuple(domains))
        else:
            keys = keys_of(self.codes, lines[bits > 0], bits[bits > 0])
        totals: tuple[Ints, Ints] = group_totals(keys, self.counts)
        return totals

    def losses(self) -> list[Floats]:
        """The average loss of each level of each column."""
        return [
            column.average_loss(np.bincount(positions, self.counts, column.codes.shape[1]).astype(np.int64))
            for column, positions in zip(self.columns, self.places, strict=True)
        ]

    def recoding(self, levels: Levels) -> Recoding:
        """Every cell on these levels, and the information loss.

        Records that would have a value on a level that is not allowed are suppressed instead.
        """
        if self.limited:
            beyond = ((levels > self.limits) & self.there).any(axis=1)
            classes = self.class_of(levels)  # the rest of a class would be too small
            beyond = np.isin(classes, classes[beyond])
            levels = np.where(beyond[:, None], np.int16(-1), levels)
        out = levels[:, 0] < 0
        at = self.lines + np.maximum(levels, 0)
        lost = self.loss[at, np.arange(self.counts.size)[:, None]].sum(axis=1)
        lost[out] = self.tops.size
        starred = (levels == self.tops) & self.there & ~out[:, None]
        kept = ~out[:, None] & ~starred & self.there
        gone = ~kept.any(axis=0) & self.there.any(axis=0)
        # A record is suppressed as a whole where no column that others still have is left of it.
        left = self.there & ~gone
        empty = ~out & left.any(axis=1) & (starred | ~left).all(axis=1)
        counts = self.counts
        rows = max(1, int(counts.sum()))
        return Recoding(
            levels,
            float((lost * counts).sum() / (rows * self.tops.size)),
            int(counts[out].sum()),
            int((starred.sum(axis=1) * counts).sum()),
            int(counts[starred.any(axis=1)].sum()),
            int(counts[((levels > 0) & self.there).any(axis=1) & ~out].sum()),
            tuple(column.name for column, none in zip(self.columns, gone, strict=True) if none),
            tuple(self._rows_on(levels, c) for c in range(self.tops.size)),
            int(counts[empty].sum()),
        )

    def class_of(self, levels: Levels) -> Ints:
        """The class of each cell: cells on the same levels with the same labels."""
        return self.grouped(levels)[1]

    def grouped(self, levels: Levels) -> tuple[Ints, Ints]:
        """A cell of each class and the class of each cell."""
        keys, domains = [], []
        for c, column in enumerate(self.columns):
            # The labels of all levels, and once more those of the lowest for suppressed records.
            starts = np.cumsum([0, *map(len, column.labels)])
            codes = column.codes[np.maximum(levels[:, c], 0), self.places[c]]
            keys.append(starts[levels[:, c]] + codes)
            domains.append(int(starts[-1]) + len(column.labels[0]))
        return group(tuple(keys), tuple(domains))

    def _rows_on(self, levels: Levels, c: int) -> tuple[int, ...]:
        """The number of released rows with a value in a column, on each of its levels."""
        here = (levels[:, c] >= 0) & self.there[:, c]
        rows = np.bincount(levels[here, c], self.counts[here], int(self.tops[c]) + 1)
        return tuple(rows.astype(np.int64).tolist())

    def labels(self, levels: Levels) -> list[tuple[list[Any], Ints]]:
        """For each column all its labels, and the place among them of each cell's label."""
        labeled = []
        for c, column in enumerate(self.columns):
            level = np.maximum(levels[:, c], 0).astype(np.int64)
            starts = np.cumsum([0, *map(len, column.labels)])
            codes = column.codes[level, self.places[c]].astype(np.int64)
            all_labels = [label for labels in column.labels for label in labels]
            labeled.append((all_labels, np.asarray(starts[level] + codes, np.int64)))
        return labeled


@dataclass(frozen=True, eq=False)
class Recoding:
    """The level of each cell in each column; -1 in all of them where its records are suppressed."""

    levels: Levels
    ncp: float
    """Information loss averaged over rows and columns; suppressed records count in full."""
    suppressed_records: int
    suppressed_values: int
    records_with_suppressed_values: int
    generalized_records: int
    fully_generalized_columns: tuple[str, ...] = ()
    """Columns that are generalized fully in every row: on the top level, which is missing."""
    rows_on: tuple[tuple[int, ...], ...] = ()
    """For each column the number of rows on each of its levels."""
    emptied_records: int = 0
    """Records that are released without any value that others have."""
    preserved: Mapping[str, float] = field(default_factory=dict)
    """The share of the information for each purpose that is left."""

    @property
    def rows_touched(self) -> int:
        """Rows that count against the suppression budget: removed, or suppressed as a whole."""
        return self.suppressed_records + self.emptied_records

    @property
    def changes(self) -> bool:
        """Whether any cell is generalized or suppressed."""
        return bool((self.levels != 0).any())
