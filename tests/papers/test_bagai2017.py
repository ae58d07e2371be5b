"""Every number of bagai2017, typed from the paper or recovered from what it prints."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from crypsis import pseudonyms as ps
from crypsis.pseudonyms.kernels import glynn
from papers.bagai2017 import attack_graphs, printed
from tests.pseudonyms import reference

F = Fraction
TRUTH = list(printed.TRUTH)
P, A, A_G, FLAT, floats = printed.P, printed.A, printed.A_G, printed.FLAT, printed.floats
Q = printed.recovered_q()


def test_figure_1_complete_and_no_anonymity():
    assert ps.permanent(np.ones((4, 4))) == 24
    assert ps.degree_of_anonymity(np.ones((4, 4))) == pytest.approx(1)
    assert ps.permanent(np.eye(4)) == 1
    assert ps.degree_of_anonymity(np.eye(4)) == 0


def test_figure_2_frequency_attack_on_transactions_that_fit_the_text():
    # The figure is lost; the text keeps a at 20 % of 10, and Bread at 50-80 % as c or d.
    baskets, ranges = printed.BASKETS, printed.RANGES
    belief = ps.frequency_attack(baskets, ranges)
    observed = dict(zip(belief.pseudonyms, ps.frequencies(baskets).shares, strict=True))
    assert observed["a"] == float(printed.FREQUENCY_OF_A)
    bread = belief.matrix.toarray()[0]
    possible = {name for name, cell in zip(belief.pseudonyms, bread, strict=True) if cell}
    assert possible == {"c", "d"}


def test_figure_3_the_graphs_that_fit_agree():
    # 24 graphs fit what the text says; all of them give the same metrics.
    fitting = 0
    for bits in product((0, 1), repeat=12):
        graph = _graph(bits)
        cracks = sorted(
            sum(m[i] == TRUTH[i] for i in range(4))
            for m in permutations(range(4))
            if all(graph[i][m[i]] for i in range(4))
        )
        if tuple(cracks) == printed.CRACKS:
            fitting += 1
            belief = ps.Belief(graph, truth=TRUTH)
            assert ps.permanent(belief) == len(cracks)
            assert ps.degree_of_anonymity(belief) == pytest.approx(math.log(5) / math.log(24))
            assert ps.expected_cracks(belief) == pytest.approx(np.mean(cracks))
            found = ps.crack_distribution(belief).probabilities
            assert found == pytest.approx(np.bincount(cracks) / len(cracks))
    assert fitting == 24


def _graph(bits):
    graph = [[0] * 4 for _ in range(4)]
    free = [(i, j) for i in range(4) for j in range(4) if TRUTH[i] != j]
    for (i, j), bit in zip(free, bits, strict=True):
        graph[i][j] = bit
    for i in range(4):
        graph[i][TRUTH[i]] = 1
    return graph


def test_figure_4_forty_one_points():
    points = set()
    for bits in product((0, 1), repeat=12):
        found = glynn.permanent_and_minors(floats(_graph(bits)))
        cracks = found.minors[range(4), TRUTH].sum() / found.permanent
        points.add((round(found.permanent), F(cracks).limit_denominator(1000)))
    assert len(points) == 41
    at = {n: {e for p, e in points if p == n} for n in (4, 5, 6)}
    assert (min(at[4]), max(at[4])) == (printed.MIN_CRACKS_4, printed.MAX_CRACKS_4)
    assert at[4] == {F(3, 2), F(7, 4), F(2), F(9, 4), F(5, 2)}
    assert at[5] == {F(8, 5), F(9, 5), F(2), F(11, 5)}
    assert at[6] == {F(4, 3), F(3, 2), F(5, 3), F(11, 6), F(2)}
    assert {(24, F(1)), (1, F(4))} <= points
    for bits in (0, 5, 1000, 4095):  # and a few through the front door
        belief = ps.Belief(_graph([bits >> k & 1 for k in range(12)]), truth=TRUTH)
        point = ps.permanent(belief), F(ps.expected_cracks(belief)).limit_denominator(1000)
        assert point in points


def test_figure_5_matrix_p():
    assert reference.permanent(P) == printed.PERMANENT_P
    assert ps.permanent(floats(P)) == pytest.approx(float(printed.PERMANENT_P), rel=1e-14)
    assert ps.matching_probability(floats(P), [0, 1, 2, 3]) == 0  # M_1
    assert ps.matching_probability(floats(P), TRUTH) == pytest.approx(  # M_2
        float(printed.PROBABILITY_M2)
    )


def test_figure_7a_matrix_a():
    belief = ps.Belief(A, truth=TRUTH)
    assert ps.permanent(belief) == printed.PERMANENT_A
    assert ps.degree_of_anonymity(belief) == pytest.approx(math.log(12) / math.log(24))
    assert ps.expected_cracks(belief) == pytest.approx(float(printed.PSI_A))
    assert ps.doubly_stochastic(belief).matrix == pytest.approx(floats(P), abs=1e-13)


def test_figure_7b_matrix_q():
    belief = ps.Belief(floats(Q), truth=TRUTH)
    assert reference.permanent(Q) == printed.PERMANENT_Q
    assert ps.permanent(belief) == pytest.approx(float(printed.PERMANENT_Q), rel=1e-14)
    shares = np.array(printed.WEIGHTS) / sum(printed.WEIGHTS)
    entropy = -(shares * np.log(shares)).sum()
    assert ps.degree_of_anonymity(belief) == pytest.approx(entropy / math.log(24))
    assert ps.expected_cracks(belief) == pytest.approx(float(printed.PSI_Q), rel=1e-13)
    assert ps.crack_heuristic(belief) == pytest.approx(17 / 16)


def test_figure_7c_weights():
    assert [w for _, w in sorted((w, w) for _, w in reference.weights(Q) if w)] == [
        F(k, sum(printed.WEIGHTS)) * printed.PERMANENT_Q for k in printed.WEIGHTS
    ]
    # M_3 with Claudia-d and Mike-c, as its printed product needs (the text swaps them).
    third, fourth, fifth = [1, 3, 2, 0], printed.M4_PLACES, printed.M5_PLACES
    for matching, place in ((third, 0), (fourth, -2), (fifth, -1)):
        found = ps.matching_probability(floats(Q), matching)
        assert found == pytest.approx(printed.WEIGHTS[place] / sum(printed.WEIGHTS), rel=1e-13)


def test_figure_8_flat_matrix():
    found = ps.doubly_stochastic(A_G)
    assert np.abs(found.matrix - FLAT).max() < 1e-12
    assert found.superfluous == 1
    assert found.residual < 1e-12
    assert ps.permanent(A_G) == 3


@pytest.mark.parametrize(("matrix", "heuristic"), [(Q, Q), (FLAT, FLAT)], ids=["Q", "F"])
def test_figure_9_all_24_values(matrix, heuristic):
    cells = floats(matrix)
    expected = floats(reference.edge_probabilities([[F(x) for x in row] for row in matrix]))
    psi, h = [], []
    for mu in permutations(range(4)):
        psi.append(sum(expected[i, mu[i]] for i in range(4)))
        h.append(sum(cells[i, mu[i]] for i in range(4)))
        if all(cells[i, mu[i]] > 0 for i in range(4)):
            belief = ps.Belief(cells, truth=mu)
            assert ps.expected_cracks(belief) == pytest.approx(psi[-1], abs=1e-12)
            assert ps.crack_heuristic(belief) == pytest.approx(h[-1], abs=1e-12)
    edges = ps.edge_probabilities(cells).probabilities
    assert [edges[range(4), mu].sum() for mu in permutations(range(4))] == pytest.approx(psi)
    assert sum(psi) == pytest.approx(24)  # Theorem 5
    assert sum(h) == pytest.approx(24)
    # "For low values the heuristic overestimates, for high values it underestimates."
    assert np.polyfit(psi, np.array(h) - psi, 1)[0] < 0


def test_heuristic_errs_on_the_unsafe_side_too():
    # For Q and its likeliest matching H is lower than Psi.
    truth = printed.M5_PLACES
    belief = ps.Belief(floats(Q), truth=truth)
    heuristic = sum(Q[i][j] for i, j in enumerate(truth))
    exact = sum(reference.edge_probabilities(Q)[i][j] for i, j in enumerate(truth))
    assert ps.crack_heuristic(belief) == pytest.approx(float(heuristic))
    assert ps.expected_cracks(belief) == pytest.approx(float(exact))
    assert heuristic < 0.8 * exact


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_theorem_5_sums_equal_t_factorial(size):
    cells = ps.doubly_stochastic(np.random.default_rng(size).random((size, size))).matrix
    edges = ps.edge_probabilities(cells).probabilities
    every = [list(mu) for mu in permutations(range(size))]
    assert sum(edges[range(size), mu].sum() for mu in every) == pytest.approx(math.factorial(size))
    assert sum(cells[range(size), mu].sum() for mu in every) == pytest.approx(math.factorial(size))


def test_theorems_1_to_3():
    flat = ps.doubly_stochastic(A_G).matrix
    assert ps.degree_of_anonymity(A_G) == pytest.approx(ps.degree_of_anonymity(flat))
    truth = [3, 1, 0, 2]
    by_graph = ps.expected_cracks(ps.Belief(A_G, truth=truth))
    assert by_graph == pytest.approx(ps.expected_cracks(ps.Belief(flat, truth=truth)))
    assert ps.degree_of_anonymity(floats(Q)) < ps.degree_of_anonymity(A)  # Theorem 2


def random_matrices(count, seed):
    """The generator: powers of uniform numbers (exponent uniform on [0, 8]), scaled by Sinkhorn."""
    generator = np.random.default_rng(seed)
    cells = generator.random((count, 4, 4)) ** (8 * generator.random((count, 1, 1)))
    for _ in range(400):
        cells /= cells.sum(axis=2, keepdims=True)
        cells /= cells.sum(axis=1, keepdims=True)
    return cells


def test_figure_10_nmape_of_24_000_matrices():
    cells = random_matrices(24_000, seed=2017)
    every = np.array(list(permutations(range(4))))
    chosen = cells[:, np.arange(4), every]
    weights = chosen.prod(axis=2)
    permanents = weights.sum(axis=1)
    cracks = (every[:, None, :] == every[None, :, :]).sum(axis=2)
    psi = weights / permanents[:, None] @ cracks
    errors = np.abs(chosen.sum(axis=2) - psi).mean(axis=1) / 4 * 100
    converged = np.flatnonzero(np.abs(cells.sum(axis=2) - 1).max(axis=1) < 1e-12)
    for k in converged[::2_000]:
        assert attack_graphs.heuristic_error(cells[k]) == pytest.approx(errors[k], abs=1e-9)
    assert permanents.min() >= 24 / 4**4 - 1e-12
    assert errors.max() < 9.2
    assert (errors < 6).mean() > 0.85  # "usually just within 6 %"
    # The shape: nothing at either end, the largest errors for low permanents.
    assert errors[permanents > 0.95].max() < 1.0
    assert errors[permanents < 0.1].max() < 4.0
    assert permanents[errors.argmax()] < 0.5
    assert errors[permanents < 0.4].max() > errors[permanents > 0.7].max()


def test_nmape_may_exceed_nine_percent():
    # A circle of eight edges with weights 2/3 and 1/3: two matchings, 16 to 1.
    cycle = (2 * np.eye(4) + np.roll(np.eye(4), 1, axis=1)) / 3
    edges = (16 * np.eye(4) + np.roll(np.eye(4), 1, axis=1)) / 17
    apart = [abs((cycle - edges)[range(4), mu].sum()) for mu in permutations(range(4))]
    assert attack_graphs.heuristic_error(cycle) == pytest.approx(100 * np.mean(apart) / 4)
    assert attack_graphs.heuristic_error(cycle) > 9


def test_corollary_1_one_crack_is_the_norm():
    cells = random_matrices(200, seed=1)
    generator = np.random.default_rng(2)
    values = [ps.edge_probabilities(c).probabilities[range(4), generator.permutation(4)].sum() for c in cells]
    assert np.mean(values) == pytest.approx(1, abs=0.25)


def test_convention_for_one_item():
    assert ps.degree_of_anonymity([[1]]) == 0
    assert ps.degree_of_anonymity([[0.3]]) == 0
    assert ps.expected_cracks(ps.Belief([[1]], truth=[0])) == 1
