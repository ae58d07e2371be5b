# mypy: disable-error-code="no-any-return"
"""How one group of cells can be split by one column; the arguments are those of `specialize`."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from crypsis.anonymize.kernels.demands import add, by_part, sound, which_sound

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

BEHIND, OUT = -1, -2
"""Instead of the number of a part: stays behind, is left out of the release."""


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _parts(group: Ints, line: int, cells: Any, place: Ints, part: Ints) -> tuple[Ints, Floats]:
    """The part of each cell by its label on a line; rows of each part and the loss it is spared.

    `place` is room for a number per label; it is -1 everywhere before and after.
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


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def score(
    group: Ints, line: int, cells: Any, place: Ints, part: Ints, k: int, secrets: Any
) -> float:
    """The loss spared for what a split costs in size; below zero where there is none.

    The size is counted in bits, the entropy of the parts, and one more for splitting at all.
    """
    rows, gain = _parts(group, line, cells, place, part)
    good = which_sound(group, part[: group.size], rows, k, secrets)
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


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _borrow(
    group: Ints, part: Ints, rows: Ints, dear: Floats, good: Flags, behind: Floats,
    k: int, counts: Ints, secrets: Any,
) -> bool:  # fmt: skip
    """Cells that good parts can spare stay behind too, until what is there is sound.

    The last part is what stays behind, `behind` the sensitive values in it. Parts whose rows are
    least `dear` are asked first, and of each the small cells: a large one is a crowd of its own.
    """
    rest = rows.size - 1
    order, starts = by_part(part, rows.size)
    held = np.zeros(behind.size)
    for p in np.argsort(dear):
        if not good[p] or rows[p] <= k:
            continue
        held[:] = 0.0
        for j in range(starts[p], starts[p + 1]):
            add(held, group[order[j]], 1.0, secrets)
        for small_ones in (True, False):
            for j in range(starts[p], starts[p + 1]):
                cell = group[order[j]]
                count = counts[cell]
                if part[order[j]] != p or rows[p] - count < k:
                    continue
                if small_ones and count > max(1, k - rows[rest]):
                    continue
                add(held, cell, -1.0, secrets)
                if not sound(rows[p] - count, held, k, secrets):
                    add(held, cell, 1.0, secrets)
                    continue
                add(behind, cell, 1.0, secrets)
                rows[p] -= count
                rows[rest] += count
                part[order[j]] = rest
                if sound(rows[rest], behind, k, secrets):
                    return True
    return False


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _stay(
    group: Ints, part: Ints, rows: Ints, gain: Floats, good: Flags, behind: Floats,
    k: int, secrets: Any,
) -> bool:  # fmt: skip
    """Whole parts stay behind, those that gain least first, until what is there is sound."""
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
                add(behind, group[i], 1.0, secrets)
        if sound(rows[rest], behind, k, secrets):
            return True
    return False


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def split(
    group: Ints, line: int, cells: Any, place: Ints, part: Ints, k: int, secrets: Any, leave: bool
) -> int:
    """The part of each cell, or `BEHIND` or `OUT`; the number of parts, 0 where none can be.

    With `leave`, what would stay behind and is too little for that is left out instead.
    """
    rows, gain = _parts(group, line, cells, place, part)
    mine = part[: group.size]
    good = np.append(which_sound(group, mine, rows, k, secrets), False)
    if not good.any():
        return 0
    rest = rows.size
    rows, gain = np.append(rows, 0), np.append(gain, np.inf)
    behind = np.zeros(secrets[3][-1])
    for i in range(group.size):
        if not good[mine[i]]:
            mine[i] = rest
            rows[rest] += cells[3][group[i]]
            add(behind, group[i], 1.0, secrets)
    gone = False
    if rows[rest] > 0 and not sound(rows[rest], behind, k, secrets):
        if leave:
            gone = True
        else:
            before, had, held = mine.copy(), rows.copy(), behind.copy()
            dear = gain / np.maximum(1, rows)
            if not _borrow(group, mine, rows, dear, good, behind, k, cells[3], secrets):
                mine[:], rows[:], behind[:] = before, had, held
                if not _stay(group, mine, rows, gain, good, behind, k, secrets):
                    return 0
    number = np.full(rest + 1, -1, np.int64)
    parts = 0
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
