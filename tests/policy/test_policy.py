"""Policies: every preset loads, mistakes are named, thresholds decide with their whole interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from crypsis.errors import ParameterError, SourceError
from crypsis.policy import MEASURES, PRESETS, Measurement, hold, load_policy, preset_text, verdict
from crypsis.results import Estimate, Severity, Status, Verdict

POLICY = """
name = "ours"
title = "Ours"
jurisdiction = "here"
source = "us"
date = 2026-01-01
summary = "A test."
[[thresholds]]
measure = "singling_out.smallest_crowd"
unit = "people"
at_least = 10
why = "Ten."
[[thresholds]]
measure = "linkage.right_links_above_chance"
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

    assert limits("default") == {
        "columns.identifiers": 0,
        "columns.free_text": 0,
        "singling_out.share_in_small_crowds": 0,
        "singling_out.population_unique_share": 0.0004,
        "inference.best_guess_gain": 0.2,
        "inference.ordered_closeness": 0.2,
        "linkage.right_links_above_chance": 0.05,
        "pseudonyms.crack_share": 0.1,
    }
    assert limits("ema-0070")["singling_out.smallest_crowd"] == 11
    assert limits("cms-small-cells")["singling_out.smallest_crowd"] == 11
    assert limits("strict-research")["singling_out.smallest_crowd"] == 20
    assert set(limits("hipaa-safe-harbor")) == {
        "columns.hipaa_identifiers",
        "columns.free_text",
        "columns.fine_places",
        "columns.fine_dates",
        "columns.high_ages",
    }
    assert len(load_policy("hipaa-safe-harbor").small_zip3) == 17
    questions = {one.measure.split(".")[0] for one in load_policy("wp216").thresholds}
    assert {"singling_out", "linkage", "inference"} <= questions
    assert all(one.required for one in load_policy("wp216").thresholds)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("smallest_crowd", "smallest_crowds", "did you mean 'singling_out.smallest_crowd'"),
        ('unit = "people"', 'unit = "percent"', "is measured in 'people', not in 'percent'"),
        ("at_least = 10", "at_most = 10", "has a threshold at_least"),
        ("at_least = 10", "", "has a threshold at_least"),
        ("at_least = 10", "at_least = 10\ncrowd = 5", "has no crowd"),
        ("at_most = 0.1", "at_most = 10", "out of the range"),
        ('why = "Ten."', "", "Field required"),
        ("date = 2026-01-01", "date = 2026-01-01\nfoo = 1", "foo"),
        ("at_least = 10", "at_least = ten", "is not TOML"),
    ],
)
def test_mistakes_are_named(ours: Path, old: str, new: str, message: str) -> None:
    ours.write_text(POLICY.replace(old, new))
    with pytest.raises(SourceError, match=message):
        load_policy(ours)


def test_an_unknown_policy() -> None:
    with pytest.raises(ParameterError, match="Name a preset"):
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
        (0.1, Status.WITHIN),
        (0.11, Status.OUTSIDE),
        (Estimate(0.05, 0.01, 0.1), Status.WITHIN),
        (Estimate(0.05, 0.01, 0.12), Status.UNKNOWN),
        (Estimate(0.15, 0.09, 0.2), Status.UNKNOWN),
        (Estimate(0.15, 0.11, 0.2), Status.OUTSIDE),
        (None, Status.NOT_ASKED),
    ],
)
def test_a_threshold_decides_with_the_whole_interval(
    ours: Path, value: float | None, status: Status
) -> None:
    name = "linkage.right_links_above_chance"
    findings = hold(load_policy(ours), [Measurement(name, value, "")])
    assert next(one for one in findings if one.measure == name).status is status


def test_a_floor_breaks_a_limit_but_never_meets_one(ours: Path) -> None:
    name = "linkage.right_links_above_chance"
    for value, status in ((0.0, Status.UNKNOWN), (0.2, Status.OUTSIDE)):
        findings = hold(load_policy(ours), [Measurement(name, value, "", floor=True)])
        assert next(one for one in findings if one.measure == name).status is status


def test_findings_come_worst_first_and_decide(ours: Path) -> None:
    policy = load_policy(ours)
    small = Measurement("singling_out.smallest_crowd", 3, "three", ("age",), 12)
    linked = Measurement("linkage.right_links_above_chance", 0.0, "none")
    findings = hold(policy, [linked, small])
    assert [one.status for one in findings] == [Status.OUTSIDE, Status.WITHIN]
    assert findings[0].people == 12
    assert findings[0].severity is Severity.HIGH
    assert findings[0].source == "us"
    assert verdict(findings, []) is Verdict.NOT_SAFE
    enough = Measurement("singling_out.smallest_crowd", 10, "ten")
    assert verdict(hold(policy, [enough, linked]), []) is Verdict.SAFE
    assert verdict(hold(policy, [enough, linked]), ["roles are guesses"]) is Verdict.CANNOT_TELL
    assert verdict(hold(policy, [linked]), []) is Verdict.CANNOT_TELL
    assert verdict([], []) is Verdict.CANNOT_TELL


def test_every_measure_says_what_it_is() -> None:
    for one in MEASURES.values():
        assert one.unit in {"people", "fraction", "columns", "values"}
        assert one.limit in {"at_most", "at_least"}
        assert one.meaning
