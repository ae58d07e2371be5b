"""Remains in files: deleted rows, gaps between parts, numbers of rows, definitions."""

from __future__ import annotations

import re
import sqlite3
import struct
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tests.promises.attacks.attackers import equal, found_in
from tests.promises.attacks.judge import clean_copy, command, flags
from tests.promises.attacks.people import ROLES, names, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Remains in files")
scenario = SCENARIOS.add
COLUMNS = "age text, sex text, disease text"


def _judged(path: Path) -> str:
    return command("assess", "--person", "each record", path, "--no-try", *flags(**ROLES)).verdict


def _sqlite(
    path: Path, *more: str, columns: str = COLUMNS, table: str = "release", rows: pd.DataFrame | None = None
) -> Path:
    base = sqlite3.connect(path)
    base.execute("pragma secure_delete = off")
    base.execute(f'create table "{table}" ({columns})')
    values = (plain(600) if rows is None else rows).to_numpy().tolist()
    base.executemany(f'insert into "{table}" values (?, ?, ?)', values)
    base.commit()
    for sentence in more:
        base.execute(sentence)
    base.commit()
    base.close()
    return path


@scenario("searches the bytes of the file")
def unused_space_of_a_page(draw: Draw, folder: Path) -> Trial:
    """An SQLite file with names in the unused space of a page, as deleted rows leave them."""
    wanted = names(draw, 20)
    control = _sqlite(folder / "control.sqlite", rows=plain(60))
    content = bytearray(control.read_bytes())
    size = struct.unpack(">H", content[16:18])[0]
    cells, start = struct.unpack(">HH", content[size + 3 : size + 7])  # of the second page
    at, hidden = size + 8 + 2 * cells, "\0".join(wanted).encode()
    assert at + len(hidden) < size + start
    content[at : at + len(hidden)] = hidden
    (folder / "data.sqlite").write_bytes(content)
    return Trial(
        found_in(folder / "data.sqlite", wanted),
        _judged(folder / "data.sqlite"),
        control=_judged(clean_copy(folder / "data.sqlite")),
    )


@scenario("reads to the end of the file")
def bytes_after_a_database(draw: Draw, folder: Path) -> Trial:
    """An SQLite file with names after its last page."""
    wanted = names(draw, 600)
    path = _sqlite(folder / "data.sqlite")
    path.write_bytes(path.read_bytes() + "\n".join(wanted).encode())
    return Trial(found_in(path, wanted), _judged(path))


@scenario("has a register with the numbers")
def numbers_of_rows(draw: Draw, folder: Path) -> Trial:
    """An SQLite file in which the row number (rowid) is the number of the patient."""
    numbers = draw.permutation(1_000_000)[:600] + 1
    people = plain(600)
    base = sqlite3.connect(folder / "data.sqlite")
    base.execute(f"create table release ({COLUMNS})")
    rows = [(int(number), *row) for number, row in zip(numbers, people.to_numpy(), strict=True)]
    base.executemany("insert into release (rowid, age, sex, disease) values (?, ?, ?, ?)", rows)
    base.commit()
    seen = dict(base.execute("select rowid, disease from release"))
    base.close()
    claims = [seen[int(number)] for number in numbers]
    return Trial(equal(claims, people["disease"]), _judged(folder / "data.sqlite"))


@scenario("reads the definition of the table")
def comment_in_a_definition(draw: Draw, folder: Path) -> Trial:
    """An SQLite file whose table has a comment with names among its columns."""
    wanted = names(draw, 50)
    columns = f"{COLUMNS} /* {'; '.join(wanted)} */"
    path = _sqlite(folder / "data.sqlite", columns=columns)
    return Trial(found_in(path, wanted), _judged(path))


@scenario("reads the definition of the table")
def check_of_a_column(draw: Draw, folder: Path) -> Trial:
    """An SQLite file whose table has a check that lists names."""
    wanted = names(draw, 50)
    listed = ", ".join(f"'{one}'" for one in wanted)
    path = _sqlite(folder / "data.sqlite", columns=f"{COLUMNS} check (disease not in ({listed}))")
    return Trial(found_in(path, wanted), _judged(path))


@scenario("reads the names of the indexes")
def name_of_an_index(draw: Draw, folder: Path) -> Trial:
    """An SQLite file with indexes that are called by the names of patients."""
    wanted = names(draw, 20)
    path = _sqlite(
        folder / "data.sqlite", *(f'create index "{one} is here" on release(age)' for one in wanted)
    )
    return Trial(found_in(path, wanted), _judged(path), control=_judged(clean_copy(path)))


def _duckdb(path: Path, *more: str) -> Path:
    release = plain(600)  # noqa: F841 DuckDB reads the variable
    with duckdb.connect(str(path)) as base:
        base.execute("pragma force_compression = 'uncompressed'")
        base.execute("create table release as select * from release")
        for sentence in more:
            base.execute(sentence)
    return path


@scenario("searches the bytes of the file")
def dropped_table_of_a_database(draw: Draw, folder: Path) -> Trial:
    """A DuckDB file from which a table of names was dropped."""
    wanted = list(names(draw, 300))
    listed = ", ".join(f"('{one}')" for one in wanted)
    path = _duckdb(
        folder / "data.duckdb",
        "create table people (name text)",
        f"insert into people values {listed}",
        "checkpoint",
        "drop table people",
    )
    return Trial(found_in(path, wanted), _judged(path), control=_judged(clean_copy(path)))


@scenario("reads what is between the last page and the footer")
def bytes_before_the_footer(draw: Draw, folder: Path) -> Trial:
    """A Parquet file with names between its last page and its footer."""
    wanted = names(draw, 600)
    table = pa.Table.from_pandas(plain(600), preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, folder / "control.parquet")
    content = (folder / "control.parquet").read_bytes()
    at = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    hidden = "\n".join(wanted).encode()
    (folder / "data.parquet").write_bytes(content[:at] + hidden + content[at:])
    assert pq.read_table(folder / "data.parquet").equals(table)
    gap = (folder / "data.parquet").read_bytes()[at : at + len(hidden)].decode()
    return Trial(
        equal(re.split("\n", gap), wanted),
        _judged(folder / "data.parquet"),
        control=_judged(folder / "control.parquet"),
    )


@scenario("reads by whom the file was written")
def writer_of_a_parquet_file(draw: Draw, folder: Path) -> Trial:
    """A Parquet file that names a patient where its writer names itself."""
    table = pa.Table.from_pandas(plain(600), preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, folder / "control.parquet")
    own = pq.read_metadata(folder / "control.parquet").created_by.encode()
    wanted = names(draw, 1)[0][: len(own)]
    content = (folder / "control.parquet").read_bytes().replace(own, wanted.encode().ljust(len(own)))
    (folder / "data.parquet").write_bytes(content)
    found = pq.read_metadata(folder / "data.parquet").created_by.strip()
    return Trial(
        float(found == wanted), _judged(folder / "data.parquet"), control=_judged(folder / "control.parquet")
    )
