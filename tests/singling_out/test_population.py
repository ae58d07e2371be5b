"""Population models against populations drawn from them, and closed forms."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import hypergeom

from crypsis import singling_out as so
from crypsis.errors import ParameterError, RoleError
from crypsis.singling_out import _distinct as estimators
from crypsis.singling_out._models import pitman_uniques, slide_negative_binomial_uniques, zayatz_uniques


def sample_of(sizes, rows, random):
    """Class sizes of a simple random sample of a population with these class sizes."""
    drawn = random.multivariate_hypergeometric(sizes, rows)
    return np.unique(drawn[drawn > 0], return_counts=True)


def test_pitman_recovers_a_population_of_its_own():
    random = np.random.default_rng(4)
    theta, alpha, people = 80.0, 0.55, 40_000
    sizes: list[int] = []
    weights = np.zeros(people)
    for n in range(people):  # the Chinese restaurant with parameters (alpha, theta)
        if random.random() < (theta + alpha * len(sizes)) / (theta + n):
            sizes.append(1)
            weights[n] = len(sizes) - 1
        else:
            # Joining a table in proportion to its size less alpha: take the table of somebody
            # before, and refuse with the probability that is lost to alpha.
            while True:
                table = int(weights[random.integers(n)])
                if random.random() < 1 - alpha / sizes[table]:
                    break
            sizes[table] += 1
            weights[n] = table
    size, number = sample_of(np.array(sizes), 4000, random)
    truth = sum(s == 1 for s in sizes)
    assert pitman_uniques(size, number, people).uniques == pytest.approx(truth, rel=0.15)


def test_slide_negative_binomial_recovers_a_population_of_its_own():
    random = np.random.default_rng(8)
    sizes = 1 + random.negative_binomial(0.6, 0.08, 9000)
    size, number = sample_of(sizes, int(0.25 * sizes.sum()), random)
    truth = (sizes == 1).sum()
    found = slide_negative_binomial_uniques(size, number, float(sizes.sum()))
    assert found.uniques == pytest.approx(truth, rel=0.1)


def test_zayatz_by_hand():
    size, number = np.array([1, 2, 5]), np.array([30, 10, 4])
    people, rows = 1000, 70
    p = [hypergeom(people, j, rows).pmf(1) for j in size]
    share = 30 * p[0] / (30 * p[0] + 10 * p[1] + 4 * p[2])
    assert zayatz_uniques(size, number, people).uniques == pytest.approx(30 * share * people / rows)


def test_models_agree_when_the_sample_is_the_population():
    size, number = np.array([1, 2, 7]), np.array([40, 5, 3])
    assert zayatz_uniques(size, number, 71.0).uniques == pytest.approx(40)
    assert slide_negative_binomial_uniques(size, number, 71.0).uniques == 40


def test_rule_of_dankar():
    random = np.random.default_rng(0)
    values = random.geometric(0.01, 3000)
    frame = pa.table({"v": values})
    small = so.population_uniqueness(frame, ["v"], population=300_000)
    assert (small.chosen, small.best.value) == ("pitman", small.pitman)
    large = so.population_uniqueness(frame, ["v"], population=10_000)
    assert large.chosen in ("zayatz", "slide_negative_binomial")
    assert large.best.value == min(large.zayatz, large.slide_negative_binomial)
    assert large.best.low <= large.best.value <= large.best.high
    assert so.population_uniqueness(frame, ["v"], population=10_000) == large


def test_a_model_that_the_class_sizes_exclude_is_not_chosen():
    # 100 classes of about 1,000 people and 300 unique people; 20 % of them are sampled.
    random = np.random.default_rng(3)
    people = np.repeat(np.arange(400), [997] * 100 + [1] * 300)
    sample = random.choice(people, 20_000, replace=False)
    found = so.population_uniqueness(pa.table({"v": sample}), ["v"], population=100_000)
    assert "pitman" in found.excluded
    assert found.chosen not in found.excluded
    assert found.best.low < 0.003 < found.best.high < 0.006
    assert "exclude" in found.advice


def test_population_uniqueness_is_honest_about_its_limits():
    twins = pa.table({"v": [1, 1, 2, 2, 3, 3]})
    found = so.population_uniqueness(twins, ["v"], population=10**6)
    assert found.chosen == "zayatz"
    assert (found.best.value, found.best.low) == (0, 0)
    assert 0.4 < found.best.high <= 1  # of 6 records that are not unique, few can be said
    assert found.pitman is None
    assert "No record is unique" in found.advice
    assert "below 0.1 %" in found.advice
    with pytest.raises(ParameterError, match="smaller"):
        so.population_uniqueness(twins, ["v"], population=5)
    with pytest.raises(RoleError, match="size of the population"):
        so.population_uniqueness(twins, ["v"])
    blank = pa.table({"v": [1, None]})
    with pytest.raises(ParameterError):
        so.population_uniqueness(blank, ["v"], population=5, missing="wildcard")


def series_of_benedetti_franconi(f, p):
    """E[1/F | f] summed as it is defined: F - f is negative binomial."""
    total, term, big = 0.0, p**f, f
    while big < 200_000:
        total += term / big
        term *= (1 - p) * big / (big - f + 1)
        big += 1
    return total


@pytest.mark.parametrize(("f", "p"), [(1, 0.01), (2, 0.05), (3, 0.5), (10, 0.01), (40, 0.9)])
def test_individual_risk_against_its_series(f, p):
    rows = pa.table({"v": [1] * f, "w": [1 / p] * f})
    found = so.individual_risk(rows, ["v"], weight="w")
    assert found.maximum == pytest.approx(series_of_benedetti_franconi(f, p), rel=1e-6)
    if f == 1:
        assert found.maximum == pytest.approx(-p / (1 - p) * math.log(p))


def test_individual_risk_of_a_census_is_one_over_the_class_size():
    rows = pa.table({"v": [1, 1, 2], "w": [1.0, 1.0, 1.0]})
    found = so.individual_risk(rows, ["v"], weight="w", threshold=0.6)
    assert (found.maximum, found.share_above) == (1.0, pytest.approx(1 / 3))
    assert found.average == pytest.approx(2 / 3)
    assert found.expected == pytest.approx(2)
    assert found.riskiest.values == (2,)
    with pytest.raises(RoleError, match="weights"):
        so.individual_risk(rows, ["v"])


def test_suda_by_enumeration():
    random = np.random.default_rng(6)
    data = random.integers(0, 4, (60, 5))
    names = list("abcde")
    table = pa.table(dict(zip(names, data.T, strict=True)))
    found = so.suda(table, names, max_columns=4)
    score: dict[tuple[int, ...], float] = {}
    sizes = [0] * 4
    for row in data:
        minimal: list[set[int]] = []
        for size in range(1, 5):
            for chosen in combinations(range(5), size):
                alike = (data[:, list(chosen)] == row[list(chosen)]).all(axis=1).sum()
                if alike == 1 and not any(part <= set(chosen) for part in minimal):
                    minimal.append(set(chosen))
                    sizes[size - 1] += 1
        score[tuple(row)] = sum(math.prod(5 - i for i in range(len(m), 5)) for m in minimal)
    assert found.minimal_uniques == tuple(sizes)
    scores = so.record_risks(table, names, max_columns=4).records["suda_score"].to_pylist()
    assert scores == [score[tuple(row)] for row in data]
    assert sum(one.share for one in found.contributions) == pytest.approx(1)


def test_data_intrusion_simulation_by_hand():
    rows = pa.table({"v": [1, 2, 3, 3, 4, 4, 4]})
    found = so.suda(rows, ["v"], population=70)
    assert found.intrusion == pytest.approx(0.1 * 2 / (0.1 * 2 + 0.9 * 2))
    assert so.suda(rows, ["v"]).intrusion is None


def test_suda_drops_missing_values_if_they_are_dropped():
    rows = pa.table({"a": [1, 1, None], "b": [1, 2, 3]})
    assert so.suda(rows, ["a", "b"]).minimal_uniques == (4, 0)
    assert so.suda(rows, ["a", "b"], missing="drop").minimal_uniques == (3, 0)
    with pytest.raises(ParameterError):
        so.suda(rows, ["a", "b"], missing="wildcard")
    with pytest.raises(ParameterError):
        so.suda(rows, ["a", "b"], max_columns=0)


def test_chao_by_hand_and_at_the_ends():
    # d = 10, f1 = 4, f2 = 2, n = 20: 10 + 19/20 * 16/4
    assert estimators.chao(10, 4, 2, 20).value == pytest.approx(13.8)
    assert estimators.chao(10, 3, 0, 20).value == pytest.approx(10 + 0.95 * 3)
    none = estimators.chao(10, 0, 3, 20)
    assert none.low == none.value == none.high == 10
    # Chao & Lin: with q = 1/2 and f2 = 0 every unseen value balances a seen one.
    assert estimators.chao_in_population(10, 4, 0, 20, 40).value == pytest.approx(14)
    assert estimators.chao_in_population(10, 4, 2, 20, 20).value == 10


def test_haas_stokes_by_hand_and_at_the_ends():
    # d = 3, n = 4 (sizes 2, 1, 1), N = 8: D_uj1 = 3 / (1 - 1/2 * 2/4) = 4, and gamma^2 =
    # 4/16*2 + 4/8 - 1 = 0.
    assert estimators.haas_stokes(3, 2, 6, 4, 8) == pytest.approx(4)
    assert estimators.haas_stokes(3, 2, 6, 4, 4) == 3
    assert estimators.haas_stokes(3, 0, 20, 12, 1000) == pytest.approx(3)


def test_unseen_fraction_is_the_good_turing_share_with_a_margin():
    assert estimators.unseen_fraction(0, 0, 100) == 0
    assert estimators.unseen_fraction(100, 0, 100) == 1
    assert 0.2 < estimators.unseen_fraction(20, 5, 100) < 0.35
