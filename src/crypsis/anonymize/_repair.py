"""What is still in too small a crowd: the cheapest of local generalization, suppressing cells, and
suppressing rows.

Cells are grouped from the top down (see `kernels.specialize`): at first all are told as nothing,
and groups are split into ones that are told more as long as each keeps the demands. Nothing is told
of a row that its group does not share.

The suppression budget counts rows that are left out or that miss a cell their column has elsewhere.
If the free search stays within it, that is the release. Otherwise columns are opened one after the
other, each on its coarsest names: rows whose names are too rare miss that cell, or are left out,
whichever the budget allows; and a column that cannot be opened within the budget stays empty.
After that every group goes on down in the columns that are open, which suppresses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.anonymize._demands import Demands
from crypsis.anonymize._table import Levels, Repair, Table
from crypsis.anonymize.kernels import demands as kernel
from crypsis.anonymize.kernels import specialize as top_down
from crypsis.errors import PromiseBroken

Ints = NDArray[np.int64]
Order = Callable[[int, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class _Groups:
    """Cells `order[starts[g]:ends[g]]` make group g, told on `levels[g]`."""

    order: Ints
    starts: Ints
    ends: Ints
    levels: Levels
    count: int


class _Search:
    """The cells and demands as the kernels take them."""

    def __init__(self, table: Table, demands: Demands) -> None:
        self.table, self.k = table, demands.k
        self.cells = (table.codes, table.loss, table.lines, table.counts)
        self.secrets = demands.arrays(table.counts.size)
        self.widest = max(len(labels) for one in table.ladders for labels in one.labels)

    def whole(self) -> _Groups:
        """All cells in one group, every column missing."""
        cells, columns = self.table.counts.size, self.table.tops.size
        ends, levels = np.zeros(cells, np.int64), np.zeros((cells, columns), np.int16)
        ends[0], levels[0] = cells, self.table.tops
        return _Groups(np.arange(cells), np.zeros(cells, np.int64), ends, levels, 1)

    def sound(self) -> bool:
        """Whether all rows together meet the demands."""
        every = np.arange(self.table.counts.size)
        total = np.array([self.table.counts.sum()])
        good = kernel.which_sound(every, np.zeros_like(every), total, self.k, self.secrets)
        return bool(good[0])

    def split(self, groups: _Groups, floor: Ints, *, leave: bool = False) -> _Groups:
        """The groups split down to the floor, as far as the demands allow."""
        order, starts, ends = groups.order.copy(), groups.starts.copy(), groups.ends.copy()
        levels = groups.levels.copy()
        count = top_down.specialize(
            order, starts, ends, levels, groups.count, floor, self.k, self.cells, self.secrets,
            self.widest, leave,
        )  # fmt: skip
        return _Groups(order, starts, ends, levels, count)

    def levels(self, groups: _Groups) -> Levels:
        """The levels of each cell; -1 where it is in no group."""
        found: Levels = top_down.levels_of(
            groups.order, groups.starts, groups.ends, groups.levels, groups.count
        )
        return found


def repair(table: Table, demands: Demands, budget_rows: int, *, leave: bool = True) -> Repair:
    """Find a crowd for every cell while suppression touches at most `budget_rows` rows.

    Without `leave` no row is left out. Raises `PromiseBroken` where not even all rows together meet
    the demands.
    """
    search = _Search(table, demands)
    if not search.sound():
        raise PromiseBroken(
            "Not even all rows together, with every quasi-identifier empty, keep the promise. Ask "
            "for less (k, l, t, best guess)."
        )
    with progress.step("finding crowds") as step:
        nothing = np.zeros_like(table.tops)
        found = table.summary(search.levels(search.split(search.whole(), nothing)))
        step.advance()
        if found.rows_touched <= budget_rows:
            return found
        tries = []
        for first in (_fewest_rows, _least_loss):
            tries.append(_opened(search, budget_rows, first, leave))
            step.advance()
    best = min(tries, key=lambda one: one.loss)
    if best.rows_suppressed == table.counts.sum():  # rows that tell nothing are better than none
        return table.summary(search.levels(search.whole()))
    return best


def _fewest_rows(touched: int, lost: float) -> tuple[float, float]:
    return touched, lost


def _least_loss(touched: int, lost: float) -> tuple[float, float]:
    return lost, touched


def _opened(search: _Search, budget_rows: int, order: Order, leave: bool) -> Repair:
    """Open columns one by one, the best by `order` first, while the budget holds; then go down."""
    table = search.table
    groups, opened = search.whole(), np.zeros(table.tops.size, bool)

    def tried(choice: tuple[int, bool]) -> tuple[int, float, int, _Groups]:
        c, out = choice
        floor, wider = table.tops.copy(), opened.copy()
        floor[c] -= 1
        wider[c] = True
        after = search.split(groups, floor, leave=out)
        touched, lost = top_down.spent(
            after.order, after.starts, after.ends, after.levels, after.count, wider, table.tops,
            search.cells,
        )  # fmt: skip
        return touched, lost, c, after

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while True:
            best: tuple[tuple[float, float], int, _Groups] | None = None
            closed = np.flatnonzero(~opened).tolist()
            choices = list(product(closed, (False, True) if leave else (False,)))
            for touched, lost, c, after in pool.map(tried, choices):
                if touched <= budget_rows and (best is None or order(touched, lost) < best[0]):
                    best = order(touched, lost), c, after
            if best is None:
                break
            opened[best[1]], groups = True, best[2]
    floor = np.where(opened, 0, table.tops)
    return table.summary(search.levels(search.split(groups, floor)))
