"""The metrics of bagai2017: anonymity left, cracks expected, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError, ParameterError
from crypsis.pseudonyms._belief import Belief, as_belief
from crypsis.pseudonyms._sampling import Spread, add
from crypsis.pseudonyms._scaling import scale
from crypsis.pseudonyms._solve import Block, Solved, solve
from crypsis.pseudonyms.kernels import sampler
from crypsis.results import Estimate, Number, Result, raw

_EDGE_WORK = 2e10
_PERMUTATIONS = 8
_STOCHASTIC = 1e-9


@dataclass(frozen=True)
class EdgeProbabilities(Result):
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


@dataclass(frozen=True)
class ItemRisk(Result):
    """One item: the probability that it is cracked, and how many pseudonyms are possible for it."""

    position: int
    probability: float
    candidates: int
    item: Hashable | None = raw(default=None)


@dataclass(frozen=True)
class Anonymity(Result):
    """What an attack leaves: Delta, and where the owner gave the truth, Psi and who is exposed.

    `heuristic` is the paper's H. It can err either way: never base a release on it.
    """

    size: int
    possible_pairs: int
    superfluous_pairs: int
    degree: Number
    expected_cracks: Number | None
    heuristic: float | None
    most_exposed: tuple[ItemRisk, ...]
    blocks: tuple[Block, ...]


def edge_probabilities(
    belief: Belief | Any, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> EdgeProbabilities:
    """How likely each pair is, given that pseudonyms are one-to-one.

    m_ij = P_ij per(P without row i and column j) / per(P): everything else follows from these.
    Rows and columns sum to 1. Cost as told by `blocks`; see `method` in the documentation.

    >>> from fractions import Fraction
    >>> found = edge_probabilities([[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
    >>> [str(Fraction(float(p)).limit_denominator(99)) for p in found.probabilities[2]]
    ['1/2', '1/6', '1/6', '1/6']
    """
    belief = as_belief(belief)
    solved = solve(belief, method=method, seed=seed, precision=precision)
    cells = np.zeros((belief.size, belief.size))
    widths = np.zeros_like(cells)
    for part in solved:
        found, half = _cells(part)
        cells[np.ix_(part.rows, part.columns)] = found
        if half is not None:
            widths[np.ix_(part.rows, part.columns)] = half
    exact = all(part.report.exact for part in solved)
    return EdgeProbabilities(
        belief.size,
        exact,
        _reports(solved),
        tuple(int(row) for part in solved for row in part.rows),
        tuple(int(column) for part in solved for column in part.columns),
        cells,
        None if exact else widths,
    )


def crack_probabilities(
    belief: Belief, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> NDArray[np.float64]:
    """The probability that each item is cracked, in row order; they sum to Psi.

    >>> crack_probabilities(Belief([[1, 1], [1, 1]], truth=[0, 1]))
    array([0.5, 0.5])
    """
    truth = _truth(belief)
    return _cracked(belief, truth, solve(belief, method=method, seed=seed, precision=precision))


def degree_of_anonymity(
    belief: Belief | Any, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> Number:
    """Delta, the entropy of the matching over log t! (bagai2017, Sec. IV-A); d for 0-1 matrices.

    1: every matching equally likely; 0: one is certain. By convention 0 for t = 1. From the edge
    probabilities, as (log per(P) - sum m_ij log P_ij) / log t!, so no sum over matchings is needed.

    >>> round(degree_of_anonymity([[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]), 5)
    0.7819
    """
    belief = as_belief(belief)
    if belief.size == 1:
        return 0.0
    solved = solve(belief, method=method, seed=seed, precision=precision)
    most = math.lgamma(belief.size + 1)
    entropy = add([part.entropy for part in solved])
    scaled = Spread(*(value / most for value in entropy))
    return _number(scaled, solved, low=0.0, high=1.0)


def expected_cracks(
    belief: Belief, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> Number:
    """Psi, the expected number of items the attacker links rightly (bagai2017, Sec. IV-B).

    E of Lakshmanan et al. for 0-1 matrices. Needs the truth. Psi = sum_i m_{i,truth(i)}.

    >>> round(expected_cracks(Belief([[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
    ...                              truth=[3, 1, 2, 0])), 4)
    1.3333
    """
    truth = _truth(belief)
    solved = solve(belief, method=method, seed=seed, precision=precision)
    exact = [part for part in solved if part.sample is None]
    cracked = _cracked(belief, truth, solved)
    spreads = [part.sample.cracks for part in solved if part.sample is not None]
    known = Spread(math.fsum(float(cracked[row]) for part in exact for row in part.rows))
    total = add([known, *(spread for spread in spreads if spread is not None)])
    return _number(total, solved, low=0.0, high=float(belief.size))


def crack_heuristic(belief: Belief) -> float:
    """H, the sum of the cells of the truth (bagai2017, Sec. V), of the doubly stochastic matrix.

    Unless rows and columns sum to 1 within 1e-9, the matrix is scaled first (`scale`). H ignores
    that pseudonyms are one-to-one and errs either way, so no release should rest on it. O(edges).

    >>> crack_heuristic(Belief([[0.5, 0.5], [0.5, 0.5]], truth=[0, 1]))
    1.0
    """
    truth = _truth(belief)
    sums = np.concatenate([belief.matrix.sum(axis=0), belief.matrix.sum(axis=1)])
    if np.abs(sums - 1).max() <= _STOCHASTIC:
        return float(belief.matrix[np.arange(belief.size), truth].sum())
    return float(scale(belief).matrix[np.arange(belief.size), truth].sum())


def heuristic_error(belief: Belief | Any, *, draws: int = 20_000, seed: int = 0) -> Number:
    """NMAPE: how far H is from Psi on average over all truths, in percent of t (Sec. V-B).

    Exact for t up to 8, by going through all t! truths; beyond that estimated from random ones.

    >>> heuristic_error([[0.5, 0.5], [0.5, 0.5]])
    0.0
    """
    belief = as_belief(belief)
    difference = scale(belief).matrix - edge_probabilities(belief, method="exact").probabilities
    size = belief.size
    if draws < 2:
        raise ParameterError(f"At least 2 draws are needed, not {draws}.")
    if size <= _PERMUTATIONS:
        truths = np.array(list(permutations(range(size))))
    else:
        truths = np.random.default_rng(seed).permuted(np.tile(np.arange(size), (draws, 1)), axis=1)
    errors = np.abs(difference[np.arange(size), truths].sum(axis=1)) / size * 100
    if size <= _PERMUTATIONS:
        return max(0.0, float(errors.mean()))
    half = 1.96 * float(errors.std(ddof=1)) / math.sqrt(draws)
    mean = float(errors.mean())
    return Estimate(mean, max(0.0, mean - half), mean + half, method=f"{draws} random truths")


def matching_probability(
    belief: Belief | Any,
    matching: Sequence[int] | Mapping[Hashable, Hashable] | None = None,
    *,
    method: str = "auto",
    seed: int = 0,
    precision: float = 0.005,
) -> Number:
    """The probability of one whole matching, W(d) = weight / per(P) (bagai2017, Sec. III-B).

    `matching` is given like a truth; without it, the truth itself is meant. A matching that the
    belief rules out has probability 0.

    >>> round(matching_probability([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2]), 4)
    0.3333
    """
    belief = as_belief(belief)
    if matching is None:
        columns = _truth(belief)
    elif isinstance(matching, Mapping):
        columns = np.array(
            [belief._position(p, "pseudonyms") for _, p in
             sorted((belief._position(i, "items"), p) for i, p in matching.items())]
        )  # fmt: skip
    else:
        columns = np.asarray(matching)
    if columns.shape != (belief.size,) or sorted(columns.tolist()) != list(range(belief.size)):
        raise InputError(
            f"A matching gives each of the {belief.size} items a pseudonym of its own."
        )
    cells = belief.matrix[np.arange(belief.size), columns]
    if (cells <= 0).any():
        return 0.0
    solved = solve(belief, method=method, seed=seed, precision=precision)
    total = add([part.log_permanent for part in solved])
    logarithm = math.fsum(np.log(cells))
    value = math.exp(min(logarithm - total.value, 0.0))
    if all(part.report.exact for part in solved):
        return value
    low = math.exp(min(logarithm - total.value - total.half - total.above, 0.0))
    high = math.exp(min(logarithm - total.value + total.half + total.below, 0.0))
    return Estimate(value, low, high, method="importance sampling of the permanent")


def measure(
    belief: Belief | Any,
    *,
    exposed: int = 10,
    method: str = "auto",
    seed: int = 0,
    precision: float = 0.005,
) -> Anonymity:
    """Everything at once, with the way each block was computed and the items exposed most.

    >>> found = measure(Belief([[1, 1, 0], [1, 1, 0], [0, 0, 1]], truth=[0, 1, 2]))
    >>> found.expected_cracks, found.most_exposed[0].position, found.blocks[0].method
    (2.0, 2, 'closed form')
    """
    belief = as_belief(belief)
    if exposed < 0:
        raise ParameterError(f"The number of items to list must be at least 0, not {exposed}.")
    options: dict[str, Any] = {"method": method, "seed": seed, "precision": precision}
    solved = solve(belief, **options)
    known = belief.truth is not None
    risks: tuple[ItemRisk, ...] = ()
    if known:
        cracked = _cracked(belief, _truth(belief), solved)
        worst = np.argsort(-cracked, kind="stable")[:exposed]
        candidates = np.diff(belief.matrix.indptr)
        risks = tuple(
            ItemRisk(int(row), float(cracked[row]), int(candidates[row]),
                     belief.items[row] if belief.items else None)
            for row in worst
        )  # fmt: skip
    return Anonymity(
        belief.size, belief.matrix.nnz, belief.structure.superfluous,
        degree_of_anonymity(belief, **options),
        expected_cracks(belief, **options) if known else None,
        crack_heuristic(belief) if known else None,
        risks, _reports(solved),
    )  # fmt: skip


def _truth(belief: Belief) -> NDArray[np.int64]:
    if not isinstance(belief, Belief) or belief.truth is None:
        raise InputError(
            "Cracks are counted against the truth, and this belief has none: give "
            "Belief(matrix, truth=...), the pseudonym of each item."
        )
    return belief.truth


def _reports(solved: list[Solved]) -> tuple[Block, ...]:
    return tuple(part.report for part in solved)


def _cracked(belief: Belief, truth: NDArray[np.int64], solved: list[Solved]) -> NDArray[np.float64]:
    cracked = np.zeros(belief.size)
    place = np.empty(belief.size, dtype=np.int64)
    for part in solved:
        if part.sample is not None and part.sample.cracked is not None:
            cracked[part.rows] = part.sample.cracked
        elif part.probabilities is not None:
            place[part.columns] = np.arange(part.columns.size)
            cracked[part.rows] = part.probabilities[
                np.arange(part.rows.size), place[truth[part.rows]]
            ]
    return cracked


def _cells(part: Solved) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """The edge probabilities of a block, and their half-widths where it was sampled."""
    if part.probabilities is not None:
        return part.probabilities, None
    sample = part.sample
    assert sample is not None  # noqa: S101 - a block is either exact or sampled
    size = part.rows.size
    starts, indices, values = sample.rows
    flat = sample.drawn.reshape(-1, size)
    row_of = np.repeat(np.arange(size), np.diff(starts))
    affordable = int(_EDGE_WORK / max(1.0, values.size * values.size / size))
    if affordable >= 64:
        chosen = flat[:: max(1, -(-flat.shape[0] // affordable))]
        means = sampler.edge_stars(np.ascontiguousarray(chosen), sample.rows, sample.columns)
    else:
        means = np.stack(
            [_frequencies(batch, starts, indices, size) for batch in np.array_split(flat, 16)]
        )
    cells, half = np.zeros((size, size)), np.zeros((size, size))
    cells[row_of, indices] = means.mean(axis=0)
    deviation = means.std(axis=0, ddof=1) / math.sqrt(len(means)) if len(means) > 1 else 1.0
    half[row_of, indices] = 2.13 * deviation  # Student's t with 15 degrees of freedom
    return cells, half


def _frequencies(
    matchings: NDArray[np.int32], starts: NDArray[np.int64], indices: NDArray[np.int64], size: int
) -> NDArray[np.float64]:
    """How often each stored cell was used."""
    keys = np.repeat(np.arange(size), np.diff(starts)) * size + indices
    used = np.arange(size) * size + matchings
    places = np.searchsorted(keys, used.ravel())
    return np.asarray(np.bincount(places, minlength=keys.size) / matchings.shape[0])


def _number(spread: Spread, solved: list[Solved], *, low: float, high: float) -> Number:
    """A float where everything is exact, an estimate with its interval otherwise."""
    value = min(max(spread.value, low), high)
    if all(part.report.exact for part in solved):
        return value
    drawn = [part.report.convergence for part in solved if part.report.convergence is not None]
    worst = max(found.r_hat for found in drawn)
    method = (
        f"Markov chain over matchings, {min(c.draws for c in drawn):,} draws, R-hat {worst:.3f}"
    )
    if not all(found.converged for found in drawn):
        method += ", NOT converged: the interval is all that is possible"
    return Estimate(
        value,
        min(value, max(low, spread.value - spread.half - spread.below)),
        max(value, min(high, spread.value + spread.half + spread.above)),
        method=method,
    )
