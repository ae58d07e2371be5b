"""Guessed roles: hard cases and real files; the roles file."""

from __future__ import annotations

import base64
import os
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
from crypsis.columns import roles
from crypsis.columns.roles import _guess
from crypsis.columns.roles._identifier_search import find_identifiers
from crypsis.columns.roles._patterns import passes_luhn
from crypsis.columns.roles.names import read_name
from crypsis.counting.cells import ColumnSetCounts
from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import ColumnError, OutputError, RoleError, SourceError
from crypsis.options import Role
from tests.columns.adversarial_cases import HIDDEN, Hidden
from tests.columns.role_cases import CASES, HARMLESS, ID, NONE, QI, ROWS, SENSITIVE, Case, shaped
from tests.conftest import ADULT_COLUMNS


def guessed(table: dict[str, Any], **options: Any) -> dict[str, roles.Guess]:
    found = roles.guess(Dataset.from_frame(pa.table(table)), **options)
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


def test_a_reason_is_a_plain_sentence_and_holds_no_data_value(cases: dict[str, roles.Guess]) -> None:
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
    **dict.fromkeys(["income", "capital-gain", "capital-loss"], SENSITIVE),
    "fnlwgt": HARMLESS,
}


def test_adult(adult: Dataset) -> None:
    assert {guess.column: guess.role.value for guess in roles.guess(adult)} == ADULT


def test_diabetes(data_folder: Path, tmp_path: Path) -> None:
    archive = data_folder / "diabetes130" / "dataset_diabetes.zip"
    with zipfile.ZipFile(archive).open("dataset_diabetes/diabetic_data.csv") as source:
        lines = [next(source) for _ in range(5_000)]
    path = tmp_path / "diabetic_data.csv"
    path.write_bytes(b"".join(lines))
    release = Dataset.from_frame(cr.read(path).to_arrow())  # so that the file is parsed once
    found = {guess.column: guess for guess in roles.guess(release)}
    by_role = {role: [n for n, guess in found.items() if guess.role is role] for role in Role}
    assert by_role[Role.IDENTIFIER] == ["encounter_id", "patient_nbr"]
    assert {"race", "gender", "age", "weight"} <= set(by_role[Role.QUASI_IDENTIFIER])
    medicines = "metformin insulin glyburide tolazamide glyburide-metformin"
    results = "diag_1 diag_2 diag_3 A1Cresult max_glu_serum readmitted diabetesMed"
    assert {*medicines.split(), *results.split()} <= set(by_role[Role.SENSITIVE])
    assert found["examide"].reason == "All records have the same value."


@pytest.mark.parametrize(
    ("name", "identifiers", "sensitive", "others"),
    [
        ("EIA.csv", {"UTILITYID", "UTILNAME"}, 10, {"YEAR"}),
        ("Tarragona.csv", set(), 11, {"DEPRECIATION", "FINANCIAL.OUTCOME"}),
        # EMCONTRB holds 1,080 different numbers in 1,080 rows: whoever knows one knows the row.
        ("CASCrefmicrodata.csv", {"EMCONTRB"}, 11, {"AFNLWGT"}),
    ],
)
def test_casc(data_folder: Path, name: str, identifiers: set[str], sensitive: int, others: set[str]) -> None:
    found = roles.guess(cr.read(data_folder / "casc" / name))
    assert {guess.column for guess in found if guess.role is Role.IDENTIFIER} == identifiers
    assert sum(guess.role is Role.SENSITIVE for guess in found) == sensitive
    rest = (Role.UNDECIDED, Role.INSENSITIVE)
    assert {guess.column for guess in found if guess.role in rest} == others


def test_columns_counted_before_are_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    release = Dataset.from_frame(pa.table({"a": list(range(50)), "b": [1, 2] * 25}))
    known = {name: release.rows.tally([name]) for name in release.names}
    expected = roles.guess(release)

    def never(*_: Any, **__: Any) -> ColumnSetCounts:
        raise AssertionError

    monkeypatch.setattr(type(release.rows), "tally", never)
    assert roles.guess(release, counts=known) == expected
    assert [guess.role.value for guess in expected] == [ID, NONE]


