"""Bounds of a permanent from two concave problems over doubly stochastic matrices.

For a nonnegative matrix A of t rows and doubly stochastic P let

    F(P) = sum P log(A / P) + sum (1 - P) log(1 - P)            (Bethe)
    G(P) = sum P log(A / P) - sum (P + P^2 log P / (1 - P)).

Then max F <= log per(A) <= min(max F + t/2 log 2, max G).

The left side is Schrijver's inequality (1998) in the form of Gurvits (2011), true for every P. The
factor 2^(t/2) is that of Gurvits and Samorodnitsky (2014), proved by Anari and Rezaei (2018).
The bound by G is the first half of the latter proof, with Jensen's inequality in place of the
second: let rows choose in random order among the columns that are still free, in proportion to
the true edge probabilities P; by Gibbs' inequality the mean of log(weight / probability of being
chosen) is at least log per(A). If a row with probability p for its own column comes when a share s
of the others is yet to come, what is free has the mean p + s (1 - p), and the mean of
log(p + s (1 - p)) over s is -1 - p log p / (1 - p). The bound is within 0.39 t of F, and within
log(n) / n a row where no probability is above 1 / n: far closer than 2^(t/2) where many rows or
columns are identical.

F is concave on doubly stochastic matrices (Vontobel 2013), G everywhere. In both the second sum is
convex in P, so replacing it by its tangent gives a matrix to be scaled to row and column sums 1
(Sinkhorn; here by Newton's method), whose solution improves the value; repeat (Yuille and
Rangarajan 2003). At any P the tangent plane bounds the maximum: that is the certificate.

Identical rows and columns are counted together: r and c are their numbers, and every P is constant
on pairs of kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import prange
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel

GAP = 1e-4  # nats an item between a value and what its certificate allows
_MAX_ROUNDS = 100
_DENSE = 700  # kinds of columns up to which Newton's system is solved directly
_MAX_NEWTON = 60
_SLACK = 1e-9  # nats an item: what is left of sums that are not exactly 1, and rounding


class Problem(NamedTuple):
    """A matrix of kinds: compressed rows with logarithms of cells, and the numbers of each kind."""

    starts: Ints
    indices: Ints
    logs: Floats
    rows: Floats
    columns: Floats


class Scaled(NamedTuple):
    """A doubly stochastic matrix: cells exp(logs + u + v), and the total error of its sums."""

    u: Floats
    v: Floats
    cells: Floats
    residual: float


class Bounds(NamedTuple):
    """Bounds of the logarithm of a permanent; the Bethe permanent and its marginals.

    `gap` is what the certificate leaves between `bethe` and the true maximum of F, in nats;
    `scaled` is the doubly stochastic matrix equivalent to the given one.
    """

    low: float
    high: float
    bethe: float
    gap: float
    marginals: Floats
    scaled: Scaled


def problem(weights: csr_array, rows: Ints, columns: Ints) -> Problem:
    """The problem of an irreducible matrix of kinds."""
    return Problem(
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int64),
        np.log(weights.data),
        rows.astype(np.float64),
        columns.astype(np.float64),
    )


def bounds(problem: Problem, *, on_round: Callable[[], None] | None = None) -> Bounds:
    """Lower and upper bounds of log per, with certificates.

    >>> ones = problem(csr_array(np.ones((1, 1))), np.array([50]), np.array([50]))
    >>> found = bounds(ones)
    >>> bool(found.low <= math.lgamma(51) <= found.high < found.low + 4)
    True
    """
    size = float(problem.rows.sum())
    start = scale(problem)
    best, low, top = _maximum(problem, start, _bethe, _bethe_slope, size, on_round)
    _, _, entropic_maximum = _maximum(problem, start, _entropic, _entropic_slope, size, on_round)
    high = min(top + size / 2 * math.log(2), entropic_maximum) + _SLACK * size
    low -= _SLACK * size
    return Bounds(low, max(low, high), low, top - low, best.cells, start)


def _maximum(
    problem: Problem,
    start: Scaled,
    extra: Callable[[Floats], Floats],
    slope: Callable[[Floats], Floats],
    size: float,
    on_round: Callable[[], None] | None,
) -> tuple[Scaled, float, float]:
    """The matrix with the largest value of sum P log(A / P) + extra(P), the value and its bound."""
    row_of = np.repeat(np.arange(problem.rows.size), np.diff(problem.starts))
    pairs = problem.rows[row_of] * problem.columns[problem.indices]
    now, at = start, slope(start.cells)
    low, high = -math.inf, math.inf
    best = start
    for round_ in range(_MAX_ROUNDS):
        last = round_ == _MAX_ROUNDS - 1
        now = scale(problem, problem.logs + at, start=now.v, tolerance=1e-12)
        p, new = now.cells, slope(now.cells)
        logs = np.log(np.maximum(p, 1e-300))
        value = float((pairs * (p * (problem.logs - logs) + extra(p))).sum())
        value -= 50 * size * now.residual  # sums not quite 1: moved along paths to where they lack
        tangent = problem.logs - logs - 1 + new
        most = np.maximum.reduceat(tangent + now.v[problem.indices], problem.starts[:-1])
        bound = float(
            (pairs * (p + extra(p) - p * new)).sum() + problem.rows @ most - problem.columns @ now.v
        )
        high = min(high, bound + 50 * size * now.residual)
        if value > low:
            best, low = now, value
        if on_round is not None:
            on_round()
        if high - low <= GAP * size or last:
            break
        at = new
    return best, low, max(low, high)


def _bethe(p: Floats) -> Floats:
    q = np.maximum(1 - p, 1e-300)
    return np.asarray(q * np.log(q))


def _bethe_slope(p: Floats) -> Floats:
    return np.asarray(-np.log(np.maximum(1 - p, 1e-15)) - 1)


def _entropic(p: Floats) -> Floats:
    q = 1 - p
    near_one = q < 1e-3
    safe = np.where(near_one, 0.5, p)
    middle = -safe - safe**2 * np.log(np.maximum(safe, 1e-300)) / (1 - safe)
    return np.where(near_one, -q / 2 + q**2 / 3 + q**3 / 12, middle)


def _entropic_slope(p: Floats) -> Floats:
    q = 1 - p
    near_one = q < 1e-3
    safe = np.where(near_one, 0.5, p)
    rest, log = 1 - safe, np.log(np.maximum(safe, 1e-300))
    middle = -1 - (2 * safe * log + safe) / rest - (safe / rest) ** 2 * log
    return np.where(near_one, 0.5 - 2 * q / 3 - q**2 / 4, middle)


def scale(
    problem: Problem, logs: Floats | None = None, *, start: Floats | None = None, tolerance: float = 1e-12
) -> Scaled:
    """Scale exp(logs) to row and column sums of 1: sweeps while they help, then Newton's method.

    Rows are always exact; the rest is a convex problem in the logarithms v of the column factors
    (its Hessian is D - M' R^-1 M for the matrix M of expected pairs). `tolerance` is on the total
    error of the column sums, over t.
    """
    logs = problem.logs if logs is None else logs
    size = problem.rows.sum()
    many, wide = problem.rows.size, problem.columns.size
    v = np.zeros(wide) if start is None else start.copy()
    u, cells = np.empty(many), np.empty(logs.size)
    row_of = np.repeat(np.arange(many), np.diff(problem.starts))

    def rows_exact(v: Floats) -> tuple[Floats, float, float]:
        _normalize(problem.starts, problem.indices, logs, v, problem.columns, u, cells)
        sums: Floats = np.zeros(wide)
        sums += np.bincount(problem.indices, weights=problem.rows[row_of] * cells, minlength=wide)
        error = float(np.abs(sums - 1) @ problem.columns) / float(size)
        return sums, error, float(-problem.rows @ u - problem.columns @ v)

    sums, error, value = rows_exact(v)
    floor = 1e-15 * math.sqrt(size)
    for _ in range(5 if start is None else 1):
        if error <= max(tolerance, floor):
            break
        v = v - np.log(sums)
        sums, error, value = rows_exact(v)
    for _ in range(_MAX_NEWTON):
        if error <= max(tolerance, floor):
            break
        before = error
        step = _newton_step(problem, cells, sums, row_of, min(0.1, error))
        length = 1.0 / max(1.0, float(np.abs(step).max()) / 2)
        while length > 1e-3:
            trial = v + length * step
            new_sums, new_error, new_value = rows_exact(trial)
            if new_value <= value + 1e-12 * abs(value) and (new_error < error or length < 0.9):
                break
            length /= 2
        else:
            trial = v - np.log(sums)  # a sweep of Sinkhorn never makes it worse
            new_sums, new_error, new_value = rows_exact(trial)
        v, sums, error, value = trial, new_sums, new_error, new_value
        if error >= before and error < 1e-10:
            break  # rounding
    return Scaled(u, v, cells, error)


def _newton_step(problem: Problem, cells: Floats, sums: Floats, row_of: Ints, accuracy: float) -> Floats:
    """Solve (D - M' R^-1 M) step = columns - sums, up to a constant."""
    mass = cells * problem.rows[row_of] * problem.columns[problem.indices]
    many, wide = problem.rows.size, problem.columns.size
    table = csr_array((mass, problem.indices, problem.starts), shape=(many, wide))
    right = problem.columns * (1 - sums)
    diagonal = problem.columns * sums
    if wide <= _DENSE:
        dense = table.toarray()
        system = np.diag(diagonal) - dense.T @ (dense / problem.rows[:, None])
        system += np.outer(diagonal, diagonal) / diagonal.sum()
        try:
            return np.asarray(cho_solve(cho_factor(system), right))
        except LinAlgError:
            return np.asarray(-np.log(sums))
    back = csr_array(table.T)
    diagonal_left = diagonal - back.power(2) @ (1 / problem.rows)
    precondition = 1 / np.maximum(diagonal_left, 1e-3 * diagonal)
    step, rest = np.zeros(wide), right - right.sum() / wide
    direction = along = precondition * rest
    size = float(rest @ along)
    for _ in range(1000):
        image = diagonal * direction - back @ ((table @ direction) / problem.rows)
        curve = float(direction @ image)
        if curve <= 0:
            break
        step = step + size / curve * direction
        rest = rest - size / curve * image
        if np.abs(rest).sum() <= accuracy * np.abs(right).sum():
            break
        along = precondition * rest
        size, before = float(rest @ along), size
        direction = along + size / before * direction
    return step


@kernel(parallel=True)
def _normalize(starts, indices, logs, v, columns, u, cells):  # type: ignore[no-untyped-def]
    """Set u so that every row sums to 1, and the cells exp(logs + u + v)."""
    for row in prange(starts.size - 1):
        top = -np.inf
        for entry in range(starts[row], starts[row + 1]):
            top = max(top, logs[entry] + v[indices[entry]])
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            cells[entry] = np.exp(logs[entry] + v[indices[entry]] - top)
            total += columns[indices[entry]] * cells[entry]
        u[row] = -top - np.log(total)
        for entry in range(starts[row], starts[row + 1]):
            cells[entry] /= total
