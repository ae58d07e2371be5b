"""Synthetic people: the same for a seed, correlated, with rare people among them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.columns import roles
from crypsis.demo import _people as sample
from crypsis.demo import people, write_people
from crypsis.errors import OutputError, ParameterError

COLUMNS = ["name", "ssn", "birth_date", "zip", "sex", "occupation", "income", "disease"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return people()


@pytest.fixture(scope="module")
def frame(table: pa.Table) -> Any:
    found = table.to_pandas()
    found["age"] = (pd.Timestamp("2025-01-01") - pd.to_datetime(found.birth_date)).dt.days // 365.25
    return found


def test_shape_and_types(table: pa.Table) -> None:
    assert table.column_names == COLUMNS
    assert table.num_rows == 50_000
    types = [pa.string()] * 2 + [pa.date32()] + [pa.string()] * 3 + [pa.int64(), pa.string()]
    assert table.schema.types == types


def fingerprint(table: pa.Table) -> str:
    rows = json.dumps(table.to_pylist(), default=str)
    return hashlib.sha256(rows.encode()).hexdigest()[:16]


def test_the_same_seed_gives_the_same_people_everywhere(table: pa.Table) -> None:
    assert people().equals(table)
    assert not people(seed=1).equals(table)
    # Written down here so that another platform, Python or NumPy must agree.
    assert fingerprint(table) == "1b54b1eeb7085ca4"


def test_a_column_has_its_own_stream(monkeypatch: pytest.MonkeyPatch, table: pa.Table) -> None:
    monkeypatch.setattr(sample, "_WOMEN", sample._WOMEN[::-1])
    monkeypatch.setattr(sample, "_DISEASES", {"none": sample._DISEASES["none"]})
    changed = people()
    assert not changed["name"].equals(table["name"])
    for name in COLUMNS[1:-1]:
        assert changed[name].equals(table[name])


def test_nobody_real(frame: Any) -> None:
    assert frame.ssn.is_unique
    assert frame.ssn.str.fullmatch(r"9\d\d-(0[1-9]|[1-4]\d)-\d{4}").all()
    assert not frame.ssn.str.endswith("-0000").any()
    assert frame.zip.dropna().str.fullmatch(r"00[1-4]\d\d").all()
    assert frame.name.str.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+").all()
    assert frame.name.nunique() > 30_000


def test_missing_values(frame: Any) -> None:
    expected = {"zip": 0.01, "occupation": 0.02, "income": 0.04, "disease": 0.01}
    for name in COLUMNS:
        assert frame[name].isna().mean() == pytest.approx(expected.get(name, 0), abs=0.002)


def test_places_are_very_uneven(frame: Any) -> None:
    sizes = frame.zip.value_counts()
    assert len(sizes) == 300
    assert sizes.iloc[0] > 4_000
    assert sizes.iloc[-1] < 15
    assert sizes.iloc[:30].sum() > 0.55 * sizes.sum()


def test_birth_date_zip_and_sex_single_most_people_out(frame: Any) -> None:
    # Sweeney (2000) estimates 87 % for the whole United States; a sample has more.
    sizes = frame.groupby(["birth_date", "zip", "sex"], dropna=False).size()
    assert 0.9 < (sizes == 1).sum() / len(frame) < 0.99
    assert frame.birth_date.nunique() > 20_000
    assert 0 <= frame.age.min() <= 1
    assert 95 <= frame.age.max() < 100


def test_occupation_goes_with_sex_and_place(frame: Any) -> None:
    men = frame[frame.sex == "M"].occupation.value_counts(normalize=True)
    women = frame[frame.sex == "F"].occupation.value_counts(normalize=True)
    assert women["nurse"] > 5 * men["nurse"]
    assert men["builder"] > 15 * women["builder"]
    region = frame.zip.str[2]
    farmers = (frame.occupation == "farmer").groupby(region).mean()
    assert farmers["3"] > 20 * farmers["1"]
    # The coast (004) is old, the city (001) is young.
    ages = frame.age.groupby(region).mean()
    assert ages["4"] - ages["1"] > 10


def test_income_goes_with_occupation_and_age(frame: Any) -> None:
    middle = frame.groupby("occupation").income.median()
    assert middle["physician"] > 4 * middle["cook"]
    assert middle["pupil"] == 0
    clerks = frame[(frame.occupation == "office clerk") & frame.income.notna()]
    assert 0.35 < np.corrcoef(clerks.age, clerks.income)[0, 1] < 0.8
    assert frame.income.max() > 500_000


def test_disease_goes_with_age_and_sex(frame: Any) -> None:
    rate = frame.assign(old=frame.age >= 60).groupby("old").disease
    sick = rate.apply(lambda disease: disease.ne("none").mean())
    assert sick[True] > 1.7 * sick[False]
    assert (frame[frame.disease == "dementia"].age >= 40).all()
    assert (frame[frame.disease == "prostate cancer"].sex == "M").all()
    assert (frame[frame.disease == "pre-eclampsia"].sex == "F").all()
    hiv = frame[frame.disease == "HIV"].sex.value_counts()
    assert hiv["M"] > 2 * hiv["F"]
    mutual = frame.disease.eq("chickenpox").groupby(frame.age < 18).mean()
    assert mutual[True] > 15 * mutual[False]


def test_rare_people_are_there(frame: Any) -> None:
    jobs = frame.occupation.value_counts()
    assert (jobs < 10).sum() >= 3
    assert frame.disease.value_counts()["Huntington disease"] < 40
    known = frame.dropna(subset=["occupation", "zip"])
    sizes = known.groupby(["zip", "sex", "occupation"]).size()
    assert (sizes == 1).sum() > 1_000


def test_people_of_any_number() -> None:
    assert people(1).num_rows == 1
    assert people(7, seed=0).num_rows == 7
    for rows in (0, -1, 10**9):
        with pytest.raises(ParameterError, match="'rows' must be from"):
            people(rows)
    with pytest.raises(ParameterError, match="seed"):
        people(1, seed=-1)


def test_write_people(tmp_path: Path) -> None:
    path = write_people(tmp_path / "new" / "demo", rows=500)
    assert path == tmp_path / "new" / "demo" / "people.csv"
    assert [file.name for file in path.parent.iterdir()] == ["people.csv"]
    assert cr.read(path).to_arrow().equals(people(500))
    write_people(path.parent, rows=3, seed=2)
    assert cr.read(path).count == 3


def test_write_people_where_it_cannot_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(OutputError, match="could not be created"):
        write_people(file)
    (tmp_path / "people.csv").mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        write_people(tmp_path, rows=1)
    assert file.read_text() == "mine"
    assert not [f for f in tmp_path.iterdir() if re.search("partial", f.name)]


def test_its_roles_are_guessed_right(tmp_path: Path) -> None:
    found = roles.guess(cr.read(write_people(tmp_path)))
    assert {guess.column: guess.role.value for guess in found} == {
        "name": "identifier",
        "ssn": "identifier",
        "birth_date": "quasi-identifier",
        "zip": "quasi-identifier",
        "sex": "quasi-identifier",
        "occupation": "quasi-identifier",
        "income": "sensitive",
        "disease": "sensitive",
    }