def test_counts_of_other_columns_are_an_error() -> None:
    release = Dataset.from_frame(pa.table({"a": [1]}))
    with pytest.raises(ColumnError, match="'b' does not exist"):
        roles.guess(release, counts={"b": release.rows.tally(["a"])})


def test_the_same_seed_gives_the_same_guesses() -> None:
    rows = 10_000
    every = np.arange(rows)
    few = np.where(every % 25 == 0, np.char.add(every.astype(str), "@example.org"), "none")
    found = guessed({"x": few}, seed=3)["x"]
    assert found == guessed({"x": few}, seed=3)["x"]
    assert found.reason == "400 values contain email addresses."


def test_some_values_among_others_are_enough() -> None:
    mixed = [*shaped("user####@example.org")[:12], *["nothing"] * 108]
    guess = guessed({"col": mixed})["col"]
    assert (guess.role.value, guess.confidence) == (ID, 0.98)
    assert guess.reason == "12 values contain email addresses."


def test_lists_and_bytes_are_never_safe() -> None:
    found = guessed(
        {
            "x": pa.array([[1], [2]]),
            "photo": pa.array([b"\xff", b"\xfe"]),
            "diagnoses": pa.array([["flu"], ["gout"]]),
        }
    )
    assert [guess.role.value for guess in found.values()] == [ID, ID, SENSITIVE]
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
    assert {guess.role.value for guess in none.values()} == {HARMLESS}
    one = guessed({"name": ["Ann"], "ssn": ["123-45-6789"], "disease": ["flu"]})
    assert [guess.role.value for guess in one.values()] == [ID, ID, SENSITIVE]


def test_luhn_against_its_definition() -> None:
    numbers = ["79927398713", "79927398710", "4111111111111111", "0", "5", "490154203237518", ""]
    expected = [True, False, True, True, False, True, True]
    assert passes_luhn(pa.array(numbers)).tolist() == expected


@pytest.fixture(scope="module")
def hidden() -> dict[str, roles.Guess]:
    assert len(HIDDEN) >= 70
    return guessed({case.name: pa.array(case.values) for case in HIDDEN})


@pytest.mark.parametrize("case", HIDDEN, ids=lambda case: ascii(case.name))
def test_no_hidden_column_gets_too_mild_a_role(case: Hidden, hidden: dict[str, roles.Guess]) -> None:
    assert hidden[case.name].role.value in case.allowed, hidden[case.name].reason


