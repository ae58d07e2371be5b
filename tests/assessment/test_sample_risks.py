"""Population, weights and households in an assessment: findings, notes and what is not known."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import singling_out as so
from crypsis.policies import MEASURES, Policy, load_policy, requirements_for
from crypsis.policies.findings import Status, Verdict
from crypsis.report.wording import measure_title

QI = ["age", "sex"]


def policy_of(*limits, k=None):
    """A policy that limits these measures only: (measure, limit) pairs."""
    thresholds = []
    for name, limit in limits:
        known = MEASURES[f"singling_out.{name}"]
        one = {"measure": known.name, "unit": known.unit, known.limit: limit, "why": "a test"}
        thresholds.append(one | ({"k": k} if known.parameter else {}))
    return Policy.model_validate(
        {
            "name": "ours",
            "title": "Ours",
            "jurisdiction": "none",
            "source": "a test",
            "date": "2026-11-17",
            "summary": "A test.",
            "thresholds": thresholds,
        }
    )


@pytest.fixture(scope="module")
def survey():
    random = np.random.default_rng(3)
    rows = 400
    return pa.table(
        {
            "age": random.integers(1, 12, rows),
            "sex": random.choice(["f", "m"], rows),
            "home": np.sort(random.integers(0, 150, rows)),
            "w": random.choice([20.0, 35.0, 50.0], rows),
        }
    )


def found_of(survey, policy, **given):
    roles = {"quasi_identifiers": QI, "insensitive": ["home", "w"]}
    found = cr.assess(survey, policy=policy, **roles, **given, person="each record")
    return found, {one.measure.partition(".")[2]: one for one in found.findings}


@pytest.mark.parametrize("at_risk", [2, 300])
def test_every_measure_of_a_survey_is_a_finding(survey, at_risk):
    names = [
        "journalist_risk",
        "journalist_average_risk",
        "journalist_records_at_risk",
        "individual_risk",
        "individual_average_risk",
        "individual_records_at_risk",
        "household_risk",
        "household_average_risk",
        "households_at_risk",
        "special_uniques",
        "dis_suda",
        "dis_suda_records_at_risk",
        "prosecutor_average_risk",
    ]
    policy = policy_of(*((name, 0.5) for name in names), k=at_risk)
    _, findings = found_of(survey, policy, weight="w", household="home")
    given = {"weight": "w", "household": "home", "threshold": 1 / at_risk}
    individual = so.individual_risk(survey, QI, **given)
    household = so.household_risk(survey, QI, **given)
    suda = so.suda(survey, QI, **given)
    expected = {
        "individual_risk": individual.maximum,
        "individual_average_risk": individual.average,
        "individual_records_at_risk": individual.share_above,
        "household_risk": household.maximum,
        "household_average_risk": household.average,
        "households_at_risk": household.share_above,
        "special_uniques": suda.special_uniques / 400,
        "dis_suda": suda.dis_maximum,
        "dis_suda_records_at_risk": suda.dis_share_above,
        "prosecutor_average_risk": so.reidentification_risk(survey, QI).prosecutor.average,
    }
    expected |= {
        name.replace("individual", "journalist"): expected[name]
        for name in list(expected)
        if name.startswith("individual")
    }
    assert {name: findings[name].value for name in names} == pytest.approx(expected)
    assert all(findings[name].status in (Status.MET, Status.EXCEEDED) for name in names)
    assert (findings["households_at_risk"].value > 0) == (at_risk == 300)


def test_findings_follow_the_weights(survey):
    policy = policy_of(("journalist_risk", 0.05))
    without, findings = found_of(survey, policy)
    assert findings["journalist_risk"].status is Status.NOT_EVALUATED
    assert without.verdict is Verdict.CANNOT_TELL
    _, findings = found_of(survey, policy, weight="w")
    assert findings["journalist_risk"].value == so.individual_risk(survey, QI, weight="w").maximum
    small = survey.set_column(3, "w", pa.array([1.5] * 400))
    refused, findings = found_of(small, policy, weight="w")
    assert findings["journalist_risk"].status is Status.EXCEEDED
    assert refused.verdict is Verdict.NOT_SAFE


def test_k_map_and_delta_presence_are_findings(survey):
    everyone = pa.concat_tables([survey] * 3)
    policy = policy_of(("k_map", 4), ("delta_presence", 0.3))
    _, findings = found_of(survey, policy, population=everyone)
    assert findings["k_map"].value == so.k_map(survey, QI, population=everyone)
    assert findings["delta_presence"].value == pytest.approx(1 / 3)
    assert findings["delta_presence"].status is Status.EXCEEDED
    elsewhere = everyone.set_column(0, "age", pa.array([99] * 1200))
    other, findings = found_of(survey, policy, population=elsewhere)
    assert findings["k_map"].status is Status.NOT_EVALUATED
    assert "nobody" in findings["k_map"].statement
    assert other.verdict is Verdict.CANNOT_TELL


def test_a_population_has_the_quasi_identifiers_and_not_every_released_column(survey):
    everyone = pa.concat_tables([survey] * 3).select(QI)
    limits = [("journalist_average_risk", 0.5), ("k_anonymity", 2), ("population_uniqueness", 0.5)]
    policy = policy_of(*limits, ("unique_on_released_columns", 0.01))
    found, findings = found_of(survey, policy, population=everyone)
    sizes = survey.group_by(QI).aggregate([("age", "count")])["age_count"].to_pylist()
    average = sum(size * (1 / (3 * size)) for size in sizes) / survey.num_rows
    assert findings["journalist_average_risk"].value == pytest.approx(average)
    assert findings["journalist_average_risk"].status is Status.MET
    assert findings["unique_on_released_columns"].status is Status.EXCEEDED  # by the homes
    assert any("searched for in the release" in one for one in found.answers[0].notes)


def test_a_population_without_a_quasi_identifier_leaves_the_classes(survey):
    everyone = pa.concat_tables([survey] * 3).select(["age"])
    limits = [("journalist_average_risk", 0.5), ("k_anonymity", 2), ("population_uniqueness", 0.5)]
    found, findings = found_of(survey, policy_of(*limits), population=everyone)
    assert findings["k_anonymity"].value == so.k_anonymity(survey, QI)
    for name in ("journalist_average_risk", "population_uniqueness"):
        assert findings[name].status is Status.NOT_EVALUATED
        assert findings[name].statement == "The table of the population has no column 'sex'."
    assert found.verdict is Verdict.CANNOT_TELL


def test_what_is_not_given_is_asked_for(survey):
    names = ("individual_risk", "household_risk", "dis_suda", "delta_presence")
    _, findings = found_of(survey, policy_of(*((name, 0.5) for name in names)))
    hints = {name: findings[name].hint for name in names}
    assert all(findings[name].status is Status.NOT_EVALUATED for name in names)
    assert hints == {
        "individual_risk": "Set {weight}.",
        "household_risk": "Set {household}.",
        "dis_suda": "Set {population} or {weight}.",
        "delta_presence": "Set {population} to its table.",
    }


def test_records_without_a_household_or_dropped_keep_a_threshold_from_being_met(survey):
    policy = policy_of(("household_risk", 1.0), ("individual_risk", 1.0))
    homes = survey["home"].to_pylist()
    lost = survey.set_column(2, "home", pa.array([None, *homes[1:]]))
    found, findings = found_of(lost, policy, weight="w", household="home")
    assert findings["household_risk"].status is Status.NOT_EVALUATED
    assert findings["individual_risk"].status is Status.MET
    assert any("1 of 400 records has no household" in note for note in found.answers[0].notes)
    blank = survey.set_column(0, "age", pa.array([None, *survey["age"].to_pylist()[1:]]))
    _, findings = found_of(blank, policy, weight="w", household="home", missing="drop")
    assert findings["individual_risk"].status is Status.NOT_EVALUATED


def test_weights_that_no_threshold_uses_are_mentioned(survey):
    found, _ = found_of(survey, policy_of(("k_anonymity", 2)), weight="w")
    assert any("No threshold of this policy uses the weights" in n for n in found.answers[0].notes)
    assert "journalist" in found.answers[0].headline
    assert found.parameters["weight"] == "w"
    page = found.to_html()
    assert "Individual risk, highest" in page
    assert "Journalist risk, average" in page


def test_presets_of_statistical_offices_need_the_population(survey):
    for name in ("public-use-file", "scientific-use-file"):
        _, findings = found_of(survey, name)
        assert findings["journalist_risk"].status is Status.NOT_EVALUATED
    _, findings = found_of(survey, "scientific-use-file", weight="w", household="home")
    assert findings["journalist_risk"].value < math.log(20) / 19
    assert findings["household_risk"].status in (Status.MET, Status.EXCEEDED)
    assert requirements_for(load_policy("public-use-file"), sensitive=False) == {"k": 5}


def test_thresholds_of_risk_require_no_class_size():
    policy = policy_of(("journalist_records_at_risk", 0.0), k=100)
    assert requirements_for(policy) == {}
    title = measure_title("singling_out.households_at_risk", 100)
    assert title == "households at a risk above 1/100"


def test_population_uniqueness_of_a_weighted_sample_is_that_of_a_log_linear_model(survey):
    policy = policy_of(("population_uniqueness", 0.01))
    found, findings = found_of(survey, policy, weight="w")
    one = findings["population_uniqueness"]
    assert one.value == so.loglinear_risk(survey, QI, weight="w").uniqueness
    assert "log-linear" in one.statement
    assert "loglinear_risk" in found.answers[0].results
    _, findings = found_of(survey, policy, population=20_000, stratum="sex")
    assert findings["population_uniqueness"].status is Status.NOT_EVALUATED
    assert "simple random sample" in findings["population_uniqueness"].statement


def test_a_model_that_is_too_large_is_mentioned_and_asked_for_by_a_population_only():
    random = np.random.default_rng(1)
    wide = pa.table({name: random.permutation(150) for name in "abc"} | {"w": [9.0] * 150})
    policy = policy_of(("population_uniqueness", 0.01))
    threshold = policy.thresholds[0].model_copy(update={"required": False})
    policy = policy.model_copy(update={"thresholds": (threshold,)})
    for population, status in ((None, Status.NOT_ASKED), (5_000, Status.NOT_EVALUATED)):
        found = cr.assess(
            wide,
            policy=policy,
            quasi_identifiers=list("abc"),
            insensitive=["w"],
            weight="w",
            population=population,
            person="each record",
        )
        assert found.findings[0].status is status
        assert any("was not estimated" in note for note in found.answers[0].notes)


def test_limits_of_average_risk_and_of_the_population_are_requirements_of_their_own():
    policy = policy_of(
        ("prosecutor_average_risk", 0.05), ("journalist_risk", 0.09), ("k_map", 7), ("delta_presence", 0.4)
    )
    assert requirements_for(policy) == {"average_risk": 0.05}
    known = requirements_for(policy, population=True)
    assert known == {"average_risk": 0.05, "k_map": 12, "presence": 0.4}


def test_a_remedy_meets_k_map_and_presence_in_the_population():
    random = np.random.default_rng(5)
    people = pa.table({"age": random.integers(1, 60, 900), "sex": random.choice(["f", "m"], 900)})
    policy = policy_of(("k_map", 30), ("delta_presence", 0.3))
    data = cr.Dataset.from_frame(
        people.slice(0, 90), quasi_identifiers=["age", "sex"], population=people, person="each record"
    )
    found = cr.assess(data, policy=policy)
    remedies = [one.remedy for one in found.findings if one.status is Status.EXCEEDED]
    assert remedies
    assert {one.parameters["k_map"] for one in remedies} == {30}
    made = cr.anonymize(data, **remedies[0].parameters, person="each record")
    assert made.measured.k_map >= 30
    assert made.measured.presence <= 0.3


def test_the_probability_of_a_unique_match_is_a_finding(survey):
    key = pa.array(np.random.default_rng(5).integers(0, 300, 400))
    table = survey.set_column(0, "age", key)
    policy = policy_of(("unique_match_risk", 0.9))
    found, findings = found_of(table, policy, weight="w", cluster="home")
    expected = so.unique_match_risk(table, QI, weight="w", cluster="home").probability
    assert findings["unique_match_risk"].value == pytest.approx(float(expected))
    assert "clusters" in findings["unique_match_risk"].statement
    assert found.answers[0].results["unique_match"].sample_uniques > 0
    _, findings = found_of(table, policy)
    assert findings["unique_match_risk"].status is Status.NOT_EVALUATED
    assert findings["unique_match_risk"].hint == "Set {weight}."
    none = survey.set_column(0, "age", pa.array([1, 2] * 200))
    _, findings = found_of(none, policy, weight="w")
    assert findings["unique_match_risk"].value == 0


def test_the_remedy_of_a_survey_requires_the_risk_by_its_weights(survey):
    small = survey.set_column(3, "w", pa.array([1.5] * 400))
    policy = policy_of(("journalist_risk", 0.02), ("k_anonymity", 2))
    found, _ = found_of(small, policy, weight="w", try_remedies=True)
    remedy = next(one.remedy for one in found.findings if one.status is Status.EXCEEDED)
    assert remedy.parameters["journalist_risk"] == 0.02
    assert "threshold met" in remedy.outcome


def test_strata_give_an_interval_of_population_uniqueness(survey):
    even = survey.set_column(3, "w", pa.array([20.0] * 400))
    policy = policy_of(("population_uniqueness", 0.5))
    found, findings = found_of(even, policy, weight="w", stratum="sex")
    assert findings["population_uniqueness"].status is Status.MET
    assert found.answers[0].results["population"].stratum == "sex"


def test_an_average_journalist_risk_has_a_remedy(survey):
    _, findings = found_of(survey, policy_of(("journalist_average_risk", 1.0)), weight="w")
    policy = policy_of(("journalist_average_risk", findings["journalist_average_risk"].value / 1.5))
    _, findings = found_of(survey, policy, try_remedies=True, weight="w")
    remedy = findings["journalist_average_risk"].remedy
    assert remedy.action == "anonymize"
    assert remedy.parameters["journalist_risk"] <= 4 * policy.thresholds[0].limit
    assert remedy.tried
    assert "threshold met" in remedy.outcome
