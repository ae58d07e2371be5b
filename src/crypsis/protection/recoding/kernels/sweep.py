# mypy: disable-error-code="no-any-return"
"""The lattice visited from the least loss to the most: every class is released where it first fits.

A visit is a vector of levels and a range of information loss. The cells that are still free and
whose loss on these levels is in that range are grouped by their labels; groups that meet the
requirements become classes, the others stay free for later visits. So every class gets the cheapest
labels that it can have at its turn, and no class can be split into finer ones afterwards.

The cells are one tuple, `cells`: (keys, loss, counts). Columns are taken together in blocks: line
`visit[b]` of `keys` and `loss` has the labels of each cell in the columns of block b on the levels
of the visit, as one number, and their loss. A cell without rows has people of a population, who
match every class whose labels are theirs: it stays free. `sensitive` is described in `requirements`.
Cost: visits times free cells times blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.machine_code import kernel
from crypsis.protection.recoding.kernels.inner import inner
from crypsis.protection.recoding.kernels.requirements import by_part, group_sound, places

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inner
def _mark(line: int, code: int) -> Any:
    """A number that looks random for every label (SplitMix64; Steele, Lea and Flood 2014).

    Combinations of labels are compared by the sum of theirs (Zobrist 1970).
    """
    bits = (np.uint64(line) << np.uint64(32) | np.uint64(code)) * _STEP + _STEP
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


@kernel
def fill(levels: Ints, codes: Any, loss: Any, labels: Any, lost: Any) -> None:
    """The labels and the loss of each cell on each combination of levels of some columns.

    `levels` has the lines of `codes` and `loss` that a combination consists of.
    """
    for line in range(levels.shape[0]):
        for cell in range(codes.shape[1]):
            key, total = np.uint64(0), 0.0
            for c in range(levels.shape[1]):
                key += _mark(levels[line, c], codes[levels[line, c], cell])
                total += loss[levels[line, c], cell]
            labels[line, cell] = key
            lost[line, cell] = total


@inner
def group_free(
    visit: Ints,
    low: float,
    high: float,
    free: Ints,
    size: int,
    cells: Any,
    part: Ints,
    totals: Ints,
    table: Any,
    stamp: int,
) -> int:
    """Group the free cells with a loss above `low` and up to `high`; the number of groups.

    `table` is room for a hash table: (keys, numbers, stamps).
    """
    labels, loss, counts = cells
    keys, numbers, stamps = table
    slots, groups = 16, 0
    while slots < 2 * size:
        slots *= 2
    mask = min(slots, keys.size) - 1  # few cells are near each other in the table
    inside, count = np.empty(size + 1, np.int64), 0
    for i in range(size):  # without a branch, which would seldom be foreseen
        lost = 0.0
        for b in range(visit.size):
            lost += loss[visit[b], free[i]]
        part[i] = -1
        inside[count] = i
        count += int(lost > low) & int(lost <= high)
    for i in inside[:count]:
        cell, key = free[i], np.uint64(0)
        for b in range(visit.size):
            key += labels[visit[b], cell]
        place = np.int64(key & np.uint64(mask))
        while stamps[place] == stamp and keys[place] != key:
            place = (place + 1) & mask
        if stamps[place] != stamp:
            stamps[place], keys[place], numbers[place] = stamp, key, groups
            totals[groups] = 0
            groups += 1
        part[i] = numbers[place]
        totals[part[i]] += counts[cell]
    return groups


@inner
def meeting(free: Ints, size: int, part: Ints, totals: Ints, groups: int, k: int, sensitive: Any) -> Flags:
    """Which groups meet the requirements."""
    good = totals[:groups] >= k
    if sensitive is None:
        return good
    values = places(sensitive)
    if values == 0 or not good.any():
        return good
    some = np.empty(size, np.int64)  # the cells of large groups alone are looked at again
    number = np.full(groups, -1, np.int64)
    large, count = 0, 0
    for g in range(groups):
        if good[g]:
            number[g] = large
            large += 1
    for i in range(size):
        if part[i] >= 0 and good[part[i]]:
            some[count] = i
            count += 1
    order, starts = by_part(number[part[some[:count]]], large)
    present = np.zeros(values)
    for g in range(groups):
        if good[g]:
            n = number[g]
            mine = free[some[order[starts[n] : starts[n + 1]]]]
            for cell in mine:
                for e in range(sensitive[0][cell], sensitive[0][cell + 1]):
                    present[sensitive[1][e]] += sensitive[2][e]
            good[g] = group_sound(mine, totals[g], present, k, sensitive)
            present[:] = 0.0
    return good


@inner
def _promising(
    free: Ints, size: int, k: int, cells: Any, part: Ints, totals: Ints, table: Any, stamp: int, edges: Ints
) -> tuple[Ints, int]:
    """For each line the free cells whose label there has k rows, and the next stamp.

    Cells of line b are those from `edges[b]` to `edges[b + 1]`. No class has other cells, now or later:
    free cells only become fewer.
    """
    lines = cells[0].shape[0]
    listed, visit = np.empty(4 * size, np.int64), np.empty(1, np.int64)
    edges[0], end = 0, 0
    for b in range(lines):
        visit[0] = b
        stamp += 1
        group_free(visit, -1.0, np.inf, free, size, cells, part, totals, table, stamp)
        if end + size > listed.size:
            more = np.empty(2 * listed.size, np.int64)
            more[:end] = listed[:end]
            listed = more
        for i in range(size):
            if totals[part[i]] >= k:
                listed[end] = free[i]
                end += 1
        edges[b + 1] = end
    return listed, stamp


@kernel
def sweep(
    visits: Ints,
    low: Floats,
    high: Floats,
    k: int,
    cells: Any,
    sensitive: Any,
    work: int,
    bound: float,
    found: Ints,
) -> int:
    """Make the visits in order while cells are free; about `work` cells are grouped in all.

    If more would be, visits are left out evenly; the last one, on the highest levels, is always
    made. `found` gets the visit that released every cell, or -1; the number of cells that stay free
    is returned. As soon as the loss of all rows must exceed `bound`, -1 is returned.
    """
    loss, counts = cells[1], cells[2]
    size = counts.size
    free, part = np.arange(size), np.empty(size, np.int64)
    totals, some = np.empty(size, np.int64), np.empty(size, np.int64)
    slots = 1
    while slots < 2 * size:
        slots *= 2
    table = (np.zeros(slots, np.uint64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64))
    found[:] = -1
    last = visits.shape[0] - 1
    price = 1 + places(sensitive) // 8  # sensitive values are counted class by class
    lost, left = 0.0, counts.sum()
    edges, ends = np.zeros(loss.shape[0] + 1, np.int64), np.zeros(loss.shape[0], np.int64)
    listed, stamp, listed_for = free, 0, 2 * size + 1
    looked, made = 0, 0
    for v in range(last + 1):
        if left == 0:
            break
        if lost + left * max(low[v], 0.0) > bound:
            return -1
        stride = looked * price * (last - v) // max(4 * work * made, 1) + 1  # fewer later
        if v % stride and v < last:
            continue
        if 2 * size < listed_for:
            listed, stamp = _promising(free, size, k, cells, part, totals, table, stamp, edges)
            ends[:] = edges[1:]
            listed_for = size
        line = visits[v, 0]
        for b in visits[v]:
            if ends[b] - edges[b] < ends[line] - edges[line]:
                line = b
        count = 0
        for place in range(edges[line], ends[line]):
            cell = listed[place]
            if found[cell] < 0:
                some[count] = cell
                listed[edges[line] + count] = cell
                count += 1
        ends[line] = edges[line] + count
        looked, made = looked + count, made + 1
        work -= count * price
        stamp += 1
        groups = group_free(visits[v], low[v], high[v], some, count, cells, part, totals, table, stamp)
        if groups == 0:
            continue
        good = meeting(some, count, part, totals, groups, k, sensitive)
        if not good.any():
            continue
        for i in range(count):
            cell = some[i]
            if part[i] >= 0 and good[part[i]] and counts[cell] > 0:
                found[cell] = v
                left -= counts[cell]
                for b in range(visits.shape[1]):
                    lost += counts[cell] * loss[visits[v, b], cell]
        kept = 0
        for i in range(size):
            if found[free[i]] < 0:
                free[kept] = free[i]
                kept += 1
        size = kept
    return size
