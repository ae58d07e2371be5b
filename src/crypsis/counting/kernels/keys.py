# mypy: disable-error-code="no-any-return"
"""Counting equal keys without sorting them."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Codes, Ints
from crypsis.machine_code import kernel


@kernel
def _slot(key: np.int64, mask: int) -> np.int64:
    """Fibonacci hashing: the high bits of the product are well mixed (Knuth 1973, section 6.4)."""
    return ((key * np.int64(-7046029254386353131)) >> 20) & mask


@kernel
def group_totals(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The group of each key, numbered by first occurrence, and the summed counts of each group."""
    size = 16
    while size < 2 * keys.size:
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, np.int64)
    first = np.empty(keys.size, np.int64)
    group = np.empty(keys.size, np.int64)
    totals = np.zeros(keys.size, np.int64)
    found = 0
    for i in range(keys.size):
        key = keys[i]
        place = _slot(key, mask)
        while slots[place] >= 0 and keys[first[slots[place]]] != key:
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = found
            first[found] = i
            found += 1
        group[i] = slots[place]
        totals[slots[place]] += counts[i]
    return group, totals[:found]


@kernel
def keys_of(codes: Codes, lines: Ints, bits: Ints) -> Ints:
    """One key for each cell from its codes in some lines, each of which has so many bits."""
    keys = np.zeros(codes.shape[1], np.int64)
    for c in range(lines.size):
        line, shift = codes[lines[c]], bits[c]
        for cell in range(keys.size):
            keys[cell] = keys[cell] << shift | line[cell]
    return keys


@kernel
def places_of(known: Ints, keys: Ints) -> Ints:
    """The place of each key among the known ones, which are all different; -1 for others."""
    size = 16
    while size < 2 * known.size:
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, np.int64)
    for i in range(known.size):
        place = _slot(known[i], mask)
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = i
    found = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        place = _slot(keys[i], mask)
        while slots[place] >= 0 and known[slots[place]] != keys[i]:
            place = (place + 1) & mask
        found[i] = slots[place]
    return found
