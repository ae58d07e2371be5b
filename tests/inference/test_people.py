"""Where people have several records, classes count people: by example.

Every measure by its definition alone is in `tests/promises/test_people.py`.
"""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from crypsis.errors import TooLargeError
from crypsis.inference import attribute_disclosure, l_diversity, leakage, value_disclosure
from crypsis.singling_out import household_risk
from tests.promises.test_people import KNOWN, PEOPLE, table_of

ILL = ("flu", "gout", "cold", "burn", "ache")


def visits(classes: int = 60, hiv: int = 8, visits: tuple[int, int] = (1, 4), sixth: int = 40) -> pa.Table:
    """Classes of six people, each with a few visits, the sixth with many: in some five have HIV."""
    rng = np.random.default_rng(3)
    ill = set(rng.permutation(classes)[:hiv].tolist())
    rows = []
    for y in range(classes):
        for member in range(6):
            count = sixth if member == 5 else int(rng.integers(*visits))
            found = ["HIV" if y in ill and member < 5 else str(one) for one in rng.choice(ILL, count)]
            rows += [(6 * y + member, y, one) for one in found]
    return table_of([rows[i] for i in rng.permutation(len(rows))])


def test_five_of_six_people_have_it_however_often_the_sixth_came() -> None:
    """By records HIV has a tenth of a class; by people five of six."""
    table = visits(visits=(1, 2))
    records, people = (value_disclosure(table, **roles)["x"] for roles in (KNOWN, PEOPLE))
    assert records.excess.value < 0.2
    assert people.excess.value > 0.35
    assert people.excess.worst is not None
    assert people.excess.worst.share == pytest.approx(5 / 6)
    assert people.excess.worst.group.size == 6
    assert people.unit == "person"


@pytest.mark.parametrize("sixth", [1, 40])
def test_households_count_people_however_often_they_came(sixth: int) -> None:
    """Two people of each home, six in a class: one of them is found with 1 - (5/6)^2."""
    table = visits(visits=(1, 2), sixth=sixth)
    table = table.append_column("home", pa.array(np.asarray(table["who"]) // 2))
    risk = household_risk(table, household="home", **PEOPLE)
    assert (risk.households, risk.members) == (180, 360)
    assert risk.maximum == pytest.approx(1 - (5 / 6) ** 2)
    excess = value_disclosure(table, **PEOPLE, household="home")["x"].excess
    assert excess.worst is not None
    assert excess.worst.share == pytest.approx(5 / 6)


def test_many_values_of_one_person_are_no_diversity() -> None:
    """Five people have HIV; the sixth came twenty times with twenty diagnoses."""
    rows = [(p, "a", "HIV") for p in range(5)] + [(5, "a", f"d{n}") for n in range(20)]
    table = table_of(rows)
    assert l_diversity(table, **KNOWN).distinct == 21
    found = l_diversity(table, **PEOPLE)
    assert (found.distinct, found.recursive) == (2, 1)
    assert found.entropy == pytest.approx(2 ** (5 / 6 * log2(6 / 5) + 1 / 6 * log2(6)))


def test_what_everybody_has_leaves_no_diversity() -> None:
    """Each of six has HIV once and a diagnosis of their own nine times."""
    rows = [(p, "a", x) for p in range(6) for x in ["HIV"] + [f"d{p}"] * 9]
    rows += [(100 + p, "b", f"d{p % 6}") for p in range(60)]
    table = table_of(rows)
    assert l_diversity(table, **PEOPLE).distinct == 1
    found = attribute_disclosure(table, **PEOPLE)
    assert found.alpha == 1.0
    disclosed = value_disclosure(table, **PEOPLE)["x"]
    assert (disclosed.near_certain, disclosed.near_certain_people) == (60, 6)  # those of class a


def test_a_number_that_people_share_whatever_else_they_have() -> None:
    """Five of six earn 5,000 (once each); the sixth has thirty other amounts."""
    rng = np.random.default_rng(0)
    rows: list[Any] = [(100 + p, f"b{p // 6}", int(rng.integers(1_000, 90_000))) for p in range(240)]
    rows += [(p, "a", 5_000 + p) for p in range(11)]
    rows += [(11, "a", int(one)) for one in rng.integers(1_000, 90_000, 60)]
    records, people = (value_disclosure(table_of(rows), **roles)["x"] for roles in (KNOWN, PEOPLE))
    assert (records.near_certain, people.near_certain) == (0, 71)
    assert people.interval is not None
    assert people.interval.value > 0.6


def test_a_person_in_every_class_is_one_person_of_the_whole_table() -> None:
    """Four people with HIV are in all forty classes, beside one of their own: HIV is rare."""
    rows = [(p, y, "HIV") for y in range(40) for p in range(4)]
    rows += [(10 + y, y, ILL[y % 5]) for y in range(40)]
    found = value_disclosure(table_of(rows), **PEOPLE)["x"]
    assert found.gain.worst is not None
    assert found.gain.worst.prior == pytest.approx(4 / 44)
    assert found.gain.value == pytest.approx(0.8 - 4 / 44)
    assert found.excess.value > 0.2


def test_records_without_a_person_are_read_both_ways() -> None:
    """As nobody's they hide nothing, and as others' they are no diversity."""
    some = [(p, "b", ILL[p % 5]) for p in range(1, 41)] * 2
    hidden = [(p, "a", "HIV") for p in range(100, 106)] * 2 + [(None, "a", "flu")] * 40
    table = table_of(some + hidden)
    assert value_disclosure(table, **PEOPLE)["x"].near_certain == 52
    assert l_diversity(table, **PEOPLE).distinct == 1
    of_nobody = [(p, "a", ILL[p % 5]) for p in range(100, 103)] * 2 + [(None, "a", "HIV")] * 40
    assert value_disclosure(table_of(some + of_nobody), **PEOPLE)["x"].near_certain == 46


def test_who_has_a_value_is_not_missing() -> None:
    rows = [(p, "a", x) for p in range(6) for x in ("HIV" if p < 5 else "flu", None, None)]
    rows += [(10 + p, "b", ILL[p % 5]) for p in range(60)]
    found = attribute_disclosure(table_of(rows), **PEOPLE)["x"]
    assert found.alpha_k_anonymity.alpha == pytest.approx(5 / 6)
    assert found.l_diversity.distinct == 2


@pytest.mark.parametrize("most", [2, 6, 12])
def test_visits_that_are_diverse_by_people_are_fine(most: int) -> None:
    """Twenty people a class, their diagnoses independent of it: nothing stands out."""
    rng = np.random.default_rng(most)
    rows = [
        (20 * y + p, y, f"d{rng.integers(8)}")
        for y in range(48)
        for p in range(20)
        for _ in range(rng.integers(1, most))
    ]
    found = value_disclosure(table_of(rows), **PEOPLE)["x"]
    assert found.near_certain == 0
    assert found.excess.value < 0.2
    assert found.excess_ratio.value < 3


def test_more_classes_than_can_be_fetched_are_not_counted_by_records() -> None:
    table = visits(classes=20)
    with pytest.raises(TooLargeError):
        leakage(table, "x", ["y"], sample=5, person="who")
    assert leakage(table, "x", ["y"], sample=5).records == table.num_rows
