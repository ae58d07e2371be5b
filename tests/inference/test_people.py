"""Where people have several records, classes count people: every measure, by hand and by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations
from math import inf, log2
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis.errors import TooLargeError
from crypsis.inference import (
    attribute_disclosure,
    l_diversity,
    leakage,
    value_disclosure,
)

Row = tuple[int, int, int]  # person, class, value
KNOWN: dict[str, Any] = {"quasi_identifiers": "y", "sensitive": "x"}
PEOPLE: dict[str, Any] = {**KNOWN, "person": "who"}
ILL = ("flu", "gout", "cold", "burn", "ache")


def table_of(rows: list[Any]) -> pa.Table:
    who, y, x = (list(column) for column in zip(*rows, strict=True))
    return pa.table({"who": who, "y": y, "x": x})


def visits(
    classes: int = 60, hiv: int = 8, visits: tuple[int, int] = (1, 4), sixth: int = 40
) -> pa.Table:
    """Classes of six people, each with a few visits, the sixth with many: in some five have HIV."""
    rng = np.random.default_rng(3)
    ill = set(rng.permutation(classes)[:hiv].tolist())
    rows = []
    for y in range(classes):
        for member in range(6):
            count = sixth if member == 5 else int(rng.integers(*visits))
            found = [
                "HIV" if y in ill and member < 5 else str(one) for one in rng.choice(ILL, count)
            ]
            rows += [(6 * y + member, y, one) for one in found]
    return table_of([rows[i] for i in rng.permutation(len(rows))])


# By brute force ------------------------------------------------------------------------------------
class People:
    """Who has what, by the definitions alone."""

    def __init__(self, rows: list[Row]) -> None:
        self.values: dict[int, dict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
        self.records = Counter(who for who, _, _ in rows)
        for who, y, x in rows:
            self.values[y][who][x] += 1

    def having(self, y: int, x: int) -> Fraction:
        people = self.values[y]
        return Fraction(sum(x in own for own in people.values()), len(people))

    def spread(self, y: int) -> dict[int, Fraction]:
        found: dict[int, Fraction] = defaultdict(Fraction)
        for own in self.values[y].values():
            for x, count in own.items():
                found[x] += Fraction(count, sum(own.values()) * len(self.values[y]))
        return found

    def prior(self) -> dict[int, Fraction]:
        found: dict[int, Fraction] = defaultdict(Fraction)
        for people in self.values.values():
            for who, own in people.items():
                for x, count in own.items():
                    found[x] += Fraction(count, self.records[who] * len(self.records))
        return found

    def prior_having(self, x: int) -> Fraction:
        parts = [
            Fraction(sum(own.values()), self.records[who])
            for people in self.values.values()
            for who, own in people.items()
            if x in own
        ]
        return Fraction(sum(parts, Fraction()), len(self.records))

    def diversity(self, y: int) -> int:
        """1 for the value that most have, and as many different values as the others can have."""
        people = list(self.values[y].values())
        counts = Counter(x for own in people for x in own)
        common = min(x for x in counts if counts[x] == max(counts.values()))
        others = [sorted(own) for own in people if common not in own]
        values = sorted({x for own in others for x in own})
        most = 0
        for order in permutations(values):
            left, matched = list(order), 0
            for own in others:
                taken = next((x for x in left if x in own), None)
                if taken is not None:
                    left.remove(taken)
                    matched += 1
            most = max(most, matched)
        return 1 + most


people_rows = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30
)


@given(people_rows)
@settings(max_examples=60, deadline=None)
def test_every_measure_of_people_is_its_definition(rows: list[Row]) -> None:
    people = People(rows)
    found = attribute_disclosure(table_of(rows), **PEOPLE)["x"]
    prior, classes = people.prior(), list(people.values)
    every = sorted({x for _, _, x in rows})
    near = pytest.approx
    assert found.l_diversity.distinct == min(map(people.diversity, classes))
    assert found.alpha_k_anonymity.alpha == near(
        float(max(people.having(y, x) for y in classes for x in every))
    )
    t = [sum(abs(people.spread(y)[a] + 0 - prior[a]) for a in every) / 2 for y in classes]
    if len(every) > 1:
        equal = cr.inference.t_closeness(table_of(rows), distances={"x": "equal"}, **PEOPLE).t
        assert equal == near(float(max(t)))
    ratios = [
        pair
        for y in classes
        for x in every
        if people.having(y, x)
        for pair in (
            people.spread(y)[x] / prior[x], people.having(y, x) / people.prior_having(x)
        )
    ]  # fmt: skip
    assert found.beta_likeness.beta == near(max(0.0, float(max(ratios)) - 1), abs=1e-9)
    bits = max(abs(log2(ratio)) for ratio in ratios)
    lacks = any(not people.having(y, x) for y in classes for x in every)
    assert found.delta_disclosure.delta_bits == near(inf if lacks else bits, abs=1e-9)


@given(people_rows)
@settings(max_examples=60, deadline=None)
def test_leakage_spreads_each_person_over_their_records(rows: list[Row]) -> None:
    people = People(rows)
    found = leakage(table_of(rows), "x", ["y"], person="who")
    sizes = {y: len(own) for y, own in people.values.items()}
    guesses = {y: max(people.spread(y).values()) for y in sizes}
    assert found.best_guess.worst == pytest.approx(float(max(guesses.values())))
    assert found.best_guess.prior == pytest.approx(float(max(people.prior().values())))
    average = sum(guesses[y] * sizes[y] for y in sizes) / sum(sizes.values())
    least = found.best_guess.prior
    assert found.best_guess.average == pytest.approx(max(float(average), float(least)))
    bits = -sum(float(p) * log2(p) for p in people.prior().values() if p)
    assert found.entropy_bits == pytest.approx(bits, abs=1e-9)


@given(people_rows)
@settings(max_examples=60, deadline=None)
def test_near_certain_is_what_people_have_in_any_record(rows: list[Row]) -> None:
    people = People(rows)
    found = value_disclosure(
        pa.table({**{n: table_of(rows)[n] for n in ("who", "y")},
                  "x": [chr(97 + x) for _, _, x in rows]}),
        baseline=False, **PEOPLE,
    )["x"]  # fmt: skip
    gain = max(
        people.having(y, x) - people.prior_having(x) for y in people.values for x in range(4)
    )
    assert found.gain.value >= float(gain) - 1e-9
    certain = [
        y
        for y in people.values
        if any(people.having(y, x) >= Fraction(9, 10) and people.prior_having(x) <= Fraction(1, 2)
               for x in range(4))
    ]  # fmt: skip
    assert found.near_certain >= sum(1 for _, y, _ in rows if y in certain)


@given(people_rows)
@settings(max_examples=30, deadline=None)
def test_one_record_each_is_the_same_as_records(rows: list[Row]) -> None:
    own = [(who, y, x) for who, (_, y, x) in enumerate(rows)]
    table = table_of(own)
    assert attribute_disclosure(table, **PEOPLE) == attribute_disclosure(table, **KNOWN)
    assert str(value_disclosure(table, **PEOPLE)) == str(value_disclosure(table, **KNOWN))


@given(people_rows, st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_more_of_the_same_visits_change_nothing(rows: list[Row], times: int) -> None:
    """A person's records, all of them repeated as often: they are the same people."""
    whose = rows[0][0]
    more = rows + [row for row in rows if row[0] == whose] * times
    one, other = (attribute_disclosure(table_of(part), **PEOPLE)["x"] for part in (rows, more))
    assert one.l_diversity.distinct == other.l_diversity.distinct
    assert one.alpha_k_anonymity.alpha == other.alpha_k_anonymity.alpha
    assert one.t_closeness.t == pytest.approx(other.t_closeness.t, abs=1e-9)
    assert one.beta_likeness.beta == pytest.approx(other.beta_likeness.beta, abs=1e-9)


# By example ----------------------------------------------------------------------------------------
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
    assert value_disclosure(table, **PEOPLE)["x"].near_certain == 60  # the records of class a


def test_a_number_that_people_share_whatever_else_they_have() -> None:
    """Five of six earn 5,000 (once each); the sixth has thirty other amounts."""
    rng = np.random.default_rng(0)
    rows: list[Any] = [
        (100 + p, f"b{p // 6}", int(rng.integers(1_000, 90_000))) for p in range(240)
    ]
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
