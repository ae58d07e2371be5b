"""Every measure of every built-in policy that is exceeded has a remedy that leads to a pass, or says
what to do."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.assessment._remedies import with_remedies
from crypsis.assessment._request import Request
from crypsis.assessment.result import Assessment
from crypsis.dataset import ColumnNote, as_dataset
from crypsis.policies import PRESETS, load_policy
from crypsis.policies.findings import Finding, Remedy, Severity, Status

pytestmark = pytest.mark.xdist_group("policy-remedies")  # one process, so each is assessed once

ROWS = 150
MEASURED = ("columns", "singling_out", "inference")
QUICK = ("default", "hipaa-safe-harbor")
"""The policies that are tested always; the others with the heavy tests."""
DECISIONS = ("columns.undecided", "columns.container_contents")
"""What is not evaluated until it is decided."""


def _people(rows: int = ROWS, seed: int = 2) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    age = random.integers(20, 97, rows)
    rare = np.where(age // 3 % 2 == 0, "gout", random.choice(["flu", "asthma", "none"], rows))
    return {
        "age": age,
        "sex": random.choice(["f", "m"], rows),
        "disease": rare,
        "income": age * 900 + random.integers(0, 300, rows),
    }


def _columns() -> tuple[pa.Table, dict[str, Any]]:
    """Identifiers, free text, places, dates, and classes of one record."""
    random = np.random.default_rng(3)
    table = pa.table(
        {
            **_people(),
            "ssn": [f"900-12-{i:04d}" for i in range(ROWS)],
            "contact": [f"p{i}@example.org" for i in range(ROWS)],
            "remark": [f"Came in on a rainy day and told a story about {i}" for i in range(ROWS)],
            "zip": [f"{i % 97:05d}" for i in range(ROWS)],
            "admitted": np.datetime64("2020-01-01") + random.integers(0, 900, ROWS),
            "shoe": random.integers(30, 50, ROWS),
        }
    )
    return table, {
        "identifiers": ["ssn"],
        "quasi_identifiers": ["age", "sex", "zip", "admitted"],
        "sensitive": ["disease", "income"],
        "insensitive": ["contact", "remark", "shoe"],
    }


def _classes() -> tuple[pa.Table, dict[str, Any]]:
    """A disease that follows from the age, which no other column replaces."""
    table = pa.table(_people()).drop(["income"])
    return table, {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"]}


def _survey() -> tuple[pa.Table, dict[str, Any]]:
    """A sample of a population whose table is known, with households."""
    table, roles = _classes()
    everyone = pa.table(_people(6_000, 5)).select(["age", "sex"])
    few = (np.arange(6_000) % 3 == 0) | (everyone["age"].to_numpy() < 90)  # old people are rare
    everyone = everyone.filter(pa.array(few))
    alone = pa.table({"age": np.arange(97, 117), "sex": ["f"] * 20})  # unique in the population
    everyone = pa.concat_tables([everyone, alone, table.select(["age", "sex"])])
    home = pa.array(np.arange(ROWS) // 3)
    return table.append_column("home", home), {
        **roles,
        "population": everyone,
        "household": "home",
        "excluded": ["home"],
    }


def _presence() -> tuple[pa.Table, dict[str, Any]]:
    """Nearly everybody has the disease."""
    table, roles = _classes()
    ill = pa.array(["hiv"] * (ROWS - 5) + ["none"] * 5)
    return table.set_column(2, "disease", ill), roles


def _histories() -> tuple[pa.Table, dict[str, Any]]:
    """Four records of each person, whose wards together are those of nobody else."""
    random, who = np.random.default_rng(4), np.arange(ROWS) // 4
    table = pa.table(
        {
            "patient": who,
            "ward": random.choice(list("abcdefgh"), ROWS),
            "sex": np.array(["f", "m"])[who % 2],
            "disease": np.array(["flu", "gout", "hiv", "asthma", "none"])[who % 5],
        }
    )
    return table, {
        "quasi_identifiers": ["ward", "sex"],
        "sensitive": ["disease"],
        "insensitive": ["patient"],
        "person": "patient",
    }


TABLES = {
    "columns": _columns,
    "classes": _classes,
    "survey": _survey,
    "presence": _presence,
    "histories": _histories,
}


@cache
def assessed(policy: str, table: str) -> tuple[Assessment, Assessment | None]:
    """The table, and the release that the first remedy makes of it."""
    data, roles = TABLES[table]()
    before = cr.assess(data, policy=policy, try_remedies=None, **{"person": "each record", **roles})
    remedies = [one.remedy for one in before.findings if one.remedy is not None]
    first = next((one for one in remedies if one.action == "anonymize"), None)
    if first is None:
        return before, None
    given = dict(first.parameters)
    dataset = as_dataset(data, **{"person": "each record", **roles})
    excluded = dict.fromkeys(given.pop("excluded", ()), "excluded")
    own = {name: role.value for name, role in dataset.roles.items()} | excluded
    needed = {"k_map", "presence", "journalist_risk"} & {*given}
    made = cr.anonymize(_as(dataset, own, needed), **given)
    released = _as(made.data, {}, True, dataset.population)
    return before, cr.assess(released, policy=policy, together=list(made.apart))


def _as(data: Any, roles: dict[str, str], population: Any, people: Any = None) -> Any:
    from dataclasses import replace

    from crypsis.options import Role

    decided = {**data.roles, **{name: Role(role) for name, role in roles.items()}}
    known = (people or data.population) if population else None
    return replace(data.with_roles(decided, data.notes), population=known)


def _cases() -> list[Any]:
    return [
        pytest.param(policy, threshold.measure, marks=() if policy in QUICK else pytest.mark.heavy)
        for policy in PRESETS
        for threshold in load_policy(policy).thresholds
        if threshold.measure.partition(".")[0] in MEASURED and threshold.measure not in DECISIONS
    ]


@pytest.mark.parametrize(("policy", "measure"), _cases())
def test_a_remedy_leads_to_a_pass(policy: str, measure: str) -> None:
    shown = False
    for table in TABLES:
        before, after = assessed(policy, table)
        for one in before.findings:
            if one.measure != measure or one.status is not Status.EXCEEDED:
                continue
            shown, remedy = True, one.remedy
            assert remedy is not None, table
            _check_words(remedy)
            if remedy.action == "none":  # and the outcome says why
                assert "Tried: " in remedy.outcome or "Not possible: " in remedy.outcome, table
            elif remedy.action == "anonymize":
                assert after is not None
                later = [two for two in after.findings if two.measure == measure]
                assert all(two.status is not Status.EXCEEDED for two in later), (table, later)
    assert shown, "no table exceeds this threshold"


@pytest.mark.parametrize("policy", PRESETS)
def test_what_compares_with_other_files_says_what_to_do(policy: str) -> None:
    data, roles = _classes()
    rules = load_policy(policy)
    request = Request(as_dataset(data, **roles), (), rules)
    for threshold in rules.thresholds:
        question = threshold.measure.partition(".")[0]
        if question in MEASURED:
            continue
        exceeded = Finding(
            question,
            threshold.measure,
            Status.EXCEEDED,
            Severity.HIGH,
            "",
            1.0,
            threshold.comparison,
            threshold.limit,
            threshold.unit,
            threshold.k,
            "",
            "",
            ("age",),
        )
        ((found),) = with_remedies([exceeded], request, tried=False)
        assert found.remedy is not None
        _check_words(found.remedy)


@pytest.mark.parametrize("policy", PRESETS)
def test_what_is_not_decided_says_what_to_decide(policy: str) -> None:
    data, _ = _classes()
    found = cr.assess(data, policy=policy)
    one = next(one for one in found.findings if one.measure == "columns.undecided")
    assert one.status is Status.NOT_EVALUATED
    assert one.hint


def _check_words(remedy: Remedy) -> None:
    """Something to do, in a sentence."""
    assert remedy.description.endswith(".")
    assert len(remedy.description.split()) > 3
    names = [part.name for part in fields(ColumnNote) if "_" in part.name]
    assert not [name for name in names if name in f"{remedy.description} {remedy.outcome}"]
