"""One small awkward table, opened on each engine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from crypsis.tables import Rows, open_frame


def awkward_table() -> pa.Table:
    """Names that every engine trips over, missing values, NaN, dates, ties, values like SQL."""
    n = 60
    return pa.table(
        {
            "id": pa.array(range(n), pa.int64()),
            "Age": pa.array([None if i % 13 == 0 else 20 + i % 7 for i in range(n)], pa.int64()),
            "age": pa.array([i % 5 for i in range(n)], pa.int32()),
            'na"me; DROP': pa.array([f"'; DROP TABLE t{i % 4}; --" for i in range(n)]),
            "a.b": pa.array([float("nan") if i % 10 == 0 else i / 4 for i in range(n)]),
            "😀": pa.array([i % 3 == 0 for i in range(n)]),
            "born": pa.array([date(1980, 1, 1 + i % 9) for i in range(n)]),
        }
    )


@pytest.fixture(params=["duckdb", "pandas", "polars", "spark"])
def on_engine(request: pytest.FixtureRequest) -> Callable[[pa.Table], Rows]:
    """A function that opens an Arrow table on one of the engines."""
    if request.param == "spark":
        session: Any = request.getfixturevalue("spark")
        return lambda table: open_frame(session.createDataFrame(table))
    if request.param == "pandas":
        return lambda table: open_frame(table.to_pandas())
    if request.param == "polars":
        import polars

        return lambda table: open_frame(polars.from_arrow(table))
    return lambda table: open_frame(table)


@pytest.fixture
def rows(on_engine: Callable[[pa.Table], Rows]) -> Rows:
    return on_engine(awkward_table())
