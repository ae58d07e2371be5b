"""What must hold for any two files."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crypsis import linkage
from tests.linkage.brute import average_ranks, nearest

SIZES = st.tuples(st.integers(1, 12), st.integers(1, 3))
VALUES = st.integers(-4, 4)


@st.composite
def files(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    shape = draw(SIZES)
    return draw(arrays(np.int64, shape, elements=VALUES)), draw(arrays(np.int64, shape, elements=VALUES))


@given(files())
@settings(max_examples=150, deadline=None)
def test_links_equal_brute_force_whatever_the_ties(pair: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = pair
    found = linkage.link(x, y, ties="average")
    least, rows = nearest(average_ranks(x), average_ranks(y))
    np.testing.assert_array_equal(found.distances, least)
    assert [match.tolist() for match in found.matches] == rows
    assert (found.true_matches or 0) + found.multiple_matches + (found.false_matches or 0) == len(x)


@given(files(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_row_order_changes_nothing(pair: tuple[np.ndarray, np.ndarray], random: object) -> None:
    x, y = pair
    rows = np.random.default_rng(random.randint(0, 10**6)).permutation(len(x))  # type: ignore[attr-defined]
    one = linkage.link(x, y, ties="average")
    other = linkage.link(x[rows], y[rows], ties="average")
    np.testing.assert_array_equal(one.distances[rows], other.distances)
    assert (one.true_matches, one.multiple_matches, one.unmatched) == (
        other.true_matches,
        other.multiple_matches,
        other.unmatched,
    )


@given(files())
@settings(max_examples=100, deadline=None)
def test_any_increasing_relabelling_changes_nothing(pair: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = pair
    one = linkage.link(x, y, ties="average")
    other = linkage.link(x, np.exp(y / 2.0), ties="average")
    np.testing.assert_array_equal(one.distances, other.distances)


@given(files(), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_reverse_mapping_permutes_each_column(pair: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    x, y = pair
    z = linkage.reverse_map(x, y, seed=seed)
    np.testing.assert_array_equal(np.sort(z, axis=0), np.sort(x, axis=0))
    for step in linkage.decompose_noise(x, y, seed=seed):
        assert step.residual_noise is not None
        assert step.noise is not None
        assert step.residual_noise <= step.noise + 1e-9


@given(files())
@settings(max_examples=60, deadline=None)
def test_asking_for_more_is_met_by_fewer(pair: tuple[np.ndarray, np.ndarray]) -> None:
    shares = [linkage.permuted_privacy(*pair, d=d, v=0).share for d in (0, 1, 2, 4)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0


@given(files(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_intervals_cover_what_they_estimate(pair: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    x, y = pair
    if len(x) < 2:
        return
    found = linkage.verify_links(x, y, seed=seed)
    assert found.correct_share is not None
    assert 0 <= found.correct_share.low <= found.correct_share.value <= found.correct_share.high <= 1
    for null in (found.independent, found.dependent):
        assert null is not None
        assert 0 <= null.hellinger <= 1
        assert ((null.p_values > 0) | (null.exhaustive)).all()
        assert (null.q_values >= null.p_values - 1e-12).all()


@given(st.integers(1, 40), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_closed_form_is_a_distribution(n: int, m: int) -> None:
    found = linkage.random_match_probability(n, m)
    assert (np.diff(found) >= 0).all()
    assert found[-1] == 1.0
    # At distance 0, n of the n^m combinations coincide with a record.
    assert abs(found[0] - n / n**m) < 1e-15
