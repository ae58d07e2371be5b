"""Frames come back in the kind they came in: index, labels, categories and types."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ColumnError, InputError, RoleError

N = 60
AGE = [20 + i % 3 for i in range(N)]
SEX = ["m", "f"] * (N // 2)


def columns() -> dict[str, Any]:
    """Released as they are, each of another type."""
    return {
        "duration": pd.to_timedelta([2**53 + 1, None] * (N // 2), unit="ns"),
        "amount": [decimal.Decimal("1.50"), decimal.Decimal("-20.25")] * (N // 2),
        "seen": pd.to_datetime(["2020-01-01 12:30", None] * (N // 2)).tz_localize("Europe/Berlin"),
        "count": pd.array([2**53 + 1, None] * (N // 2), dtype="Int64"),
        "small": np.array([1, 2] * (N // 2), dtype="float32"),
        "day": [datetime.date(2020, 1, 1), None] * (N // 2),
        "hour": [datetime.time(1, 2), datetime.time(23, 59)] * (N // 2),
        "flag": pd.array([True, None] * (N // 2), dtype="boolean"),
        "grade": pd.Categorical(["b", "a"] * (N // 2), categories=["c", "b", "a"], ordered=True),
        "shelf": pd.Categorical([3, 1] * (N // 2), categories=[1, 2, 3]),
    }


def pandas_columns() -> dict[str, Any]:
    """Those, and types that only pandas has."""
    return {
        **columns(),
        "month": pd.PeriodIndex(["2024-01", None] * (N // 2), freq="M"),
        "range": pd.arrays.IntervalArray.from_tuples([(0, 1), (1, 2)] * (N // 2)),
        "cut": pd.cut([4.0, np.nan, 8.0] * (N // 3), [0, 5, 10]),
        "rare": pd.arrays.SparseArray([0, 1] * (N // 2)),
    }


def released(frame: Any, **roles: Any) -> Any:
    return cr.anonymize(frame, k=5, shuffle=False, **roles, person="each record").frame


def test_pandas_types_come_back_with_their_values() -> None:
    given = pd.DataFrame({"age": AGE, "sex": SEX, **pandas_columns()})
    made = released(given, quasi_identifiers=["age", "sex"], insensitive=list(pandas_columns()))
    for name in pandas_columns():
        before, after = given[name], made[name]
        if not isinstance(before.dtype, pd.CategoricalDtype):
            assert after.dtype == before.dtype, name
        assert after.astype(object).where(after.notna(), None).tolist() == (
            before.astype(object).where(before.notna(), None).tolist()
        ), name
    assert made["grade"].dtype == pd.CategoricalDtype(["b", "a"], ordered=True)
    assert made["cut"].dtype == given["cut"].dtype
    assert made["shelf"].cat.categories.tolist() == [1, 3]  # nothing that no record has


def test_periods_and_intervals_that_are_generalized_are_texts() -> None:
    months = pd.PeriodIndex([f"20{year:02d}-01" for year in range(N)], freq="M")
    given = pd.DataFrame({"age": AGE, "month": months})
    made = released(given, quasi_identifiers=["age", "month"])
    assert set(made["month"].dropna()).isdisjoint(set(months.astype(str)))
    assert not isinstance(made["month"].dtype, pd.PeriodDtype)


def test_a_column_that_arrow_does_not_have_is_named() -> None:
    for frame in (
        pd.DataFrame({"age": AGE, "wave": [1j] * N}),
        pl.DataFrame({"age": AGE, "wave": pl.Series([2**100] * N, dtype=pl.Int128)}),
    ):
        with pytest.raises(InputError, match="Column 'wave' has values of several types, or of"):
            cr.Dataset.from_frame(frame)


def test_an_integer_column_that_loses_values_stays_integer() -> None:
    given = pd.DataFrame({"age": [1] * 9 + [2], "sex": ["m"] * 10, "big": [2**60 + 1] * 10})
    made = released(given, quasi_identifiers=["age", "sex"], insensitive=["big"])
    assert made["big"].tolist() == [2**60 + 1] * len(made)


def test_a_named_index_is_a_column_with_a_role() -> None:
    given = pd.DataFrame({"age": AGE, "sex": SEX}, index=pd.Index(range(N), name="turn"))
    with pytest.raises(RoleError, match="turn"):
        released(given, quasi_identifiers=["age", "sex"])
    made = released(given, identifiers="turn", quasi_identifiers=["age", "sex"])
    assert made.index.equals(pd.RangeIndex(len(made)))
    assert list(made.columns) == ["age", "sex"]
    kept = released(given, insensitive="turn", quasi_identifiers=["age", "sex"])
    assert kept.index.name == "turn"
    assert kept.index.tolist() == list(range(N))


def test_several_levels_of_an_index() -> None:
    levels = pd.MultiIndex.from_arrays([["x", "y"] * (N // 2), range(N)], names=["ward", None])
    given = pd.DataFrame({"age": AGE, "sex": SEX}, index=levels)
    roles = {"quasi_identifiers": ["age", "sex", "ward"], "excluded": ["level_1"]}
    made = released(given, **roles)
    assert made.index.names == ["ward"]
    both = released(given, quasi_identifiers=["age", "sex", "ward"], insensitive=["level_1"])
    assert both.index.names == ["ward", None]
    assert both.index.get_level_values(1).tolist() == list(range(N))


def test_an_index_of_texts_is_never_released_unasked() -> None:
    given = pd.DataFrame({"age": AGE}, index=[f"person {i}" for i in range(N)])
    with pytest.raises(RoleError, match="index"):
        released(given, quasi_identifiers=["age"])


def test_numbers_of_rows_are_not_released() -> None:
    given = pd.DataFrame({"age": AGE})[::-1]
    assert released(given, quasi_identifiers=["age"]).index.equals(pd.RangeIndex(N))


def test_index_and_column_of_one_name() -> None:
    given = pd.DataFrame({"age": AGE}, index=pd.Index(range(N), name="age"))
    with pytest.raises(ColumnError, match="same name"):
        released(given, quasi_identifiers=["age"])


def test_labels_that_are_no_texts() -> None:
    given = pd.DataFrame({0: AGE, 1: SEX, 2: range(N)})
    made = released(given, identifiers=2, quasi_identifiers=[0, 1])
    assert made.columns.tolist() == [0, 1]
    nested = pd.DataFrame({("who", "age"): AGE, ("who", "sex"): SEX})
    made = released(nested, quasi_identifiers=list(nested.columns))
    assert made.columns.equals(nested.columns)
    assert cr.singling_out.k_anonymity(given, quasi_identifiers=[0, 1]) == 10


def test_polars_frames_and_lazy_frames() -> None:
    table = columns()
    for name in ("grade", "shelf", "hour"):
        del table[name]
    given = pl.from_pandas(pd.DataFrame({"age": AGE, "sex": SEX, **table})).with_columns(
        grade=pl.Series(["b", "a"] * (N // 2), dtype=pl.Enum(["c", "b", "a"])),
        kind=pl.Series(["b", "a"] * (N // 2), dtype=pl.Categorical),
        hour=pl.Series([datetime.time(1, 2)] * N),
    )
    roles = {"quasi_identifiers": ["age", "sex"]}
    names = [name for name in given.columns if name not in ("age", "sex")]
    made = released(given, insensitive=names, **roles)
    lazy = released(given.lazy(), insensitive=names, **roles)
    assert isinstance(lazy, pl.LazyFrame)
    for frame in (made, lazy.collect()):
        assert frame.schema["grade"] == pl.Enum(["b", "a"])
        for name in names:
            if name != "grade":
                assert frame.schema[name] == given.schema[name], name
            assert frame[name].to_list() == given[name].to_list(), name


def test_arrow_tables() -> None:
    given = pa.table(
        {
            "age": AGE,
            "sex": pa.array(SEX).dictionary_encode(),
            "grade": pa.DictionaryArray.from_arrays(
                pa.array([2, 0] * (N // 2), pa.int8()), ["low", "mid", "high"], ordered=True
            ),
            "wait": pa.array([5, None] * (N // 2), pa.duration("ms")),
            "seen": pa.array([0, 1] * (N // 2), pa.timestamp("ns", "Asia/Tokyo")),
        }
    )
    kept = ["wait", "seen", "grade"]
    made = released(given, quasi_identifiers=["age", "sex"], insensitive=kept)
    assert pa.types.is_dictionary(made.schema.field("sex").type)
    assert made["grade"].chunk(0).dictionary.to_pylist() == ["low", "high"]  # in their order
    for name in kept:
        assert made[name].type == given[name].type
        assert made[name].to_pylist() == given[name].to_pylist()


def test_categories_of_a_generalized_column() -> None:
    kind = pd.CategoricalDtype(["low", "high", "highest"], ordered=True)
    values = ["low"] * 8 + ["high"] * 8 + ["highest"]
    given = pd.DataFrame({"grade": pd.Series(values, dtype=kind)})
    made = released(given, quasi_identifiers=["grade"])
    labels = made["grade"].cat.categories.tolist()
    assert set(labels) == set(made["grade"].dropna())
    assert "highest" not in labels


def test_pandas_columns_of_arrow_types() -> None:
    """As Polars and the Arrow readers of pandas make them."""
    table = pa.table(
        {
            "wait": pa.array([5, None] * (N // 2), pa.duration("us")),
            "hour": pa.array([5_000, None] * (N // 2), pa.time64("ns")),
            "seen": pa.array([1, None] * (N // 2), pa.timestamp("ns", "Asia/Tokyo")),
            "count": pa.array([2**53 + 1, None] * (N // 2)),
            "grade": pa.array(["a", "b"] * (N // 2)).dictionary_encode(),
        }
    )
    given = table.to_pandas(types_mapper=pd.ArrowDtype)
    made = released(given.assign(age=AGE), quasi_identifiers="age", insensitive=table.column_names)
    for name in table.column_names:
        assert made[name].isna().tolist() == given[name].isna().tolist(), name
        assert made[name].dropna().tolist() == given[name].dropna().tolist(), name
        if name != "grade":
            assert made[name].dtype == given[name].dtype, name
