"""Theorems 1 to 5 and Corollary 1 of bagai2017, tried on many matrices."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crypsis import pseudonyms as ps
from papers.bagai2017 import attack_graphs, printed
from papers.comparison import claim, critique, number
from papers.results import ComparedValue, RunSettings, Values, paper_item

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


@paper_item("Theorem 1", "d of a graph is Delta of its matrix and of its flat matrix")
def theorem_1(_: RunSettings) -> Values:
    gaps = []
    for graph in _some_graphs(1):
        d = math.log(len(_inside(graph))) / math.log(math.factorial(len(graph)))
        flat = ps.doubly_stochastic(graph.astype(int)).matrix
        both = [float(ps.degree_of_anonymity(one)) for one in (graph.astype(int), flat)]
        gaps += [abs(d - one) for one in both]
    cell = _over(gaps, "d = Delta(A) = Delta(F)")
    return (cell,)


@paper_item("Theorem 2", "Probabilities on top of a graph lower Delta")
def theorem_2(_: RunSettings) -> Values:
    rng = np.random.default_rng(2)
    margins = []
    for graph in _some_graphs(2):
        if len(_inside(graph)) < 2:
            continue
        even = float(ps.degree_of_anonymity(graph.astype(int)))
        uneven = float(ps.degree_of_anonymity(graph * rng.uniform(0.05, 1, graph.shape)))
        margins.append(even - uneven)
    cell = claim(
        "uneven probabilities",
        "Delta(P) < Delta(A)",
        min(margins) > 0,
        f"smallest margin {min(margins):.2g}, {len(margins)} graphs",
    )
    return (cell,)


@paper_item("Theorem 3", "E of a graph is Psi of its matrix and of its flat matrix")
def theorem_3(_: RunSettings) -> Values:
    gaps = []
    for graph in _some_graphs(3):
        inside, truth = _inside(graph), list(range(len(graph)))
        mean = float((inside == np.arange(len(graph))).sum(axis=1).mean())
        flat = ps.doubly_stochastic(graph.astype(int)).matrix
        for matrix in (graph.astype(int), flat):
            gaps.append(abs(mean - float(ps.expected_cracks(ps.Belief(matrix, truth=truth)))))
    first = _over(gaps, "E = Psi(A) = Psi(F)")
    return (first, _rescaled())


def _rescaled() -> ComparedValue:
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
                ps.Belief(ps.doubly_stochastic(likelihoods).matrix, truth=truth),
            )
        ]
        gaps += [abs(a - b) for a, b in zip(*values, strict=True)]
    return critique(
        "Psi and Delta of a matrix that is not doubly stochastic",
        "doubly-stochastic",
        "those of its scaling" if max(gaps) < _CLOSE else "others",
        correct="those of its scaling",
        note="The paper asks for doubly stochastic matrices. Psi and Delta need none: scaling rows "
        "and columns changes neither. H does need one.",
    )


@paper_item("Theorem 4", "H counts cracks over all functions, not only matchings")
def theorem_4(_: RunSettings) -> Values:
    rng = np.random.default_rng(4)
    gaps, partial = [], []
    for size in (2, 3, 4, 5) * 5:
        matrix = ps.doubly_stochastic(rng.random((size, size)) + 0.01).matrix
        truth = rng.permutation(size)
        slices = np.array(list(product(range(size), repeat=size)))
        weights = matrix[np.arange(size), slices].prod(axis=1)
        cracks = slices == truth
        belief = ps.Belief(matrix, truth=truth.tolist())
        gaps.append(abs(float(weights @ cracks.sum(axis=1)) - float(ps.crack_heuristic(belief))))
        own = matrix[np.arange(size), truth]
        partial += [
            abs(float(weights @ cracks[:, :k].sum(axis=1)) - float(own[:k].sum())) for k in range(1, size + 1)
        ]
    first = _over(gaps, "H = expected cracks over Y^X")
    lemma = claim(
        "Lemma 1, the first k items",
        "sum of P(i, m_i)",
        max(partial) < _CLOSE,
        f"within {_CLOSE:.0e}, {len(partial)} sums",
    )
    return (first, lemma)


@paper_item("Proposition 3", "The cracks of a function, added over all truths")
def proposition_3(_: RunSettings) -> Values:
    cells = []
    for size in (2, 3, 4, 5):
        truths = printed.matchings(size)
        sums = {int((truths == np.array(function)).sum()) for function in product(range(size), repeat=size)}
        text = f"t! = {math.factorial(size)}"
        cells.append(
            claim(f"t = {size}", "t!", sums == {math.factorial(size)}, f"{text}, all {size**size} functions")
        )
    return cells


@paper_item("Theorem 5", "Over all truths the errors of H cancel")
def theorem_5(_: RunSettings) -> Values:
    rng = np.random.default_rng(5)
    cells = []
    for size in (2, 3, 4, 5, 6, 7):
        points = attack_graphs.heuristic_by_truth(
            ps.doubly_stochastic(rng.random((size, size)) + 0.01).matrix
        )
        total = str(math.factorial(size))
        group = f"t = {size}"
        cells += [
            number("sum of H", total, sum(p.heuristic for p in points), group=group),
            number("sum of Psi", total, sum(p.expected_cracks for p in points), group=group),
        ]
    return cells


@paper_item("Corollary 1", "A privacy breach is the norm")
def corollary_1(_: RunSettings) -> Values:
    rng = np.random.default_rng(6)
    means = []
    for _each in range(50):
        size = int(rng.integers(2, 7))
        matrix = ps.doubly_stochastic(rng.random((size, size)) ** rng.uniform(0.5, 6) + 1e-3).matrix
        points = attack_graphs.heuristic_by_truth(matrix)
        means.append(sum(p.expected_cracks for p in points) / len(points))
    cell = claim(
        "Psi, averaged over all truths",
        "1",
        max(abs(m - 1) for m in means) < _CLOSE,
        f"1 for each of {len(means)} matrices",
    )
    return (cell,)


def _over(gaps: list[float], text: str, name: str = "equality") -> ComparedValue:
    return claim(name, text, max(gaps) < _CLOSE, f"within {_CLOSE:.0e}, {len(gaps)} cases")
