"""Log-linear models against closed forms, drawn populations and a real one."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import poisson

from crypsis import Dataset
from crypsis import singling_out as so
from crypsis.errors import ColumnError, ParameterError, RoleError, TooLargeError
from crypsis.singling_out._loglinear import _match, fit_margins, judge
from crypsis.singling_out._population import refuse_design


def test_scaling_gives_the_closed_form_of_decomposable_models():
    table = np.random.default_rng(1).integers(0, 9, (4, 3, 5)).astype(float)
    total = table.sum()
    alone = [table.sum(axis=tuple(j for j in range(3) if j != i)) for i in range(3)]
    independent = np.einsum("i,j,k->ijk", *alone) / total**2
    assert fit_margins(table, [(0,), (1,), (2,)]) == pytest.approx(independent)
    # first and third independent given the second: n_ij+ n_+jk / n_+j+
    both = table.sum(axis=2)[:, :, None] * table.sum(axis=0)[None, :, :]
    given = both / alone[1][None, :, None]
    assert fit_margins(table, [(0,), (1,), (2,), (0, 1), (1, 2)]) == pytest.approx(given)
    assert fit_margins(table, [(0, 1, 2)]) == pytest.approx(table)


def test_scaling_of_all_pairs_keeps_margins_and_has_no_interaction_of_three():
    table = np.random.default_rng(2).integers(1, 9, (3, 2, 2)).astype(float)
    fitted = fit_margins(table, [(0, 1), (1, 2), (0, 2)])
    for axis in range(3):
        assert fitted.sum(axis=axis) == pytest.approx(table.sum(axis=axis), rel=1e-4)
    odds = np.log(fitted[:, 0, 0] * fitted[:, 1, 1] / (fitted[:, 0, 1] * fitted[:, 1, 0]))
    assert odds == pytest.approx([odds[0]] * 3, abs=1e-4)
    warm = fit_margins(table, [(0, 1), (1, 2), (0, 2)], fit_margins(table, [(0, 1), (1, 2)]))
    assert warm == pytest.approx(fitted, rel=1e-3)


def test_match_probability_and_its_derivatives():
    m = np.array([0.0, 1e-5, 9e-4, 1.1e-3, 0.3, 4.0, 60.0])
    value, slope, bend = _match(m)
    others = np.arange(400)
    by_sum = [float(poisson.pmf(others, x) @ (1 / (1 + others))) for x in m]  # E[1/F | f = 1]
    assert value == pytest.approx(by_sum)
    step = 1e-3
    up, down = _match(m[2:] + step)[0], _match(m[2:] - step)[0]
    assert slope[2:] == pytest.approx((up - down) / (2 * step), rel=1e-4)
    assert bend[2:] == pytest.approx((up - 2 * value[2:] + down) / step**2, rel=1e-2, abs=1e-5)


def test_the_two_parts_of_the_bias_have_the_variances_that_are_used():
    """F - mu and (f - mu)^2 - f of a Poisson count: means 0, uncorrelated, mu and 2 mu^2."""
    for mu in (0.05, 0.7, 3.0):
        f = np.arange(200)
        p = poisson(mu).pmf(f)
        one, two = f - mu, (f - mu) ** 2 - f
        moments = [p @ one, p @ two, p @ (one * two), p @ one**2, p @ two**2]
        assert moments == pytest.approx([0, 0, 0, mu, 2 * mu**2], abs=1e-9)


def test_risk_of_uniques_by_hand():
    counts, fitted = np.array([1.0, 3.0, 1.0, 0.0]), np.array([0.5, 2.5, 1.5, 0.5])
    found = judge(counts, fitted, 0.1, 0.1)
    left = [0.9 * 5.0, 0.9 * 15.0]
    assert found.population_uniques == pytest.approx(sum(math.exp(-m) for m in left))
    assert found.correct_matches == pytest.approx(sum((1 - math.exp(-m)) / m for m in left))
    census = judge(counts, fitted, 1.0, 1.0)
    assert census.population_uniques == census.correct_matches == 2


NAMES = ("age", "town", "job", "sex")


def sampled(seed, sizes, spread):
    """A population in which the first two columns interact, and a sample of a twentieth."""
    random = np.random.default_rng(seed)
    parts = [random.dirichlet(np.full(size, 1.0)) for size in sizes]
    both = np.multiply.outer(parts[0], parts[1]) * np.exp(random.normal(0, spread, sizes[:2]))
    mean = both
    for part in parts[2:]:
        mean = np.multiply.outer(mean, part)
    people = random.poisson(60_000 * mean / mean.sum())
    return people, random.binomial(people, 0.05)


def records(table):
    places = np.repeat(np.argwhere(table), table[table > 0], axis=0)
    return pa.table(dict(zip(NAMES, places.T, strict=False)))


@pytest.fixture(scope="module")
def drawn():
    return sampled(1, (12, 8, 60, 6), 1.5)


def test_a_population_with_an_interaction_is_recovered(drawn):
    people, sample = drawn
    unique = sample == 1
    truth = float((1 / people[unique]).sum())
    found = so.loglinear_risk(records(sample), NAMES, population=int(people.sum()))
    assert ("age", "town") in found.interactions
    assert found.correct_matches == pytest.approx(truth, rel=0.1)
    assert found.sample_uniques == int(unique.sum())
    scores = [abs(one.score) for one in found.models]
    assert scores == sorted(scores, reverse=True)
    plain = so.loglinear_risk(records(sample), NAMES, population=int(people.sum()), interactions=[])
    assert plain.correct_matches > 1.1 * truth
    assert plain.uncertain
    assert "too high" in plain.advice


def test_a_model_with_too_many_parameters_is_noticed():
    """Interactions of 1,200 cells cannot be learned from 3,000 records."""
    people, sample = sampled(7, (40, 30), 3.0)
    truth = float((1 / people[sample == 1]).sum())
    names = NAMES[:2]
    found = so.loglinear_risk(records(sample), names, population=int(people.sum()), interactions=[names])
    assert found.correct_matches < 0.8 * truth
    assert found.uncertain
    assert "too low" in found.advice


def test_adult_as_a_population(adult):
    """Nearer the truth than the model that knows the class sizes of uniques only."""
    names = ["age", "sex", "race", "education"]
    cells = adult.cells(names)
    random = np.random.default_rng(3)
    sample = random.binomial(cells.counts, 0.05)
    once = sample == 1
    truth = float((1 / cells.counts[once]).sum())
    rows = np.repeat(np.arange(len(cells)), sample)
    table = pa.table(
        {n: v.take(pa.array(c[rows])) for n, v, c in zip(names, cells.values, cells.codes, strict=True)}
    )
    found = so.loglinear_risk(table, names, population=int(cells.counts.sum()))
    by_size = float(once.sum()) * math.log(20) / 19
    assert abs(found.correct_matches - truth) < abs(by_size - truth)
    assert found.correct_matches == pytest.approx(truth, rel=0.3)


def test_equal_weights_are_the_same_as_the_size_of_the_population(drawn):
    table = records(drawn[1])
    weighted = table.append_column("w", pa.array([20.0] * table.num_rows))
    by_weight = so.loglinear_risk(weighted, NAMES, weight="w")
    by_size = so.loglinear_risk(table, NAMES, population=20 * table.num_rows)
    assert by_weight.weighted
    assert not by_size.weighted
    assert by_weight.interactions == by_size.interactions
    assert by_weight.correct_matches == pytest.approx(by_size.correct_matches, rel=1e-4)
    assert by_weight.population_uniques == pytest.approx(by_size.population_uniques, rel=1e-4)


def test_unequal_weights_are_used():
    """Two halves sampled with 1/2 and 1/20: uniques of the first are riskier."""
    random = np.random.default_rng(5)
    ages, towns = random.dirichlet(np.ones(25)), random.dirichlet(np.ones(20))
    people = random.poisson(1500 * np.multiply.outer([1.0, 1.0], np.multiply.outer(ages, towns)))
    sample = random.binomial(people, np.array([0.5, 0.05])[:, None, None])
    truth = float((1 / people[sample == 1]).sum())
    half, age, town = np.repeat(np.argwhere(sample), sample[sample > 0], axis=0).T
    weights = np.where(half == 0, 2.0, 20.0)
    table = pa.table({"half": half, "age": age, "town": town, "w": weights})
    names = ["half", "age", "town"]
    weighted = so.loglinear_risk(table, names, weight="w", interactions=[])
    assert weighted.correct_matches == pytest.approx(truth, rel=0.15)
    blind = so.loglinear_risk(table, names, population=int(people.sum()), interactions=[])
    assert abs(blind.correct_matches - truth) > 2 * abs(weighted.correct_matches - truth)


def test_mistakes_are_clear_errors(drawn):
    table = records(drawn[1])
    with pytest.raises(RoleError, match="size of the population or the weights"):
        so.loglinear_risk(table, ["age"])
    with pytest.raises(ParameterError, match="smaller"):
        so.loglinear_risk(table, ["age"], population=2)
    with pytest.raises(ColumnError):
        so.loglinear_risk(table, ["age", "town"], population=10**6, interactions=[("age", "x")])
    with pytest.raises(ParameterError, match="two different columns"):
        so.loglinear_risk(table, ["age", "town"], population=10**6, interactions=[("age", "age")])
    wide = pa.table({name: np.arange(200) for name in "abc"})
    with pytest.raises(TooLargeError, match="combinations"):
        so.loglinear_risk(wide, list("abc"), population=10**6)


def test_models_of_random_samples_refuse_a_design():
    rows = {"v": [1, 2, 3, 3], "w": [1.0, 2.0, 3.0, 4.0], "e": [5.0] * 4, "region": [1, 1, 2, 2]}
    table = pa.table(rows)
    for given in ({"weight": "w"}, {"stratum": "region"}, {"cluster": "region"}):
        with pytest.raises(RoleError, match="simple random sample"):
            so.population_uniqueness(table, ["v"], population=100, **given)
    refuse_design(Dataset.from_frame(table, weight="e"))
