"""A limit of the time of a search: what is released meets the requirements, and says what happened."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ParameterError
from crypsis.protection import Plan, Statement, plan
from crypsis.protection.recoding import _deadline as deadline

ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "zip", "sex"], "sensitive": ["ill"]}
NO_TIME = 1e-9


def people(rows: int = 800) -> pa.Table:
    draw = np.random.default_rng(3)
    return pa.table(
        {
            "age": draw.integers(20, 90, rows),
            "zip": [f"{code:05d}" for code in draw.integers(10_000, 10_400, rows)],
            "sex": draw.choice(["f", "m"], rows),
            "ill": draw.choice(["flu", "gout", "none"], rows),
        }
    )


def smallest(frame: pa.Table) -> int:
    names = ROLES["quasi_identifiers"]
    return int(min(frame.group_by(names).aggregate([([], "count_all")])["count_all"].to_pylist()))


@pytest.mark.parametrize("recoding", ["local", "subtree", "full-domain"])
@pytest.mark.parametrize(
    "more", [{}, {"closeness": 0.3}, {"average_risk": 0.05}, {"may_change": ["ill"], "diversity": 3}], ids=str
)
def test_without_time_the_requirements_are_met(recoding: Any, more: dict[str, Any]) -> None:
    made = cr.anonymize(
        people(), k=5, recoding=recoding, time_limit=NO_TIME, **more, **ROLES, person="each record"
    )
    assert made.loss.search_stopped
    assert smallest(made.frame) >= 5
    assert made.loss.withheld_share <= 0.05
    assert "search stopped at its time limit" in str(made.loss)
    assert "the search stopped at its time limit" in made.statement.to_markdown()


def test_without_a_limit_the_same_release_is_made_again() -> None:
    first, again = (
        cr.anonymize(people(), k=5, shuffle=False, **ROLES, person="each record").frame.to_pylist()
        for _ in range(2)
    )
    assert first == again


def test_more_time_loses_no_more_and_the_statement_is_silent() -> None:
    by_itself = cr.anonymize(people(), k=5, **ROLES, person="each record")
    longer = cr.anonymize(people(), k=5, time_limit=600, **ROLES, person="each record")
    assert longer.loss.ncp is not None
    assert by_itself.loss.ncp is not None
    assert longer.loss.ncp <= by_itself.loss.ncp
    assert not longer.loss.search_stopped
    assert smallest(longer.frame) >= 5
    assert "time limit" not in longer.statement.to_markdown()


def test_a_plan_has_the_limit_and_the_statement_is_read_again(tmp_path: Any) -> None:
    path = plan(people(), k=5, time_limit=NO_TIME, **ROLES).save(tmp_path / "plan.toml")
    made = Plan.load(path).apply(people(), **ROLES)
    assert made.loss.search_stopped
    made.write(tmp_path / "safe.csv")
    read = Statement.load(Statement.paths(tmp_path / "safe.csv")[1])
    assert read.information_loss.search_stopped


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_a_number_of_seconds(seconds: float) -> None:
    with pytest.raises(ParameterError, match="seconds above 0"):
        plan(people(20), k=2, time_limit=seconds, **ROLES)


def test_searches_of_one_release_share_a_limit_and_kernels_end() -> None:
    work = np.array([10**9])
    with deadline.time_limit(NO_TIME) as outer, deadline.time_limit(600) as inner:
        assert inner is outer
        with deadline.ends(work):
            end = time.monotonic() + 5
            while work[0] and time.monotonic() < end:
                time.sleep(0.01)
    assert work[0] == 0
    assert not deadline.passed()
