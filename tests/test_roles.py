"""Guessing roles: hard cases, real files, and the file in which a person decides."""

from __future__ import annotations

import os
import re
import stat
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis import roles
from crypsis.engine.base import Tally
from crypsis.errors import ColumnError, OutputError, RoleError, SourceError
from crypsis.release import Release, Role
from crypsis.roles._names import said_by
from crypsis.roles._patterns import passes_luhn
from tests.conftest import ADULT_COLUMNS
from tests.role_cases import CASES, ID, OTHER, QI, ROWS, SECRET, Case, shaped


def guessed(table: dict[str, Any], **options: Any) -> dict[str, roles.Guess]:
    found = roles.guess(Release.from_frame(pa.table(table)), **options)
    assert [guess.column for guess in found] == list(table)
    return {guess.column: guess for guess in found}


@pytest.fixture(scope="module")
def cases() -> dict[str, roles.Guess]:
    """All cases as the columns of one table, guessed at once."""
    assert len(CASES) >= 150
    assert len({case.name for case in CASES}) == len(CASES)
    assert {len(case.values) for case in CASES} == {ROWS}
    return guessed({case.name: pa.array(case.values) for case in CASES})


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case.name))
def test_hard_case(case: Case, cases: dict[str, roles.Guess]) -> None:
    guess = cases[case.name]
    assert (guess.role.value, guess.free_text) == (case.role, case.free_text), guess.reason
    if case.hipaa != "":
        assert (guess.hipaa.value if guess.hipaa else None) == case.hipaa, guess.reason


def test_every_hipaa_identifier_is_found_by_some_case(cases: dict[str, roles.Guess]) -> None:
    assert {guess.hipaa for guess in cases.values()} == {*roles.Hipaa, None}
    assert len(roles.Hipaa) == 18


def test_a_reason_is_a_plain_sentence_and_holds_no_data_value(
    cases: dict[str, roles.Guess],
) -> None:
    for case in CASES:
        guess = cases[case.name]
        assert not guess.reason[0].islower()
        assert guess.reason.endswith(".")
        assert "\n" not in guess.reason
        assert len(guess.reason) < 120
        assert 0 <= guess.confidence <= 1
        values = {str(value) for value in case.values if len(str(value)) > 4}
        assert not any(value in guess.reason for value in values)


def test_a_guess_is_a_result_fit_for_json(cases: dict[str, roles.Guess]) -> None:
    shown = cases["ssn"].to_dict()
    assert shown["role"] == "identifier"
    assert shown["hipaa"] == "social security number"
    assert "social security number" in str(cases["ssn"])


ADULT = {
    **dict.fromkeys(ADULT_COLUMNS, QI),
    **dict.fromkeys(["income", "capital-gain", "capital-loss"], SECRET),
    "fnlwgt": OTHER,
}


def test_adult(adult: Release) -> None:
    assert {guess.column: guess.role.value for guess in roles.guess(adult)} == ADULT


def test_diabetes(data_folder: Path, tmp_path: Path) -> None:
    archive = data_folder / "diabetes130" / "dataset_diabetes.zip"
    with zipfile.ZipFile(archive).open("dataset_diabetes/diabetic_data.csv") as source:
        lines = [next(source) for _ in range(5_000)]
    path = tmp_path / "diabetic_data.csv"
    path.write_bytes(b"".join(lines))
    release = Release.from_frame(cr.read(path).to_arrow())  # so that the file is parsed once
    found = {guess.column: guess for guess in roles.guess(release)}
    by_role = {role: [n for n, guess in found.items() if guess.role is role] for role in Role}
    assert by_role[Role.IDENTIFIER] == ["encounter_id", "patient_nbr"]
    assert {"race", "gender", "age", "weight"} <= set(by_role[Role.QUASI_IDENTIFIER])
    medicines = "metformin insulin glyburide tolazamide glyburide-metformin"
    results = "diag_1 diag_2 diag_3 A1Cresult max_glu_serum readmitted diabetesMed"
    assert {*medicines.split(), *results.split()} <= set(by_role[Role.SENSITIVE])
    assert found["examide"].reason == "Every row holds the same value."


