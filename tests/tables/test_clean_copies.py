"""Tables written anew: no value, type or row is lost, and what a format does not have is said."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat
import pytest

import crypsis as cr
from crypsis.errors import OutputError, SourceError
from crypsis.files import digest
from crypsis.tables.canonical import is_canonical

SUFFIXES = (
    ".csv .csv.gz .csv.bz2 .csv.xz .csv.zst .tsv .parquet .jsonl .jsonl.gz .xlsx .arrow .feather "
    ".dta .sav .duckdb .sqlite"
).split()
N = 60
TABLE = pa.table(
    {
        "id": list(range(N, 0, -1)),
        "name": ['Zoë, "x"', "日本 =1+1", None, "two\nlines", "it's", " 007"[1:]] * (N // 6),
        "weight": [61.5, None, 1e-5, 70.25] * (N // 4),
        "smoker": [True, False, None] * (N // 3),
        "born": pa.array([None, datetime.date(1970, 1, 2)] * (N // 2)),
        "seen": pa.array([datetime.datetime(2020, 1, 2, 10, 5, 7), None, None] * (N // 3)),
    }
)
CSV = tuple(suffix for suffix in SUFFIXES if suffix.startswith((".csv", ".tsv")))
UNTYPED = {
    **{suffix: {"smoker"} for suffix in CSV},
    ".dta": {"smoker"},
    ".sav": {"smoker"},
    ".sqlite": {"smoker", "born", "seen"},
}
"""The columns of which a format does not have the type."""


def columns_named(notes: tuple[str, ...]) -> set[str]:
    return {note.split("'")[1] for note in notes}


def _as_held(value: Any, suffix: str) -> Any:
    """A value as a format has it that lacks its type."""
    if suffix in CSV:
        return str(value).lower()
    return int(value) if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_value_type_and_row_is_kept(tmp_path: Path, suffix: str) -> None:
    source, target = tmp_path / "source.parquet", tmp_path / f"clean{suffix}"
    pq.write_table(TABLE, source)
    copy = cr.rewrite(source, target)
    given = TABLE.to_pydict()
    for name in UNTYPED.get(suffix, ()):
        given[name] = [None if value is None else _as_held(value, suffix) for value in given[name]]
    back = cr.read(target)
    assert back.to_arrow().to_pydict() == given
    if suffix not in UNTYPED:
        assert [c.kind for c in back.rows.columns] == [c.kind for c in cr.read(source).rows.columns]
    assert columns_named(copy.notes) == UNTYPED.get(suffix, set())
    assert back.rows.contents is not None
    assert back.rows.contents() == ()
    assert is_canonical(str(target))
    record = json.loads((tmp_path / f"clean{suffix}.record.json").read_text())
    assert (record["sha256"], record["file"], record["rows"]) == (digest(target), target.name, N)
    assert (copy.sha256, copy.rows) == (record["sha256"], N)


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet", ".csv"])
def test_writing_twice_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    pq.write_table(TABLE, tmp_path / "source.parquet")
    copies = [
        cr.rewrite(tmp_path / "source.parquet", tmp_path / f"first{suffix}"),
        cr.rewrite(tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"),
    ]
    assert len({copy.sha256 for copy in copies}) == 1


@pytest.mark.parametrize(
    ("suffix", "column"),
    [
        (".sav", pa.array([{"x": 1}, None])),
        (".csv", pa.array([[1, 2], None])),
        (".xlsx", pa.array([" flu", "flu"])),
        (".jsonl", pa.array([b"\x01", b"\x02"])),
    ],
    ids=["record", "list", "blank", "bytes"],
)
def test_a_value_that_a_format_cannot_hold_is_an_error(tmp_path: Path, suffix: str, column: Any) -> None:
    pq.write_table(pa.table({"a": [1, 2], "secret": column}), tmp_path / "source.parquet")
    with pytest.raises(OutputError) as caught:
        cr.rewrite(tmp_path / "source.parquet", tmp_path / f"clean{suffix}")
    assert "flu" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.parquet"]


def test_texts_that_become_missing_values_are_said(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 3], "note": ["", "NA", "x"], "x": [float("nan"), 1.5, None]})
    pq.write_table(table, tmp_path / "source.parquet")
    assert cr.rewrite(tmp_path / "source.parquet", tmp_path / "clean.parquet").notes == ()
    copy = cr.rewrite(tmp_path / "source.parquet", tmp_path / "clean.jsonl")
    assert columns_named(copy.notes) == {"x"}
    copy = cr.rewrite(tmp_path / "source.parquet", tmp_path / "clean.csv")
    assert "note" in columns_named(copy.notes)


def test_durations_and_time_zones_are_kept_or_said(tmp_path: Path) -> None:
    columns = {
        "stay": pa.array([1, None], pa.duration("s")),
        "seen": pa.array([0, 1], pa.timestamp("us", "Europe/Berlin")),
    }
    pq.write_table(pa.table(columns), tmp_path / "source.parquet")
    assert cr.rewrite(tmp_path / "source.parquet", tmp_path / "clean.arrow").notes == ()
    assert pyarrow.feather.read_table(tmp_path / "clean.arrow").to_pydict() == pa.table(columns).to_pydict()
    copy = cr.rewrite(tmp_path / "source.parquet", tmp_path / "clean.duckdb")
    assert columns_named(copy.notes) == {"stay", "seen"}


def test_labels_of_columns_are_kept_or_said(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0] * 3})
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "source.sav"),
        column_labels={"sex": "Sex of the person"},
        variable_value_labels={"sex": {1: "male", 2: "female"}},
    )
    assert cr.rewrite(tmp_path / "source.sav", tmp_path / "clean.dta").notes == ()
    _, meta = pyreadstat.read_dta(str(tmp_path / "clean.dta"))
    assert meta.column_names_to_labels == {"sex": "Sex of the person"}
    copy = cr.rewrite(tmp_path / "source.sav", tmp_path / "clean.csv")
    assert "labels of the columns" in copy.notes[0]
    assert cr.read(tmp_path / "clean.csv").to_arrow()["sex"].to_pylist() == ["male", "female"] * 3


def test_a_csv_file_keeps_its_dialect(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    text = "\ufefforte;größe;tag\r\n" + "Köln;1,5;03.04.2020\r\nBonn;2,25;13.04.2020\r\n" * 20
    source.write_bytes(text.encode())
    cr.rewrite(source, tmp_path / "clean.csv")
    assert (tmp_path / "clean.csv").read_text(encoding="utf-8") == text.replace("\r\n", "\n")
    before, after = (cr.read(path).to_arrow() for path in (source, tmp_path / "clean.csv"))
    assert after.to_pydict() == before.to_pydict()


def test_views_and_queries_are_written_out(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("create table people as select range as id, range % 2 as b from range(60)")
        base.execute("create view v as select b, id + 1 as next from people")
    assert cr.read(path, table="v").rows.computed
    cr.rewrite(path, tmp_path / "clean.duckdb", table="v")
    clean = cr.read(tmp_path / "clean.duckdb")
    assert (clean.names, clean.rows.computed, clean.rows.contents()) == (("b", "next"), False, ())  # type: ignore[misc]
    copy = cr.rewrite(path, tmp_path / "ids.csv", query="select id from people order by id desc limit 3")
    assert cr.read(tmp_path / "ids.csv").to_arrow()["id"].to_pylist() == [59, 58, 57]
    assert copy.rows == 3


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["age"], *[[30]] * 60]:
        book.active.append(row)
    book.create_sheet("people").append(["Anna Smith"])
    book.save(tmp_path / "t.xlsx")
    copy = cr.rewrite(tmp_path / "t.xlsx", tmp_path / "clean.xlsx")
    assert "workbook can hold" in copy.left_out[0]
    assert openpyxl.load_workbook(tmp_path / "clean.xlsx").sheetnames == ["release"]


def test_files_are_replaced_only_where_asked(tmp_path: Path) -> None:
    source, target = tmp_path / "source.csv", tmp_path / "clean.parquet"
    source.write_text("a\n1\n2\n")
    (tmp_path / "clean.parquet.record.json").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        cr.rewrite(source, target)
    assert not target.exists()
    cr.rewrite(source, target, overwrite=True)
    assert is_canonical(str(target))
    with pytest.raises(OutputError, match="exists"):
        cr.rewrite(source, target)
    for path in ("clean.doc", "s3://bucket/clean.parquet", tmp_path / "clean.delta"):
        with pytest.raises(OutputError):
            cr.rewrite(source, path)
    with pytest.raises(SourceError):
        cr.rewrite(tmp_path / "nothing.csv", tmp_path / "n.csv")
    (tmp_path / "broken.parquet").write_bytes(target.read_bytes()[:50])
    with pytest.raises(SourceError):
        cr.rewrite(tmp_path / "broken.parquet", tmp_path / "n.csv")
    assert not (tmp_path / "n.csv").exists()
