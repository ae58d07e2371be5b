"""Grouping equal tuples of codes, in NumPy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


def group_keys(codes: tuple[Codes, ...], domains: tuple[int, ...]) -> tuple[Ints, int]:
    """One integer per cell that orders cells as their tuples of codes do; and its bound."""
    key = np.zeros(codes[0].size, np.int64)
    bound = 1
    for column, domain in zip(codes, domains, strict=True):
        if bound * domain >= 2**62:
            there, key = np.unique(key, return_inverse=True)
            bound = there.size
        key = key * domain + column
        bound *= domain
    return key, bound


def group(codes: tuple[Codes, ...], domains: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Group equal tuples: a cell that stands for each group, in order, and each cell's group."""
    key, bound = group_keys(codes, domains)
    if bound <= 4 * key.size + 1024:
        present = np.zeros(bound, bool)
        present[key] = True
        groups = np.cumsum(present) - 1
        first = np.empty(int(groups[-1]) + 1, np.int64)
        inverse = groups[key]
        first[inverse[::-1]] = np.arange(key.size - 1, -1, -1)
        return first, inverse
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse
