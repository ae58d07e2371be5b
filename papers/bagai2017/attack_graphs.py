"""The numbers behind Figs. 4, 9 and 10 of bagai2017, for any belief and any seed."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ParameterError, TooLargeError
from crypsis.pseudonyms import Belief, doubly_stochastic, edge_probabilities
from crypsis.results import Estimate, Number, Result

_MOST_TRUTHS = 8
_MOST_GRAPHS = 4
_SWEEPS = 400


class GraphPoint(Result):
    """A point of Fig. 4: how many attack graphs have this permanent and these expected cracks."""

    permanent: int
    expected_cracks: float
    graphs: int


class TruthPoint(Result):
    """A point of Fig. 9: Psi and H of one belief, were this matching the truth."""

    place: int
    expected_cracks: float
    heuristic: float


class HeuristicErrors(Result):
    """The points of Fig. 10: permanent and NMAPE (in percent) of random matrices."""

    size: int
    generator: str
    seed: int
    largest: float
    permanents: NDArray[np.float64]
    errors: NDArray[np.float64]


def attack_graphs(size: int = 4) -> tuple[GraphPoint, ...]:
    """All attack graphs that contain the truth, by permanent and expected cracks (Fig. 4).

    2^(t (t-1)) graphs, so t is at most 4; which truth does not matter.

    >>> len(attack_graphs(4))
    41
    """
    if not 1 <= size <= _MOST_GRAPHS:
        raise TooLargeError(f"There are 2^{size * (size - 1)} graphs; ask for 1 to {_MOST_GRAPHS} items.")
    every = np.array(list(permutations(range(size))))
    fixed = (every == np.arange(size)).sum(axis=1)
    free = [(i, j) for i in range(size) for j in range(size) if i != j]
    graphs = np.zeros((2 ** len(free), size, size), dtype=bool)
    graphs[:, np.arange(size), np.arange(size)] = True
    bits = np.array(list(product((False, True), repeat=len(free))))
    for column, (i, j) in enumerate(free):
        graphs[:, i, j] = bits[:, column] if free else False
    inside = graphs[:, np.arange(size), every].all(axis=2)
    counts = Counter(
        (int(total), Fraction(int(cracks), int(total)))
        for total, cracks in zip(inside.sum(axis=1), inside @ fixed, strict=True)
    )
    return tuple(
        GraphPoint(total, float(cracks), number) for (total, cracks), number in sorted(counts.items())
    )


def heuristic_by_truth(belief: Belief | Any) -> tuple[TruthPoint, ...]:
    """Psi and H for every matching that could be the truth, in the order of Psi (Fig. 9).

    t! points, so t is at most 8. By Theorem 5 both add up to t!.

    >>> [round(p.heuristic, 3) for p in heuristic_by_truth([[0.9, 0.1], [0.1, 0.9]])]
    [0.2, 1.8]
    """
    belief = belief if isinstance(belief, Belief) else Belief(belief)
    if belief.size > _MOST_TRUTHS:
        raise TooLargeError(f"There are {belief.size}! truths; ask for at most {_MOST_TRUTHS} items.")
    edges, cells = (
        edge_probabilities(belief, method="exact").probabilities,
        doubly_stochastic(belief).matrix,
    )
    every = np.array(list(permutations(range(belief.size))))
    rows = np.arange(belief.size)
    psi, h = edges[rows, every].sum(axis=1), cells[rows, every].sum(axis=1)
    return tuple(
        TruthPoint(place, float(psi[k]), float(h[k]))
        for place, k in enumerate(np.argsort(psi, kind="stable"), 1)
    )


def random_heuristic_errors(count: int = 24_000, *, size: int = 4, seed: int = 2017) -> HeuristicErrors:
    """NMAPE against the permanent for random matrices (Fig. 10).

    The paper does not describe how it drew its matrices. Here: uniform numbers to a power that is
    itself uniform on [0, 8], one power a matrix, made doubly stochastic by Sinkhorn's sweeps.

    >>> found = random_heuristic_errors(100)
    >>> found.errors.shape, bool(found.largest < 10)
    ((100,), True)
    """
    if count < 1 or not 2 <= size <= 6:
        raise ParameterError(f"Ask for at least one matrix of 2 to 6 items, not {count} of {size}.")
    generator = np.random.default_rng(seed)
    cells = generator.random((count, size, size)) ** (8 * generator.random((count, 1, 1)))
    for _ in range(_SWEEPS):
        cells /= cells.sum(axis=2, keepdims=True)
        cells /= cells.sum(axis=1, keepdims=True)
    every = np.array(list(permutations(range(size))))
    chosen = cells[:, np.arange(size), every]
    weights = chosen.prod(axis=2)
    permanents = weights.sum(axis=1)
    cracks = (every[:, None, :] == every[None, :, :]).sum(axis=2)
    psi = weights / permanents[:, None] @ cracks
    errors = np.abs(chosen.sum(axis=2) - psi).mean(axis=1) / size * 100
    named = "uniform ** (8 * uniform), then Sinkhorn-Knopp"
    return HeuristicErrors(size, named, seed, float(errors.max()), permanents, errors)


def heuristic_error(matrix: Any, *, draws: int = 20_000, seed: int = 0) -> Number:
    """NMAPE: the mean distance of H from Psi over all truths, in per cent of t (Sec. V-B).

    Exact for t up to 8, over all t! truths; beyond that estimated from random ones.

    >>> heuristic_error([[0.5, 0.5], [0.5, 0.5]])
    0.0
    """
    edges = edge_probabilities(matrix, method="exact").probabilities
    difference = doubly_stochastic(matrix).matrix - edges
    size = len(edges)
    if size <= _MOST_TRUTHS:
        truths = np.array(list(permutations(range(size))))
    else:
        truths = np.random.default_rng(seed).permuted(np.tile(np.arange(size), (draws, 1)), axis=1)
    errors = np.abs(difference[np.arange(size), truths].sum(axis=1)) / size * 100
    mean = float(errors.mean())
    if size <= _MOST_TRUTHS:
        return mean
    half = 1.96 * float(errors.std(ddof=1)) / math.sqrt(draws)
    return Estimate(mean, max(0.0, mean - half), mean + half, method=f"{draws} random truths")
