"""Results: numbers, intervals, JSON and HTML, and data values only with `reveal=True`."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ParameterError
from crypsis.results import Estimate, Group, Result, number_text, raw, table_html


class Sample(Result):
    count: int
    share: float
    sizes: np.ndarray
    worst: Group
    best: Estimate
    groups: tuple[Group, ...]
    guessed: str = raw(default="")


def sample() -> Sample:
    worst = Group(("age",), 3, ("<b>secret</b>",))
    best = Estimate(0.5, low=0.25, high=0.75)
    return Sample(10**20, float("inf"), np.arange(3), worst, best, (worst,) * 25, "secret")


def test_to_dict_is_fit_for_json() -> None:
    plain = sample().to_dict()
    assert plain["count"] == 10**20
    assert plain["share"] is None
    assert plain["sizes"] == [0, 1, 2]
    assert plain["best"]["high"] == 0.75
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_data_values_are_shown_only_on_request() -> None:
    result = sample()
    for text in (json.dumps(result.to_dict()), str(result), result._repr_html_()):
        assert "secret" not in text
    assert result.to_dict(reveal=True)["worst"]["values"] == ["<b>secret</b>"]
    assert result.to_dict(reveal=True)["guessed"] == "secret"


def test_html_escapes_and_cuts_long_tables() -> None:
    groups = [Group(("<script>alert(1)</script>",), i) for i in range(25)]
    html = table_html(groups)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "and 5 more" in html


def test_print_shows_every_field() -> None:
    text = str(sample())
    assert text.splitlines()[0] == "Sample"
    assert "100,000,000,000,000,000,000" in text
    assert "0.5 (95 % CI 0.25 to 0.75)" in text
    assert "25 of Group" in text


def test_frames_of_rows_with_and_without_estimates() -> None:
    class Row(Result):
        name: str
        count: float

    class Rows(Result):
        rows: tuple[Row, ...]

    found = Rows((Row("a", 3), Row("b", Estimate(5, 4, 6))))
    ends = {"count_low": [None, 4], "count_high": [None, 6]}
    expected = {"name": ["a", "b"], "count": [3, 5], **ends}
    assert found.to_frame().to_pydict() == expected
    assert found.to_frame("polars").to_dict(as_series=False) == expected
    assert found.to_frame("pandas").shape == (2, 4)
    assert found.rows[0].to_frame().num_rows == 1
    with pytest.raises(ParameterError, match="'kind' must be"):
        found.to_frame("csv")


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        sample().count = 1  # type: ignore[misc]


E = Estimate(0.5, 0.4, 0.6, method="m", assumes="a")


def parts(number: Estimate) -> tuple[float, float, float]:
    assert isinstance(number, Estimate)
    return number.value, number.low, number.high


def test_an_estimate_lies_in_its_interval() -> None:
    assert float(E) == 0.5
    with pytest.raises(ParameterError, match="within its interval"):
        Estimate(0.7, 0.4, 0.6)
    with pytest.raises(AttributeError):
        E.low = 0.0


def test_estimates_compare_and_sort_by_value() -> None:
    other = Estimate(0.2, 0.0, 0.9)
    assert other < E < 0.6
    assert E == 0.5
    assert hash(E) == hash(0.5)
    assert sorted([E, 0.3, other]) == [0.2, 0.3, 0.5]
    assert max(other, E) is E


def test_estimates_add_subtract_and_scale() -> None:
    assert parts(E + 1) == parts(1 + E) == (1.5, 1.4, 1.6)
    assert parts(1 - E) == pytest.approx((0.5, 0.4, 0.6))
    assert parts(-2 * E) == (-1.0, -1.2, -0.8)
    assert parts(E / 2) == (0.25, 0.2, 0.3)
    assert parts(1 / E) == pytest.approx((2.0, 1 / 0.6, 2.5))
    total = E + Estimate(1.0, 0.0, 3.0, 0.9, "n")
    assert parts(total) == (1.5, 0.4, 3.6)
    assert (total.confidence, total.method, total.assumes) == (pytest.approx(0.85), "m; n", "a")
    assert parts(sum([E, E])) == (1.0, 0.8, 1.2)
    assert parts(E * Estimate(-1, -2, 1)) == (-0.5, -1.2, 0.6)
    assert parts(E / Estimate(0.1, -1, 1)) == (pytest.approx(5), -math.inf, math.inf)


def test_estimates_round_and_format_as_their_value() -> None:
    number = Estimate(1234.5678, 1000.2, 1500.7)
    assert parts(round(number, 1)) == (1234.6, 1000.2, 1500.7)
    assert round(number) == 1235
    assert (f"{number:,.1f}", f"{E:.0%}", f"{E}") == ("1,234.6", "50%", str(E))
    assert number_text(number, ",") == "1,235 (95 % CI 1,000 to 1,501)"
    assert number_text(E, ".0%") == "50 % (95 % CI 40 % to 60 %)"


def test_estimates_pickle_and_become_json() -> None:
    again = pickle.loads(pickle.dumps(E))
    assert (
        again.to_dict()
        == E.to_dict()
        == {"value": 0.5, "low": 0.4, "high": 0.6, "confidence": 0.95, "method": "m", "assumes": "a"}
    )
    assert json.loads(json.dumps(E)) == 0.5
    assert pickle.loads(pickle.dumps(sample())).best.high == 0.75


def test_estimates_in_arrays_are_their_values() -> None:
    array = np.array([E, 1.0])
    assert array.dtype == np.float64
    assert array.sum() == 1.5
    assert np.sqrt(E) == pytest.approx(0.5**0.5)
    assert (np.arange(3) * E).tolist() == (E * np.arange(3)).tolist() == [0.0, 0.5, 1.0]
    assert parts(np.float64(2) * E) == parts(E * np.int64(2)) == (1.0, 0.8, 1.2)


def test_exotic_values_become_text() -> None:
    class Odd(Result):
        value: object

    assert Odd(Fraction(1, 3)).to_dict() == {"value": "1/3"}
    assert Odd({1: {2}}).to_dict() == {"value": {"1": [2]}}


def test_words_compare_with_themselves() -> None:
    """A gate that asks `== "not safe"` must not pass what is not safe."""
    people = pa.table({"name": ["Ann", "Bob"], "age": [30, 41]})
    found = cr.assess(
        cr.Dataset.from_frame(people, quasi_identifiers=["age"], person="each record"), try_remedies=False
    )
    assert found.verdict == "not safe"
    assert f"{found.verdict}" == "not safe"
    assert {one.role for one in found.columns} <= {role.value for role in cr.Role}
    assert cr.Role.SENSITIVE == "sensitive"
