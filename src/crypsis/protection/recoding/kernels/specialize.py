# mypy: disable-error-code="no-any-return"
"""Top-down specialization: groups of cells are split while every part meets the requirements.

All cells start in one group on the highest levels. A group is split by the column with the largest
gain for its cost in size: cells with equal labels one level lower become a part of their own
(Fung, Wang and Yu 2005; with a level for each group, as in LeFevre, DeWitt and Ramakrishnan 2006).
Parts that miss the requirements stay behind together; if they still miss them, they borrow cells
that a sound part can spare, or a sound part stays behind with them. Cost: cells times columns times
levels.

The cells are one tuple, `cells`: (codes, loss, lines, counts), where line `lines[c] + l` of `codes`
and `loss` has the label of each cell in column c on level l, and its information loss. `sensitive`
is described in `requirements`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Flags, Ints, Levels
from crypsis.machine_code import kernel
from crypsis.protection.recoding.kernels.inner import inner
from crypsis.protection.recoding.kernels.requirements import places
from crypsis.protection.recoding.kernels.splits import score, split


@inner
def _descend(group: Ints, level: Levels, floor: Ints, cells: Any) -> None:
    """Lower the levels while all cells of a group have equal labels: that costs nothing."""
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


@inner
def _divide(
    order: Ints, part: Ints, parts: int, starts: Ints, ends: Ints, levels: Levels, g: int, c: int, groups: int
) -> int:
    """Order the cells of group g by part; new groups get the numbers from `groups` on.

    Group g becomes the part that stays behind, or the first part if none does.
    """
    start = starts[g]
    group = order[start : ends[g]].copy()
    edges = np.zeros(parts + 3, np.int64)
    for i in range(group.size):
        edges[part[i] + 3] += 1  # suppressed cells come first, then those that stay behind
    for p in range(parts + 2):
        edges[p + 1] += edges[p]
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
        for column in range(before.size):
            levels[at, column] = before[column]
        if p > 1:
            levels[at, c] = before[c] - 1
    return groups


@kernel
def specialize(
    order: Ints,
    starts: Ints,
    ends: Ints,
    levels: Levels,
    groups: int,
    floor: Ints,
    k: int,
    cells: Any,
    sensitive: Any,
    widest: int,
    suppress: bool,
) -> int:
    """Split the first `groups` groups as far as the requirements allow; the new number of groups.

    Cells `order[starts[g]:ends[g]]` make group g on `levels[g]`; the arrays have room for as many
    groups as there are cells. No column goes below its level in `floor`. `widest` is the largest
    number of labels of a level. With `suppress`, cells may be suppressed: they are in no group.
    """
    columns = levels.shape[1]
    place = np.full(widest, -1, np.int64)
    part = np.empty(order.size, np.int64)
    waiting = np.arange(order.size + 1)
    hopeless = np.zeros((order.size, columns), np.bool_)
    # Where only sizes count, what cannot be split cannot be split further down either.
    sizes_only = places(sensitive) == 0
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
                scores[c] = score(group, line, cells, place, part, k, sensitive)
                hopeless[g, c] = sizes_only and scores[c] < 0
        while True:
            c = int(np.argmax(scores))
            if scores[c] < 0:
                break
            line = cells[2][c] + levels[g, c] - 1
            parts = split(group, line, cells, place, part, k, sensitive, suppress)
            if parts == 0:
                scores[c] = -1.0
                hopeless[g, c] = sizes_only
                continue
            after = _divide(order, part, parts, starts, ends, levels, g, c, groups)
            waiting[left] = g
            left += 1
            for new in range(groups, after):
                for column in range(columns):
                    hopeless[new, column] = hopeless[g, column]
                waiting[left] = new
                left += 1
            groups = after
            break
    return groups


@kernel
def levels_of(order: Ints, starts: Ints, ends: Ints, levels: Levels, groups: int) -> Levels:
    """The levels of each cell; -1 if it is in no group."""
    found = np.full((order.size, levels.shape[1]), -1, np.int16)
    for g in range(groups):
        for i in range(starts[g], ends[g]):
            for c in range(levels.shape[1]):
                found[order[i], c] = levels[g, c]
    return found


@kernel
def total_loss(
    order: Ints, starts: Ints, ends: Ints, levels: Levels, groups: int, opened: Flags, tops: Ints, cells: Any
) -> tuple[int, float]:
    """The rows that are suppressed or miss a value of an open column, and the loss of all rows."""
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
