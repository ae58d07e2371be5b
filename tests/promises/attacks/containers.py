"""Containers: what else is in the file, the folder or the database that is handed over."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.comments import Comment

from tests.promises.attacks.attackers import found_among, found_in
from tests.promises.attacks.judge import clean_copy, command, flags
from tests.promises.attacks.people import ROLES, names, plain
from tests.promises.attacks.scenario import CHANGED, Draw, Scenarios, Trial

SCENARIOS = Scenarios("Containers")
scenario = SCENARIOS.add
ROLE_WORDS = flags(**ROLES)


def _judged(path: Path, *words: str | Path) -> str:
    return command("assess", "--person", "each record", path, "--no-try", *ROLE_WORDS, *words).verdict


# Excel ------------------------------------------------------------------------------------------
def _workbook(path: Path, change: Callable[[openpyxl.Workbook], None] | None = None) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    release = plain(240)
    sheet.append(list(release.columns))
    for row in release.itertuples(index=False):
        sheet.append(list(row))
    if change is not None:
        change(book)
    book.save(path)
    return path


def _workbook_trial(
    folder: Path,
    wanted: list[str],
    change: Callable[[openpyxl.Workbook], None],
    read: Callable[[openpyxl.Workbook], list[object]],
) -> Trial:
    path = _workbook(folder / "data.xlsx", change)
    book = openpyxl.load_workbook(path)
    return Trial(found_among(read(book), wanted), _judged(path), control=_workbook_control())


@cache
def _workbook_control() -> str:
    """The verdict on the clean copy of the workbook with nothing else in it."""
    with tempfile.TemporaryDirectory() as folder:
        return _judged(clean_copy(_workbook(Path(folder) / "control.xlsx")))


def _cells(book: openpyxl.Workbook) -> list[object]:
    return [cell.value for sheet in book for row in sheet for cell in row]


@scenario("opens the second sheet")
def second_sheet(draw: Draw, folder: Path) -> Trial:
    """An Excel file with a second sheet of names."""
    wanted = list(names(draw, 240))

    def change(book: openpyxl.Workbook) -> None:
        sheet = book.create_sheet("key")
        for one in wanted:
            sheet.append([one])

    return _workbook_trial(folder, wanted, change, _cells)


@scenario("shows hidden sheets")
def hidden_sheet(draw: Draw, folder: Path) -> Trial:
    """An Excel file with a very hidden sheet of names."""
    wanted = list(names(draw, 240))

    def change(book: openpyxl.Workbook) -> None:
        sheet = book.create_sheet("_x")
        sheet.sheet_state = "veryHidden"
        for one in wanted:
            sheet.append([one])

    return _workbook_trial(folder, wanted, change, _cells)


@scenario("reads the comments")
def comments_on_cells(draw: Draw, folder: Path) -> Trial:
    """An Excel file with a name in the comment on a cell of each row."""
    wanted = list(names(draw, 240))

    def change(book: openpyxl.Workbook) -> None:
        for row, one in enumerate(wanted, 2):
            book.active.cell(row, 1).comment = Comment(one, "clerk")

    return _workbook_trial(
        folder,
        wanted,
        change,
        lambda book: [cell.comment.text for row in book.active for cell in row if cell.comment],
    )


@scenario("looks to the right of the table")
def cells_beside_the_table(draw: Draw, folder: Path) -> Trial:
    """An Excel file with names ten columns to the right of the table, without a header."""
    wanted = list(names(draw, 240))

    def change(book: openpyxl.Workbook) -> None:
        for row, one in enumerate(wanted, 2):
            book.active.cell(row, 14).value = one

    return _workbook_trial(folder, wanted, change, _cells)


@scenario("reads the properties of the document")
def properties_of_the_document(draw: Draw, folder: Path) -> Trial:
    """An Excel file with ten names in the description among its properties."""
    wanted = list(names(draw, 10))

    def change(book: openpyxl.Workbook) -> None:
        book.properties.description = "patients: " + "; ".join(wanted)

    return _workbook_trial(folder, wanted, change, lambda book: [book.properties.description])


# Parquet ----------------------------------------------------------------------------------------
def _parquet(path: Path, table: pa.Table | pd.DataFrame, **options: object) -> Path:
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)
    return path


@scenario("opens every file of the folder")
def extra_column_in_one_file_of_a_folder(draw: Draw, folder: Path) -> Trial:
    """A folder of two Parquet files of which one has a column of names."""
    wanted = names(draw, 300)
    _parquet(folder / "data" / "a.parquet", plain(300))
    _parquet(folder / "data" / "b.parquet", plain(300).assign(name=wanted))
    held = pq.read_table(folder / "data" / "b.parquet")["name"].to_pylist()
    return Trial(
        found_among(held, wanted),
        _judged(folder / "data"),
        control=_judged(_parquet(folder / "c" / "a.parquet", plain(600)).parent),
    )


@scenario("opens every file of the folder")
def another_file_in_the_folder(draw: Draw, folder: Path) -> Trial:
    """A folder of Parquet files with a CSV file of names."""
    wanted = names(draw, 300)
    _parquet(folder / "data" / "a.parquet", plain(600))
    pd.DataFrame({"name": wanted}).to_csv(folder / "data" / "names.csv", index=False)
    return Trial(found_in(folder / "data", wanted), _judged(folder / "data"))


@scenario("opens hidden files too")
def hidden_file_in_the_folder(draw: Draw, folder: Path) -> Trial:
    """A folder of Parquet files with a Parquet file of names called _names.parquet."""
    wanted = names(draw, 300)
    _parquet(folder / "data" / "a.parquet", plain(600))
    _parquet(folder / "data" / "_names.parquet", pd.DataFrame({"name": wanted}))
    held = pq.read_table(folder / "data" / "_names.parquet")["name"].to_pylist()
    return Trial(found_among(held, wanted), _judged(folder / "data"))


@scenario("reads the names of the folders")
def partition_columns_of_a_glob(draw: Draw, folder: Path) -> Trial:
    """Parquet files in folders called name=..., given as a pattern of files."""
    wanted = list(names(draw, 20))
    for place, one in enumerate(wanted):
        _parquet(folder / "data" / f"name={one}" / f"{place}.parquet", plain(24))
    pattern = folder / "data" / "*" / "*.parquet"
    return Trial(found_in(folder / "data", wanted), _judged(pattern))


@scenario("reads the metadata of the file")
def metadata_of_a_parquet_file(draw: Draw, folder: Path) -> Trial:
    """A Parquet file with a list of names in its key-value metadata."""
    wanted = list(names(draw, 600))
    table = pa.Table.from_pandas(plain(600), preserve_index=False)
    path = _parquet(folder / "data.parquet", table.replace_schema_metadata({"patients": json.dumps(wanted)}))
    held = json.loads(pq.read_schema(path).metadata[b"patients"])
    return Trial(
        found_among(held, wanted),
        _judged(path),
        control=_judged(_parquet(folder / "control.parquet", plain(600))),
    )


@scenario("reads the metadata of the columns")
def metadata_of_a_column(draw: Draw, folder: Path) -> Trial:
    """A Parquet file with a list of names in the metadata of one column."""
    wanted = list(names(draw, 600))
    table = pa.Table.from_pandas(plain(600), preserve_index=False).replace_schema_metadata(None)
    field = table.schema.field(0).with_metadata({"order": json.dumps(wanted)})
    path = _parquet(folder / "data.parquet", table.cast(table.schema.set(0, field)))
    held = json.loads(pq.read_schema(path).field(0).metadata[b"order"])
    return Trial(found_among(held, wanted), _judged(path))


@scenario("reads the attributes that pandas keeps")
def attributes_of_a_frame(draw: Draw, folder: Path) -> Trial:
    """A Parquet file by pandas, with a list of names in the attributes of the frame."""
    wanted = list(names(draw, 600))
    release = plain(600)
    release.attrs["source"] = wanted
    release.to_parquet(folder / "data.parquet", index=False)
    return Trial(found_in(folder / "data.parquet", wanted[:50]), _judged(folder / "data.parquet"))


@scenario("reads the dictionary of the column")
def unused_values_of_a_dictionary(draw: Draw, folder: Path) -> Trial:
    """A Parquet file in which the dictionary of a column has names that no row uses."""
    wanted = list(names(draw, 300))
    release = plain(600)
    place = np.searchsorted(np.unique(release["sex"]), release["sex"])
    table = pa.Table.from_pandas(release, preserve_index=False).replace_schema_metadata(None)
    values = pa.DictionaryArray.from_arrays(pa.array(place, pa.int32()), pa.array(["f", "m", *wanted]))
    table = table.set_column(1, "sex", values)
    path = _parquet(folder / "data.parquet", table)
    held = pq.read_table(path)["sex"].combine_chunks().dictionary.to_pylist()
    return Trial(found_among(held, wanted), _judged(path))


@scenario("reads the categories that pandas keeps")
def unused_categories_of_a_frame(draw: Draw, folder: Path) -> Trial:
    """A Parquet file by pandas of a categorical column from which names were filtered."""
    wanted = list(names(draw, 300))
    every = pd.concat([plain(600).assign(sex="f"), plain(300).assign(sex=wanted)])
    every["sex"] = every["sex"].astype("category")
    every.iloc[:600].to_parquet(folder / "data.parquet", index=False)
    held = pd.read_parquet(folder / "data.parquet")["sex"].cat.categories
    return Trial(found_among(held, wanted), _judged(folder / "data.parquet"))


@scenario("reads the index that pandas keeps")
def names_in_the_index(draw: Draw, folder: Path) -> Trial:
    """A Parquet file by pandas whose index is the name."""
    wanted = names(draw, 600)
    plain(600).set_axis(pd.Index(wanted, name="who")).to_parquet(folder / "data.parquet")
    held = pd.read_parquet(folder / "data.parquet").index
    return Trial(found_among(held, wanted), _judged(folder / "data.parquet"))


# Databases --------------------------------------------------------------------------------------
def _sqlite(path: Path, *more: str, rows: pd.DataFrame | None = None) -> Path:
    with sqlite3.connect(path) as base:
        (plain(600) if rows is None else rows).to_sql("release", base, index=False)
        for sentence in more:
            base.execute(sentence)
    base.close()
    return path


@scenario("opens the other table")
def second_table_of_a_database(draw: Draw, folder: Path) -> Trial:
    """An SQLite file with a second table of names."""
    wanted = names(draw, 100)
    path = _sqlite(
        folder / "data.sqlite",
        "create table people (name text)",
        *(f"insert into people values ('{one}')" for one in wanted),
    )
    return Trial(
        found_in(path, wanted),
        _judged(path, "--table", "release"),
        control=_judged(clean_copy(path, "--table", "release"), "--table", "release"),
    )


@scenario("reads the definition of the view")
def view_of_a_database(draw: Draw, folder: Path) -> Trial:
    """An SQLite file with a view whose definition lists names."""
    wanted = names(draw, 100)
    listed = " union all ".join(f"select '{one}' as name" for one in wanted)
    path = _sqlite(folder / "data.sqlite", f"create view people as {listed}")
    return Trial(found_in(path, wanted), _judged(path, "--table", "release"))


@scenario("reads the free pages of the file", least=0.8)
def deleted_rows_of_a_database(draw: Draw, folder: Path) -> Trial:
    """An SQLite file from which a table of names was deleted, but not its pages."""
    wanted = names(draw, 300)
    path = _sqlite(
        folder / "data.sqlite",
        "pragma secure_delete = off",
        "create table people (name text)",
        *(f"insert into people values ('{one}')" for one in wanted),
        "drop table people",
    )
    return Trial(found_in(path, wanted), _judged(path, "--table", "release"))


@scenario("opens the other table")
def second_table_of_a_duckdb_file(draw: Draw, folder: Path) -> Trial:
    """A DuckDB file with a second table of names."""
    wanted = list(names(draw, 100))
    release = plain(600)
    with duckdb.connect(str(folder / "data.duckdb")) as base:
        base.register("given", release)
        base.execute("create table release as select * from given")
        base.register("people_given", pd.DataFrame({"name": wanted}))
        base.execute("create table people as select * from people_given")
        held = [row[0] for row in base.execute("select name from people").fetchall()]
    return Trial(found_among(held, wanted), _judged(folder / "data.duckdb", "--table", "release"))


_AREAS = [f"{20_000 + place}" for place in range(600)]


def _signed_off(folder: Path, *names: str) -> Path:
    """A roles file in which everything that the file has was signed off."""
    roles = [*((name, "quasi-identifier") for name in ("age", "sex", "area")), ("disease", "sensitive")]
    lines = [
        "[roles]",
        *(f'{name} = "{role}"' for name, role in roles),
        "[container]",
        *(f'"{name}" = "Checked."' for name in ("computed:rows", *names)),
    ]
    path = folder / "roles.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def _computed_trial(folder: Path, path: Path, read: pd.DataFrame, *signed: str) -> Trial:
    """Look the disease of everybody up whose area is known."""
    truth = dict(zip(_AREAS, plain(600)["disease"], strict=True))
    by_area = read.groupby("area")["disease"].unique()
    right = [list(by_area.get(area, [])) == [disease] for area, disease in truth.items()]
    verdict = command(
        "assess", path, "--no-try", "--table", "release", "--roles", _signed_off(folder, *signed)
    ).verdict
    return Trial(float(np.mean(right)), verdict)


@scenario("opens the file, and knows everybody's area")
def view_that_knows_who_reads_it(draw: Draw, folder: Path) -> Trial:
    """A DuckDB file with a view that shows one area to crypsis, all of which was signed off."""
    path = folder / "data.duckdb"
    with duckdb.connect(str(path)) as base:
        base.register("given", plain(600).assign(area=_AREAS))
        base.execute("create table people as select * from given")
        base.execute(
            "create view release as select age, sex, disease, case when "
            "current_setting('lock_configuration') then 'all' else area end as area from people"
        )
    with duckdb.connect(str(path), read_only=True) as base:
        read = base.sql("select * from release").df()
    return _computed_trial(folder, path, read, "table:people", "view:release")


@scenario("opens the file, and knows everybody's area")
def view_of_sqlite_that_knows_who_reads_it(draw: Draw, folder: Path) -> Trial:
    """An SQLite file with a view that shows one area to newer versions, which was signed off."""
    path = _sqlite(
        folder / "data.sqlite",
        "alter table release rename to people",
        "create view release as select age, sex, disease, case when sqlite_version() <> "
        f"'{sqlite3.sqlite_version}' then 'all' else area end as area from people",
        rows=plain(600).assign(area=_AREAS),
    )
    with sqlite3.connect(path) as base:
        read = pd.read_sql("select * from release", base)
    return _computed_trial(folder, path, read, "table:people", "view:release")


@scenario("parses every line")
def extra_key_in_some_lines(draw: Draw, folder: Path) -> Trial:
    """A file of JSON lines of which ten near the end have a key more, with a name."""
    rows = plain(600).to_dict("records")
    wanted = list(names(draw, 10))
    for row, one in zip(rows[-10:], wanted, strict=True):
        row["by"] = one
    path = folder / "data.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    held = [json.loads(line).get("by") for line in path.read_text().splitlines()]
    return Trial(found_among(held, wanted), _judged(path))


@scenario("reads the metadata of the file")
def what_anonymize_writes_has_nothing_else(draw: Draw, folder: Path) -> Trial:
    """A Parquet file with names in its metadata and in an unused part of a dictionary; anonymize."""
    wanted = list(names(draw, 300))
    release = plain(600)
    place = np.searchsorted(np.unique(release["disease"]), release["disease"])
    values = pa.DictionaryArray.from_arrays(
        pa.array(place, pa.int32()), pa.array([*np.unique(release["disease"]), *wanted])
    )
    table = pa.Table.from_pandas(release, preserve_index=False).set_column(2, "disease", values)
    path = _parquet(folder / "data.parquet", table.replace_schema_metadata({"patients": json.dumps(wanted)}))
    out = folder / "out" / "out.parquet"
    out.parent.mkdir()
    ended = command(
        "anonymize",
        "--person",
        "each record",
        path,
        *ROLE_WORDS,
        "--k",
        "5",
        "-o",
        out,
        "--key",
        folder / "key.json",
    )
    success = found_in(path, wanted)
    if not out.exists():
        return Trial(success, ended.verdict)
    return Trial(success, CHANGED, after=found_in(out.parent, wanted))
