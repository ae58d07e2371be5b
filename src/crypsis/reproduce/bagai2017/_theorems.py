"""Theorems 1 to 5 and Corollary 1 of bagai2017, tried on many matrices."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crypsis import pseudonyms as ps
from crypsis.reproduce._judge import holds, number
from crypsis.reproduce._papers import Setting
from crypsis.reproduce._results import Cell, Item
from crypsis.reproduce.bagai2017 import _printed as printed

_CLOSE = 1e-9


def _some_graphs(seed: int, count: int = 60) -> list[NDArray[np.bool_]]:
    """Random graphs on 2 to 6 items that contain the diagonal as a matching."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(rng.integers(2, 7))
        graph = rng.random((size, size)) < rng.uniform(0.2, 0.9)
        np.fill_diagonal(graph, True)
        found.append(graph)
    return found


def _inside(graph: NDArray[np.bool_]) -> NDArray[np.int64]:
    every = printed.matchings(len(graph))
    return every[graph[np.arange(len(graph)), every].all(axis=1)]


def theorem_1(_: Setting) -> Item:
    """d(G) = Delta(A_G) = Delta(F)."""
    gaps = []
    for graph in _some_graphs(1):
        d = math.log(len(_inside(graph))) / math.log(math.factorial(len(graph)))
        flat = ps.scale(graph.astype(int)).matrix
        both = [float(ps.degree_of_anonymity(one)) for one in (graph.astype(int), flat)]
        gaps += [abs(d - one) for one in both]
    cell = _over(gaps, "d = Delta(A) = Delta(F)")
    return Item("Theorem 1", "d of a graph is Delta of its matrix and of its flat matrix", (cell,))


def theorem_2(_: Setting) -> Item:
    """Delta(P) < Delta(A_G) unless P is flat."""
    rng = np.random.default_rng(2)
    margins = []
    for graph in _some_graphs(2):
        if len(_inside(graph)) < 2:
            continue
        even = float(ps.degree_of_anonymity(graph.astype(int)))
        uneven = float(ps.degree_of_anonymity(graph * rng.uniform(0.05, 1, graph.shape)))
        margins.append(even - uneven)
    cell = holds(
        "uneven probabilities",
        "Delta(P) < Delta(A)",
        min(margins) > 0,
        f"smallest margin {min(margins):.2g}, {len(margins)} graphs",
    )
    return Item("Theorem 2", "Probabilities on top of a graph lower Delta", (cell,))


def theorem_3(_: Setting) -> Item:
    """E(G) = Psi(A_G) = Psi(F)."""
    gaps = []
    for graph in _some_graphs(3):
        inside, truth = _inside(graph), list(range(len(graph)))
        mean = float((inside == np.arange(len(graph))).sum(axis=1).mean())
        flat = ps.scale(graph.astype(int)).matrix
        for matrix in (graph.astype(int), flat):
            gaps.append(abs(mean - float(ps.expected_cracks(ps.Belief(matrix, truth=truth)))))
    first = _over(gaps, "E = Psi(A) = Psi(F)")
    return Item(
        "Theorem 3",
        "E of a graph is Psi of its matrix and of its flat matrix",
        (first, _rescaled()),
    )


def _rescaled() -> Cell:
    """Psi and Delta need no doubly stochastic matrix, though the paper asks for one; H does."""
    rng = np.random.default_rng(33)
    gaps = []
    for graph in _some_graphs(33, 20):
        likelihoods = graph * rng.uniform(0.05, 1, graph.shape)
        truth = list(range(len(graph)))
        values = [
            (float(ps.expected_cracks(belief)), float(ps.degree_of_anonymity(belief)))
            for belief in (
                ps.Belief(likelihoods, truth=truth),
                ps.Belief(ps.scale(likelihoods).matrix, truth=truth),
            )
        ]
        gaps += [abs(a - b) for a, b in zip(*values, strict=True)]
    return _over(gaps, "not said", "Psi and Delta of a rescaled matrix")


def theorem_4(_: Setting) -> Item:
    """H is the expected number of cracks over all functions."""
    rng = np.random.default_rng(4)
    gaps, partial = [], []
    for size in (2, 3, 4, 5) * 5:
        matrix = ps.scale(rng.random((size, size)) + 0.01).matrix
        truth = rng.permutation(size)
        slices = np.array(list(product(range(size), repeat=size)))
        weights = matrix[np.arange(size), slices].prod(axis=1)
        cracks = slices == truth
        belief = ps.Belief(matrix, truth=truth.tolist())
        gaps.append(abs(float(weights @ cracks.sum(axis=1)) - float(ps.crack_heuristic(belief))))
        own = matrix[np.arange(size), truth]
        partial += [
            abs(float(weights @ cracks[:, :k].sum(axis=1)) - float(own[:k].sum()))
            for k in range(1, size + 1)
        ]
    first = _over(gaps, "H = expected cracks over Y^X")
    lemma = holds(
        "Lemma 1, the first k items",
        "sum of P(i, m_i)",
        max(partial) < _CLOSE,
        f"within {_CLOSE:.0e}, {len(partial)} sums",
    )
    return Item(
        "Theorem 4", "H counts cracks over all functions, not only matchings", (first, lemma)
    )


def theorem_5(_: Setting) -> Item:
    """Over all truths H and Psi add up to t!."""
    rng = np.random.default_rng(5)
    cells = []
    for size in (2, 3, 4, 5, 6, 7):
        points = ps.heuristic_by_truth(ps.scale(rng.random((size, size)) + 0.01).matrix)
        total = str(math.factorial(size))
        group = f"t = {size}"
        cells += [
            number("sum of H", total, sum(p.heuristic for p in points), group=group),
            number("sum of Psi", total, sum(p.expected_cracks for p in points), group=group),
        ]
    return Item("Theorem 5", "Over all truths the errors of H cancel", tuple(cells))


def corollary_1(_: Setting) -> Item:
    """One crack is the norm."""
    rng = np.random.default_rng(6)
    means = []
    for _each in range(50):
        size = int(rng.integers(2, 7))
        matrix = ps.scale(rng.random((size, size)) ** rng.uniform(0.5, 6) + 1e-3).matrix
        points = ps.heuristic_by_truth(matrix)
        means.append(sum(p.expected_cracks for p in points) / len(points))
    cell = holds(
        "Psi, averaged over all truths",
        "1",
        max(abs(m - 1) for m in means) < _CLOSE,
        f"1 for each of {len(means)} matrices",
    )
    return Item("Corollary 1", "A privacy breach is the norm", (cell,))


def _over(gaps: list[float], claim: str, name: str = "equality") -> Cell:
    return holds(name, claim, max(gaps) < _CLOSE, f"within {_CLOSE:.0e}, {len(gaps)} cases")
