"""A release without the column of its people is judged by the people of its original, or not safe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError
from crypsis.policies.findings import Status, Verdict

ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "ward"], "sensitive": ["ill"]}
ILL = np.array(["flu", "gout", "none", "cold", "ache"])


def stays(people: int = 20, records: int = 50) -> pd.DataFrame:
    """Stays of patients: each has one age and one ward, and all records of a class are of one."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(people), records)
    return pd.DataFrame(
        {
            "patient_nbr": patient + 4_000,
            "age": 20 + patient // 2,
            "ward": np.array(["a", "b"])[patient % 2],
            "ill": rng.choice(ILL, patient.size),
        }
    )


def visits(people: int = 600) -> pd.DataFrame:
    """One to five visits of each person."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(people), rng.integers(1, 6, people))
    return pd.DataFrame(
        {
            "patient_nbr": person + 4_000,
            "age": (20 + rng.integers(0, 60, people))[person],
            "ward": np.array(list("abc"))[rng.integers(0, 3, people)[person]],
            "ill": rng.choice(ILL, person.size),
        }
    )


def released(table: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
    """The table without its people, in random order, and the original row of each record."""
    order = np.random.default_rng(2).permutation(len(table))
    return table.drop(columns="patient_nbr").iloc[order].reset_index(drop=True), order.tolist()


def reasons(found: cr.Assessment) -> list[str]:
    return [one.code for one in found.reasons]


def k_of(found: cr.Assessment) -> Any:
    classes: Any = found.answers[0].results["equivalence_classes"]
    return classes.k


def test_people_are_taken_from_the_original_through_the_row_map() -> None:
    table = stays()
    release, rows = released(table)
    original = Dataset.from_frame(table, person="patient_nbr")
    found = cr.assess(release, original, row_map=rows, **ROLES, person="each record")
    assert found.verdict is Verdict.NOT_SAFE
    assert (found.people, k_of(found)) == (20, 1)
    assert all(one.remedy is None or one.remedy.action != "anonymize" for one in found.findings)
    numbered = table.assign(number=np.arange(len(table)) * 7 % 1_009)
    after = release.assign(number=numbered["number"].to_numpy()[rows])
    by_number = cr.assess(
        after,
        Dataset.from_frame(numbered, person="patient_nbr"),
        on="number",
        insensitive=["number"],
        **ROLES,
        person="each record",
    )
    assert (by_number.people, k_of(by_number)) == (20, 1)


def test_without_the_row_map_it_is_not_called_safe() -> None:
    release, rows = released(stays())
    for original in (Dataset.from_frame(stays(), person="patient_nbr"), stays()):
        found = cr.assess(release, original, **ROLES, person="each record")
        assert "people-not-counted" in reasons(found)
        assert found.verdict is not Verdict.SAFE
    undecided = cr.assess(release, stays(), row_map=rows, **ROLES, person="each record")
    assert reasons(undecided) == ["people-not-counted"]
    wrong = cr.assess(
        release,
        Dataset.from_frame(stays(), person="patient_nbr"),
        row_map=rows[:-1],
        **ROLES,
        person="each record",
    )
    assert "people-not-counted" in reasons(wrong)


def test_where_each_person_has_one_record_nothing_changes() -> None:
    table = stays().assign(patient_nbr=np.arange(1_000))
    release, rows = released(table)
    original = Dataset.from_frame(table, person="patient_nbr")
    found, before = (
        cr.assess(release, one, row_map=rows, **ROLES, person="each record") for one in (original, table)
    )
    assert found.verdict is before.verdict is Verdict.SAFE
    assert (found.people, found.findings) == (None, before.findings)
    assert (
        cr.assess(release, original, **ROLES, person="each record").reasons
        == cr.assess(release, table, **ROLES, person="each record").reasons
    )


def test_a_release_made_here_is_safe_with_its_key() -> None:
    table = visits()
    original = Dataset.from_frame(table, identifiers=["patient_nbr"], person="patient_nbr", **ROLES)
    made = cr.anonymize(original, k=20, closeness=0.3)  # smaller classes link more than 5 % of the people
    found = cr.assess(made.data, original, row_map=made.key.row_map)
    assert found.verdict is Verdict.SAFE
    rows = list(made.key.row_map or range(len(table)))
    assert found.people == table["patient_nbr"].iloc[rows].nunique()
    assert made.measured is not None
    assert k_of(found) == made.measured.k
    alone = cr.assess(made.data)
    assert reasons(alone) == ["people-not-counted"]
    hidden = cr.assess(made.data, table, row_map=made.key.row_map)
    assert hidden.verdict is Verdict.SAFE  # the release knows by which column it was made


def test_a_class_of_nobody_is_not_safe() -> None:
    table = stays().assign(age=30 + np.arange(1_000) % 4, ward="a", patient_nbr=np.arange(1_000))
    full = {**ROLES, "excluded": ["patient_nbr"], "person": "patient_nbr"}
    assert "person-missing" not in reasons(cr.assess(table, **full))
    some = table.astype({"patient_nbr": "Int64"})
    some.loc[:9, "patient_nbr"] = None
    assert "person-missing" not in reasons(cr.assess(some, **full))
    some.loc[:2, "age"] = 99
    (reason,) = [one for one in cr.assess(some, **full).reasons if one.code == "person-missing"]
    assert reason.text.startswith("3 records without a value in 'patient_nbr' are in")


def test_pseudonyms_for_pieces_of_a_person_are_not_people() -> None:
    table = stays()
    release, rows = released(table)
    release = release.assign(code=[f"Q{n:04d}" for n in range(len(release))])
    data = Dataset.from_frame(release, insensitive=["code"], person="code", **ROLES)
    found = cr.assess(data, Dataset.from_frame(table, person="patient_nbr"), row_map=rows)
    assert k_of(found) == 1


@pytest.fixture
def files(tmp_path: Path) -> Path:
    table = stays()
    release, rows = released(table)
    table.to_csv(tmp_path / "original.csv", index=False)
    release.to_csv(tmp_path / "release.csv", index=False)
    from crypsis.protection import Key

    Key(1, tuple(rows)).save(tmp_path / "release.key.json")
    (tmp_path / "roles.toml").write_text(
        '[units]\nperson = "patient_nbr"\n[roles]\npatient_nbr = "identifier"\n'
        'age = "quasi-identifier"\nward = "quasi-identifier"\nill = "sensitive"\n'
    )
    return tmp_path


@pytest.fixture
def assess(files: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def asked(*words: str) -> tuple[int, str]:
        status = run(["assess", str(files / "release.csv"), *words])
        printed = capsys.readouterr()
        return status, " ".join((printed.out + printed.err).split())

    return asked


Asked = Callable[..., tuple[int, str]]


def test_on_the_command_line(files: Path, assess: Asked) -> None:
    original, key = str(files / "original.csv"), str(files / "release.key.json")
    roles = ["--qi", "age", "--qi", "ward", "--sensitive", "ill"]
    for given in (["--roles", str(files / "roles.toml")], [*roles, "--person", "patient_nbr"]):
        status, text = assess("--original", original, "--key", key, *given)
        assert status == 1
        assert "20 of 20 people (100 %) are in equivalence classes smaller than 5" in text
    status, text = assess("--roles", str(files / "roles.toml"))
    assert status == 4
    assert "Set --original" in text
    status, text = assess("--original", original, *roles)
    assert (status, "Set --person" in text) == (4, True)
    status, text = assess(*roles, "--person", "patient_nbr")
    assert (status, "does not exist" in text) == (2, True)


def test_a_key_of_rows_in_their_order(files: Path, assess: Asked) -> None:
    from crypsis.protection import Key

    key = Key(1).save(files / "in-order.key.json")
    stays().drop(columns="patient_nbr").to_csv(files / "release.csv", index=False)
    words = ("--original", str(files / "original.csv"), "--roles", str(files / "roles.toml"))
    status, text = assess(*words, "--key", str(key))
    assert (status, "20 of 20 people" in text) == (1, True)


def test_whose_records_they_are_may_be_written(files: Path, assess: Asked) -> None:
    file = files / "roles.toml"
    text = file.read_text().replace('person = "patient_nbr"', 'person = "each record"')
    note = '{ role = "identifier", several_people = "the number of the doctor" }'
    file.write_text(text.replace('patient_nbr = "identifier"', f"patient_nbr = {note}"))
    original, key = str(files / "original.csv"), str(files / "release.key.json")
    status, _ = assess("--original", original, "--key", key, "--roles", str(file))
    assert status == 0


def test_integrations_know_it_too(files: Path) -> None:
    from crypsis.integrations._release import assess_release

    found = assess_release(files / "release.csv", roles_file=files / "roles.toml")
    assert reasons(found) == ["people-not-counted"]


def test_a_person_that_no_file_has() -> None:
    release, _ = released(stays())
    with pytest.raises(ColumnError):
        cr.assess(release, person="patient_nbr", **ROLES)


def test_with_an_earlier_release_people_are_counted_in_both() -> None:
    """Visits of forty people in each interval of both, and in two intervals of one or of 39."""
    person = np.repeat(np.arange(400), 8)
    table = pd.DataFrame(
        {
            "patient_nbr": person + 4_000,
            "age": person,
            "ward": "a",
            "ill": np.random.default_rng(3).choice(ILL, person.size),
        }
    )
    low, late = person // 40 * 40, (person + 39) // 40 * 40
    after, order = released(table.assign(age=[f"{one}-{one + 39}" for one in low]))
    shifted = released(table.assign(age=[f"{one - 39}-{one}" for one in late]))[0]
    original = Dataset.from_frame(table, person="patient_nbr")
    frame = Dataset.from_frame(after, **ROLES, person="each record")
    given: dict[str, Any] = {"row_map": order, "earlier": [shifted], "earlier_row_maps": [order]}
    by_people = cr.assess(frame, original, **given, person="each record")
    by_records = cr.assess(frame, table.drop(columns="patient_nbr"), **given, person="each record")
    one, other = (
        next(one for one in found.findings if one.measure == "releases.joint_small_classes")
        for found in (by_people, by_records)
    )
    assert float(one.value or 0) == pytest.approx(10 / 400)
    assert float(other.value or 0) == 0.0
    assert by_people.verdict is Verdict.NOT_SAFE


def test_links_count_people_however_often_they_came() -> None:
    """Sixty people with forty visits each, alike in age and sex: at most 2.5 % of the records, all people."""
    who = np.repeat(np.arange(60), 40)
    known = {"age": 20 + who % 30, "sex": np.array(["f", "m"])[who // 30]}
    visit = np.array(["a", "b", "c", "d"])[np.arange(who.size) % 4]
    original = cr.Dataset.from_frame(
        pa.table({"who": who, **known, "ill": visit}),
        identifiers=["who"],
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        person="who",
    )
    release = pa.table({**known, "ill": visit})
    roles: Any = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}
    rows = list(range(who.size))
    of_people = cr.assess(release, original=original, row_map=rows, policy="wp216", **roles)
    (links,) = [one for one in of_people.findings if one.measure == "linkage.correct_links_above_chance"]
    assert links.status is Status.EXCEEDED
    assert float(getattr(links.value, "value", links.value)) > 0.9
