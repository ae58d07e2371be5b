"""Stripped-partition refinement: the equivalence classes of many column sets, counted.

A partition is `order` (cells, class after class) and `starts` (where each class begins). A cell
that is alone in its class can only ever be alone: it leaves the partition and is added to
`finished` (Huhtala et al. 1999 call such a partition stripped). A cell that a later column may
still drop, because its value there is missing, is fragile and stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import AnyCodes, Bytes, Codes, Flags, Ints
from crypsis.machine_code import kernel

DISTINCT, SINGLETONS, DOUBLETONS, SQUARES, ROWS, SMALLEST, LARGEST = range(7)
BITS = 64
_MANY = 3
_NO_CLASS = np.iinfo(np.int64).max


def no_classes() -> Ints:
    """The statistics of a partition without classes."""
    return np.array([0, 0, 0, 0, 0, _NO_CLASS, 0], np.int64)


@kernel
def _add_class(stats: Ints, size: int) -> None:
    stats[DISTINCT] += 1
    stats[SINGLETONS] += size == 1
    stats[DOUBLETONS] += size == 2
    stats[SQUARES] += size * size
    stats[ROWS] += size
    stats[SMALLEST] = min(stats[SMALLEST], size)
    stats[LARGEST] = max(stats[LARGEST], size)


@kernel
def refine(
    order: Codes,
    starts: Codes,
    codes: AnyCodes,
    domain: int,
    missing: int,
    counts: Ints,
    fragile: Flags,
    finished: Ints,
) -> tuple[Codes, Codes]:
    """Split every class by the codes of one more column; lone cells are added to `finished`.

    Codes with the code `missing` leave (-1: none). `fragile` is empty where no cell is.
    """
    new_order = np.empty_like(order)
    new_starts = np.empty((order.size if fragile.size else order.size // 2) + 2, np.int32)
    longest = 0
    for g in range(starts.size - 1):
        longest = max(longest, starts[g + 1] - starts[g])
    # Random reads are the cost: each code is fetched once and kept in the order of the class.
    fetched = np.empty(longest, np.uint32)
    sizes = np.zeros(domain, np.int32)
    place = np.zeros(domain, np.int32)
    touched = np.empty(min(domain, order.size), np.uint32)
    classes, end = 0, 0
    for g in range(starts.size - 1):
        first, last = starts[g], starts[g + 1]
        seen = 0
        for i in range(first, last):
            code = np.uint32(codes[np.uint32(order[i])])
            fetched[i - first] = code
            if sizes[code] == 0:
                touched[seen] = code
                seen += 1
            sizes[code] += 1
        if missing >= 0:
            sizes[missing] = 0
        for t in range(seen):
            code = touched[t]
            if sizes[code] > 1:
                new_starts[classes] = end
                classes += 1
                place[code] = end
                end += sizes[code]
        for i in range(first, last):
            code = fetched[i - first]
            if sizes[code] > 1:
                new_order[place[code]] = order[i]
                place[code] += 1
            elif sizes[code] == 1:
                cell = np.uint32(order[i])
                if fragile.size and fragile[cell]:
                    new_starts[classes] = end
                    classes += 1
                    new_order[end] = order[i]
                    end += 1
                else:
                    _add_class(finished, counts[cell])
        for t in range(seen):
            sizes[touched[t]] = 0
    new_starts[classes] = end
    return new_order[:end].copy(), new_starts[: classes + 1].copy()


@kernel
def statistics(order: Codes, starts: Codes, counts: Ints, finished: Ints) -> Ints:
    """The statistics of all classes of a partition."""
    stats = finished.copy()
    for g in range(starts.size - 1):
        size: Any = np.int64(0)  # a plain 0 would have its own version of `_add_class` compiled
        for i in range(starts[g], starts[g + 1]):
            size += counts[np.uint32(order[i])]
        _add_class(stats, size)
    return stats


@kernel
def tally_wide(
    order: Codes,
    starts: Codes,
    table: AnyCodes,
    columns: Ints,
    missing: Ints,
    domain: int,
    rows: Bytes,
    finished: Ints,
) -> Ints:
    """For each of some columns the statistics after `refine`, for columns of any number of values.

    The codes are stored row by row, so that one memory access serves all the columns.
    """
    stats = np.empty((columns.size, 3), np.int64)
    for j in range(columns.size):
        stats[j] = finished[:3]
    sizes = np.zeros(domain, np.uint8)
    for g in range(starts.size - 1):
        first, last = starts[g], starts[g + 1]
        for j in range(columns.size):
            column = np.uint32(columns[j])
            distinct, ones, twos = 0, 0, 0
            for i in range(first, last):
                cell = np.uint32(order[i])
                code = np.uint32(table[cell, column])
                if code == missing[j]:
                    continue
                before = int(sizes[code])
                after = min(before + int(rows[cell]), _MANY)
                sizes[code] = after
                distinct += before == 0
                ones += int(after == 1) - int(before == 1)
                twos += int(after == 2) - int(before == 2)
            for i in range(first, last):
                sizes[np.uint32(table[np.uint32(order[i]), column])] = 0
            stats[j, DISTINCT] += distinct
            stats[j, SINGLETONS] += ones
            stats[j, DOUBLETONS] += twos
    return stats


@kernel
def squares(
    order: Codes, starts: Codes, codes: AnyCodes, domain: int, missing: int, counts: Ints, finished: Ints
) -> int:
    """The sum of squared class sizes after refinement by one more column."""
    total = int(finished[SQUARES])
    sizes = np.zeros(domain, np.int64)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            code = np.uint32(codes[np.uint32(order[i])])
            if code != missing:
                size = int(counts[np.uint32(order[i])])
                total += size * (size + 2 * int(sizes[code]))
                sizes[code] += size
        for i in range(starts[g], starts[g + 1]):
            sizes[np.uint32(codes[np.uint32(order[i])])] = 0
    return total


@kernel
def _ones(bits: np.uint64) -> np.uint64:
    """The number of bits set (Warren, Hacker's Delight, section 5-1); vectorizes."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    low = bits & np.uint64(0x3333333333333333)
    bits = low + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def tally_narrow(
    order: Codes,
    starts: Codes,
    table: Bytes,
    leftmost: int,
    kept: NDArray[np.uint64],
    rows: Bytes,
    finished: Ints,
) -> Ints:
    """As `tally_wide` for the columns from `leftmost` on of a table whose codes are below 64.

    Three words of bits per column record which values of a class occur once, twice and more often.
    The columns are contiguous, so that the processor handles several at once. `kept[j]` has the
    bits of the values that count.
    """
    width = table.shape[1] - leftmost
    distinct = np.full(width, finished[DISTINCT], np.uint64)
    ones = np.full(width, finished[SINGLETONS], np.uint64)
    twos = np.full(width, finished[DOUBLETONS], np.uint64)
    seen = np.zeros(width, np.uint64)
    again = np.zeros(width, np.uint64)
    often = np.zeros(width, np.uint64)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            cell = np.uint32(order[i])
            for _ in range(rows[cell]):
                for j in range(width):
                    bit = np.uint64(1) << np.uint64(table[cell, leftmost + j])
                    often[j] |= again[j] & bit
                    again[j] |= seen[j] & bit
                    seen[j] |= bit
        for j in range(width):
            distinct[j] += _ones(seen[j] & kept[leftmost + j])
            ones[j] += _ones(seen[j] & ~again[j] & kept[leftmost + j])
            twos[j] += _ones(again[j] & ~often[j] & kept[leftmost + j])
            seen[j] = again[j] = often[j] = 0
    stats = np.empty((width, 3), np.int64)
    for j in range(width):
        stats[j, DISTINCT] = distinct[j]
        stats[j, SINGLETONS] = ones[j]
        stats[j, DOUBLETONS] = twos[j]
    return stats
