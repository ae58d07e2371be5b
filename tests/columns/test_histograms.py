"""Bars against counting by hand."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from crypsis.columns.histograms import histograms
from crypsis.errors import ParameterError


def _of(values: object, **options: int) -> object:
    return histograms(pa.table({"x": values}), **options)[0]


def test_whole_numbers_with_few_values_have_a_bar_each() -> None:
    found = _of([1, 1, 3, None])
    assert found.counts == (2, 0, 1)  # type: ignore[attr-defined]
    assert found.labels == ("1", "2", "3")  # type: ignore[attr-defined]
    assert found.missing == 1  # type: ignore[attr-defined]


def test_numbers() -> None:
    values = np.random.default_rng(0).normal(size=1_000)
    found = _of(values, bars=7)
    assert list(found.counts) == np.histogram(values, 7)[0].tolist()  # type: ignore[attr-defined]


def test_what_is_not_a_number_is_missing() -> None:
    found = _of([0.5, float("nan"), float("inf"), None])
    assert (found.missing, sum(found.counts)) == (3, 1)  # type: ignore[attr-defined]


def test_dates_and_times() -> None:
    first = datetime.date(2020, 1, 1)
    days = [first, first + datetime.timedelta(days=364)]
    found = _of(days, bars=4)
    assert found.counts == (1, 0, 0, 1)  # type: ignore[attr-defined]
    assert found.labels[0] == "2020-01-01"  # type: ignore[attr-defined]
    assert found.labels[-1] == "2020-12-30"  # type: ignore[attr-defined]
    found = _of([datetime.datetime(2020, 1, 1, 5), datetime.datetime(2020, 1, 2)], bars=2)
    assert found.counts == (1, 1)  # type: ignore[attr-defined]
    found = _of([datetime.time(5), datetime.time(7)], bars=2)
    assert found.counts == (1, 1)  # type: ignore[attr-defined]


def test_categories() -> None:
    found = _of(["b"] * 3 + ["a"] * 5 + ["c", "d", None], bars=2)
    assert (found.labels, found.counts, found.rest) == (("a", "b"), (5, 3), 2)  # type: ignore[attr-defined]
    found = _of([True, True, False])
    assert (found.labels, found.counts) == (("True", "False"), (2, 1))  # type: ignore[attr-defined]


def test_columns_that_hold_nothing() -> None:
    assert _of(pa.array([None, None], pa.int64())).counts == ()  # type: ignore[attr-defined]
    assert _of([[1], [2]]).counts == ()  # type: ignore[attr-defined]


def test_a_sample_of_many_rows() -> None:
    table = pa.table({"x": np.arange(30_000) % 2, "y": np.arange(30_000)})
    first, second = histograms(table, rows=5_000)
    assert first.sampled
    assert first.rows == sum(first.counts) == sum(second.counts) == 5_000
    assert abs(first.counts[0] - 2_500) < 200
    assert histograms(table, rows=5_000) == (first, second)


def test_values_are_raw() -> None:
    assert "secret-0451" not in str(_of(["secret-0451"]))
    with pytest.raises(ParameterError):
        _of([1], bars=0)


def test_the_ends_are_those_of_all_records() -> None:
    values = [*[7] * 30_000, 1, 42]  # a sample rarely has the rarest values
    found = _of(values, rows=100, bars=5)
    assert (found.labels[0], found.labels[-1]) == ("1", "42")  # type: ignore[attr-defined]
    assert sum(found.counts) + found.missing == found.rows  # type: ignore[attr-defined]
    assert _of([42, 42]).labels == ("42",)  # type: ignore[attr-defined]
    assert _of([42.5]).labels == ("42.5",)  # type: ignore[attr-defined]
