"""The leaves of trees that rows fall into, without walking down (QuickScorer; Lucchese et al. 2015).

The leaves of a tree are bits, from left to right. A bin that goes right at a node rules out the leaves
on its left: `masks[t, j, b]` are the leaves of tree t that bin b of its column `used[t, j]` leaves. What all
columns of a row leave begins, from the left, with its leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.machine_code import kernel

Floats = NDArray[np.float64]
Leaves = tuple[Any, Any, Any, Any]

MOST_LEAVES = 32
_ROWS = 4_096
"""Rows that are scored by all trees in turn: their bins stay in the cache."""


def leaves(trees: tuple[Any, Any, Any, Any]) -> Leaves:
    """The columns that each tree uses, how many, what their bins leave, and the values of its leaves.

    `trees` are the arrays of `crypsis.inference.kernels.trees`, with up to 32 leaves each.
    """
    column, _, _, right = trees
    count, width = column.shape[0], right.shape[2]
    most = max(1, int((column >= 0).sum(axis=1).max(initial=0)))  # columns of one tree
    used = np.zeros((count, most), np.int64)
    columns = np.zeros(count, np.int64)
    masks = np.full((count, most, width), np.uint32(2**32 - 1), np.uint32)
    values = np.zeros((count, MOST_LEAVES))
    _fill(trees, used, columns, masks, values)
    return used, columns, masks, values


@kernel
def _fill(trees: Any, used: Any, columns: Any, masks: Any, values: Any) -> None:
    column, left, value, right = trees
    nodes = column.shape[1]
    first, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)  # leaves under a node
    waiting = np.zeros(2 * nodes + 1, np.int64)
    for t in range(column.shape[0]):
        leaf, depth = 0, 1
        waiting[0] = 0
        while depth:
            depth -= 1
            node = waiting[depth]
            if node < 0:  # all leaves under it are numbered
                last[-node - 1] = leaf
                continue
            first[node] = leaf
            if column[t, node] < 0:
                values[t, leaf] = value[t, node]
                leaf += 1
                last[node] = leaf
                continue
            waiting[depth] = -node - 1
            waiting[depth + 1] = left[t, node] + 1
            waiting[depth + 2] = left[t, node]
            depth += 3
        for node in range(nodes):
            if column[t, node] < 0 or last[node] == 0:
                continue
            place = 0
            while place < columns[t] and used[t, place] != column[t, node]:
                place += 1
            if place == columns[t]:
                used[t, place] = column[t, node]
                columns[t] += 1
            there = left[t, node]
            ruled = np.uint32(0)
            for one in range(first[there], last[there]):
                ruled |= np.uint32(1) << np.uint32(one)
            for b in range(masks.shape[2]):
                if right[t, node, b]:
                    masks[t, place, b] &= ~ruled
        for node in range(nodes):
            first[node] = last[node] = 0


@kernel
def add_scores(bins: Any, found: Leaves, scores: Floats) -> None:
    """Add the values of the leaves to the scores of some rows of bins; trees take turns in scores."""
    used, columns, masks, values = found
    lowest = _places()
    for start in range(0, bins.shape[0], _ROWS):
        end = min(start + _ROWS, bins.shape[0])
        for t in range(columns.size):
            k = t % scores.shape[1]
            for i in range(start, end):
                left = masks[t, 0, bins[i, used[t, 0]]]
                for j in range(1, columns[t]):
                    left &= masks[t, j, bins[i, used[t, j]]]
                one = np.uint32(left & (~left + np.uint32(1)))  # its lowest bit
                scores[i, k] += values[t, lowest[np.uint32(one * np.uint32(0x077CB531)) >> 27]]


@kernel
def _places() -> Any:
    """The place of a bit, by de Bruijn's sequence (Leiserson, Prokop and Randall 1998)."""
    found = np.zeros(32, np.int64)
    for place in range(32):
        one = np.uint32(np.uint32(1) << np.uint32(place))
        found[np.uint32(one * np.uint32(0x077CB531)) >> 27] = place
    return found
