"""What can be opened, and what is said of what cannot."""

from __future__ import annotations

import gzip
import os
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis.errors import ColumnError, InputError, MissingDependencyError, ParameterError, SourceError

PEOPLE = pa.table({"name": ["Ann", "Bob", None], "age": [30, None, 41], "born": [date(1990, 1, 2)] * 3})


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def kinds(release: cr.Dataset) -> list[str]:
    return [column.kind.value for column in release.rows.columns]


# CSV that must simply work


def test_csv_kinds(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "i,f,zip,d,t,long,mixed,none\n"
        "1,1.5,01234,2020-01-02,2020-01-02 03:04:05,12345678901234567890,1,\n"
        "-2,2e3,02345,2020-12-31,2020-01-02T03:04,12345678901234567891,x,\n",
    )
    release = cr.read(path)
    expected = ["integer", "number", "text", "date", "time", "text", "text", "text"]
    assert kinds(release) == expected
    first = release.to_arrow().to_pylist()[0]
    assert first["zip"] == "01234"
    assert first["d"] == date(2020, 1, 2)
    assert first["t"] == datetime(2020, 1, 2, 3, 4, 5)
    assert first["none"] is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters_are_found(tmp_path: Path, delimiter: str) -> None:
    text = "a,b,c\n1,x y,2\n3,z,4\n".replace(",", delimiter)
    assert cr.read(write(tmp_path / "a.csv", text)).names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("a,b\ncafé,1\n".encode("latin-1"), "latin-1"), ("a,b\ncafé,1\n".encode("utf-16"), "utf-16")],
)
def test_csv_encodings(tmp_path: Path, text: bytes, encoding: str) -> None:
    release = cr.read(write(tmp_path / "a.csv", text), encoding=encoding)
    assert release.to_arrow()["a"].to_pylist() == ["café"]


def test_csv_cp1252_and_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("a,b\n€,1\n".encode("cp1252")))
    assert cr.read(path, encoding="cp1252").to_arrow()["a"].to_pylist() == ["€"]


