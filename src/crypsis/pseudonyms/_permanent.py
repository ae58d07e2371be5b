"""Permanents: exact integers for 0-1 matrices, floats for others."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np

from crypsis.errors import TooLargeError
from crypsis.pseudonyms._belief import Belief, NoPerfectMatchingError, as_belief
from crypsis.pseudonyms._glynn import auto_size, compute
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms._sampling import add
from crypsis.pseudonyms._scaling import scaling_factors
from crypsis.pseudonyms._solve import WORST_ROUNDING, SolverOptions, as_number, check_options, solve
from crypsis.pseudonyms.kernels import frontier, ryser
from crypsis.pseudonyms.kernels.order import MOST_OPEN, MergedMatrix
from crypsis.results import Estimate, Number
from crypsis.scientific import sparse

_MAX_FRONTIER_SIZE = 22
"""Up to this size the frontier is tried at length before Ryser's formula."""


def permanent(matrix: Belief | Any, **options: Unpack[SolverOptions]) -> Number:
    """The permanent: the number of perfect matchings of a 0-1 matrix, or their total weight.

    Parameters
    ----------
    matrix : Belief or matrix
        Square, with cells of at least 0.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    int or float
        An exact int for 0-1 matrices, a float for others, an `Estimate` where a block was sampled;
        0 where there is no perfect matching.

    Raises
    ------
    TooLargeError
        If the permanent exceeds the range of floats (`log_permanent` does not), or the method is
        exact and a block is out of its reach.

    Notes
    -----
    The product over irreducible blocks, each by the cheapest method.

    References
    ----------
    bagai2017, Sec. II-C.

    Examples
    --------
    >>> permanent([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    3
    >>> permanent(np.full((3, 3), 1 / 3))
    0.2222222222222222
    """
    check_options(**options)
    method = options.get("method", "auto")
    try:
        belief = as_belief(matrix)
    except NoPerfectMatchingError:
        return 0
    if belief.is_infeasibility and method not in ("sampling", "gpu"):
        counts = [
            _count(belief.kinds.part(rows, columns), method) for rows, columns in belief.structure.blocks
        ]
        if all(count is not None for count in counts):
            return math.prod(count for count in counts if count is not None)
    elif method in ("auto", "exact", "glynn", "gpu"):
        logarithm = _by_glynn(belief, method)
        if logarithm is not None:
            return _float(logarithm)
    estimate = log_permanent(belief, **options)
    if isinstance(estimate, Estimate):
        low, high = math.exp(min(estimate.low, 700)), math.exp(min(estimate.high, 700))
        return Estimate(_float(estimate.value), low, high, estimate.confidence, method=estimate.method)
    return _float(estimate)


def log_permanent(matrix: Belief | Any, **options: Unpack[SolverOptions]) -> float:
    """The natural logarithm of the permanent.

    Parameters
    ----------
    matrix : Belief or matrix
        Square, with cells of at least 0.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    float
        -inf where there is no perfect matching; an `Estimate` where a block was sampled.

    Examples
    --------
    >>> round(log_permanent([[1, 1], [1, 1]]), 6)
    0.693147
    """
    try:
        belief = as_belief(matrix)
    except NoPerfectMatchingError:
        return -math.inf
    solved = solve(belief, **options)
    total = add([part.log_permanent for part in solved])
    return as_number(total, solved, method="importance sampling", low=-math.inf, high=math.inf)


def _by_glynn(belief: Belief, method: str) -> float | None:
    """All blocks by Glynn's formula without minors; None where that is too long or too rough."""
    blocks = belief.structure.blocks
    required = method in ("glynn", "gpu")
    if not required and max(rows.size for rows, _ in blocks) > auto_size():
        return None
    total = []
    for rows, columns in blocks:
        cells = belief.block(rows, columns)
        factors = scaling_factors(cells, tolerance=1e-13)
        scaled = factors.rows[:, None] * cells * factors.columns
        glynn = compute(scaled, minors=False, method=method).found
        if glynn.error > WORST_ROUNDING * glynn.permanent and not required:
            return None
        total += [math.log(glynn.permanent), *-np.log(factors.rows), *-np.log(factors.columns)]
    return math.fsum(total)


def _count(kinds: KindMatrix, method: str) -> int | None:
    """The number of perfect matchings of a 0-1 block; None where it is only bounded or sampled."""
    size = kinds.size
    if kinds.weights.shape == (1, 1):
        return math.factorial(size)
    degrees = float(kinds.rows @ np.log(kinds.degrees))
    bound = min(math.lgamma(size + 1), degrees) + 1e-6 * size
    if method == "glynn":
        return _by_ryser(kinds) if size <= ryser.LARGEST else None
    built = None
    if np.diff(sparse.csr_array(kinds.weights.T).indptr).max() <= MOST_OPEN:
        first = size <= _MAX_FRONTIER_SIZE or size > ryser.LARGEST or method == "frontier"
        merged = MergedMatrix(
            kinds.weights.toarray(), kinds.rows, kinds.columns, kinds.row_kind, kinds.column_kind
        )
        built = frontier.build(merged, limit=60_000_000 // size if first else 400_000)
    if built is not None:
        return frontier.count(built, bound)
    if method != "frontier" and size <= ryser.LARGEST:
        return _by_ryser(kinds)
    if method in ("exact", "frontier"):
        raise TooLargeError(
            f"A 0-1 block of {size} items is out of reach of exact counting.",
            hint="Set {method=sampling} for an estimate with an interval.",
        )
    return None


def _by_ryser(kinds: KindMatrix) -> int:
    return ryser.permanent(kinds.dense().astype(np.int64))


def _float(logarithm: float) -> float:
    if logarithm > 709:
        raise TooLargeError(
            f"The permanent is e^{logarithm:.1f}, beyond floating-point numbers.", hint="Use `log_permanent`."
        )
    return math.exp(logarithm)
