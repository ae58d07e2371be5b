"""Right numbers of people: every measure of classes that count people, by its definition alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations
from math import inf, log2
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis.inference import attribute_disclosure, leakage, value_disclosure

Row = tuple[int, int, int]  # person, class, value
KNOWN: dict[str, Any] = {"quasi_identifiers": "y", "sensitive": "x"}
PEOPLE: dict[str, Any] = {**KNOWN, "person": "who"}


def table_of(rows: list[Any]) -> pa.Table:
    who, y, x = (list(column) for column in zip(*rows, strict=True))
    return pa.table({"who": who, "y": y, "x": x})


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
        for pair in (people.spread(y)[x] / prior[x], people.having(y, x) / people.prior_having(x))
    ]
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
        pa.table({**{n: table_of(rows)[n] for n in ("who", "y")}, "x": [chr(97 + x) for _, _, x in rows]}),
        baseline=False,
        **PEOPLE,
    )["x"]
    gain = max(people.having(y, x) - people.prior_having(x) for y in people.values for x in range(4))
    assert found.gain.value >= float(gain) - 1e-9
    certain = [
        y
        for y in people.values
        if any(
            people.having(y, x) >= Fraction(9, 10) and people.prior_having(x) <= Fraction(1, 2)
            for x in range(4)
        )
    ]
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
