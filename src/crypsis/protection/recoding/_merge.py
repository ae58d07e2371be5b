"""Classes that miss the requirements, merged with others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._levels import CellLevels, Floats, Levels, Recoding
from crypsis.protection.recoding.kernels.requirements import which_sound

Ints = NDArray[np.int64]

_CANDIDATES, _ROUNDS = 40, 8
"""How many classes are tried before a class is merged with the nearest one; how often all are."""


def with_merged_classes(
    cells: CellLevels, requirements: ClassRequirements, levels: Levels, again: NDArray[np.bool_]
) -> Levels:
    """Classes that miss the requirements, each merged with the classes that cost the least.

    `again` are the cells of these classes. A class takes in others, by increasing loss, until
    together they meet the requirements; a record that is suppressed stays so.
    """
    merging = _Merging(cells, requirements, levels)
    for number in np.unique(merging.member[again & (levels[:, 0] >= 0)]).tolist():
        merging.merge(number)
    return merging.levels


def compared_with_released(
    cells: CellLevels, requirements: ClassRequirements, found: Recoding
) -> Recoding:
    """The recoding with the classes merged that are too far from the rows which it releases.

    A search compares classes with all rows. No row is suppressed or released here, so that what they
    are compared with stays the same.
    """
    there = found.levels[:, 0] >= 0
    asked, levels = requirements.compared_with(there), found.levels
    every, sensitive = np.arange(cells.counts.size), asked.arrays(cells.counts.size)
    for _ in range(_ROUNDS):
        member = cells.class_of(levels)
        sizes = np.bincount(member, cells.counts).astype(np.int64)
        good = which_sound(every, member, sizes, asked.k, sensitive)
        if good[member[there]].all():
            break
        levels = with_merged_classes(cells, asked, levels, there & ~good[member])
    return cells.recoding(levels)


def merged_from_cells(cells: CellLevels, requirements: ClassRequirements) -> Levels:
    """Cells merged into classes, from the smallest on, each with what costs the least.

    A class takes in others until it meets the requirements. Cost: the square of the cells.
    """
    merging = _Merging(
        cells, requirements, np.zeros((cells.counts.size, cells.tops.size), np.int16)
    )
    every = np.arange(cells.counts.size)
    good = which_sound(every, merging.member, merging.sizes, merging.k, merging.sensitive)
    waiting = set(np.flatnonzero(~good).tolist())
    while waiting and merging.there.sum() > 1:
        number = min(waiting, key=lambda one: int(merging.sizes[one]))
        waiting.discard(merging.merge(number))
        if merging.meets(number):
            waiting.discard(number)
    return merging.levels


class _Merging:
    """Classes of cells, and what it costs to give two of them the same labels."""

    def __init__(self, cells: CellLevels, requirements: ClassRequirements, levels: Levels) -> None:
        self.cells, self.levels, self.k = cells, levels.copy(), requirements.k
        self.sensitive = requirements.arrays(cells.counts.size)
        every = np.arange(cells.counts.size)[:, None]
        labels = cells.codes[cells.lines + np.maximum(levels, 0), every]
        keys = np.ascontiguousarray(np.hstack([levels, labels]))
        _, first, member = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        self.member = member.ravel()
        self.first = first
        self.sizes = np.bincount(self.member, cells.counts).astype(np.int64)
        self.there = levels[first, 0] >= 0

    def merge(self, number: int) -> int:
        """Take another class into one of them: the cheapest with which it meets the requirements.

        If none of the candidates will do it is the nearest; what is still missed is measured later.
        The class that was taken in is returned, -1 if there is none.
        """
        joined, cost = self._joined_levels(number)
        candidates = np.argsort(cost, kind="stable")[:_CANDIDATES]
        candidates = candidates[np.isfinite(cost[candidates])]
        if not candidates.size:
            return -1
        other = next(
            (one for one in candidates.tolist() if self._sound(number, one)), candidates[0]
        )
        self.levels[self._cells(number, other)] = joined[other]
        self.member[self.member == other] = number
        self.sizes[number] += self.sizes[other]
        self.there[other] = False
        return int(other)

    def _cells(self, number: int, other: int) -> Ints:
        """The cells of two classes."""
        return np.flatnonzero((self.member == number) | (self.member == other))

    def meets(self, number: int) -> bool:
        """Whether a class meets the requirements."""
        return self._sound(number, number)

    def _sound(self, number: int, other: int) -> bool:
        """Whether two classes together meet the requirements."""
        some = self._cells(number, other)
        total = np.array([self.cells.counts[some].sum()])
        return bool(which_sound(some, np.zeros_like(some), total, self.k, self.sensitive)[0])

    def _joined_levels(self, number: int) -> tuple[Levels, Floats]:
        """For every class the levels on which it has the labels of this one, and their cost."""
        cells, first = self.cells, self.first
        own = first[number]
        joined = np.maximum(self.levels[first], self.levels[own])
        mine, theirs = np.zeros(first.size), np.zeros(first.size)
        for c in range(cells.tops.size):
            line = int(cells.lines[c])
            level = joined[:, c].astype(np.int64)
            for _ in range(int(cells.tops[c])):
                apart = cells.codes[line + level, first] != cells.codes[line + level, own]
                level = np.where(apart & (level < cells.tops[c]), level + 1, level)
            joined[:, c] = level
            before = cells.loss[line + np.maximum(self.levels[first, c], 0), first]
            theirs += cells.loss[line + level, first] - before
            mine += cells.loss[line + level, own] - cells.loss[line + self.levels[own, c], own]
        cost = mine * self.sizes[number] + theirs * self.sizes
        cost[~self.there] = np.inf
        cost[number] = np.inf
        return joined.astype(np.int16), cost
