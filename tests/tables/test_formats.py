"""Every format that is read and written: round trips, labels, and nothing that was not released."""

from __future__ import annotations

import bz2
import datetime
import lzma
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat
import pytest

import crypsis as cr
from crypsis.errors import OutputError, ParameterError, SourceError

SUFFIXES = (
    ".csv .csv.gz .csv.bz2 .csv.xz .csv.zst .tsv .parquet .jsonl .jsonl.gz .xlsx .arrow .feather "
    ".dta .sav .duckdb .sqlite"
).split()
N = 120
TABLE = pa.table(
    {
        "id": list(range(N)),
        "age": [20 + i % 6 for i in range(N)],
        "sex": ["female", "male"] * (N // 2),
        "born": pa.array([None, datetime.date(1970, 1, 2)] * (N // 2)),
        "weight": [61.5, None, 70.25] * (N // 3),
        "disease": ["flu", "gout", None] * (N // 3),
    }
)
ROLES: dict[str, Any] = {
    "identifiers": "id",
    "quasi_identifiers": ["age", "sex"],
    "sensitive": "disease",
    "insensitive": ["born", "weight"],
}


def contents(path: Path) -> list[str]:
    data = cr.read(path)
    assert data.rows.contents is not None
    return [one.name for one in data.rows.contents()]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"safe{suffix}"
    made = cr.anonymize(TABLE, k=5, shuffle=False, **ROLES, person="each record")
    made.write(target)
    back = cr.read(target)
    expected = made.frame.to_pydict()
    if suffix == ".sqlite":
        expected["born"] = [day and str(day) for day in expected["born"]]
    assert back.to_arrow().to_pydict() == expected
    assert contents(target) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [target.name, f"{target.name}.statement.json", f"{target.name}.statement.md"]
    )


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".xlsx", ".arrow", ".dta", ".sav", ".csv"])
def test_without_a_suffix_the_format_is_that_of_the_source(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"source{suffix}"
    cr.Dataset.from_frame(TABLE).write(source)
    made = cr.anonymize(source, k=5, **ROLES, person="each record")
    made.write(tmp_path / "safe", statement=False)
    assert (tmp_path / "safe").read_bytes()[:4] == source.read_bytes()[:4] or suffix in (".csv", ".jsonl")
    (tmp_path / "safe").rename(tmp_path / f"safe{suffix}")
    assert cr.read(tmp_path / f"safe{suffix}").count == N


def test_what_is_not_a_format(tmp_path: Path) -> None:
    data = cr.Dataset.from_frame(TABLE)
    for name in ("safe.doc", "safe", "safe.parquet.gz"):
        with pytest.raises(OutputError, match="names no format"):
            data.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


# Stata and SPSS


def labelled(path: Path, **options: Any) -> Path:
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2.0] * (N // 2),
            "age": [float(20 + i % 4) for i in range(N)],
            "score": [1.0, 2.0, 3.0, 99.0] * (N // 4),
        }
    )
    labels = {"sex": {1: "male", 2: "female", 3: "secret"}, "score": {99: "refused", 98: "secret"}}
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(
        frame,
        str(path),
        column_labels={"sex": "Sex of the person"},
        variable_value_labels=labels,
        file_label="secret study",
        **options,
    )
    return path


@pytest.mark.parametrize("suffix", [".dta", ".sav"])
def test_labels_are_read_and_kept(tmp_path: Path, suffix: str) -> None:
    source = labelled(tmp_path / f"people{suffix}")
    data = cr.read(source, quasi_identifiers=["sex", "age"], sensitive="score", person="each record")
    assert set(data.to_arrow()["sex"].to_pylist()) == {"male", "female"}
    assert data.rows.column("score").kind.value == "integer"  # not every value has a label
    target = tmp_path / f"safe{suffix}"
    cr.anonymize(data, k=5, shuffle=False).write(target)
    read = pyreadstat.read_dta if suffix == ".dta" else pyreadstat.read_sav
    values, meta = read(str(target), output_format="dict")
    assert values["sex"] == [1, 2] * (N // 2)
    assert meta.variable_value_labels == {"sex": {1: "male", 2: "female"}, "score": {99: "refused"}}
    assert meta.column_names_to_labels["sex"] == "Sex of the person"
    assert b"secret" not in target.read_bytes()
    assert contents(target) == []


@pytest.mark.parametrize("suffix", [".dta", ".sav"])
def test_what_a_statistical_file_has_besides(tmp_path: Path, suffix: str) -> None:
    """Its notes, its label and the labels of values that no record has are not in the clean copy."""
    options = {"note": "the first is Ann, a secret"} if suffix == ".sav" else {}
    source, target = labelled(tmp_path / f"people{suffix}", **options), tmp_path / f"clean{suffix}"
    assert contents(source) == [f"format:{'spss' if suffix == '.sav' else 'stata'}"]
    assert b"secret" in source.read_bytes()
    cr.rewrite(source, target)
    assert b"secret" not in target.read_bytes()
    assert contents(target) == []


def test_several_kinds_of_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "people.sav"
    frame = pd.DataFrame({"age": [20.0, 30.0, -9.0, -8.0]})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"age": [-9, -8]})
    assert cr.read(path).to_arrow()["age"].to_pylist() == [20, 30, None, None]
    cr.rewrite(path, tmp_path / "clean.sav")
    values, _ = pyreadstat.read_sav(str(tmp_path / "clean.sav"), user_missing=True, output_format="dict")
    assert values["age"] == [20, 30, None, None]


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".arrow"])
def test_a_byte_more_is_found(tmp_path: Path, suffix: str) -> None:
    source, target = tmp_path / "source.parquet", tmp_path / f"safe{suffix}"
    cr.Dataset.from_frame(TABLE.drop(["born"])).write(source)
    cr.rewrite(source, target)
    assert contents(target) == []
    if suffix == ".arrow":
        hidden = TABLE.replace_schema_metadata({"who": "Ann"}).drop(["born"])
        pyarrow.feather.write_feather(hidden, target)
        assert "metadata:who" in contents(target)
        return
    target.write_bytes(target.read_bytes() + b"Ann")
    assert contents(target) == [f"format:{'spss' if suffix == '.sav' else 'stata'}"]