@pytest.mark.parametrize("fetched", [0, 2_000_000], ids=["in the engine", "fetched"])
def test_a_few_identifiers_among_many_values_are_found(fetched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the sample of 2,000 rows: in the text, as names, and in another notation."""
    monkeypatch.setattr(_guess, "_MAX_FETCHED_VALUES", fetched)
    values = [f"item {i % 977}" for i in range(50_000)]
    phones, teams, coded = ["a"] * 50_000, [f"team {i % 5}" for i in range(50_000)], values.copy()
    values[31_416] = "ask jan@example.org"
    phones[-1] = "+49 30 1234567"
    teams[40_000] = "Anna Bauer"
    coded[45_000] = base64.b64encode(b"jan@example.org").decode()
    table = {"x": values, "n": list(range(50_000)), "same": phones, "team": teams, "ref": coded}
    found = guessed(table)
    assert found["x"].reason == found["ref"].reason == "1 value contains email addresses."
    assert found["x"].identifies
    assert found["same"].hipaa is roles.Hipaa.PHONE
    assert found["team"].reason == "1 value contains names of people."


def test_in_columns_of_many_values_a_sample_is_read() -> None:
    names = [f"Anna Bauer of room {i}" if i % 3 else f"room {i}" for i in range(20_000)]
    data = Dataset.from_frame(pa.table({"v": names}))
    (column,) = data.rows.columns
    sample = pa.chunked_array([names[:100]])
    found = find_identifiers(data.rows, column, sample, None, 20_000)
    assert found is not None
    assert (found.sign.noun, found.values, found.complete) == ("names of people", 66, False)


@pytest.mark.parametrize(
    "values",
    [
        [f"{i % 1000:03d}.{i // 1000:02d}.{i % 100:02d}" for i in range(3000)],
        [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(3000)],
        [f"AB-{i % 90:04d}" for i in range(3000)],
        [f"{i / 7:.2f}" for i in range(3000)],
        [f"{i % 50} of 100" for i in range(3000)],
        [f"DE{i:020d}" for i in range(3000)],
        list(range(123_456_789, 123_459_789)),
    ],
    ids=["dotted", "dates", "codes", "numbers", "phrases", "no-iban", "counter"],
)
def test_harmless_formats_are_no_identifiers(values: list[Any]) -> None:
    """Formats that are near to those of identifiers: the search finds none."""
    table = pa.table({"v": values})
    data = Dataset.from_frame(table)
    assert find_identifiers(data.rows, data.rows.columns[0], table["v"], None, 3_000) is None


def test_contradictions_need_a_reason() -> None:
    table = pa.table({"ssn": ["123-45-6789", "321-54-9876"], "age": [30, 41]})
    data = Dataset.from_frame(table, insensitive=["ssn"], quasi_identifiers=["age"])
    assert set(roles.contradictions(data)) == {"ssn"}
    reason = ColumnNote(override="Made up for a course.")
    assert roles.contradictions(data.with_roles(data.roles, {"ssn": reason})) == {}
    assert roles.contradictions(data.with_roles({"ssn": "excluded"})) == {}
    assert roles.contradictions(data.with_roles({"ssn": "identifier"})) == {}


@given(st.text(max_size=40))
def test_any_name_can_be_read(name: str) -> None:
    evidence = read_name(name)
    assert evidence.sign is None or 0 < evidence.sign.confidence <= 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=30))
def test_a_role_is_guessed_for_any_text(values: list[str | None]) -> None:
    guess = guessed({"v": pa.array(values, pa.string())})["v"]
    assert 0 <= guess.confidence <= 1


# --- roles.toml -------------------------------------------------------------------------------


def role_guesses(*names: str) -> tuple[roles.Guess, ...]:
    kinds = list(Role)
    return tuple(
        roles.Guess(name, kinds[i % 4], "The name indicates a test.", 0.875) for i, name in enumerate(names)
    )


def test_the_file_reads_as_written(tmp_path: Path) -> None:
    path = roles.save(role_guesses("name", "age"), tmp_path / "roles.toml")
    text = path.read_text(encoding="utf-8")
    line = '"age" = "quasi-identifier"  # The name indicates a test. (confidence 0.88)'
    assert line in text.splitlines()
    assert all(role.value in text.split("[roles]")[0] for role in Role)
    assert tomllib.loads(text) == {
        "units": {"person": "undecided"},
        "roles": {"name": "identifier", "age": "quasi-identifier"},
    }
    assert [file.name for file in tmp_path.iterdir()] == ["roles.toml"]


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(NAMES, min_size=1, max_size=8, unique=True))
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "roles-of-any-name.toml"
    guesses = role_guesses(*names)
    roles.save(guesses, path, overwrite=True)
    assert roles.load(path, names).roles == {guess.column: guess.role for guess in guesses}


def test_awkward_names_and_a_reason_in_two_lines(tmp_path: Path) -> None:
    names = ['a "b"', "a.b", "🙂", "two\nlines", "back\\slash", "", "\x00\x7f", "# no comment", "é"]
    guesses = [*role_guesses(*names), roles.Guess("x", Role.INSENSITIVE, "One\n[roles]\ntwo", 1.0)]
    path = roles.save(guesses, tmp_path / "roles.toml")
    loaded = roles.load(path, [*names, "x"]).roles
    assert list(loaded) == [*names, "x"]
    assert loaded["two\nlines"] is Role.INSENSITIVE


def test_load_keeps_the_order_of_the_columns_and_forgives_spelling(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_bytes(b'\xef\xbb\xbf[roles]\nb = "Quasi_Identifier"\na = "insensitive"\n')
    assert list(roles.load(path, ["a", "b"]).roles.items()) == [
        ("a", Role.INSENSITIVE),
        ("b", Role.QUASI_IDENTIFIER),
    ]


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (
            b'[roles]\na = "insensitive"\nb = "insensitive"\nc = "insensitive"\n',
            ColumnError,
            r"'c' does not exist",
        ),
        (b'[roles]\na = "sensitve"\nb = "insensitive"\n', RoleError, r"'a'.*did you mean 'sensitive'"),
        (b'[roles]\na = 3\nb = "insensitive"\n', RoleError, r"'a' must be text"),
        (b'[roles]\na.x = "insensitive"\nb = "insensitive"\n', RoleError, r"'a'.*between quotes"),
        (b'[roles]\na = "insensitive"\na = "insensitive"\n', SourceError, r"not TOML.*line 3"),
        (b"[roles]\na = insensitive\n", SourceError, r"not TOML.*line 2"),
        (b"[roles]\n# ok\na = 'caf\xe9'\n", SourceError, r"line 3 is not UTF-8"),
        (b"", SourceError, r"no \[roles\] table"),
        (b'roles = "insensitive"\n', SourceError, r"no \[roles\] table"),
        (b'[roles]\na = "insensitive"\nb = "insensitive"\n[more]\n', SourceError, r"'more'"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: bytes, error: type[Exception], message: str) -> None:
    path = tmp_path / "roles.toml"
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        roles.load(path, ["a", "b"])


def test_the_file_of_the_original_fits_its_release(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text('[roles]\na = "quasi-identifier"\nb = "sensitive"\nc = "undecided"\n')
    everything = roles.load(path, ["a", "b"]).roles
    assert everything == {"a": Role.QUASI_IDENTIFIER, "b": Role.SENSITIVE}
    assert roles.load(path, ["a"], excluded=["b"]).roles == {"a": Role.QUASI_IDENTIFIER}
    renamed = roles.load(path, ["a", "B"], excluded=["b"]).roles
    assert renamed["B"] is Role.UNDECIDED  # so that nothing is called safe
    with pytest.raises(ColumnError, match=r"'b' does not exist.*not released.*excluded=\.\.\."):
        roles.load(path, ["a"])
    with pytest.raises(ColumnError, match="'d' does not exist"):
        roles.load(path, ["a", "b"], excluded=["d"])


def test_notes_come_back(tmp_path: Path) -> None:
    notes = {
        "a": ColumnNote(override='Numbers of "parcels".', harmless=("none", 3, True)),
        "b": ColumnNote(sign_off="Only the laboratory has it."),
    }
    path = roles.save(role_guesses("a", "b", "c"), tmp_path / "roles.toml", notes=notes)
    loaded = roles.load(path, ["a", "b", "c", "d"])
    assert loaded.notes == notes
    assert loaded.roles["d"] is Role.UNDECIDED
    data = Dataset.from_frame(pa.table({name: [1] for name in "abcd"}))
    assert data.with_roles(loaded.roles, loaded.notes).notes["b"] == notes["b"]


def test_a_weak_guess_is_written_as_undecided(tmp_path: Path) -> None:
    weak = roles.Guess("a", Role.INSENSITIVE, "The values are numbers.", 0.79)
    strong = roles.Guess("b", Role.SENSITIVE, "The name indicates health.", 0.8)
    path = roles.save([weak, strong], tmp_path / "roles.toml")
    assert roles.load(path, ["a", "b"]).roles == {"a": Role.UNDECIDED, "b": Role.SENSITIVE}
    assert "Perhaps insensitive. The values are numbers." in path.read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a = { override = "x" }', "lacks its role"),
        ('a = { role = "insensitive", overide = "x" }', "did you mean 'override'"),
        ('a = { role = "insensitive", override = " " }', "override of column 'a' must say why"),
        ('a = { role = "insensitive", override = "." }', "override of column 'a' must say why"),
        ('a = { role = "insensitive", sign_off = "- / -" }', "sign_off of column 'a' must say why"),
        ('a = { role = "insensitive", hierarchy = " " }', "hierarchy of column 'a' must not be"),
        ('a = { role = "insensitive", override = true }', "override of column 'a' must be text"),
        ('a = { role = "sensitive", harmless = "none" }', "must be a list"),
    ],
)
def test_a_bad_note_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(f"[roles]\n{content}\n")
    with pytest.raises(RoleError, match=message):
        roles.load(path, ["a"])


def test_the_file_of_a_hierarchy_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text('[roles]\na = { role = "quasi-identifier", hierarchy = "none.csv" }\n')
    with pytest.raises(SourceError, match=r"none\.csv' could not be read"):
        roles.load(path, ["a"])


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"'no\.toml' cannot be read"):
        roles.load(tmp_path / "no.toml", ["a"])
    with pytest.raises(SourceError, match="cannot be read"):
        roles.load(tmp_path, ["a"])
    with pytest.raises(OutputError, match="is a folder"):
        roles.save(role_guesses("a"), tmp_path, overwrite=True)
    with pytest.raises(OutputError, match="does not exist"):
        roles.save(role_guesses("a"), tmp_path / "none" / "roles.toml")


def test_a_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        roles.save(role_guesses("a"), path)
    assert path.read_text() == "mine"
    roles.save(role_guesses("a"), path, overwrite=True)
    assert roles.load(path, ["a"]).roles == {"a": Role.IDENTIFIER}


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "roles.toml"
    path.write_text("mine")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        roles.save(role_guesses("a"), path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["roles.toml"]
    assert path.read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_the_mode_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = roles.save(role_guesses("a"), tmp_path / "roles.toml")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_identifiers_may_be_gone_and_nothing_else(tmp_path: Path) -> None:
    """The roles file of a table serves its release, which has no identifiers any more."""
    path = tmp_path / "roles.toml"
    path.write_text('[roles]\n"name" = "identifier"\n"age" = "quasi-identifier"\n')
    assert roles.load(path, ["age"]).roles == {"age": Role.QUASI_IDENTIFIER}
    path.write_text('[roles]\n"name" = "identifier"\n"age" = "quasi-identifier"\n"x" = "insensitive"\n')
    with pytest.raises(ColumnError, match="'x'"):
        roles.load(path, ["age"])


@pytest.mark.parametrize(
    ("name", "values", "reason", "hipaa"),
    [
        ("ward", ["surgery", "cardiology"], "The name indicates a ward, of a hospital or of a town.", None),
        ("insurance", ["public", "private"], "The name indicates an insurance.", None),
        ("days", [3, 12], "The name indicates a duration.", None),
        ("insurance_number", ["A123456789", "B987654321"], None, roles.Hipaa.HEALTH_PLAN),
        ("day", [3, 12], None, roles.Hipaa.DATE),
    ],
)
def test_words_of_a_hospital(
    name: str, values: list[Any], reason: str | None, hipaa: roles.Hipaa | None
) -> None:
    found = roles.guess(pa.table({name: values * 40}))[0]
    assert found.hipaa is hipaa
    if reason is not None:
        assert (found.role, found.reason) == (Role.QUASI_IDENTIFIER, reason)


def test_the_household_that_is_named_identifies_it() -> None:
    homes = pa.table({"dwelling": ["D1", "D1", "D2", "D3"] * 5, "area": ["A", "A", "B", "B"] * 5})
    found = {one.column: one for one in roles.guess(cr.Dataset.from_frame(homes, household="dwelling"))}
    assert found["dwelling"].role is cr.Role.IDENTIFIER
    assert "household" in found["dwelling"].reason
    assert found["area"].role is not cr.Role.IDENTIFIER
