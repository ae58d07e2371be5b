"""Ryser's formula in exact integers: the permanent of a 0-1 matrix that has no better structure.

per(A) = sum over sets S of columns of (-1)^(t-|S|) prod_i (sum of row i over S). Everything is done
modulo 2^128, in two words; the permanent is at most t!, so for t <= 34 the residue is the number.
Twelve row sums of at most 34 fit one word, so that long products are needed once in twelve rows.
"""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from crypsis.machine_code import kernel

LARGEST = 34
_TASK_BITS = 7
_ROWS_A_WORD = 12


def permanent(matrix: NDArray[np.int64]) -> int:
    """The permanent of a 0-1 matrix of at most 34 rows; O(t 2^t) time.

    >>> permanent(np.ones((5, 5), dtype=np.int64))
    120
    """
    size = matrix.shape[0]
    if size > LARGEST:
        raise ValueError(f"Ryser's formula in 128 bits is for at most {LARGEST} rows, not {size}.")
    if size == 0:
        return 1
    words = _tasks(np.ascontiguousarray(matrix, dtype=np.int64))
    return sum((int(high) << 64) + int(low) for high, low in words) % (1 << 128)


@kernel
def _times(high, low, factor):  # type: ignore[no-untyped-def]
    """(high, low) * factor modulo 2^128, by schoolbook multiplication of half words."""
    half = np.uint64(32)
    below = np.uint64(0xFFFFFFFF)
    a0, a1 = low & below, low >> half
    b0, b1 = factor & below, factor >> half
    p00, p01, p10, p11 = a0 * b0, a0 * b1, a1 * b0, a1 * b1
    middle = (p00 >> half) + (p01 & below) + (p10 & below)
    new_low = (p00 & below) | (middle << half)
    carry = p11 + (p01 >> half) + (p10 >> half) + (middle >> half)
    return high * factor + carry, new_low


@kernel
def _stretch(matrix, first, length):  # type: ignore[no-untyped-def]
    """The signed sum over `length` steps of the Gray code, as two words."""
    size = matrix.shape[0]
    sums = np.zeros(size, dtype=np.int64)
    gray = first ^ (first >> 1)
    chosen = 0
    for j in range(size):
        if (gray >> j) & 1:
            chosen += 1
            for i in range(size):
                sums[i] += matrix[j, i]
    total_high, total_low = np.uint64(0), np.uint64(0)
    for step in range(first, first + length):
        if step > first:
            j = 0
            while not (step >> j) & 1:
                j += 1
            sign = 1 if ((step ^ (step >> 1)) >> j) & 1 else -1
            chosen += sign
            for i in range(size):
                sums[i] += sign * matrix[j, i]
        high, low = np.uint64(0), np.uint64(1)
        for begin in range(0, size, _ROWS_A_WORD):
            word = np.uint64(1)
            for i in range(begin, min(begin + _ROWS_A_WORD, size)):
                word *= np.uint64(sums[i])
            high, low = _times(high, low, word)
        if (size - chosen) & 1:
            high, low = ~high, ~low
            low += np.uint64(1)
            if low == 0:
                high += np.uint64(1)
        total_low += low
        total_high += high
        if total_low < low:
            total_high += np.uint64(1)
    return total_high, total_low


@kernel(parallel=True)
def _tasks(matrix):  # type: ignore[no-untyped-def]
    size = matrix.shape[0]
    bits = min(_TASK_BITS, size)
    length = 1 << (size - bits)
    columns = matrix.T.copy()
    out = np.zeros((1 << bits, 2), dtype=np.uint64)
    for task in prange(1 << bits):
        high, low = _stretch(columns, task * length, length)
        out[task, 0] = high
        out[task, 1] = low
    return out
