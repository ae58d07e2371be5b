"""The tool itself keeps secrets: in what it says, writes, leaves behind and how it leaves it."""

from __future__ import annotations

import json
import logging
import os
import stat
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crypsis as cr
from crypsis import cli
from crypsis.cli import run
from crypsis.protection import Key

ROWS = 400
PLANTED = [f"Planted{i:04d}" for i in range(ROWS)]
"""Names, which no output may hold."""
WORDS = ["Quinsy71", "Scrofula72", "Dropsy73"]
"""Diseases, which only the release itself may hold."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("out", "tmp", "keys"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "keys"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("CRYPSIS_DEBUG", raising=False)
    rng = np.random.default_rng(2)
    pd.DataFrame(
        {
            "name": PLANTED,
            "mail": [f"{name}@example.org" for name in PLANTED],
            "age": rng.integers(18, 60, ROWS),
            "zip": rng.integers(10, 16, ROWS),
            "note": [f"spoke to {name}" for name in PLANTED],
            "disease": rng.choice(WORDS, ROWS),
        }
    ).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


ROLES = [
    "--id",
    "name",
    "--id",
    "mail",
    "--id",
    "note",
    "--qi",
    "age",
    "--qi",
    "zip",
    "--sensitive",
    "disease",
]


def secrets_in(text: str, *, words: bool = True) -> list[str]:
    return [secret for secret in (*PLANTED, *(WORDS if words else [])) if secret in text]


VERBS = {
    "scan": ["scan", "DATA", "-o", "OUT/scan.html", "--save", "OUT/roles.toml"],
    "scan as JSON": ["scan", "DATA", "--json", "-o", "OUT/scan.json"],
    "assess as HTML": [
        "assess",
        "--person",
        "each record",
        "DATA",
        *ROLES,
        "-o",
        "OUT/report.html",
        "--no-try",
    ],
    "assess as Markdown": [
        "assess",
        "--person",
        "each record",
        "DATA",
        *ROLES,
        "-o",
        "OUT/report.md",
        "--no-try",
        "--md",
    ],
    "assess as JSON": [
        "assess",
        "--person",
        "each record",
        "DATA",
        *ROLES,
        "-o",
        "OUT/report.json",
        "--no-try",
        "--json",
    ],
    "assess with guesses": [
        "assess",
        "--person",
        "each record",
        "DATA",
        "--accept-guesses",
        "--no-try",
        "--json",
    ],
    "leak": ["leak", "DATA", "--target", "disease", "--given", "age", "-o", "OUT/leak.json"],
    "leak as JSON": ["leak", "DATA", "--target", "disease", "--given", "age", "--json"],
    "compare": ["compare", "DATA", "DATA", "--column", "age", "--column", "zip", "--json"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_no_value_in_what_is_said_or_written(
    verb: str, home: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    places = {"DATA": str(home / "people.csv"), "OUT": str(home / "out")}
    words = [w.replace("OUT", places["OUT"]) if "/" in w else places.get(w, w) for w in VERBS[verb]]
    with caplog.at_level(logging.DEBUG):
        assert run(words) in (0, 1, 4)
    said = capfd.readouterr()
    written = [path.read_text() for path in (home / "out").iterdir()]
    for text in (said.out, said.err, caplog.text, *written):
        assert secrets_in(text) == []


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_release_holds_what_was_planned_and_nothing_else(
    home: Path, capfd: pytest.CaptureFixture[str], suffix: str
) -> None:
    out = home / "out" / f"safe{suffix}"
    command = [
        "anonymize",
        "--person",
        "each record",
        str(home / "people.csv"),
        "-o",
        str(out),
        "--k",
        "5",
        *ROLES,
    ]
    assert run([*command, "--save-plan", str(home / "out" / "plan.toml")]) == 0
    said = capfd.readouterr()
    assert secrets_in(said.out + said.err) == []
    frame = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    assert list(frame.columns) == ["age", "zip", "disease"]
    for path in (home / "out").iterdir():
        content = path.read_bytes().decode("latin-1")
        assert secrets_in(content, words=path != out) == [], path.name
    (key,) = (home / "keys").rglob("*.json")
    assert home / "out" not in key.parents


def test_keys_stay_with_their_owner(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = home / "out" / "safe.csv"
    command = [
        "anonymize",
        "--person",
        "each record",
        str(home / "people.csv"),
        "-o",
        str(out),
        "--k",
        "5",
        *ROLES,
    ]
    before = os.umask(0)
    try:
        assert run([*command, "--method", "name=pseudonym", "--method", "age=noise:0.2"]) == 0
    finally:
        os.umask(before)
    (path,) = (home / "keys").rglob("*.json")
    key = Key.load(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not out.is_relative_to(path.parent)
    told = capfd.readouterr()
    texts = [told.out, told.err, *(file.read_text() for file in (home / "out").iterdir())]
    assert key.pseudonyms["name"]
    for text in texts:
        assert key.pseudonyms["name"] not in text
        assert str(key.seed) not in text
        assert secrets_in(text, words=False) == []
    for file in (home / "out").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o022 == 0, "nobody else may change a release"
    assert repr(key) == "Key(...)"


def test_an_internal_fault_quotes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from crypsis.tables.arrow import TableRows

    def broken(*_: object, **__: object) -> None:
        raise ValueError(f"cannot convert {PLANTED[3]}")

    monkeypatch.setattr(TableRows, "tally", broken)
    assert run(["scan", str(home / "people.csv")]) == cli.FAULT
    said = capfd.readouterr()
    assert "ValueError at test_privacy.py" in said.err
    assert "Traceback" not in said.err
    assert secrets_in(said.err + said.out) == []


def test_temporary_files_are_private_and_say_nothing(home: Path) -> None:
    path = home / "people.csv"
    recoded = home / "people16.csv"
    recoded.write_bytes(path.read_text().encode("utf-16"))
    release = cr.read(recoded, encoding="utf-16", memory_limit="50MB")
    assert release.count == ROWS
    found = sorted((home / "tmp").rglob("*"))
    assert {one.name.split("-")[1] for one in (home / "tmp").iterdir()} == {"spill", "recoded"}
    for one in found:
        assert secrets_in(one.name) == []
        assert not any(name in one.name for name in ("people", "disease", "age"))
    for one in (home / "tmp").iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
    import gc

    del release
    gc.collect()
    assert list((home / "tmp").iterdir()) == []


def test_results_do_not_show_values_unless_asked(home: Path) -> None:
    release = cr.read(
        home / "people.csv",
        identifiers=["name", "mail", "note"],
        quasi_identifiers=["age", "zip"],
        sensitive=["disease"],
        person="each record",
    )
    for found in (
        cr.inference.leakage(release, "disease", ["age"]),
        cr.inference.attribute_disclosure(release),
        cr.singling_out.equivalence_classes(release),
        cr.assess(release),
    ):
        shown = [str(found), repr(found), found._repr_html_(), json.dumps(found.to_dict(), default=str)]
        for text in shown:
            assert secrets_in(text) == []


FORMULAS = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=x", "'=1", "''=1", "plain", "5-3", None, ""]


def test_formulas_are_neutralized_on_request(tmp_path: Path) -> None:
    frame = pd.DataFrame({"=who": FORMULAS, "n": range(-5, 6)})
    cr.Dataset.from_frame(frame).write(tmp_path / "raw.csv")
    cr.Dataset.from_frame(frame).write(tmp_path / "safe.csv", neutralize_formulas=True)
    raw = pd.read_csv(tmp_path / "raw.csv", keep_default_na=False)
    safe = pd.read_csv(tmp_path / "safe.csv", keep_default_na=False)
    assert raw["=who"].tolist()[:5] == FORMULAS[:5]
    assert safe.columns.tolist() == ["'=who", "n"]
    texts = safe["'=who"].tolist()
    assert texts == ["'=1+1", "'+cmd", "'-2+3", "'@SUM(A1)", "'\t=x", "''=1", "'''=1", "plain", "5-3", "", ""]
    assert safe["n"].tolist() == list(range(-5, 6)), "numbers stay numbers"
    with pytest.raises(cr.CrypsisError, match="CSV only"):
        cr.Dataset.from_frame(frame).write(tmp_path / "x.parquet", neutralize_formulas=True)


def test_formulas_in_an_anonymized_release(tmp_path: Path) -> None:
    path, out = tmp_path / "data.csv", tmp_path / "safe.csv"
    path.write_text("-job,age\n" + "=cook,5\n@smith,6\n" * 20 + "=cook,5\n")
    command = [
        "anonymize",
        "--person",
        "each record",
        str(path),
        "-o",
        str(out),
        "--k",
        "5",
        "--qi",
        "-job",
        "--qi",
        "age",
    ]
    assert run([*command, "--key", str(tmp_path / "k.json"), "--neutralize-formulas"]) == 0
    safe = pd.read_csv(out)
    assert set(safe["'-job"]) == {"'=cook", "'@smith"}
    assert "formulas neutralized" in (tmp_path / "safe.csv.statement.json").read_text()
