"""Values as they are written: lists, numbers in text, missing values and words that hide a state.

In each release there are sixty classes of twenty people, and in five of them everybody has what the
attacker claims.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.promises.attacks.judge import assessed
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Values as they are written")
scenario = SCENARIOS.add
ROWS, SIZE = 1_200, 20
ODD = np.arange(ROWS) < 5 * SIZE
DISEASES = ["flu", "gout", "asthma", "migraine", "eczema", "ulcer", "anemia"]


def _release(values: Any) -> pd.DataFrame:
    return pd.DataFrame({"district": [f"d{n // SIZE:02d}" for n in range(ROWS)], "status": values})


def _judged(release: pd.DataFrame, **options: Any) -> str:
    return assessed(release, quasi_identifiers=["district"], sensitive=["status"], **options)


def _claimed(release: pd.DataFrame, true: np.ndarray, control: str | None = None) -> Trial:
    """The attacker claims it of everybody in the classes where at least nine in ten have it."""
    share = pd.Series(true).groupby(release["district"]).transform("mean")
    claim = (share >= 0.9).to_numpy()
    success = float(true[claim].mean()) if claim.any() else 0.0
    return Trial(success, _judged(release), chance=float(true.mean()), control=control)


def _lists(draw: Draw, always: np.ndarray, written: Callable[[list[str]], str]) -> pd.DataFrame:
    """Two of seven diseases in random order, and for some people HIV among them."""
    found = []
    for hiv in always:
        some = list(draw.choice(DISEASES, 2, replace=False))
        if hiv:
            some.insert(int(draw.integers(0, 3)), "HIV")
        found.append(written(some))
    return _release(found)


@cache
def _control() -> str:
    """The verdict on lists in which HIV is as frequent in every class."""
    draw = np.random.default_rng(7)
    return _judged(_lists(draw, np.arange(ROWS) % SIZE < 2, "; ".join))


def _list_scenario(draw: Draw, written: Callable[[list[str]], str]) -> Trial:
    release = _lists(draw, ODD | (draw.random(ROWS) < 0.01), written)
    return _claimed(release, release["status"].str.contains("HIV").to_numpy(bool), _control())


@scenario("knows the district, and reads the lists")
def lists_that_contain_hiv(draw: Draw, folder: Path) -> Trial:
    """Lists of diseases, "flu; HIV; gout"; in five classes every list contains HIV, no two are alike."""
    return _list_scenario(draw, "; ".join)


@scenario("knows the district, and parses the arrays")
def arrays_that_contain_hiv(draw: Draw, folder: Path) -> Trial:
    """The same lists as JSON arrays."""
    return _list_scenario(draw, json.dumps)


@scenario("knows the district, and reads the lists")
def lists_with_other_separators(draw: Draw, folder: Path) -> Trial:
    """The same lists with commas, as "gout, HIV and flu"."""
    return _list_scenario(draw, lambda some: ", ".join(some[:-1]) + " and " + some[-1])


@scenario("knows the district, and what the codes mean")
def codes_in_one_cell(draw: Draw, folder: Path) -> Trial:
    """Codes of diagnoses in one cell, divided by blanks; in five classes B20 is always among them."""
    codes = [f"{letter}{n}" for letter in "JMIK" for n in (10, 18, 44, 54)]
    found = []
    for hiv in ODD | (draw.random(ROWS) < 0.01):
        some = [*draw.choice(codes, 2, replace=False), *(["B20"] if hiv else [])]
        found.append(" ".join(draw.permutation(some)))
    release = _release(found)
    return _claimed(release, release["status"].str.contains("B20").to_numpy(bool))


@scenario("knows the district: who has a number was ill")
def a_number_where_others_have_none(draw: Draw, folder: Path) -> Trial:
    """A viral load, missing for nine in ten people; in five classes everybody has one."""
    known = ODD | (draw.random(ROWS) < 0.02)
    values = np.where(known, draw.integers(1_000, 90_000, ROWS).astype(float), np.nan)
    return _claimed(_release(values), known)


@scenario("knows the district: who has a number was ill")
def a_number_where_others_have_a_word(draw: Draw, folder: Path) -> Trial:
    """A viral load, "<20" or "not detected" for most; in five classes everybody has a number."""
    usual = draw.choice(["<20", "not detected"], ROWS)
    values = np.where(ODD, draw.integers(1_000, 90_000, ROWS).astype(str), usual)
    return _claimed(_release(values), ODD)


@scenario("knows the district: who has a word was not examined because of a conviction")
def words_where_others_have_a_number(draw: Draw, folder: Path) -> Trial:
    """A score for most people; in five classes one of ten words, none of them frequent."""
    words = np.array(
        [f"{one} {two}" for one in ("in", "from", "near") for two in ("jail", "custody", "court")]
    )
    values = np.where(ODD, draw.choice(words, ROWS), draw.integers(0, 100, ROWS).astype(str))
    return _claimed(_release(values), ODD)


def _near(draw: Draw, low: int, width: int, most: int, written: Callable[[int], str]) -> Trial:
    """Numbers of which five classes have only those from `low` to `low + width`."""
    numbers = np.where(ODD, low + draw.integers(0, width, ROWS), draw.integers(0, most, ROWS))
    release = _release([written(int(number)) for number in numbers])
    near = (numbers >= low) & (numbers <= low + width)
    return _claimed(release, near)


@scenario("knows the district, and reads the amounts")
def amounts_in_swiss_francs(draw: Draw, folder: Path) -> Trial:
    """Salaries written CHF 52'310.-; in five classes within 3 %."""
    return _near(draw, 52_000, 1_500, 150_000, lambda n: f"CHF {n // 1000}'{n % 1000:03d}.-")


