"""Columns that link the records of people whatever they look like: by the quasi-identifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.columns.roles import linking_values, panel
from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import RoleError

QIS = ["age", "sex"]


def _visits(people: int = 300, visits: int = 6) -> pd.DataFrame:
    """Visits in random order; the age and the sex of a person are the same at all of them."""
    rng = np.random.default_rng(4)
    person = rng.permutation(np.repeat(np.arange(people), visits))
    return pd.DataFrame(
        {
            "age": person % 3 * 10 + 30,
            "sex": person // 3 % 2,
            "person": person,
            "site": person // 17,
            "place": person % 17,
            "day": rng.integers(0, 90, person.size),
            "disease": rng.integers(0, 9, person.size),
        }
    )


def _data(frame: pd.DataFrame, qis: list[str] | None = None) -> Dataset:
    """The frame with its roles; what has no other one is insensitive."""
    known = qis or QIS
    return Dataset.from_frame(
        pa.Table.from_pandas(frame, preserve_index=False),
        quasi_identifiers=known,
        sensitive=["disease"],
        insensitive=[name for name in frame if name not in (*known, "disease")],
        person="each record",
    )


@pytest.mark.parametrize("people", [300, 6_000])  # the second is searched in a sample
def test_one_column_or_two_are_found(people: int) -> None:
    visits = _visits(people)
    both = ["site", "place"]
    assert linking_values(_data(visits.drop(columns=both))) == ("person",)
    assert linking_values(_data(visits.drop(columns="person"))) == ("site", "place")
    assert linking_values(_data(visits[[*QIS, *both, "disease"]], [*QIS, "site"])) == (("place", "site"))
    assert linking_values(_data(visits.drop(columns=["person", *both]))) == ()


@pytest.mark.parametrize(
    "name",
    [
        "Patientennr",
        "PatientenNummer",
        "Pat-Nr.",
        "Kundennr",
        "Mitgliedsnr",
        "Teilnehmer_ID",
        "Schülernr",
        "num_dossier",
        "numero_dossier",
        "employee_no",
        "code_patient",
        "CodicePaziente",
        "id_paziente",
        "NumeroPaciente",
        "cod_paciente",
        "num_empleado",
        "numero_utente",
        "deelnemernr",
        "klantnr",
        "pasientnr",
        "asiakasnro",
        "cislo_klienta",
        "paciens_id",
        "matricule",
        "id_пациента",
        "patient",
    ],
)
def test_a_number_of_a_person_that_repeats_links_records(name: str) -> None:
    numbers = 4_000 + np.repeat(np.arange(300), 4) * 7
    frame = pd.DataFrame({name: numbers, "ward": ["a", "b"] * 600})
    (one, _) = cr.columns.roles.guess(frame)
    assert (one.role.value, one.links) == ("identifier", True), one


@pytest.mark.parametrize(
    "name",
    [
        "patient_count",
        "num_patients",
        "n_patients",
        "Patiententyp",
        "customer_segment",
        "Zimmernr",
        "Kursnr",
        "Filialnr",
        "room_no",
        "anzahl_patienten",
        "Patientenzahl",
    ],
)
def test_a_number_of_people_or_of_things_does_not(name: str) -> None:
    numbers = np.repeat(np.arange(1, 31), 40)
    (one, _) = cr.columns.roles.guess(pd.DataFrame({name: numbers, "ward": ["a", "b"] * 600}))
    assert not one.links, one


def test_what_is_of_no_people_is_not_found() -> None:
    rng = np.random.default_rng(5)
    rows = 3_000
    table = pd.DataFrame(
        {
            "age": rng.integers(3, 6, rows),
            "sex": rng.integers(0, 2, rows),
            "batch": np.arange(rows) // 10,
            "record": np.arange(rows),
            "wave": 1,
            "county": rng.integers(0, 100, rows),
            "disease": rng.integers(0, 9, rows),
        }
    )
    table = table.assign(state=table["county"] // 10)
    assert linking_values(_data(table)) == ()
    # A number of the equivalence class says what the quasi-identifiers say.
    assert linking_values(_data(table.assign(group=table["age"] * 2 + table["sex"]))) == ()
    # A county is in one state, and no more follows from it.
    assert linking_values(_data(table, ["state"])) == ()
    assert linking_values(_data(table, ["state", "age"])) == ()


def test_what_was_decided_counts() -> None:
    visits = _visits()[[*QIS, "person", "disease"]]
    data = _data(visits)
    assert cr.assess(data).verdict.value == "cannot tell"
    with pytest.raises(RoleError, match="what is measured counts records"):
        cr.anonymize(data, k=5)
    note = {"person": ColumnNote(several_people="Numbers of rooms, in which many have been.")}
    decided = data.with_roles(data.roles, note)
    assert linking_values(decided) == ()
    assert cr.assess(decided).verdict.value == "safe"


def _waves(people: int = 600, years: int = 5) -> pd.DataFrame:
    """A panel whose people move and change jobs; their pension is the same in every year."""
    rng = np.random.default_rng(6)
    rows = people * years
    pension = rng.choice(np.arange(90_000), people, replace=False)
    return pd.DataFrame(
        {
            "year": np.repeat(np.arange(years), people),
            "town": rng.integers(0, 5, rows),
            "job": rng.integers(0, 4, rows),
            "disease": np.tile(pension, years),
        }
    ).sample(frac=1, random_state=1)


@pytest.mark.parametrize("people", [600, 20_000])  # the second is searched in a sample
def test_a_value_that_is_once_in_every_wave_is_that_of_a_person(people: int) -> None:
    waves = _waves(people)
    some = waves["disease"].where(np.random.default_rng(7).random(len(waves)) < 0.7)
    for frame in (waves, waves.assign(disease=some), waves.assign(disease=some.fillna(0))):
        assert panel(_data(frame, ["year", "town", "job"])) == ("disease", "year")
    data = _data(waves, ["year", "town", "job"])
    found = cr.assess(data)
    assert found.verdict.value == "cannot tell"
    assert [one.code for one in found.reasons] == ["person-against-evidence"]
    with pytest.raises(RoleError, match="what is measured counts records"):
        cr.anonymize(data, k=5)


def test_values_that_return_by_chance_are_no_panel() -> None:
    rng = np.random.default_rng(8)
    waves = _waves()
    rows = len(waves)
    for values in (
        rng.integers(0, 900, rows),
        rng.integers(0, 90_000, rows),
        waves["year"] * 100 + waves["town"],
        rng.choice([0, *rng.integers(0, 9_000, 300)], rows),
    ):
        assert panel(_data(waves.assign(disease=values), ["year", "town", "job"])) is None
