"""Parquet, JSON, spreadsheets and databases that are cut, lie or nest; paths that are no files."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.promises.hostile.case import GOOD, SECRET, Case, answered, file, refused

_TABLE = pa.table({"age": [34, 34, 41, 41] * 50, "disease": [SECRET, "flu", "gout", "flu"] * 50})


def _parquet(table: pa.Table = _TABLE, **options: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def _flipped(places: Sequence[int]) -> bytes:
    content = bytearray(_parquet(compression="none"))
    for place in places:
        content[place] ^= 0xFF
    return bytes(content)


def _lying(old: int, new: int) -> bytes:
    """Parquet whose footer says `new` rows where there are `old` (both one byte as a varint)."""
    content = bytearray(_parquet(pa.table({"a": list(range(old))}), compression="none"))
    size = struct.unpack("<I", content[-8:-4])[0]
    start = len(content) - 8 - size
    old_byte, new_byte = old * 2, new * 2  # zigzag
    for place in range(start, len(content) - 8):
        if content[place] == old_byte:
            content[place] = new_byte
    return bytes(content)


def _nested(depth: int) -> pa.Table:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return pa.table({"deep": [value], "x": [1]})


def _sheet(*rows: Sequence[object], names: Sequence[str] = ("one",)) -> bytes:
    book = openpyxl.Workbook()
    for number, name in enumerate(names):
        sheet = book.active if number == 0 else book.create_sheet()
        sheet.title = name
        for row in rows:
            sheet.append(list(row))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _inflated_sheet() -> bytes:
    """A spreadsheet whose one sheet unpacks to 200 MB of blanks."""
    stream = io.BytesIO(_sheet(("a", "b"), (1, 2)))
    with zipfile.ZipFile(stream) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<sheetData>", b"<sheetData>" + b" " * 200_000_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _sqlite(*statements: str, rows: Sequence[tuple[object, ...]] = ()) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with sqlite3.connect(path) as database:
            for statement in statements:
                database.execute(statement)
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                database.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        database.close()

    return make


def _duck(*statements: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with duckdb.connect(str(path)) as database:
            for statement in statements:
                database.execute(statement)

    return make


def _made(
    name: str, maker: Callable[[Path], None], file_name: str, *more: str, words: str | None = None
) -> Case:
    def make(folder: Path) -> Sequence[str]:
        maker(folder / file_name)
        return ["scan", str(folder / file_name), *more]

    return Case(name, make, words)


def _cut(maker: Callable[[Path], None], keep: float) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        maker(path)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep)])

    return make


def _scrambled(maker: Callable[[Path], None], start: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        maker(path)
        content = bytearray(path.read_bytes())
        content[start : start + 200] = bytes(byte ^ 0x5A for byte in content[start : start + 200])
        path.write_bytes(bytes(content))

    return make


_PEOPLE = "CREATE TABLE t AS SELECT i AS a, 'x' || i AS b FROM range(500) r(i)"
_BOTH = ("CREATE TABLE t (a, b)",)
_ROWS = [(i, f"x{i}") for i in range(500)]


def _path(name: str, maker: Callable[[Path], str], words: str | None) -> Case:
    return Case(name, lambda folder: ["scan", maker(folder)], words)


def _fifo(folder: Path) -> str:
    os.mkfifo(folder / "pipe.csv")
    return str(folder / "pipe.csv")


def _linked(folder: Path) -> str:
    (folder / "real.csv").write_text(GOOD)
    (folder / "link.csv").symlink_to("real.csv")
    return str(folder / "link.csv")


def _dangling(folder: Path) -> str:
    (folder / "link.csv").symlink_to("nowhere.csv")
    return str(folder / "link.csv")


def _loop(folder: Path) -> str:
    (folder / "a.csv").symlink_to("b.csv")
    (folder / "b.csv").symlink_to("a.csv")
    return str(folder / "a.csv")


def _folder_of(**files: bytes) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        inner = folder / "many"
        inner.mkdir()
        for name, content in files.items():
            (inner / name.replace("_", ".")).write_bytes(content)
        return str(inner)

    return make


def _glob(pattern: str, **files: bytes) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        return _folder_of(**files)(folder) + "/" + pattern

    return make


def _glob_with_folder(folder: Path) -> str:
    (folder / "x.csv").mkdir()
    (folder / "y.csv").write_text(GOOD)
    return str(folder / "*.csv")


def _glob_with_fifo(folder: Path) -> str:
    _fifo(folder)
    (folder / "y.csv").write_text(GOOD)
    return str(folder / "*.csv")


def _odd_name(name: str) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        (folder / name).write_text(GOOD)
        return str(folder / name)

    return make


def _socket(folder: Path) -> str:
    import socket

    path = folder / "s.csv"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path)[-100:] if len(str(path)) > 100 else str(path))
    return str(path)


_GOOD_PARQUET = _parquet()
_OTHER = _parquet(pa.table({"age": ["old"], "weight": [3]}))

CASES: tuple[Case, ...] = (
    answered("Parquet", _GOOD_PARQUET, suffix="parquet"),
    *(
        refused(
            f"Parquet cut at {share:.0%}",
            _GOOD_PARQUET[: int(len(_GOOD_PARQUET) * share)],
            "data.parquet",
            suffix="parquet",
        )
        for share in (0.01, 0.3, 0.7, 0.99)
    ),
    refused("Parquet of magic bytes alone", b"PAR1PAR1", "data.parquet", suffix="parquet"),
    refused(
        "Parquet with a footer longer than the file",
        b"PAR1" + struct.pack("<I", 2**31) + b"PAR1",
        "data.parquet",
        suffix="parquet",
    ),
    refused(
        "Parquet with a footer of nothing", b"PAR1" + bytes(4) + b"PAR1", "data.parquet", suffix="parquet"
    ),
    refused(
        "Parquet with an encrypted footer", _GOOD_PARQUET[:-4] + b"PARE", "data.parquet", suffix="parquet"
    ),
    refused("Parquet with broken pages", _flipped(range(4, 60)), "refused", suffix="parquet"),
    refused("Parquet that promises more rows", _lying(20, 60), "refused", suffix="parquet"),
    answered("Parquet that promises fewer rows", _lying(60, 20), suffix="parquet"),
    refused("Parquet without rows", _parquet(_TABLE.slice(0, 0)), "no rows", suffix="parquet"),
    refused("Parquet without columns", _parquet(pa.table({})), "data.parquet", suffix="parquet"),
    refused("CSV called Parquet", GOOD, "data.parquet", suffix="parquet"),
    refused(
        "Parquet with a name that is not UTF-8",
        _parquet(pa.table({"zzzz": [1, 2]}), store_schema=False).replace(b"zzzz", b"\xff\xfe\xfd\xfc"),
        "not UTF-8",
        suffix="parquet",
    ),
    refused(
        "Parquet with a name twice",
        _parquet(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])),
        "More than one column",
        suffix="parquet",
    ),
    answered(
        "Parquet with names that differ in capitals",
        _parquet(pa.table({"a": [1, 2], "A": [3, 4]})),
        suffix="parquet",
    ),
    answered("Parquet with an empty name", _parquet(pa.table({"": [1, 2], "b": [3, 4]})), suffix="parquet"),
    answered("Parquet nested five deep", _parquet(_nested(5)), suffix="parquet"),
    answered("Parquet nested sixty deep", _parquet(_nested(60)), suffix="parquet"),
    answered(
        "Parquet of bytes", _parquet(pa.table({"a": [b"\x00\xff", b"x"], "b": [1, 2]})), suffix="parquet"
    ),
    answered(
        "Parquet of nothing but missing",
        _parquet(pa.table({"a": pa.nulls(9), "b": [1] * 9})),
        suffix="parquet",
    ),
    answered(
        "Parquet with NaN, infinities and -0.0",
        _parquet(pa.table({"a": [float("nan"), float("inf"), -float("inf"), -0.0, 0.0]})),
        suffix="parquet",
    ),
    answered(
        "Parquet with decimals",
        _parquet(pa.table({"a": pa.array([1, 2], pa.decimal128(38, 10))})),
        suffix="parquet",
    ),
    answered(
        "Parquet with durations and zones",
        _parquet(
            pa.table(
                {
                    "a": pa.array([1, 2], pa.timestamp("ns", "Asia/Tokyo")),
                    "b": pa.array([1, 2], pa.time64("us")),
                }
            )
        ),
        suffix="parquet",
    ),
    answered(
        "Parquet with timestamps at the edge",
        _parquet(pa.table({"a": pa.array([2**62, -(2**62)], pa.timestamp("us"))})),
        suffix="parquet",
    ),
    answered(
        "Parquet with dates at the edge",
        _parquet(pa.table({"a": pa.array([2**31 - 1, -(2**31)], pa.date32())})),
        suffix="parquet",
    ),
    answered(
        "Parquet with unsigned 64 bits",
        _parquet(pa.table({"a": pa.array([2**64 - 1, 0], pa.uint64())})),
        suffix="parquet",
    ),
    answered(
        "Parquet with a million categories",
        _parquet(
            pa.table({"a": [f"v{i}" for i in range(1_000_000)], "b": [i % 3 for i in range(1_000_000)]})
        ),
        suffix="parquet",
    ),
    answered(
        "Parquet with text that is not UTF-8 and says so",
        _parquet(pa.table({"a": pa.array([b"\xff", b"\xfe"], pa.binary())})),
        suffix="parquet",
    ),
    refused(
        "Parquet with text that is not UTF-8 and says it is",
        _parquet(
            pa.table(
                {
                    "a": pa.Array.from_buffers(
                        pa.string(), 2, pa.array([b"\xff\xfe", b"x"], pa.binary()).buffers()
                    )
                }
            )
        ),
        "not UTF-8",
        suffix="parquet",
    ),
    answered(
        "Parquet with a map",
        _parquet(pa.table({"a": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())), "b": [1, 2]})),
        suffix="parquet",
    ),
    # JSON
    answered("JSON lines", '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n', suffix="jsonl"),
    answered("a JSON list", '[{"a": 1}, {"a": 2}]', suffix="json"),
    answered("JSON with other keys in each row", '{"a": 1}\n{"b": 2}\n', suffix="jsonl"),
    answered("JSON with mixed types", '{"a": 1}\n{"a": "x"}\n{"a": [1]}\n', suffix="jsonl"),
    refused("JSON cut short", '[{"a": 1}, {"a": 2', "data.json", suffix="json"),
    refused("JSON with a broken line", f'{{"a": 1}}\n{{"a": {SECRET}}}\n', "data.jsonl", suffix="jsonl"),
    refused("JSON of nothing", "[]", "no rows", suffix="json"),
    answered("JSON of one number", "5", suffix="json"),
    refused("JSON nested 100,000 deep", "[" * 100_000 + "]" * 100_000, "data.json", suffix="json"),
    answered("JSON nested 50 deep", '{"a": ' + "[" * 50 + "1" + "]" * 50 + "}", suffix="json"),
    refused("JSON with a key twice", '{"a": 1, "a": 2}\n{"a": 3, "a": 4}\n', "could not be", suffix="jsonl"),
    answered("JSON with NaN", '{"a": NaN}\n', suffix="jsonl"),
    refused("JSON that is not UTF-8", b'{"a": "\xff"}\n', "data.jsonl", suffix="jsonl"),
    answered("JSON with huge numbers", '{"a": 1e308}\n{"a": -1e308}\n', suffix="jsonl"),
    answered("JSON with numbers of 40 digits", f'{{"a": {"9" * 40}}}\n{{"a": 1}}\n', suffix="jsonl"),
    answered("JSON with empty keys", '{"": 1, "b": 2}\n{"": 3, "b": 4}\n', suffix="jsonl"),
    answered("JSON of 2,000 keys", json.dumps({f"k{i}": i for i in range(2_000)}), suffix="json"),
    refused("JSON of 0 bytes inside gzip's name", "{}", "data.json.gz", suffix="json.gz"),
    # spreadsheets
    answered("a spreadsheet", _sheet(("a", "b"), (1, "x"), (2, "y")), suffix="xlsx"),
    refused("a spreadsheet without rows", _sheet(("a", "b")), "no rows", suffix="xlsx"),
    refused("an empty spreadsheet", _sheet(), "empty", suffix="xlsx"),
    refused("a spreadsheet with a name twice", _sheet(("a", "a"), (1, 2)), "More than one", suffix="xlsx"),
    answered("a spreadsheet with ragged rows", _sheet(("a", "b"), (1,), (2, 3, 4)), suffix="xlsx"),
    answered("a spreadsheet with mixed types", _sheet(("a",), (1,), ("x",), (True,), (1.5,)), suffix="xlsx"),
    answered("a spreadsheet with formulas", _sheet(("a", "b"), ("=1+1", 2), ("=A1", 3)), suffix="xlsx"),
    answered(
        "a spreadsheet with large whole numbers", _sheet(("a", "b"), (10**300, 2), (1, 3)), suffix="xlsx"
    ),
    refused("a sheet that is not there", _sheet(("a",), (1,)), "no sheet", "--sheet", "two", suffix="xlsx"),
    refused("a spreadsheet cut short", _sheet(("a", "b"), (1, 2))[:-100], "spreadsheet", suffix="xlsx"),
    refused("a zip called spreadsheet", b"PK\x05\x06" + bytes(18), "spreadsheet", suffix="xlsx"),
    refused("CSV called spreadsheet", GOOD, "spreadsheet", suffix="xlsx"),
    refused("CSV called old spreadsheet", GOOD, "spreadsheet", suffix="xls"),
    answered("a spreadsheet that unpacks to 200 MB", _inflated_sheet(), suffix="xlsx"),
    # databases
    _made("SQLite", _sqlite(*_BOTH, rows=_ROWS), "d.sqlite"),
    _made("SQLite cut short", _cut(_sqlite(*_BOTH, rows=_ROWS), 0.5), "d.sqlite", words="database"),
    _made("SQLite scrambled", _scrambled(_sqlite(*_BOTH, rows=_ROWS), 4_096), "d.sqlite", words="database"),
    _made("SQLite without tables", _sqlite(), "d.sqlite", words="empty"),
    _made("SQLite without rows", _sqlite(*_BOTH), "d.sqlite", words="no rows"),
    _made(
        "SQLite with two tables",
        _sqlite(*_BOTH, "CREATE TABLE u (a)", rows=_ROWS),
        "d.sqlite",
        words="has 2 tables: 't', 'u'",
    ),
    _made(
        "SQLite with mixed types", _sqlite(*_BOTH, rows=[(1, "x"), ("two", 3.5), (None, b"\0")]), "d.sqlite"
    ),
    _made(
        "SQLite with a table called 'x\"y'",
        _sqlite('CREATE TABLE "x""y" (a)', 'INSERT INTO "x""y" VALUES (1), (2)'),
        "d.sqlite",
    ),
    _made(
        "SQLite asked to write",
        _sqlite(*_BOTH, rows=_ROWS),
        "d.sqlite",
        "--query",
        "DELETE FROM t",
        words="exactly one SELECT",
    ),
    _made(
        "SQLite asked to attach",
        _sqlite(*_BOTH, rows=_ROWS),
        "d.sqlite",
        "--query",
        "ATTACH '/etc/passwd' AS x",
        words="exactly one SELECT",
    ),
    _made("DuckDB", _duck(_PEOPLE), "d.duckdb"),
    _made("DuckDB cut short", _cut(_duck(_PEOPLE), 0.4), "d.duckdb", words="d.duckdb"),
    _made("DuckDB scrambled", _scrambled(_duck(_PEOPLE), 4_200), "d.duckdb", words="d.duckdb"),
    _made("DuckDB without tables", _duck(), "d.duckdb", words="table"),
    _made("DuckDB asked to write", _duck(_PEOPLE), "d.duckdb", "--query", "DELETE FROM t", words="query"),
    _made(
        "DuckDB asked for two things",
        _duck(_PEOPLE),
        "d.duckdb",
        "--query",
        "SELECT 1; SELECT 2",
        words="query",
    ),
    _made(
        "DuckDB with a table that is not there",
        _duck(_PEOPLE),
        "d.duckdb",
        "--table",
        "u",
        words="does not exist",
    ),
    Case(
        "SQLite of random bytes", file("d.sqlite", b"SQLite format 3\0" + bytes(range(256)) * 20), "database"
    ),
    # paths
    _path("a file that is not there", lambda folder: str(folder / "no.csv"), "does not exist"),
    _path("a folder", str, "folder without Parquet"),
    _path("a FIFO", _fifo, "not a regular file"),
    _path("a device", lambda folder: "/dev/null", "not a regular file"),
    _path("a device without end", lambda folder: "/dev/zero", "not a regular file"),
    _path("a socket", _socket, "not a regular file"),
    _path("a symbolic link", _linked, None),
    _path("a link to nowhere", _dangling, "does not exist"),
    _path("links in a circle", _loop, "could not be read"),
    _path("an empty path", lambda folder: "", "no"),
    _path("a path with a NUL", lambda folder: str(folder / "a\0b.csv"), "does not exist"),
    _path(
        "a path longer than names may be", lambda folder: str(folder / ("x" * 5_000)), "File name too long"
    ),
    _path("a path through a file", lambda folder: _linked(folder) + "/x.csv", "does not exist"),
    _path("a name with a quote", _odd_name("it's.csv"), None),
    _path("a name with a line break", _odd_name("a\nb.csv"), None),
    _path("a name with brackets", _odd_name("a[1].csv"), None),
    _path("a name with a star", _odd_name("a*.csv"), None),
    _path("a name with braces", _odd_name("{a,b}.csv"), None),
    _path("a name with markup", _odd_name("[bold]x.csv"), None),
    _path("a name that is not UTF-8", lambda folder: _odd_name("a\udcff.csv")(folder), "not UTF-8"),
    _path("a name that begins with a dash", lambda folder: "-x.csv", "No such option"),
    _path("a folder of Parquet files", _folder_of(a_parquet=_GOOD_PARQUET, b_parquet=_GOOD_PARQUET), None),
    _path(
        "Parquet files that do not fit",
        _folder_of(a_parquet=_GOOD_PARQUET, b_parquet=_OTHER),
        "could not be read",
    ),
    _path("Parquet files, one broken", _folder_of(a_parquet=_GOOD_PARQUET, b_parquet=b"PAR1"), "parquet"),
    _path("a pattern that fits nothing", lambda folder: str(folder / "*.csv"), "does not exist"),
    _path("a pattern of CSV files", _glob("*.csv", a_csv=GOOD.encode(), b_csv=GOOD.encode()), None),
    _path(
        "CSV files with other columns",
        _glob("*.csv", a_csv=GOOD.encode(), b_csv=b"x,y\n1,2\n"),
        "other columns",
    ),
    _path("a pattern that meets a folder", _glob_with_folder, "not a regular file"),
    _path("a pattern that meets a FIFO", _glob_with_fifo, "not a regular file"),
    _path("a protocol nobody knows", lambda folder: "gopher://x/y.csv", "gopher"),
    _path("a file by protocol that is not there", lambda folder: f"file://{folder}/no.csv", "does not exist"),
    _path(
        "a database that does not answer",
        lambda folder: "postgresql://u:Zanzibar7731@127.0.0.1:1/x",
        "could not be reached",
    ),
    _path(
        "a database with a broken address", lambda folder: "postgresql://[::1:bad/x", "could not be reached"
    ),
)
