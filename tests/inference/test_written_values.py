"""Numbers as people write them, lists, and the states that they hide."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from crypsis.inference import value_disclosure
from crypsis.inference.text_numbers import AT_LEAST, AT_MOST, NUMBER, WORD, read_numbers

WRITTEN = {
    "52310": 52_310,
    "52,310": 52_310,
    "52.310,50": 52_310.5,
    "1.200.000": 1_200_000,
    "1,52,310": 152_310,
    "52 310": 52_310,
    "CHF 52'310.-": 52_310,
    "52,310 EUR": 52_310,
    "€52.3k": 52_300,
    "1.2 Mio": 1_200_000,
    "(1,200)": -1_200,
    "−5": -5,
    "5e3": 5_000,
    "12 %": 12,
    "12 mg/dl": 12,
    "kr 52 310,-": 52_310,
    "52310 €/Jahr": 52_310,
    "1826.11 EUR": 1_826.11,
    "５２": 52,
    "50100-50199": 50_149.5,
    "52000 bis 52050": 52_025,
    "20 to 30": 25,
    "[20,30)": 25,
    "between 20 and 30": 25,
    "USD 20k - USD 30k": 25_000,
    "20–30 %": 25,
    "02:00:31": 7_231,
    "1 h 20 min": 4_800,
    "90:15": 90 * 3600 + 900,
}
DATES = (
    "1990-01-03",
    "03 Jan 1990",
    "Jan 3, 1990",
    "3. Januar 1990",
    "3/1/1990",
    "3 de enero 1990",
    "3 janvier 1990",
    "1990/01/03",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_numbers_in_text(text: str) -> None:
    found = read_numbers(pa.array([text, None]))
    assert found.numbers[0] == pytest.approx(WRITTEN[text])
    assert found.kinds.tolist() == [NUMBER, -1]
    assert not found.dates


@pytest.mark.parametrize("text", DATES)
def test_dates_in_text(text: str) -> None:
    found = read_numbers(pa.array([text]))
    assert found.numbers.tolist() == [726_470.0]  # days since 0001-01-01, by datetime
    assert found.dates


@pytest.mark.parametrize("text", ["F20", "J05AR10", "not detected", "021**", "IV", "true", "n/a"])
def test_what_is_no_number(text: str) -> None:
    found = read_numbers(pa.array([text]))
    assert math.isnan(found.numbers[0])
    assert found.kinds.tolist() == [WORD]


def test_bounds_are_of_another_kind_than_numbers() -> None:
    found = read_numbers(pa.array(["<20", "up to 20", "20", "90+", ">= 90", "65 and over"]))
    assert found.kinds.tolist() == [AT_MOST, AT_MOST, NUMBER, AT_LEAST, AT_LEAST, AT_LEAST]
    assert found.numbers[0] < 20 < found.numbers[3]
    assert not read_numbers(pa.array(["<=50K", ">50K"])).mostly


def test_the_order_of_day_and_month_is_that_of_all_values() -> None:
    american = read_numbers(pa.array(["01/03/1990", "12/31/1990"]))
    assert np.diff(american.numbers).tolist() == [362.0]


def test_what_all_values_begin_with_is_no_part_of_the_number() -> None:
    assert read_numbers(pa.array(["grade 7", "grade 11"])).numbers.tolist() == [7.0, 11.0]


def disclosed(values: list[object], size: int = 10, **options: object) -> int:
    """The near-certain records of classes of `size`, in the order of the values."""
    table = pa.table({"zip": [n // size for n in range(len(values))], "y": pa.array(values)})
    found = value_disclosure(table, quasi_identifiers="zip", sensitive="y", baseline=False, **options)
    return found["y"].near_certain


def test_each_part_of_a_list_is_a_state() -> None:
    """By hand: in the first class every list contains x, which one in five lists contains."""
    others = ["a; b", "b; c", "c; d", "d; a", "a; c"]
    odd = ["x; a", "b; x", "x; c", "d; x", "a; b; x", "x; a; c", "x; b", "c; x", "x; d", "a; x"]
    assert disclosed([*odd, *(others * 8)]) == 10
    assert disclosed([*(others * 10)]) == 0


def test_that_a_value_is_known_is_a_state() -> None:
    """By hand: one class of ten with numbers, four classes without."""
    numbers = [float(n * n) for n in range(10)]
    missing: list[object] = [None] * 10
    assert disclosed([*numbers, *(missing * 4)]) == 10  # "missing" is four fifths: not rare
    half = [value for n in range(5) for value in (float(n * n + 1), None)]
    assert disclosed(half * 5) == 0


def test_a_number_where_others_have_words() -> None:
    numbers = [str(1_000 + 700 * n) for n in range(10)]
    assert disclosed([*numbers, *(["<20", "none"] * 20)]) == 10


def test_presence_of_a_number_other_than_zero() -> None:
    """Only against a prior, or if zero is harmless; where zero stands out it is noted."""
    score = pa.table({"zip": [1] * 110, "y": list(range(11)) * 10})
    options = {"quasi_identifiers": "zip", "sensitive": "y"}
    found = value_disclosure(score, **options)["y"]
    assert found.presence < 0.2
    assert found.not_zero == 0
    some = pa.table({"zip": [1] * 100, "y": [0] * 10 + list(range(20, 110))})
    found = value_disclosure(some, **options)["y"]
    assert found.presence < 0.2
    assert found.not_zero == pytest.approx(0.9)
    found = value_disclosure(some, priors={"y": {0: 0.95}}, **options)["y"]
    assert found.presence == pytest.approx(0.9)
    assert found.presence_prior == pytest.approx(0.05)


def test_other_spellings_are_one_state() -> None:
    """By hand: a class of ten with one disease in several spellings, which one in five people has."""
    others = ["flu", "gout", "asthma", "ulcer"]
    for some in (
        ["HIV+", "hiv pos.", "HIV (positive)"],
        ["yes", "ja", "True"],
        ["cancer", "canser", "cancr"],
        ["B201", "B21", "B220"],
    ):
        rest = ["A01", "C34", "E11", "B54"] if some[0][0] == "B" else others
        filler = [value for n in range(8) for value in (some[n % 3], *rest)]
        assert disclosed([*(some * 3), some[0], *filler]) == 10
        assert disclosed(filler) == 0


def test_a_class_of_debts_discloses_that_there_are_debts() -> None:
    balances = [(-1 if n % 9 == 0 else 1) * (n * 37 % 400 + 1) * 100 for n in range(90)]
    assert disclosed([*(-abs(one) for one in balances[:10]), *balances[10:]]) == 10
    assert disclosed(balances) == 0


def test_a_class_of_everybody_differs_from_nobody() -> None:
    """What all records share is asked of presence in the table, and of the priors."""
    table = pa.table({"country": ["DE"] * 100, "y": ["a", "b"] * 50})
    assert value_disclosure(table, quasi_identifiers="country", sensitive="y")["y"].excess.value <= 0


def test_a_class_of_the_highest_numbers_is_disclosed_however_far_apart_they_are() -> None:
    usual = [n * 37 % 400 + 100 for n in range(400)]
    for far in ([1_000 * 2**n for n in range(10)], [2**n / 8 for n in range(10)]):
        assert disclosed([*far, *usual]) == 10
    assert disclosed(usual) == 0
