"""Glynn's formula for the permanent, and all of its minors, in one walk along a Gray code.

Glynn (2010), with a sign d_i = +-1 for each row (one of them fixed) and column sums s_j = sum_i
d_i A_ij:

    per(A) = 2^(1-t) * sum over d of (prod_i d_i) * prod_j s_j

Differentiating by A_ij gives the permanent of A without row i and column j, the minor

    2^(1-t) * sum over d of (prod_i d_i) * d_i * prod_{j' != j} s_j'

whose products come from prefixes and suffixes. A sum weighted with d_i need not touch every row
at every step: between two flips of row i the weight is constant, so by Abel summation it is
enough to add the running total T_j to row i when row i flips, and a Gray code flips one row a
step. Permanent and minors together so cost O(t 2^t), like the permanent alone.

Four rows are not walked but laid out side by side, as the 16 lanes of a vector. Each stretch of
the walk starts from fresh column sums and ends in a compensated sum (Neumaier 1974). The work is
cut the same way however many threads there are: same input, same bits.
"""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from crypsis.machine_code import kernel
from crypsis.pseudonyms.kernels.lanes import LANE_BITS, LANES, fused, load, splat, store
from crypsis.pseudonyms.kernels.sums import UNIT, Minors, Permanent, compensated

_STRETCH_BITS = 10
_TASKS = 64
_SMALLEST = LANE_BITS + 2
LARGEST = 40  # beyond this even the fastest machines need years; callers set lower limits


def permanent(matrix: NDArray[np.float64]) -> Permanent:
    """The permanent of a square matrix; O(t 2^t) time, O(t) memory.

    >>> permanent(np.ones((4, 4))).permanent
    24.0
    """
    padded, size = _padded(matrix)
    if size == 0:
        return Permanent(1.0, 1.0, 0.0)
    signs = _lane_signs()
    sums = compensated(_permanent_tasks(padded, signs, signs.prod(axis=0)))
    sums *= 0.5 ** (padded.shape[0] - 1)
    return Permanent(float(sums[0]), float(sums[1]), _bound(size, float(sums[1])))


def permanent_and_minors(matrix: NDArray[np.float64]) -> Minors:
    """The permanent and, for each cell, the permanent without its row and column, in one pass.

    >>> permanent_and_minors(np.ones((4, 4))).minors[0]
    array([6., 6., 6., 6.])
    """
    padded, size = _padded(matrix)
    if size == 0:
        return Minors(1.0, np.ones((0, 0)), 1.0, 0.0)
    signs = _lane_signs()
    sums = compensated(_minor_tasks(padded, signs, signs.prod(axis=0)))
    sums *= 0.5 ** (padded.shape[0] - 1)
    cells = sums[:-2].reshape(padded.shape)[:size, :size]
    return Minors(float(sums[-2]), cells, float(sums[-1]), _bound(size, float(sums[-1])))


def _bound(size: int, absolute: float) -> float:
    """Two roundings a factor: of the column sum, and of the product."""
    return 2 * UNIT * size * absolute


