"""The command line: streams, missing extras, options given twice, help that reads well."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.cli.commands import Application
from crypsis.extras import MODULES

ROLES = "--id Nr --qi Geburt --qi Geschlecht --insensitive Größe".split()


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    rows = "".join(
        f"{i};{150 + i % 2},5;{1 + i % 3:02d}.03.1953;{'männlich' if i % 2 else 'weiblich'}\n"
        for i in range(60)
    )
    path = tmp_path / "patients.csv"
    path.write_bytes(f"Nr;Größe;Geburt;Geschlecht\n{rows}".encode("cp1252"))
    return path


def test_from_standard_input_to_standard_output(patients: Path, tmp_path: Path) -> None:
    words = [
        "anonymize",
        "--person",
        "each record",
        "-",
        "-o",
        "-",
        "--k",
        "5",
        "--key",
        str(tmp_path / "k.json"),
        *ROLES,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "crypsis", *words],
        input=patients.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode("cp1252").splitlines()
    assert lines[0] == "Größe;Geburt;Geschlecht"
    assert len(lines) == 61
    assert b"Re-identification risk" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.json", "patients.csv"]


def test_the_output_without_a_suffix(patients: Path, tmp_path: Path) -> None:
    target = tmp_path / "release"
    key = str(tmp_path / "k.json")
    assert (
        run(
            [
                "anonymize",
                "--person",
                "each record",
                str(patients),
                "-o",
                str(target),
                "--k",
                "5",
                "--key",
                key,
                *ROLES,
            ]
        )
        == 0
    )
    assert target.read_bytes().decode("cp1252").startswith("Größe;Geburt;Geschlecht")


def test_to_another_machine(patients: Path, tmp_path: Path) -> None:
    import fsspec

    words = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        "memory://box/safe.csv",
        "--k",
        "5",
        *ROLES,
    ]
    assert run([*words, "--key", str(tmp_path / "k.json")]) == 0
    sent = fsspec.filesystem("memory").cat("memory://box/safe.csv")
    assert sent.decode("cp1252").startswith("Größe;Geburt")
    assert run([*words, "--key", str(tmp_path / "k2.json")]) == 2  # it exists already
    assert not (tmp_path / "k2.json").exists()
    assert run([*words, "--key", str(tmp_path / "k2.json"), "--force"]) == 0


def test_an_option_given_twice(patients: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "anonymize",
                "--person",
                "each record",
                str(patients),
                "-o",
                "a.csv",
                "--output",
                "b.csv",
                *ROLES,
            ]
        )
        == 2
    )
    assert "given 2 times" in capsys.readouterr().err
    assert run(["scan", str(patients), "--json", "--json"]) == 0  # a flag says the same again


@pytest.mark.parametrize("module", [*MODULES])
def test_a_missing_extra_is_named(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever it is imported, the message names the extra, with status 2."""

    def fail(*_: Any, **__: Any) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=f"{module}.inner")

    monkeypatch.setattr(Application, "__call__", fail)
    assert run(["policy", "list"]) == 2
    assert f"crypsis[{MODULES[module]}]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (["serve"], "fastapi"),
        (["serve"], "uvicorn"),
        (["scan", "t.xlsx"], "python_calamine"),
        (["scan", "t.dta"], "pyreadstat"),
        (["scan", "memory://t.csv"], "fsspec"),
        (["scan", "s3://box/t.csv"], "fsspec"),
        (["scan", "delta"], "deltalake"),
        (["scan", "iceberg"], "pyiceberg"),
        (["scan", "postgresql://nowhere/x"], "adbc_driver_postgresql.dbapi"),
        (["scan", "t.csv", "--engine", "spark"], "pyspark"),
    ],
)
def test_each_extra(
    words: list[str],
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("t.xlsx", "t.dta", "t.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    (tmp_path / "delta" / "_delta_log").mkdir(parents=True)
    (tmp_path / "iceberg" / "metadata").mkdir(parents=True)
    (tmp_path / "iceberg" / "metadata" / "v1.metadata.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    assert run(words) == 2
    error = capsys.readouterr().err
    extra = MODULES[module.split(".")[0]]
    assert f"crypsis[{extra}]" in error
    assert ("pip install 'crypsis[cloud]' s3fs" in error) == ("s3://box/t.csv" in words)
    assert "internal fault" not in error


def test_outputs_that_are_folders(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["anonymize", "--person", "each record", "--k", "5", *ROLES],
        ["assess", "--person", "each record", *ROLES],
    ):
        assert run([command[0], str(patients), *command[1:], "-o", str(tmp_path)]) == 2
        assert "is a folder, not a file. Add the name of a file" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["-o", "out.csv"], ["--explore"]])
def test_classes_of_no_records(patients: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["anonymize", "--person", "each record", str(patients), "--k", "0", *ROLES, *more]) == 2
    assert "Parameter 'k' is 0; it must be greater than or equal to 1" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.zst", ".jsonl", ".xlsx", ".parquet", ".dta"])
def test_every_format_on_standard_input(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{suffix}"
    cr.Dataset.from_frame(pa.table({"age": [20, 30], "sex": ["f", "m"]})).write(path)
    done = subprocess.run(
        [sys.executable, "-m", "crypsis", "scan", "-"],
        input=path.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"2 records, 2 columns" in done.stdout


def test_standard_input_that_is_empty() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crypsis", "scan", "-"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "Standard input is empty.\n")


def test_installed_completion(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "crypsis", "--install-completion", "bash"]
    told = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(words, env={**os.environ, **told}, check=False)
    assert done.returncode == 0
    assert list(tmp_path.rglob("*.sh"))


def test_help_without_the_names_of_types(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["anonymize", "--help"], ["attack", "--help"], ["scan", "-h"]):
        assert run(words) == 0
        text = capsys.readouterr().out
        assert not re.search(r"<(bool|str|path|int|float)>", text)


def test_help_is_as_wide_as_the_terminal() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crypsis", "assess", "--help"],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    prose = done.stdout.partition("╭")[0].splitlines()
    assert " that a pipeline stops on any but 'safe'. Ctrl-C shows what is known by then," in (
        line.rstrip() for line in prose
    )


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("anon", "anonymize"),
        ("assess x.csv --policy hipaa-s", "hipaa-safe-harbor"),
        ("scan x.csv --missing w", "wildcard"),
        ("anonymize x.csv --recoding s", "subtree"),
    ],
)
def test_completion(typed: str, completed: str) -> None:
    start = "import sys; sys.argv = ['crypsis']; from crypsis.cli import main; main()"
    asked = {
        "_CRYPSIS_COMPLETE": "complete_bash",
        "COMP_WORDS": f"crypsis {typed}",
        "COMP_CWORD": str(len(typed.split())),
    }
    done = subprocess.run(
        [sys.executable, "-c", start],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [completed]


@pytest.mark.parametrize("given", ["-5", "0", "1.5"])
def test_a_population_that_is_none(patients: Path, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "--person", "each record", str(patients), "--population", given, *ROLES]) == 2
    assert "whole number, at least 1" in capsys.readouterr().err


def test_names_are_for_one_file(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    first.write_text("1,x\n2,y\n" * 20)
    second.write_text("n,s\n" + "1,x\n2,y\n" * 20)
    third.write_text("1,x\n2,y\n" * 20)
    words = ["--names", "n,s", "--qi", "n", "--insensitive", "s", "--json"]
    for other in (second, third):
        status = run(["assess", "--person", "each record", str(first), "--original", str(other), *words])
        assert status in (0, 1, 4)


def test_standard_input_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert run(["scan", "-"]) == 2
    assert "terminal" in capsys.readouterr().err


def test_a_frame_of_labels_has_roles_by_their_texts() -> None:
    data = cr.Dataset.from_frame(pa.table({"0": [1, 1]}), quasi_identifiers=0)  # type: ignore[arg-type]
    assert data.quasi_identifiers == ("0",)


def test_a_release_as_a_table_of_a_server(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The password of the address is nowhere in what is printed; a table that exists is kept."""
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{20 + i % 4},1010{i % 3}" for i in range(60))
    Path("people.csv").write_text(f"age,zip\n{rows}\n")
    place = postgres.replace("tester@", "tester:hunter2@") + "#from_command"
    command = [
        "anonymize",
        "--person",
        "each record",
        "people.csv",
        "--qi",
        "age",
        "--qi",
        "zip",
        "--k",
        "5",
        "-o",
        place,
    ]
    assert run(command) == 0
    shown = capsys.readouterr()
    assert "#from_command" in shown.out
    assert "hunter2" not in shown.out + shown.err
    assert not [file for file in tmp_path.iterdir() if "hunter2" in file.name]
    assert run([*command, "--key", "other.json"]) == 2
    assert "Table 'from_command' exists already." in capsys.readouterr().err
    assert run([*command, "--key", "other.json", "--force"]) == 0
    assert run([*command[:-1], postgres, "--key", "third.json"]) == 2
    assert "names no table" in " ".join(capsys.readouterr().err.split())
