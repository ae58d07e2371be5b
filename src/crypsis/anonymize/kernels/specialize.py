# mypy: disable-error-code="no-any-return"
"""Crowds from the top down: groups of cells that are split as long as every part keeps its demands.

All cells begin in one group on the highest levels. A group is split by the column that wins most
for what it costs in size: cells that are told alike one level lower become a part of their own
(Fung, Wang and Yu 2005; with a level for each group, as in LeFevre, DeWitt and Ramakrishnan 2006).
Parts that miss the demands stay behind together; if they miss them even so, they borrow cells that
a sound part can spare, or a sound part stays behind with them. Cost: cells times columns times
levels.

What the cells are travels as one tuple, `cells`: (codes, loss, lines, counts), where line
`lines[c] + l` of `codes` and `loss` tells what each cell becomes in column c on level l, and what
that loses. `secrets` is described in `demands`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from crypsis.anonymize.kernels.demands import add, by_part, sound, which_sound

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Levels = NDArray[np.int16]

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
def _score(
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
def _split(
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


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _descend(group: Ints, level: Levels, floor: Ints, cells: Any) -> None:
    """As low as all cells of a group are told alike: that costs nothing."""
    codes, _, lines, _ = cells
    for c in range(level.size):
        while level[c] > floor[c]:
            line = lines[c] + level[c] - 1
            for i in range(1, group.size):
                if codes[line, group[i]] != codes[line, group[0]]:
                    break
            else:
                level[c] -= 1
                continue
            break


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _divide(
    order: Ints, part: Ints, parts: int, starts: Ints, ends: Ints, levels: Levels,
    g: int, c: int, groups: int,
) -> int:  # fmt: skip
    """Put the parts of group g side by side; new groups get the numbers from `groups` on.

    Group g becomes what stays behind, or the first part where nothing does.
    """
    start = starts[g]
    group = order[start : ends[g]].copy()
    edges = np.zeros(parts + 3, np.int64)
    for i in range(group.size):
        edges[part[i] + 3] += 1  # what is left out comes first, then what stays behind
    edges = np.cumsum(edges)
    fill = edges.copy()
    for i in range(group.size):
        p = part[i] + 2
        order[start + fill[p]] = group[i]
        fill[p] += 1
    first = 1 if edges[2] > edges[1] else 2
    before = levels[g].copy()
    for p in range(first, parts + 2):
        at = g
        if p != first:
            at = groups
            groups += 1
        starts[at] = start + edges[p]
        ends[at] = start + edges[p + 1]
        levels[at] = before
        if p > 1:
            levels[at, c] = before[c] - 1
    return groups


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def specialize(
    order: Ints, starts: Ints, ends: Ints, levels: Levels, groups: int, floor: Ints,
    k: int, cells: Any, secrets: Any, widest: int, leave: bool,
) -> int:  # fmt: skip
    """Split the first `groups` groups as far as the demands allow; the number of groups after.

    Cells `order[starts[g]:ends[g]]` make group g, told on `levels[g]`; the arrays have room for as
    many groups as there are cells. No column goes below its level in `floor`. `widest` is the
    largest number of labels of a level. With `leave`, cells may be left out: they are in no group.
    """
    columns = levels.shape[1]
    place = np.full(widest, -1, np.int64)
    part = np.empty(order.size, np.int64)
    waiting = np.arange(order.size + 1)
    hopeless = np.zeros((order.size, columns), np.bool_)
    # Where only sizes count, what cannot be split cannot be split further down either.
    sizes_only = secrets[3][-1] == 0
    scores = np.empty(columns)
    left = groups
    while left:
        left -= 1
        g = waiting[left]
        group = order[starts[g] : ends[g]]
        _descend(group, levels[g], floor, cells)
        for c in range(columns):
            scores[c] = -1.0
            if levels[g, c] > floor[c] and not hopeless[g, c]:
                line = cells[2][c] + levels[g, c] - 1
                scores[c] = _score(group, line, cells, place, part, k, secrets)
                hopeless[g, c] = sizes_only and scores[c] < 0
        while True:
            c = int(np.argmax(scores))
            if scores[c] < 0:
                break
            line = cells[2][c] + levels[g, c] - 1
            parts = _split(group, line, cells, place, part, k, secrets, leave)
            if parts == 0:
                scores[c] = -1.0
                hopeless[g, c] = sizes_only
                continue
            after = _divide(order, part, parts, starts, ends, levels, g, c, groups)
            waiting[left] = g
            left += 1
            for new in range(groups, after):
                hopeless[new] = hopeless[g]
                waiting[left] = new
                left += 1
            groups = after
            break
    return groups


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def levels_of(order: Ints, starts: Ints, ends: Ints, levels: Levels, groups: int) -> Levels:
    """The levels of each cell; -1 where it is in no group."""
    found = np.full((order.size, levels.shape[1]), -1, np.int16)
    for g in range(groups):
        for i in range(starts[g], ends[g]):
            found[order[i]] = levels[g]
    return found


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def spent(
    order: Ints, starts: Ints, ends: Ints, levels: Levels, groups: int, opened: Flags,
    tops: Ints, cells: Any,
) -> tuple[int, float]:  # fmt: skip
    """The rows that are left out or miss a cell of an open column, and the loss of all rows."""
    _, loss, lines, counts = cells
    lost, here, touched = 0.0, 0, 0
    for g in range(groups):
        for i in range(starts[g], ends[g]):
            cell = order[i]
            count = counts[cell]
            here += count
            starred = False
            for c in range(tops.size):
                price = loss[lines[c] + levels[g, c], cell]
                lost += count * price
                starred |= opened[c] and levels[g, c] == tops[c] and price > 0
            touched += count * starred
    out = counts.sum() - here
    return touched + out, lost + out * tops.size
