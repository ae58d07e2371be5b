"""Policies: every preset loads, mistakes are named, an estimate decides with its interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from crypsis.errors import ParameterError, SourceError
from crypsis.policies import (
    IF_GIVEN,
    MEASURES,
    PRESETS,
    QUESTIONS,
    Measurement,
    evaluate,
    load_policy,
    preset_text,
    verdict,
)
from crypsis.policies.findings import Reason, Severity, Status, Verdict
from crypsis.results import Estimate

POLICY = """
name = "ours"
title = "Ours"
jurisdiction = "here"
source = "us"
date = 2026-01-01
summary = "A test."
[[thresholds]]
measure = "singling_out.k_anonymity"
unit = "records"
at_least = 10
why = "Ten."
[[thresholds]]
measure = "linkage.correct_links_above_chance"
unit = "fraction"
at_most = 0.1
required = false
why = "A tenth."
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text(POLICY)
    return path


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_sources_and_reasons(name: str) -> None:
    policy = load_policy(name)
    assert policy.name == name
    assert policy.source
    assert policy.jurisdiction
    assert policy.date.year >= 2012
    assert all(one.why for one in policy.thresholds)
    assert preset_text(name).count("[[thresholds]]") == len(policy.thresholds)


def test_the_numbers_of_the_presets() -> None:
    """Typed from their sources: a changed number must be changed here too."""

    def limits(name: str) -> dict[str, float]:
        return {one.measure: one.limit for one in load_policy(name).thresholds}

    decided = {"columns.identifiers_by_evidence": 0, "columns.undecided": 0, "columns.container_contents": 0}
    assert all(decided.items() <= limits(name).items() for name in PRESETS)
    assert limits("default") == {
        **decided,
        "columns.direct_identifiers": 0,
        "columns.free_text": 0,
        "singling_out.records_in_small_classes": 0,
        "singling_out.population_uniqueness": 0.0004,
        "inference.baseline_excess": 0.2,
        "inference.baseline_ratio": 30,
        "inference.near_certain_values": 0,
        "inference.interval_disclosure": 0.2,
        "inference.presence_disclosure": 0.85,
        "inference.prediction_gain": 0.5,
        "inference.history_disclosure": 0.05,
        "singling_out.unique_on_released_columns": 0.01,
        "singling_out.unicity": 0.05,
        "singling_out.small_classes_on_released_columns": 0,
        "linkage.correct_links_above_chance": 0.05,
        "pseudonyms.expected_crack_fraction": 0.1,
        "pseudonyms.near_certain_cracks": 0,
        "releases.joint_small_classes": 0,
        "releases.inference_gain": 0.1,
        "releases.near_certain_values": 0,
        "releases.small_differences": 0,
        "releases.reused_pseudonyms": 0,
        "synthetic.copies": 0.01,
        "synthetic.membership": 0.05,
        "synthetic.exposed_records": 0,
        "synthetic.singling_out": 0.1,
        "synthetic.linkability": 0.05,
        "synthetic.inference": 0.1,
    }
    assert limits("ema-0070")["singling_out.k_anonymity"] == 11
    assert limits("cms-small-cells")["singling_out.k_anonymity"] == 11
    assert limits("strict-research")["singling_out.k_anonymity"] == 20
    assert set(limits("hipaa-safe-harbor")) == {
        *decided,
        "columns.hipaa_identifiers",
        "columns.free_text",
        "columns.geographic_subdivisions",
        "columns.dates_finer_than_year",
        "columns.ages_over_89",
    }
    assert len(load_policy("hipaa-safe-harbor").small_zip3) == 17
    questions = {one.measure.split(".")[0] for one in load_policy("wp216").thresholds}
    assert {"singling_out", "linkage", "inference"} <= questions
    of_it = [one for one in load_policy("wp216").thresholds if one.measure.split(".")[0] not in IF_GIVEN]
    assert all(one.required for one in of_it)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k_anonymity", "k_anonymities", "did you mean 'singling_out.k_anonymity'"),
        ('unit = "records"', 'unit = "percent"', "is measured in 'records', not in 'percent'"),
        ("at_least = 10", "at_most = 10", "needs a threshold at_least"),
        ("at_least = 10", "", "needs a threshold at_least"),
        ("at_least = 10", "at_least = 10\nk = 5", "has no 'k'"),
        ("at_most = 0.1", "at_most = 10", "out of the range"),
        ('why = "Ten."', "", r"thresholds no\. 1, why: is missing\.$"),
        ('unit = "records"', "unit = 3", r"thresholds no\. 1, unit: must be text\.$"),
        ("date = 2026-01-01", "date = 2026-01-01\nfoo = 1", "foo: is not a key of it"),
        ("at_least = 10", "at_least = ten", "is not TOML"),
    ],
)
def test_mistakes_are_named(ours: Path, old: str, new: str, message: str) -> None:
    ours.write_text(POLICY.replace(old, new))
    with pytest.raises(SourceError, match=message):
        load_policy(ours)


