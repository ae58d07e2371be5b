"""Histories in the assessment: people are counted, and what linked records disclose is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.dataset import ColumnNote, Dataset
from crypsis.policies.findings import Status, Verdict

UNICITY = "singling_out.unicity"


def visits(people: int = 400, times: int = 6, months: int = 12) -> pa.Table:
    draw = np.random.default_rng(2)
    rows = people * times
    return pa.table(
        {
            "code": np.repeat([f"P{n:04d}" for n in range(people)], times),
            "month": draw.integers(1, months + 1, rows),
            "ward": draw.choice(["a", "b"], rows),
            "ill": np.array(["flu", "gout", "none", "cold"])[draw.permutation(rows) % 4],
        }
    )


def assessed(table: pa.Table, notes: Any = None, **more: Any) -> cr.Assessment:
    data = Dataset.from_frame(
        table,
        quasi_identifiers=["month", "ward"],
        sensitive=["ill"],
        insensitive=["code"],
        **{"person": "each record", **more},
    )
    return cr.assess(data.with_roles(data.roles, notes), accept_guesses=True)


def finding(found: cr.Assessment) -> Any:
    return next(one for one in found.findings if one.measure == UNICITY)


def test_large_classes_of_visits_and_a_kept_pseudonym_are_not_safe() -> None:
    found = assessed(visits(), person="code")
    own = finding(found)
    assert found.verdict is Verdict.NOT_SAFE
    assert own.status is Status.EXCEEDED
    assert own.statement.startswith("Anyone who knows 3 records of a person")
    assert "of cases (400 people with 2,400 records)" in own.statement
    assert found.people == 400
    assert "2,400 records of 400 people" in str(found)
    curve = found.answer("singling_out").results["unicity"]  # type: ignore[union-attr]
    assert len(curve.curve) == 6  # type: ignore[attr-defined]
    page = found.to_html()
    assert "People singled out by known records" in page
    assert "2,400 records of 400 people" in page


def test_a_repeated_code_that_nobody_decided_about_is_not_safe() -> None:
    found = assessed(visits(months=1))
    reason = next(one for one in found.reasons if one.code == "person-against-evidence")
    assert reason.text.startswith(
        "Column 'code' repeats: if it identifies people, there are 400 people in 2,400 records"
    )
    assert found.verdict is not Verdict.SAFE
    assert found.people is None
    notes = {"code": ColumnNote(several_people="Numbers of wards' desks.")}
    again = assessed(visits(months=1), notes)
    assert not [one for one in again.reasons if one.code == "person-against-evidence"]


@pytest.mark.parametrize("signed", [False, True])
def test_whole_histories_that_are_unique_need_a_sign_off(signed: bool) -> None:
    """Two wards in an order: three known ones are in every history, all of them in few."""
    reason = "Nobody knows more than three visits of a patient; contract of 2026-11-01."
    notes = {"code": ColumnNote(sign_off=reason)} if signed else None
    found = assessed(visits(100, 14, months=1), notes, person="code")
    assert finding(found).status is Status.MET
    assert any(one.code == "linked-records" for one in found.reasons) is not signed


def test_without_a_released_link_it_is_not_asked() -> None:
    table = visits()
    found = cr.assess(
        table, quasi_identifiers=["month", "ward"], sensitive=["ill"], excluded=["code"], person="code"
    )
    assert finding(found).status is Status.NOT_ASKED
    classes: Any = found.answer("singling_out").results["equivalence_classes"]  # type: ignore[union-attr]
    assert classes.unit == "people"


def test_a_number_of_records_that_nobody_else_has_is_not_safe() -> None:
    code = np.repeat([f"P{n:04d}" for n in range(40)], np.arange(1, 41))
    rows = len(code)
    table = pa.table(
        {
            "code": code,
            "month": [1] * rows,
            "ward": (["a", "b"] * rows)[:rows],
            "ill": (["flu", "gout"] * rows)[:rows],
        }
    )
    found = assessed(table, person="code")
    assert "Who knows how many there are too: 100 %." in finding(found).statement
    assert finding(found).status is Status.EXCEEDED


def test_households_are_measured_where_they_are_given() -> None:
    draw = np.random.default_rng(4)
    table = pa.table(
        {
            "home": np.repeat([f"H{n:04d}" for n in range(100)], 4),
            "month": draw.integers(1, 3, 400),
            "ward": draw.choice(["a", "b"], 400),
            "ill": draw.choice(["flu", "gout"], 400),
        }
    )
    roles = {"quasi_identifiers": ["month", "ward"], "sensitive": ["ill"], "household": "home"}
    found = cr.assess(table, insensitive=["home"], **roles)  # type: ignore[arg-type]
    answer = found.answer("singling_out")
    assert answer is not None
    expected = cr.singling_out.household_risk(table, ["month", "ward"], household="home")
    assert answer.results["household_risk"].maximum == expected.maximum  # type: ignore[attr-defined]
    assert any("one member found finds the others" in note for note in answer.notes)
    assert "unicity of households" in answer.results
    assert "of a household" in finding(found).statement
    gone = cr.assess(table, excluded=["home"], **roles)  # type: ignore[arg-type]
    assert finding(gone).status is Status.NOT_ASKED


INFERRED = "inference.history_disclosure"


def wards(rare: str = "rare") -> pa.Table:
    """400 people in three of four wards; whoever was in both x and y has the rare disease."""
    ward = np.tile(np.array(["x", "z", "u"]), (400, 1))
    ward[::2] = ["y", "z", "u"]
    ward[:24] = ["x", "y", "u"]
    common = np.array(["flu", "gout", "cold", "none"])  # three of them each
    ill = common[(np.arange(400)[:, np.newaxis] // 2 + np.arange(3)) % 4]
    ill[:24, 2] = rare
    return pa.table(
        {
            "code": np.repeat([f"P{n:04d}" for n in range(400)], 3),
            "month": np.ones(1_200, np.int64),
            "ward": ward.ravel(),
            "ill": ill.ravel(),
        }
    )


def test_a_rare_disease_that_follows_from_two_other_visits_is_not_safe() -> None:
    """Nobody is singled out and no class of single visits shows it; three visits do."""
    found = assessed(wards(), person="code")
    assert finding(found).status is Status.MET
    own = next(one for one in found.findings if one.measure == INFERRED)
    assert own.status is Status.EXCEEDED
    assert found.verdict is Verdict.NOT_SAFE
    assert "infers 'ill' almost certainly in 100 % of cases" in own.statement
    assert own.affected == 24
    assert own.remedy is not None
    assert own.remedy.parameters["excluded"] == ("code",)
    assert "rare" not in own.statement  # no data value
    harmless = {"ill": ColumnNote(harmless=("rare",))}
    again = assessed(wards(), harmless, person="code")
    own = next(one for one in again.findings if one.measure == INFERRED)
    assert (own.status, float(own.value)) == (Status.MET, 0.0)


def test_inference_from_histories_is_not_asked_without_a_link_or_a_sensitive_values() -> None:
    table = wards()
    roles: dict[str, Any] = {"quasi_identifiers": ["month", "ward"], "person": "code"}
    gone = cr.assess(table, sensitive=["ill"], excluded=["code"], **roles)
    bare = cr.assess(table.drop_columns(["ill"]), insensitive=["code"], accept_guesses=True, **roles)
    for found in (gone, bare):
        own = next(one for one in found.findings if one.measure == INFERRED)
        assert own.status is Status.NOT_ASKED


def test_records_that_are_all_there_several_times_are_not_safe() -> None:
    """After a join that multiplied them classes have copies, not people."""
    people = {"age": [n % 70 for n in range(280)], "town": [n // 70 for n in range(280)]}
    copied = {name: values * 20 for name, values in people.items()}
    found = cr.assess(pa.table(copied), quasi_identifiers=["age", "town"], person="each record")
    (reason,) = [one for one in found.reasons if one.code == "copied-records"]
    assert reason.text.startswith("Every record is in the data 20 times, or a multiple of that")
    assert found.verdict is Verdict.CANNOT_TELL
    with pytest.raises(cr.CrypsisError, match="if these are copies"):
        cr.anonymize(pa.table(copied), quasi_identifiers=["age", "town"], k=5, person="each record")
    one_more = {name: [*values, values[0]] for name, values in copied.items()}
    assert (
        cr.assess(pa.table(one_more), quasi_identifiers=["age", "town"], person="each record").verdict
        is Verdict.SAFE
    )