@pytest.mark.parametrize(
    ("name", "identifiers", "sensitive", "other"),
    [
        ("EIA.csv", {"UTILITYID", "UTILNAME"}, 10, {"YEAR"}),
        ("Tarragona.csv", set(), 11, {"DEPRECIATION", "FINANCIAL.OUTCOME"}),
        # EMCONTRB holds 1,080 different numbers in 1,080 rows: whoever knows one knows the row.
        ("CASCrefmicrodata.csv", {"EMCONTRB"}, 11, {"AFNLWGT"}),
    ],
)
def test_casc(
    data_folder: Path, name: str, identifiers: set[str], sensitive: int, other: set[str]
) -> None:
    found = roles.guess(cr.read(data_folder / "casc" / name))
    assert {guess.column for guess in found if guess.role is Role.IDENTIFIER} == identifiers
    assert sum(guess.role is Role.SENSITIVE for guess in found) == sensitive
    assert {guess.column for guess in found if guess.role is Role.OTHER} == other


def test_tallies_that_are_given_are_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    release = Release.from_frame(pa.table({"a": list(range(50)), "b": [1, 2] * 25}))
    known = {name: release.rows.tally([name]) for name in release.names}
    expected = roles.guess(release)

    def never(*_: Any, **__: Any) -> Tally:
        raise AssertionError

    monkeypatch.setattr(type(release.rows), "tally", never)
    assert roles.guess(release, tallies=known) == expected
    assert [guess.role.value for guess in expected] == [ID, OTHER]


def test_tallies_of_other_columns_are_an_error() -> None:
    release = Release.from_frame(pa.table({"a": [1]}))
    with pytest.raises(ColumnError, match="no column 'b'"):
        roles.guess(release, tallies={"b": release.rows.tally(["a"])})


def test_the_same_seed_gives_the_same_guesses() -> None:
    rows = 10_000
    every = np.arange(rows)
    few = np.where(every % 25 == 0, np.char.add(every.astype(str), "@example.org"), "none")
    found = guessed({"x": few}, seed=3)["x"]
    assert found == guessed({"x": few}, seed=3)["x"]
    assert re.fullmatch(r"[345] % of its values look like email addresses\.", found.reason)


def test_some_values_among_others_are_enough() -> None:
    mixed = [*shaped("user####@example.org")[:12], *["nothing"] * 108]
    guess = guessed({"col": mixed})["col"]
    assert (guess.role.value, guess.confidence) == (ID, 0.6)
    assert guess.reason == "10 % of its values look like email addresses."


def test_lists_and_bytes_are_never_called_safe() -> None:
    found = guessed(
        {
            "x": pa.array([[1], [2]]),
            "photo": pa.array([b"\xff", b"\xfe"]),
            "diagnoses": pa.array([["flu"], ["gout"]]),
        }
    )
    assert [guess.role.value for guess in found.values()] == [ID, ID, SECRET]
    assert found["photo"].hipaa is roles.Hipaa.PHOTO


def test_missing_values_count_neither_for_nor_against() -> None:
    numbers = [*shaped("###-##-####")[:30], *[None] * 500, *[""] * 20]
    guess = guessed({"v": numbers})["v"]
    assert guess.hipaa is roles.Hipaa.SSN
    assert "100 %" in guess.reason


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["F", "M"] * 20).dictionary_encode(),
        pa.array(["F", "M"] * 20, pa.large_string()),
        pa.array(["F", "M"] * 20, pa.string_view()),
    ],
    ids=["dictionary", "large_string", "string_view"],
)
def test_every_arrow_text_is_read(column: pa.Array) -> None:
    assert guessed({"v": column})["v"].role.value == QI


def test_empty_and_single_rows() -> None:
    none = guessed({"name": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    assert {guess.role.value for guess in none.values()} == {OTHER}
    one = guessed({"name": ["Ann"], "ssn": ["123-45-6789"], "disease": ["flu"]})
    assert [guess.role.value for guess in one.values()] == [ID, ID, SECRET]


def test_luhn_against_its_definition() -> None:
    numbers = ["79927398713", "79927398710", "4111111111111111", "0", "5", "490154203237518", ""]
    expected = [True, False, True, True, False, True, True]
    assert passes_luhn(pa.array(numbers)).tolist() == expected


@given(st.text(max_size=40))
def test_any_name_can_be_read(name: str) -> None:
    evidence = said_by(name)
    assert evidence.sign is None or 0 < evidence.sign.confidence <= 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=30))
def test_any_text_can_be_judged(values: list[str | None]) -> None:
    guess = guessed({"v": pa.array(values, pa.string())})["v"]
    assert 0 <= guess.confidence <= 1


# --- roles.toml -------------------------------------------------------------------------------


def judged(*names: str) -> tuple[roles.Guess, ...]:
    kinds = list(Role)
    return tuple(
        roles.Guess(name, kinds[i % 4], "Its name points to a test.", 0.875)
        for i, name in enumerate(names)
    )