def test_sas(tmp_path: Path) -> None:
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(pd.DataFrame({"AGE": [20.0, 30.0], "SEX": ["m", "f"]}), str(path))
    assert cr.read(path).to_arrow().to_pydict() == {"AGE": [20, 30], "SEX": ["m", "f"]}
    assert contents(path) == ["format:sas"]


def test_portable_spss(tmp_path: Path) -> None:
    path = tmp_path / "people.por"
    pyreadstat.write_por(pd.DataFrame({"AGE": [20.0, 30.0], "SEX": ["m", "f"]}), str(path))
    assert cr.read(path).to_arrow().to_pydict() == {"AGE": [20, 30], "SEX": ["m", "f"]}
    with pytest.raises(ParameterError, match="'encoding' does not apply"):
        cr.read(path, encoding="utf-8")


@pytest.mark.parametrize("suffix", [".parquet", ".sqlite", ".duckdb"])
def test_a_file_of_another_kind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    path.write_bytes(b"secret,1\n" * 300)
    with pytest.raises(SourceError, match=r"'table\..*' is not a .* file\. Set format") as caught:
        cr.read(path)
    assert "secret" not in str(caught.value)
    assert cr.read(path, format="csv", names=["a", "b"]).count == 300


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".sas7bdat", ".arrow", ".xlsx"])
def test_broken_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(b"secret,1\n" * 300)
    with pytest.raises(SourceError, match="could not be read") as caught:
        cr.read(path)
    assert "secret" not in str(caught.value)


def test_names_that_a_package_does_not_have(tmp_path: Path) -> None:
    data = cr.Dataset.from_frame(pa.table({"blood pressure": [1, 2]}))
    with pytest.raises(OutputError, match="names such as those of the columns"):
        data.write(tmp_path / "out.dta")
    assert not list(tmp_path.iterdir())


# Arrow


def test_nothing_remains_under_missing_values(tmp_path: Path) -> None:
    values = pa.array([1, 4711, 3], pa.int64())
    valid = pa.array([True, False, True]).buffers()[1]
    hidden = pa.Array.from_buffers(pa.int64(), 3, [valid, values.buffers()[1]])
    source, target = tmp_path / "source.arrow", tmp_path / "safe.arrow"
    with pa.ipc.new_file(source, pa.schema([("a", pa.int64())])) as out:
        out.write_batch(pa.record_batch([hidden], names=["a"]))
    number = (4711).to_bytes(8, "little")
    assert number in source.read_bytes()
    assert contents(source) == ["format:arrow"]
    cr.read(source).write(target)
    assert number not in target.read_bytes()
    assert contents(target) == []


@pytest.mark.parametrize("target", ["safe.parquet", "safe.arrow"])
@pytest.mark.parametrize("source", ["t.parquet", "t.feather"])
def test_durations_and_time_zones(tmp_path: Path, source: str, target: str) -> None:
    columns = {
        "stay": pa.array([1, None, 3] * 6, pa.duration("s")),
        "seen": pa.array([0, 1, None] * 6, pa.timestamp("us", "Europe/Berlin")),
        "short": pa.array(np.array([1, 2, 3] * 6, dtype="float16")),
    }
    given = pa.table({"age": [30] * 9 + [41] * 9, **columns})
    if source.endswith(".parquet"):
        pq.write_table(given, tmp_path / source)
    else:
        pyarrow.feather.write_feather(given, tmp_path / source)
    data = cr.read(
        tmp_path / source, quasi_identifiers=["age"], insensitive=list(columns), person="each record"
    )
    cr.anonymize(data, k=3, shuffle=False).write(tmp_path / target)
    read = pq.read_table if target.endswith(".parquet") else pyarrow.feather.read_table
    made = read(tmp_path / target)
    assert made.schema.field("stay").type == pa.duration("s")
    assert made.schema.field("seen").type == pa.timestamp("us", "Europe/Berlin")
    assert made.select(list(columns)).to_pylist() == given.select(list(columns)).to_pylist()
    assert contents(tmp_path / target) == []


