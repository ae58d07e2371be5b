"""Minus zero and zero are one value on every engine, written in two ways; the first rows can be counted
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crypsis import read
from crypsis.dataset import Dataset
from crypsis.singling_out import records_at_risk
from crypsis.tables import Rows


def test_minus_zero_is_zero(on_engine: Callable[[pa.Table], Rows]) -> None:
    table = pa.table({"a": [0.0, -0.0, 1.0, -0.0], "b": [1, 1, 2, 2]})
    narrow = table.append_column("c", pa.array([0.0, -0.0, 0.1, 0.1], pa.float32()))
    rows = on_engine(narrow)
    found = rows.cells(["a", "b"])
    assert found.num_rows == 3
    assert len(found.column(0).combine_chunks().dictionary) == 2
    assert rows.tally(["a"]).distinct == 2
    assert rows.tally(["c"]).distinct == 2


def test_minus_zero_among_the_records_at_risk(on_engine: Callable[[pa.Table], Rows]) -> None:
    rows = on_engine(pa.table({"a": [0.0, 0.0, 0.0, -0.0, 1.0, float("nan")]}))
    found = records_at_risk(Dataset(rows), ["a"], threshold=0.5)
    assert found.count == 3


def test_the_first_rows_alone(on_engine: Callable[[pa.Table], Rows]) -> None:
    rows = on_engine(pa.table({"a": [1, 2, 3, None, 3, 3]}))
    first = rows.tally_first("a", 4)
    assert first.rows == 4
    every = rows.tally_first("a", 100)
    assert (every.rows, every.distinct, every.missing) == (6, 4, 1)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_nan_is_missing_whatever_the_statistics_of_the_file_leave_out(
    tmp_path: Path, kind: pa.DataType
) -> None:
    values = [1.5, 2.5, -0.0, 1000.0, float("inf"), float("-inf"), float("nan")]
    pq.write_table(pa.table({"a": pa.array(values, kind)}), tmp_path / "numbers.parquet")
    rows = read(tmp_path / "numbers.parquet").rows
    assert (rows.tally(["a"]).missing, rows.tally(["a"]).distinct) == (1, 7)
    assert rows.cells(["a"]).column(0).null_count == 1


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_notations_of_numbers_are_compared_as_their_texts_are(tmp_path: Path, kind: pa.DataType) -> None:
    nan, negative = float("nan"), float(-np.float64("nan"))
    columns = {
        f"c{i}": pa.array(values, kind, from_pandas=False)
        for i, values in enumerate(product([0.0, 1.5], [-0.0, None], [nan, 2.5], [None, negative]))
    }
    pq.write_table(pa.table({"n": [1, 2, 3, None], **columns}), tmp_path / "numbers.parquet")
    rows = read(tmp_path / "numbers.parquet").rows
    assert rows.written is not None
    read_values = rows.value_counts(list(columns))
    texts = rows.written(list(columns)).value_counts(list(columns))
    finer = [
        name
        for name, counts in read_values.items()
        if len(texts[name]) + (sum(texts[name].values()) < 4) > len(counts) + (sum(counts.values()) < 4)
    ]
    assert 0 < len(finer) < len(columns)
    assert list(rows.finer_as_written(["n", *columns])) == finer
