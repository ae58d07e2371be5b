"""Remedies: what is proposed is carried out, measured, and then is safe under the same policy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.cli import run
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
    from crypsis._assess._remedies import Setting, demands
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
