"""Cells on their ladders, and where each of them goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.anonymize._demands import groups_of
from crypsis.anonymize._ladder import Ladder, node_losses
from crypsis.anonymize.kernels import crowds

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Levels = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Table:
    """Cells as places in ladders: `places[c][j]` is the value of cell j in column c."""

    ladders: tuple[Ladder, ...]
    places: tuple[Codes, ...]
    counts: Ints

    @cached_property
    def codes(self) -> Codes:
        """What every cell becomes on every level of every column, one line each."""
        pairs = zip(self.ladders, self.places, strict=True)
        return np.concatenate([one.codes[:, place] for one, place in pairs])

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """What that loses, one line each."""
        pairs = zip(self.ladders, self.places, strict=True)
        return np.concatenate([one.loss[:, place] for one, place in pairs])

    @cached_property
    def lines(self) -> Ints:
        """The first line of each column."""
        return np.cumsum([0, *(one.top + 1 for one in self.ladders)])[:-1]

    @cached_property
    def tops(self) -> Ints:
        """The highest level of each column, on which it is missing."""
        return np.array([one.top for one in self.ladders], np.int64)

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Cell by cell and column by column, whether something is there that could be lost."""
        return np.asarray(self.loss[self.lines + self.tops].T > 0)

    def weighed(self, weights: Sequence[float]) -> Table:
        """The same with the losses of each column times its weight, over their average."""
        mean = sum(weights) / len(weights)
        pairs = zip(self.ladders, weights, strict=True)
        ladders = tuple(replace(one, loss=one.loss * (weight / mean)) for one, weight in pairs)
        return Table(ladders, self.places, self.counts)

    def groups(self, vector: Sequence[int], cells: Ints) -> tuple[Ints, Ints]:
        """Cells that are told alike on these levels: the group of each, the rows of each group."""
        names = zip(self.ladders, vector, strict=True)
        domains = [len(one.labels[level]) for one, level in names]
        lines = self.lines + np.array(vector)
        counts = self.counts[cells]
        if math.prod(domains) >= 2**62:  # too many for one number: number them column by column
            return groups_of([self.codes[line][cells] for line in lines], domains, counts)
        keys = crowds.keys_at(self.codes, lines, np.array(domains), cells)
        found: tuple[Ints, Ints] = crowds.group_totals(keys, counts)
        return found

    def losses(self) -> list[NDArray[np.float64]]:
        """The average loss of each level of each column."""
        weights = [
            np.bincount(place, self.counts, one.codes.shape[1]).astype(np.int64)
            for one, place in zip(self.ladders, self.places, strict=True)
        ]
        return node_losses(self.ladders, weights)

    def summary(self, levels: Levels) -> Repair:
        """What it costs to tell every cell on these levels."""
        out = levels[:, 0] < 0
        at = self.lines + np.maximum(levels, 0)
        lost = self.loss[at, np.arange(self.counts.size)[:, None]].sum(axis=1)
        lost[out] = self.tops.size
        # A column that nobody keeps is told to be empty; it names no row.
        starred = (levels == self.tops) & self.there
        kept = ~out[:, None] & ~starred & self.there
        emptied = ~kept.any(axis=0) & self.there.any(axis=0)
        starred &= ~emptied
        counts = self.counts
        rows = max(1, int(counts.sum()))
        return Repair(
            levels,
            float((lost * counts).sum() / (rows * self.tops.size)),
            int(counts[out].sum()),
            int((starred.sum(axis=1) * counts).sum()),
            int(counts[starred.any(axis=1)].sum()),
            int(counts[((levels > 0) & ~emptied).any(axis=1) & ~out].sum()),
            tuple(one.name for one, gone in zip(self.ladders, emptied, strict=True) if gone),
            tuple(self._rows_on(levels, c) for c in range(self.tops.size)),
        )

    def _rows_on(self, levels: Levels, c: int) -> tuple[int, ...]:
        """How many released rows that have a value in a column are told on each of its levels."""
        here = (levels[:, c] >= 0) & self.there[:, c]
        rows = np.bincount(levels[here, c], self.counts[here], int(self.tops[c]) + 1)
        return tuple(rows.astype(np.int64).tolist())

    def labels(self, levels: Levels) -> list[tuple[list[Any], Ints]]:
        """For each column all its labels, and the place among them of what each cell is told as."""
        named = []
        for c, one in enumerate(self.ladders):
            level = np.maximum(levels[:, c], 0).astype(np.int64)
            starts = np.cumsum([0, *map(len, one.labels)])
            codes = one.codes[level, self.places[c]].astype(np.int64)
            every = [label for labels in one.labels for label in labels]
            named.append((every, np.asarray(starts[level] + codes, np.int64)))
        return named


@dataclass(frozen=True, eq=False)
class Repair:
    """Where each cell goes: a level a column, or -1 in all of them where it is left out."""

    levels: Levels
    loss: float
    """NCP: the average share of variety lost over rows and columns; rows left out count in full."""
    rows_suppressed: int
    cells_suppressed: int
    rows_with_suppressed_cells: int
    rows_generalized: int
    emptied: tuple[str, ...] = ()
    """Columns that are missing in every row."""
    rows_on: tuple[tuple[int, ...], ...] = ()
    """For each column how many rows are told on each of its levels."""

    @property
    def rows_touched(self) -> int:
        """Rows that count against the suppression budget."""
        return self.rows_suppressed + self.rows_with_suppressed_cells


def table_of(ladders: Sequence[Ladder], places: Sequence[Codes], counts: Ints) -> Table:
    """Ladders and cells together."""
    return Table(tuple(ladders), tuple(places), np.asarray(counts, np.int64))
