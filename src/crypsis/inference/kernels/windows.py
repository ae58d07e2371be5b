"""Sums over windows that move along a list, where each owner counts once in a window."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel


@kernel
def weight_within(owner: Ints, weight: Floats, first: Ints, last: Ints) -> Floats:
    """For each window the weights of the owners of the entries from `first` up to `last`.

    An owner of several entries in a window counts once. Both ends never move back.
    """
    totals = np.zeros(first.size)
    times = np.zeros(weight.size, np.int64)
    total = 0.0
    low, high = 0, 0
    for window in range(first.size):
        while high < last[window]:
            if times[owner[high]] == 0:
                total += weight[owner[high]]
            times[owner[high]] += 1
            high += 1
        while low < first[window]:
            times[owner[low]] -= 1
            if times[owner[low]] == 0:
                total -= weight[owner[low]]
            low += 1
        totals[window] = total
    return totals
