"""Grouping equal tuples of codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Codes, Ints
from crypsis.counting.arrays import column, numbers


def numbered(values: NDArray[Any]) -> Ints:
    """Equal values get equal numbers: 0, 1, ... as they first appear. By hashing, without a sort.

    >>> numbered(np.array([7.5, 3.0, 7.5, 1.0]))
    array([0, 1, 0, 2])
    """
    plain = values + 0.0 if values.dtype.kind == "f" else values  # minus zero is zero
    return numbers(column(plain).dictionary_encode().indices).astype(np.int64)


def firsts(numbers: Ints) -> Ints:
    """Where each of the numbers 0, 1, ... first appears."""
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(numbers.size - 1, -1, -1)  # the last one written is the first
    return first


def sorted_values(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """The different values in order, and for each value its place among them."""
    number = numbered(values)
    different = values[firsts(number)]
    order = np.argsort(different)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return different[order], rank[number]


def group_keys(codes: tuple[Codes, ...], domains: tuple[int, ...]) -> tuple[Ints, int]:
    """One integer per cell that orders cells as their tuples of codes do; and its bound."""
    key = np.zeros(codes[0].size, np.int64)
    bound = 1
    for code, domain in zip(codes, domains, strict=True):
        if bound * domain >= 2**62:
            distinct, key = np.unique(key, return_inverse=True)
            bound = distinct.size
        key = key * domain + code
        bound *= domain
    return key, bound


def group(codes: tuple[Codes, ...], domains: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Group equal tuples: a cell that stands for each group, in order, and each cell's group."""
    key, bound = group_keys(codes, domains)
    inverse: Ints
    if (key[1:] >= key[:-1]).all():  # cells are in order, and stay so with their first columns
        inverse = np.cumsum(np.diff(key, prepend=key[:1]) > 0)
    elif bound <= 4 * key.size + 1024:
        present = np.zeros(bound, bool)
        present[key] = True
        inverse = (np.cumsum(present) - 1)[key]
    else:
        inverse = np.unique(key, return_inverse=True)[1]
    return firsts(inverse), inverse
