"""Frames that a program hands over: each must be measured or refused with an error of ours."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.promises.hostile.case import SECRET


@dataclass(frozen=True)
class FrameCase:
    """A frame; without `refused` it is measured, with it an error of ours says these words."""

    name: str
    make: Callable[[], Any]
    refused: str | None = None


class _Liar(str):
    """A text that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def _frame(**columns: Any) -> Callable[[], Any]:
    return lambda: pd.DataFrame(columns)


CASES: tuple[FrameCase, ...] = (
    FrameCase("no columns", pd.DataFrame, "no columns"),
    FrameCase("no rows", _frame(a=pd.Series([], dtype="int64")), None),
    FrameCase("a column of objects", _frame(a=[object(), object()]), "several types"),
    FrameCase("numbers and texts in one column", _frame(a=[1, SECRET, 2.5]), "several types"),
    FrameCase("lists of uneven length", _frame(a=[[1], [1, 2]], b=[1, 2]), None),
    FrameCase("sets", _frame(a=[{1}, {2}]), None),
    FrameCase("complex numbers", _frame(a=[1j, 2j]), ""),
    FrameCase("a number as a column's name", lambda: pd.DataFrame([[1, 2]], columns=[0, 1]), None),
    FrameCase(
        "a tuple as a column's name",
        lambda: pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
        None,
    ),
    FrameCase("one name twice", lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name"),
    FrameCase("names that are equal as text", lambda: pd.DataFrame([[1, 2]], columns=[1, "1"]), "called"),
    FrameCase("NaN, inf and -0.0", _frame(a=[np.nan, np.inf, -np.inf, -0.0, 0.0]), None),
    FrameCase(
        "categories nobody uses",
        lambda: pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=list("xyz"))}),
        None,
    ),
    FrameCase(
        "an empty category", lambda: pd.DataFrame({"a": pd.Categorical([None, None], categories=["x"])}), None
    ),
    FrameCase("an index with names", lambda: pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), None),
    FrameCase(
        "dates beyond nanoseconds", _frame(a=[datetime.date(9999, 12, 31), datetime.date(1, 1, 1)]), None
    ),
    FrameCase(
        "times with mixed zones",
        _frame(
            a=[
                datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
                datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
            ]
        ),
        None,
    ),
    FrameCase("whole numbers beyond 64 bits", _frame(a=[2**70, 1]), ""),
    FrameCase("unsigned 64 bits", _frame(a=np.array([2**64 - 1, 1], np.uint64)), None),
    FrameCase("half floats", _frame(a=np.array([1.5, 2.5], np.float16)), None),
    FrameCase("bytes", _frame(a=[b"\xff", b"\x00"], b=[1, 2]), None),
    FrameCase("texts with NUL", _frame(a=["x\0y", "x"]), None),
    FrameCase(
        "texts with lone surrogates",
        lambda: pd.DataFrame({"a": pd.Series(["\udcff", "x"], dtype=object)}),
        "",
    ),
    FrameCase("texts that lie about equality", _frame(a=[_Liar("x"), _Liar("y")]), None),
    FrameCase("a text of a megabyte", _frame(a=["x" * 10**6, "y"]), None),
    FrameCase("sparse numbers", lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1])}), None),
    FrameCase("periods", lambda: pd.DataFrame({"a": pd.period_range("2020", periods=2)}), None),
    FrameCase("intervals", lambda: pd.DataFrame({"a": pd.interval_range(0, 2)}), None),
    FrameCase("a series", lambda: pd.Series([1, 2]), ""),
    FrameCase("an array", lambda: np.zeros((2, 2)), "not a frame"),
    FrameCase("a dict", lambda: {"a": [1]}, "not a frame"),
    FrameCase("a list", lambda: [1, 2], "not a frame"),
    FrameCase("None", lambda: None, "not a frame"),
    FrameCase("the path of no file", lambda: "data.csv", "does not exist"),
    FrameCase("Polars structs", lambda: pl.DataFrame({"a": [{"x": 1}, {"x": 2}], "b": [1, 2]}), None),
    FrameCase("Polars of nothing but nulls", lambda: pl.DataFrame({"a": [None, None]}), None),
    FrameCase("Polars objects", lambda: pl.DataFrame({"a": [object()]}), None),
    FrameCase(
        "a Polars plan that fails", lambda: pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(pl.Int64)), ""
    ),
    FrameCase("a Polars plan of a missing column", lambda: pl.LazyFrame({"a": [1]}).select("b"), ""),
    FrameCase("Polars 128 bits", lambda: pl.DataFrame({"a": pl.Series([2**100], dtype=pl.Int128)}), ""),
    FrameCase(
        "Arrow unions",
        lambda: pa.table(
            {
                "a": pa.UnionArray.from_dense(
                    pa.array([0, 1], pa.int8()),
                    pa.array([0, 0], pa.int32()),
                    [pa.array([1]), pa.array(["x"])],
                )
            }
        ),
        "",
    ),
    FrameCase(
        "Arrow run ends",
        lambda: pa.table(
            {"a": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", "y"]))}
        ),
        None,
    ),
    FrameCase("Arrow views", lambda: pa.table({"a": pa.array(["x", "y"], pa.string_view())}), None),
    FrameCase(
        "Arrow with a name twice",
        lambda: pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        "same name",
    ),
    FrameCase(
        "Arrow months and days",
        lambda: pa.table({"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}),
        None,
    ),
    FrameCase(
        "Arrow with broken offsets",
        lambda: pa.table(
            {
                "a": pa.Array.from_buffers(
                    pa.string(),
                    2,
                    [None, pa.py_buffer(np.array([0, 50, 10], np.int32)), pa.py_buffer(b"x" * 60)],
                )
            }
        ),
        "",
    ),
    FrameCase(
        "Arrow text that is not UTF-8",
        lambda: pa.table(
            {"a": pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff\xfe", b"x"], pa.binary()).buffers())}
        ),
        "",
    ),
    FrameCase(
        "Arrow in a thousand chunks",
        lambda: pa.table({"a": pa.chunked_array([[i % 3] for i in range(1_000)])}),
        None,
    ),
)
