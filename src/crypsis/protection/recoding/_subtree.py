"""Full-subtree recoding: one cut through the hierarchy of each column, the same for all records.

Values that share a parent are generalized to it together (Iyengar 2002), so the labels of a column do
not overlap, and it can be tabulated; but rare values may be coarser than frequent ones. Levels that
are the same for all values (full-domain recoding) are such a cut. The search starts there, at the top
and at a cut from the bottom up. It replaces a label by those below it (specialization, Fung, Wang and
Yu 2005) or labels by the one above them, the largest gain first, while that lowers the loss. Records
in classes that miss the requirements are suppressed, within the budget.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.array_types import Flags, Floats, Ints, Levels
from crypsis.counting.grouping import numbered
from crypsis.errors import RequirementsNotMetError
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._deadline import passed
from crypsis.protection.recoding._full_domain import full_domain_recoding
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding._local_search import nested
from crypsis.protection.recoding.kernels.requirements import which_sound

_MAX_ROUNDS = 6
"""How often all labels are tried again, after those that were tried have all been moved."""
_MAX_REGROUPED_CELLS = 15_000_000
"""About so many cells the way from the bottom up regroups; it ends where it has."""
_CELLS_PER_MOVE = 1_500
"""A move counts for so many cells more than those that it regroups."""


def subtree_recoding(cells: CellLevels, requirements: ClassRequirements, budget_rows: int) -> Recoding:
    """The levels of one cut for each column, with little information loss.

    It is never more than that of the best full-domain levels.
    """
    best = full_domain_recoding(cells, requirements, budget_rows)
    recodings = [best]
    with progress.step("searching cuts") as step:
        for cut in _starts(cells, requirements, budget_rows, best):
            if passed():
                break
            if cut.suppressed <= budget_rows:
                cut.improve()
                recodings.append(cells.recoding(cut.released()))
            step.advance()
    return min(recodings, key=lambda recoding: recoding.ncp)


def _starts(
    cells: CellLevels, requirements: ClassRequirements, budget: int, best: Recoding
) -> Iterator[_Cut]:
    """Cuts that the search begins with: full-domain levels, the top, and from the bottom up."""
    yield _Cut(cells, requirements, budget, best.levels.max(axis=0))
    with suppress(RequirementsNotMetError):  # so that moves may still suppress records
        full_domain = full_domain_recoding(cells, requirements, budget // 3)
        yield _Cut(cells, requirements, budget, full_domain.levels.max(axis=0))
    yield _Cut(cells, requirements, budget, cells.limits)
    lowest = _Cut(cells, requirements, budget, np.zeros_like(cells.tops))
    lowest.generalize()
    yield lowest


@dataclass(frozen=True)
class _Move:
    """The labels of a column in some cells, replaced by those of another level."""

    column: int
    level: int
    cells: Ints


@dataclass(frozen=True)
class _Outcome:
    """What a move saves, and the cells as they are after it."""

    gain: float
    suppressed: int
    keys: NDArray[np.uint64]
    loss: Floats
    good: Flags


class _Cut:
    """Every cell on the cut of each column: its labels, its class, whether it is released."""

    def __init__(
        self, cells: CellLevels, requirements: ClassRequirements, budget: int, levels: NDArray[Any]
    ) -> None:
        self.released_cells = cells.counts.size
        self.cells = cells = requirements.wider(cells)
        self.k, self.budget = requirements.k, budget
        self.sensitive = requirements.arrays(cells.counts.size)
        self.every = np.arange(cells.counts.size)
        # A random number for each label; those of a cell, summed up, stand for its class.
        lines, widest = cells.codes.shape[0], int(cells.codes.max()) + 1
        self.marks = np.random.default_rng(0).integers(2**64, size=(lines, widest), dtype=np.uint64)
        self.levels = np.tile(levels.astype(np.int64), (cells.counts.size, 1))
        at = cells.lines + self.levels
        self.keys = self.marks[at, cells.codes[at, self.every[:, None]]].sum(axis=1)
        self.loss = cells.loss[at, self.every[:, None]].sum(axis=1)
        self.good = self._good(self.every, self.keys)
        self.nested = [c for c, column in enumerate(cells.columns) if nested(column)]

    @property
    def suppressed(self) -> int:
        """The records in classes that miss the requirements."""
        return int(self.cells.counts[~self.good].sum())

    def released(self) -> Levels:
        """The levels of each cell of the release; -1 where it is suppressed."""
        levels = np.where(self.good[:, None], self.levels, -1).astype(np.int16)
        return levels[: self.released_cells]

    def improve(self) -> None:
        """Make moves, the largest gain first, until none lowers the loss."""
        for _ in range(_MAX_ROUNDS):
            heap: list[tuple[float, int, _Move]] = []
            number = 0
            for move in self._moves(range(self.cells.tops.size), self.every):
                outcome = self._outcome(move)
                if outcome.gain > 0:
                    heap.append((-outcome.gain, number, move))
                    number += 1
            if not heap:
                return
            heapq.heapify(heap)
            while heap:
                if passed():
                    return
                _, _, move = heapq.heappop(heap)
                if not self._still_valid(move):
                    continue
                outcome = self._outcome(move)
                if outcome.gain <= 0:
                    continue
                if heap and outcome.gain < -heap[0][0]:
                    heapq.heappush(heap, (-outcome.gain, number, move))
                    number += 1
                    continue
                self._make(move, outcome)
                for next_move in self._moves([move.column], move.cells):
                    later = self._outcome(next_move)
                    if later.gain > 0:
                        heapq.heappush(heap, (-later.gain, number, next_move))
                        number += 1

    def generalize(self) -> None:
        """Replace labels by the one above them until few enough records are suppressed.

        The first is the one that releases the most records for its loss.
        """
        work = _MAX_REGROUPED_CELLS
        while self.suppressed > self.budget and work > 0 and not passed():
            best: tuple[float, _Move, _Outcome] | None = None
            for move in self._moves(range(self.cells.tops.size), self.every):
                if move.level <= self.levels[move.cells, move.column].max():
                    continue
                outcome = self._outcome(move)
                lost = (outcome.loss - self.loss[move.cells]) @ self.cells.counts[move.cells]
                worth = (self.suppressed - outcome.suppressed + 1e-3) / (float(lost) + 1e-9)
                work -= move.cells.size + _CELLS_PER_MOVE
                if best is None or worth > best[0]:
                    best = worth, move, outcome
            if best is None:
                break
            self._make(*best[1:])

    def _moves(self, columns: Iterable[int], moved: Ints) -> Iterator[_Move]:
        """Each label of these cells one level lower, and each parent of them."""
        for c in columns:
            if c not in self.nested:
                continue
            line, levels = int(self.cells.lines[c]), self.levels[:, c]
            for level in np.unique(levels[moved]).tolist():
                codes = self.cells.codes[line + level]
                here = levels == level
                if level > 0:
                    for label in np.unique(codes[moved][here[moved]]).tolist():
                        yield _Move(c, level - 1, np.flatnonzero(here & (codes == label)))
                if level < self.cells.limits[c]:
                    above = self.cells.codes[line + level + 1]
                    for label in np.unique(above[moved][here[moved]]).tolist():
                        inside = (above == label) & (levels <= level)
                        yield _Move(c, level + 1, np.flatnonzero(inside))

    def _still_valid(self, move: _Move) -> bool:
        """Whether the cells of a move still have the labels that it replaces."""
        line, levels = int(self.cells.lines[move.column]), self.levels[move.cells, move.column]
        if levels.min() == levels.max() == move.level + 1:
            return True
        if levels.max() >= move.level:
            return False
        above = self.cells.codes[line + move.level]
        return int((above == above[move.cells[0]]).sum()) == move.cells.size

    def _outcome(self, move: _Move) -> _Outcome:
        cells, moved, c = self.cells, move.cells, move.column
        before = int(cells.lines[c]) + self.levels[moved, c]
        after = int(cells.lines[c]) + move.level
        keys = self.keys[moved] - self.marks[before, cells.codes[before, moved]]
        keys += self.marks[after, cells.codes[after, moved]]
        loss = self.loss[moved] - cells.loss[before, moved] + cells.loss[after, moved]
        good = self._good(moved, keys)
        counts, whole = cells.counts[moved], float(cells.tops.size)
        then = np.where(good, loss, whole) * counts
        now = np.where(self.good[moved], self.loss[moved], whole) * counts
        suppressed = self.suppressed + int(counts[self.good[moved]].sum() - counts[good].sum())
        gain = float(now.sum() - then.sum()) if suppressed <= self.budget else 0.0
        return _Outcome(gain if gain > 1e-9 else 0.0, suppressed, keys, loss, good)

    def _make(self, move: _Move, outcome: _Outcome) -> None:
        cells = move.cells
        self.levels[cells, move.column] = move.level
        self.keys[cells], self.loss[cells], self.good[cells] = (outcome.keys, outcome.loss, outcome.good)

    def _good(self, moved: Ints, keys: NDArray[np.uint64]) -> Flags:
        """Which of these cells, which are whole classes, are in classes that meet everything."""
        inside = numbered(keys)
        rows = np.bincount(inside, self.cells.counts[moved]).astype(np.int64)
        sound = which_sound(moved, inside, rows, self.k, self.sensitive)
        return np.asarray(sound[inside])
