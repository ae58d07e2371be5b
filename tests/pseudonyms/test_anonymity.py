"""Degree of anonymity and cracks: methods agree with each other and with the definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from crypsis import pseudonyms as ps
from crypsis.errors import ParameterError
from crypsis.results import Estimate
from papers.bagai2017 import attack_graphs
from tests.pseudonyms import reference


def interval_matrix(size, reach, seed):
    """Items that may be any pseudonym within some distance, in shuffled order."""
    place = np.random.default_rng(seed).permutation(size)
    return (np.abs(place[:, None] - place) <= reach).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_against_the_definitions(seed):
    generator = np.random.default_rng(seed)
    cells = generator.integers(1, 9, (6, 6)) * ((generator.random((6, 6)) < 0.6) | np.eye(6, dtype=bool))
    rational = [[Fraction(int(x)) for x in row] for row in cells]
    belief = ps.Belief(cells, truth=list(range(6)))
    edges = np.array(reference.edge_probabilities(rational), dtype=float)
    entropy = reference.entropy(rational)
    assert ps.edge_probabilities(belief).probabilities == pytest.approx(edges, abs=1e-12)
    assert ps.degree_of_anonymity(belief) == pytest.approx(entropy / math.log(720), abs=1e-12)
    assert ps.expected_cracks(belief) == pytest.approx(edges.trace(), abs=1e-12)
    assert ps.permanent(belief) == pytest.approx(float(reference.permanent(rational)), rel=1e-12)
    weight = float(math.prod(int(cells[i, i]) for i in range(6)) / reference.permanent(rational))
    assert ps.matching_probability(belief) == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "exact", "frontier", "glynn"])
def test_methods_agree_and_are_reported(method):
    cells = interval_matrix(16, 3, 0)
    belief = ps.Belief(cells, truth=list(range(16)))
    found = ps.edge_probabilities(belief, method=method)
    assert found.exact
    assert [block.method for block in found.blocks] == ["glynn" if method == "glynn" else "frontier"]
    by_frontier = ps.edge_probabilities(belief, method="frontier").probabilities
    assert found.probabilities == pytest.approx(by_frontier, abs=1e-10)
    assert found.probabilities.sum(axis=0) == pytest.approx(1)
    distribution = ps.crack_distribution(belief, method=method)
    assert distribution.expected == pytest.approx(by_frontier.trace(), abs=1e-9)
    assert distribution.probabilities.sum() == pytest.approx(1)
    assert distribution.at_least(0) == pytest.approx(1)


def test_dense_blocks_use_glynn():
    cells = np.random.default_rng(1).random((21, 21))
    found = ps.edge_probabilities(cells)
    assert found.blocks[0].method == "glynn"
    assert found.blocks[0].rounding < 1e-9
    truth = list(range(21))
    distribution = ps.crack_distribution(ps.Belief(cells, truth=truth))
    assert distribution.expected == pytest.approx(found.probabilities.trace(), abs=1e-9)


def test_blocks_factor():
    left, right = np.random.default_rng(2).random((2, 4, 4))
    both = np.block([[left, np.ones((4, 4))], [np.zeros((4, 4)), right]])
    belief = ps.Belief(both, truth=list(range(8)))
    assert [block.size for block in ps.anonymity(belief).blocks] == [4, 4]
    assert belief.structure.superfluous == 16
    parts = [ps.Belief(part, truth=[0, 1, 2, 3]) for part in (left, right)]
    assert ps.expected_cracks(belief) == pytest.approx(sum(map(ps.expected_cracks, parts)))
    assert ps.permanent(belief) == pytest.approx(math.prod(map(ps.permanent, parts)))
    folded = np.convolve(*(ps.crack_distribution(part).probabilities for part in parts))
    assert ps.crack_distribution(belief).probabilities == pytest.approx(folded, abs=1e-12)


def test_complete_blocks_of_any_size():
    belief = ps.Belief(np.ones((400, 400)), truth=list(range(400)))
    assert ps.permanent(belief) == math.factorial(400)
    assert ps.degree_of_anonymity(belief) == pytest.approx(1)
    assert ps.expected_cracks(belief) == pytest.approx(1)
    poisson = [math.exp(-1) / math.factorial(k) for k in range(10)]
    assert ps.crack_distribution(belief).probabilities[:10] == pytest.approx(poisson, abs=1e-12)
    factors = np.random.default_rng(3).random((2, 50))
    scaled = ps.anonymity(np.outer(*factors))
    assert scaled.blocks[0].method == "closed form"
    assert scaled.degree == pytest.approx(1)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_rencontres_of_small_complete_blocks(size):
    ones = [[Fraction(1)] * size] * size
    expected = [float(p) for p in reference.crack_distribution(ones, list(range(size)))]
    belief = ps.Belief(np.ones((size, size)), truth=list(range(size)))
    assert ps.crack_distribution(belief).probabilities == pytest.approx(expected, abs=1e-15)


def test_rescaling_changes_neither_psi_nor_delta():
    generator = np.random.default_rng(4)
    cells = generator.random((9, 9))
    rows, columns = generator.random((2, 9)) * 10
    one = ps.Belief(cells, truth=list(range(9)))
    other = ps.Belief(rows[:, None] * cells * columns, truth=list(range(9)))
    for measure in (ps.expected_cracks, ps.degree_of_anonymity, ps.crack_heuristic, ps.matching_probability):
        assert measure(one) == pytest.approx(measure(other), rel=1e-9)


def test_integers_beyond_floats_stay_exact():
    cells = interval_matrix(300, 4, 5)
    count = ps.permanent(cells)
    assert isinstance(count, int)
    assert math.log(count) == pytest.approx(ps.log_permanent(cells), rel=1e-13)
    assert count > 10**150
    dense = 1 - np.eye(24)
    dense[0, 1] = 0
    derangements = [1, 0]
    for n in range(2, 25):
        derangements.append((n - 1) * (derangements[-1] + derangements[-2]))
    # Without (0,1): derangements less those that send 0 to 1, a 23rd of all.
    assert ps.permanent(dense) == derangements[24] - derangements[24] // 23


def test_scaling_converges_where_sweeps_alone_crawl():
    chain = np.tri(60, k=1) - np.tri(60, k=-2)
    chain[0, 1] = 1e-7
    found = ps.doubly_stochastic(chain)
    assert found.residual < 1e-12
    assert found.matrix.sum(axis=0) == pytest.approx(1)
    assert found.row_factors[:, None] * chain * found.column_factors == pytest.approx(found.matrix)


def test_heuristic_error_beyond_eight_items_is_an_estimate():
    found = attack_graphs.heuristic_error(np.random.default_rng(5).random((10, 10)), seed=1)
    assert isinstance(found, Estimate)
    assert 0 < found.low < found.value < found.high < 9


def test_decisions():
    belief = ps.Belief(np.ones((5, 5)), truth=list(range(5)))
    found = ps.anonymity(belief)
    assert ps.decide(found, max_cracks=1.5).verdict == "safe"
    assert ps.decide(found, max_cracks=0.5).verdict == "not safe"
    assert ps.decide(found, min_degree=0.9, max_cracks=0.5).verdict == "not safe"
    with pytest.raises(ParameterError, match="threshold"):
        ps.decide(found)
    uneven = ps.Belief(np.random.default_rng(6).random((9, 9)), truth=list(range(9)))
    drawn = ps.anonymity(uneven, method="sampling")
    close = ps.decide(drawn, max_cracks=float(drawn.expected_cracks))
    assert close.verdict == "cannot tell"
