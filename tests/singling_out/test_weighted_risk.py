"""Risk in weighted samples against exact arithmetic, brute force and drawn samples."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis as cr
from crypsis import singling_out as so
from crypsis.counting.match_probability import match_probability, match_variance
from crypsis.errors import ParameterError, RoleError

SIZES = (1, 2, 3, 5, 17, 63, 64, 65, 100, 1_000, 10**6)
WEIGHTS = (1, 1.0009765625, 1.5, 1.9990234375, 2, 2.0009765625, 3, 50, 1_000, 2.0**40)


def risk_of(size, weight):
    """The risk of a class of `size` records with this weight each."""
    return float(match_probability(np.array([float(size)]), np.array([size * float(weight)]))[0])


def by_logarithm(size, weight):
    """p I(f) from I(1) = -log(p) / q by its recurrence, with hundreds of digits."""
    with localcontext() as context:
        context.prec = 400
        p = 1 / Decimal(weight)
        q = 1 - p
        integral = -p.ln() / q
        for n in range(1, size):
            integral = (1 / Decimal(n) - p * integral) / q
        return float(p * integral)


def enclosed(size, weight):
    """The rational ends between which the series of E[1/F | f] converges."""
    p = 1 / Fraction(weight)
    term, total = Fraction(1), Fraction(0)
    for n in range(1, 60):
        total += term
        term *= Fraction(n, size + n) * (1 - p)
    rest = term / (1 - (1 - p)) if p < 1 else Fraction(0)  # each ratio is below 1 - p
    return p / size * total, p / size * (total + rest)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("size", [n for n in SIZES if n < 200])
def test_match_probability_has_all_its_digits(size, weight):
    expected = 1 / size if weight == 1 else by_logarithm(size, weight)
    assert risk_of(size, weight) == pytest.approx(expected, rel=2e-14)


@pytest.mark.parametrize("weight", [w for w in WEIGHTS if w < 2000])
@pytest.mark.parametrize("size", [n for n in SIZES if n >= 64])
def test_match_probability_of_large_classes_lies_between_rational_sums(size, weight):
    low, high = enclosed(size, weight)
    assert float(high - low) <= 1e-13 * float(low)
    assert float(low) * (1 - 1e-13) <= risk_of(size, weight) <= float(high) * (1 + 1e-13)


@given(st.integers(1, 10**9), st.floats(1, 1e9))
def test_match_probability_is_between_one_over_the_weights_and_one_over_the_size(size, weight):
    risk = risk_of(size, weight)
    assert 1 / (size * weight) * (1 - 1e-12) <= risk <= 1 / size * (1 + 1e-12)
    assert risk <= risk_of(max(1, size - 1), weight) * (1 + 1e-12)


def test_hundred_records_of_weight_fifty():
    rows = pa.table({"v": [1] * 100, "w": [50.0] * 100})
    found = so.individual_risk(rows, ["v"], weight="w")
    assert found.maximum == pytest.approx(2.0198e-4, rel=1e-4)


def test_adult_with_its_weights(adult):
    names = ["age", "education", "sex", "race", "marital-status"]
    found = so.individual_risk(adult, names, weight="fnlwgt")
    assert found.units == 32_561
    assert 0 < found.average < found.maximum < 1e-3
    assert found.expected == pytest.approx(found.average * found.units)
    every = so.record_risks(adult, names, weight="fnlwgt").records
    risks = np.array(every["journalist_risk"])
    assert np.isfinite(risks).all()
    assert risks.max() == found.maximum
    assert risks.sum() == pytest.approx(found.expected)


def test_expectation_is_nearer_the_truth_than_one_over_the_estimated_size(adult):
    """Samples of a known population: the re-identifications there are, and the two estimates."""
    random = np.random.default_rng(5)
    people = adult.cells(["age", "sex", "race"]).counts
    truth = expected = plugged = 0.0
    for _ in range(40):
        sample = random.binomial(people, 0.1)
        some = sample > 0
        f = sample[some].astype(float)
        truth += float((f / people[some]).sum())
        expected += float(f @ match_probability(f, f / 0.1))
        plugged += float(f @ (0.1 / f))
    assert expected == pytest.approx(truth, rel=0.1)
    assert plugged < 0.7 * truth


def test_journalist_risk_by_weights_is_the_individual_risk():
    rows = pa.table({"v": [1, 1, 2], "w": [10.0, 30.0, 50.0]})
    journalist = so.reidentification_risk(rows, ["v"], weight="w").journalist
    assert journalist.maximum == pytest.approx(math.log(50) / 49)
    found = so.individual_risk(rows, ["v"], weight="w")
    assert (journalist.maximum, journalist.average) == (found.maximum, found.average)


def test_a_person_counts_once_with_one_weight():
    """Five records of one person do not make the population five times larger."""
    rows = pa.table({"v": [1] * 5 + [2], "who": list("aaaaab"), "w": [50.0] * 6})
    found = so.individual_risk(rows, ["v"], weight="w", person="who")
    assert (found.unit, found.units) == ("people", 2)
    assert found.maximum == found.average == pytest.approx(math.log(50) / 49)


def test_wildcards_match_in_the_sample_and_in_the_weights():
    values = [(1, 1), (1, None), (2, 1), (None, None), (1, 2)]
    weights = [3.0, 4.0, 5.0, 6.0, 7.0]
    rows = pa.table({"a": [a for a, _ in values], "b": [b for _, b in values], "w": weights})
    every = so.record_risks(rows, ["a", "b"], weight="w", missing="wildcard").records

    def alike(one, two):
        return all(x is None or y is None or x == y for x, y in zip(one, two, strict=True))

    for place, one in enumerate(values):
        matched = [w for other, w in zip(values, weights, strict=True) if alike(one, other)]
        assert every["class_size"][place].as_py() == len(matched)
        assert every["population_class_size"][place].as_py() == sum(matched)
    assert "suda_score" not in every.column_names


def test_household_risk_with_weights_by_hand():
    rows = pa.table({"home": [1, 1, 2, None], "v": [1, 2, 2, 3], "w": [50.0, 10.0, 20.0, 5.0]})
    found = so.household_risk(rows, ["v"], household="home", weight="w")
    alone = math.log(50) / 49
    p = 2 / 30
    two = p / (1 - p) - (p / (1 - p)) ** 2 * math.log(1 / p)
    first = 1 - (1 - alone) * (1 - two)
    assert (found.households, found.members, found.household) == (2, 3, "home")
    assert found.maximum == pytest.approx(first)
    assert found.average == pytest.approx((first + two) / 2)
    assert found.member_average == pytest.approx((2 * first + two) / 3)
    assert found.expected == pytest.approx(first + two)
    each = so.record_risks(rows, ["v"], household="home", weight="w").records
    assert each["household_risk"].to_pylist() == [
        pytest.approx(first),
        pytest.approx(first),
        pytest.approx(two),
        None,
    ]


def test_a_person_counts_once_in_a_household():
    rows = pa.table({"home": [1, 1, 1, 2], "who": list("aabc"), "v": [1, 2, 2, 2]})
    found = so.household_risk(rows, ["v"], household="home", person="who")
    assert found.members == 3
    # a is unique by the record 1; b is one of the three persons with a 2.
    assert found.maximum == 1
    assert found.average == pytest.approx((1 + 1 / 3) / 2)


def test_a_dataset_may_be_asked_with_other_weights():
    rows = pa.table({"v": [1, 2], "w": [50.0, 50.0], "u": [10.0, 10.0]})
    data = cr.Dataset.from_frame(rows, quasi_identifiers=["v"], weight="w")
    first = so.individual_risk(data).maximum
    assert so.individual_risk(data, weight="u").maximum == pytest.approx(math.log(10) / 9)
    assert so.individual_risk(data).maximum == first == pytest.approx(math.log(50) / 49)
    with pytest.raises(ParameterError, match="own roles"):
        so.individual_risk(data, quasi_identifiers=["v"])


def test_parts_of_a_sample_are_columns_of_the_data():
    rows = pa.table({"v": [1, 2], "region": [1, 1], "psu": [1, 2], "home": [1, 2], "w": [1.5, 2]})
    data = cr.Dataset.from_frame(rows, weight="w", stratum="region", cluster="psu", household="home")
    assert (data.stratum, data.cluster, data.household) == ("region", "psu", "home")
    for part in ("stratum", "cluster", "household"):
        with pytest.raises(cr.errors.ColumnError):
            cr.Dataset.from_frame(rows, **{part: "nowhere"})
    with pytest.raises(RoleError, match="household"):
        so.household_risk(rows, ["v"])


def dis_suda(scores, uniques, pairs, fraction, columns):
    """DIS-SUDA as its definition has it, record by record."""
    dis = fraction * uniques / (fraction * uniques + (1 - fraction) * pairs)
    power = 1 + (8 - columns) / 20
    spread = sum(score**-power for score in scores if score)
    return [
        0.0 if not score else 1 / (1 + (uniques / dis - uniques) / (score**power * spread))
        for score in scores
    ]


def test_suda_scores_of_every_record():
    random = np.random.default_rng(2)
    data = random.integers(0, 5, (40, 4))
    table = pa.table(dict(zip("abcd", data.T, strict=True)))
    found = so.suda(table, list("abcd"), max_columns=4, sampling_fraction=0.05, threshold=0.1)
    each = so.record_risks(table, list("abcd"), max_columns=4, sampling_fraction=0.05).records
    scores = each["suda_score"].to_pylist()
    alike = (data[:, None, :] == data[None, :, :]).all(axis=2).sum(axis=1)
    expected = dis_suda(scores, (alike == 1).sum(), (alike == 2).sum(), 0.05, 4)
    assert each["dis_suda_score"].to_pylist() == pytest.approx(expected)
    assert found.dis_maximum == pytest.approx(max(expected))
    assert found.dis_share_above == pytest.approx(np.mean(np.array(expected) > 0.1))
    assert found.maximum == max(scores)
    assert found.average == pytest.approx(np.mean(scores))


def test_sampling_fraction_of_the_population_or_of_the_weights():
    rows = pa.table({"v": [1, 2, 3, 3], "w": [10.0, 20.0, 30.0, 40.0]})
    assert so.suda(rows, ["v"], weight="w").sampling_fraction == 0.04
    assert so.suda(rows, ["v"], population=40).sampling_fraction == 0.1
    everyone = pa.table({"v": [1, 2, 2, 3, 3, 3, 4, 4]})
    assert so.suda(rows, ["v"], population=everyone).sampling_fraction == 0.5
    assert so.suda(rows, ["v"]).dis_maximum is None
    with pytest.raises(ParameterError, match="sampling_fraction"):
        so.suda(rows, ["v"], sampling_fraction=0)


def test_record_risks_of_dropped_records_are_missing():
    rows = pa.table({"v": [1, None, 1]})
    found = so.record_risks(rows, ["v"], missing="drop")
    assert found.records["prosecutor_risk"].to_pylist() == [0.5, None, 0.5]
    assert found.measures == ("class_size", "prosecutor_risk", "suda_score")


def _by_sum(size, weight, model, order):
    """E[1/F^m | f] summed over F, until what is left is negligible."""
    from scipy import stats

    total = size * weight
    more = stats.poisson(total - size) if model == "poisson" else stats.nbinom(size, 1 / weight)
    last = int(more.ppf(1 - 1e-15)) + 50
    people = np.arange(last + 1)
    return float((more.pmf(people) / (size + people.astype(float)) ** order).sum())


@pytest.mark.parametrize("model", ["poisson", "negative binomial"])
@pytest.mark.parametrize("size", [1, 2, 7, 63, 500])
@pytest.mark.parametrize("weight", [1.0009765625, 1.5, 4.0, 60.0])
def test_moments_of_the_models_are_their_sums(model, size, weight):
    given = np.array([float(size)]), np.array([size * weight]), model
    mean = match_probability(*given)[0]
    assert mean == pytest.approx(_by_sum(size, weight, model, 1), rel=1e-9)
    second = match_variance(*given)[0] + mean**2
    assert second == pytest.approx(_by_sum(size, weight, model, 2), rel=1e-9)


def test_the_poisson_risk_of_a_unique_has_a_closed_form():
    rows = pa.table({"v": [1], "w": [100.0]})
    found = so.individual_risk(rows, ["v"], weight="w", model="poisson")
    assert found.maximum == pytest.approx((1 - math.exp(-99)) / 99, rel=1e-12)
    assert found.riskiest_interval[0] < found.maximum < found.riskiest_interval[1]
    careful = so.individual_risk(rows, ["v"], weight="w")
    assert careful.riskiest_interval[1] > found.riskiest_interval[1]


@pytest.mark.parametrize("model", ["poisson", "negative binomial"])
def test_the_interval_covers_the_matches_of_drawn_populations(model):
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 4, 300)
    rows = pa.table({"v": np.repeat(np.arange(300), sizes), "w": np.full(int(sizes.sum()), 8.0)})
    found = so.individual_risk(rows, ["v"], weight="w", model=model)
    covered = 0
    for _ in range(300):
        more = (
            generator.poisson(7 * sizes) if model == "poisson" else generator.negative_binomial(sizes, 1 / 8)
        )
        matches = (sizes / (sizes + more)).sum()
        covered += found.expected.low <= matches <= found.expected.high
    assert 270 <= covered <= 299  # of 300, at 95 %


def test_persons_have_an_interval_too():
    rows = pa.table({"v": [1, 2, 2, 3], "w": [9.0] * 4, "who": ["a", "a", "b", "c"]})
    found = so.individual_risk(rows, ["v"], weight="w", person="who")
    assert found.expected.low < found.expected < found.expected.high <= 3


@pytest.mark.parametrize("options", [{"model": "binomial"}, {"confidence": 1.0}])
def test_unknown_models_and_confidences_are_refused(options):
    with pytest.raises(ParameterError):
        so.individual_risk(pa.table({"v": [1], "w": [2.0]}), ["v"], weight="w", **options)
