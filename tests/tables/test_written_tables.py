"""Releases written as tables: of a PostgreSQL server, and Delta tables."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import MissingDependencyError, OutputError

TABLE = pa.table(
    {
        "zip": ["12345", "12345", None, "54321"] * 25,
        "age": pa.array([30, 30, 41, None] * 25, pa.int64()),
        "pay": [1.5, 2.0, None, 4.25] * 25,
        "day": pa.array([dt.date(2024, 1, 31), None] * 50),
        "seen": pa.array([dt.datetime(2024, 1, 31, 12, 30), None] * 50),
        "smokes": [True, False, None, True] * 25,
    }
)


def test_a_release_becomes_a_table(postgres: str) -> None:
    place = f"{postgres}#written"
    cr.Dataset.from_frame(TABLE).write(place)
    found = cr.read(postgres, table="written").to_arrow()
    assert found.column_names == TABLE.column_names
    assert found.to_pylist() == TABLE.to_pylist()
    with pytest.raises(OutputError, match=r"Table 'written' exists already"):
        cr.Dataset.from_frame(TABLE).write(place)
    cr.Dataset.from_frame(TABLE.slice(0, 4)).write(place, overwrite=True)
    assert cr.read(postgres, table="written").count == 4


def test_schemas_and_odd_names(postgres: str) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(postgres) as database, database.cursor() as cursor:
        cursor.execute('CREATE SCHEMA IF NOT EXISTS "out going"')
        database.commit()
    cr.Dataset.from_frame(pa.table({'a "b"': [1, 2]})).write(f"{postgres}#out%20going.my%20table")
    assert cr.read(postgres, table="out going.my table").names == ('a "b"',)


def test_a_table_appears_complete_or_not_at_all(postgres: str) -> None:
    """Rows that the server refuses leave nothing behind, nor does an error before them."""
    with pytest.raises(OutputError):
        cr.Dataset.from_frame(TABLE).write(f"{postgres}#no_such_schema.t")
    with pytest.raises(OutputError):  # no text of PostgreSQL has this character
        cr.Dataset.from_frame(pa.table({"a": ["good"] * 99 + ["b\0d"]})).write(f"{postgres}#refused")
    with pytest.raises(cr.errors.SourceError, match="refused"):
        cr.read(postgres, table="refused")


def test_addresses_without_a_table_or_a_server() -> None:
    data = cr.Dataset.from_frame(TABLE)
    with pytest.raises(OutputError, match="names no table"):
        data.write("postgresql://me:hunter2@127.0.0.1:1/db")
    with pytest.raises(OutputError, match="could not be reached") as raised:
        data.write("postgresql://me:hunter2@127.0.0.1:1/db#t")
    assert "hunter2" not in str(raised.value)


def test_anonymized_into_a_table(postgres: str) -> None:
    roles = {"quasi_identifiers": ["zip", "age"], "excluded": ["pay", "day", "seen", "smokes"]}
    made = cr.anonymize(cr.Dataset.from_frame(TABLE, **roles, person="each record"), k=5, seed=1)
    made.write(f"{postgres}#safe", statement=False)
    found = cr.read(postgres, table="safe", quasi_identifiers=["zip", "age"], person="each record")
    assert found.names == ("zip", "age")
    assert cr.singling_out.k_anonymity(found) >= 5
    with pytest.raises(OutputError, match="statement"):
        made.write(f"{postgres}#safe2")


def test_delta(tmp_path: Path) -> None:
    path = tmp_path / "release.delta"
    cr.Dataset.from_frame(TABLE).write(path)
    assert cr.read(path).to_arrow().to_pylist() == TABLE.to_pylist()
    with pytest.raises(OutputError, match="exists already"):
        cr.Dataset.from_frame(TABLE).write(path)
    cr.Dataset.from_frame(TABLE.slice(0, 4)).write(path, overwrite=True)
    assert cr.read(path).count == 4
    assert [file.name for file in (path / "_delta_log").glob("*.json")] == [f"{0:020}.json"]
    assert len(list(path.glob("*.parquet"))) == 1  # no rows of the table before
    assert [one.name for one in tmp_path.iterdir()] == ["release.delta"]


def test_a_delta_table_in_gives_one_out(tmp_path: Path) -> None:
    cr.Dataset.from_frame(TABLE).write(tmp_path / "people.delta")
    cr.read(tmp_path / "people.delta").write(tmp_path / "release")
    assert (tmp_path / "release" / "_delta_log").is_dir()


def test_delta_needs_its_extra_and_a_folder_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match="folder of this machine"):
        cr.Dataset.from_frame(TABLE).write("memory://bucket/release.delta")
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(MissingDependencyError, match=r"crypsis\[delta\]"):
        cr.Dataset.from_frame(TABLE).write(tmp_path / "release.delta")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"at": pa.array([dt.time(1, 2)])}),
        pa.table({"n": pa.array([2**63 + 1], pa.uint64())}),
        pa.table([[1], [2]], names=["a", "A"]),
    ],
)
def test_what_delta_has_no_place_for_is_refused(table: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"^The release could not be written as a Delta table"):
        cr.Dataset.from_frame(table).write(tmp_path / "release.delta")
    assert list(tmp_path.iterdir()) == []
