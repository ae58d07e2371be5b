"""Ordinary files, as the usual programs write them, contain nothing besides their table."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from openpyxl.styles import Font, PatternFill

import crypsis as cr
from crypsis.options import ReadOptions
from crypsis.tables.contents import list_contents, list_titles

ROWS = 700
FRAME = pd.DataFrame(
    {
        "band": ["30-39", "40-49", "x, y", 'a "quoted" word', "two\nlines", None, "é/ü"] * (ROWS // 7),
        "n": [1, 2, 3, 4, 5, 6, 7] * (ROWS // 7),
        "score": [0.5, 1.25, None, 3.0, 0.1, 7.0, 1e-5] * (ROWS // 7),
    }
)
RECORDS = [{k: v for k, v in row.items() if v == v} for row in FRAME.to_dict("records")]


def found(path: Path, form: str, **reading: str) -> list[str]:
    return [one.name for one in list_contents(form, [str(path)], str(path), ReadOptions(**reading))]


WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "pandas csv": ("csv", lambda p: FRAME.to_csv(p, index=False)),
    "all in quotes": ("csv", lambda p: FRAME.to_csv(p, index=False, quoting=csv.QUOTE_ALL)),
    "texts in quotes": ("csv", lambda p: FRAME.to_csv(p, index=False, quoting=csv.QUOTE_NONNUMERIC)),
    "R csv": ("csv", lambda p: p.write_text('"a","n"\n"x",1\nNA,NA\n"x,y",3\n"x",1\n')),
    "line ends of Windows": ("csv", lambda p: p.write_bytes(b'a,n\r\n"x,y",1\r\nz,2\r\n')),
    "arrow csv": ("csv", lambda p: pyarrow.csv.write_csv(pa.Table.from_pandas(FRAME), p)),
    "json lines": ("json", lambda p: FRAME.to_json(p, orient="records", lines=True)),
    "json array": ("json", lambda p: FRAME.to_json(p, orient="records", indent=2)),
    "json without absent keys": (
        "json",
        lambda p: p.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in RECORDS)),
    ),
    "pandas parquet": ("parquet", lambda p: FRAME.to_parquet(p)),
    "arrow parquet": (
        "parquet",
        lambda p: pq.write_table(
            pa.Table.from_pandas(FRAME), p, row_group_size=100, write_page_index=True, compression="zstd"
        ),
    ),
    "duckdb parquet": ("parquet", lambda p: duckdb.from_df(FRAME).write_parquet(str(p))),
    "excel": ("excel", lambda p: _book(p)),
}


def _book(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["band", "n", "day"])
    for place in range(60):
        sheet.append(["30-39", place % 3, date(2020, 1, 1)])
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDDDDD")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = "A1:C61"
    sheet.column_dimensions["A"].width = 30
    sheet.row_dimensions[1].height = 30
    book.save(path)


@pytest.mark.parametrize("name", WRITERS)
def test_ordinary_files_are_clean(name: str, tmp_path: Path) -> None:
    form, write = WRITERS[name]
    path = tmp_path / f"data.{'xlsx' if form == 'excel' else form}"
    write(path)
    assert found(path, form) == []


@pytest.mark.parametrize("secure", ["on", "off"])
@pytest.mark.parametrize("index", ["", "create index ix_t_a on t(a)"])
def test_a_new_database_is_clean(secure: str, index: str, tmp_path: Path) -> None:
    draw = random.Random(7)
    path = tmp_path / "data.sqlite"
    base = sqlite3.connect(path)
    base.execute(f"pragma secure_delete = {secure}")
    base.execute("create table t (a text not null, b integer, c real)")
    if index:
        base.execute(index)
    long = "y" * 9_000
    rows = [(f"v{draw.random()}" if i else long, i, i / 3) for i in range(3_000)]
    base.executemany("insert into t values (?, ?, ?)", rows)
    base.commit()
    assert found(path, "sqlite") == []
    base.execute("vacuum")
    base.close()
    assert found(path, "sqlite") == []


def test_deleted_rows_are_found_and_removed_by_vacuum(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    base = sqlite3.connect(path)
    base.execute("pragma secure_delete = off")
    base.execute("create table t (a text)")
    base.executemany("insert into t values (?)", [(f"Anna Smith {i}",) for i in range(300)])
    base.execute("delete from t where rowid > 290")
    base.commit()
    assert found(path, "sqlite") == ["deleted-rows"]
    base.execute("vacuum")
    base.close()
    assert found(path, "sqlite") == []


def test_a_new_duckdb_file_is_clean(tmp_path: Path) -> None:
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as base:
        base.register("frame", FRAME)
        base.execute("create table t as select * from frame")
    assert found(path, "duckdb") == []
    assert "t" in list_titles("duckdb", [str(path)], str(path), ReadOptions())


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_is_written_is_clean(form: str, tmp_path: Path) -> None:
    data = pa.table(
        {
            "age": [20 + i % 50 for i in range(600)],
            "sex": ["f", "m"] * 300,
            "disease": ["flu", "gout", "a, b"] * 200,
        }
    )
    made = cr.anonymize(
        data, k=5, quasi_identifiers=["age", "sex"], sensitive=["disease"], person="each record"
    )
    made.data.write(tmp_path / f"out.{form}")
    assert found(tmp_path / f"out.{form}", form) == []


def test_a_timestamp_in_nanoseconds_is_counted() -> None:
    """A nonzero nanosecond is no fault of the file."""
    times = pa.array([1_600_000_000_000_000_000 + (i == 5) for i in range(60)], pa.timestamp("ns"))
    data = pa.table({"t": times, "disease": ["flu", "gout", "none"] * 20})
    found = cr.assess(data, quasi_identifiers=["t"], sensitive=["disease"], person="each record")
    assert found.verdict.value == "not safe"


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("anna.smith@example.org", "email addresses"),
        ("078-05-1120", "social security numbers"),
        ("Anna Smith rated", "names of people"),
    ],
)
def test_names_of_columns_are_searched(name: str, noun: str) -> None:
    sign = cr.columns.roles.identifier_in(name)
    assert sign is not None
    assert sign.noun == noun


@pytest.mark.parametrize(
    "name",
    [
        "age_group",
        "max_white_cells",
        "mark price",
        "jan_brown_coal",
        "Grace period",
        "2019-20",
        "hours-per-week",
    ],
)
def test_ordinary_names_have_no_identifier(name: str) -> None:
    assert cr.columns.roles.identifier_in(name) is None
