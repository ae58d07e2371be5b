"""Counting the groups of many column sets: arrays in, numbers out.

A partition is `order` (cells, group after group) and `starts` (where each group begins). Cells that
are alone in their group are left out of it and remembered in `finished`, as in Huhtala et al. 1999:
they can only ever be alone. Counted are the groups (DISTINCT), those of one row (ONES) and of two
(TWOS), for which a cell's row count matters only up to three and is kept as a byte (`rows`); and,
where asked, the sum of squared group sizes (SQUARES), which needs the row counts themselves.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int32]
Codes = NDArray[np.unsignedinteger]
Stats = NDArray[np.int64]

DISTINCT, ONES, TWOS, SQUARES = range(4)
BITS = 64
_MANY = 3


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def split(
    order: Cells,
    starts: Cells,
    codes: Codes,
    domain: int,
    blank: int,
    rows: NDArray[np.uint8],
    counts: Stats,
    strip: bool,
    finished: Stats,
) -> tuple[Cells, Cells]:
    """Split every group by the codes of one more column; lone cells are added to `finished`.

    Cells with the code `blank` leave (-1: none). Without `strip` lone cells stay, because a blank
    in a later column may still remove them.
    """
    new_order = np.empty_like(order)
    new_starts = np.empty((order.size // 2 if strip else order.size) + 2, np.int32)
    longest = 0
    for g in range(starts.size - 1):
        longest = max(longest, starts[g + 1] - starts[g])
    # Random reads are the cost: each code is fetched once and kept in the order of the group.
    fetched = np.empty(longest, np.uint32)
    sizes = np.zeros(domain, np.int32)
    place = np.zeros(domain, np.int32)
    touched = np.empty(min(domain, order.size), np.uint32)
    groups, end = 0, 0
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
        if blank >= 0:
            sizes[blank] = 0
        for t in range(seen):
            code = touched[t]
            if sizes[code] > 1 or (not strip and sizes[code] == 1):
                new_starts[groups] = end
                groups += 1
                place[code] = end
                end += sizes[code]
        for i in range(first, last):
            code = fetched[i - first]
            if sizes[code] > 1 or (not strip and sizes[code] == 1):
                new_order[place[code]] = order[i]
                place[code] += 1
            elif sizes[code] == 1:
                count = rows[np.uint32(order[i])]
                finished[DISTINCT] += 1
                finished[ONES] += count == 1
                finished[TWOS] += count == 2
                finished[SQUARES] += counts[order[i]] ** 2
        for t in range(seen):
            sizes[touched[t]] = 0
    new_starts[groups] = end
    return new_order[:end].copy(), new_starts[: groups + 1].copy()


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def tally_wide(
    order: Cells,
    starts: Cells,
    table: Codes,
    columns: Stats,
    blanks: Stats,
    domain: int,
    rows: NDArray[np.uint8],
    finished: Stats,
) -> Stats:
    """For each of some columns, what `split` would find, for columns of any number of values.

    The codes lie row by row, so that one trip to memory serves all the columns.
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
                if code == blanks[j]:
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
            stats[j, ONES] += ones
            stats[j, TWOS] += twos
    return stats


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def squares(
    order: Cells,
    starts: Cells,
    codes: Codes,
    domain: int,
    blank: int,
    counts: Stats,
    finished: Stats,
) -> int:
    """The sum of squared group sizes after a split by one more column."""
    total = int(finished[SQUARES])
    sizes = np.zeros(domain, np.int64)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            code = np.uint32(codes[np.uint32(order[i])])
            if code != blank:
                size = int(counts[np.uint32(order[i])])
                total += size * (size + 2 * int(sizes[code]))
                sizes[code] += size
        for i in range(starts[g], starts[g + 1]):
            sizes[np.uint32(codes[np.uint32(order[i])])] = 0
    return total


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _ones(bits: np.uint64) -> np.uint64:
    """The number of bits set (Warren, Hacker's Delight, section 5-1); vectorizes."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    low = bits & np.uint64(0x3333333333333333)
    bits = low + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def tally_narrow(
    order: Cells,
    starts: Cells,
    table: NDArray[np.uint8],
    leftmost: int,
    kept: NDArray[np.uint64],
    rows: NDArray[np.uint8],
    finished: Stats,
) -> Stats:
    """As `tally_wide` for the columns from `leftmost` on of a table whose codes are below 64.

    A group's values are three words of bits per column: seen, seen twice, seen more often. The
    columns lie side by side, so the processor handles several at once. `kept[j]` has the bits of
    the values that count.
    """
    width = table.shape[1] - leftmost
    distinct = np.full(width, finished[DISTINCT], np.uint64)
    ones = np.full(width, finished[ONES], np.uint64)
    twos = np.full(width, finished[TWOS], np.uint64)
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
        stats[j, ONES] = ones[j]
        stats[j, TWOS] = twos[j]
    return stats
