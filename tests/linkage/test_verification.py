from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import beta

from crypsis import linkage
from crypsis.counting.distributions import hellinger
from crypsis.errors import InputError, ParameterError
from crypsis.linkage._null_distribution import _benjamini_hochberg
from crypsis.linkage._search import share
from tests.linkage.brute import average_ranks, pairwise

CORRELATED = np.linalg.cholesky(np.full((3, 3), 0.9) + 0.1 * np.eye(3))


def unrelated(seed: int, n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ CORRELATED.T, rng.normal(size=(n, 3)) @ CORRELATED.T


@pytest.mark.parametrize("seed", range(8))
def test_correlated_columns_and_an_unrelated_file_are_safe(seed: int) -> None:
    """The test of the paper says "not safe", although links are correct by chance only."""
    found = linkage.verify_links(*unrelated(seed), seed=seed)
    assert found.verdict == "safe"
    assert found.paper_verdict == "not safe"
    assert found.independent.advantage.value > 0.5
    assert found.dependent is not None
    assert found.dependent.advantage.value < 0.02
    assert found.dependent.discoveries == 0


def test_held_out_controls_take_the_place_of_the_row_map() -> None:
    x, y = unrelated(1, 300)
    controls, _ = unrelated(2, 800)
    found = linkage.verify_links(x, y, controls=controls, row_map="unknown")
    assert found.dependent is not None
    assert found.dependent.null == "held-out controls"
    assert found.dependent.records == 800
    assert found.correct_share is None
    assert found.joint is not None
    assert not found.joint.seen
    assert found.verdict == "cannot tell"  # 300 records do not show a leak of 5 %
    assert "probability" in found.reasons[-1]
    noise = np.random.default_rng(3).normal(size=x.shape)
    assert (
        linkage.verify_links(x, x + 0.01 * noise, controls=controls, row_map="unknown").verdict == "not safe"
    )


def test_without_row_map_and_controls_the_verdict_is_cannot_tell() -> None:
    x, y = unrelated(1, 200)
    found = linkage.verify_links(x, y, row_map="unknown")
    assert found.verdict == "cannot tell"
    assert found.dependent is None
    assert "no controls" in found.reasons[-1]


def test_own_record_excluded_equals_brute_force() -> None:
    rng = np.random.default_rng(0)
    for digits in (0, 1, 8):
        x = rng.normal(size=(150, 2)).round(digits)
        y = (x + 0.2 * rng.normal(size=x.shape)).round(digits)
        rows = rng.permutation(150)[:140]
        found = linkage.verify_links(x, y[rows], row_map=rows, ties="average")
        n, m = 150, 140
        table = pairwise((2 * average_ranks(x) - 1) * m, (2 * average_ranks(y[rows]) - 1) * n)
        table[rows, np.arange(140)] = np.inf
        assert found.dependent is not None
        np.testing.assert_allclose(found.dependent.null_distances, np.sort(table.min(axis=1)) / (2 * n))


def test_p_values_hellinger_and_table_follow_their_definitions() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 2))
    found = linkage.verify_links(x, x + 0.3 * rng.normal(size=x.shape)).independent
    rx = average_ranks(x)
    assert found.exhaustive
    assert found.records == 1600
    d, null = found.distances, found.null_distances
    np.testing.assert_allclose(found.p_values, [(null <= value).mean() for value in d])
    top = int(max(d.max(), null.max()))
    counts = [np.bincount(v.astype(int), minlength=top + 1) for v in (d, null)]
    assert found.hellinger == pytest.approx(hellinger(*counts))
    gap = np.cumsum(counts[0] / 40 - counts[1] / 1600).max()
    assert found.advantage.value == pytest.approx(max(gap, 0))
    for row in found.bins:
        assert row.within_if_random == pytest.approx((null <= row.high).mean())
        ours = (d <= row.high).mean()
        if ours:
            bayes = min(1.0, found.random_share * row.within_if_random / ours)
            assert row.random_if_within == pytest.approx(bayes)
        assert found.random_given_within(row.high) == row.random_if_within
    assert sum(row.originals for row in found.bins) == pytest.approx(1)
    assert sum(row.random for row in found.bins) == pytest.approx(1)
    assert sum(row.closed_form or 0 for row in found.bins) == pytest.approx(1)
    assert len(rx) == 40


