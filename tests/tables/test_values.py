"""Minus zero and zero are one value on every engine, written in two ways; the first rows can be counted
alone.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

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
