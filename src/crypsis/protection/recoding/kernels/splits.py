# mypy: disable-error-code="no-any-return"
"""How one group of cells can be split by one column; the arguments are those of `specialize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.protection.recoding.kernels.inner import inner
from crypsis.protection.recoding.kernels.requirements import add, by_part, places, sound, which_sound

BEHIND, OUT = -1, -2
"""Instead of the number of a part: stays behind, is suppressed."""


@inner
def _parts(group: Ints, line: int, cells: Any, place: Ints, part: Ints) -> tuple[Ints, Floats]:
    """The part of each cell by its label on a line; the rows and the gain of each part.

    `place` has room for a number per label; it is -1 everywhere before and after.
    """
    codes, loss, _, counts = cells
    found = 0
    for i in range(group.size):
        label = codes[line, group[i]]
        if place[label] < 0:
            place[label] = found
            found += 1
        part[i] = place[label]
    rows = np.zeros(found, np.int64)
    gain = np.zeros(found)
    for i in range(group.size):
        cell = group[i]
        place[codes[line, cell]] = -1
        rows[part[i]] += counts[cell]
        gain[part[i]] += counts[cell] * (loss[line + 1, cell] - loss[line, cell])
    return rows, gain


@inner
def score(group: Ints, line: int, cells: Any, place: Ints, part: Ints, k: int, sensitive: Any) -> float:
    """The gain of a split over its cost in size; below zero if no split is possible.

    The gain is the information loss avoided; the size is the entropy of the parts in bits, plus
    one for splitting at all.
    """
    rows, gain = _parts(group, line, cells, place, part)
    good = which_sound(group, part[: group.size], rows, k, sensitive)
    total, rest, spare, many = 0, 0, 0, 0
    won, least, bits = 0.0, np.inf, 0.0
    for p in range(rows.size):
        total += rows[p]
        if good[p]:
            many += 1
            won += gain[p]
            least = min(least, gain[p])
            spare += rows[p] - k
            bits -= rows[p] * np.log2(rows[p])
        else:
            rest += rows[p]
    if many == 0 or (many == 1 and rest == 0):
        return -1.0
    if 0 < rest < k:
        if spare >= k - rest:
            won *= 1.0 - (k - rest) / (total - rest)
        elif many == 1:
            return -1.0
        else:
            won -= least
    if rest:
        bits -= rest * np.log2(rest)
    bits += total * np.log2(total)
    return won / (bits + total)


@inner
def _borrow(
    group: Ints,
    part: Ints,
    rows: Ints,
    price: Floats,
    good: Flags,
    behind: Floats,
    k: int,
    counts: Ints,
    sensitive: Any,
) -> bool:
    """Cells that good parts can spare stay behind too, until the part that stays behind is sound.

    That is the last part; `behind` has its sensitive values. Parts with the lowest `price` a row
    come first, and in each the small cells: a large one is a class of its own.
    """
    rest = rows.size - 1
    order, starts = by_part(part, rows.size)
    present = np.zeros(behind.size)
    for p in np.argsort(price):
        if not good[p] or rows[p] <= k:
            continue
        present[:] = 0.0
        for j in range(starts[p], starts[p + 1]):
            add(present, group[order[j]], 1.0, sensitive)
        for small_ones in (True, False):
            for j in range(starts[p], starts[p + 1]):
                cell = group[order[j]]
                count = counts[cell]
                if part[order[j]] != p or rows[p] - count < k:
                    continue
                if small_ones and count > max(1, k - rows[rest]):
                    continue
                add(present, cell, -1.0, sensitive)
                if not sound(rows[p] - count, present, k, sensitive):
                    add(present, cell, 1.0, sensitive)
                    continue
                add(behind, cell, 1.0, sensitive)
                rows[p] -= count
                rows[rest] += count
                part[order[j]] = rest
                if sound(rows[rest], behind, k, sensitive):
                    return True
    return False


@inner
def _stay(
    group: Ints, part: Ints, rows: Ints, gain: Floats, good: Flags, behind: Floats, k: int, sensitive: Any
) -> bool:
    """Entire parts stay behind, those with the least gain first, until their union is sound."""
    rest = rows.size - 1
    left = good.sum()
    for p in np.argsort(gain):
        if not good[p]:
            continue
        left -= 1
        if left == 0:
            return False
        rows[rest] += rows[p]
        for i in range(group.size):
            if part[i] == p:
                part[i] = rest
                add(behind, group[i], 1.0, sensitive)
        if sound(rows[rest], behind, k, sensitive):
            return True
    return False


@inner
def _restore(target: Any, source: Any) -> None:
    """Copy one array into another of the same length: a loop compiles faster than a slice."""
    for i in range(target.size):
        target[i] = source[i]


@inner
def split(
    group: Ints, line: int, cells: Any, place: Ints, part: Ints, k: int, sensitive: Any, suppress: bool
) -> int:
    """The part of each cell, or `BEHIND` or `OUT`; the number of parts, 0 if there is no split.

    With `suppress`, what would stay behind and does not meet the requirements is suppressed.
    """
    rows_of, gain_of = _parts(group, line, cells, place, part)
    mine = part[: group.size]
    is_sound = which_sound(group, mine, rows_of, k, sensitive)
    rest, any_sound = rows_of.size, False
    rows, gain = np.zeros(rest + 1, np.int64), np.empty(rest + 1)
    price, good = np.empty(rest + 1), np.zeros(rest + 1, np.bool_)
    for p in range(rest):
        rows[p], gain[p], good[p] = rows_of[p], gain_of[p], is_sound[p]
        any_sound |= is_sound[p]
    gain[rest] = np.inf
    if not any_sound:
        return 0
    behind = np.zeros(places(sensitive))
    for i in range(group.size):
        if not good[mine[i]]:
            mine[i] = rest
            rows[rest] += cells[3][group[i]]
            add(behind, group[i], 1.0, sensitive)
    gone = False
    if rows[rest] > 0 and not sound(rows[rest], behind, k, sensitive):
        if suppress:
            gone = True
        else:
            before, had, kept = mine.copy(), rows.copy(), behind.copy()
            for p in range(rest + 1):
                price[p] = gain[p] / max(1, rows[p])
            if not _borrow(group, mine, rows, price, good, behind, k, cells[3], sensitive):
                _restore(mine, before)
                _restore(rows, had)
                _restore(behind, kept)
                if not _stay(group, mine, rows, gain, good, behind, k, sensitive):
                    return 0
    number, parts = np.full(rest + 1, -1, np.int64), 0
    for i in range(group.size):
        p = mine[i]
        if p == rest:
            mine[i] = OUT if gone else BEHIND
            continue
        if number[p] < 0:
            number[p] = parts
            parts += 1
        mine[i] = number[p]
    return parts