def test_csv_byte_order_mark_quotes_and_line_breaks(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbfa,"b ""q"""\r\n1,"x,\r\ny"\r\n2, "z"\r\n'
    release = cr.read(write(tmp_path / "a.csv", text))
    assert release.names == ("a", 'b "q"')
    assert release.to_arrow()['b "q"'].to_pylist() == ["x,\r\ny", "z"]


def test_csv_without_header_and_with_blanks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.data", "39, State-gov, ?\n50, ?, 13\n\n")
    release = cr.read(path, names=["age", "work", "hours"])
    assert kinds(release) == ["integer", "text", "integer"]
    assert release.to_arrow().to_pylist() == [
        {"age": 39, "work": "State-gov", "hours": None},
        {"age": 50, "work": None, "hours": 13},
    ]


def test_missing_markers_are_settable(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a,b\n?,1\n-9,2\n,3\n")
    assert cr.read(path, missing_markers=["-9"]).to_arrow()["a"].to_pylist() == ["?", None, ""]
    assert cr.read(path).to_arrow()["a"].to_pylist() == [None, -9, None]


def test_types_are_settable(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a,b\n1,2\n3,4\n")
    assert kinds(cr.read(path, types={"a": "text"})) == ["text", "integer"]
    with pytest.raises(ColumnError, match="Column 'c' does not exist"):
        cr.read(path, types={"c": "text"})
    with pytest.raises(ParameterError, match="Column type 'varchar'"):
        cr.read(path, types={"a": "varchar"})


def test_names_that_trip_databases(tmp_path: Path) -> None:
    names = ['a"b', "a;b", "a.b", "😀", "A", "a", "select", "it's", "c0", " "]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    path = write(tmp_path / "a.csv", header + "\n" + ",".join("0123456789") + "\n")
    release = cr.read(path)
    assert release.names == (*names[:-1], "unnamed_10")
    for i, name in enumerate(release.names):
        assert release.cells([name]).values[0].to_pylist() == [i]


def test_values_that_look_like_sql(tmp_path: Path) -> None:
    values = ["'; DROP TABLE source; --", '" OR 1=1', "$(rm -rf)", "{{7*7}}"]
    lines = "\n".join('"' + value.replace('"', '""') + '"' for value in values)
    release = cr.read(write(tmp_path / "a.csv", f"x\n{lines}\n"))
    assert release.to_arrow()["x"].to_pylist() == values
    assert release.cells(["x"]).singletons == 4


def test_a_file_name_that_looks_like_sql(tmp_path: Path) -> None:
    path = write(tmp_path / "it's; DROP.csv", "a,b\n1,2\n")
    assert cr.read(path).count == 1


def test_several_csv_files(tmp_path: Path) -> None:
    write(tmp_path / "a1.csv", "a,b\n1,2\n")
    write(tmp_path / "a2.csv", "a,b\n3,4\n")
    assert cr.read(tmp_path / "a*.csv").to_arrow()["a"].to_pylist() == [1, 3]
    write(tmp_path / "a3.csv", "a,c\n3,4\n")
    with pytest.raises(SourceError, match="has other columns than"):
        cr.read(tmp_path / "a*.csv")


# CSV that must be refused, without a word of its content


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("secret,b\n", "a header and no rows"),
        ("a,b\n1,2\nsecret\n", "line 3 has 1 field; the header has 2"),
        ("a,b\n1,2\nsecret,2,3\n", "line 3 has 3 fields; the header has 2"),
        ('a,b\n1,"secret\n2,3\n', "quote that is not closed"),
        ("a,b\näöüß€,2\n".encode() + b"secr\xe9t,1\n", "line 3 is not in the encoding utf-8"),
        ("12,secret\n13,x\n", "probably has no header"),
        ("a,b\r\n1,secret\n2,3\r\n", "line ends or quotes are mixed"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = write(tmp_path / "bad.csv", text)
    with pytest.raises(SourceError, match=message) as caught:
        cr.read(path).rows.tally(["a"])
    assert "secr" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_trouble_far_down_a_large_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.tables.csv.duckdb_reader.SMALL_FILE_BYTES", 10)
    monkeypatch.setattr("crypsis.tables.csv.duckdb_reader._SAMPLED_LINES", 10)
    path = write(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 5000 + "secret,2\n")
    with pytest.raises(SourceError, match=r"could not be read as .*int.* types=") as caught:
        cr.read(path).cells(["a"])
    assert "secret" not in str(caught.value)
    ragged = write(tmp_path / "b.csv", "a,b\n" + "1,2\n" * 5000 + "secret\n")
    with pytest.raises(SourceError, match="line 5,002 has 1 field;"):
        cr.read(ragged).cells(["a"])


def test_duplicate_names(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="More than one column is called 'a'"):
        cr.read(write(tmp_path / "a.csv", "a,b,a\n1,2,3\n"))


def test_wrong_number_of_names(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="3 names were given, but 'a.csv' has 2 columns"):
        cr.read(write(tmp_path / "a.csv", "1,2\n"), names=["a", "b", "c"])


# Other files


def test_parquet_file_glob_and_hive_folder(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "p.parquet")
    assert cr.read(tmp_path / "p.parquet").to_arrow().equals(PEOPLE)
    assert cr.read(tmp_path / "p*.parquet").count == 3
    for year in (2023, 2024):
        folder = tmp_path / "hive" / f"year={year}"
        folder.mkdir(parents=True)
        pq.write_table(PEOPLE, folder / "part.parquet")
    release = cr.read(tmp_path / "hive")
    assert release.names == ("name", "age", "born", "year")
    assert release.cells(["year"]).counts.tolist() == [3, 3]


def test_parquet_that_is_broken(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "p.parquet")
    whole = (tmp_path / "p.parquet").read_bytes()
    write(tmp_path / "cut.parquet", whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="'cut.parquet': the end of the Parquet file is missing"):
        cr.read(tmp_path / "cut.parquet")
    write(tmp_path / "foot.parquet", whole[:-8] + b"\xff\xff\xff\x7fPAR1")
    with pytest.raises(SourceError, match="'foot.parquet': the Parquet file is damaged"):
        cr.read(tmp_path / "foot.parquet")
    for place in range(len(whole) - 400, len(whole) - 8, 5):  # the footer, then the pages
        spoiled = whole[:place] + b"\x99" * 3 + whole[place + 3 :]
        write(tmp_path / "spoiled.parquet", spoiled)
        found = None
        try:
            cr.read(tmp_path / "spoiled.parquet").cells(["name"])
        except SourceError as error:
            found = str(error)
        assert found is None or "Parquet" in found or "a file could not be read" in found


def test_json_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"a": 1, "b": "x", "c": [1]}\n{"a": 2, "b": null}\n')
    release = cr.read(path)
    assert kinds(release) == ["integer", "text", "nested"]
    with pytest.raises(ColumnError, match="'c' has lists"):
        release.cells(["c"])


def test_excel(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "people"
    for row in (["name", "age", "born", "odd"], ["Ann", 30, datetime(1990, 1, 2), "x"]):
        sheet.append(row)
    sheet.append(["Bob", None, datetime(1991, 1, 2), 7])
    book.create_sheet("empty")
    book.save(tmp_path / "a.xlsx")
    release = cr.read(tmp_path / "a.xlsx")
    assert release.names == ("name", "age", "born", "odd")
    assert release.to_arrow()["age"].to_pylist() == [30, None]
    with pytest.raises(SourceError, match="no sheet 'x'. The sheets are: 'people', 'empty'"):
        cr.read(tmp_path / "a.xlsx", sheet="x")
    with pytest.raises(SourceError, match="empty"):
        cr.read(tmp_path / "a.xlsx", sheet="empty")
    with pytest.raises(SourceError, match="could not be read as a spreadsheet"):
        cr.read(write(tmp_path / "b.xlsx", b"PK not really"))


def test_duckdb_file(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE people AS SELECT i AS id, i % 3 AS g FROM range(9) t(i)")
    assert cr.read(path).cells(["g"]).counts.tolist() == [3, 3, 3]
    assert cr.read(path, query="SELECT * FROM people WHERE id < 4").count == 4
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE other AS SELECT 1 AS a")
    with pytest.raises(SourceError, match="has 2 tables: 'other', 'people'"):
        cr.read(path)
    assert cr.read(path, table="other").names == ("a",)
    with pytest.raises(SourceError, match="Table 'x' does not exist"):
        cr.read(path, table="x")


def test_sqlite_file(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as database:
        database.execute('CREATE TABLE people (id INTEGER, "a.b" TEXT, x REAL)')
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", [(1, "u", 0.5), (2, None, 1.5)])
    database.close()
    release = cr.read(path)
    assert release.names == ("id", "a.b", "x")
    assert release.to_arrow()["a.b"].to_pylist() == ["u", None]
    assert cr.read(path, query="SELECT id FROM people WHERE id > 1").count == 1
    with pytest.raises(SourceError, match="Table 'x' does not exist. The tables are: 'people'"):
        cr.read(path, table="x")
    plain = tmp_path / "plain.db"
    plain.write_bytes(path.read_bytes())
    assert cr.read(plain).count == 2


def test_postgresql(postgres: str) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(postgres) as database, database.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS people")
        cursor.execute('CREATE TABLE people (id int, "Na me" text, pay numeric, born date)')
        cursor.execute(
            "INSERT INTO people SELECT i, 'p' || i % 3, i * 1.5, date '2000-01-01' + i "
            "FROM generate_series(1, 1000) AS i"
        )
        cursor.execute(
            "CREATE OR REPLACE FUNCTION wiped() RETURNS int LANGUAGE sql AS 'DELETE FROM people; SELECT 1'"
        )
        cursor.execute("CREATE SEQUENCE IF NOT EXISTS numbers")
        database.commit()
    release = cr.read(postgres, table="people")
    assert release.names == ("id", "Na me", "pay", "born")
    assert kinds(release) == ["integer", "text", "number", "date"]
    assert release.cells(["Na me"]).counts.tolist() == [333, 334, 333]
    assert cr.read(postgres, table="public.people").count == 1000
    assert cr.read(postgres, query="SELECT pay FROM people WHERE id <= 10;").count == 10
    with pytest.raises(SourceError, match="Table 'persons' does not exist"):
        cr.read(postgres, table="persons")
    with pytest.raises(SourceError, match="refused the query|has no"):
        cr.read(postgres, query="SELECT nothing FROM people")
    with pytest.raises(ParameterError, match="exactly one SELECT"):
        cr.read(postgres, query="DELETE FROM people RETURNING *")
    # What a SELECT calls may write, and what a sequence counts is never rolled back.
    for query in ("SELECT wiped() AS one", "SELECT nextval('numbers') AS one"):
        with pytest.raises(SourceError, match="refused the query"):
            assert cr.read(postgres, query=query).count == 1
    assert cr.read(postgres, table="people").count == 1000


def test_postgresql_that_does_not_answer() -> None:
    with pytest.raises(SourceError, match="could not be reached") as caught:
        cr.read("postgresql://me:hunter2@127.0.0.1:1/db", table="t")
    assert "hunter2" not in str(caught.value)


def test_remote_files(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    with memory.open("/box/p.parquet", "wb") as file:
        pq.write_table(PEOPLE, file)
    with memory.open("/box/p.csv", "wb") as file:
        file.write(b"a,b\n1,2\n3,4\n")
    assert cr.read("memory://box/p.parquet").count == 3
    assert cr.read("memory://box/p.csv").to_arrow()["b"].to_pylist() == [2, 4]
    with pytest.raises(SourceError, match="does not exist"):
        cr.read("memory://box/q.parquet")
    with pytest.raises(SourceError, match="nosuch://"):
        cr.read("nosuch://box/q.parquet")
    with pytest.raises(MissingDependencyError, match="pip install gcsfs"):
        cr.read("gs://box/q.parquet")


@pytest.mark.parametrize(
    ("name", "message"), [("nothing.csv", "does not exist"), (".", "folder without Parquet")]
)
def test_what_is_not_a_file(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        cr.read(tmp_path / name)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match="not a regular file"):
        cr.read(tmp_path / "pipe.csv")


def test_options_without_effect_are_errors(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "p.parquet")
    with pytest.raises(ParameterError, match="'delimiter' does not apply to Parquet"):
        cr.read(tmp_path / "p.parquet", delimiter=";")
    with pytest.raises(ParameterError, match="Memory limit '4 elephants'"):
        cr.read(tmp_path / "p.parquet", memory_limit="4 elephants")
    with pytest.raises(ParameterError, match="Spill folder"):
        cr.read(tmp_path / "p.parquet", spill_folder=tmp_path / "none")


# Frames


def frames() -> dict[str, Any]:
    import pandas
    import polars

    return {
        "arrow": PEOPLE,
        "pandas": PEOPLE.to_pandas(types_mapper=pandas.ArrowDtype).set_index(pandas.Index([5, 6, 7])),
        "polars": polars.from_arrow(PEOPLE),
        "polars-lazy": polars.from_arrow(PEOPLE).lazy(),  # type: ignore[union-attr]
        "duckdb": duckdb.connect().from_arrow(PEOPLE),
    }


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "polars-lazy", "duckdb"])
def test_frames_come_back_as_they_came(kind: str) -> None:
    frame = frames()[kind]
    release = cr.Dataset.from_frame(frame, quasi_identifiers=["age"])
    assert release.frame is frame
    assert release.to_arrow().to_pylist() == PEOPLE.to_pylist()
    assert release.cells().counts.tolist() == [1, 1, 1]


def test_an_arrow_dataset_is_read_in_a_stream(tmp_path: Path) -> None:
    """As Delta tables come in: several files, read anew for each question, a column at a time."""
    import pyarrow.dataset as ds

    table = pa.table({"Age": [1, 2, None], "age": [4, 4, 5], "c": pa.array(["x", "y", "x"])})
    for name in ("one", "two"):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    frame = ds.dataset(tmp_path)
    release = cr.Dataset.from_frame(
        frame, quasi_identifiers=["age", "c"], insensitive=["Age"], memory_limit="1GB"
    )
    assert release.frame is frame
    assert (release.names, release.rows.known_count) == (("Age", "age", "c"), 6)
    assert release.cells().counts.tolist() == [2, 2, 2]
    assert release.cells(["Age"]).values[0].to_pylist() == [1, 2, None]
    assert release.to_arrow().to_pylist() == frame.to_table().to_pylist()
    plan = release.rows.frame.select("c2").to_native().explain()
    assert "ARROW_SCAN" in plan
    assert "Age" not in plan
    made = cr.protection.plan(release, k=2).apply(release)
    assert made.measured.k == 2
    coded = ds.dataset(pa.table({"c": pa.array(["x", "y", "x"]).dictionary_encode()}))
    found = cr.Dataset.from_frame(coded)
    assert (found.rows.known_count, found.cells(["c"]).counts.tolist()) == (None, [2, 1])


def test_ibis_frames() -> None:
    ibis = pytest.importorskip("ibis")
    release = cr.Dataset.from_frame(ibis.memtable(PEOPLE))
    assert release.to_arrow().to_pylist() == PEOPLE.to_pylist()


def test_pandas_categories_and_mixed_columns() -> None:
    import pandas

    frame = pandas.DataFrame({"c": pandas.Categorical(["x", "y", "x"]), "b": [True, False, True]})
    assert cr.Dataset.from_frame(frame).cells(["c"]).counts.tolist() == [2, 1]
    with pytest.raises(InputError, match="several types"):
        cr.Dataset.from_frame(pandas.DataFrame({"m": [1, "secret", b"x"]}))
    with pytest.raises(ColumnError, match="More than one column"):
        cr.Dataset.from_frame(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_numbers_of_rows_are_no_column_whatever_columns_are_called() -> None:
    import pandas

    frame = pandas.DataFrame({"a": [1, 2], "__index_level_0__": [3, 4]})
    release = cr.Dataset.from_frame(frame.set_index(pandas.Index([5, 6])))
    assert release.to_arrow().to_pydict() == {"a": [1, 2], "__index_level_0__": [3, 4]}
    named = cr.Dataset.from_frame(frame.set_index(pandas.Index([5, 6], name="i")))
    assert named.names == ("i", "a", "__index_level_0__")
    table = pa.table({"__index_level_0__": [3, 4]})
    assert cr.Dataset.from_frame(table).to_arrow() == table


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us")])
def test_dates_outside_the_calendar(kind: pa.DataType) -> None:
    """They can be read and counted in numbers, but have no value that could be shown."""
    days = pa.array([2**31 - 1, 2**31 - 1] if kind == pa.date32() else [2**62, 2**62], kind)
    rows = cr.Dataset.from_frame(pa.table({"a": [1, 2], "b": days, "c": days})).rows
    assert rows.value_counts(["a"]) == {"a": {1: 1, 2: 1}}
    with pytest.raises(ColumnError, match="'b' has dates outside the years 1 to 9999"):
        rows.value_counts(["a", "b"])
    with pytest.raises(ColumnError, match="One of 'b', 'c' has dates outside"):
        rows.value_counts(["a", "b", "c"])


def test_what_is_not_a_frame() -> None:
    with pytest.raises(InputError, match="A list is not a frame"):
        cr.Dataset.from_frame([1, 2])


def test_rows_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that go together row by row rest on it; a join in the plan would lose it."""
    monkeypatch.setattr("crypsis.tables.csv.duckdb_reader.SMALL_FILE_BYTES", 0)
    monkeypatch.setattr("crypsis.tables.sources._KEPT_BYTES", 0)
    text = "a,b\n" + "".join(f"{i},x{i % 7}\n" for i in range(1000))
    markers = [f"m{i}" for i in range(50)]
    for release in (
        cr.read(write(tmp_path / "a.csv", text), missing_markers=markers),
        cr.read(write(tmp_path / "b.csv", text)),
    ):
        assert "JOIN" not in release.rows.frame.to_native().explain()
        assert release.to_arrow()["a"].to_pylist() == list(range(1000))
    pq.write_table(pa.table({"a": ["x", "m3", "y"]}), tmp_path / "p.parquet")
    marked = cr.read(tmp_path / "p.parquet", missing_markers=markers)
    assert "JOIN" not in marked.rows.frame.to_native().explain()
    assert marked.to_arrow()["a"].to_pylist() == ["x", None, "y"]
