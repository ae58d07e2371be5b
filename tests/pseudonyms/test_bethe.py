"""Kinds of rows and columns, and the bounds of the permanent that the Bethe permanent gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from crypsis import progress
from crypsis import pseudonyms as ps
from crypsis.errors import CancelledError, TooLargeError
from crypsis.pseudonyms._kinds import merge_kinds
from crypsis.pseudonyms.kernels import bethe
from crypsis.results import Estimate
from tests.pseudonyms import reference

WAYS = ("exact", "sampling")


def bounds_of(cells):
    kinds = merge_kinds(csr_array(np.asarray(cells, dtype=float)))
    return bethe.bounds(bethe.problem(kinds.weights, kinds.rows, kinds.columns))


def planted(seed, *, size=14, kinds=4, weighted=True):
    """A random matrix with identical rows and columns, and a perfect matching."""
    generator = np.random.default_rng(seed)
    weights = generator.random((kinds, kinds)) ** 2 + 0.01
    weights *= generator.random((kinds, kinds)) < 0.7
    if not weighted:
        weights = (weights > 0).astype(float)
    np.fill_diagonal(weights, 1.0)
    of_row = generator.integers(0, kinds, size)
    return weights[np.ix_(of_row, generator.permutation(of_row))]


def invented(items, transactions, exponent, seed=0):
    """Baskets with frequencies by a power law, known to 5 %."""
    shares = 0.4 * np.arange(1, items + 1.0) ** -exponent
    counts = np.maximum(1, np.random.default_rng(seed).binomial(transactions, shares))
    observed = ps.Frequencies(tuple(range(items)), np.sort(counts), transactions)
    ranges = {k: (0.95 * x, 1.05 * x) for k, x in enumerate(observed.shares.tolist())}
    return ps.frequency_attack(observed, ranges, truth="names")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.integers(2, 12), st.integers(1, 5))
def test_bounds_enclose_the_exact_permanent(seed, weighted, size, kinds):
    belief = ps.Belief(planted(seed, size=size, kinds=kinds, weighted=weighted))
    rows, columns = max(belief.structure.blocks, key=lambda block: block[0].size)
    assume(rows.size > 1)
    cells = belief.block(rows, columns)
    exact = float(ps.log_permanent(cells, method="exact"))
    found = bounds_of(cells)
    assert found.low <= exact <= found.high
    assert found.high - found.low <= rows.size * (math.log(2) / 2 + 0.001)
    assert 0 <= found.gap <= 0.001 * rows.size


@pytest.mark.parametrize("size", [2, 3, 10, 100, 100_000])
def test_bounds_of_a_block_of_ones(size):
    found = bethe.bounds(bethe.problem(csr_array(np.ones((1, 1))), np.array([size]), np.array([size])))
    bethe_permanent = size * math.log(size) + size * (size - 1) * math.log1p(-1 / size)
    assert found.bethe == pytest.approx(bethe_permanent, abs=1e-6 * size)
    assert found.low <= math.lgamma(size + 1) <= found.high
    assert found.high - found.low <= math.log(size) + 1e-3
    assert found.marginals == pytest.approx(1 / size)


def test_the_factor_of_anari_and_rezaei_is_attained():
    """Blocks of two by two ones: the Bethe permanent is 1, the permanent is 2."""
    found = bounds_of(np.ones((2, 2)))
    assert found.low == pytest.approx(0, abs=1e-6)
    assert found.high == pytest.approx(math.log(2), abs=1e-6)


def test_bethe_permanent_against_a_general_optimizer():
    from scipy.optimize import minimize

    cells = np.random.default_rng(5).random((4, 4)) + 0.1

    def loss(x):
        p = np.clip(x.reshape(4, 4), 1e-12, 1 - 1e-12)
        return -(p * np.log(cells / p) + (1 - p) * np.log(1 - p)).sum()

    sums = [
        {"type": "eq", "fun": lambda x: x.reshape(4, 4).sum(axis=0) - 1},
        {"type": "eq", "fun": lambda x: x.reshape(4, 4).sum(axis=1)[:3] - 1},  # the last follows
    ]
    best = minimize(loss, np.full(16, 0.25), bounds=[(0, 1)] * 16, constraints=sums)
    found = bounds_of(cells)
    assert found.bethe == pytest.approx(-best.fun, abs=1e-3)


def test_multiplicities_change_nothing():
    generator = np.random.default_rng(3)
    of_row = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    cells = (generator.random((3, 3)) + 0.1)[np.ix_(of_row, generator.permutation(of_row))]
    merged = merge_kinds(csr_array(cells))
    assert merged.weights.shape == (3, 3)
    assert merged.rows.tolist() == [3, 2, 4]
    np.testing.assert_array_equal(merged.expand().toarray(), cells)
    np.testing.assert_array_equal(merged.dense(), cells)
    apart = bethe.problem(csr_array(cells), np.ones(9, dtype=int), np.ones(9, dtype=int))
    one, other = bounds_of(cells), bethe.bounds(apart)
    assert one.low == pytest.approx(other.low, abs=2e-3)
    assert one.high == pytest.approx(other.high, abs=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_matchings_and_blocks_of_kinds_against_all_matchings(seed):
    cells = planted(seed, size=6, kinds=3)
    belief = ps.Belief(cells)
    edges = np.array(reference.edge_probabilities([[*row] for row in cells]), dtype=float)
    inside = np.zeros((6, 6), dtype=bool)
    for rows, columns in belief.structure.blocks:
        inside[np.ix_(rows, columns)] = True
    assert ((edges > 0) == (inside & (cells > 0))).all()
    assert sorted(belief.structure.matching.tolist()) == list(range(6))
    assert (cells[np.arange(6), belief.structure.matching] > 0).all()
    assert ps.edge_probabilities(belief).probabilities == pytest.approx(edges, abs=1e-12)


def test_too_few_pseudonyms_for_identical_items():
    cells = np.ones((6, 6))
    cells[:4, 3:] = 0
    with pytest.raises(ps.NoPerfectMatchingError) as caught:
        ps.Belief(cells)
    assert caught.value.items == (0, 1, 2, 3)
    assert "only 3 possible pseudonyms" in str(caught.value)


@pytest.mark.parametrize("weighted", [False, True])
def test_sampled_cracks_on_kinds_against_exact_ones(weighted):
    covered = np.zeros(2, dtype=int)
    for seed in range(5):
        cells = planted(seed, size=16, kinds=5, weighted=weighted)
        belief = ps.Belief(cells)
        truth = belief.structure.matching
        belief = belief.with_truth(truth.tolist())
        exact, found = (ps.anonymity(belief, method=way, precision=0.01) for way in WAYS)
        cracks, degree = found.expected_cracks, found.degree
        assert cracks == pytest.approx(exact.expected_cracks, rel=0.03)
        if isinstance(cracks, Estimate):
            covered += (
                cracks.low <= exact.expected_cracks <= cracks.high,
                degree.low - 1e-9 <= exact.degree <= degree.high + 1e-9,
            )
        else:
            covered += 1
        sampled = ps.crack_probabilities(belief, method="sampling", precision=0.01)
        assert sampled == pytest.approx(ps.crack_probabilities(belief), abs=0.03)
    assert (covered >= 4).all(), covered


def test_thousands_of_items_are_bounded_and_sampled():
    belief = invented(1_500, 60_000, 1.0)
    found = ps.anonymity(belief, precision=0.01)
    degree, cracks = found.degree, found.expected_cracks
    assert isinstance(degree, Estimate)
    assert (degree.method, degree.confidence) == ("bounds (Bethe)", 1.0)
    assert degree.high - degree.low < 0.05
    assert isinstance(cracks, Estimate)
    assert cracks.confidence == 0.95
    assert "Markov chain" in cracks.method
    assert (cracks.high - cracks.low) / 2 <= 0.01 * cracks
    sampled = [block for block in found.blocks if block.convergence is not None]
    assert all(block.method == "bounds (Bethe), sampling" for block in sampled)
    assert all(block.convergence.converged for block in sampled)
    # The Bethe marginals were not drawn and agree: the check on the chain.
    cracked = ps.crack_probabilities(belief, precision=0.01)
    for block, (rows, _) in zip(found.blocks, belief.structure.blocks, strict=True):
        if block.convergence is not None:
            assert cracked[rows].sum() == pytest.approx(block.convergence.bethe_cracks, rel=0.05)
    assert "bounds" in str(found)
    assert "95 % CI" in str(found)


def test_bethe_marginals_are_near_the_exact_cracks_of_large_kinds():
    belief = invented(400, 4_000, 1.0)
    wide = ps.frequency_attack(
        ps.Frequencies(belief.pseudonyms, np.arange(1, 401) // 40 + 20, 1_000),
        {k: ((k // 40 + 19) / 1_000, (k // 40 + 22) / 1_000) for k in range(400)},
        truth={k: k for k in range(400)},
    )
    exact = ps.anonymity(wide)
    sampled = ps.anonymity(wide, method="sampling")
    (block,) = sampled.blocks
    assert sampled.expected_cracks.low <= exact.expected_cracks <= sampled.expected_cracks.high
    assert block.convergence.bethe_cracks == pytest.approx(exact.expected_cracks, rel=0.01)
    assert sampled.degree.low <= exact.degree <= sampled.degree.high


def test_degree_without_the_truth_is_bounded_and_draws_nothing():
    belief = invented(1_500, 60_000, 1.0)
    blind = ps.Belief(belief.kinds)
    news = []
    with progress.report_to(news.append):
        degree = ps.degree_of_anonymity(blind)
    assert degree.method == "bounds (Bethe)"
    assert not any(piece.what == "matchings drawn" for piece in news)
    assert any(piece.what == "bounds of the permanent" for piece in news)
    found = ps.log_permanent(blind)
    assert found.confidence == 1.0
    assert degree == pytest.approx(found / math.lgamma(1_501))


def test_bounds_can_be_stopped():
    def stop(piece):
        if piece.what == "bounds of the permanent":
            raise CancelledError("enough")

    with progress.report_to(stop), pytest.raises(CancelledError):
        ps.degree_of_anonymity(invented(1_500, 60_000, 1.0))


def test_a_hundred_thousand_identical_items():
    observed = ps.Frequencies(tuple(range(100_000)), np.full(100_000, 3), 1_000_000)
    belief = ps.frequency_attack(observed, dict.fromkeys(range(100_000), (0, 1)), truth="names")
    found = ps.anonymity(belief)
    assert found.possible_pairs == 10**10
    assert (found.degree, found.expected_cracks) == (1.0, pytest.approx(1))
    assert found.blocks[0].method == "closed form"
    with pytest.raises(TooLargeError, match="too many to list"):
        belief.matrix  # noqa: B018
    with pytest.raises(TooLargeError, match="too many to list"):
        ps.edge_probabilities(belief)
