# mypy: disable-error-code="no-any-return"
"""All classes that some cells can form: every set of them that has k records and labels of its own.

A set of cells has the lowest levels on which its cells have the same labels, and is closed if no other
of the cells has them too. The cells are divided by one column after the other, on each of its levels;
parts with fewer than k records are left out, so are parts that a lower level has already.

The cells are one tuple, `cells`: (codes, loss, lines, tops, counts), with a line of `codes` and `loss`
for each cell. Sets are one tuple, `sets`: (members, starts, levels), where set s has the members from
`starts[s]` to `starts[s + 1]`, as places among the cells that were asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Ints
from crypsis.protection.recoding.kernels.inner import inner


@inner
def room_for_sets(members: int, sets: int, columns: int) -> Any:
    """Room for so many sets with so many members in all."""
    return (np.empty(members, np.int32), np.zeros(sets + 1, np.int64), np.zeros((sets, columns), np.int64))


@inner
def room_for_labels(codes: Any) -> Any:
    """Room for what is counted of each label: cells, records, place, lower label, whether two."""
    widest = 0
    for cell in range(codes.shape[0]):
        for line in range(codes.shape[1]):
            widest = max(widest, codes[cell, line])
    width = widest + 1
    return (
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, np.bool_),
        np.zeros(width, np.int64),
    )


@inner
def _divide(some: Ints, sets: Any, count: int, c: int, k: int, cells: Any, parts: Any, labels: Any) -> int:
    """Fill `parts` with the parts of all sets by the labels of a column; how many, -1 if too many."""
    codes, _, lines, tops, counts = cells
    members, starts, levels = sets
    into, edges, reached = parts
    number, rows, place, lower, several, seen = labels
    edges[0] = 0
    found, s, level, full = 0, 0, 0, False
    while s < count and not full:
        line, different = lines[c] + level, 0
        for m in range(starts[s], starts[s + 1]):
            cell = some[members[m]]
            label = codes[cell, line]
            if number[label] == 0:
                seen[different] = label
                different += 1
                several[label] = level == 0
                if level > 0:
                    lower[label] = codes[cell, line - 1]
            elif level > 0 and codes[cell, line - 1] != lower[label]:
                several[label] = True
            number[label] += 1
            rows[label] += counts[cell]
        edge = edges[found]
        for d in range(different):
            label = seen[d]
            place[label] = -1
            if rows[label] >= k and several[label] and not full:
                full = found + 1 >= edges.size or edge + number[label] > into.size
                if not full:
                    place[label] = edge
                    edge += number[label]
                    for other in range(lines.size):
                        reached[found, other] = levels[s, other]
                    reached[found, c] = level
                    found += 1
                    edges[found] = edge
        for m in range(starts[s], starts[s + 1]):
            label = codes[some[members[m]], line]
            if place[label] >= 0:
                into[place[label]] = members[m]
                place[label] += 1
        for d in range(different):
            number[seen[d]], rows[seen[d]] = 0, 0
        level += 1
        if different == 1 or level > tops[c]:
            s, level = s + 1, 0
    return -1 if full else found


@inner
def _tight(some: Ints, sets: Any, count: int, cells: Any, tight: Any) -> None:
    """Which sets have no lower level of a column with the same label for all members."""
    codes, lines = cells[0], cells[2]
    members, starts, levels = sets
    for s in range(count):
        own = some[members[starts[s]]]
        tight[s] = True
        for c in range(lines.size):
            if levels[s, c] == 0 or not tight[s]:
                continue
            line, same = lines[c] + levels[s, c] - 1, True
            for m in range(starts[s] + 1, starts[s + 1]):
                if codes[some[members[m]], line] != codes[own, line]:
                    same = False
                    break
            tight[s] = not same


@inner
def closed_sets(some: Ints, size: int, k: int, cells: Any, sets: Any, others: Any, labels: Any) -> int:
    """Fill `sets` with the closed sets of `some[:size]`; their number, -1 if there is no room.

    `others` is room for as many sets, `labels` for what is counted of labels.
    """
    columns = cells[2].size
    here, there = (sets, others) if columns % 2 else (others, sets)
    for m in range(size):
        here[0][m] = m
    here[1][0], here[1][1] = 0, size
    for c in range(columns):
        here[2][0, c] = 0
    count = 1
    for c in range(columns):
        count = _divide(some, here, count, c, k, cells, there, labels)
        if count < 0:
            return -1
        here, there = there, here
    tight = np.empty(count, np.bool_)
    _tight(some, here, count, cells, tight)
    kept, edge = 0, 0
    into, edges, reached = sets  # the sets found are in `others` now
    members, starts, levels = here
    edges[0] = 0
    for s in range(count):
        if not tight[s]:
            continue
        for m in range(starts[s], starts[s + 1]):
            into[edge] = members[m]
            edge += 1
        for c in range(columns):
            reached[kept, c] = levels[s, c]
        kept += 1
        edges[kept] = edge
    return kept
