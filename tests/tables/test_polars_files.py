"""What Polars writes: views of texts, categories, times of nanoseconds, durations."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

import crypsis as cr
from crypsis.columns.roles import guess
from crypsis.dataset import as_dataset
from crypsis.options import Role
from crypsis.tables import Kind

N = 60
RELEASED = ("day", "arrival", "stay", "seen", "note")
KINDS = {
    "sex": Kind.TEXT,
    "city": Kind.TEXT,
    "day": Kind.DATE,
    "arrival": Kind.TIME,
    "stay": Kind.INTEGER,
    "seen": Kind.TIME,
    "note": Kind.TEXT,
    "empty": Kind.TEXT,
}


def people() -> pl.DataFrame:
    zone = datetime.UTC
    return pl.DataFrame(
        {
            "age": [20 + i % 3 for i in range(N)],
            "sex": pl.Series(["m", None] * (N // 2), dtype=pl.Enum(["f", "m"])),
            "city": pl.Series(["Bonn", "Ulm"] * (N // 2), dtype=pl.Categorical),
            "day": [datetime.date(2020, 1, 1), None] * (N // 2),
            "arrival": [datetime.time(13, 5, 0, 7), None] * (N // 2),
            "stay": [datetime.timedelta(days=3), None] * (N // 2),
            "seen": pl.Series(
                [datetime.datetime(2020, 1, 1, 12, tzinfo=zone), None] * (N // 2),
                dtype=pl.Datetime("ns", "Europe/Berlin"),
            ),
            "note": ["more than twelve characters", None] * (N // 2),
            "empty": pl.Series([None] * N, dtype=pl.Null),
        }
    )


def parquet(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def arrow(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_ipc(folder / "t.arrow")
    return folder / "t.arrow"


def stream(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_ipc_stream(folder / "s.arrow")
    return folder / "s.arrow"


def passed(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    return frame


@pytest.mark.parametrize("target", ["safe.parquet", "safe.arrow"])
@pytest.mark.parametrize("source", [parquet, arrow, stream, passed])
def test_what_polars_writes(tmp_path: Path, source: Callable[[pl.DataFrame, Path], Any], target: str) -> None:
    frame = people()
    data = as_dataset(
        source(frame, tmp_path),
        quasi_identifiers=["age", "sex", "city"],
        insensitive=RELEASED,
        excluded="empty",
        person="each record",
    )
    assert {name: data.rows.column(name).kind for name in KINDS} == KINDS
    if data.rows.contents is not None:
        data.rows.contents()
    cr.anonymize(data, k=5, shuffle=False).write(tmp_path / target)
    read = pl.read_parquet if target.endswith(".parquet") else pl.read_ipc
    made = read(tmp_path / target).select(RELEASED)
    assert made.to_dict(as_series=False) == frame.select(RELEASED).to_dict(as_series=False)
    assert isinstance(made.schema["stay"], pl.Duration)
    assert made.schema["arrival"] == pl.Time
    assert str(getattr(made.schema["seen"], "time_zone", None)) == "Europe/Berlin"


def test_a_time_of_single_nanoseconds(tmp_path: Path) -> None:
    """Nothing is rounded: such times of day are texts, such instants are in UTC."""
    column = pa.array([1, 2_000] * (N // 2), pa.time64("ns"))
    instants = pa.array([1, 2_000] * (N // 2), pa.timestamp("ns", "Asia/Tokyo"))
    table = pa.table({"hour": column, "seen": instants})
    path = tmp_path / "t.arrow"
    pyarrow.feather.write_feather(table, path)
    for data in (as_dataset(table), cr.read(path)):
        assert data.rows.column("hour").kind is Kind.TEXT
        assert data.to_arrow()["seen"].cast(pa.int64()).to_pylist()[:2] == [1, 2_000]


@pytest.mark.parametrize(
    "kind", [pa.string_view(), pa.binary_view(), pa.binary(2), pa.null(), pa.month_day_nano_interval()]
)
def test_missing_values_of_other_types(tmp_path: Path, kind: pa.DataType) -> None:
    """What lies under them is looked at, whatever the type."""
    path = tmp_path / "t.arrow"
    values = {"string_view": "ab", "null": None, "month_day_nano_interval": (1, 2, 3)}
    column = pa.array([values.get(str(kind), b"ab"), None] * (N // 2), kind)
    pyarrow.feather.write_feather(pa.table({"a": column, "b": range(N)}), path)
    contents = cr.read(path).rows.contents
    assert contents is not None
    contents()


def test_a_type_that_no_engine_has(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    wide = pa.array([1, 2]).cast(pa.decimal256(50, 2))
    pyarrow.feather.write_feather(pa.table({"a": wide}), path)
    with pytest.raises(cr.errors.SourceError, match=r"t\.arrow"):
        cr.read(path)


@pytest.mark.parametrize("unit", ["ns", "us", "ms"])
@pytest.mark.parametrize("count", [5, 30, 300])
def test_durations_are_not_identifiers(tmp_path: Path, unit: str, count: int) -> None:
    """Unlike integers of as many digits."""
    draw = Random(count)
    ticks = pl.Series([draw.randrange(10**9, 10**11) for _ in range(count)])
    numbers, frame = pl.DataFrame({"x": ticks}), pl.DataFrame({"x": ticks.cast(pl.Duration(unit))})
    assert guess(numbers)[0].role is Role.IDENTIFIER
    for source in (passed, parquet, arrow):
        data = as_dataset(source(frame, tmp_path))
        assert guess(data)[0].role is Role.UNDECIDED
        assert guess(cr.Dataset(data.rows.select(["x"])))[0].role is Role.UNDECIDED


def test_rounded_numbers_are_not_identity_numbers() -> None:
    """An amount whose check digits are right by accident, among others."""
    from crypsis.columns.roles._identifier_search import BARE

    draw = Random(1)
    for _, length, passes, _ in BARE:
        rounded = (draw.randrange(10 ** (length - 4), 10 ** (length - 3)) for _ in range(100_000))
        valid = next((1_000 * one for one in rounded if passes(str(1_000 * one))), None)
        if valid is None or length > 15:
            continue
        values = [valid, *(1_000 * draw.randrange(1_000) for _ in range(40))]
        assert guess(pa.table({"x": values}))[0].role is not Role.IDENTIFIER, length