def test_all_combinations_equal_brute_force() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(12, 2))
    y = rng.normal(size=(12, 2))
    found = linkage.verify_links(x, y).independent
    rx, ry = average_ranks(x), average_ranks(y)
    all_records = np.array([[rx[i, 0], rx[j, 1]] for i, j in product(range(12), repeat=2)])
    np.testing.assert_array_equal(found.null_distances, np.sort(pairwise(all_records, ry).min(axis=1)))
    assert found.random_within(2).low == found.random_within(2).high


def test_false_discovery_control_against_its_definition() -> None:
    p = np.random.default_rng(0).uniform(size=200).round(2) ** 2
    different, which, counts = np.unique(p, return_inverse=True, return_counts=True)
    q = _benjamini_hochberg(different, counts)[which]
    for rate in (0.01, 0.05, 0.2):
        ordered = np.sort(p)
        below = np.flatnonzero(ordered <= rate * np.arange(1, 201) / 200)
        assert (q <= rate).sum() == (below[-1] + 1 if len(below) else 0)


def test_clopper_pearson_interval() -> None:
    found = share(7, 50)
    assert found.low == pytest.approx(beta.ppf(0.025, 7, 44))
    assert found.high == pytest.approx(beta.ppf(0.975, 8, 43))
    assert (share(0, 10).low, share(10, 10).high) == (0.0, 1.0)


def test_an_acceptable_share_of_correct_links() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1000, 3))
    y = x + 0.5 * rng.normal(size=x.shape)  # about 5 % correct links, none of them distinguishable
    assert linkage.verify_links(x, y).verdict == "not safe"
    assert linkage.verify_links(x, y, acceptable=0.08).verdict == "safe"


def test_seeded_sample_repeats() -> None:
    x, y = unrelated(4)
    one, again, other = (linkage.verify_links(x, y, seed=s).independent.null_distances for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


@pytest.mark.parametrize("options", [{"random_records": 5}, {"acceptable": 2}, {"false_discovery_rate": 0}])
def test_options_out_of_range(options: dict) -> None:
    with pytest.raises(ParameterError):
        linkage.verify_links(*unrelated(0, 50), **options)


def test_one_record_cannot_be_verified() -> None:
    with pytest.raises(InputError, match="at least two"):
        linkage.verify_links({"a": [1.0]}, {"a": [1.0]})


@pytest.mark.parametrize(("n", "m"), [(1, 2), (2, 2), (3, 1), (4, 2), (5, 2), (4, 3)])
def test_closed_form_equals_the_average_over_all_files(n: int, m: int) -> None:
    total = np.zeros(n)
    for orders in product(permutations(range(n)), repeat=m - 1):
        records = np.column_stack([np.arange(n), *map(np.array, orders)])
        points = np.array(list(product(range(n), repeat=m)))
        distances = pairwise(points.astype(float), records.astype(float)).min(axis=1)
        total += np.bincount(distances.astype(int), minlength=n)
    expected = np.cumsum(total) / total.sum()
    np.testing.assert_allclose(linkage.random_match_probability(n, m), expected, atol=1e-14)


@pytest.mark.parametrize(("n", "m"), [(1000, 2), (1000, 3), (5000, 4)])
def test_closed_form_against_the_simulation(n: int, m: int) -> None:
    x = np.random.default_rng(n + m).normal(size=(n, m))
    y = np.random.default_rng(n - m).normal(size=(n, m))
    found = linkage.verify_links(x, y, random_records=20_000).independent
    theory = linkage.random_match_probability(n, m)
    measured = np.searchsorted(found.null_distances, np.arange(n), side="right") / found.records
    # One file scatters around the average over all files, more than its sample does.
    assert np.abs(theory - measured).max() < 0.02


def test_closed_form_is_a_distribution_and_knows_its_limit() -> None:
    for n, m in ((1000, 3), (100_000, 10), (1_000_000, 2)):
        at = np.unique(np.geomspace(1, n - 1, 80).astype(int))
        found = linkage.random_match_probability(n, m, at)
        assert (np.diff(found) >= 0).all()
        assert 0 <= found[0] <= found[-1] <= 1
    middle = int(1_000_000 ** (2 / 3) / 2)
    limit = 1 - np.exp(-1_000_000 * ((2 * middle + 1) / 1_000_000) ** 3)
    assert linkage.random_match_probability(1_000_000, 3, [middle])[0] == pytest.approx(limit, abs=0.01)
    with pytest.raises(ParameterError):
        linkage.random_match_probability(0, 3)
    with pytest.raises(ParameterError):
        linkage.random_match_probability(10, 3, [-1])
