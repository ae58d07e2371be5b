"""The best classes of very few cells, by dynamic programming over sets of cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Levels
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding.kernels.requirements import which_sound

MAX_CELLS = 9
"""Tables of up to so many cells are searched exhaustively: 3^9 pairs of sets are compared."""


def best_classes(cells: CellLevels, requirements: ClassRequirements, budget_rows: int) -> Recoding | None:
    """The recoding with the least loss of all that divide the cells into classes.

    A class has the lowest levels on which its cells have the same labels. Records that are removed,
    and classes of which every value is suppressed, count against the budget. None if there is none.
    """
    size = cells.counts.size
    sets = 1 << size
    levels, cost, rows = _classes(cells, requirements)
    # For each set of cells and each number of rows that count, the least loss and the last class.
    best: list[dict[int, tuple[float, int, bool]]] = [{} for _ in range(sets)]
    best[0][0] = (0.0, 0, False)
    tops = cells.tops.size
    for chosen in range(1, sets):
        lowest = chosen & -chosen
        part = chosen
        while part:
            if part & lowest:
                for lost, counted, out in _ways(part, lowest, cost, rows, tops):
                    for before, (loss, _, _) in best[chosen ^ part].items():
                        total, now = loss + lost, before + counted
                        if now <= budget_rows and total < best[chosen].get(now, (np.inf,))[0]:
                            best[chosen][now] = (total, part, out)
            part = (part - 1) & chosen
    if not best[-1]:
        return None
    counted = min(best[-1], key=lambda number: best[-1][number][0])
    all_levels: Levels = np.full((size, tops), -1, np.int16)
    chosen = sets - 1
    while chosen:
        _, part, out = best[chosen][counted]
        members = [cell for cell in range(size) if part >> cell & 1]
        if not out:
            all_levels[members] = levels[part]
        counted -= int(rows[part, 1]) if not out else int(rows[part, 0])
        chosen ^= part
    return cells.recoding(all_levels)


def _ways(
    part: int, lowest: int, cost: NDArray[np.float64], rows: NDArray[np.int64], columns: int
) -> list[tuple[float, int, bool]]:
    """What a set of cells costs as a class, or suppressed: loss, rows that count, whether it is out."""
    ways = []
    if np.isfinite(cost[part]):
        ways.append((float(cost[part]), int(rows[part, 1]), False))
    if part == lowest:  # cells are suppressed one by one
        ways.append((float(rows[part, 0] * columns), int(rows[part, 0]), True))
    return ways


def _classes(
    cells: CellLevels, requirements: ClassRequirements
) -> tuple[NDArray[np.int16], NDArray[np.float64], NDArray[np.int64]]:
    """For each set of cells its levels, its loss as a class (infinite if it may not be one), and its
    rows: all of them, and those that have no value left.
    """
    size = cells.counts.size
    sets = 1 << size
    sensitive = requirements.arrays(size)
    levels = np.zeros((sets, cells.tops.size), np.int16)
    cost, rows = np.full(sets, np.inf), np.zeros((sets, 2), np.int64)
    for chosen in range(1, sets):
        members = np.array([cell for cell in range(size) if chosen >> cell & 1])
        rows[chosen, 0] = cells.counts[members].sum()
        for c, top in enumerate(cells.tops):
            lines = cells.codes[cells.lines[c] : cells.lines[c] + top + 1, members]
            levels[chosen, c] = np.argmax((lines == lines[:, :1]).all(axis=1))
        if (levels[chosen] > cells.limits).any():
            continue
        total = rows[chosen, :1]
        group = np.zeros(members.size, np.int64)
        if not which_sound(members, group, total, requirements.k, sensitive)[0]:
            continue
        lost = cells.loss[cells.lines + levels[chosen], members[:, None]].sum(axis=1)
        cost[chosen] = float((lost * cells.counts[members]).sum())
        starred = (levels[chosen] == cells.tops) | ~cells.there[members]
        empty = starred.all(axis=1) & cells.there[members].any(axis=1)
        rows[chosen, 1] = int(cells.counts[members][empty].sum()) if chosen < sets - 1 else 0
    return levels, cost, rows
