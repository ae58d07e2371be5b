# mypy: disable-error-code="no-any-return"
"""The lattice searched for the vector of levels that releases the most: an alternative to `sweep`.

Classes that meet a requirement on sensitive values by chance are small and cheap; taken first, as
`sweep` does, they leave rows behind whose values are one-sided. Here the vector with the largest
gain comes first: the gain of a class is its rows times what its loss is below a price, and the price
rises step by step. Gains seldom grow while cells are released, so the gains of earlier evaluations
rank the vectors, and only the best is evaluated again (lazy greedy search, Minoux 1978).

`cells` and `sensitive` are those of `sweep`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel
from crypsis.protection.recoding.kernels.requirements import places
from crypsis.protection.recoding.kernels.sweep import group_free, meeting


@kernel
def release_by_gain(
    vectors: Ints, least: Floats, prices: Floats, k: int, cells: Any, sensitive: Any, work: int, found: Ints
) -> int:
    """Release classes by decreasing gain; `found` gets the vector of every cell, or -1.

    `least` is the least loss of any label of a vector. About `work` cells are grouped in all; if
    more would be, vectors are left out evenly. The number of cells that stay free is returned.
    """
    loss, counts = cells[1], cells[2]
    size = counts.size
    free, part = np.arange(size), np.empty(size, np.int64)
    totals, slots = np.empty(size, np.int64), 1
    while slots < 2 * size:
        slots *= 2
    table = (np.zeros(slots, np.uint64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64))
    gains = np.zeros(vectors.shape[0])
    cost = 1 + places(sensitive) // 8
    found[:] = -1
    stamp, left = 0, counts.sum()
    for p in range(prices.size):
        stride = 2 * size * cost * vectors.shape[0] * (prices.size - p) // max(4 * work, 1) + 1
        fresh = 0  # the vectors before this one have a gain at this price
        gains[:] = 0.0
        while left > 0 and work > 0:
            if fresh < gains.size:
                v = fresh
                fresh += 1
                if least[v] >= prices[p] or v % stride:
                    continue
            else:
                v = int(np.argmax(gains))
                if gains[v] <= 0.0:
                    break
            stamp += 1
            work -= size * cost
            groups = group_free(vectors[v], -1.0, prices[p], free, size, cells, part, totals, table, stamp)
            good = meeting(free, size, part, totals, groups, k, sensitive)
            before, gains[v] = gains[v], 0.0
            for i in range(size):
                if part[i] >= 0 and good[part[i]]:
                    gains[v] += counts[free[i]] * prices[p]
                    for b in range(vectors.shape[1]):
                        gains[v] -= counts[free[i]] * loss[vectors[v, b], free[i]]
            if before == 0.0 or gains[v] <= 0.0 or gains[v] < gains.max():
                continue
            kept = 0
            for i in range(size):
                if part[i] >= 0 and good[part[i]] and counts[free[i]] > 0:
                    found[free[i]] = v
                    left -= counts[free[i]]
                else:
                    free[kept] = free[i]
                    kept += 1
            size = kept
    return size
