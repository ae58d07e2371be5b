"""The tables that contenders share: made once, under `benchmarks/work/`, the same on every machine.

The names of columns are here too; a peer's module may import this one, so it needs no library.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

WORK = Path(__file__).parent / "work"
FOLDER = Path(os.environ.get("CRYPSIS_DATA", Path(__file__).parents[2] / "shared" / "data"))
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
TEN = (
    "age workclass education marital-status occupation relationship race sex hours-per-week native-country"
).split()
EIGHT = "age workclass education marital-status occupation race sex native-country".split()
FOUR = "age education race sex".split()
TREES = {
    "age": "age",
    "education": "education",
    "marital-status": "marital",
    "occupation": "occupation",
    "sex": "sex",
    "native-country": "country",
}
"""The columns of Adult for which ANJANA ships a hierarchy that fits, and its file's name."""


def trees() -> dict[str, str]:
    """The hierarchies that ours and ANJANA use alike."""
    folder = FOLDER / "hierarchies" / "anjana_adult"
    return {column: str(folder / f"{name}.csv") for column, name in TREES.items()}


TESTDATA_KEYS = "urbrur roof walls water electcon relat sex".split()


def testdata() -> str:
    """`testdata` of sdcMicro, written by it."""
    from benchmarks import environments
    from benchmarks.peers import sdcmicro_peer

    path = WORK / "testdata.csv"
    if not path.exists():
        environments.python("sdcmicro")  # or it is left out
        sdcmicro_peer.export(str(path))
    return str(path)


def adult() -> str:
    """Adult with a header, blanks after commas removed, rows with a `?` kept."""
    return _made("adult.csv", _adult, 0)


def adult_complete() -> str:
    """Adult without the rows that have a `?`, for which the hierarchies have no place."""
    return _made("adult-complete.csv", _adult_complete, 0)


def adult_million() -> str:
    """Adult scaled to 10^6 rows: drawn from its rows with replacement."""
    return _made("adult-million.csv", _adult, 1_000_000)


def adult_complete_million() -> str:
    """The same of the rows without a `?`."""
    return _made("adult-complete-million.csv", _adult_complete, 1_000_000)


def diabetes() -> str:
    """The encounters of diabetes130, as published."""
    path = WORK / "diabetes.csv"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(FOLDER / "diabetes130" / "dataset_diabetes.zip") as files:
            path.write_bytes(files.read("dataset_diabetes/diabetic_data.csv"))
    return str(path)


def people(rows: int) -> str:
    """(id, age, disease): every id once, 120 ages, 100 diseases of which some go with some ages."""
    return _query(
        f"people-{rows}.parquet",
        f"""SELECT i AS id, age::SMALLINT AS age,
        'd' || (CASE WHEN h % 4 = 0 THEN age % 100 ELSE (h >> 8) % 100 END) AS disease
        FROM (SELECT i, hash(i) % 120 AS age, hash(i * 7 + 1) AS h FROM range({rows}) t(i))""",
    )


def combinations(rows: int, cells: int) -> str:
    """Four columns with at most `cells` combinations, near 100 : 100 : cells/10^5 : 10 values."""
    last = max(1, cells // 100_000)
    first = round((cells / (10 * last)) ** 0.5)
    return _query(
        f"combinations-{rows}-{cells}.parquet",
        f"""SELECT (hash(i) % {first})::SMALLINT AS a, (hash(i + {rows}) % {first})::SMALLINT AS b,
        'c' || (hash(i * 3 + 5) % {last}) AS c, (hash(i * 11 + 7) % 10)::SMALLINT AS d
        FROM range({rows}) t(i)""",
    )


def numbers(rows: int) -> str:
    """One column of normal numbers."""
    return _query(
        f"numbers-{rows}.parquet",
        f"""SELECT sqrt(-2 * ln((hash(i) % 1000003 + 1) / 1000004.0))
        * cos(2 * pi() * (hash(i * 5 + 3) % 1000003) / 1000003.0) AS x FROM range({rows}) t(i)""",
    )


def wide() -> str:
    """10^6 rows of 20 independent columns, of 2 to 300 values."""
    domains = [round(2 * 150 ** (c / 19)) for c in range(20)]
    columns = ", ".join(f"(hash(i * 20 + {c}) % {size})::SMALLINT AS c{c}" for c, size in enumerate(domains))
    return _query("wide.parquet", f"SELECT {columns} FROM range(1000000) t(i)")


def masked(path: str, numbers: Sequence[str]) -> str:
    """Some columns of a file with noise of about a tenth of their standard deviation."""
    noised = ", ".join(
        f'"{name}" + (SELECT stddev("{name}") FROM rows) * 0.1 * (hash(place * {c} + 3) % 1000 / '
        f'500.0 - 1) AS "{name}"'
        for c, name in enumerate(numbers, 1)
    )
    return _query(
        f"{Path(path).stem}-masked.parquet",
        f"""WITH rows AS (SELECT *, row_number() OVER () AS place FROM '{path}')
        SELECT {noised} FROM rows ORDER BY place""",
    )


def first(path: str, numbers: Sequence[str]) -> str:
    """One record, for the person who verifies."""
    chosen = ", ".join(f'"{name}"' for name in numbers)
    return _query(f"{Path(path).stem}-first.parquet", f"SELECT {chosen} FROM '{path}' LIMIT 1")


def known(path: str, numbers: Sequence[str], rows: int = 1000) -> tuple[str, str]:
    """A public table with names, and a release of the same people under pseudonyms."""
    chosen = ", ".join(f'"{name}"' for name in numbers)
    sql = f"SELECT row_number() OVER () AS who, {chosen} FROM '{path}' LIMIT {rows}"
    stem = Path(path).stem
    return _query(f"{stem}-public.parquet", sql), _query(f"{stem}-released.parquet", sql)


def _made(name: str, make: object, rows: int) -> str:
    path = WORK / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        assert callable(make)
        frame = make()
        if rows:
            frame = frame.sample(rows, replace=True, random_state=13)
        frame.to_csv(path, index=False)
    return str(path)


def _adult() -> object:
    import pandas as pd

    return pd.read_csv(FOLDER / "adult" / "adult.data", names=ADULT, skipinitialspace=True)


def _adult_complete() -> object:
    import pandas as pd

    frame = pd.read_csv(FOLDER / "adult" / "adult.data", names=ADULT, skipinitialspace=True)
    return frame[(frame != "?").all(axis=1)]


def _query(name: str, sql: str) -> str:
    path = WORK / name
    if not path.exists():
        import duckdb

        path.parent.mkdir(exist_ok=True)
        partial = path.with_suffix(".partial")
        connection = duckdb.connect()
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY ({sql}) TO '{partial}' (FORMAT parquet, PARQUET_VERSION v2)")
        partial.rename(path)
    return str(path)