def test_dictionaries_with_more_values(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a", "secret"]))
    pyarrow.feather.write_feather(pa.table({"x": codes}), path)
    assert cr.read(path).to_arrow()["x"].to_pylist() == ["a", "a"]
    assert contents(path) == ["format:arrow"]


def test_streams_and_other_writers(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    with pa.ipc.new_stream(path, TABLE.schema) as out:
        out.write_table(TABLE)
    assert cr.read(path).count == N
    assert contents(path) == ["format:arrow"]
    pl.from_arrow(TABLE).write_ipc(tmp_path / "polars.arrow")
    assert cr.read(tmp_path / "polars.arrow").count == N


# Workbooks


def test_texts_in_a_workbook_are_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    data = pa.table({"=a": ["=1+1", "http://x.org"], "n": [2**60, 1]})
    cr.Dataset.from_frame(data).write(path)
    sheet = openpyxl.load_workbook(path).active
    assert [cell.value for cell in sheet[1]] == ["=a", "n"]
    assert sheet["A2"].data_type != "f"
    assert sheet["A2"].value == "=1+1"
    assert sheet["B2"].value == str(2**60)  # a float would have another value


def test_the_sheets_are_named(tmp_path: Path) -> None:
    path, book = tmp_path / "t.xlsx", openpyxl.Workbook()
    book.create_sheet("people").append(["age"])
    book.save(path)
    with pytest.raises(SourceError, match="'Sheet' is empty. The other sheets are: 'people'"):
        cr.read(path)


# Compressed files


@pytest.mark.parametrize("suffix", ["bz2", "xz", "zst"])
def test_what_follows_a_compressed_table(tmp_path: Path, suffix: str) -> None:
    path, data = tmp_path / f"t.csv.{suffix}", b"a,b\n1,2\n3,4\n"
    pack = {"bz2": bz2.compress, "xz": lzma.compress, "zst": _zstd}[suffix]
    path.write_bytes(pack(data))
    assert cr.read(path).to_arrow().to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert contents(path) == ([] if suffix != "zst" else ["compressed:more"])  # its frames are not listed
    more = b"\x50\x2a\x4d\x18\x03\0\0\0Ann" if suffix == "zst" else pack(b"5,6\n")
    path.write_bytes(pack(data) + more)
    assert "compressed:more" in contents(path)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst", "lz4", "br"])
@pytest.mark.parametrize("text", ["csv", "jsonl"])
def test_every_compression_is_read(tmp_path: Path, text: str, suffix: str) -> None:
    path = tmp_path / f"t.{text}.{suffix}"
    lines = [f'{{"a": {i}, "b": "x{i}"}}' if text == "jsonl" else f"{i},x{i}" for i in range(9000)]
    data = "\n".join([*([] if text == "jsonl" else ["a,b"]), *lines, ""]).encode()
    codec = {"gz": "gzip", "zst": "zstd", "br": "brotli"}.get(suffix, suffix)
    if suffix == "xz":
        packed = lzma.compress(data)
    else:
        with pa.CompressedOutputStream(str(path), codec) as file:
            file.write(data)
        packed = path.read_bytes()
    path.write_bytes(packed)
    for place in (path, f"file://{path}"):
        found = cr.read(place).to_arrow()
        assert (found.num_rows, found["b"][8999].as_py()) == (9000, "x8999")
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(SourceError, match=rf"'t\.{text}\.{suffix}'"):
        cr.read(path).to_arrow()


@pytest.mark.parametrize("name", ["t.parquet.gz", "t.xlsx.br", "t.dta.zst", "t.sqlite.xz"])
def test_other_formats_are_not_compressed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"anything")
    with pytest.raises(SourceError, match=f"'{name}' is compressed.*Unpack it first"):
        cr.read(path)


def _zstd(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


# Databases and tables with versions


def test_schemas_and_views_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE SCHEMA ward; CREATE TABLE ward.people AS SELECT 1 AS a")
        database.execute("CREATE TABLE people AS SELECT 2 AS a")
        database.execute("CREATE VIEW ward.old AS SELECT 3 AS a")
    assert cr.read(path, table="ward.people").to_arrow()["a"].to_pylist() == [1]
    assert cr.read(path, table="ward.old").to_arrow()["a"].to_pylist() == [3]
    with pytest.raises(SourceError, match=r"'main.people', 'ward.people'"):
        cr.read(path)


def test_delta(tmp_path: Path) -> None:
    import deltalake

    deltalake.write_deltalake(str(tmp_path / "t"), TABLE)
    deltalake.write_deltalake(str(tmp_path / "t"), TABLE.slice(0, 50), mode="overwrite")
    assert cr.read(tmp_path / "t").count == 50
    assert contents(tmp_path / "t") == ["format:delta"]


def test_iceberg(tmp_path: Path) -> None:
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.people", TABLE.schema)
    table.append(TABLE)
    table.append(TABLE)
    place = Path(table.location().removeprefix("file://"))
    assert cr.read(place).count == 2 * N
    assert contents(place) == ["format:iceberg"]
