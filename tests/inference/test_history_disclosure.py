"""Sensitive values inferred from other records of a person, against brute force over all choices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crypsis.errors import ParameterError
from crypsis.inference import history_disclosure
from tests.singling_out.test_histories import KINDS, Event, choices, equal, history_has, near, small_table


def histories_of(table: pd.DataFrame, names: Sequence[str], kind: str) -> dict[Any, list[Event]]:
    """The events of each person, with the place of their record last."""
    found: dict[Any, list[Event]] = {}
    for who, *event in table[["who", *names]].itertuples(index=False):
        found.setdefault(who, []).append(tuple(event))
    if kind in ("set", "number"):
        found = {who: sorted(set(events)) for who, events in found.items()}
    return found


def brute(
    table: pd.DataFrame, names: Sequence[str], many: int, kind: str, match: Any = equal
) -> tuple[Fraction, Fraction, Fraction]:
    """Nearly certain sensitive values, mean share, and baseline, in fractions."""
    rows = histories_of(table, names, kind)
    records = table["who"].value_counts()
    has = {who: set(own["ill"]) for who, own in table.groupby("who")}
    prior = {v: Fraction(sum(v in own for own in has.values()), len(has)) for v in set(table["ill"])}
    pairs = {who: [v for v in own if prior[v] <= Fraction(1, 2)] for who, own in has.items()}
    pairs = {who: own for who, own in pairs.items() if own}
    sure, mean, base = Fraction(0), Fraction(0), Fraction(0)
    for who, own in pairs.items():
        for value in own:
            weight = Fraction(1, len(own) * len(pairs))
            allowed = rows[who]
            if "ill" in names:
                allowed = [event for event in allowed if event[list(names).index("ill")] != value]
            every = choices(allowed, many, kind) if allowed else [()]
            for known in every:
                alike = (
                    [
                        other
                        for other, history in rows.items()
                        if other == who
                        or (
                            (kind != "number" or records[other] == records[who])
                            and history_has(history, known, kind, match)
                        )
                    ]
                    if known
                    else list(rows)
                )
                share = Fraction(sum(value in has[other] for other in alike), len(alike))
                sure += weight * (share >= Fraction(9, 10)) / len(every)
                mean += weight * share / len(every)
            base += weight * prior[value]
    return sure, mean, base


def with_values(seed: int, *, amounts: bool = False) -> pd.DataFrame:
    table = small_table(seed, amounts=amounts)
    random = np.random.default_rng(seed + 10_000)
    return table.assign(ill=random.choice(["flu", "gout", "hiv", "cold"], len(table)))


@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_over_all_choices_of_events(kind: str) -> None:
    """Random small tables; the known records have a day and a place, and are any of the person."""
    certain = 0.0
    for seed in range(40):
        table = with_values(seed)
        found = history_disclosure(
            table, "ill", ["day", "place"], person="who", knowledge=kind, exact=True, events=3
        )
        for many in (1, 2, 3):
            sure, mean, base = brute(table, ["day", "place"], many, kind)
            assert found.at(many) == pytest.approx(float(sure), abs=1e-12), (seed, many)
            assert found.confidence[many - 1] == pytest.approx(float(mean), abs=1e-12)
            assert found.baseline == pytest.approx(float(base), abs=1e-12)
        certain += float(found.at(3))
    assert certain > 1  # some sensitive values are disclosed


@pytest.mark.parametrize("kind", ["set", "number", "order"])
def test_brute_force_where_other_values_of_the_target_are_known(kind: str) -> None:
    """Known are the diagnoses of other records; those with the sensitive one are not known."""
    for seed in range(30):
        table = with_values(seed)
        names = ["place", "ill"]
        found = history_disclosure(table, "ill", names, person="who", knowledge=kind, exact=True, events=2)
        for many in (1, 2):
            sure, mean, _ = brute(table, names, many, kind)
            assert found.at(many) == pytest.approx(float(sure), abs=1e-12), (seed, many)
            assert found.confidence[many - 1] == pytest.approx(float(mean), abs=1e-12)


def test_brute_force_with_tolerance() -> None:
    tolerance = {"day": 2, "place": "prefix 1", "amount": "10 %"}

    def match(known: Event, other: Event) -> bool:
        return near((0, *known), (0, *other))

    for seed in range(20):
        table = with_values(seed, amounts=True)
        names = ["day", "place", "amount"]
        found = history_disclosure(
            table, "ill", names, person="who", exact=True, events=2, tolerance=tolerance
        )
        for many in (1, 2):
            sure, mean, _ = brute(table, names, many, "set", match)
            assert found.at(many) == pytest.approx(float(sure), abs=1e-12), (seed, many)
            assert found.confidence[many - 1] == pytest.approx(float(mean), abs=1e-12)


def test_drawn_intervals_cover_what_is_counted() -> None:
    random = np.random.default_rng(3)
    who = np.repeat(np.arange(80), 4)
    table = pa.table(
        {
            "who": who,
            "day": random.integers(0, 12, who.size),
            "ill": random.choice(["a", "b", "c", "d", "e", "f"], who.size),
        }
    )
    truth = history_disclosure(table, "ill", "day", person="who", exact=True, events=(2,))
    assert 0.02 < float(truth.at(2)) < 0.98
    covered = 0
    for seed in range(60):
        found = history_disclosure(
            table, "ill", "day", person="who", exact=False, draws=150, events=(2,), seed=seed
        )
        covered += found.at(2).low <= float(truth.at(2)) <= found.at(2).high  # type: ignore[union-attr]
        mean = found.confidence[0]
        assert mean.low <= float(truth.confidence[0]) <= mean.high  # type: ignore[union-attr]
    assert covered >= 0.9 * 60


def test_a_rare_diagnosis_that_follows_from_other_visits() -> None:
    """Who was in wards x and y has it, and nobody else: k is large, no single record shows it."""
    who = np.repeat(np.arange(400), 3)
    ward = np.tile(np.array(["x", "z", "u"]), 400).reshape(400, 3)
    ward[::2] = ["y", "z", "u"]
    ward[:20] = ["x", "y", "u"]
    ill = np.full((400, 3), "flu")
    ill[:20, 2] = "rare"
    table = pa.table({"who": who, "ward": ward.ravel(), "ill": ill.ravel()})
    found = history_disclosure(table, "ill", "ward", person="who", events=3)
    assert (found.pairs, found.holders) == (20, 20)
    assert float(found.at(1)) == 0.0
    assert float(found.at(2)) == pytest.approx(1 / 3)  # x with y, of three pairs
    assert float(found.at(3)) == 1.0
    assert found.baseline == pytest.approx(0.05)
    assert "One value, which 20 have" not in found.text_at(2)  # it is the only one
    assert "infers 'ill' almost certainly in 33.3 % of cases" in found.text_at(2)


@pytest.mark.parametrize("sixth", [1, 40])
def test_who_matches_are_people_however_often_they_came(sixth: int) -> None:
    """Of the six people of eight wards five have HIV; the sixth, with flu, came so many times."""
    visits = [
        (6 * ward + member, ward, "HIV" if ward < 8 and member < 5 else "flu")
        for ward in range(40)
        for member in range(6)
        for _ in range(sixth if member == 5 else 1)
    ]
    who, ward, ill = zip(*visits, strict=True)
    table = pa.table({"who": who, "ward": ward, "ill": ill})
    found = history_disclosure(table, "ill", "ward", person="who", events=1)
    assert (found.people, found.pairs, found.holders) == (240, 40, 40)
    assert float(found.confidence[0]) == pytest.approx(5 / 6)
    assert found.baseline == pytest.approx(40 / 240)


def test_harmless_values_and_values_of_most_people_are_no_sensitive_values() -> None:
    from crypsis.dataset import ColumnNote, Dataset

    table = pa.table({"who": [1, 2, 3, 4], "day": [1, 2, 3, 4], "ill": ["a", "a", "a", "b"]})
    data = Dataset.from_frame(table, person="who")
    assert history_disclosure(data, "ill", "day", events=1).pairs == 1
    noted = data.with_roles(dict(data.roles), {"ill": ColumnNote(harmless=("b",))})
    found = history_disclosure(noted, "ill", "day", events=1)
    assert (found.pairs, float(found.at(1))) == (0, 0.0)


def test_mistakes_are_named() -> None:
    table = pa.table({"who": [1, 1, 2], "day": [1, 2, 1], "ill": ["a", "b", "a"]})
    with pytest.raises(ParameterError, match="contradict"):
        history_disclosure(table, "ill", ["day", "ill"], person="who", knowledge="ends")
    with pytest.raises(ParameterError, match="1 to 12"):
        history_disclosure(table, "ill", "day", person="who", events=0)
