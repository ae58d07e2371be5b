"""The engine against the thing itself: raw DuckDB for group-bys, pandas for subsets of columns."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

from benchmarks import measure

ADULT_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
TEN = (
    "age workclass education marital-status occupation relationship race sex hours-per-week "
    "native-country"
).split()
ROWS = 100_000_000


_OPENED: dict[str, Any] = {}
"""What the first, untimed call has read, so that the loops alone are timed."""


def subsets_ours(path: str) -> int:
    """Unique rows summed over all 1,023 sets of columns, the scan for the cells included."""
    import crypsis as cr
    from crypsis.cells import Cells

    if path not in _OPENED:
        _OPENED[path] = cr.read(path, names=ADULT_COLUMNS)
    cells = Cells.from_table(_OPENED[path].rows.cells(TEN), TEN)
    return sum(subset.singletons for subset in cells.subsets())


def subsets_pandas(path: str) -> int:
    import pandas

    if path not in _OPENED:
        table = pandas.read_csv(path, names=ADULT_COLUMNS, skipinitialspace=True)
        _OPENED[path] = table[TEN]
    frame = _OPENED[path]
    total = 0
    for size in range(1, len(TEN) + 1):
        for names in itertools.combinations(TEN, size):
            total += int((frame.groupby(list(names), sort=False, dropna=False).size() == 1).sum())
    return total


def pairs_ours(path: str) -> tuple[int, int]:
    """Cells of (age, disease): how many, and the size of the largest."""
    import crypsis as cr

    cells = cr.read(path).cells(["age", "disease"])
    return len(cells), int(cells.counts.max())


def pairs_raw(path: str) -> tuple[int, int]:
    import duckdb

    sql = f"SELECT age, disease, count(*) AS n FROM '{path}' GROUP BY age, disease"
    counts = [int(row[2]) for row in duckdb.connect().execute(sql).fetchall()]
    return len(counts), max(counts)


def many_cells_ours(path: str) -> tuple[int, int]:
    """About ten million cells of four columns, under a memory limit."""
    import crypsis as cr

    cells = cr.read(path, memory_limit="2GB").cells(["a", "b", "c", "d"])
    return len(cells), cells.singletons


def many_cells_raw(path: str) -> tuple[int, int]:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "2GB"})
    sql = f"""SELECT count(*), count(*) FILTER (n = 1) FROM (
        SELECT a, b, c, d, count(*) AS n FROM '{path}' GROUP BY ALL)"""
    row = connection.execute(sql).fetchall()[0]
    return int(row[0]), int(row[1])


def generate(folder: Path) -> tuple[Path, Path]:
    """10^8 rows twice: (id, age, disease), and four columns with about 10^7 combinations."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    duckdb.sql("SET enable_progress_bar = false")
    people, wide = folder / "people.parquet", folder / "wide.parquet"
    if not people.exists():
        duckdb.sql(
            f"""COPY (SELECT i AS id, (hash(i) % 120)::SMALLINT AS age,
            ('d' || (hash(i * 7 + 1) % 100)) AS disease FROM range({ROWS}) t(i))
            TO '{people}' (FORMAT parquet)"""
        )
    if not wide.exists():
        duckdb.sql(
            f"""COPY (SELECT (hash(i) % 100)::SMALLINT AS a,
            (hash(i + {ROWS}) % 100)::SMALLINT AS b,
            'c' || (hash(i * 3 + 5) % 100) AS c, (hash(i * 11 + 7) % 10)::SMALLINT AS d
            FROM range({ROWS}) t(i)) TO '{wide}' (FORMAT parquet)"""
        )
    return people, wide


def main() -> None:
    adult = str(measure.DATA / "adult" / "adult.data")
    found = [
        measure.side_by_side(
            "1,023 subsets of ten columns",
            "Adult, 32,561 rows",
            subsets_ours,
            subsets_pandas,
            adult,
            theirs_is="pandas groupby",
            warm=True,
        )
    ]
    folder = measure.WORK / "engine"
    people, wide = generate(folder)
    try:
        found.append(
            measure.side_by_side(
                "cells of (age, disease)",
                "10^8 rows, Parquet",
                pairs_ours,
                pairs_raw,
                str(people),
                theirs_is="raw DuckDB",
                runs=5,
            )
        )
        found.append(
            measure.side_by_side(
                "cells of four columns, about 10^7, DuckDB limited to 2 GB",
                "10^8 rows, Parquet",
                many_cells_ours,
                many_cells_raw,
                str(wide),
                theirs_is="raw DuckDB, counted there",
            )
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    measure.save("engine", found)


if __name__ == "__main__":
    main()
