"""k of people, not of records: where a person has several records, they count once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crypsis as cr
from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import ColumnError, ParameterError, RoleError
from crypsis.options import Role
from crypsis.protection import Plan, Preview, plan
from crypsis.results import percent_text
from tests.cases import first_of

ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "ward"],
    "sensitive": ["ill"],
    "identifiers": ["patient_nbr"],
}


def visits(seed: int = 0, people: int = 120) -> pd.DataFrame:
    """Visits of people who have one to nine of them, alike in age and mostly in ward."""
    random = np.random.default_rng(seed)
    times = random.integers(1, 10, people)
    rows = int(times.sum())
    return pd.DataFrame(
        {
            "patient_nbr": np.repeat(100_000 + random.permutation(900)[:people], times),
            "age": np.repeat(random.integers(20, 60, people), times),
            "ward": random.choice(["a", "b", "c"], rows),
            "ill": random.choice(["flu", "gout", "none"], rows),
        }
    )


def with_people(data: pd.DataFrame, made: cr.Anonymized) -> pd.DataFrame:
    """A release and whose records they are, by the row map of its key."""
    released = made.data.to_arrow().to_pandas()
    return released.assign(who=data["patient_nbr"].to_numpy()[np.array(made.key.row_map)])


def people_per_class(data: pd.DataFrame, made: cr.Anonymized) -> pd.Series:
    """The people in each class of a release."""
    return with_people(data, made).groupby(["age", "ward"], dropna=False)["who"].nunique()


@pytest.mark.parametrize("recoding", ["local", "full-domain"])
@pytest.mark.parametrize("k", first_of([5, 2, 11], 1))
def test_every_class_has_k_people(k: int, recoding: Any) -> None:
    for seed in range(4):
        data = visits(seed)
        made = cr.anonymize(data, k=k, recoding=recoding, person="patient_nbr", **ROLES)
        counted = people_per_class(data, made)
        assert counted.min() >= k
        assert made.measured is not None
        assert made.measured.k == counted.min()
        there = data["patient_nbr"].to_numpy()[np.array(made.key.row_map)]
        assert made.measured.people == np.unique(there).size
        records = with_people(data, made)
        found = records.groupby(["age", "ward"], dropna=False)["who"].transform("nunique")
        worst = (1 / found).groupby(records["who"]).max()
        assert made.measured.marketer == pytest.approx(worst.mean())
        assert f"marketer {percent_text(worst.mean())} (average)" in str(made.measured)
        assert "patient_nbr" not in made.data.names


def test_requirements_on_sensitive_values_are_met_with_those_on_people() -> None:
    data = visits(3)
    made = cr.anonymize(data, k=4, diversity=2, person="patient_nbr", **ROLES)
    assert people_per_class(data, made).min() >= 4
    assert made.measured is not None
    assert (made.measured.diversity or 0) >= 2


def test_records_would_have_been_too_few_people() -> None:
    """With k of records the same data have classes of one person."""
    data = visits(1)
    notes = {"patient_nbr": ColumnNote(several_people="The number of a family.")}
    roles = {
        "age": "quasi-identifier",
        "ward": "quasi-identifier",
        "ill": "sensitive",
        "patient_nbr": "identifier",
    }
    each = {"person": "each record", "person_reason": "A family is named, and not the patient."}
    made = cr.anonymize(Dataset.from_frame(data, **each).with_roles(roles, notes), k=5)
    assert made.measured is not None
    assert made.measured.people is None
    assert people_per_class(data, made).min() < 5


@pytest.mark.parametrize("role", ["identifiers", "excluded", "insensitive"])
def test_a_repeated_identifier_without_a_decision_is_refused(role: str) -> None:
    roles = {**ROLES, "identifiers": []}
    roles[role] = ["patient_nbr"]
    if role == "insensitive":  # opaque codes, which no evidence calls an identifier
        data = visits().assign(patient_nbr=lambda one: "P" + one["patient_nbr"].astype(str))
        data = data.rename(columns={"patient_nbr": "code"})
        roles[role] = ["code"]
    else:
        data = visits()
    with pytest.raises(RoleError, match="repeats: if it identifies people, there are 120 people"):
        cr.anonymize(data, k=3, **roles, person="each record")


def test_names_that_repeat_are_no_sign_of_a_person() -> None:
    data = visits().assign(name=lambda one: np.where(one.index % 2, "Anna Bauer", "Hugo Maier"))
    data = data.drop(columns="patient_nbr").sample(frac=1, random_state=1)
    made = cr.anonymize(
        data,
        k=3,
        identifiers=["name"],
        quasi_identifiers=["age", "ward"],
        sensitive=["ill"],
        person="each record",
    )
    assert made.measured is not None
    assert made.measured.people is None


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_file_and_its_statement_count_people(form: str, tmp_path: Path) -> None:
    data = visits()
    made = cr.anonymize(data, k=5, person="patient_nbr", verify=False, **ROLES)
    made = made.write(tmp_path / f"release.{form}")
    text = (tmp_path / f"release.{form}.statement.md").read_text()
    assert f"{len(data):,} records are released. They are those of 120 people." in text
    assert "people in every class | at least 5 |" in text
    assert made.measured is not None
    assert f"(k = {made.measured.k} people; required: 5)" in str(made)


def test_a_plan_that_requires_people_needs_them(tmp_path: Path) -> None:
    data = visits()
    made = cr.anonymize(data, k=5, person="patient_nbr", **ROLES)
    assert made.plan is not None
    made.plan.save(tmp_path / "plan.toml")
    again = Plan.load(tmp_path / "plan.toml")
    assert again.requirements.people
    with pytest.raises(RoleError, match="k of people"):
        again.apply(data, **ROLES)
    assert again.apply(data, person="patient_nbr", **ROLES).measured == made.measured


def test_a_plan_of_records_counts_people_where_they_are_known() -> None:
    data = visits()
    of_records = plan(data, k=5, **ROLES)
    made = of_records.apply(data, person="patient_nbr", **ROLES)
    assert people_per_class(data, made).min() >= 5


def test_k_is_compared_with_the_number_of_people() -> None:
    with pytest.raises(ParameterError, match="the data have only 120 people"):
        cr.anonymize(visits(), k=121, person="patient_nbr", **ROLES)


def test_each_column_alone_does_not_count_people() -> None:
    with pytest.raises(ParameterError, match="cannot be used where a person has several"):
        cr.anonymize(visits(), k=3, each_column=True, person="patient_nbr", **ROLES)


def test_the_person_is_no_quasi_identifier() -> None:
    roles = {**ROLES, "identifiers": [], "quasi_identifiers": ["age", "unit"]}
    data = visits().rename(columns={"patient_nbr": "unit"})
    with pytest.raises(RoleError, match="cannot be a quasi-identifier as well"):
        cr.anonymize(data, k=3, insensitive=["ward"], person="unit", **roles)


def test_a_preview_counts_people() -> None:
    data = visits(2)
    made = plan(data, k=5, person="patient_nbr", **ROLES)
    preview = Preview(data, made, person="patient_nbr", **ROLES)
    for level in range(preview.top("age") + 1):
        outcome = preview.outcome({"age": level}, k=5)
        labels = made.columns[0]
        steps = preview.steps["age"]
        coarse = data.assign(age=[steps[level].label(value) for value in data["age"]])
        counted = coarse.groupby(["age", "ward"], dropna=False)["patient_nbr"].nunique()
        rows = coarse.groupby(["age", "ward"], dropna=False).size()
        assert outcome.smallest == counted.min(), labels.name
        assert outcome.rows_below == rows[counted < 5].sum()
        assert outcome.classes == len(counted)


def test_masked_data_count_people() -> None:
    from crypsis.protection import mask
    from crypsis.protection.masking import Round

    data = visits()
    made = mask(data, {"age": Round(base=20)}, person="patient_nbr", **ROLES)
    assert made.measured is not None
    coarse = made.data.to_arrow().to_pandas()
    assert made.measured.k == coarse.groupby(["age", "ward"])["patient_nbr"].nunique().min()


def test_a_decision_in_the_roles_file(tmp_path: Path) -> None:
    from crypsis.columns import roles

    (tmp_path / "roles.toml").write_text(
        '[roles]\npatient_nbr = { role = "identifier", several_people = "of a family" }\n'
        '[units]\nperson = "patient_nbr"\n'
    )
    found = roles.load(tmp_path / "roles.toml", ["patient_nbr", "age"])
    assert found.units == {"person": "patient_nbr"}
    assert found.notes["patient_nbr"].several_people == "of a family"
    assert found.roles["patient_nbr"] is Role.IDENTIFIER
    assert roles.load(tmp_path / "roles.toml", ["age"]).units == {}  # a release without it
    (tmp_path / "roles.toml").write_text("[roles]\n[units]\nperson = 'patient'\n")
    with pytest.raises(ColumnError, match=r"'patient' does not exist \(did you mean 'patient_nbr'"):
        roles.load(tmp_path / "roles.toml", ["patient_nbr", "age"])
    (tmp_path / "roles.toml").write_text("[roles]\n[units]\npeople = 'x'\n")
    with pytest.raises(RoleError, match=r"\[units\]"):
        roles.load(tmp_path / "roles.toml", ["age"])


def test_data_without_the_column_of_their_people_are_refused() -> None:
    rows = Dataset.from_frame(
        visits().drop(columns="patient_nbr"),
        quasi_identifiers=["age", "ward"],
        sensitive="ill",
        person="each record",
        person_reason="The numbers of patients were removed, each has one stay.",
    )
    cr.anonymize(rows, k=3)
    with pytest.raises(RoleError, match="'patient_nbr', which these data do not have"):
        cr.anonymize(replace(rows, absent={"person": "patient_nbr"}), k=3)
