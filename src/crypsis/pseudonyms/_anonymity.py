"""Degree of anonymity and expected cracks of a belief, with the items exposed most (bagai2017)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Unpack

import numpy as np

from crypsis.errors import ParameterError
from crypsis.pseudonyms._belief import Belief, Matching, as_belief, true_columns
from crypsis.pseudonyms._edges import cracked_in
from crypsis.pseudonyms._pairs import PairIdentification, pair_identification
from crypsis.pseudonyms._sample_table import is_flat
from crypsis.pseudonyms._sampling import Spread, add
from crypsis.pseudonyms._scaling import true_cells
from crypsis.pseudonyms._solve import Block, SolvedBlock, SolverOptions, as_number, reports, solve
from crypsis.results import Estimate, Number, Result, number_text, raw

_STOCHASTIC_TOLERANCE = 1e-9
"""Rows and columns of a doubly stochastic matrix sum to 1, up to this rounding."""
_IMPORTANCE = "importance sampling of the permanent"
_NEAR_CERTAIN_PROBABILITY = 0.9
"""The crack probability from which an item counts as resolved."""
_MAX_CRACKS_FAR_BELOW_CHANCE = 0.1
"""Expected cracks below this are a tenth of those of a random assignment, which has one."""


class ItemRisk(Result):
    """One item: the probability that it is cracked, and the number of its possible pseudonyms."""

    position: int
    probability: float
    candidates: int
    item: Hashable | None = raw(default=None)


class Anonymity(Result):
    """The anonymity that an attack leaves: degree of anonymity, expected cracks, exposed items.

    Expected cracks and exposed items need the truth. `heuristic` is the H of the paper. It errs
    either way and is never used in a decision.
    """

    size: int
    possible_pairs: int
    superfluous_pairs: int
    degree: Number
    expected_cracks: Number | None
    heuristic: float | None
    most_exposed: tuple[ItemRisk, ...]
    blocks: tuple[Block, ...]
    near_certain_cracks: int | None = None
    """Items whose crack probability is at least 0.9."""
    pairs: PairIdentification | None = None
    """What an intruder resolves who knows, besides, how often items occur together: where the belief is
    made from transactions and the truth is known."""

    @property
    def resolved_by_pairs(self) -> float | None:
        """The items that pairs resolve on average, where these are more than the expected cracks."""
        cracks = self.expected_cracks
        if self.pairs is None or cracks is None:
            return None
        likely = cracks.value if isinstance(cracks, Estimate) else cracks
        return self.pairs.expected if self.pairs.expected > likely else None

    @property
    def worse_than_chance(self) -> bool:
        """Whether the intruder does far worse than by guessing at random, which cracks one item.

        Then the belief and the truth are probably not aligned, and nothing follows from the cracks.
        """
        cracks = self.expected_cracks
        if cracks is None:
            return False
        return (cracks.high if isinstance(cracks, Estimate) else cracks) < _MAX_CRACKS_FAR_BELOW_CHANCE

    def __str__(self) -> str:
        lines = [f"Degree of anonymity {number_text(self.degree)} (1 is full, 0 is none)."]
        if self.expected_cracks is not None:
            noun = "item" if self.size == 1 else "items"
            cracks = number_text(self.expected_cracks)
            lines.append(f"Expected cracks {cracks} of {self.size:,} {noun}.")
            if self.near_certain_cracks:
                lines.append(f"Cracked with a probability of 0.9 or more: {self.near_certain_cracks:,}.")
        if self.resolved_by_pairs is not None:
            lines.append(
                f"Resolved by pair frequencies {number_text(self.resolved_by_pairs, '.3g')}, or more."
            )
        methods = sorted({way for block in self.blocks for way in block.method.split(", ")})
        blocks = f"{len(self.blocks):,} block{'' if len(self.blocks) == 1 else 's'}"
        return "\n".join([*lines, f"Computed in {blocks}: {', '.join(methods)}."])


def anonymity(belief: Belief | Any, *, limit: int = 10, **options: Unpack[SolverOptions]) -> Anonymity:
    """The anonymity that an attack leaves, with the method of each block and the exposed items.

    Parameters
    ----------
    belief : Belief or matrix
        The belief matrix of the intruder; with the truth also cracks and exposed items.
    limit : int
        How many of the items exposed most to list.
    **options
        `method` is "auto" (default), "exact", "frontier", "glynn", "gpu" or "sampling"; `seed` (0)
        and `precision` (0.005, relative) are those of sampling.

    Returns
    -------
    Anonymity
        A plain number is exact. An `Estimate` with confidence 1 and the method "bounds (Bethe)" is
        bounded: its interval is proved. Any other `Estimate` is sampled.

    Raises
    ------
    TooLargeError
        If the method is exact and a block is out of its reach.

    Notes
    -----
    Each irreducible block is computed by itself: closed forms, a dynamic program (frontier),
    Glynn's formula up to 32 items (40 on a GPU). Otherwise the Bethe permanent bounds the degree of
    anonymity, and cracks are averaged over a Markov chain of perfect matchings. Identical rows and
    columns are counted together throughout.

    References
    ----------
    bagai2017, Sec. IV.

    Examples
    --------
    >>> found = anonymity(Belief([[1, 1, 0], [1, 1, 0], [0, 0, 1]], truth=[0, 1, 2]))
    >>> print(found)
    Degree of anonymity 0.3869 (1 is full, 0 is none).
    Expected cracks 2 of 3 items.
    Cracked with a probability of 0.9 or more: 1.
    Computed in 2 blocks: closed form.
    >>> found.most_exposed[0].position, found.blocks[0].method
    (2, 'closed form')
    """
    belief = as_belief(belief)
    if limit < 0:
        raise ParameterError(f"Parameter 'limit' must be at least 0; {limit} was given.", parameter="limit")
    solved = solve(belief, **options)
    has_truth = belief.truth is not None
    risks: tuple[ItemRisk, ...] = ()
    near_certain = None
    if has_truth:
        cracked = cracked_in(belief, true_columns(belief), solved)
        near_certain = int((cracked >= _NEAR_CERTAIN_PROBABILITY - 1e-9).sum())
        worst = np.argsort(-cracked, kind="stable")[:limit]
        candidates = belief.kinds.degrees[belief.kinds.row_kind]
        risks = tuple(
            ItemRisk(
                int(row),
                float(cracked[row]),
                int(candidates[row]),
                belief.items[row] if belief.items else None,
            )
            for row in worst
        )
    degree = degree_of_anonymity(belief, **options)
    return Anonymity(
        belief.size,
        belief.kinds.pairs,
        belief.structure.superfluous,
        degree,
        expected_cracks(belief, **options) if has_truth else None,
        crack_heuristic(belief) if has_truth else None,
        risks,
        reports(solved),
        near_certain,
        pair_identification(belief) if has_truth and belief.pairs is not None else None,
    )


def degree_of_anonymity(belief: Belief | Any, **options: Unpack[SolverOptions]) -> Number:
    """The degree of anonymity (Delta): the entropy of the perfect matching over log t!.

    1: every matching is equally likely; 0: one is certain. By convention 0 for t = 1.

    Parameters
    ----------
    belief : Belief or matrix
        The belief matrix of the intruder.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    float
        An `Estimate` where a block was bounded or sampled.

    Notes
    -----
    (log per(P) - sum m_ij log P_ij) / log t!, with the edge probabilities m. For a 0-1 matrix the
    second term is 0, and bounds of the permanent are bounds of the degree.

    References
    ----------
    bagai2017, Sec. IV-A; d of Sec. II-C for 0-1 matrices.

    Examples
    --------
    >>> round(degree_of_anonymity([[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]), 5)
    0.7819
    """
    belief = as_belief(belief)
    if belief.size == 1:
        return 0.0
    solved = solve(belief, **options)
    most = math.lgamma(belief.size + 1)
    entropy = add([part.entropy for part in solved])
    scaled = Spread(*(value / most for value in entropy))
    drawn = [part for part in solved if part.means is None and not is_flat(part.kinds)]
    way = _sampling_text(drawn) if drawn else _IMPORTANCE
    return as_number(scaled, solved, method=way, low=0.0, high=1.0)


def expected_cracks(belief: Belief, **options: Unpack[SolverOptions]) -> Number:
    """The expected cracks (Psi): how many items the intruder links to their own pseudonym.

    Parameters
    ----------
    belief : Belief
        With its truth.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    float
        The sum of the crack probabilities; an `Estimate` where a block was sampled.

    References
    ----------
    bagai2017, Sec. IV-B; E of Lakshmanan et al. (2005) for 0-1 matrices.

    Examples
    --------
    >>> round(expected_cracks(Belief([[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
    ...                              truth=[3, 1, 2, 0])), 4)
    1.3333
    """
    truth = true_columns(belief)
    solved = solve(belief, **options)
    cracked = cracked_in(belief, truth, solved)
    spreads = [part.sample.cracks for part in solved if part.means is None]
    exact = [math.fsum(cracked[part.rows]) for part in solved if part.means is not None]
    exact_spread = Spread(math.fsum(exact))
    total = add([exact_spread, *(spread for spread in spreads if spread is not None)])
    way = _sampling_text([part for part in solved if part.means is None])
    return as_number(total, solved, method=way, low=0.0, high=float(belief.size))


def crack_heuristic(belief: Belief) -> float:
    """The heuristic H: the sum of the true cells of the doubly stochastic matrix.

    Parameters
    ----------
    belief : Belief
        With its truth. It is scaled first unless rows and columns sum to 1 within 1e-9.

    Returns
    -------
    float
        Near the expected cracks, above or below them. Do not decide on it.

    Notes
    -----
    H ignores that pseudonyms are one-to-one. O(edges) time.

    References
    ----------
    bagai2017, Sec. V.

    Examples
    --------
    >>> crack_heuristic(Belief([[0.5, 0.5], [0.5, 0.5]], truth=[0, 1]))
    1.0
    """
    truth = true_columns(belief)
    kinds = belief.kinds
    sums = np.concatenate([kinds.weights @ kinds.columns, kinds.rows @ kinds.weights])
    if np.abs(sums - 1).max() <= _STOCHASTIC_TOLERANCE:
        return float(kinds.cells(np.arange(belief.size), truth).sum())
    return math.fsum(true_cells(belief, truth))


def matching_probability(
    belief: Belief | Any, matching: Matching | None = None, **options: Unpack[SolverOptions]
) -> Number:
    """The probability of one perfect matching: the product of its cells over the permanent.

    Parameters
    ----------
    belief : Belief or matrix
        The belief matrix of the intruder.
    matching : sequence of int or dict, optional
        Given like a truth; by default the truth of the belief.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    float
        0 for a matching that the belief rules out; an `Estimate` where a block was sampled.

    References
    ----------
    bagai2017, Sec. III-B (W).

    Examples
    --------
    >>> round(matching_probability([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2]), 4)
    0.3333
    """
    belief = as_belief(belief)
    columns = true_columns(belief) if matching is None else belief.columns_of(matching)
    cells = belief.kinds.cells(np.arange(belief.size), columns)
    if (cells <= 0).any():
        return 0.0
    solved = solve(belief, **options)
    total = add([part.log_permanent for part in solved])
    shift = Spread(math.fsum(np.log(cells)) - total.value, total.half, total.above, total.below)
    logarithm = as_number(shift, solved, method=_IMPORTANCE, low=-math.inf, high=0.0)
    return logarithm.map(math.exp) if isinstance(logarithm, Estimate) else math.exp(logarithm)


def _sampling_text(sampled: Sequence[SolvedBlock]) -> str:
    """How these blocks were sampled."""
    drawn = [part.sample.convergence for part in sampled]
    if not drawn:
        return ""
    worst = max(estimate.r_hat for estimate in drawn)
    least = min(estimate.draws for estimate in drawn)
    text = f"Markov chain over perfect matchings, {least:,} draws, R-hat {worst:.3f}"
    converged = all(estimate.converged for estimate in drawn)
    return text if converged else f"{text}, NOT converged: the interval covers all possible values"
