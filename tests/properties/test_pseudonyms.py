"""What must hold for every belief."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis import pseudonyms as ps


@st.composite
def beliefs(draw, largest=7):
    """A belief with a truth: small whole-number likelihoods, about half of them zero."""
    size = draw(st.integers(1, largest))
    cells = np.array(
        draw(st.lists(st.integers(-4, 5), min_size=size * size, max_size=size * size)), dtype=float
    ).reshape(size, size)
    cells = np.maximum(cells, 0.0)
    truth = np.array(draw(st.permutations(range(size))))
    cells[np.arange(size), truth] = np.maximum(cells[np.arange(size), truth], 1)
    return ps.Belief(cells, truth=truth)


@settings(max_examples=60)
@given(beliefs())
def test_ranges_and_sums(belief):
    edges = ps.edge_probabilities(belief).probabilities
    assert edges.sum(axis=0) == pytest.approx(1)
    assert edges.sum(axis=1) == pytest.approx(1)
    assert ((edges > 1e-12) <= (belief.matrix.toarray() > 0)).all()
    assert 0 <= ps.degree_of_anonymity(belief) <= 1
    psi = ps.expected_cracks(belief)
    assert 0 <= psi <= belief.size
    distribution = ps.crack_distribution(belief)
    assert distribution.expected == pytest.approx(psi, abs=1e-10)
    assert distribution.probabilities[-1] == pytest.approx(ps.matching_probability(belief), abs=1e-10)
    if belief.size > 1:
        assert distribution.probabilities[-2] == pytest.approx(0, abs=1e-12)


@settings(max_examples=40)
@given(beliefs(), st.randoms(use_true_random=False))
def test_order_and_labels_change_nothing(belief, random):
    rows, columns = list(range(belief.size)), list(range(belief.size))
    random.shuffle(rows)
    random.shuffle(columns)
    where = np.argsort(columns)
    moved = ps.Belief(belief.matrix.toarray()[np.ix_(rows, columns)], truth=where[belief.truth[rows]])
    assert ps.expected_cracks(moved) == pytest.approx(ps.expected_cracks(belief), abs=1e-10)
    assert ps.degree_of_anonymity(moved) == pytest.approx(ps.degree_of_anonymity(belief), abs=1e-10)
    assert ps.permanent(moved) == pytest.approx(ps.permanent(belief), rel=1e-11)
    assert ps.crack_probabilities(moved) == pytest.approx(ps.crack_probabilities(belief)[rows], abs=1e-10)


@settings(max_examples=40)
@given(beliefs())
def test_every_exact_method_says_the_same(belief):
    one = ps.edge_probabilities(belief, method="frontier")
    other = ps.edge_probabilities(belief, method="glynn")
    assert one.probabilities == pytest.approx(other.probabilities, abs=1e-9)
    by_walk = ps.crack_distribution(belief, method="glynn").probabilities
    assert ps.crack_distribution(belief, method="frontier").probabilities == pytest.approx(by_walk, abs=1e-9)


@settings(max_examples=40)
@given(beliefs(), st.integers(0, 6))
def test_knowing_a_true_pair_never_hides_the_matching(belief, item):
    item %= belief.size
    known = belief.knowing({item: int(belief.truth[item])})
    assert ps.crack_probabilities(known)[item] == pytest.approx(1)
    assert ps.matching_probability(known) >= ps.matching_probability(belief) - 1e-12


@settings(max_examples=40)
@given(beliefs())
def test_scaling_is_doubly_stochastic_and_says_the_same(belief):
    found = ps.doubly_stochastic(belief)
    assert found.matrix.sum(axis=0) == pytest.approx(1, abs=1e-11)
    assert found.matrix.sum(axis=1) == pytest.approx(1, abs=1e-11)
    scaled = ps.Belief(found.matrix, truth=belief.truth)
    assert ps.expected_cracks(scaled) == pytest.approx(ps.expected_cracks(belief), abs=1e-8)


@settings(max_examples=25)
@given(beliefs(largest=6))
def test_secrets_are_never_safer_than_names(belief):
    values = ["one", "two"] * belief.size
    risk = ps.sensitive_value_risk(belief, values[: belief.size])
    assert risk.expected >= ps.expected_cracks(belief) - 1e-9
    shared = ps.sensitive_value_distribution(belief, ["same"] * belief.size)
    assert shared.probabilities[-1] == pytest.approx(1)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(0, 4), st.integers(0, 10**6))
def test_zero_one_counts_are_whole_and_bounded(size, reach, seed):
    place = np.random.default_rng(seed).permutation(size)
    cells = (np.abs(place[:, None] - place) <= reach).astype(float)
    count = ps.permanent(cells)
    assert isinstance(count, int)
    assert 1 <= count <= math.factorial(size)
    assert math.log(count) == pytest.approx(ps.log_permanent(cells), abs=1e-9)
