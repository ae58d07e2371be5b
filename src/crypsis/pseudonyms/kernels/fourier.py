"""The distribution of the number of hits in a dense block, by Glynn's formula at roots of unity.

Give every hit the weight x. The permanent is then a polynomial F(x) whose coefficients, divided
by F(1), are the probabilities of 0, 1, ..., t hits. Its values at the t + 1 roots of unity come
from one walk along the Gray code: a lane for each root (those in conjugate pairs once), so t is
at most 30. Each column has one hit cell, so its sum at x is (sum at 1) + (x - 1) * (signed hit
cell).
"""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from crypsis.machine_code import kernel
from crypsis.pseudonyms.kernels.lanes import LANES, load, splat, store

LARGEST = 2 * LANES - 2
_STRETCH_BITS = 8
_TASKS = 64


def cracks(matrix: NDArray[np.float64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability of 0, 1, ..., t cracks of a block scaled to be doubly stochastic.

    O(t^2 2^t) time; the error is absolute, about 1e-15 times the cancellation of the permanent.

    >>> cracks(np.full((3, 3), 1 / 3), np.arange(3)).round(4) + 0.0
    array([0.3333, 0.5   , 0.    , 0.1667])
    """
    size = matrix.shape[0]
    if size > LARGEST:
        raise ValueError(f"At most {LARGEST} rows have a lane for every root, not {size}.")
    roots = np.exp(2j * np.pi * np.arange(LANES) / (size + 1)) - 1.0
    columns = np.ascontiguousarray(matrix[:, truth])  # hits on the diagonal
    parts = _tasks(columns, np.ascontiguousarray(roots.real), np.ascontiguousarray(roots.imag))
    sums = parts.sum(axis=0)
    values = sums[:LANES] + 1j * sums[LANES:]
    half = (size + 1) // 2 + 1
    coefficients = np.fft.irfft(np.conj(values[:half]), n=size + 1)
    coefficients = np.clip(coefficients / values[0].real, 0.0, 1.0)
    return np.asarray(coefficients / coefficients.sum())


@kernel(error_model="numpy")
def _stretch(a, real_roots, imaginary_roots, first, length, sums, signs, total):  # type: ignore[no-untyped-def]
    size = a.shape[0]
    gray = first ^ (first >> 1)
    sign = 1.0
    for i in range(size):
        signs[i] = -1.0 if i < size - 1 and (gray >> i) & 1 else 1.0
        sign *= signs[i]
    for j in range(size):
        sums[j] = 0.0
        for i in range(size):
            sums[j] += signs[i] * a[i, j]
    shift_real, shift_imaginary = load(real_roots, 0), load(imaginary_roots, 0)
    total_real, total_imaginary = splat(0.0), splat(0.0)
    for step in range(first, first + length):
        if step > first:
            row = 0
            while not (step >> row) & 1:
                row += 1
            signs[row] = -signs[row]
            sign = -sign
            for j in range(size):
                sums[j] += 2.0 * signs[row] * a[row, j]
        real, imaginary = splat(sign), splat(0.0)
        for j in range(size):
            hit = splat(signs[j] * a[j, j])
            x = splat(sums[j]) + shift_real * hit
            y = shift_imaginary * hit
            real, imaginary = real * x - imaginary * y, real * y + imaginary * x
        total_real = total_real + real
        total_imaginary = total_imaginary + imaginary
    store(total, 0, load(total, 0) + total_real)
    store(total, LANES, load(total, LANES) + total_imaginary)


@kernel(parallel=True)
def _tasks(a, real_roots, imaginary_roots):  # type: ignore[no-untyped-def]
    size = a.shape[0]
    steps = 1 << (size - 1)
    length = min(steps, 1 << _STRETCH_BITS)
    stretches = steps // length
    tasks = min(_TASKS, stretches)
    out = np.zeros((tasks, 2 * LANES))
    for task in prange(tasks):
        sums = np.empty(size)
        signs = np.empty(size)
        total = np.zeros(2 * LANES)
        for stretch in range(task * stretches // tasks, (task + 1) * stretches // tasks):
            _stretch(a, real_roots, imaginary_roots, stretch * length, length, sums, signs, total)
        out[task] = total
    return out
