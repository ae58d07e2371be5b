"""Permanents, edge probabilities, cracks and the degree of anonymity, by all permutations."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from crypsis import pseudonyms as ps

Draw = np.random.Generator
Matchings = list[tuple[tuple[int, ...], Fraction]]


def _belief(draw: Draw) -> tuple[ps.Belief, Matchings]:
    """A small belief of whole numbers, and all its matchings with their weights."""
    size = int(draw.integers(1, 6))
    cells = np.maximum(draw.integers(-3, 6, (size, size)), 0)
    truth = draw.permutation(size)
    cells[np.arange(size), truth] = np.maximum(cells[np.arange(size), truth], 1)
    every = [
        (p, Fraction(math.prod(int(cells[i, j]) for i, j in enumerate(p)))) for p in permutations(range(size))
    ]
    return ps.Belief(cells.astype(float), truth=truth), [(p, w) for p, w in every if w]


def permanents(draw: Draw) -> None:
    size = int(draw.integers(1, 7))
    flags = draw.integers(0, 2, (size, size))
    wanted = sum(all(flags[i, j] for i, j in enumerate(p)) for p in permutations(range(size)))
    found = ps.permanent(flags)
    assert (found, type(found)) == (wanted, int)
    shares = draw.random((size, size))
    total = math.fsum(math.prod(shares[i, j] for i, j in enumerate(p)) for p in permutations(range(size)))
    assert ps.permanent(shares) == pytest.approx(total, rel=1e-11)


def edge_probabilities(draw: Draw) -> None:
    belief, every = _belief(draw)
    whole = sum(weight for _, weight in every)
    found = ps.edge_probabilities(belief).probabilities
    for i in range(belief.size):
        for j in range(belief.size):
            wanted = sum((w for p, w in every if p[i] == j), Fraction(0)) / whole
            assert found[i, j] == pytest.approx(float(wanted), abs=1e-12)


def crack_distribution(draw: Draw) -> None:
    belief, every = _belief(draw)
    whole = sum(weight for _, weight in every)
    truth = belief.truth.tolist()
    wanted = [Fraction(0)] * (belief.size + 1)
    for p, weight in every:
        wanted[sum(a == b for a, b in zip(p, truth, strict=True))] += weight / whole
    found = ps.crack_distribution(belief)
    assert found.probabilities == pytest.approx([float(w) for w in wanted], abs=1e-11)
    mean = float(sum(i * w for i, w in enumerate(wanted)))
    assert ps.expected_cracks(belief) == pytest.approx(mean, abs=1e-11)


def degree_of_anonymity(draw: Draw) -> None:
    """bagai2017: the entropy of the matchings over the largest there can be, log2 of t!."""
    belief, every = _belief(draw)
    whole = sum(weight for _, weight in every)
    entropy = -math.fsum(float(w / whole) * math.log2(w / whole) for _, w in every)
    most = math.log2(math.factorial(belief.size))
    wanted = entropy / most if belief.size > 1 else float(ps.degree_of_anonymity(belief))
    assert ps.degree_of_anonymity(belief) == pytest.approx(wanted, abs=1e-11)


CHECKS = {
    "permanents": permanents,
    "edge probabilities": edge_probabilities,
    "crack distribution": crack_distribution,
    "degree of anonymity": degree_of_anonymity,
}
