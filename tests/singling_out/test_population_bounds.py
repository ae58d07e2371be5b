"""The interval of unique people: closed forms, an independent solver, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from crypsis import singling_out as so
from crypsis.errors import RoleError
from crypsis.singling_out._population_bounds import SampledClasses, unique_people


def by_linear_programs(size, number, people):
    """The least and largest number by linear programs: each logarithm is replaced by tangents.

    All class sizes up to 300 and not a few of them, another algorithm, another normalization.
    """
    q = size @ number / people
    counts = np.array([number[size == i].sum() for i in range(1, 13)], float)
    sizes = np.arange(1, 301)
    shown = binom.pmf(np.arange(1, 13)[:, None], sizes, q)
    rows, right = [], []
    some = np.flatnonzero(counts)
    for place, i in enumerate(some):  # t >= -f (log m + (mean - m) / m) for many m
        for m in counts[i] * np.geomspace(0.02, 6, 200):
            own = np.zeros(some.size)
            own[place] = -1.0
            rows.append(np.concatenate([-counts[i] / m * shown[i], own]))
            right.append(counts[i] * (math.log(m) - 1))
    loss = np.concatenate([shown.sum(axis=0), np.ones(some.size)])
    bounds = [(0, None)] * sizes.size + [(None, None)] * some.size
    least = linprog(loss, np.array(rows), right, bounds=bounds).fun
    rows, right = np.vstack([rows, loss]), [*right, least + math.log(20)]
    first = np.eye(1, loss.size)[0]
    return tuple(linprog(s * first, rows, right, bounds=bounds).x[0] for s in (1.0, -1.0))


@pytest.mark.parametrize(
    ("number", "people"), [([60, 14, 5, 2, 1], 400), ([9, 6, 8, 5, 4, 2], 300), ([30], 100)]
)
def test_ends_against_linear_programs(number, people):
    size, number = np.arange(1, len(number) + 1), np.array(number)
    found = unique_people([SampledClasses(size, number, float(people))])
    rows, once = size @ number, number[0]
    outside = people - rows
    low, high = by_linear_programs(size, number, people)
    low, high = max(low, once - outside, 0), min(high, once + outside)
    assert found.least == pytest.approx(low, abs=0.03 * people / rows * math.sqrt(once))
    assert found.largest == pytest.approx(high, rel=0.01)
    assert found.least <= found.likeliest <= found.largest


def test_no_unique_record_is_the_rule_of_three():
    found = unique_people([SampledClasses(np.array([50]), np.array([40]), 20_000.0)])
    assert found.least == 0
    assert found.largest == pytest.approx(math.log(20) * 10, rel=0.02)


def test_a_complete_sample_is_counted():
    size, number = np.array([1, 3]), np.array([7, 5])
    every = unique_people([SampledClasses(size, number, 22.0)])
    assert every.least == every.likeliest == every.largest == 7
    nearly = unique_people([SampledClasses(size, number, 24.0)])  # two people more: 5 to 9 are unique
    assert 5 <= nearly.least <= 7 <= nearly.largest <= 9


@pytest.mark.parametrize("fraction", [0.05, 0.3])
@pytest.mark.parametrize("kind", ["uniform", "zipf", "spike"])
def test_the_interval_covers(kind, fraction):
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(20):
        if kind == "spike":
            people = np.append(np.full(100, 200), np.ones(60, int))
        else:
            weight = np.ones(3_000) if kind == "uniform" else 1 / np.arange(1, 6_001)
            people = random.multinomial(20_000, weight / weight.sum())
        sample = random.multivariate_hypergeometric(people, int(fraction * people.sum()))
        size, number = np.unique(sample[sample > 0], return_counts=True)
        found = unique_people([SampledClasses(size, number, float(people.sum()))])
        covered += found.least <= (people == 1).sum() <= found.largest
    assert covered >= 18


def _drawn(random, fractions):
    """A population in strata, a sample of each by its fraction, and the truth with the stratum."""
    keys, weights, strata, alone, people = [], [], [], 0, 0
    for h, (fraction, number) in enumerate(zip(fractions, (6000, 4000, 1500), strict=True)):
        classes = random.multinomial(number, 1 / np.arange(1, 901) / (1 / np.arange(1, 901)).sum())
        alone += int((classes == 1).sum())
        people += number
        every = np.repeat(np.arange(900), classes)
        sample = random.choice(every, round(fraction * number), replace=False)
        keys.append(sample)
        weights.append(np.full(sample.size, number / sample.size))
        strata.append(np.full(sample.size, h))
    table = pa.table({"key": np.concatenate(keys), "w": np.concatenate(weights), "h": np.concatenate(strata)})
    return table, alone / people


def test_a_stratified_sample_is_covered_and_ignoring_it_is_not():
    random = np.random.default_rng(8)
    covered = ignored = 0
    for _ in range(6):
        table, truth = _drawn(random, (0.02, 0.1, 0.5))
        found = so.population_uniqueness(table, ["key"], weight="w", stratum="h")
        assert found.columns == ("key", "h")
        assert found.population == 11_500
        covered += found.best.low <= truth <= found.best.high
        flat = so.population_uniqueness(table, ["key", "h"], population=11_500)
        ignored += flat.best.low <= truth <= flat.best.high
    assert covered == 6
    assert ignored <= covered


def test_strata_sampled_alike_are_a_simple_random_sample():
    random = np.random.default_rng(9)
    table, _ = _drawn(random, (0.1, 0.1, 0.1))
    strata = so.population_uniqueness(table, ["key"], weight="w", stratum="h")
    plain = so.population_uniqueness(table, ["key", "h"], population=11_500)
    assert strata.best.high == pytest.approx(plain.best.high, rel=1e-6)
    assert strata.pitman == pytest.approx(plain.pitman, rel=1e-6)


def test_designs_that_the_models_do_not_know_are_refused():
    table = pa.table({"key": [1, 2, 3, 4], "w": [2.0, 2.0, 3.0, 4.0], "h": [0, 0, 1, 1]})
    for options, message in (
        ({"weight": "w", "stratum": "h"}, "unequal weights within the strata"),
        ({"weight": "w"}, "unequal weights"),
        ({"stratum": "h", "population": 50}, "strata without weights"),
        ({"cluster": "h", "population": 50}, "clusters"),
    ):
        with pytest.raises(RoleError, match=message):
            so.population_uniqueness(table, ["key"], **options)


def test_equal_weights_give_the_size_of_the_population():
    table = pa.table({"key": [1, 2, 2, 3, 3, 3], "w": [10.0] * 6})
    assert so.population_uniqueness(table, ["key"], weight="w").population == 60
