"""JUnit XML, SARIF and the step summary: what a CI server is given, and that it never fails open."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import crypsis as cr
from crypsis.assessment.result import Assessment
from crypsis.cli import run
from crypsis.policies.findings import Status, Verdict

HOSTILE = 'age\x1b[31m<b>"\ud800'
ROLES = ["--qi", "age", "--qi", "sex", "--sensitive", "disease"]


def people(rows: int = 400) -> str:
    diseases = ("flu", "gout", "asthma", "hiv-secret")
    lines = [f"{30 + i % 2},{'fm'[i // 2 % 2]},{diseases[i // 4 % 4]}" for i in range(rows)]
    return "\n".join(["age,sex,disease", *lines, ""])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(people())
    return path


def assessed(path: Path, **options: object) -> Assessment:
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"]}
    return cr.assess(str(path), **roles, **options, person="each record")  # type: ignore[arg-type]


def failed(text: str) -> int:
    """How many test cases a CI server counts as not passed."""
    (suite,) = ElementTree.fromstring(text)
    cases = suite.findall("testcase")
    counted = [sum(one.find(kind) is not None for one in cases) for kind in ("failure", "error")]
    assert [int(suite.get(name, "")) for name in ("failures", "errors")] == counted
    assert int(suite.get("tests", "")) == len(cases)
    assert len({(one.get("classname"), one.get("name")) for one in cases}) == len(cases)
    return sum(counted)


def results(text: str) -> list[dict[str, object]]:
    (ran,) = json.loads(text)["runs"]
    rules = [one["id"] for one in ran["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert {one["ruleId"] for one in ran["results"]} == set(rules)
    return ran["results"]  # type: ignore[no-any-return]


def test_a_safe_release_passes(file: Path) -> None:
    found = assessed(file)
    assert found.verdict is Verdict.SAFE
    assert failed(found.to_junit()) == 0
    assert results(found.to_sarif()) == []


def test_each_exceeded_threshold_is_a_failure(file: Path) -> None:
    file.write_text(people() + "99,f,hiv-secret\n")
    found = assessed(file)
    junit = found.to_junit()
    (suite,) = ElementTree.fromstring(junit)
    assert len(suite.findall("testcase/failure")) == len(found.exceeded) + 1  # and the verdict
    listed = results(found.to_sarif("data/people.csv"))
    exceeded = [one for one in listed if one["properties"]["status"] == "exceeded"]  # type: ignore[index]
    assert len(exceeded) == len(found.exceeded) > 0
    assert {one["level"] for one in exceeded} <= {"error", "warning"}
    place = listed[0]["locations"][0]["physicalLocation"]["artifactLocation"]  # type: ignore[index]
    assert place["uri"] == "data/people.csv"
    for text in (junit, found.to_sarif()):
        assert "hiv-secret" not in text


def test_cannot_tell_does_not_pass(file: Path) -> None:
    found = cr.assess(str(file))
    assert found.verdict is Verdict.CANNOT_TELL
    assert failed(found.to_junit()) > 0
    assert results(found.to_sarif())


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("complete", [True, False])
def test_only_a_complete_safe_verdict_passes(file: Path, verdict: Verdict, complete: bool) -> None:
    """Whatever the findings are: the verdict alone decides."""
    bare = replace(assessed(file), verdict=verdict, complete=complete, findings=(), reasons=())
    passes = verdict is Verdict.SAFE and complete
    assert (failed(bare.to_junit()) == 0) is passes
    assert (not results(bare.to_sarif())) is passes


def test_names_from_the_data_stay_text(file: Path) -> None:
    found = assessed(file)
    odd = replace(found.findings[0], status=Status.EXCEEDED, columns=(HOSTILE,), statement=HOSTILE)
    made = replace(found, findings=(odd,), name=HOSTILE, verdict=Verdict.NOT_SAFE)
    (suite,) = ElementTree.fromstring(made.to_junit())
    assert suite.get("name") == 'crypsis: age[31m<b>"?'
    (one,) = results(made.to_sarif())
    assert "\x1b" not in str(one)


def test_the_same_finding_has_the_same_fingerprint(file: Path) -> None:
    file.write_text(people() + "99,f,gout\n")
    first = [one["partialFingerprints"] for one in results(assessed(file).to_sarif())]
    file.write_text(people(800) + "99,f,gout\n98,m,gout\n")
    second = [one["partialFingerprints"] for one in results(assessed(file).to_sarif())]
    assert first[0] in second
    assert len({str(one) for one in first}) == len(first)


def test_written_by_the_command(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    junit, sarif = tmp_path / "j.xml", tmp_path / "s.sarif"
    file.write_text(people() + "99,f,hiv-secret\n")
    options = ["--junit", str(junit), "--sarif", str(sarif), "--step-summary", "--no-try"]
    assert run(["assess", "--person", "each record", str(file), *ROLES, *options]) == 1
    assert "Wrote" in capsys.readouterr().out
    assert failed(junit.read_text()) > 0
    assert results(sarif.read_text())
    text = summary.read_text()
    assert text.startswith("before\n# people.csv: not safe to release")
    assert "| met |" not in text
    assert (
        run(["assess", "--person", "each record", str(file), *ROLES, *options]) == 2
    )  # the files exist already


def test_a_summary_needs_a_place(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert run(["assess", "--person", "each record", str(file), *ROLES, "--step-summary"]) == 2
    assert "GITHUB_STEP_SUMMARY is not set" in capsys.readouterr().err
