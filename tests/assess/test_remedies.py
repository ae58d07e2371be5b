"""Remedies: what is proposed is carried out, measured, and then is safe under the same policy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import pseudonyms
from crypsis.cli import run
from crypsis.policy import Policy, load_policy
from crypsis.results import Assessment, Finding, Status, Verdict
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
    "identifiers": ["ssn"], "quasi_identifiers": ["age", "sex"], "sensitive": ["disease"]
}  # fmt: skip


def finding(found: Assessment, measure: str) -> Finding:
    return next(one for one in found.findings if one.measure == measure)


def test_untried_remedies_say_so() -> None:
    found = cr.assess(table(), **ROLES)
    remedy = finding(found, "singling_out.share_in_small_crowds").remedy
    assert remedy is not None
    assert not remedy.tried
    assert remedy.value_after is None
    assert remedy.outcome == ""
    words = shlex.split(str(remedy.command))
    assert words[:2] == ["crypsis", "anonymize"]
    assert words[words.index("--k") + 1] == "5"


def test_a_remedy_is_tried_and_measured() -> None:
    found = cr.assess(table(), try_remedies=True, **ROLES)
    crowd = finding(found, "singling_out.share_in_small_crowds")
    assert crowd.status is Status.OUTSIDE
    assert crowd.remedy is not None
    assert crowd.remedy.tried
    assert crowd.remedy.value_after == 0
    assert "within the policy" in crowd.remedy.outcome
    named = finding(found, "columns.identifiers")
    assert named.remedy is not None
    assert named.remedy.value_after == 0


def test_a_remedy_that_cannot_be_done_says_why() -> None:
    found = cr.assess(table(4), try_remedies=True, **ROLES)
    remedy = finding(found, "singling_out.share_in_small_crowds").remedy
    assert remedy is not None
    assert remedy.value_after is None
    assert "k is 5, but the release has only 4 rows" in remedy.outcome


def test_the_command_does_what_the_trial_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "keys"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    cr.Release.from_frame(table()).write("people.parquet")
    Path("roles.toml").write_text(
        '[roles]\nssn = "identifier"\nage = "quasi-identifier"\nsex = "quasi-identifier"\n'
        'disease = "sensitive"\n'
    )
    found = cr.assess(
        cr.read("people.parquet", **ROLES), source=["people.parquet"], try_remedies=True
    )
    remedy = finding(found, "inference.best_guess_gain").remedy
    assert remedy is not None
    assert run(shlex.split(str(remedy.command))[1:]) == 0
    roles = ["--qi", "age", "--qi", "sex", "--sensitive", "disease"]
    capsys.readouterr()
    assert run(["assess", "anonymous.parquet", *roles]) == 0
    assert "Safe to release" in capsys.readouterr().out


def test_adult_with_its_roles_and_its_remedy_is_safe(adult: Any) -> None:
    """The same policy says "not safe" before and "safe" after what it proposed."""
    from crypsis import anonymize
    from crypsis._assess._remedies import Setting
    from crypsis._assess._remedies._crowds import demands
    from crypsis.policy import load_policy
    from crypsis.release import Role

    roles = dict.fromkeys(ADULT_COLUMNS, Role.OTHER)
    roles |= dict.fromkeys([*KNOWN, "native-country"], Role.QUASI_IDENTIFIER)
    roles["income"] = Role.SENSITIVE
    release = adult.with_roles(roles)
    before = cr.assess(release)
    assert before.verdict is Verdict.NOT_SAFE
    asked: Any = demands(Setting(release, before.columns, load_policy("default"), ("DATA",), 0))
    assert asked == {"k": 5, "closeness": 0.2}
    made = anonymize.plan(release, **asked).apply(release, local=False)
    after = cr.assess(made.release)
    assert after.verdict is Verdict.SAFE
    assert after.reasons == ()


def test_links_are_undone_by_swapping_ranks_far_enough() -> None:
    rng = np.random.default_rng(4)
    original = pa.table({"x": rng.normal(size=300), "y": rng.normal(size=300)})
    weak = pa.table({n: original[n].to_numpy() + rng.normal(0, 0.01, 300) for n in ("x", "y")})
    found = cr.assess(
        weak, original, quasi_identifiers=[], original_source=["before.parquet"], try_remedies=True
    )
    linked = finding(found, "linkage.right_links_above_chance")
    assert linked.remedy is not None
    words = shlex.split(str(linked.remedy.command))
    assert words[:3] == ["crypsis", "anonymize", "before.parquet"]
    assert any(word.startswith("x=rank-swap:") for word in words)
    assert linked.remedy.tried
    assert float(linked.remedy.value_after or 0) <= linked.threshold
    assert "within the policy" in linked.remedy.outcome


def test_the_command_against_links_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "keys"))
    rng = np.random.default_rng(4)
    original = pa.table({"x": rng.normal(size=300), "strange name": rng.normal(size=300)})
    pq.write_table(original, "before.parquet")
    found = cr.assess(
        original, original, quasi_identifiers=[], original_source=["before.parquet"],
        try_remedies=True,
    )  # fmt: skip
    remedy = finding(found, "linkage.right_links_above_chance").remedy
    assert remedy is not None
    assert run(shlex.split(str(remedy.command))[1:]) == 0
    after = cr.assess(cr.read("masked.parquet", quasi_identifiers=[]), original)
    measured = finding(after, "linkage.right_links_above_chance")
    assert measured.status is not Status.OUTSIDE


def test_the_fewest_items_are_left_out_of_pseudonyms() -> None:
    """Three items are known for sure; the other nine are alike, so that 1/9 is cracked."""
    cells = np.zeros((12, 12))
    cells[:3, :3] = np.eye(3)
    cells[3:, 3:] = 1.0
    belief = pseudonyms.Belief(cells, truth=list(range(12)))
    policy = Policy.model_validate(
        load_policy("default").model_dump()
        | {"thresholds": [{"measure": "pseudonyms.crack_share", "unit": "fraction",
                           "at_most": 0.25, "severity": "high", "why": "a test"}]}
    )  # fmt: skip
    found = cr.assess(table(), None, belief, policy, try_remedies=True, **ROLES)
    cracked = finding(found, "pseudonyms.crack_share")
    assert cracked.value == pytest.approx(4 / 12)
    assert cracked.remedy is not None
    # Without two of the three that are known: (1 + 1) / 10.
    assert cracked.remedy.value_after == pytest.approx(0.2)
    assert "2 of 12 items are left out" in cracked.remedy.outcome
    assert str(cracked.remedy.command).startswith("crypsis attack file ATTACK.toml --most 2")


def test_what_cannot_be_helped_is_said() -> None:
    belief = pseudonyms.Belief(np.eye(5), truth=list(range(5)))
    found = cr.assess(table(), None, belief, try_remedies=True, **ROLES)
    remedy = finding(found, "pseudonyms.crack_share").remedy
    assert remedy is not None
    assert "not enough" in remedy.outcome
