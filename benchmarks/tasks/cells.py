"""The engine against the thing itself: raw DuckDB and pandas count combinations of values."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from benchmarks import data
from benchmarks.measure import Contender, Task

ROWS = int(os.environ.get("CRYPSIS_BENCH_ROWS", 10_000_000))
SIZE = f"{ROWS:,} rows, Parquet"


def cells_ours(path: str, columns: list[str], memory: str | None) -> Callable[[], Any]:
    """The cells, coded and sorted, ready for every measure."""
    import crypsis as cr

    def call() -> list[int]:
        cells = cr.read(path, memory_limit=memory).cells(columns)
        return [len(cells), int(cells.counts.max()), cells.singletons]

    return call


def cells_raw(path: str, columns: list[str], memory: str | None) -> Callable[[], Any]:
    """The same three numbers, asked of DuckDB alone; the cells themselves never leave it."""
    import duckdb

    names = ", ".join(f'"{name}"' for name in columns)
    sql = f"""SELECT count(*), max(n), count(*) FILTER (n = 1) FROM (
        SELECT {names}, count(*) AS n FROM '{path}' GROUP BY ALL)"""

    def call() -> list[int]:
        connection = duckdb.connect(config={} if memory is None else {"memory_limit": memory})
        connection.execute("SET enable_progress_bar = false")
        row = connection.execute(sql).fetchall()[0]
        return [int(value) for value in row]

    return call


def cells_fetched(path: str, columns: list[str], memory: str | None) -> Callable[[], Any]:
    """The cells fetched from DuckDB as an Arrow table, uncoded."""
    import duckdb
    import pyarrow.compute as pc

    names = ", ".join(f'"{name}"' for name in columns)
    sql = f"SELECT {names}, count(*) AS n FROM '{path}' GROUP BY ALL"

    def call() -> list[int]:
        connection = duckdb.connect(config={} if memory is None else {"memory_limit": memory})
        connection.execute("SET enable_progress_bar = false")
        counts = connection.sql(sql).to_arrow_table()["n"]
        single = pc.sum(pc.equal(counts, 1)).as_py()
        return [len(counts), int(pc.max(counts).as_py()), int(single)]

    return call


def cells_pandas(path: str, columns: list[str], memory: None) -> Callable[[], Any]:
    import pandas as pd

    def call() -> list[int]:
        frame = pd.read_csv(path, usecols=columns)
        sizes = frame.groupby(columns, sort=False, dropna=False).size()
        return [len(sizes), int(sizes.max()), int((sizes == 1).sum())]

    return call


def uniqueness_ours(path: str, columns: list[str], memory: str | None) -> Callable[[], Any]:
    """How many combinations and how many unique rows, counted where the rows are."""
    import crypsis as cr

    def call() -> list[int]:
        tally = cr.read(path, memory_limit=memory).rows.tally(columns)
        return [int(tally.distinct), int(tally.largest), int(tally.singletons)]

    return call


def _ours(function: str = "cells_ours") -> Contender:
    return Contender("crypsis", __name__, function)


RAW = Contender("raw DuckDB", __name__, "cells_raw")
FETCHED = Contender("raw DuckDB, fetched", __name__, "cells_fetched")
PANDAS = Contender("pandas groupby", __name__, "cells_pandas")
_CODED = (
    "crypsis hands over the cells themselves, fetched, coded and checked, for every later measure; "
    "the query returns three numbers"
)
_COLD = (
    "the first call in a process loads libraries, 0.4 processor seconds at any size; the second "
    "takes 1.1 times the query"
)
_ALL_COLUMNS = (
    "all 15 columns are read and kept for later questions, types settled by every line; the other "
    "reads the eight that it is asked about"
)
_SMALL = (
    "all 15 columns are read and kept, markers of missing values and blanks taken out, types "
    "settled by every line; the other reads the eight that it is asked about; a few hundredths of "
    "a second"
)

TASKS = (
    Task(
        "cells of 8 columns",
        "Adult CSV, 32,561 rows",
        _ours(),
        PANDAS,
        lambda: [data.adult(), data.EIGHT, None],
        warm=True,
        limit=True,
        why=_SMALL,
    ),
    Task(
        "cells of 8 columns",
        "Adult CSV, 32,561 rows",
        _ours(),
        RAW,
        lambda: [data.adult(), data.EIGHT, None],
        warm=True,
        quick=True,
        limit=True,
        why=_SMALL,
    ),
    Task(
        "cells of 8 columns",
        "Adult CSV scaled to 10^6 rows",
        _ours(),
        PANDAS,
        lambda: [data.adult_million(), data.EIGHT, None],
        limit=True,
        why=_ALL_COLUMNS,
    ),
    Task(
        "cells of 8 columns",
        "Adult CSV scaled to 10^6 rows",
        _ours(),
        RAW,
        lambda: [data.adult_million(), data.EIGHT, None],
        limit=True,
        why=_ALL_COLUMNS,
    ),
    Task(
        "cells of (age, disease)",
        SIZE,
        _ours(),
        RAW,
        lambda: [data.people(ROWS), ["age", "disease"], None],
        runs=5,
        limit=True,
        why=_COLD,
    ),
    Task(
        "cells of 4 columns, about 10^6, 1 GB of memory",
        SIZE,
        _ours(),
        RAW,
        lambda: [data.combinations(ROWS, ROWS // 10), list("abcd"), "1GB"],
        limit=True,
        why=_CODED,
    ),
    Task(
        "unique rows of 4 columns, 1 GB of memory",
        SIZE,
        _ours("uniqueness_ours"),
        RAW,
        lambda: [data.combinations(ROWS, ROWS // 10), list("abcd"), "1GB"],
        limit=True,
        why=_COLD,
    ),
)
