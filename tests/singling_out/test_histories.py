"""Histories: unicity against brute force over all choices of events, closed forms, intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ParameterError, RoleError
from crypsis.histories.events import histories_of
from crypsis.histories.kernels import alone as kernel
from crypsis.singling_out import history_classes, smallest_events, unicity

Event = tuple[Any, ...]
Match = Any
KINDS = ("set", "order", "number", "ends")


def equal(known: Event, other: Event) -> bool:
    return known == other


def near(known: Event, other: Event) -> bool:
    """The day within two, the place by its first character, the amount within a tenth."""
    return (
        abs(known[1] - other[1]) <= 2
        and known[2][:1] == other[2][:1]
        and abs(known[3] - other[3]) <= 0.1 * abs(known[3]) + 1e-9
    )


def history_has(other: Sequence[Event], known: Sequence[Event], kind: str, match: Match) -> bool:
    """Whether a history has the known events, by trying every assignment."""
    if kind == "order":
        return any(
            all(match(a, b) for a, b in zip(known, some, strict=True))
            for some in combinations(other, len(known))
        )
    if kind == "ends":
        if len(other) < len(known) or not match(known[0], other[0]):
            return False
        if len(known) > 1 and not match(known[1], other[-1]):
            return False
        return history_has(other[1:-1], known[2:], "set", match)
    return any(
        all(match(a, b) for a, b in zip(known, some, strict=True)) for some in permutations(other, len(known))
    )


def choices(history: Sequence[Event], many: int, kind: str) -> list[tuple[Event, ...]]:
    many = min(many, len(history))
    if kind != "ends":
        return list(combinations(history, many))
    fixed = tuple([history[0], history[-1]][: min(many, 2)])
    return [(*fixed, *rest) for rest in combinations(history[1:-1], max(many - 2, 0))]


def people_of(table: pd.DataFrame, kind: str) -> tuple[dict[Any, list[Event]], dict[Any, int]]:
    rows: dict[Any, list[Event]] = {}
    for who, *event in table.itertuples(index=False):
        rows.setdefault(who, []).append(tuple(event))
    records = {who: len(events) for who, events in rows.items()}
    if kind in ("set", "number"):
        rows = {who: sorted(set(events)) for who, events in rows.items()}
    return rows, records


def brute(table: pd.DataFrame, many: int, kind: str, match: Match = equal) -> dict[Any, float]:
    """For each person the share of all choices of `many` events that nobody else has."""
    rows, records = people_of(table, kind)
    found = {}
    for who, history in rows.items():
        every = choices(history, many, kind)
        right = sum(_nobody_else(who, known, rows, records, kind, match) for known in every)
        found[who] = right / len(every)
    return found


def _nobody_else(
    who: Any,
    known: Sequence[Event],
    rows: dict[Any, list[Event]],
    records: dict[Any, int],
    kind: str,
    match: Match,
) -> bool:
    return not any(
        history_has(other, known, kind, match)
        for name, other in rows.items()
        if name != who and (kind != "number" or records[name] == records[who])
    )


def small_table(seed: int, *, amounts: bool = False) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 22))
    people = int(random.integers(1, 7))
    days = int(random.integers(1, 7 if amounts else 4))
    table = pd.DataFrame(
        {
            "who": random.integers(0, people, rows),
            "day": random.integers(0, days, rows),
            "place": random.choice(["aa", "ab", "ba"][: int(random.integers(1, 4))], rows),
        }
    )
    if amounts:
        table["amount"] = random.choice([10.0, 10.9, 12.0, 20.0], rows)
    counts = table["who"].value_counts()
    return table[table["who"].map(counts) <= 6].reset_index(drop=True)


def pooled(seeds: range, *, amounts: bool = False) -> pd.DataFrame:
    """Many tables in one: nobody has an event of another table, because its number is part of it."""
    tables = []
    for seed in seeds:
        table = small_table(seed, amounts=amounts)
        table.insert(1, "table", seed)
        table["who"] = table["who"] + 100 * seed
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def shares_of_all(table: pd.DataFrame, many: int, kind: str, tolerance: Any = None) -> dict[int, float]:
    """The share of the choices of each person that nobody else has, as crypsis counts them."""
    data = cr.Dataset.from_frame(table, person="who")
    known = cr.singling_out.Knowledge(kind)
    names = [name for name in table.columns if name != "who"]
    histories = histories_of(data, names, ordered=known.ordered, tolerance=tolerance)
    shares = kernel.shares_alone(np.arange(histories.people), many, histories.arrays, known.code)
    return dict(zip(histories.persons.to_pylist(), shares.tolist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_over_all_choices_of_events(kind: str) -> None:
    """1,000 random small tables, 250 for each kind of knowledge, person by person."""
    start = 250 * KINDS.index(kind)
    table = pooled(range(start, start + 250))
    for many in (1, 2, 3, 4):
        found = shares_of_all(table, many, kind)
        for seed, own in table.groupby("table"):
            for who, share in brute(own, many, kind).items():
                assert found[who] == pytest.approx(share, abs=1e-12), (seed, many)


@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_with_tolerance(kind: str) -> None:
    """Two days, the first character of a place, a tenth of an amount."""
    tolerance = {"day": 2, "place": "prefix 1", "amount": "10 %"}
    table = pooled(range(60), amounts=True)
    for many in (1, 2, 3):
        found = shares_of_all(table, many, kind, tolerance)
        for seed, own in table.groupby("table"):
            for who, share in brute(own, many, kind, near).items():
                assert found[who] == pytest.approx(share, abs=1e-12), (seed, many)


def test_dates_with_a_tolerance_in_days_and_weeks() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-08", "2024-01-09"])
    table = pd.DataFrame({"who": [1, 2, 3], "day": days})
    for dates in (table, table.assign(day=table["day"].dt.date)):
        for text, expected in (("1 day", 1 / 3), ("1 week", 0.0), ("12 hours", 1.0)):
            found = unicity(dates, "day", person="who", events=1, tolerance={"day": text})
            assert found.at(1) == pytest.approx(expected), text


def test_closed_form_of_random_sets() -> None:
    """Each of n people has each event with probability q: m events single out (1 - q^m)^(n-1)."""
    people, events, q = 120, 30, 0.45
    expected = [(1 - q**m) ** (people - 1) for m in (2, 4, 6)]
    found = np.zeros(3)
    tables = 12
    for seed in range(tables):
        has = np.random.default_rng(seed).random((people, events)) < q
        who, event = np.nonzero(has)
        curve = unicity(
            pa.table({"who": who, "event": event}), "event", person="who", draws=1_000, exact=False, seed=seed
        ).curve
        found += np.array([float(curve[m - 1]) for m in (2, 4, 6)]) / tables
    assert found == pytest.approx(expected, abs=0.015)


def test_closed_form_of_histories_of_one_event() -> None:
    """One event each, drawn from v: (1 - 1/v)^(n-1) of the people are alone, on average."""
    n, v = 200, 150
    shares = []
    for seed in range(30):
        event = np.random.default_rng(seed).integers(0, v, n)
        table = pa.table({"who": np.arange(n), "event": event})
        shares.append(float(unicity(table, "event", person="who", events=1).at(1)))
    assert np.mean(shares) == pytest.approx((1 - 1 / v) ** (n - 1), abs=0.02)


def test_coverage_of_the_intervals() -> None:
    """Of 95 % intervals of drawn choices at least 95 % cover what is counted."""
    random = np.random.default_rng(5)
    who = np.repeat(np.arange(60), 7)
    table = pa.table({"who": who, "day": random.integers(0, 30, who.size)})
    truth = unicity(table, "day", person="who", exact=True).curve
    covered = Counter[int]()
    for seed in range(200):
        found = unicity(table, "day", person="who", exact=False, draws=200, seed=seed).curve
        for many, (one, true) in enumerate(zip(found, truth, strict=True), start=1):
            covered[many] += one.low <= true <= one.high
    assert min(covered.values()) >= 0.93 * 200  # 95 % within the error of 200 trials
    assert all(0 < true < 1 for true in truth[1:4])


def test_what_is_drawn_agrees_with_what_is_counted_for_every_knowledge() -> None:
    random = np.random.default_rng(8)
    who = np.repeat(np.arange(50), random.integers(1, 9, 50))
    table = pa.table({"who": who, "day": random.integers(0, 12, who.size)})
    for kind in KINDS:
        truth = unicity(table, "day", person="who", knowledge=kind, exact=True).curve
        found = unicity(table, "day", person="who", knowledge=kind, exact=False, draws=4_000).curve
        for one, true in zip(found, truth, strict=True):
            assert one.low - 0.02 <= true <= one.high + 0.02, kind


def test_whole_histories_against_counted_tuples() -> None:
    for seed in range(0, 400, 20):
        table = pooled(range(seed, seed + 20)).drop(columns="table")
        rows: dict[int, list[Event]] = {}
        for who, *event in table.itertuples(index=False):
            rows.setdefault(who, []).append(tuple(event))
        for ordered in (False, True):
            alike = Counter(tuple(e if ordered else sorted(e)) for e in rows.values())
            found = history_classes(table, ["day", "place"], person="who", ordered=ordered)
            assert (found.k, found.classes, found.unique, found.people) == (
                min(alike.values()),
                len(alike),
                sum(n == 1 for n in alike.values()),
                len(rows),
            ), (seed, ordered)


def test_the_smallest_number_of_events_of_each_person() -> None:
    table = pooled(range(150))
    names = ["table", "day", "place"]
    found = smallest_events(table, names, person="who", events=4)
    smallest = {one["person"]: one for one in found.table.to_pylist()}
    for _, own in table.groupby("table"):
        rows, records = people_of(own, "set")
        for who, history in rows.items():
            expected = next(
                (
                    many
                    for many in range(1, min(4, len(history)) + 1)
                    if any(
                        _nobody_else(who, known, rows, records, "set", equal)
                        for known in combinations(history, many)
                    )
                ),
                None,
            )
            assert smallest[who]["events"] == expected
            assert smallest[who]["proved"]
    assert sum(found.counts) + found.not_singled_out == found.people


def test_order_by_a_column_and_by_the_rows() -> None:
    """The same events on other days: by their days the wards are in the same order."""
    table = pd.DataFrame({"who": [1, 1, 2, 2], "day": [1, 2, 9, 8], "ward": ["a", "b", "b", "a"]})
    by_rows = unicity(table, "ward", person="who", knowledge="order", events=2)
    by_days = unicity(table, "ward", person="who", knowledge="order", order="day", events=2)
    assert (by_rows.at(2), by_days.at(2)) == (1.0, 0.0)


def test_records_without_a_person_are_counted_apart() -> None:
    table = pa.table({"who": [1, 1, None, 2], "ward": ["a", "b", "c", "a"]})
    found = unicity(table, "ward", person="who", events=1)
    assert (found.people, found.records, found.unlinked) == (2, 3, 1)
    assert found.at(1) == 0.25  # a is known of both, b of one of two


def test_missing_values_equal_each_other() -> None:
    table = pa.table({"who": [1, 2, 3], "day": [None, None, 4.0]})
    for tolerance in (None, {"day": 1}):
        found = unicity(table, "day", person="who", events=1, tolerance=tolerance)
        assert found.at(1) == pytest.approx(1 / 3)


@pytest.mark.heavy
def test_four_thousand_people_with_six_visits() -> None:
    """Classes of hundreds of records, and three known visits single out most people."""
    random = np.random.default_rng(1)
    rows = 4_000 * 6
    table = pa.table(
        {
            "code": np.repeat(np.arange(4_000), 6),
            "month": random.integers(1, 25, rows),
            "ward": random.integers(0, 4, rows),
        }
    )
    assert cr.singling_out.k_anonymity(table, ["month", "ward"]) > 190
    found = unicity(table, ["month", "ward"], person="code")
    assert 0.3 < float(found.at(3)) < 0.6
    assert float(found.at(6)) > 0.99
    assert all(a <= b for a, b in zip(found.curve, found.curve[1:], strict=False))
    assert history_classes(table, ["month", "ward"], person="code").unique_share > 0.99
    assert "Anyone who knows 3 records of a person singles them out in" in found.text_at(3)
    assert math.isclose(found.records / found.people, 6)


def test_mistakes_are_named() -> None:
    table = pa.table({"who": [1, 1, 2], "ward": ["a", "b", "a"]})
    with pytest.raises(RoleError, match="Whose records"):
        unicity(table, "ward")
    with pytest.raises(ParameterError, match="1 to 12"):
        unicity(table, "ward", person="who", events=13)
    with pytest.raises(ParameterError, match="knowledge"):
        unicity(table, "ward", person="who", knowledge="all")
    with pytest.raises(ParameterError, match="tolerance of column 'ward'"):
        unicity(table, "ward", person="who", tolerance={"ward": "1 day"})
    with pytest.raises(ParameterError, match="not a column of the events"):
        unicity(table, "ward", person="who", tolerance={"day": "1 day"})
    with pytest.raises(ParameterError, match="does not matter"):
        unicity(table, "ward", person="who", order="ward")
    with pytest.raises(RoleError, match="not part of an event"):
        unicity(table, ["who", "ward"], person="who")


def test_what_is_fetched_of_many_records_agrees_with_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """People drawn by a hash, and only what is known of them fetched: of everybody, it is exact."""
    random = np.random.default_rng(11)
    who = np.repeat(np.arange(300), random.integers(1, 7, 300))
    table = pa.table(
        {
            "who": [f"p{n}" for n in who],
            "day": random.integers(0, 40, who.size),
            "ward": pa.array(random.choice(["a", "b", None], who.size)),
        }
    )
    truth = unicity(table, ["day", "ward"], person="who", exact=True).curve
    monkeypatch.setattr("crypsis.singling_out.histories._unicity._MAX_FETCHED_ROWS", 10)
    every = unicity(table, ["day", "ward"], person="who", draws=300)
    assert (every.people, every.records) == (300, who.size)
    for one, true in zip(every.curve, truth, strict=True):
        assert one.low <= true <= one.high
    assert float(every.at(6)) == pytest.approx(float(truth[5]), abs=1e-12)  # all events are known
    some = unicity(table, ["day", "ward"], person="who", draws=100, seed=3)
    assert some.curve[0].low <= truth[0] <= some.curve[0].high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tolerance", [None, {"day": 2, "place": "prefix 1", "amount": "10 %"}])
def test_what_is_fetched_agrees_person_by_person_for_every_knowledge(
    monkeypatch: pytest.MonkeyPatch, kind: str, tolerance: Any
) -> None:
    """With all events known there is one choice a person, so that the share is exact."""
    table = pooled(range(40), amounts=True)
    random = np.random.default_rng(4)
    table["time"] = pa.array(random.permutation(len(table)) % 17).to_numpy()
    names = ["table", "day", "place", "amount"]
    options: dict[str, Any] = {
        "person": "who",
        "knowledge": kind,
        "tolerance": tolerance,
        "events": (1, 2, 6),
        "order": "time" if kind in ("order", "ends") else None,
    }
    truth = unicity(table, names, exact=True, **options)
    monkeypatch.setattr("crypsis.singling_out.histories._unicity._MAX_FETCHED_ROWS", 10)
    found = unicity(table, names, draws=10_000, **options)
    assert (found.people, found.records) == (truth.people, truth.records)
    assert float(found.at(6)) == pytest.approx(float(truth.at(6)), abs=1e-12)
    assert 0 < float(truth.at(6)) < 1
    if kind == "ends":  # the first and the last are no choice
        assert float(found.at(1)) == pytest.approx(float(truth.at(1)), abs=1e-12)
        assert float(found.at(2)) == pytest.approx(float(truth.at(2)), abs=1e-12)
    for one, true in zip(found.curve, truth.curve, strict=True):
        assert one.low <= true <= one.high, kind


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_coverage_of_intervals_of_what_is_fetched(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Of 95 % intervals at least 95 % cover what is counted, whatever is known."""
    random = np.random.default_rng(6)
    who = np.repeat(np.arange(300), 5)
    table = pa.table(
        {"who": who, "day": random.integers(0, 60, who.size), "place": random.integers(0, 3, who.size)}
    )
    options: dict[str, Any] = {
        "person": "who",
        "knowledge": kind,
        "events": (2,),
        "tolerance": {"day": 1},
        "order": "day" if kind in ("order", "ends") else None,
    }
    truth = float(unicity(table, ["day", "place"], exact=True, **options).at(2))
    assert 0.02 < truth < 0.98
    monkeypatch.setattr("crypsis.singling_out.histories._unicity._MAX_FETCHED_ROWS", 10)
    trials = 40
    covered = 0
    for seed in range(trials):
        found = unicity(table, ["day", "place"], draws=60, seed=seed, **options).at(2)
        covered += found.low <= truth <= found.high  # type: ignore[union-attr]
    assert covered >= 0.9 * trials  # 95 % within the error of 40 trials


def test_fewer_people_are_drawn_if_their_events_are_those_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(12)
    who = np.repeat(np.arange(2_000), 3)
    table = pa.table({"who": who, "day": random.integers(0, 3_000, who.size)})
    monkeypatch.setattr("crypsis.singling_out.histories._unicity._MAX_FETCHED_ROWS", 10)
    monkeypatch.setattr("crypsis.singling_out.histories._sampled._MAX_PERSON_EVENTS", 5_000)
    found = unicity(table, "day", person="who", events=2, draws=2_000)
    assert "500 draws" in found.curve[0].method  # type: ignore[union-attr]
    truth = unicity(table, "day", person="who", events=2, exact=True).curve
    assert all(a.low - 0.02 <= b <= a.high + 0.02 for a, b in zip(found.curve, truth, strict=True))