def test_the_file_reads_as_written(tmp_path: Path) -> None:
    path = roles.save(judged("name", "age"), tmp_path / "roles.toml")
    text = path.read_text(encoding="utf-8")
    line = '"age" = "quasi-identifier"  # Its name points to a test. (confidence 0.88)'
    assert line in text.splitlines()
    assert all(role.value in text.split("[roles]")[0] for role in Role)
    assert tomllib.loads(text) == {"roles": {"name": "identifier", "age": "quasi-identifier"}}
    assert [file.name for file in tmp_path.iterdir()] == ["roles.toml"]


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(NAMES, min_size=1, max_size=8, unique=True))
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "roles-of-any-name.toml"
    guesses = judged(*names)
    roles.save(guesses, path, overwrite=True)
    assert roles.load(path, names) == {guess.column: guess.role for guess in guesses}


def test_awkward_names_and_a_reason_in_two_lines(tmp_path: Path) -> None:
    names = ['a "b"', "a.b", "🙂", "two\nlines", "back\\slash", "", "\x00\x7f", "# no comment", "é"]
    guesses = [*judged(*names), roles.Guess("x", Role.OTHER, "One\n[roles]\ntwo", 1.0)]
    path = roles.save(guesses, tmp_path / "roles.toml")
    loaded = roles.load(path, [*names, "x"])
    assert list(loaded) == [*names, "x"]
    assert loaded["two\nlines"] is Role.OTHER


def test_load_keeps_the_order_of_the_columns_and_forgives_spelling(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_bytes(b'\xef\xbb\xbf[roles]\nb = "Quasi_Identifier"\na = "other"\n')
    assert list(roles.load(path, ["a", "b"]).items()) == [
        ("a", Role.OTHER),
        ("b", Role.QUASI_IDENTIFIER),
    ]


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b'[roles]\na = "other"\n', RoleError, r"says nothing of 'b'\. .*every column"),
        (b'[roles]\na = "other"\nb = "other"\nc = "other"\n', ColumnError, r"no column 'c'"),
        (b'[roles]\na = "sensitve"\nb = "other"\n', RoleError, r"'a'.*did you mean 'sensitive'"),
        (b'[roles]\na = 3\nb = "other"\n', RoleError, r"'a' must be text"),
        (b'[roles]\na.x = "other"\nb = "other"\n', RoleError, r"'a'.*between quotes"),
        (b'[roles]\na = "other"\na = "other"\n', SourceError, r"not TOML.*line 3"),
        (b"[roles]\na = other\n", SourceError, r"not TOML.*line 2"),
        (b"[roles]\n# ok\na = 'caf\xe9'\n", SourceError, r"line 3 is not UTF-8"),
        (b"", SourceError, r"no \[roles\] table"),
        (b'roles = "other"\n', SourceError, r"no \[roles\] table"),
        (b'[roles]\na = "other"\nb = "other"\n[more]\n', SourceError, r"'more'"),
    ],
)
def test_a_bad_file_is_refused(
    tmp_path: Path, content: bytes, error: type[Exception], message: str
) -> None:
    path = tmp_path / "roles.toml"
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        roles.load(path, ["a", "b"])


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"'no\.toml' cannot be read"):
        roles.load(tmp_path / "no.toml", ["a"])
    with pytest.raises(SourceError, match="cannot be read"):
        roles.load(tmp_path, ["a"])
    with pytest.raises(OutputError, match="is a folder"):
        roles.save(judged("a"), tmp_path, overwrite=True)
    with pytest.raises(OutputError, match="no folder"):
        roles.save(judged("a"), tmp_path / "none" / "roles.toml")


def test_a_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        roles.save(judged("a"), path)
    assert path.read_text() == "mine"
    roles.save(judged("a"), path, overwrite=True)
    assert roles.load(path, ["a"]) == {"a": Role.IDENTIFIER}


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "roles.toml"
    path.write_text("mine")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        roles.save(judged("a"), path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["roles.toml"]
    assert path.read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_the_mode_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = roles.save(judged("a"), tmp_path / "roles.toml")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_identifiers_may_be_gone_and_nothing_else(tmp_path: Path) -> None:
    """The roles file of a table serves its release, which has no identifiers any more."""
    path = tmp_path / "roles.toml"
    path.write_text('[roles]\n"name" = "identifier"\n"age" = "quasi-identifier"\n')
    assert roles.load(path, ["age"]) == {"age": Role.QUASI_IDENTIFIER}
    path.write_text('[roles]\n"name" = "identifier"\n"age" = "quasi-identifier"\n"x" = "other"\n')
    with pytest.raises(ColumnError, match="'x'"):
        roles.load(path, ["age"])
