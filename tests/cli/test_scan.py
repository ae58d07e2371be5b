"""`crypsis scan` and `crypsis demo` from the command line: output, files, errors."""

from __future__ import annotations

import builtins
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from crypsis.cli import run
from tests.conftest import ADULT_COLUMNS
from tests.promises.commands import until

PEOPLE = (
    "ssn,name,age,zip,sex,disease\n"
    "900-12-3456,Ann Example,34,02138,f,flu\n"
    "900-12-3457,Bob Example,34,02139,m,gout\n"
    "900-12-3458,Cay Example,51,02138,f,flu\n"
    "900-12-3459,Dan Example,34,02138,f,hiv-secret\n"
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_scan_on_screen(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", str(people)]) == 0
    shown = capsys.readouterr().out
    assert "people.csv: 4 records, 6 columns" in shown
    assert "roles are guesses" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    for value in ("Ann", "900-12", "02138", "hiv-secret"):
        assert value not in shown


def test_a_reason_that_many_columns_have_is_given_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "survey.csv"
    names = [f"item_{number}" for number in range(9)]
    path.write_text("\n".join([",".join(names), *(",".join([f"{r % 5}"] * 9) for r in range(99))]))
    assert run(["scan", str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("the name does not indicate") == 1
    assert "item_2" in shown
    assert "and 6 more" in shown


def test_scan_as_json(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", str(people), "--json", "--qi", "age", "--sensitive", "disease"]) == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert found["verb"] == "scan"
    assert found["result"]["rows"] == 4
    columns = {column["column"]: column for column in found["result"]["columns"]}
    assert columns["age"]["role"] == "quasi-identifier"
    assert columns["age"]["guessed"] is False
    assert columns["ssn"]["role"] == "identifier"
    assert columns["ssn"]["guessed"] is True
    assert columns["age"]["distinct"] == 2
    assert columns["age"]["unique_rows"] == 1
    assert "hiv-secret" not in text
    pairs = {tuple(p["columns"]): p["singletons"] for p in found["result"]["most_identifying"]}
    assert pairs[("age", "zip")] == 2


def test_scan_twice_is_byte_identical(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["scan", str(people), "--json"])
    first = capsys.readouterr().out
    run(["scan", str(people), "--json"])
    assert capsys.readouterr().out == first


def test_roles_are_saved_edited_and_used(
    people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roles = tmp_path / "roles.toml"
    assert run(["scan", str(people), "--save", str(roles)]) == 0
    saved = tomllib.loads(roles.read_text())["roles"]
    assert saved["ssn"] == "identifier"
    roles.write_text(roles.read_text().replace(f'"{saved["zip"]}"', '"insensitive"'))
    capsys.readouterr()
    assert run(["scan", str(people), "--json", "--roles", str(roles)]) == 0
    found = json.loads(capsys.readouterr().out)["result"]["columns"]
    assert {column["guessed"] for column in found} == {False}
    assert next(column for column in found if column["column"] == "zip")["role"] == "insensitive"
    assert run(["scan", str(people), "--save", str(roles)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".html", ".json"])
def test_scan_into_a_file(
    people: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"scan{suffix}"
    assert run(["scan", str(people), "-o", str(output)]) == 0
    text = output.read_text()
    assert "disease" in text
    assert "hiv-secret" not in text
    assert run(["scan", str(people), "-o", str(output)]) == 2
    assert run(["scan", str(people), "-o", str(output), "--force"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan", "{folder}/none.csv"], "does not exist"),
        (["scan", "{folder}"], "folder without Parquet"),
        (["scan", "{people}", "--qi", "agee"], "did you mean 'age'?"),
        (["scan", "{people}", "--qi", "age", "--id", "age"], "has two roles"),
        (["scan", "{people}", "--roles", "{folder}/none.toml"], "none.toml"),
        (["scan", "{people}", "--missing", "ignore"], "'value', 'wildcard', 'drop'"),
        (["scan", "{people}", "--type", "age"], "COLUMN=TYPE"),
        (["scan", "{people}", "--names", "a,b"], "2 names were given"),
        (["scan", "{people}", "-o", "{folder}/x.pdf"], ".html or .json"),
        (["scan", "{people}", "-o", "{folder}/no/x.html"], "does not exist"),
        (["scan", "{people}", "--limit", "0"], "'limit' must be at least 1"),
        (["scan", "{people}", "--no-such-option"], "no-such-option"),
        (["scna", "{people}"], "scna"),
        (["scan"], "DATA"),
    ],
)
def test_mistakes_end_with_status_2_and_nothing_written(
    people: Path, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    filled = [part.format(people=people, folder=tmp_path) for part in arguments]
    assert run(filled) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_a_password_is_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", "postgresql://me:hunter2@127.0.0.1:1/db", "--table", "t"]) == 2
    captured = capsys.readouterr()
    assert "hunter2" not in captured.out + captured.err


def test_hostile_names_on_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    names = ["[bold]x[/bold]", "\x1b[31mred", "a\u202eb\u200bc", "n" * 300]
    path.write_text(",".join(names) + "\n1,2,3,4\n5,6,7,8\n", encoding="utf-8")
    assert run(["scan", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "[bold]x[/bold]" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_an_internal_fault_shows_no_data(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("value hiv-secret is odd")

    monkeypatch.setattr("crypsis.columns.profile.profile_columns", broken)
    assert run(["scan", str(people)]) == 3
    message = capsys.readouterr().err
    assert "internal fault (RuntimeError" in message
    assert "hiv-secret" not in message


def test_adult_from_the_command_line(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ",".join(ADULT_COLUMNS)
    assert run(["scan", str(data_folder / "adult" / "adult.data"), "--names", names, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert found["rows"] == 32561
    roles = {column["column"]: column["role"] for column in found["columns"]}
    assert roles["age"] == roles["sex"] == roles["race"] == "quasi-identifier"
    assert roles["income"] == "sensitive"
    age = next(column for column in found["columns"] if column["column"] == "age")
    assert (age["distinct"], age["unique_rows"]) == (73, 2)


@pytest.mark.heavy
def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    assert run(["demo", "-o", str(folder), "--rows", "2000"]) == 0
    shown = capsys.readouterr().out
    assert "2,000 records" in shown
    assert "dossier.html" in shown
    assert {"people.csv", "released.csv", "dossier.html"} <= {p.name for p in folder.iterdir()}
    assert run(["demo", "-o", str(folder), "--rows", "2000"]) == 0


def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a long scan: status 130, nothing written."""
    import duckdb

    path = tmp_path / "long.parquet"
    duckdb.sql("SET enable_progress_bar = false")
    columns = ", ".join(f"hash(i + {k}) AS x{k}" for k in range(10))
    duckdb.sql(f"COPY (SELECT {columns} FROM range(3000000) t(i)) TO '{path}' (FORMAT parquet)")
    output, temporary = tmp_path / "scan.html", tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "crypsis", "scan", str(path), "-o", str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    until(lambda: any(temporary.glob("crypsis-spill-*")))  # the engine is at work
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130
    assert message.strip().endswith("Interrupted.")
    assert not output.exists()
    assert not any(temporary.iterdir())


def test_interrupted_while_libraries_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = builtins.__import__

    def load(name: str, *rest: Any) -> Any:
        if name == "crypsis.cli.app":
            raise KeyboardInterrupt
        return loaded(name, *rest)

    monkeypatch.setattr(builtins, "__import__", load)
    assert run(["scan", "people.csv"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_closed_pipe_gives_no_traceback(people: Path) -> None:
    command = f"'{sys.executable}' -m crypsis scan '{people}' | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, timeout=60)
    assert "Traceback" not in done.stderr
