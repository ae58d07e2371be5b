"""Parquet files counted by code: the same cells as by DuckDB and by hand, or DuckDB counts."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crypsis import progress
from crypsis.errors import CancelledError, SourceError, TooLargeError
from crypsis.options import ReadOptions
from crypsis.tables.parquet import codes, dense, rows
from crypsis.tables.parquet.rows import ParquetRows
from crypsis.tables.rows import Rows
from crypsis.tables.sources import open_source


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MIN_ROWS", 1)
    monkeypatch.setattr(dense, "_BATCH_ROWS", 64)
    monkeypatch.setattr(dense, "_TASK_ROWS", 150)


def opened(path: Path | str) -> ParquetRows:
    found = open_source(path, ReadOptions())
    assert isinstance(found, ParquetRows)
    return found


def counted(table: pa.Table) -> Counter[tuple[Any, ...]]:
    *columns, sizes = (column.to_pylist() for column in table.columns)
    return Counter(dict(zip(zip(*columns, strict=True), sizes, strict=True)))


def by_code(data: ParquetRows, names: list[str]) -> pa.Table | None:
    return data._counted_by_code(names, data.comparable(names))


_DAY = dt.date(1970, 1, 1)
_KINDS: dict[str, tuple[pa.DataType, Any]] = {
    "tiny": (pa.int8(), lambda x: x % 256 - 128),
    "byte": (pa.uint8(), lambda x: x % 256),
    "short": (pa.int16(), lambda x: x % 90 - 45),
    "word": (pa.uint16(), lambda x: 65_535 - x % 40),
    "number": (pa.int32(), lambda x: -(2**31) + x % 30),
    "count": (pa.uint32(), lambda x: x % 70),
    "long": (pa.int64(), lambda x: 2**62 + x % 25),
    "wide": (pa.uint64(), lambda x: 2**40 + x % 25),
    "truth": (pa.bool_(), lambda x: x % 2 == 0),
    "day": (pa.date32(), lambda x: _DAY + dt.timedelta(days=x % 300 - 150)),
    "text": (pa.string(), lambda x: f"z{x % 31}é"),
    "large": (pa.large_string(), lambda x: f"{x % 7}"),
    "level": (pa.dictionary(pa.int8(), pa.string()), lambda x: "abcdef"[x % 6]),
}


def random_table(seed: int, size: int = 700) -> pa.Table:
    draw = np.random.default_rng(seed)
    columns = {}
    for name, (kind, value) in _KINDS.items():
        absent = draw.random(size) < draw.choice([0.0, 0.1])
        drawn = draw.integers(0, 300, size).tolist()
        values = [None if a else value(x) for a, x in zip(absent, drawn, strict=True)]
        columns[name] = pa.array(values, kind)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(3))
def test_random_tables_have_the_same_cells_as_by_duckdb_and_by_hand(tmp_path: Path, seed: int) -> None:
    table = random_table(seed)
    version = "1.0" if seed % 2 else "2.6"
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100 + 33 * seed, version=version)
    data = opened(tmp_path / "t.parquet")
    draw = np.random.default_rng(seed)
    by_code_sets = 0
    for _ in range(6):
        names = draw.choice(table.column_names, draw.integers(2, 4), replace=False).tolist()
        mine = by_code(data, names)
        if mine is None:  # uint32 of version 1.0 is read as another type by one of the two
            continue
        by_code_sets += 1
        inner = data.comparable(names)
        theirs = Rows._counted(data, names, inner, None, 10**6)
        by_hand = Counter(zip(*(table[name].to_pylist() for name in names), strict=True))
        assert counted(mine) == counted(theirs) == by_hand
        for a, b in zip(mine.columns[:-1], theirs.columns[:-1], strict=True):
            assert a.type.value_type == b.type.value_type
            assert sorted(a.chunk(0).dictionary.to_pylist()) == sorted(a.unique().drop_null().to_pylist())
        for drop in (False, True):
            assert data.tally(names, drop_missing=drop) == Rows.tally(data, names, drop_missing=drop)
    assert by_code_sets >= 3


def test_several_files_with_dictionaries_of_their_own(tmp_path: Path) -> None:
    for i in range(3):
        words = [f"w{(i * 40 + j) % 90}" for j in range(60)]
        part = pa.table({"word": words * 5, "place": pa.array(range(300), pa.int16())})
        pq.write_table(part, tmp_path / f"{i}.parquet", row_group_size=70)
    data = opened(tmp_path)
    mine = by_code(data, ["word", "place"])
    assert mine is not None
    inner = data.comparable(["word", "place"])
    assert counted(mine) == counted(Rows._counted(data, ["word", "place"], inner, None, 10**6))
    part = data.select(["place", "word"])
    assert isinstance(part, ParquetRows)
    assert by_code(part, ["word", "place"]).num_rows == mine.num_rows  # type: ignore[union-attr]


def test_what_is_not_small_codes_is_counted_by_duckdb(tmp_path: Path) -> None:
    table = pa.table(
        {
            "a": pa.array([i % 5 for i in range(400)], pa.int32()),
            "b": [i * 10**6 for i in range(400)],
            "real": [i / 7 for i in range(400)],
            "moment": [dt.datetime(2020, 1, 1 + i % 9) for i in range(400)],
            "text": [str(i % 3) for i in range(400)],
            "plain": [str(i) for i in range(400)],
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, use_dictionary=["text"])
    data = opened(path)
    for other in ("b", "real", "moment", "plain"):
        assert by_code(data, ["a", other]) is None
        assert counted(data.cells(["a", other])).total() == 400
    assert by_code(data, ["a"]) is None
    assert by_code(data, ["a", "text"]) is not None
    pq.write_table(table, path, write_statistics=False)
    assert by_code(opened(path), ["a", "text"]) is None


def test_the_engine_chooses_by_the_number_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(random_table(1), tmp_path / "t.parquet")
    monkeypatch.setattr(rows, "MIN_ROWS", 701)
    assert type(open_source(tmp_path / "t.parquet", ReadOptions())) is Rows
    monkeypatch.setattr(rows, "MIN_ROWS", 700)
    assert isinstance(open_source(tmp_path / "t.parquet", ReadOptions()), ParquetRows)
    for otherwise in ({"missing_markers": ["?"]},):
        found = open_source(tmp_path / "t.parquet", ReadOptions(**otherwise))
        assert type(found) is Rows
    limited = open_source(tmp_path / "t.parquet", ReadOptions(), memory_limit="1GB")
    assert type(limited) is Rows


def test_more_combinations_than_asked_for_are_refused(tmp_path: Path) -> None:
    pq.write_table(random_table(2), tmp_path / "t.parquet")
    with pytest.raises(TooLargeError, match="more than 3 distinct"):
        opened(tmp_path / "t.parquet").cells(["tiny", "text"], at_most=3)


def test_statistics_that_do_not_hold_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(random_table(3), tmp_path / "t.parquet", row_group_size=100)
    plain = codes._ends

    def narrower(chunks: Any) -> tuple[int, int]:
        low, high = plain(chunks)
        return low, high - 1

    def later(chunks: Any) -> tuple[int, int]:
        low, high = plain(chunks)
        return low + 1, high

    for wrong in (narrower, later):
        monkeypatch.setattr(codes, "_ends", wrong)
        for name in ("tiny", "byte", "short", "word", "number", "day"):
            assert by_code(opened(tmp_path / "t.parquet"), [name, "text"]) is None


def test_a_table_that_outgrows_its_places_is_left_to_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"w{i}" for i in range(600)]
    table = pa.table({"word": words, "a": pa.array([i % 2 for i in range(600)], pa.int32())})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=60)
    assert by_code(opened(tmp_path / "t.parquet"), ["word", "a"]).num_rows == 600  # type: ignore[union-attr]
    monkeypatch.setattr(dense, "MAX_PLACES", 1_000)
    assert by_code(opened(tmp_path / "t.parquet"), ["word", "a"]) is None
    assert opened(tmp_path / "t.parquet").cells(["word", "a"]).num_rows == 600


def test_bytes_that_are_no_text_are_refused_as_by_duckdb(tmp_path: Path) -> None:
    bad = pa.array([b"a", b"\xff\xfe"] * 50).dictionary_encode()
    column = pa.DictionaryArray.from_arrays(bad.indices, bad.dictionary.view(pa.string()))
    table = pa.table({"t": column, "a": pa.array([1, 2] * 50, pa.int32())})
    pq.write_table(table, tmp_path / "t.parquet")
    data = opened(tmp_path / "t.parquet")
    assert by_code(data, ["t", "a"]) is None
    with pytest.raises(SourceError):
        data.cells(["t", "a"])


def test_progress_is_reported_and_a_listener_can_cancel(tmp_path: Path) -> None:
    pq.write_table(random_table(5), tmp_path / "t.parquet", row_group_size=100)
    news: list[progress.Progress] = []
    with progress.report_to(news.append):
        by_code(opened(tmp_path / "t.parquet"), ["tiny", "text"])
    assert (news[-1].done, news[-1].total, news[-1].finished) == (700.0, 700.0, True)

    def cancel(_: progress.Progress) -> None:
        raise CancelledError("enough")

    with progress.report_to(cancel), pytest.raises(CancelledError):
        by_code(opened(tmp_path / "t.parquet"), ["tiny", "text"])


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(random_table(6), path)
    data = opened(path)
    pq.write_table(random_table(7, 900), path)
    with pytest.raises(SourceError, match="changed while"):
        by_code(data, ["tiny", "text"])
