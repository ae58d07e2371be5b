"""The most likely pseudonym of each item, and how likely it is: what an intruder would claim."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.array_types import Ints
from crypsis.pseudonyms._belief import Belief, as_belief
from crypsis.pseudonyms._chains import CHAINS, Chains
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms._sample_table import make_table
from crypsis.pseudonyms._solve import solve_block
from crypsis.pseudonyms.kernels import sampler
from crypsis.results import Result, raw

_MAX_EXACT_SIZE = 18
"""The largest block that is solved exactly: the time of larger ones depends on luck."""
_DISCARDED_DRAWS = 20
"""Draws of each chain that are not used."""
_WALKS_BETWEEN_DRAWS = 1
"""Walks between two draws."""
_VISITED_CELLS = 1e8
"""Cells visited in all draws: the larger the block, the fewer draws."""
_MIN_DRAWS = 16
"""Draws of each chain at least, however large the block."""
_MAX_DRAWS = 96
"""Draws of each chain at most, however small the block."""
_DRAW_BATCHES = 16
"""Batches of draws, whose means show the error."""
_SINKHORN_SWEEPS = 30
"""Sweeps that make the cells nearly doubly stochastic, which shortens the walks."""


class LikelyPairs(Result, eq=False):
    """The pseudonym that is most likely each item's, with its probability.

    `expected` is the number of items for which it is the right one: the sum of the probabilities.
    `exact_items` are those in blocks that were solved exactly; `half_widths` are the 95 % half-widths
    of the other probabilities, from matchings drawn at random.
    """

    size: int
    expected: float
    exact_items: int
    largest_block: int
    pseudonyms: NDArray[np.int64] = raw()
    probabilities: NDArray[np.float64] = raw()
    half_widths: NDArray[np.float64] = raw()


def likely_pairs(belief: Belief | Any, *, seed: int = 0) -> LikelyPairs:
    """The most likely pseudonym of each item, given that pseudonyms are one-to-one.

    Parameters
    ----------
    belief : Belief or matrix
        The belief matrix of the intruder; it stays sparse.
    seed : int
        The seed of what is sampled.

    Returns
    -------
    LikelyPairs
        The column of each item's most likely pseudonym, and its probability.

    Notes
    -----
    Irreducible blocks of up to 18 items are solved exactly. Of larger ones the pair with the largest
    cell of the doubly stochastic matrix is taken, and its probability is averaged over matchings
    drawn by a Markov chain, smoothed (Rao and Blackwell). Memory grows with the pairs that are
    possible, not with all pairs.

    References
    ----------
    bagai2017, Sec. III.

    Examples
    --------
    >>> found = likely_pairs([[4, 1, 0], [1, 4, 1], [0, 1, 4]])
    >>> found.pseudonyms, found.probabilities.round(3)
    (array([0, 1, 2]), array([0.944, 0.889, 0.944]))
    """
    belief = as_belief(belief)
    best, chance, half = (np.empty(belief.size, np.int64), np.ones(belief.size), np.zeros(belief.size))
    blocks = belief.structure.blocks
    sizes = np.array([rows.size for rows, _ in blocks])
    alone = [block for block in blocks if block[0].size == 1]
    if alone:
        best[np.concatenate([rows for rows, _ in alone])] = np.concatenate([c for _, c in alone])
    with progress.step("blocks", total=belief.size) as work:
        for number, (rows, columns) in enumerate(blocks):
            if rows.size > 1:
                likely = _block(belief, rows, columns, seed + number)
                best[rows], chance[rows] = columns[likely.column], likely.probability
                half[rows] = likely.half
                work.advance(rows.size)
    return LikelyPairs(
        belief.size,
        math.fsum(chance),
        int(sizes[sizes <= _MAX_EXACT_SIZE].sum()),
        int(sizes.max()),
        best,
        chance,
        half,
    )


class _Best(NamedTuple):
    """The best column of each row of a block, its probability, and the half-width of that."""

    column: Ints
    probability: NDArray[np.float64]
    half: NDArray[np.float64] | float


def _block(belief: Belief, rows: Ints, columns: Ints, seed: int) -> _Best:
    if rows.size == 2:
        cells = belief.kinds.cells(np.repeat(rows, 2), np.tile(columns, 2)).reshape(2, 2)
        straight, crossed = cells[0, 0] * cells[1, 1], cells[0, 1] * cells[1, 0]
        first = straight >= crossed
        share = max(straight, crossed) / (straight + crossed)
        return _Best(np.array([0, 1] if first else [1, 0]), np.full(2, share), 0.0)
    if rows.size <= _MAX_EXACT_SIZE:
        part = solve_block(belief, rows, columns, "auto", seed, 0.005)
        if part.means is not None:
            kinds, means = part.kinds, part.means
            example = np.unique(kinds.column_kind, return_index=True)[1]
            of = kinds.row_kind
            return _Best(example[means.argmax(axis=1)[of]], means.max(axis=1)[of], 0.0)
    start = np.searchsorted(columns, belief.structure.matching[rows])
    return _sampled(belief.kinds.part(rows, columns), start, seed)


def _scaled(kinds: KindMatrix) -> NDArray[np.float64]:
    """The cells nearly doubly stochastic, which shortens the walks and changes no probability."""
    weights = kinds.weights
    back = weights.T.tocsr()
    rows = np.ones(kinds.rows.size)
    for _ in range(_SINKHORN_SWEEPS):
        columns = 1.0 / (back @ (rows * kinds.rows))
        rows = 1.0 / (weights @ (columns * kinds.columns))
    return np.ascontiguousarray(weights.data * rows[kinds.cell_rows] * columns[weights.indices])


def _sampled(kinds: KindMatrix, start: Ints, seed: int) -> _Best:
    """The pair with the largest scaled cell of each row, over matchings drawn at random."""
    cells = _scaled(kinds)
    table = make_table(kinds, cells)
    order = np.lexsort((-cells, kinds.cell_rows))
    kind = kinds.weights.indices[order[kinds.weights.indptr[:-1]]]
    example = np.unique(kinds.column_kind, return_index=True)[1]
    row = np.unique(kinds.row_kind, return_index=True)[1]
    chains = Chains(table, start, np.random.default_rng(seed))
    draws = int(np.clip(_VISITED_CELLS / (cells.size + 1) / CHAINS, _MIN_DRAWS, _MAX_DRAWS))
    chains.draw(1, _DISCARDED_DRAWS)
    means = []
    for _ in range(_DRAW_BATCHES):
        each = max(1, draws // _DRAW_BATCHES)
        drawn, _ = chains.draw(each, _WALKS_BETWEEN_DRAWS)
        hits = sampler.crack_stars(
            drawn.reshape(-1, kinds.size),
            row,
            example[kind],
            np.ones(row.size, np.bool_),
            table.kernel,
            table.by_column,
            table.row_lists,
        )
        means.append(hits.mean(axis=0))
    of, batches = kinds.row_kind, np.stack(means)
    half = 2.13 * batches.std(axis=0, ddof=1) / math.sqrt(_DRAW_BATCHES)  # Student's t, 15 degrees
    return _Best(example[kind][of], batches.mean(axis=0)[of], half[of])