@scenario("knows the district, and reads the bands")
def bands_of_amounts(draw: Draw, folder: Path) -> Trial:
    """Salaries in bands of 100, as 50100-50199; in five classes ten neighboring bands."""
    return _near(draw, 500, 10, 1_500, lambda n: f"{100 * n}-{100 * n + 99}")  # bands of a hundred each


@scenario("knows the district, and reads the ranges")
def ranges_with_a_word(draw: Draw, folder: Path) -> Trial:
    """Salaries as 52000 bis 52050; in five classes within 3 %."""
    return _near(draw, 52_000, 1_500, 150_000, lambda n: f"{n} bis {n + 50}")


@scenario("knows the district, and reads the dates")
def dates_with_names_of_months(draw: Draw, folder: Path) -> Trial:
    """The birth of a child, as 03 Jan 1990, over 33 years; in five classes within 20 days."""
    first = datetime.date(1970, 1, 1)
    return _near(draw, 7_300, 20, 12_000, lambda n: (first + datetime.timedelta(days=n)).strftime("%d %b %Y"))


@scenario("knows the district, and reads the durations")
def durations_with_colons(draw: Draw, folder: Path) -> Trial:
    """Durations of a stay, as 02:00:31, up to ten hours; in five classes within a minute."""
    return _near(draw, 7_200, 60, 36_000, lambda n: f"{n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}")


@scenario("knows the district, and reads the numbers")
def numbers_after_a_word(draw: Draw, folder: Path) -> Trial:
    """Scores written "level 912 of 9999"; in five classes within 20 of 10,000."""
    return _near(draw, 7_000, 20, 10_000, lambda n: f"level {n}")


def _with_a_number(draw: Draw, written: str) -> Trial:
    """Diagnoses written with a number that is different for most people."""

    def texts(hiv: np.ndarray) -> list[str]:
        ill = np.where(hiv, "HIV", draw.choice(DISEASES, ROWS))
        return [written.format(one, n) for one, n in zip(ill, draw.integers(1, 40, ROWS), strict=True)]

    control = _judged(_release(texts(np.arange(ROWS) % SIZE < 2)))
    hiv = ODD | (draw.random(ROWS) < 0.01)
    return _claimed(_release(texts(hiv)), hiv, control)


