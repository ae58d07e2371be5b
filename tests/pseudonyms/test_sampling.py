"""The sampler: intervals that cover, same seed same answer, any zeros, progress."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from crypsis import progress
from crypsis import pseudonyms as ps
from crypsis.errors import CancelledError
from crypsis.pseudonyms._kinds import KindMatrix, merge_kinds
from crypsis.pseudonyms._matchings import random_matching
from crypsis.pseudonyms._sample_table import make_table
from crypsis.pseudonyms._sampling import average
from crypsis.pseudonyms.kernels import chain
from crypsis.results import Estimate
from tests.pseudonyms import reference


def dense(size, seed):
    return np.random.default_rng(seed).random((size, size))


def ring(size):
    """A cycle: two matchings that differ in every row, which swaps of two rows never connect."""
    return np.eye(size) + np.roll(np.eye(size), 1, axis=1)


def covers(estimate, value):
    assert isinstance(estimate, Estimate)
    return estimate.low <= value <= estimate.high


def test_intervals_cover_exact_values_of_sixteen_items():
    """Twenty of the hundred of `benchmarks.studies.permanents`; each interval holds at 95 %."""
    hits = np.zeros(2, dtype=int)
    for seed in range(20):
        belief = ps.Belief(dense(16, seed), truth=np.random.default_rng(seed).permutation(16))
        options = {"method": "sampling", "seed": seed, "precision": 0.02}
        hits[0] += covers(ps.expected_cracks(belief, **options), ps.expected_cracks(belief))
        hits[1] += covers(ps.degree_of_anonymity(belief, **options), ps.degree_of_anonymity(belief))
    assert (hits >= 17).all(), hits


def test_sparse_blocks_of_any_shape():
    belief = ps.Belief(ring(9), truth=list(range(9)))
    found = ps.expected_cracks(belief, method="sampling")
    assert covers(found, 4.5)
    assert covers(ps.degree_of_anonymity(belief, method="sampling"), np.log(2) / np.log(362880))
    cells = np.random.default_rng(3).random((12, 12)) * (ring(12) + np.roll(np.eye(12), 4, axis=1))
    other = ps.Belief(cells, truth=list(range(12)))
    assert covers(ps.expected_cracks(other, method="sampling"), ps.expected_cracks(other))
    counted = ps.permanent(ring(12) + np.roll(np.eye(12), 5, axis=1), method="sampling")
    assert covers(counted, ps.permanent(ring(12) + np.roll(np.eye(12), 5, axis=1)))


def test_edges_and_crack_distribution():
    belief = ps.Belief(dense(12, 1), truth=list(range(12)))
    exact = ps.edge_probabilities(belief).probabilities
    found = ps.edge_probabilities(belief, method="sampling")
    assert not found.exact
    assert np.abs(found.probabilities - exact).max() < 0.01
    assert (np.abs(found.probabilities - exact) <= found.half_widths).mean() > 0.75
    distribution = ps.crack_distribution(belief, method="sampling")
    true = ps.crack_distribution(belief).probabilities
    assert np.abs(distribution.probabilities - true).max() < 0.03
    assert (np.abs(distribution.probabilities - true) <= distribution.half_widths + 1e-9).mean() > 0.7


def test_same_seed_same_answer():
    def once(seed):
        return ps.expected_cracks(
            ps.Belief(dense(20, 2), truth=list(range(20))), method="sampling", seed=seed, precision=0.05
        )

    assert once(7) == once(7)
    assert once(7).value != once(8).value


def a_few_among_many(few, many):
    """Neighbours are possible: a chain of rare items, the last of them among many identical ones."""
    wide = few + 1
    weights = csr_array(np.eye(wide, k=-1) + np.eye(wide) + np.eye(wide, k=1))
    of_item = np.repeat(np.arange(wide), [1] * few + [many])
    return KindMatrix(weights, of_item, of_item)


def test_items_with_few_pseudonyms_among_thousands():
    """Walks from a random item rarely come to them, though they have nearly all of the cracks."""
    belief = ps.Belief(a_few_among_many(60, 2_000), truth=list(range(2_060)))
    exact = ps.expected_cracks(belief, method="exact")
    found = ps.expected_cracks(belief, method="sampling", precision=0.01)
    assert covers(found, exact)
    assert found == pytest.approx(exact, rel=0.01)


def test_visits_alone_keep_the_distribution():
    """Starts in any fixed proportion, walks refused after any length that goes with the start."""
    weights = np.random.default_rng(2).random((5, 5)) * (1 - np.eye(5, k=3)) + 0.1 * np.eye(5)
    kinds = merge_kinds(csr_array(weights))
    table = make_table(kinds, kinds.weights.data)
    matchings = np.tile(ps.Belief(weights).structure.matching, (4, 1)).astype(np.int64)
    streams = np.arange(4, dtype=np.uint64).reshape(4, 1)
    holes = np.cumsum([0.1, 0.4, 0.1, 0.3, 0.1]), np.array([3, 4, 64, 5, 64])
    drawn, _, steps = chain.run_chains(
        matchings, streams, table.kernel, table.cumulative, holes, 20_000, 0, 4
    )
    assert steps.min() > 0
    flat = drawn.reshape(-1, 5)
    shares = np.stack([(flat == column).mean(axis=0) for column in range(5)], axis=1)
    exact = np.array(reference.edge_probabilities([[*row] for row in weights]), dtype=float)
    assert shares == pytest.approx(exact, abs=0.01)


def test_chains_start_far_apart():
    kinds = a_few_among_many(40, 10)
    generator = np.random.default_rng(0)
    starts = [random_matching(kinds, generator) for _ in range(3)]
    for start in starts:
        assert sorted(start.tolist()) == list(range(kinds.size))
        assert (kinds.cells(np.arange(kinds.size), start) > 0).all()
    assert (starts[0] != starts[1]).sum() > 5


def test_large_blocks_are_sampled_by_themselves_and_reported():
    belief = ps.Belief(dense(120, 3), truth=list(range(120)))
    found = ps.anonymity(belief, precision=0.02)
    (block,) = found.blocks
    assert block.method == "bounds (Bethe), sampling"
    assert block.convergence.converged
    assert block.convergence.r_hat < 1.05
    assert isinstance(found.expected_cracks, Estimate)
    # For dense random matrices H is close to Psi, though nothing rests on it.
    assert found.expected_cracks.value == pytest.approx(found.heuristic, rel=0.1)
    assert covers(found.degree, found.degree.value)


def test_progress_is_told_and_may_stop_the_work():
    news = []
    with progress.report_to(news.append):
        ps.expected_cracks(ps.Belief(dense(80, 4), truth=list(range(80))), precision=0.02)
    assert any(piece.what == "matchings drawn" and piece.total for piece in news)

    def stop(piece):
        if piece.what == "matchings drawn":
            raise CancelledError("enough")

    with progress.report_to(stop), pytest.raises(CancelledError):
        ps.expected_cracks(ps.Belief(dense(80, 4), truth=list(range(80))))


def test_average_knows_correlated_draws_from_independent_ones():
    generator = np.random.default_rng(5)
    free = average(generator.normal(size=(4, 4000)))
    assert free.effective > 8000
    assert free.r_hat == pytest.approx(1, abs=0.01)
    steps = generator.normal(size=(4, 4000))
    for k in range(1, 4000):
        steps[:, k] += 0.9 * steps[:, k - 1]
    slow = average(steps)
    assert 400 < slow.effective < 1700  # 16,000 / 19 = 842
    apart = average(generator.normal(size=(4, 1000)) + np.arange(4)[:, None])
    assert apart.r_hat > 1.5
