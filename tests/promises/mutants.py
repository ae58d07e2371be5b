"""Files of every format with bytes changed at random, each read to its end in a process of its own.

`python -m tests.promises.mutants FORMAT FOLDER FIRST COUNT` prints a line for each mutant: its number and
what came of it. A mutant that ends the process is the one whose line is missing.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import crypsis as cr
from crypsis.errors import CrypsisError
from crypsis.tables import Kind

RECORDS = 200
_VALUES = (0, 1, 0x7F, 0x80, 0xFF)


def table(**more: pa.Array) -> pa.Table:
    """Numbers, texts, missing values and dates."""
    places = range(RECORDS)
    return pa.table(
        {
            "id": pa.array(places, pa.int64()),
            "town": pa.array([f"town {place % 7}" for place in places]),
            "share": pa.array([None if place % 9 == 0 else place / 2 for place in places]),
            "day": pa.array(places, pa.date32()),
            **more,
        }
    )


def arrow_table() -> pa.Table:
    """A table with the types that have offsets, indices and views."""
    places = range(RECORDS)
    return table(
        sex=pa.array([f"x{place % 3}" for place in places]).dictionary_encode(),
        visits=pa.array([[place, place + 1] for place in places]),
        name=pa.array([f"a longer text {place % 3}" for place in places]).cast(pa.string_view()),
        runs=pa.RunEndEncodedArray.from_arrays(pa.array([100, 200], pa.int32()), pa.array(["a", "b"])),
        pair=pa.array([{"a": place, "b": str(place)} for place in places]),
    )


def _arrow(path: Path, compression: str | None = None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, arrow_table().schema, options=options) as writer:
        writer.write_table(arrow_table(), max_chunksize=90)


def _stream(path: Path) -> None:
    with pa.ipc.new_stream(path, arrow_table().schema) as writer:
        writer.write_table(arrow_table())


def _by_crypsis(path: Path) -> None:
    cr.Dataset.from_frame(table()).write(path)


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("create table t (id, town, share)")
        rows = table().drop(["day"]).to_pydict()
        base.executemany("insert into t values (?, ?, ?)", zip(*rows.values(), strict=True))
    base.close()


def _duckdb(path: Path) -> None:
    rows = table()
    with duckdb.connect(str(path)) as base:
        base.register("rows", rows)
        base.execute("create table t as select * from rows")


def _iceberg(path: Path) -> None:
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=f"file://{path.parent / 'house'}")
    catalog.create_namespace("n")
    made = catalog.create_table("n.people", table().schema)
    made.append(table())
    shutil.move(made.location().removeprefix("file://"), path)


def _ods(path: Path) -> None:
    import pandas as pd

    pd.DataFrame(table().to_pydict()).to_excel(path, index=False, engine="odf")


FORMATS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "arrow": ("t.arrow", _arrow),
    "arrow, lz4": ("t.arrow", lambda path: _arrow(path, "lz4")),
    "arrow, zstd": ("t.feather", lambda path: _arrow(path, "zstd")),
    "arrow stream": ("t.arrow", _stream),
    "feather 1": ("t.feather", lambda path: pyarrow.feather.write_feather(table(), path, version=1)),
    "parquet": ("t.parquet", lambda path: pq.write_table(arrow_table().drop(["runs"]), path)),
    "stata": ("t.dta", _by_crypsis),
    "spss": ("t.sav", _by_crypsis),
    "excel": ("t.xlsx", _by_crypsis),
    "duckdb": ("t.duckdb", _duckdb),
    "sqlite": ("t.sqlite", _sqlite),
    "delta": ("t.delta", _by_crypsis),
    "iceberg": ("t.iceberg", _iceberg),
    "json": ("t.jsonl", _by_crypsis),
    "csv": ("t.csv.gz", _by_crypsis),
}


def changed(content: bytes, draw: random.Random) -> bytes:
    """A file with a few bytes changed, a large number put in, or its end cut off."""
    mutant = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        mutant[draw.randrange(len(mutant))] = draw.choice((*_VALUES, draw.randrange(256)))
    if draw.random() < 0.15:
        place = draw.randrange(len(mutant))
        mutant[place : place + 4] = draw.choice((b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4))
    return bytes(mutant[: draw.randrange(len(mutant))] if draw.random() < 0.05 else mutant)


def read_whole(path: Path) -> str:
    """Read a file as a verb would, and say how that ended."""
    try:
        data = cr.read(path)
        data.to_arrow()
        for column in data.rows.columns:
            if column.kind is not Kind.NESTED:
                data.rows.value_counts([column.name])
        data.rows.contents()  # type: ignore[misc]
    except CrypsisError as error:
        return f"refused ({type(error).__name__})"
    except Exception as error:  # noqa: BLE001 - it is what is looked for
        return f"FAULT {type(error).__name__}"
    return "read"


def main(form: str, folder: Path, first: int, count: int) -> None:
    """Make the mutants from the number `first` on, and read each."""
    name, write = FORMATS[form]
    original = folder / "original" / name
    if not original.exists():
        original.parent.mkdir(parents=True, exist_ok=True)
        write(original)
    for number in range(first, first + count):
        draw = random.Random(f"{form} {number}")
        mutant = folder / name
        if original.is_dir():
            shutil.rmtree(mutant, ignore_errors=True)
            shutil.copytree(original, mutant)
            part = draw.choice(sorted(path for path in mutant.rglob("*") if path.is_file()))
            part.write_bytes(changed(part.read_bytes() or b"\0", draw))
        else:
            mutant.write_bytes(changed(original.read_bytes(), draw))
        print(number, read_whole(mutant), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
