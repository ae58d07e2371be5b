"""Doubly stochastic scaling: the probability matrix equivalent to given likelihoods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.array_types import Ints
from crypsis.errors import ParameterError
from crypsis.pseudonyms._belief import Belief, as_belief
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms.kernels import bethe
from crypsis.results import Result, raw
from crypsis.scientific import sparse

_SWEEPS_BEFORE_NEWTON = 50
"""Sweeps after which Newton's method finishes: from there on they are slow."""
_MAX_NEWTON_SIZE = 500
"""Larger blocks are swept to the end."""
_MAX_SWEEPS = 100_000
"""Sweeps at most unless the caller states how many."""


class Scaling(Result, eq=False):
    """A doubly stochastic matrix D1 P D2 with its factors.

    `residual` is the largest distance of a row or column sum from 1; `superfluous` counts the edges
    in no perfect matching, which were removed first.
    """

    size: int
    residual: float
    sweeps: int
    superfluous: int
    matrix: NDArray[np.float64] = raw()
    row_factors: NDArray[np.float64] = raw()
    column_factors: NDArray[np.float64] = raw()


def doubly_stochastic(belief: Belief | ArrayLike, *, tolerance: float = 1e-14) -> Scaling:
    """The doubly stochastic matrix D1 P D2 with the same matching probabilities.

    For a 0-1 matrix it is the flat matrix of the graph.

    Parameters
    ----------
    belief : Belief or matrix
        The belief matrix of the intruder.
    tolerance : float
        The largest distance of a row sum from 1.

    Returns
    -------
    Scaling
        The matrix, the factors of rows and columns, and the number of sweeps.

    Notes
    -----
    Edges in no perfect matching are removed first: with them Sinkhorn-Knopp converges only
    sublinearly (Fig. 8), without them geometrically. Each irreducible block is scaled by itself.

    References
    ----------
    bagai2017, Sec. III-D.

    Examples
    --------
    >>> flat = doubly_stochastic([[0, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 0]])
    >>> flat.matrix[1].round(4), flat.superfluous
    (array([0.   , 0.618, 0.382, 0.   ]), 1)
    """
    if not 0 < tolerance < 1:
        raise ParameterError(
            f"Parameter 'tolerance' must be between 0 and 1; {tolerance} was given.", parameter="tolerance"
        )
    belief = as_belief(belief)
    size = belief.size
    rows, columns = np.ones(size), np.ones(size)
    scaled = np.zeros((size, size))
    sweeps, residual = 0, 0.0
    for at, to in belief.structure.blocks:
        block = belief.block(at, to)
        done = scaling_factors(block, tolerance=tolerance)
        rows[at], columns[to] = done.rows, done.columns
        scaled[np.ix_(at, to)] = done.rows[:, None] * block * done.columns
        sweeps, residual = max(sweeps, done.sweeps), max(residual, done.residual)
    return Scaling(
        size,
        residual,
        sweeps,
        belief.structure.superfluous,
        matrix=scaled,
        row_factors=rows,
        column_factors=columns,
    )


def true_cells(belief: Belief, truth: Ints) -> NDArray[np.float64]:
    """The cell of each item's own pseudonym in the doubly stochastic matrix."""
    cells = np.empty(belief.size)
    for rows, columns in belief.structure.blocks:
        kinds = belief.kinds.part(rows, columns)
        problem = bethe.problem(kinds.weights, kinds.rows, kinds.columns)
        scaled = sparse.csr_array(
            (bethe.scale(problem, tolerance=1e-14).cells, problem.indices, problem.starts),
            shape=kinds.weights.shape,
        )
        of_block = KindMatrix(scaled, kinds.row_kind, kinds.column_kind)
        own_position = np.searchsorted(columns, truth[rows])
        cells[rows] = of_block.cells(np.arange(rows.size), own_position)
    return cells


class ScalingFactors(NamedTuple):
    """Factors that make the row and column sums of one block 1."""

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    residual: float
    sweeps: int


def scaling_factors(
    block: NDArray[np.float64] | sparse.csr_array, *, tolerance: float = 1e-14, max_sweeps: int = _MAX_SWEEPS
) -> ScalingFactors:
    """Sinkhorn and Knopp (1967) on an irreducible block, finished by Newton where it is slow.

    Newton's method is applied to the convex function whose gradient are the row and column sums
    minus one; it is used for blocks up to 500 where plain sweeps have not converged.
    """
    size = block.shape[0]
    transposed = block.T.tocsr() if isinstance(block, sparse.csr_array) else block.T
    rows, columns = np.ones(size), np.ones(size)
    residual = np.inf
    for sweep in range(1, max_sweeps + 1):
        rows = 1.0 / (block @ columns)
        columns = 1.0 / (transposed @ rows)
        residual = float(np.abs(rows * (block @ columns) - 1.0).max())
        if residual <= max(tolerance, 4e-16 * size):
            break
        if sweep == _SWEEPS_BEFORE_NEWTON and size <= _MAX_NEWTON_SIZE:
            dense = block.toarray() if isinstance(block, sparse.csr_array) else block
            rows, columns, residual = _newton(dense, rows, columns, residual)
            if residual <= max(tolerance, 1e-15 * size):
                break
    return ScalingFactors(rows, columns, residual, sweep)


def _newton(
    block: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64], residual: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """A few Newton steps in the logarithms of the factors, kept only while they help."""
    size = block.shape[0]
    for _ in range(8):
        scaled = rows[:, None] * block * columns
        gradient = np.concatenate([scaled.sum(axis=1) - 1.0, scaled.sum(axis=0) - 1.0])
        hessian = np.block([[np.diag(scaled.sum(axis=1)), scaled], [scaled.T, np.diag(scaled.sum(axis=0))]])
        # Constant shifts of rows against columns change nothing: pin the last logarithm.
        step = np.zeros(2 * size)
        step[:-1] = np.linalg.solve(hessian[:-1, :-1], -gradient[:-1])
        if np.abs(step).max() > 1.0:
            return rows, columns, residual
        new_rows, new_columns = rows * np.exp(step[:size]), columns * np.exp(step[size:])
        scaled = new_rows[:, None] * block * new_columns
        new = float(max(np.abs(scaled.sum(1) - 1).max(), np.abs(scaled.sum(0) - 1).max()))
        if new >= residual:
            return rows, columns, residual
        rows, columns, residual = new_rows, new_columns, new
    return rows, columns, residual
