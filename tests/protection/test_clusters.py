"""The dynamic program and the quantile transformation, against brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import ParameterError
from crypsis.protection import cluster, quantile_groups
from crypsis.protection.recoding._clusters import interval_labels
from crypsis.protection.recoding.kernels import segments
from crypsis.utility import rank_difference

COSTS = ("center", "median", "cellular", "squares")


def contiguous(n: int, k: int) -> Iterator[list[int]]:
    """Every way to cut n sorted values into groups of at least k, as lists of cuts."""
    for groups in range(1, n // k + 1):
        for inner in itertools.combinations(range(1, n), groups - 1):
            cuts = [0, *inner, n]
            if min(b - a for a, b in itertools.pairwise(cuts)) >= k:
                yield cuts


def cost_of(part: np.ndarray, cost: str) -> float:
    if cost == "center":
        return float(part.max() - part.min())
    if cost == "median":
        return float(np.abs(part - np.median(part)).sum())
    if cost == "cellular":
        return float((part.max() - part.min()) / 2 * part.size)
    return float(((part - part.mean()) ** 2).sum())


def brute_force(values: np.ndarray, k: int, cost: str, keep_equal: bool) -> float:
    x = np.sort(values)
    best = np.inf
    for cuts in contiguous(x.size, k):
        if keep_equal and any(x[c - 1] == x[c] for c in cuts[1:-1]):
            continue
        parts = [cost_of(x[a:b], cost) for a, b in itertools.pairwise(cuts)]
        best = min(best, max(parts) if cost == "center" else sum(parts))
    return best


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("keep_equal", [False, True])
@settings(max_examples=60)
@given(data=st.data())
def test_the_dynamic_program_is_optimal(cost: str, keep_equal: bool, data: st.DataObject) -> None:
    whole = st.integers(-20, 20).map(float)
    values = np.array(data.draw(st.lists(whole | st.floats(-1e3, 1e3), min_size=1, max_size=12)))
    k = data.draw(st.integers(1, values.size))
    found = cluster(values, k, cost=cost, keep_equal=keep_equal)
    expected = brute_force(values, k, cost, keep_equal)
    assert found.cost == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.sizes.min() >= k
    assert np.array_equal(np.bincount(found.labels), found.sizes)
    parts = [values[found.labels == i] for i in range(found.groups)]
    again = [cost_of(part, cost) for part in parts]
    assert (max(again) if cost == "center" else sum(again)) == pytest.approx(found.cost, rel=1e-9, abs=1e-9)
    if keep_equal:
        assert len({(v, g) for v, g in zip(values, found.labels, strict=True)}) == len(set(values))


def paper_program(x: np.ndarray, k: int, cost: str) -> float:
    """The dynamic program of the paper as printed, O(n^2)."""
    best = np.full(x.size + 1, np.inf)
    best[0] = 0
    for j in range(k, x.size + 1):
        for i in range(j - k + 1):
            here = cost_of(x[i:j], cost)
            best[j] = min(best[j], max(best[i], here) if cost == "center" else best[i] + here)
    return float(best[-1])


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("seed", range(3))
def test_larger_columns_agree_with_the_plain_program(cost: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = np.sort(generator.lognormal(0, 2, 160))
    k = (2, 7, 31)[seed]
    assert cluster(x, k, cost=cost).cost == pytest.approx(paper_program(x, k, cost), rel=1e-9)


def test_values_far_from_zero_do_not_cancel() -> None:
    near = np.random.default_rng(5).random(400)
    far = cluster(np.round(near * 1e9) + 1.7e15, 3)
    close = cluster(np.round(near * 1e9), 3)
    assert far.cost == pytest.approx(close.cost, rel=1e-9)
    assert np.array_equal(far.labels, close.labels)


def test_counts_say_how_often_a_value_occurs() -> None:
    values = np.array([1.0, 2, 3, 10, 11])
    counts = np.array([3, 1, 1, 2, 5])
    for cost in COSTS:
        short = cluster(values, 4, cost=cost, counts=counts)
        long = cluster(np.repeat(values, counts), 4, cost=cost, keep_equal=True)
        assert short.cost == pytest.approx(long.cost)
        assert np.array_equal(short.sizes, long.sizes)


def best_rank_difference(n: int, k: int) -> int:
    """Over all partitions of n ranks into groups of at least k, contiguous or not."""
    spread = {}
    for mask in range(1, 2**n):
        ranks = [i for i in range(n) if mask >> i & 1]
        if len(ranks) >= k:
            median = ranks[(len(ranks) - 1) // 2]
            spread[mask] = sum(abs(rank - median) for rank in ranks)
    best = {0: 0}
    for mask in range(1, 2**n):
        lowest = mask & -mask
        rest = mask ^ lowest
        sub, found = rest, None
        while True:
            other = rest ^ sub
            if sub | lowest in spread and other in best:
                total = spread[sub | lowest] + best[other]
                found = total if found is None else min(found, total)
            if sub == 0:
                break
            sub = (sub - 1) & rest
        if found is not None:
            best[mask] = found
    return best[2**n - 1]


@pytest.mark.parametrize("n", range(2, 11))
def test_quantiles_have_the_smallest_rank_difference(n: int) -> None:
    values = np.random.default_rng(n).permutation(np.arange(n) ** 2).astype(float)
    for k in range(2, n + 1):
        groups = quantile_groups(values, k)
        assert groups.cost == best_rank_difference(n, k)
        assert rank_difference(values, groups.transformed()) == groups.cost
        assert groups.sizes.max() - groups.sizes.min() <= 1


@pytest.mark.parametrize(("n", "k"), [(11, 3), (12, 2), (12, 5)])
def test_quantiles_of_up_to_twelve_values(n: int, k: int) -> None:
    assert quantile_groups(np.arange(n), k).cost == best_rank_difference(n, k)


@settings(max_examples=100)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.data())
def test_quantiles_that_keep_equal_values_together(values: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(values)))
    found = quantile_groups(values, k, keep_equal=True)
    assert found.sizes.min() >= k
    x = np.sort(values)
    cuts = [c for c in contiguous(x.size, k) if not any(x[i - 1] == x[i] for i in c[1:-1])]

    def spread(edges: list[int]) -> int:
        return sum((b - a) // 2 * ((b - a + 1) // 2) for a, b in itertools.pairwise(edges))

    assert found.cost == min(map(spread, cuts))


def test_missing_values_stay_missing() -> None:
    found = cluster([1.0, np.nan, 2.0, 9.0, 10.0], 2)
    assert found.missing == 1
    assert found.labels.tolist() == [0, -1, 0, 1, 1]
    assert np.isnan(found.transformed("mean")[1])
    assert found.transformed("interval").tolist() == ["1-2", None, "1-2", "9-10", "9-10"]


def test_a_label_reads_well() -> None:
    assert interval_labels([30.0, 1.5], [39.0, 2.25]) == ["30-39", "1.5-2.25"]


@pytest.mark.parametrize("k", [0, 4, 2.5])
def test_k_out_of_range(k: float) -> None:
    with pytest.raises(ParameterError, match="'k'"):
        cluster([1.0, 2.0, np.nan, 3.0], k)  # type: ignore[arg-type]


def test_unknown_options() -> None:
    with pytest.raises(ParameterError, match="cost"):
        cluster([1.0], 1, cost="mean")
    with pytest.raises(ParameterError, match="representative"):
        cluster([1.0], 1).transformed("mode")
    with pytest.raises(ParameterError, match="infinite"):
        cluster([1.0, np.inf], 1)


@pytest.mark.parametrize("k", [2, 7, 40])
def test_two_ways_to_the_least_sum_of_squares(k: int) -> None:
    points = np.sort(np.random.default_rng(k).lognormal(size=500))
    rows, sums, squares = segments.prefix_sums(points, np.ones(500, np.int64))
    queue = segments.cheapest_cuts(segments.SQUARES, points, rows, sums, squares, k)
    assert segments.cheapest_squares(points, k).tolist() == queue.tolist()
