"""A step says the same of one value as the engine says of a column."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.protection.recoding import _steps as s
from crypsis.protection.recoding._columns import recoded_columns

DAYS = [datetime.date(1987, 8, 9), None, datetime.date(2000, 1, 1), datetime.date(1999, 12, 31)]
NUMBERS = [1.0, None, 2.0, 2.5, float("nan"), 9.0, -3.25]
CASES: list[tuple[list[Any], Any]] = [
    (DAYS, s.Keep()),
    *((DAYS, step) for step in s.DATE_STEPS),
    (NUMBERS, s.intervals([0.0, 2.0, 2.5], integer=False)),
    ([1, 5, None, 90, 91], s.intervals([4, 89], integer=True)),
    ([1, 5, None, 90, 91], s.intervals([4, 89], integer=True, representatives=[2.5, 40, 91])),
    ([1, 5, None, 90, 101], s.Top(limit=90)),
    (["02138", None, "90210"], s.Prefix(length=3, width=5)),
    ([2138, None, 90210], s.Prefix(length=3, width=5)),
    (["a", None, "b", "c"], s.HierarchyLevel(level=1, groups={"x": ("a", "b"), "y": ("c",)})),
    ([1.0, None, 2.5], s.HierarchyLevel(level=1, groups={"x": ("1",), "y": ("2.5",)})),
    (["a", None, "b", "c"], s.FrequentValues(values=("a",))),
    ([True, None, False], s.Suppress()),
]


@pytest.mark.parametrize(("values", "step"), CASES, ids=lambda x: getattr(x, "method", ""))
def test_label_and_expression_agree(values: list[Any], step: Any) -> None:
    release = cr.Dataset.from_frame(pa.table({"x": pa.array(values)}))
    found = recoded_columns(release.rows, {"x": step}).to_arrow()["x"].to_pylist()
    missing = [v is None or v != v for v in values]
    expected = [None if gone else step.label(v) for v, gone in zip(values, missing, strict=True)]
    assert [None if v is None or v != v else v for v in found] == expected


def test_on_spark(spark: Any) -> None:
    frame = spark.createDataFrame([(1, "02138", DAYS[0]), (7, None, None)], "a int, b string, c date")
    rows = cr.Dataset.from_frame(frame).rows
    steps = {"a": s.intervals([4], integer=True), "b": s.Prefix(length=3, width=5), "c": s.DATE_STEPS[1]}
    assert recoded_columns(rows, steps).to_arrow().to_pylist() == [  # type: ignore[arg-type]
        {"a": "<=4", "b": "021**", "c": "1987-Q3"},
        {"a": ">=5", "b": None, "c": None},
    ]


def test_merging_groups() -> None:
    fine = s.intervals([1, 2, 3, 4], integer=True)
    assert fine.labels == ("<=1", "2", "3", "4", ">=5")
    above = s.merged(fine, integer=True)
    assert above is not None
    assert above.labels == ("<=2", "3-4", ">=5")
