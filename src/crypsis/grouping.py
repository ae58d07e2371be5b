"""Grouping equal tuples of codes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
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
        inverse = (np.cumsum(present) - 1)[key]
    else:  # hashed first: of many rows few keys are left to sort
        coded = pa.array(key).dictionary_encode()
        order = np.argsort(np.from_dlpack(coded.dictionary))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        inverse = rank[np.from_dlpack(coded.indices)]
    first = np.empty(int(inverse.max(initial=-1)) + 1, np.int64)
    first[inverse[::-1]] = np.arange(key.size - 1, -1, -1)  # the last one written is the first
    return first, inverse