def _padded(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """The matrix with ones added down the diagonal until it fills the lanes; same permanent."""
    size = matrix.shape[0]
    if size > LARGEST:
        raise ValueError(f"Glynn's formula is for at most {LARGEST} rows, not {size}.")
    padded = np.eye(max(size, _SMALLEST))
    padded[:size, :size] = matrix
    return padded, size


def _lane_signs() -> NDArray[np.float64]:
    """Row r: the signs of the r-th laid-out row in the lanes."""
    lanes = np.arange(LANES)
    return np.array([1.0 - 2.0 * ((lanes >> bit) & 1) for bit in range(LANE_BITS)])


@kernel
def _aligned(length):  # type: ignore[no-untyped-def]
    """An array that starts on a cache line, so that no vector straddles two."""
    room = np.empty(length + 7)
    skip = (-(room.ctypes.data >> 3)) & 7
    return room[skip : skip + length]


@kernel
def _begin(a, lane_signs, step, left_out, sums):  # type: ignore[no-untyped-def]
    """Column sums in every lane at a step of the walk; returns the sign of the walked rows.

    The first `left_out` rows are not walked: they count with a plus.
    """
    size = a.shape[0]
    bits, lanes = lane_signs.shape
    walked = size - 1 - bits
    gray = step ^ (step >> 1)
    sign = 1.0
    for j in range(size):
        base = a[size - 1, j]
        for i in range(left_out):
            base += a[i, j]
        for i in range(left_out, walked):
            base += -a[i, j] if (gray >> (i - left_out)) & 1 else a[i, j]
        for lane in range(lanes):
            value = base
            for r in range(bits):
                value += lane_signs[r, lane] * a[walked + r, j]
            sums[j * lanes + lane] = value
    for bit in range(walked - left_out):
        if (gray >> bit) & 1:
            sign = -sign
    return sign


@kernel
def _flip(step):  # type: ignore[no-untyped-def]
    """The row that flips when the walk reaches `step`, and by how much its entries then count."""
    row = 0
    while not (step >> row) & 1:
        row += 1
    return row, -2.0 if ((step ^ (step >> 1)) >> row) & 1 else 2.0


@kernel(error_model="numpy")
def _permanent_stretch(a, lane_signs, first, length, sums, total):  # type: ignore[no-untyped-def]
    """Add the terms of one stretch of the walk, and their absolute values, lane by lane."""
    size = a.shape[0]
    sign = _begin(a, lane_signs, first, 0, sums)
    signed = splat(0.0)
    absolute = splat(0.0)
    for step in range(first, first + length):
        product = splat(sign)
        row, change = (0, 0.0) if step == first else _flip(step)
        for j in range(size):
            value = load(sums, j * LANES) + splat(change * a[row, j])
            store(sums, j * LANES, value)
            product = product * value
        signed = signed + product
        absolute = absolute + abs(product)
        sign = -sign
    store(total, 0, signed)
    store(total, LANES, absolute)


@kernel(parallel=True)
def _permanent_tasks(a, lane_signs, signs):  # type: ignore[no-untyped-def]
    size = a.shape[0]
    steps = 1 << (size - 1 - LANE_BITS)
    length = min(steps, 1 << _STRETCH_BITS)
    stretches = steps // length
    tasks = min(_TASKS, stretches)
    out = np.zeros((tasks, 2))
    for task in prange(tasks):
        column_sums = _aligned(size * LANES)
        total = np.empty(2 * LANES)
        sums = np.zeros(2)
        lost = np.zeros(2)
        for stretch in range(task * stretches // tasks, (task + 1) * stretches // tasks):
            _permanent_stretch(a, lane_signs, stretch * length, length, column_sums, total)
            for lane in range(LANES):
                _add(sums, lost, 0, signs[lane] * total[lane])
                _add(sums, lost, 1, total[LANES + lane])
        out[task] = sums + lost
    return out


@kernel(error_model="numpy")
def _minor_stretch(a, lane_signs, first, length, work, weighted, total):  # type: ignore[no-untyped-def]
    """One stretch: running totals T_j and, for each walked row, `weighted` sums over its flips.

    The two signs of the first row are done together, `plus` and `minus`, which spares half of the
    traffic with memory: its weighted sum is `weighted[0]`, and the walk is over the rows after it.
    The column sums kept are those with a plus.
    """
    size = a.shape[0]
    sums, plus, minus, running = work
    sign = _begin(a, lane_signs, first, 1, sums)
    running[:] = 0.0
    weighted[:] = 0.0
    zeroth = weighted[0]
    signed = splat(0.0)
    absolute = splat(0.0)
    for step in range(first, first + length):
        up, down = splat(sign), splat(-sign)
        bit, change = (0, 0.0) if step == first else _flip(step)
        row = min(bit + 1, weighted.shape[0] - 1)
        flips = weighted[row]
        before = splat(change)
        for j in range(size):
            at = j * LANES
            store(flips, at, load(flips, at) - before * load(running, at))
            value = load(sums, at) + splat(change * a[row, j])
            store(sums, at, value)
            store(plus, at, up)
            store(minus, at, down)
            up = up * value
            down = down * (value - splat(2.0 * a[0, j]))
        signed = signed + (up + down)
        absolute = absolute + (abs(up) + abs(down))
        up, down = splat(1.0), splat(1.0)
        for back in range(size):
            j = size - 1 - back
            at = j * LANES
            before_up, before_down = load(plus, at), load(minus, at)
            both = fused(before_up, up, fused(before_down, down, load(running, at)))
            store(running, at, both)
            # The prefix of `down` has its sign already, so the first row's sign takes it back.
            difference = fused(before_up, up, fused(before_down, splat(0.0) - down, load(zeroth, at)))
            store(zeroth, at, difference)
            value = load(sums, at)
            up = up * value
            down = down * (value - splat(2.0 * a[0, j]))
        sign = -sign
    store(total, 0, signed)
    store(total, LANES, absolute)
    last = first + length - 1
    gray = last ^ (last >> 1)
    for i in range(1, weighted.shape[0]):
        at_end = -1.0 if (gray >> (i - 1)) & 1 else 1.0
        for k in range(size * LANES):
            weighted[i, k] += at_end * running[k]


@kernel
def _add(sums, lost, i, term):  # type: ignore[no-untyped-def]
    """One step of Neumaier's compensated sum, for entry i."""
    old = sums[i]
    new = old + term
    if abs(old) >= abs(term):
        lost[i] += (old - new) + term
    else:
        lost[i] += (term - new) + old
    sums[i] = new


@kernel
def _gather(lane_signs, signs, running, weighted, size, sums, lost):  # type: ignore[no-untyped-def]
    """Add what a stretch found, over the lanes with their signs, to the minors."""
    walked = weighted.shape[0]
    for i in range(size):
        for j in range(size):
            part = 0.0
            for lane in range(LANES):
                k = j * LANES + lane
                if i < walked:
                    part += signs[lane] * weighted[i, k]
                elif i < size - 1:
                    part += signs[lane] * lane_signs[i - walked, lane] * running[k]
                else:
                    part += signs[lane] * running[k]
            _add(sums, lost, i * size + j, part)


@kernel(parallel=True)
def _minor_tasks(a, lane_signs, signs):  # type: ignore[no-untyped-def]
    size = a.shape[0]
    walked = size - 1 - LANE_BITS
    steps = 1 << (walked - 1)
    length = min(steps, 1 << _STRETCH_BITS)
    stretches = steps // length
    tasks = min(_TASKS, stretches)
    out = np.zeros((tasks, size * size + 2))
    for task in prange(tasks):
        running = _aligned(size * LANES)
        work = (_aligned(size * LANES), _aligned(size * LANES), _aligned(size * LANES), running)
        weighted = _aligned(walked * size * LANES).reshape((walked, size * LANES))
        total = np.empty(2 * LANES)
        sums = np.zeros(size * size + 2)
        lost = np.zeros(size * size + 2)
        for stretch in range(task * stretches // tasks, (task + 1) * stretches // tasks):
            _minor_stretch(a, lane_signs, stretch * length, length, work, weighted, total)
            _gather(lane_signs, signs, running, weighted, size, sums, lost)
            for lane in range(LANES):
                _add(sums, lost, size * size, signs[lane] * total[lane])
                _add(sums, lost, size * size + 1, total[LANES + lane])
        out[task] = sums + lost
    return out