@scenario("knows the district, and reads the diagnoses")
def diagnoses_with_a_number_behind(draw: Draw, folder: Path) -> Trial:
    """Diagnoses as "HIV, known for 312 weeks": 280 different texts."""
    return _with_a_number(draw, "{} known for {} weeks")


@scenario("knows the district, and reads the diagnoses")
def diagnoses_with_a_number_before(draw: Draw, folder: Path) -> Trial:
    """Diagnoses as "312 mg for HIV", which read as amounts."""
    return _with_a_number(draw, "{1} mg for {0}")


@scenario("knows the district, and reads the diagnoses")
def diagnoses_in_fields(draw: Draw, folder: Path) -> Trial:
    """Diagnoses as "weeks=312/dx=HIV"."""
    return _with_a_number(draw, "weeks={1}/dx={0}")


@scenario("knows the district, and the letters of ICD-10")
def codes_of_one_letter(draw: Draw, folder: Path) -> Trial:
    """Codes as F32.1; in five classes all begin with F, and no hierarchy says that these are one chapter."""

    def codes(odd: np.ndarray) -> list[str]:
        letter = np.where(odd, "F", draw.choice(list("FIJKM"), ROWS))
        return [
            f"{one}{n // 10:02d}.{n % 10}" for one, n in zip(letter, draw.integers(0, 999, ROWS), strict=True)
        ]

    control = _judged(_release(codes(np.zeros(ROWS, bool))))
    release = _release(codes(ODD))
    return _claimed(release, release["status"].str.startswith("F").to_numpy(bool), control)


def _variants(draw: Draw, odd: list[str], others: list[str]) -> Trial:
    """In five classes one of `odd` each, which one in five has elsewhere; the control has others."""

    def made(inside: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
        true = inside | (np.arange(ROWS) % 5 == 0)
        values = np.where(true, draw.choice(odd, ROWS), draw.choice(others, ROWS))
        return _release(values), true

    release, true = made(ODD)
    return _claimed(release, true, _judged(made(np.zeros(ROWS, bool))[0]))


@scenario("knows the district, and reads what is written")
def one_result_in_four_spellings(draw: Draw, folder: Path) -> Trial:
    """HIV+, hiv positive, HIV-positive and HIV (pos.), which in five classes everybody has."""
    odd = ["HIV+", "hiv positive", "HIV-positive", "HIV (pos.)"]
    return _variants(draw, odd, ["none", "flu", "gout", "asthma"])


@scenario("knows the district, and reads what is written")
def yes_in_four_languages(draw: Draw, folder: Path) -> Trial:
    """Addiction: yes, ja, Y and true, beside no, nein, never and unknown; in five classes nobody has a no."""
    return _variants(draw, ["yes", "ja", "Y", "true"], ["no", "nein", "never", "unknown"])


@scenario("knows the district, and reads what is meant")
def typing_errors_in_a_diagnosis(draw: Draw, folder: Path) -> Trial:
    """Cancer as it was typed: cancr, canser, cancre; in five classes everybody has it."""
    odd = ["cancer", "cancr", "canser", "cancerr"]
    return _variants(draw, odd, ["none", "flu", "gout", "asthma"])


@scenario("knows the district, and the blocks of ICD-10")
def codes_of_one_block(draw: Draw, folder: Path) -> Trial:
    """Codes of infections, B00 to B99; in five classes all are of HIV, B20 to B23."""
    return _variants(draw, ["B20", "B21", "B22", "B23"], ["B01", "B05", "B35", "B54", "B86"])


@scenario("knows the district: everybody there has debts")
def losses_of_a_whole_class(draw: Draw, folder: Path) -> Trial:
    """Balances from -10,000 to 90,000 in steps of 500; in five classes all are below zero, and far apart."""
    amounts = (draw.permutation(ROWS) * 83 - 10_000) // 500 * 500
    release = _release(np.where(ODD, -np.abs(amounts), amounts))
    return _claimed(release, (release["status"] < 0).to_numpy(bool), _judged(_release(amounts)))
