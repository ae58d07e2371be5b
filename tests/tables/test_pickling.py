"""Rows in another process: a frame as its table, a file as its path and options."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import crypsis as cr
from crypsis.errors import InputError

TABLE = pa.table({"age": [30, 30, 41, None], "x": [0.5, -0.0, float("nan"), 2.0]})


def again(dataset: Any) -> Any:
    return pickle.loads(pickle.dumps(dataset))


@pytest.mark.parametrize("kind", ["pandas", "arrow", "relation", "timestamps"])
def test_a_frame(kind: str) -> None:
    frame: Any = TABLE
    if kind == "pandas":
        frame = TABLE.to_pandas()
    elif kind == "relation":
        frame = duckdb.from_arrow(TABLE)
    elif kind == "timestamps":  # a type that DuckDB reads, and Arrow's own counting does not
        frame = TABLE.append_column("t", pa.array([1, 2, 3, 4], pa.timestamp("us")))
    dataset = cr.Dataset.from_frame(frame, quasi_identifiers=["age"])
    found = again(dataset)
    assert found.names == dataset.names
    assert found.quasi_identifiers == ("age",)
    assert found.cells().counts.tolist() == dataset.cells().counts.tolist()


@pytest.mark.parametrize("suffix", ["csv", "duckdb", "parquet"])
def test_a_file_is_opened_again(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"people.{suffix}"
    if suffix == "csv":
        path.write_text("age;zip\n30;01234\n30;n/a\n41;02345\n")
    elif suffix == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE people AS SELECT 30 AS age, '01234' AS zip")
    else:
        pa.parquet.write_table(TABLE, path)
    options = {"missing_markers": ["n/a"]} if suffix == "csv" else {}
    dataset = cr.read(path, **options)
    text = pickle.dumps(dataset)
    assert b"01234" not in text, "a file is pickled as its path"
    found = pickle.loads(text)
    assert repr(found.to_arrow().to_pydict()) == repr(dataset.to_arrow().to_pydict())


def test_selected_columns(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pa.parquet.write_table(TABLE, path)
    rows = cr.read(path).rows.select(["x"])
    assert again(rows).names == ("x",)
    assert again(rows).count == 4


def test_rows_of_a_cluster_do_not(spark: Any) -> None:
    dataset = cr.Dataset.from_frame(spark.range(3))
    with pytest.raises(InputError, match="cannot be pickled"):
        pickle.dumps(dataset)
