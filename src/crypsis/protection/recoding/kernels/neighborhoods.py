# mypy: disable-error-code="no-any-return"
"""Neighborhoods of classes, divided again: all classes that their cells can form are compared.

The classes nearest to a cell, by the loss of the labels that it would share with them, are taken
together; their cells are divided by `division.divide`, and the division stays if it loses less. This
finds what no single move of a local search does: several classes that are formed at once of the cells
of several others.

Classes are one tuple, `classes`: (owner, next, first, cells, levels), where `owner` is the class of each
cell, `next` the next cell of the same class, `first` its first cell and `cells` their number. The cells
are one tuple, `cells`: (codes, loss, lines, tops, counts), with a line of `codes` and `loss` for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel
from crypsis.protection.recoding.kernels.closed import closed_sets, room_for_labels, room_for_sets
from crypsis.protection.recoding.kernels.division import divide
from crypsis.protection.recoding.kernels.inner import inner

_MOST_SETS, _MOST_MEMBERS = 20_000, 1_000_000
"""How many classes are compared in a neighborhood, and their members in all; others are left out."""
_FAR, _STEPS, _REACH = 1e18, 512, 1.5
_NEVER = 1000.0
"""More than a record can lose."""


@inner
def _lost(cell: int, levels: Any, row: int, cells: Any) -> float:
    """The loss of a record of a cell on the levels in a row."""
    total = 0.0
    for c in range(levels.shape[1]):
        total += cells[1][cell, cells[2][c] + levels[row, c]]
    return total


@inner
def _shows_nothing(levels: Any, row: int, shown: Ints, tops: Ints) -> bool:
    """Whether each of some columns is on its top; not if there are none."""
    for c in shown:
        if levels[row, c] < tops[c]:
            return False
    return shown.size > 0


@inner
def _distances(cell: int, classes: Any, cells: Any, paid: Floats, reach: float, near: Floats) -> None:
    """The loss of a cell with the labels that it shares with each class; its own class first.

    Classes at `reach` or beyond are far, however far they are.
    """
    codes, loss, lines, _, _ = cells
    owner, _, first, number, levels = classes
    for g in range(first.size):
        near[g] = _FAR
        if number[g] == 0 or paid[first[g]] <= 0.0:
            continue
        own, total = first[g], 0.0
        for c in range(lines.size):
            level = levels[g, c]
            while codes[own, lines[c] + level] != codes[cell, lines[c] + level]:
                level += 1
            total += loss[cell, lines[c] + level]
            if total >= reach:
                break
        if total < reach:
            near[g] = total
    near[owner[cell]] = -1.0


@inner
def _gather(near: Floats, most: int, classes: Any, some: Ints, cells_within: Ints) -> int:
    """The cells of the nearest classes until there are `most`; how many.

    Only the classes in the first steps of the distance are sorted; `cells_within` is room for the
    number of cells in each step.
    """
    _, after, first, number, _ = classes
    widest = 0.0
    for g in range(near.size):
        if near[g] < _FAR and near[g] > widest:
            widest = near[g]
    scale = (cells_within.size - 1) / max(widest, 1e-9)
    cells_within[:] = 0
    for g in range(near.size):
        if near[g] < _FAR:
            cells_within[int(max(near[g], 0.0) * scale)] += number[g]
    last, before = 0, 0
    while last < cells_within.size - 1 and before + cells_within[last] < most:
        before += cells_within[last]
        last += 1
    those, count = np.empty(near.size, np.int64), 0
    for g in range(near.size):
        if near[g] < _FAR and int(max(near[g], 0.0) * scale) <= last:
            those[count] = g
            count += 1
    size = 0
    for place in np.argsort(near[those[:count]]):
        g = those[place]
        if size >= most or size + number[g] > some.size:
            break
        cell = first[g]
        while cell >= 0:
            some[size] = cell
            size += 1
            cell = after[cell]
    return size


@inner
def _replace(
    some: Ints, size: int, found: Ints, levels_of: Any, classes: Any, spare: Ints, name: Ints
) -> None:
    """Dissolve the classes of some cells and put each into that of its set; `name` is room, -1 each."""
    owner, after, first, number, levels = classes
    for m in range(size):
        g = owner[some[m]]
        if number[g] > 0:
            number[g], first[g] = 0, -1
            spare[spare[0] + 1] = g
            spare[0] += 1
    for m in range(size):
        cell, g = some[m], name[found[m]]
        if g < 0:
            g = spare[spare[0]]
            spare[0] -= 1
            name[found[m]] = g
            for c in range(levels.shape[1]):
                levels[g, c] = levels_of[found[m], c]
        after[cell] = first[g]
        first[g] = cell
        owner[cell] = g
        number[g] += 1
    for m in range(size):
        name[found[m]] = -1


@kernel
def divide_again(
    owner: Ints, levels: Any, seeds: Ints, most: int, rounds: int, k: int, shown: Ints, cells: Any, work: Ints
) -> float:
    """Divide the neighborhoods of the seeds again; what that saves, summed over records and columns.

    `owner` (negative: not moved) and `levels` of the classes, with room for rows/k of them, are
    changed; no class is formed that has all the columns `shown` on their tops, if there are any. A seed
    that was in the neighborhood of an earlier one is left out. `work[0]` is about how
    many members of sets may still be looked at; where it has reached 0, it ends.
    """
    codes, _, lines, tops, counts = cells
    size, columns, groups = owner.size, lines.size, levels.shape[0]
    after, first = np.full(size, -1, np.int64), np.full(groups, -1, np.int64)
    number, paid = np.zeros(groups, np.int64), np.zeros(size)
    for cell in range(size):
        g = owner[cell]
        if g >= 0:
            after[cell] = first[g]
            first[g] = cell
            number[g] += 1
            paid[cell] = _lost(cell, levels, g, cells)
    spare = np.zeros(groups + 1, np.int64)  # free numbers of classes, their count first
    for g in range(groups - 1, -1, -1):
        if number[g] == 0:
            spare[0] += 1
            spare[spare[0]] = g
    classes = (owner, after, first, number, levels)
    sets = room_for_sets(_MOST_MEMBERS, _MOST_SETS, columns)
    others, labels = room_for_sets(_MOST_MEMBERS, _MOST_SETS, columns), room_for_labels(codes)
    near, seen = np.empty(groups), np.zeros(size, np.bool_)
    steps = np.empty(_STEPS, np.int64)
    some, found = np.empty(4 * most, np.int64), np.empty(4 * most, np.int64)
    name, saved, reach = np.full(_MOST_SETS, -1, np.int64), 0.0, _FAR
    for seed in seeds:
        if work[0] <= 0:
            break
        if owner[seed] < 0 or paid[seed] <= 0.0 or seen[seed]:
            continue
        _distances(seed, classes, cells, paid, reach, near)
        there = _gather(near, most, classes, some, steps)
        if there < most and reach < _FAR:
            _distances(seed, classes, cells, paid, _FAR, near)
            there = _gather(near, most, classes, some, steps)
        seen[seed] = True
        work[0] -= groups * columns
        if there == 0:  # its class has more cells than a neighborhood
            continue
        reach = _REACH * near[owner[some[there - 1]]]
        for m in range(there):
            seen[some[m]] = True
        count = closed_sets(some, there, k, cells, sets, others, labels)
        if count < 2:
            work[0] -= _MOST_MEMBERS * columns if count < 0 else 0
            continue
        total = sets[1][count]
        cost = np.empty(total)
        for s in range(count):
            beyond = _NEVER if _shows_nothing(sets[2], s, shown, tops) else 0.0
            for e in range(sets[1][s], sets[1][s + 1]):
                cost[e] = _lost(some[sets[0][e]], sets[2], s, cells) + beyond
        rows, price, now = np.empty(there, np.int64), np.empty(there), 0.0
        for m in range(there):
            rows[m], price[m] = counts[some[m]], paid[some[m]]
            now += rows[m] * price[m]
        work[0] -= total * rounds
        value = divide(there, count, k, sets, cost, rows, price, now, rounds, found)
        if value < now:
            saved += now - value
            _replace(some, there, found, sets[2], classes, spare, name)
            for m in range(there):
                paid[some[m]] = _lost(some[m], levels, owner[some[m]], cells)
    return saved
