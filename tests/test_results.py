"""Results: numbers, intervals, JSON and HTML, and no data value unless it is asked for."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction

import numpy as np
import pytest

from crypsis.errors import ParameterError
from crypsis.results import Estimate, Group, Result, raw, table_html


@dataclass(frozen=True)
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


def test_data_values_are_shown_only_when_asked() -> None:
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


def test_print_says_every_field() -> None:
    text = str(sample())
    assert text.splitlines()[0] == "Sample"
    assert "100,000,000,000,000,000,000" in text
    assert "0.5 (0.25 to 0.75 at 95 %)" in text
    assert "25 of Group" in text


def test_results_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        sample().count = 1  # type: ignore[misc]


def test_an_estimate_lies_in_its_interval() -> None:
    assert float(Estimate(0.5, 0.4, 0.6)) == 0.5
    with pytest.raises(ParameterError, match="within its interval"):
        Estimate(0.7, 0.4, 0.6)


def test_exotic_values_become_text() -> None:
    @dataclass(frozen=True)
    class Odd(Result):
        value: object

    assert Odd(Fraction(1, 3)).to_dict() == {"value": "1/3"}
    assert Odd({1: {2}}).to_dict() == {"value": {"1": [2]}}
