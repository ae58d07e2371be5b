"""Minus zero and zero are one value on every engine; the first rows can be looked at alone."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from crypsis.engine import Rows


def test_minus_zero_is_zero(on_engine: Callable[[pa.Table], Rows]) -> None:
    table = pa.table({"a": [0.0, -0.0, 1.0, -0.0], "b": [1, 1, 2, 2]})
    narrow = table.append_column("c", pa.array([0.0, -0.0, 0.1, 0.1], pa.float32()))
    rows = on_engine(narrow)
    found = rows.cells(["a", "b"])
    assert found.num_rows == 3
    assert len(found.column(0).combine_chunks().dictionary) == 2
    assert rows.tally(["a"]).distinct == 2
    assert rows.tally(["c"]).distinct == 2


def test_a_look_at_the_first_rows(on_engine: Callable[[pa.Table], Rows]) -> None:
    rows = on_engine(pa.table({"a": [1, 2, 3, None, 3, 3]}))
    look = rows.tally_first("a", 4)
    assert look.rows == 4
    whole = rows.tally_first("a", 100)
    assert (whole.rows, whole.distinct, whole.missing) == (6, 4, 1)
