"""Classes that miss the requirements, merged with others."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Flags, Floats, Levels
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding.kernels.requirements import which_sound

_MAX_CANDIDATE_CLASSES = 40
"""So many classes, the cheapest, are tried before a class is merged with the nearest one."""
_MAX_ROUNDS = 8
"""How often all classes are gone through."""


def with_merged_classes(
    cells: CellLevels, requirements: ClassRequirements, levels: Levels, again: Flags
) -> Levels:
    """Classes that miss the requirements, each merged with the classes that cost the least.

    `again` are the cells of these classes. A class takes in the cheapest other with which it meets the
    requirements, or as many with its labels as that needs; a record that is suppressed stays so.
    """
    merging = _Merging(cells, requirements, levels)
    for number in np.unique(merging.member[again & (levels[:, 0] >= 0)]).tolist():
        if merging.there[number]:  # not taken in by another meanwhile
            merging.merge(number, several=True)
    return merging.levels


def compared_with_released(
    cells: CellLevels, requirements: ClassRequirements, recoding: Recoding
) -> Recoding:
    """The recoding with the classes merged that are too far from the rows which it releases.

    A search compares classes with all rows. No row is suppressed or released here, so that what they
    are compared with stays the same.
    """
    released = recoding.levels[:, 0] >= 0
    compared, levels = requirements.compared_with(released), recoding.levels
    all_cells, sensitive = np.arange(cells.counts.size), compared.arrays(cells.counts.size)
    for _ in range(_MAX_ROUNDS):
        member = cells.class_of(levels)
        sizes = np.bincount(member, cells.counts).astype(np.int64)
        good = which_sound(all_cells, member, sizes, compared.k, sensitive)
        if good[member[released]].all():
            break
        levels = with_merged_classes(cells, compared, levels, released & ~good[member])
    return cells.recoding(levels)


def merged_from_cells(cells: CellLevels, requirements: ClassRequirements) -> Levels:
    """Cells merged into classes, from the smallest on, each with what costs the least.

    A class takes in others until it meets the requirements. Cost: the square of the cells.
    """
    merging = _Merging(cells, requirements, np.zeros((cells.counts.size, cells.tops.size), np.int16))
    all_cells = np.arange(cells.counts.size)
    good = which_sound(all_cells, merging.member, merging.sizes, merging.k, merging.sensitive)
    waiting = set(np.flatnonzero(~good).tolist())
    while waiting and merging.there.sum() > 1:
        number = min(waiting, key=lambda candidate: int(merging.sizes[candidate]))
        waiting.difference_update(merging.merge(number))
        if merging.meets(number):
            waiting.discard(number)
    return merging.levels


class _Merging:
    """Classes of cells, and what it costs to give two of them the same labels."""

    def __init__(self, cells: CellLevels, requirements: ClassRequirements, levels: Levels) -> None:
        self.cells, self.levels, self.k = cells, levels.copy(), requirements.k
        self.sensitive = requirements.arrays(cells.counts.size)
        self.first, self.member = cells.grouped(levels)  # before any is merged
        self.sizes = np.bincount(self.member, cells.counts).astype(np.int64)
        self.there = levels[self.first, 0] >= 0
        order = np.argsort(self.member, kind="stable")
        self.members = np.split(order, np.cumsum(np.bincount(self.member))[:-1])

    def merge(self, number: int, *, several: bool = False) -> list[int]:
        """Take another class into one of them: the cheapest with which it meets the requirements.

        If none of the candidates will do, `several` takes in as many as it needs, if there are so
        many; otherwise it is the nearest, and what is still missed is measured later. The classes that
        were taken in are returned.
        """
        joined, cost = self._joined_levels(number)
        cheapest = np.argsort(cost, kind="stable")[:_MAX_CANDIDATE_CLASSES]
        candidates = cheapest[np.isfinite(cost[cheapest])].tolist()
        enough = next(([candidate] for candidate in candidates if self._sound(number, candidate)), [])
        if not enough and several:
            enough = self._enough(number, joined, cost)
        taken = enough or candidates[:1]
        for absorbed in taken:
            self.members[number] = np.concatenate([self.members[number], self.members[absorbed]])
            self.levels[self.members[number]] = joined[absorbed]
            self.sizes[number] += self.sizes[absorbed]
            self.there[absorbed] = False
        return taken

    def _enough(self, number: int, joined: Levels, cost: Floats) -> list[int]:
        """About the fewest classes within the labels of one with which it meets the requirements.

        The least loss of a record comes first. Nothing if all of them are not enough.
        """
        within = np.isfinite(cost) & (joined == self.levels[self.first[number]]).all(axis=1)
        order = np.argsort(np.where(within, cost / np.maximum(self.sizes, 1), np.inf), kind="stable")
        low, high = 1, int(within.sum())
        if not high or not self._sound(number, *order[:high]):
            return []
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._sound(number, *order[:middle]) else (middle + 1, high)
        return [int(number) for number in order[:high]]

    def meets(self, number: int) -> bool:
        """Whether a class meets the requirements."""
        return self._sound(number)

    def _sound(self, *numbers: int) -> bool:
        """Whether some classes together meet the requirements."""
        members = np.concatenate([self.members[number] for number in numbers])
        total = np.array([self.cells.counts[members].sum()])
        return bool(which_sound(members, np.zeros_like(members), total, self.k, self.sensitive)[0])

    def _joined_levels(self, number: int) -> tuple[Levels, Floats]:
        """For every class the levels on which it has the labels of this one, and their cost."""
        cells, first = self.cells, self.first
        example = first[number]
        joined = np.maximum(self.levels[first], self.levels[example])
        mine, theirs = np.zeros(first.size), np.zeros(first.size)
        for c in range(cells.tops.size):
            line = int(cells.lines[c])
            level = joined[:, c].astype(np.int64)
            unequal = np.arange(first.size)
            while unequal.size:  # at the top all are missing
                here = line + level[unequal]
                unequal = unequal[cells.codes[here, first[unequal]] != cells.codes[here, example]]
                level[unequal] += 1
            joined[:, c] = level
            before = cells.loss[line + np.maximum(self.levels[first, c], 0), first]
            theirs += cells.loss[line + level, first] - before
            mine += cells.loss[line + level, example] - cells.loss[line + self.levels[example, c], example]
        cost = mine * self.sizes[number] + theirs * self.sizes
        cost[~self.there] = np.inf
        cost[number] = np.inf
        return joined.astype(np.int16), cost
