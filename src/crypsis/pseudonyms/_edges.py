"""Edge probabilities: how likely each pair of item and pseudonym is in the perfect matching."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TooLargeError
from crypsis.pseudonyms._belief import Belief, as_belief, true_columns
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms._sampling import MatchingSample
from crypsis.pseudonyms._solve import Block, SolvedBlock, SolverOptions, reports, solve
from crypsis.pseudonyms.kernels import sampler
from crypsis.results import Result, raw

_MAX_SMOOTHED_CELLS = 2e10
"""Cells visited in smoothing: of the matchings drawn, only so many are smoothed."""
_MAX_CELLS = 400_000_000
"""Pairs of an item and a pseudonym in the result; more are refused."""


class EdgeProbabilities(Result, eq=False):
    """The probability of each pair of being in the matching, and how it was computed.

    `half_widths` are 95 % half-widths where blocks were sampled, and None where all is exact.
    `row_order` and `column_order` put the blocks down the diagonal.
    """

    size: int
    exact: bool
    blocks: tuple[Block, ...]
    row_order: tuple[int, ...] = raw()
    column_order: tuple[int, ...] = raw()
    probabilities: NDArray[np.float64] = raw()
    half_widths: NDArray[np.float64] | None = raw(default=None)


def edge_probabilities(belief: Belief | Any, **options: Unpack[SolverOptions]) -> EdgeProbabilities:
    """The probability of each pair, given that pseudonyms are one-to-one.

    m_ij = P_ij per(P without row i and column j) / per(P). Rows and columns sum to 1.

    Parameters
    ----------
    belief : Belief or matrix
        The belief matrix of the intruder.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    EdgeProbabilities
        `probabilities` is a t by t array; `blocks` has the method of each block.

    Examples
    --------
    >>> from fractions import Fraction
    >>> found = edge_probabilities([[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
    >>> [str(Fraction(float(p)).limit_denominator(99)) for p in found.probabilities[2]]
    ['1/2', '1/6', '1/6', '1/6']
    """
    belief = as_belief(belief)
    solved = solve(belief, **options)
    if belief.size**2 > _MAX_CELLS:
        raise TooLargeError(
            f"The probabilities of all pairs of {belief.size:,} items are too many to list.",
            hint="Use `crack_probabilities`.",
        )
    cells = np.zeros((belief.size, belief.size))
    widths = np.zeros_like(cells)
    for part in solved:
        block_cells = np.ix_(part.rows, part.columns)
        kinds = np.ix_(part.kinds.row_kind, part.kinds.column_kind)
        if part.means is not None:
            cells[block_cells] = part.means[kinds]
        else:
            means, half = _sampled_edges(part.sample)
            cells[block_cells], widths[block_cells] = means[kinds], half[kinds]
    exact = all(part.means is not None for part in solved)
    return EdgeProbabilities(
        belief.size,
        exact,
        reports(solved),
        tuple(int(row) for part in solved for row in part.rows),
        tuple(int(column) for part in solved for column in part.columns),
        cells,
        None if exact else widths,
    )


def crack_probabilities(belief: Belief, **options: Unpack[SolverOptions]) -> NDArray[np.float64]:
    """The probability that each item is cracked: that the matching gives its own pseudonym.

    Parameters
    ----------
    belief : Belief
        With its truth.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    numpy.ndarray
        In row order; the sum is the number of expected cracks.

    Examples
    --------
    >>> crack_probabilities(Belief([[1, 1], [1, 1]], truth=[0, 1]))
    array([0.5, 0.5])
    """
    truth = true_columns(belief)
    return cracked_in(belief, truth, solve(belief, **options))


def cracked_in(belief: Belief, truth: NDArray[np.int64], solved: list[SolvedBlock]) -> NDArray[np.float64]:
    """The crack probability of each item, from the blocks."""
    cracked = np.zeros(belief.size)
    for part in solved:
        if part.means is not None:
            kinds = part.kinds
            own_kind = kinds.column_kind[part.local(truth)]
            cracked[part.rows] = part.means[kinds.row_kind, own_kind]
        elif part.sample.cracked is not None:
            cracked[part.rows] = part.sample.cracked
    return cracked


def _sampled_edges(sample: MatchingSample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The edge probabilities of a sampled block by kind, and their half-widths."""
    table, kinds = sample.table, sample.table.kinds
    flat = sample.drawn.reshape(-1, kinds.size)
    starts, indices, _ = table.by_column
    column_of = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    affordable = int(_MAX_SMOOTHED_CELLS / max(1.0, float(kinds.degrees[indices].sum())))
    if affordable >= 64:
        chosen = flat[:: max(1, -(-flat.shape[0] // affordable))]
        means = sampler.edge_stars(
            np.ascontiguousarray(chosen), table.kernel, table.by_column, table.examples
        )
    else:
        means = np.stack([_used(batch, kinds)[indices, column_of] for batch in np.array_split(flat, 16)])
    cells, half = np.zeros(kinds.weights.shape), np.zeros(kinds.weights.shape)
    cells[indices, column_of] = means.mean(axis=0)
    deviation = means.std(axis=0, ddof=1) / math.sqrt(len(means)) if len(means) > 1 else 1.0
    half[indices, column_of] = 2.13 * deviation  # Student's t with 15 degrees of freedom
    return cells, half


def _used(matchings: NDArray[np.int32], kinds: KindMatrix) -> NDArray[np.float64]:
    """The share of the pairs of each two kinds that the matchings use."""
    wide = kinds.weights.shape[1]
    places = (kinds.row_kind * wide + kinds.column_kind[matchings]).ravel()
    counts = np.bincount(places, minlength=kinds.rows.size * wide).reshape(-1, wide)
    return np.asarray(counts / matchings.shape[0] / np.outer(kinds.rows, kinds.columns))
