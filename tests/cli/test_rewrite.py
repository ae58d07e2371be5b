"""`crypsis rewrite`: ordinary files of others have an honest way to a verdict."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import jsonschema
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crypsis.cli import run
from crypsis.schemas import schema

PEOPLE = pd.DataFrame(
    {
        "age": [f"{10 * (n % 3) + 30}-{10 * (n % 3) + 39}" for n in range(600)],
        "sex": ["fm"[n // 3 % 2] for n in range(600)],
        "disease": [("flu", "gout", "asthma", "none")[n // 6 % 4] for n in range(600)],
    }
)
ROLES = ["--qi", "age", "--qi", "sex", "--sensitive", "disease", "--person", "each record", "--no-try"]
HINT = re.compile(r"`(crypsis\s+rewrite\s.*?)`", re.DOTALL)


def assessed(capsys: pytest.CaptureFixture[str], path: str, *words: str) -> tuple[int, list[str]]:
    """The status, and the command that makes the clean copy."""
    status = run(["assess", path, *ROLES, *words])
    text = capsys.readouterr().out
    return status, [" ".join(found.split()) for found in HINT.findall(text)]


def _sqlite(path: str) -> None:
    with closing(sqlite3.connect(path)) as base:
        PEOPLE.to_sql("my people", base, index=False)


def _view(path: str) -> None:
    with duckdb.connect(path) as base:
        base.register("given", PEOPLE)
        base.execute("create table people as select * from given")
        base.execute('create view "my people" as select * from people')


WITH_DETOUR: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "by pandas.xlsx": (lambda p: PEOPLE.to_excel(p, index=False, sheet_name="the people"), []),
    "other sheet.xlsx": (
        lambda p: PEOPLE.to_excel(p, index=False, sheet_name="the people"),
        ["--sheet", "the people"],
    ),
    "people.dta": (lambda p: PEOPLE.to_stata(p, write_index=False), ["--missing", "wildcard"]),
    "polars.arrow": (lambda p: pl.from_pandas(PEOPLE).write_ipc(p), []),
    "people.sqlite": (_sqlite, ["--table", "my people"]),
    "view.duckdb": (_view, ["--table", "my people"]),
    "people.csv.zst": (lambda p: PEOPLE.to_csv(p, index=False, compression="zstd"), []),
    "key.parquet": (
        lambda p: pq.write_table(
            pa.Table.from_pandas(PEOPLE).replace_schema_metadata({"who": "Anna Smith"}), p
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", WITH_DETOUR)
def test_the_command_that_is_shown_leads_to_a_verdict(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """First "cannot tell"; the command, pasted, writes a file that is judged."""
    monkeypatch.chdir(tmp_path)
    write, words = WITH_DETOUR[name]
    write(name)
    status, commands = assessed(capsys, name, *words)
    assert status == 4
    command = shlex.split(commands[0])
    assert command[-1] == "clean.parquet"
    assert run(command[1:]) == 0
    assert "600 rows" in capsys.readouterr().out
    assert assessed(capsys, "clean.parquet") == (0, [])
    assert pq.read_table("clean.parquet").to_pydict() == PEOPLE.to_dict("list")
    assert b"Anna" not in Path("clean.parquet").read_bytes()


WITHOUT_DETOUR: dict[str, Callable[[str], object]] = {
    "pandas.csv": lambda p: PEOPLE.to_csv(p, index=False),
    "R.csv": lambda p: PEOPLE.to_csv(p, index=False, quoting=2),
    "excel.csv": lambda p: PEOPLE.to_csv(
        p, index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n"
    ),
    "pandas.csv.gz": lambda p: PEOPLE.to_csv(p, index=False),
    "pandas.parquet": PEOPLE.to_parquet,
    "polars.parquet": lambda p: pl.from_pandas(PEOPLE).write_parquet(p),
    "duckdb.parquet": lambda p: duckdb.from_df(PEOPLE).write_parquet(p),
    "pandas.feather": PEOPLE.to_feather,
    "lines.jsonl": lambda p: PEOPLE.to_json(p, orient="records", lines=True),
}


@pytest.mark.parametrize("name", WITHOUT_DETOUR)
def test_text_and_parquet_are_judged_as_they_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    WITHOUT_DETOUR[name](name)
    assert assessed(capsys, name) == (0, [])


@pytest.mark.parametrize("suffix", [".xlsx", ".sqlite", ".duckdb", ".dta", ".sav", ".arrow", ".csv.zst"])
def test_a_release_of_crypsis_is_judged_without_a_detour(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the digest in its statement, or in the record of the clean copy; not by its name."""
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    words = [word for word in ROLES if word != "--no-try"]
    assert run(["anonymize", "people.csv", *words, "--k", "5", "-o", f"safe{suffix}", "--key", "k.json"]) == 0
    assert run(["rewrite", "people.csv", "-o", f"clean{suffix}"]) == 0
    capsys.readouterr()
    for name in (f"safe{suffix}", f"clean{suffix}"):
        assert assessed(capsys, name) == (0, []), name
    Path(f"clean{suffix}.record.json").unlink()
    Path(f"safe{suffix}.statement.json").unlink()
    if suffix != ".arrow":  # which is what writing its table anew gives
        for name in (f"safe{suffix}", f"clean{suffix}"):
            status, commands = assessed(capsys, name)
            assert (status, len(commands) > 0) == (4, True), name


def test_the_json_and_the_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "people.xlsx", tmp_path / "clean.sqlite"
    PEOPLE.assign(born=pd.Timestamp("1970-01-02")).to_excel(source, index=False)
    assert run(["rewrite", str(source), "-o", str(target), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    jsonschema.validate(content, schema("rewrite"))
    assert (content["result"]["rows"], len(content["result"]["notes"])) == (600, 1)
    for words, said in (
        ([str(source), "-o", str(target)], "--force"),
        ([str(source), "-o", str(tmp_path / "clean.doc")], "names no format"),
        ([str(source), "-o", str(tmp_path / "no" / "clean.csv")], "does not exist"),
        ([str(tmp_path / "nothing.csv"), "-o", str(tmp_path / "x.csv")], "does not exist"),
        ([str(source), "-o", str(tmp_path / "x.csv"), "--table", "x"], "table"),
        ([str(source)], "--output"),
    ):
        assert run(["rewrite", *words]) == 2, words
        assert said in capsys.readouterr().err
    assert run(["rewrite", str(source), "-o", str(target), "--force"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "clean.sqlite",
        "clean.sqlite.record.json",
        "people.xlsx",
    ]
