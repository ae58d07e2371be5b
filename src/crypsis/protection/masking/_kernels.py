# mypy: disable-error-code="no-any-return"
"""Rank swapping, and groups of near records."""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel


@kernel
def swap_partners(n: int, reach: int, draws: Floats) -> Ints:
    """Each rank swapped with a free one at most `reach` above it (Moore 1996).

    The free ranks are counted in a binary indexed tree (Fenwick 1994): drawing one takes as many
    steps as `n` has bits, whatever the reach.
    """
    partner = np.arange(n)
    tree = np.empty(n + 1, np.int64)
    for place in range(n + 1):
        tree[place] = place & -place
    for i in range(n):
        if partner[i] != i:
            continue
        _take(tree, i)
        found = _free_below(tree, min(n, i + reach + 1))  # no lower rank is free anymore
        if found:
            j = _free_rank(tree, min(found - 1, int(draws[i] * found)))
            partner[i], partner[j] = j, i
            _take(tree, j)
    return partner


@kernel
def _free_below(tree: Ints, end: int) -> int:
    """How many ranks below `end` are free."""
    found: Any = 0
    while end > 0:
        found += tree[end]
        end -= end & -end
    return found


@kernel
def _take(tree: Ints, rank: int) -> None:
    place = rank + 1
    while place < tree.size:
        tree[place] -= 1
        place += place & -place


@kernel
def _free_rank(tree: Ints, before: int) -> int:
    """The free rank below which so many others are free."""
    step, place = 1, 0
    while 2 * step < tree.size:
        step *= 2
    while step > 0:
        if place + step < tree.size and tree[place + step] <= before:
            place += step
            before -= tree[place]
        step //= 2
    return place


@kernel
def _distances_to(points: Floats, left: Ints, count: int, center: Floats, out: Floats) -> None:
    for i in range(count):
        total = 0.0
        for c in range(points.shape[1]):
            gap = points[left[i], c] - center[c]
            total += gap * gap
        out[i] = total


@kernel
def _take_nearest(
    points: Floats, left: Ints, count: int, center: Floats, k: int, group: Ints, label: int, room: Floats
) -> int:
    """Label the k records of `left` nearest to `center`; the others move to the front."""
    _distances_to(points, left, count, center, room)
    limit = np.partition(room[:count], k - 1)[k - 1]
    taken = 0
    for i in range(count):
        if room[i] < limit:
            group[left[i]] = label
            taken += 1
    for i in range(count):  # equally far records fill up to k, the first ones first
        if taken < k and room[i] == limit:
            group[left[i]] = label
            taken += 1
    kept = 0
    for i in range(count):
        if group[left[i]] != label:
            left[kept] = left[i]
            kept += 1
    return kept


@kernel
def mdav_groups(points: Floats, k: int) -> Ints:
    """Groups of k near records, the last up to 2k - 1: MDAV (Domingo-Ferrer and Torra 2005).

    Around the record farthest from the mean, and around the one farthest from that, the k nearest
    form a group, until fewer than 3k are left. O(n^2 / k).
    """
    n, columns = points.shape
    group = np.full(n, -1, np.int64)
    left = np.arange(n)
    room = np.empty(n)
    count, label = n, 0
    mean = np.empty(columns)
    while count >= 2 * k:
        for c in range(columns):
            total = 0.0
            for i in range(count):
                total += points[left[i], c]
            mean[c] = total / count
        _distances_to(points, left, count, mean, room)
        far = left[np.argmax(room[:count])]
        pair = count >= 3 * k
        _distances_to(points, left, count, points[far], room)
        other = left[np.argmax(room[:count])]
        count = _take_nearest(points, left, count, points[far], k, group, label, room)
        label += 1
        if pair:
            if group[other] >= 0:  # it is in the first group: the farthest of the others
                _distances_to(points, left, count, points[far], room)
                other = left[np.argmax(room[:count])]
            count = _take_nearest(points, left, count, points[other], k, group, label, room)
            label += 1
    for i in range(count):
        group[left[i]] = label
    return group