def test_an_unknown_policy() -> None:
    with pytest.raises(ParameterError, match="neither a preset nor a .toml file"):
        load_policy("gdpr")
    with pytest.raises(SourceError, match="cannot be read"):
        load_policy("none.toml")


def test_a_measure_twice(ours: Path) -> None:
    body = POLICY[POLICY.index("[[thresholds]]") :]
    ours.write_text(POLICY + body)
    with pytest.raises(SourceError, match="two thresholds"):
        load_policy(ours)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (0.1, Status.MET),
        (0.11, Status.EXCEEDED),
        (Estimate(0.05, 0.01, 0.1), Status.MET),
        (Estimate(0.05, 0.01, 0.12), Status.NOT_EVALUATED),
        (Estimate(0.15, 0.09, 0.2), Status.NOT_EVALUATED),
        (Estimate(0.15, 0.11, 0.2), Status.EXCEEDED),
        (None, Status.NOT_ASKED),
    ],
)
def test_an_estimate_decides_with_its_complete_interval(
    ours: Path, value: float | None, status: Status
) -> None:
    name = "linkage.correct_links_above_chance"
    findings = evaluate(load_policy(ours), [Measurement(name, value, "")])
    assert next(one for one in findings if one.measure == name).status is status


def test_a_lower_bound_exceeds_a_threshold_but_never_meets_one(ours: Path) -> None:
    name = "linkage.correct_links_above_chance"
    for value, status in ((0.0, Status.NOT_EVALUATED), (0.2, Status.EXCEEDED)):
        findings = evaluate(load_policy(ours), [Measurement(name, value, "", lower_bound=True)])
        assert next(one for one in findings if one.measure == name).status is status


def test_findings_come_worst_first_and_decide(ours: Path) -> None:
    policy = load_policy(ours)
    small = Measurement("singling_out.k_anonymity", 3, "three", ("age",), 12)
    linked = Measurement("linkage.correct_links_above_chance", 0.0, "none")
    findings = evaluate(policy, [linked, small])
    assert [one.status for one in findings] == [Status.EXCEEDED, Status.MET]
    assert findings[0].affected == 12
    assert findings[0].severity is Severity.HIGH
    assert findings[0].source == "us"
    assert verdict(findings, []) is Verdict.NOT_SAFE
    enough = Measurement("singling_out.k_anonymity", 10, "ten")
    assert verdict(evaluate(policy, [enough, linked]), []) is Verdict.SAFE
    assert (
        verdict(evaluate(policy, [enough, linked]), [Reason("undecided-columns", "2 columns are undecided.")])
        is Verdict.CANNOT_TELL
    )
    assert verdict(evaluate(policy, [linked]), []) is Verdict.CANNOT_TELL
    assert verdict([], []) is Verdict.CANNOT_TELL


def test_every_measure_has_a_meaning() -> None:
    for one in MEASURES.values():
        assert one.unit in {"records", "fraction", "columns", "values", "times", "items"}
        assert one.limit in {"at_most", "at_least"}
        assert one.meaning


def test_a_context_chooses_the_class_size(ours: Path) -> None:
    sizes = {"public": 11, "registered": 7, "contract": 5, "internal": 3}
    for recipient, k in sizes.items():
        adapted = load_policy("default").in_context(recipient)
        every = [one for one in adapted.thresholds if one.k is not None]
        assert {one.k for one in every} == {k}
        assert len(every) == 4
        assert all(f"k = {k}" in one.source for one in every)
    with pytest.raises(ParameterError, match="is not a context"):
        load_policy("default").in_context("friends")
    with pytest.raises(ParameterError, match="fixed by its source"):
        load_policy("cms-small-cells").in_context("public")
    ours.write_text(POLICY.replace("[[thresholds]]", '[context]\nrecipient = "public"\n[[thresholds]]', 1))
    with pytest.raises(SourceError, match="the context requires k = 11"):
        load_policy(ours)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_states_its_questions(name: str) -> None:
    policy = load_policy(name)
    given = {question for question in IF_GIVEN if policy.of(question)}
    assert set(policy.questions) == {*QUESTIONS} - {*IF_GIVEN} | given
    assert set(policy.not_asked) == {q for q, one in policy.questions.items() if not one.asked}


def test_a_question_left_out_without_a_reason_is_named(ours: Path) -> None:
    assert load_policy(ours).not_asked["inference"] == "The policy gives no reason."
