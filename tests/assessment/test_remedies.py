"""Remedies: what is proposed is applied, measured, and then safe under the same policy."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import pseudonyms
from crypsis.assessment import _evaluation
from crypsis.assessment._remedies._anonymize import in_the_way
from crypsis.assessment.result import Assessment
from crypsis.cli import run
from crypsis.errors import RoleError
from crypsis.policies import Policy, load_policy
from crypsis.policies.findings import Finding, Status, Verdict
from tests.conftest import ADULT_COLUMNS

KNOWN = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]


def table(rows: int = 400) -> pa.Table:
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "ssn": [f"900-12-{i:04d}" for i in range(rows)],
            "age": rng.integers(20, 60, rows),
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, rows))),
            "disease": pa.array(["flu", "gout", "none"]).take(pa.array(rng.integers(0, 3, rows))),
        }
    )


ROLES: dict[str, Any] = {
    "identifiers": ["ssn"],
    "quasi_identifiers": ["age", "sex"],
    "sensitive": ["disease"],
}


def finding(found: Assessment, measure: str) -> Finding:
    return next(one for one in found.findings if one.measure == measure)


def command(shown: str, word: str = "anonymize") -> list[str]:
    """The words of the command that the terminal shows, without "crypsis"."""
    lines = (line for line in shown.splitlines() if line.startswith("  crypsis anonymize"))
    return shlex.split(next(line for line in lines if word in line))[1:]


def test_untried_remedies_say_so() -> None:
    found = cr.assess(table(), **ROLES, person="each record")
    remedy = finding(found, "singling_out.records_in_small_classes").remedy
    assert remedy is not None
    assert not remedy.tried
    assert remedy.value_after is None
    assert remedy.outcome == "Not tried on this release."
    assert remedy.action == "anonymize"
    assert remedy.parameters == {"k": 5, "excess": 0.2}
    call = "crypsis.anonymize(data, k=5, excess=0.2)"
    assert call in str(found)


def test_remedies_are_tried_by_default_where_it_takes_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pa.table({"age": [31, 32, 33, 34, 35, 36], "sex": ["f", "m"] * 3})
    roles = {"quasi_identifiers": ["age", "sex"]}
    for most, tried in ((24, True), (23, False)):  # six classes of two columns
        monkeypatch.setattr(_evaluation, "_TRIED_WORK", most)
        found = cr.assess(data, try_remedies=None, **roles, person="each record")
        assert found.parameters["try_remedies"] is tried
        remedy = finding(found, "singling_out.records_in_small_classes").remedy
        assert remedy is not None
        assert (remedy.outcome == "Not tried on this release.") is not tried


def test_a_remedy_is_tried_and_measured() -> None:
    found = cr.assess(table(), try_remedies=True, **ROLES, person="each record")
    small = finding(found, "singling_out.records_in_small_classes")
    assert small.status is Status.EXCEEDED
    assert small.remedy is not None
    assert small.remedy.tried
    assert small.remedy.value_after == 0
    assert "threshold met" in small.remedy.outcome
    named = finding(found, "columns.direct_identifiers")
    assert named.remedy is not None
    assert named.remedy.value_after == 0


def test_a_remedy_that_fails_has_its_reason() -> None:
    found = cr.assess(table(4), try_remedies=True, **ROLES, person="each record")
    remedy = finding(found, "singling_out.records_in_small_classes").remedy
    assert remedy is not None
    assert remedy.value_after is None
    assert "the policy requires k = 5, but the data have only 4 records" in remedy.outcome
    assert "crypsis.anonymize" not in str(found), "a call that fails is not proposed"


def test_the_command_runs_as_printed_and_makes_it_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "keys"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    cr.Dataset.from_frame(table()).write("people.parquet")
    Path("roles.toml").write_text(
        '[roles]\nssn = "identifier"\nage = "quasi-identifier"\nsex = "quasi-identifier"\n'
        'disease = "sensitive"\n'
    )
    assert run(["assess", "--person", "each record", "people.parquet", "--roles", "roles.toml"]) == 1
    assert run(command(capsys.readouterr().out)) == 0
    roles = ["--qi", "age", "--qi", "sex", "--sensitive", "disease"]
    capsys.readouterr()
    assert run(["assess", "--person", "each record", "anonymous.parquet", *roles]) == 0
    assert "Safe to release" in capsys.readouterr().out


@pytest.mark.heavy
def test_adult_with_its_roles_and_its_remedy_is_safe(adult: Any) -> None:
    """The verdict is "not safe" before and "safe" after the proposed remedy."""
    from crypsis import protection
    from crypsis.options import Role
    from crypsis.policies import requirements_for

    roles = dict.fromkeys(ADULT_COLUMNS, Role.EXCLUDED)
    roles |= dict.fromkeys([*KNOWN, "native-country"], Role.QUASI_IDENTIFIER)
    roles["income"] = Role.SENSITIVE
    release = adult.with_roles(roles)
    before = cr.assess(release)
    assert before.verdict is Verdict.NOT_SAFE
    required: Any = requirements_for(load_policy("default"))
    assert required == {"k": 5, "excess": 0.2}
    made = protection.plan(release, **required).apply(release)
    assert made.loss.ncp is not None
    assert made.loss.ncp < 0.15
    assert not made.loss.fully_generalized_columns
    after = cr.assess(made.data)
    assert after.verdict is Verdict.SAFE
    assert after.reasons == ()


def test_with_the_original_the_first_remedy_prevents_links_too() -> None:
    people = table()
    found = cr.assess(people, people, try_remedies=True, **ROLES, person="each record")
    (remedy,) = {
        id(one.remedy.parameters): one.remedy
        for one in found.findings
        if one.remedy and one.remedy.action == "anonymize"
    }.values()
    linked = finding(found, "linkage.correct_links_above_chance")
    assert remedy.parameters["average_risk"] == linked.threshold
    assert "still above" not in remedy.outcome
    made = cr.anonymize(people, **{**remedy.parameters, **ROLES}, person="each record")
    after = cr.assess(made.data, people, row_map=made.key.row_map)
    assert float(finding(after, linked.measure).value or 0) <= linked.threshold
    assert after.verdict is Verdict.SAFE
    plain = {name: value for name, value in remedy.parameters.items() if name != "average_risk"}
    weaker = cr.anonymize(people, **{**plain, **ROLES}, person="each record")
    before = cr.assess(weaker.data, people, row_map=weaker.key.row_map)
    assert finding(before, linked.measure).status is Status.EXCEEDED


def test_rank_swapping_prevents_links() -> None:
    rng = np.random.default_rng(4)
    original = pa.table({"x": rng.normal(size=300), "y": rng.normal(size=300)})
    weak = pa.table({n: original[n].to_numpy() + rng.normal(0, 0.01, 300) for n in ("x", "y")})
    found = cr.assess(weak, original, insensitive=["x", "y"], try_remedies=True, person="each record")
    linked = finding(found, "linkage.correct_links_above_chance")
    assert linked.remedy is not None
    assert linked.remedy.action == "rank_swap"
    assert linked.remedy.parameters["columns"] == ("x", "y")
    assert linked.remedy.tried
    assert float(linked.remedy.value_after or 0) <= linked.threshold
    assert "threshold met" in linked.remedy.outcome


def test_the_rank_swap_command_runs_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "keys"))
    rng = np.random.default_rng(4)
    original = pa.table({"x": rng.normal(size=300), "strange name": rng.normal(size=300)})
    pq.write_table(original, "before.parquet")
    roles = ["--sensitive", "x", "--sensitive", "strange name"]
    run(
        [
            "assess",
            "--person",
            "each record",
            "before.parquet",
            "--original",
            "before.parquet",
            "--try",
            *roles,
        ]
    )
    assert run(command(capsys.readouterr().out, "rank-swap")) == 0
    after = cr.assess(cr.read("masked.parquet", quasi_identifiers=[], person="each record"), original)
    measured = finding(after, "linkage.correct_links_above_chance")
    assert measured.status is not Status.EXCEEDED


def test_the_fewest_items_are_suppressed() -> None:
    """Three items are certain; the other nine are alike, so one of them is expected to crack."""
    cells = np.zeros((12, 12))
    cells[:3, :3] = np.eye(3)
    cells[3:, 3:] = 1.0
    belief = pseudonyms.Belief(cells, truth=list(range(12)))
    policy = Policy.model_validate(
        load_policy("default").model_dump(exclude={"context", "questions"})
        | {
            "thresholds": [
                {
                    "measure": "pseudonyms.expected_crack_fraction",
                    "unit": "fraction",
                    "at_most": 0.25,
                    "severity": "high",
                    "why": "a test",
                }
            ]
        }
    )
    found = cr.assess(table(), None, belief, policy, try_remedies=True, **ROLES, person="each record")
    cracked = finding(found, "pseudonyms.expected_crack_fraction")
    assert cracked.value == pytest.approx(4 / 12)
    assert cracked.remedy is not None
    # Without two of the three that are certain: (1 + 1) / 10.
    assert cracked.remedy.value_after == pytest.approx(0.2)
    assert "2 of 12 items are suppressed" in cracked.remedy.outcome
    assert cracked.remedy.parameters == {"limit": 2}


def test_a_remedy_that_is_not_enough() -> None:
    belief = pseudonyms.Belief(np.eye(5), truth=list(range(5)))
    found = cr.assess(table(), None, belief, try_remedies=True, **ROLES, person="each record")
    remedy = finding(found, "pseudonyms.expected_crack_fraction").remedy
    assert remedy is not None
    assert "no number of suppressed items" in remedy.outcome


def test_a_remedy_excludes_as_few_columns_as_can_be() -> None:
    """Where several columns give back one, that one is not released instead of them."""
    request: Any = SimpleNamespace(
        data=cr.Dataset.from_frame(
            pa.table({"q": [1, 2], "r": [1, 2], "a": [1, 2], "b": [3, 4]}),
            quasi_identifiers=["q", "r"],
            insensitive=["a", "b"],
            person="each record",
        )
    )

    def chosen(columns: tuple[str, ...], of: tuple[str, ...], **parameters: Any) -> Any:
        error = RoleError("", code="derived-column", columns=columns, determines=of)
        return in_the_way(request, parameters, error)

    assert chosen(("a", "b"), ("q",)) == ("q",)
    assert chosen(("a",), ("q",)) == ("a",)
    assert chosen(("a",), ("q", "r")) == ("a",)
    # What is not released already cannot be left out once more.
    assert chosen(("a", "b"), ("q",), excluded=("q",)) == ("a", "b")
    assert chosen(("a", "b"), ("elsewhere",)) == ("a", "b")


def test_a_column_guessed_to_be_an_identifier_is_excluded_by_the_command() -> None:
    rng = np.random.default_rng(5)
    data = table().append_column("v", pa.array(rng.permutation(400) * 7 + 100_003))
    found = cr.assess(
        data.drop(["ssn"]), quasi_identifiers=["age", "sex"], sensitive=["disease"], person="each record"
    )
    own = next(one for one in found.columns if one.column == "v")
    assert (own.role, own.guessed) == ("identifier", True)
    remedy = finding(found, "singling_out.records_in_small_classes").remedy
    assert remedy is not None
    assert remedy.parameters["excluded"] == ("v",)


def test_a_remedy_that_loses_much_says_why() -> None:
    rng = np.random.default_rng(6)
    numbers = {f"n{i}": rng.permutation(30) for i in range(4)}
    roles: dict[str, Any] = {"quasi_identifiers": [*numbers]}
    found = cr.assess(pa.table(numbers), try_remedies=None, **roles, person="each record")
    remedy = finding(found, "singling_out.records_in_small_classes").remedy
    assert remedy is not None
    assert "because 100 % of the records are in classes smaller than 5" in remedy.outcome
    assert "4 quasi-identifiers together" in remedy.outcome


def test_links_of_a_generalized_release_are_limited_by_the_average_risk() -> None:
    """Nobody swaps the ranks of ages that are intervals; an explanation has a reason."""
    draw = np.random.default_rng(5)
    ages = draw.integers(0, 60, 600)
    original = pa.table({"age": ages, "sex": draw.choice(["f", "m"], 600)})
    bands = pa.array([f"{one // 2 * 2}-{one // 2 * 2 + 1}" for one in ages])
    release = original.set_column(0, "age", bands)
    for tried in (False, True):
        found = cr.assess(
            release,
            original,
            row_map=range(600),
            quasi_identifiers=["age", "sex"],
            try_remedies=tried,
            person="each record",
        )
        remedy = finding(found, "linkage.correct_links_above_chance").remedy
        assert remedy is not None
        assert remedy.action == "anonymize"
        assert dict(remedy.parameters)["average_risk"] == 0.05
        assert "because 0 %" not in remedy.outcome
