"""Ordinary files, as the usual programs write them, contain nothing besides their table."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat
import pytest
from openpyxl.styles import Font, PatternFill

import crypsis as cr
from crypsis.options import ReadOptions
from crypsis.tables.contents import list_contents

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
    "polars parquet": ("parquet", lambda p: pl.from_pandas(FRAME).write_parquet(p)),
    "Excel csv": ("csv", lambda p: p.write_bytes('\ufeffa;n\r\n"x;y";1,5\r\nz;2\r\n'.encode())),
    "texts of R in quotes": ("csv", lambda p: p.write_text('"","a"\n"1","x"\n"2",NA\n"3","x"\n')),
    "a plain feather": ("arrow", lambda p: pyarrow.feather.write_feather(pa.table({"a": [1, 2]}), p)),
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
    path = tmp_path / f"data.{form}"
    write(path)
    assert found(path, form) == []


FEW = pd.DataFrame({"age": [30, 41] * 30, "sex": ["f", "m"] * 30})


def _duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as base:
        base.register("frame", FEW)
        base.execute("create table t as select * from frame")


def _sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        FEW.to_sql("t", base, index=False)


CONTAINERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "openpyxl.xlsx": ("excel", lambda p: _book(p)),
    "pandas.xlsx": ("excel", lambda p: FEW.to_excel(p, index=False)),
    "sqlite.sqlite": ("sqlite", _sqlite),
    "duckdb.duckdb": ("duckdb", _duckdb),
    "pandas.dta": ("stata", lambda p: FEW.to_stata(p, write_index=False)),
    "pyreadstat.sav": ("spss", lambda p: pyreadstat.write_sav(FEW, str(p))),
    "polars.arrow": ("arrow", lambda p: pl.from_pandas(FEW).write_ipc(p)),
}
"""Formats that can hold what no table shows, as ordinary programs write them."""


@pytest.mark.parametrize("name", CONTAINERS)
def test_of_a_container_it_is_not_known_what_it_holds(name: str, tmp_path: Path) -> None:
    form, write = CONTAINERS[name]
    path, copy = tmp_path / name, tmp_path / f"clean-{name}"
    write(path)
    assert found(path, form) == [f"format:{form}"]
    before = cr.read(path).to_arrow().to_pydict()
    cr.rewrite(path, copy)
    assert cr.read(copy).to_arrow().to_pydict() == before
    assert found(copy, form) == []


def test_a_record_is_about_the_bytes(tmp_path: Path) -> None:
    """A file that was changed, or whose database has a log beside it, is not the one of the record."""
    _sqlite(tmp_path / "t.sqlite")
    path = tmp_path / "clean.sqlite"
    cr.rewrite(tmp_path / "t.sqlite", path)
    assert found(path, "sqlite") == []
    (tmp_path / "clean.sqlite-wal").write_bytes(b"rows")
    assert found(path, "sqlite") == ["format:sqlite"]
    (tmp_path / "clean.sqlite-wal").unlink()
    with closing(sqlite3.connect(path)) as base:
        base.execute("create table people (name text)")
    assert found(path, "sqlite") == ["format:sqlite"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "crypsis record 1"}', '{"sha256": 1}', "\x80"])
def test_what_is_no_record_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    _book(path)
    (tmp_path / "t.xlsx.record.json").write_text(text, encoding="latin-1")
    assert found(path, "excel") == ["format:excel"]


@pytest.mark.parametrize(
    "key",
    ["patients", "geo", "org.apache.spark.sql.parquet.row.metadata", "pandas", "org.apache.spark.version"],
)
def test_keys_that_say_more_than_types(key: str, tmp_path: Path) -> None:
    """Also those of known writers, where they name other columns or have more to say."""
    path, copy = tmp_path / "t.parquet", tmp_path / "clean.parquet"
    value = {
        "pandas": '{"columns": [{"name": "Anna Smith", "field_name": "age"}], "index_columns": []}',
        "org.apache.spark.sql.parquet.row.metadata": '{"type": "struct", "fields": [{"name": "age", '
        '"type": "long", "nullable": true, "metadata": {"ml_attr": {"vals": ["Anna Smith"]}}}]}',
    }.get(key, "Anna Smith, " * 10)
    table = pa.table({"age": [30, 41] * 30}).replace_schema_metadata({key: value})
    pq.write_table(table, path)
    assert found(path, "parquet") == [f"metadata:{key}"]
    cr.rewrite(path, copy)
    assert found(copy, "parquet") == []
    assert b"Anna" not in copy.read_bytes()


def test_the_keys_of_spark_are_those_of_a_known_writer(tmp_path: Path) -> None:
    fields = [
        {"name": "age", "type": "long", "nullable": True, "metadata": {}},
        {
            "name": "codes",
            "type": {"type": "array", "elementType": "string", "containsNull": True},
            "nullable": True,
            "metadata": {},
        },
    ]
    keys = {
        "org.apache.spark.version": "4.0.1",
        "org.apache.spark.sql.parquet.row.metadata": json.dumps({"type": "struct", "fields": fields}),
        "org.apache.spark.timeZone": "Europe/Berlin",
    }
    table = pa.table({"age": [30, 41], "codes": [["a"], ["b", "c"]]}).replace_schema_metadata(keys)
    pq.write_table(table, tmp_path / "t.parquet", write_page_index=True, use_dictionary=False)
    assert found(tmp_path / "t.parquet", "parquet") == []


@pytest.mark.parametrize("writer", ["pyarrow", "index", "polars", "duckdb"])
@pytest.mark.parametrize("more", [b"Anna Smith", b"\0"])
def test_bytes_between_the_parts_of_a_parquet_file(writer: str, more: bytes, tmp_path: Path) -> None:
    """Filters, indexes and copies of metadata are parts of the file; other bytes are not."""
    path = tmp_path / "t.parquet"
    if writer == "polars":
        pl.from_pandas(FEW).write_parquet(path)
    elif writer == "duckdb":
        duckdb.from_df(FEW).write_parquet(str(path))
    else:
        table = pa.Table.from_pandas(FEW, preserve_index=False)
        pq.write_table(table, path, write_page_index=writer == "index", bloom_filter_options={"age": True})
    assert found(path, "parquet") == []
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:start] + more + content[start:])
    assert len(cr.read(path).to_arrow()) == 60
    assert found(path, "parquet") == ["bytes:t.parquet"]


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
