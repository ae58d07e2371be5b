"""The bounds against brute force, exact arithmetic and their own limits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from crypsis import singling_out as so
from crypsis.errors import ParameterError


@pytest.mark.parametrize(("distinct", "people"), [(2, 5), (3, 4), (3, 7), (4, 4), (4, 6)])
def test_exact_bound_is_the_maximum_over_all_distributions(distinct, people):
    steps = 48
    best = 0.0
    for cut in itertools.combinations_with_replacement(range(steps + 1), distinct - 1):
        edges = [0, *cut, steps]
        p = [(b - a) / steps for a, b in itertools.pairwise(edges)]
        best = max(best, sum(people * x * (1 - x) ** (people - 1) for x in p))
    bound = people * so.uniqueness_bound(distinct, people, exact=True)
    assert best <= bound + 1e-9
    assert bound == pytest.approx(best, rel=0.01)


def test_finite_populations_exceed_the_limit_a_little():
    # The errata: n = 10, D = 20 expects 6.30 uniques where the limit allows 6.07.
    assert 10 * so.uniqueness_bound(20, 10, exact=True) == pytest.approx(10 * 0.95**9)
    assert 10 * so.uniqueness_bound(20, 10) == pytest.approx(6.07, abs=0.005)


def test_one_person_is_unique_and_one_value_makes_nobody_unique():
    assert so.uniqueness_bound(1, 1, exact=True) == so.uniqueness_bound(5, 1, exact=True) == 1
    assert so.uniqueness_bound(1, 2, exact=True) == 0


@settings(deadline=None)
@given(st.floats(1, 1e18), st.floats(1, 1e12))
def test_bounds_are_shares_and_grow_with_the_values(distinct, people):
    assert 0 <= so.uniqueness_bound(distinct, people) <= 1
    assert 0 <= so.uniqueness_bound(distinct, people, exact=True) <= 1
    assert so.uniqueness_bound(distinct, people) <= so.uniqueness_bound(1.5 * distinct, people)


@settings(deadline=None)
@given(st.floats(1e6, 1e12), st.floats(1.0, 1e18))
def test_exact_and_limit_agree_for_large_populations(people, distinct):
    exact = so.uniqueness_bound(distinct, people, exact=True)
    limit = so.uniqueness_bound(distinct, people)
    # One cell is lost to the rest where there are fewer values than people.
    assert exact == pytest.approx(limit, rel=1e-5, abs=1.1 / people)


@settings(deadline=None)
@given(st.integers(1, 10**12), st.floats(1e-9, 0.999), st.data())
def test_both_limits_of_theorem_4_meet_their_requirement(people, beta, data):
    k = data.draw(st.integers(1, min(people, 10**6)))
    chernoff = so.max_cells(people, k, beta)
    binomial = so.max_cells(people, k, beta, exact=True)
    assert binomial >= 1
    assert chernoff <= binomial * (1 + 1e-9)
    if chernoff >= 1:
        assert binom.sf(k - 1, people, 1 / chernoff) >= 1 - beta - 1e-9
    assert binom.sf(k - 1, people, 1 / binomial) == pytest.approx(1 - beta, abs=1e-6)


@pytest.mark.parametrize(("people", "k", "beta"), [(50, 3, 0.1), (200, 1, 0.05), (30, 30, 0.2)])
def test_binomial_limit_against_exact_fractions(people, k, beta):
    cells = so.max_cells(people, k, beta, exact=True)

    def large_enough(d: float) -> Fraction:
        p = Fraction(1 / d)
        return 1 - sum(math.comb(people, j) * p**j * (1 - p) ** (people - j) for j in range(k))

    assert large_enough(cells * (1 - 1e-6)) > 1 - beta > large_enough(cells * (1 + 1e-6))


def test_theorem_4_at_k_one_is_its_limit():
    # n / (2 ln 1/beta): the proof's own condition with k - 1 = 0.
    assert so.max_cells(1e6, 1, 0.1) == pytest.approx(1e6 / (2 * math.log(10)))
    assert so.max_cells(1e6, 1, 0.1, exact=True) == pytest.approx(1e6 / math.log(10), rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.1, 10)), min_size=1, max_size=30),
    st.floats(1, 1e12),
)
def test_values_per_column_multiply_to_the_cells_or_keep_everything(columns, cells):
    domains = [float(d) for d, _ in columns]
    weights = [w for _, w in columns]
    kept = so.values_per_column(cells, domains, weights=weights)
    assert all(ours <= d * (1 + 1e-9) for ours, d in zip(kept, domains, strict=True))
    free = [ours / w for ours, w, d in zip(kept, weights, domains, strict=True) if ours < d]
    if free:
        assert math.fsum(map(math.log, kept)) == pytest.approx(math.log(cells), abs=1e-6)
        assert max(free) == pytest.approx(min(free))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: so.uniqueness_bound(10, 0),
        lambda: so.uniqueness_bound(0, 10),
        lambda: so.uniqueness_bound(float("nan"), 10),
        lambda: so.uniqueness_bound(10, math.inf, exact=True),
        lambda: so.min_cells(10, 0),
        lambda: so.min_cells(10, 1),
        lambda: so.min_cells(0, 0.5),
        lambda: so.max_cells(10, 0, 0.1),
        lambda: so.max_cells(10, 11, 0.1),
        lambda: so.max_cells(10, 2.5, 0.1),
        lambda: so.max_cells(10, 2, 0),
        lambda: so.max_cells(10, 2, 1, exact=True),
        lambda: so.max_cells(0, 1, 0.5, exact=True),
        lambda: so.values_per_column(10, []),
        lambda: so.values_per_column(10, [2, 3], weights=[1]),
        lambda: so.values_per_column(10, [2, 3], weights=[1, 0]),
        lambda: so.values_per_column(10, [0]),
    ],
)
def test_numbers_out_of_range_are_errors(ask):
    with pytest.raises(ParameterError):
        ask()
