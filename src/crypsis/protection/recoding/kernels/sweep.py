# mypy: disable-error-code="no-any-return"
"""The lattice visited from the least loss to the most: every class is released where it first fits.

A visit is a vector of levels and a range of information loss. The cells that are still free and
whose loss on these levels is in that range are grouped by their labels; groups that meet the
requirements become classes, the others stay free for later visits. So every class gets the cheapest
labels that it can have at its turn, and no class can be split into finer ones afterwards.

`cells` and `sensitive` are described in `specialize` and `requirements`. Cost: visits times free
cells times columns.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from crypsis.protection.recoding.kernels.requirements import by_part, sensitive_sound

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Levels = NDArray[np.int16]

_SEED = np.uint64(1469598103934665603)
_PRIME = np.uint64(1099511628211)  # FNV-1a, mixed by a shift; releases are measured afterwards
_SHIFT = np.uint64(29)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _key(vector: Levels, cell: int, codes: Any, lines: Ints) -> int:
    """The labels of a cell as one number."""
    key = _SEED
    for c in range(lines.size):
        key = (key ^ np.uint64(codes[lines[c] + vector[c], cell] + 1)) * _PRIME
        key ^= key >> _SHIFT
    return key


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _group(
    vector: Levels, low: float, high: float, free: Ints, size: int, cells: Any, part: Ints,
    totals: Ints, keys: Any, places: Ints, stamps: Ints, stamp: int,
) -> int:  # fmt: skip
    """Group the free cells with a loss above `low` and up to `high`; the number of groups."""
    codes, loss, lines, counts = cells
    mask, groups = keys.size - 1, 0
    for i in range(size):
        cell, lost = free[i], 0.0
        for c in range(lines.size):
            lost += loss[lines[c] + vector[c], cell]
        part[i] = -1
        if lost <= low or lost > high:
            continue
        key = _key(vector, cell, codes, lines)
        place = np.int64(key & np.uint64(mask))
        while stamps[place] == stamp and keys[place] != key:
            place = (place + 1) & mask
        if stamps[place] != stamp:
            stamps[place], keys[place], places[place] = stamp, key, groups
            totals[groups] = 0
            groups += 1
        part[i] = places[place]
        totals[part[i]] += counts[cell]
    return groups


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _meeting(
    free: Ints, size: int, part: Ints, totals: Ints, groups: int, k: int, sensitive: Any
) -> NDArray[np.bool_]:
    """Which groups meet the requirements."""
    good = totals[:groups] >= k
    values = sensitive[3][-1]
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
            for j in range(starts[n], starts[n + 1]):
                cell = free[some[order[j]]]
                for e in range(sensitive[0][cell], sensitive[0][cell + 1]):
                    present[sensitive[1][e]] += sensitive[2][e]
            good[g] = sensitive_sound(present, float(totals[g]), sensitive)
            present[:] = 0.0
    return good


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sweep(
    visits: Levels, low: Floats, high: Floats, k: int, cells: Any, sensitive: Any, work: int,
    levels: Levels,
) -> int:  # fmt: skip
    """Make the visits in order while cells are free; about `work` cells are grouped in all.

    If more would be, visits are left out evenly; the last one, on the highest levels, is always
    made. `levels` gets the levels of every released cell; the number of cells that stay free is
    returned, and their levels are -1.
    """
    counts = cells[3]
    size = counts.size
    free, part = np.arange(size), np.empty(size, np.int64)
    totals = np.empty(size, np.int64)
    slots = 1
    while slots < 2 * size:
        slots *= 2
    keys, places = np.zeros(slots, np.uint64), np.zeros(slots, np.int64)
    stamps = np.full(slots, -1, np.int64)
    levels[:] = -1
    last = visits.shape[0] - 1
    values = sensitive[3][-1]
    price = 1 + values // 8  # sensitive values are counted class by class
    for v in range(last + 1):
        if size == 0:
            break
        stride = size * price * (last - v) // max(4 * work, 1) + 1  # free cells become fewer
        if v % stride and v < last:
            continue
        work -= size * price
        groups = _group(
            visits[v], low[v], high[v], free, size, cells, part, totals, keys, places, stamps, v
        )  # fmt: skip
        if groups == 0:
            continue
        good = _meeting(free, size, part, totals, groups, k, sensitive)
        kept = 0
        for i in range(size):
            if part[i] >= 0 and good[part[i]]:
                levels[free[i]] = visits[v]
            else:
                free[kept] = free[i]
                kept += 1
        size = kept
    return size
