"""Permanents by themselves: exact integers for 0-1 matrices, of any size that can be reached."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TooLarge
from crypsis.pseudonyms._belief import Belief, Unmatchable, as_belief
from crypsis.pseudonyms._glynn import auto_size, compute
from crypsis.pseudonyms._sampling import add
from crypsis.pseudonyms._scaling import balance
from crypsis.pseudonyms._solve import WORST_ROUNDING, check_options, solve
from crypsis.pseudonyms.kernels import frontier, ryser
from crypsis.results import Estimate, Number

_LARGEST_FRONTIER_FIRST = 22


def permanent(
    matrix: Belief | Any, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> Number:
    """The permanent: the number of perfect matchings of a 0-1 matrix, or their total weight.

    An exact `int` for 0-1 matrices, a `float` for others, an `Estimate` where it had to be sampled;
    0 where there is no perfect matching. bagai2017, Sec. II-C. The product over irreducible blocks,
    each by the cheapest way (see `measure`). For numbers beyond floats use `log_permanent`.

    >>> permanent([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    3
    >>> permanent(np.full((3, 3), 1 / 3))
    0.2222222222222222
    """
    check_options(method, precision)
    try:
        belief = as_belief(matrix)
    except Unmatchable:
        return 0
    if belief.is_infeasibility and method not in ("sampling", "gpu"):
        counts = [
            _count(belief.block(rows, columns), method) for rows, columns in belief.structure.blocks
        ]
        if all(count is not None for count in counts):
            return math.prod(count for count in counts if count is not None)
    elif method in ("auto", "exact", "glynn", "gpu"):
        logarithm = _by_glynn(belief, method)
        if logarithm is not None:
            return _float(logarithm)
    found = log_permanent(belief, method=method, seed=seed, precision=precision)
    if isinstance(found, Estimate):
        low, high = math.exp(min(found.low, 700)), math.exp(min(found.high, 700))
        return Estimate(_float(found.value), low, high, method=found.method)
    return _float(found)


def log_permanent(
    matrix: Belief | Any, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> float | Estimate:
    """The natural logarithm of the permanent; -inf where there is no perfect matching.

    >>> round(log_permanent([[1, 1], [1, 1]]), 6)
    0.693147
    """
    try:
        belief = as_belief(matrix)
    except Unmatchable:
        return -math.inf
    solved = solve(belief, method=method, seed=seed, precision=precision)
    total = add([part.log_permanent for part in solved])
    if all(part.report.exact for part in solved):
        return total.value
    low = total.value - total.half - total.below
    return Estimate(
        total.value, low, total.value + total.half + total.above, method="importance sampling"
    )


def _by_glynn(belief: Belief, method: str) -> float | None:
    """All blocks by Glynn's formula without minors; None where that is too long or too rough."""
    blocks = belief.structure.blocks
    insisted = method in ("glynn", "gpu")
    if not insisted and max(rows.size for rows, _ in blocks) > auto_size():
        return None
    total = []
    for rows, columns in blocks:
        cells = belief.block(rows, columns)
        factors = balance(cells, tolerance=1e-13)
        scaled = factors.rows[:, None] * cells * factors.columns
        found = compute(scaled, minors=False, method=method).found
        if found.error > WORST_ROUNDING * found.permanent and not insisted:
            return None
        total += [math.log(found.permanent), *-np.log(factors.rows), *-np.log(factors.columns)]
    return math.fsum(total)


def _count(cells: NDArray[np.float64], method: str) -> int | None:
    """The number of perfect matchings of a 0-1 block; None where only sampling is left."""
    size = cells.shape[0]
    if cells.all():
        return math.factorial(size)
    bound = min(math.lgamma(size + 1), float(np.log(cells.sum(axis=1)).sum())) + 1e-6 * size
    if method == "glynn":
        return ryser.permanent(cells.astype(np.int64)) if size <= ryser.LARGEST else None
    built = None
    if size <= _LARGEST_FRONTIER_FIRST or size > ryser.LARGEST or method == "frontier":
        built = frontier.build(cells, limit=60_000_000 // size)
    elif (small := frontier.build(cells, limit=400_000)) is not None:
        built = small
    if built is not None:
        return frontier.count(built, bound)
    if method != "frontier" and size <= ryser.LARGEST:
        return ryser.permanent(cells.astype(np.int64))
    if method in ("exact", "frontier"):
        raise TooLarge(
            f"A 0-1 block of {size} items is out of reach of exact counting. Use "
            'method="sampling" for an estimate with an interval.'
        )
    return None


def _float(logarithm: float) -> float:
    if logarithm > 709:
        raise TooLarge(
            f"The permanent is e^{logarithm:.1f}, beyond floating-point numbers. Use log_permanent."
        )
    return math.exp(logarithm)
