"""The loss of local recoding in random tables: never more with less required, nor than it need be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import RequirementsNotMetError
from crypsis.protection import PrivacyRequirements
from crypsis.protection.recoding._class_requirements import ClassRequirements, SensitiveColumn
from crypsis.protection.recoding._full_domain import full_domain_recoding
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding._local_search import improved
from crypsis.protection.recoding._search import _TopDown, local_recoding
from tests.cases import first_of
from tests.protection.test_local_search import cost, meets, table

OTHERS: list[dict[str, Any]] = [{}, {"diversity": 2}, {"closeness": 0.3}, {"beta_likeness": 1.5}]


def found(
    search: Any, cells: CellLevels, secret: SensitiveColumn, budget: float, **asked: Any
) -> Recoding | None:
    rows = int(budget * cells.counts.sum() + 1e-9)
    requirements = ClassRequirements(PrivacyRequirements(**asked), (secret,))
    try:
        result: Recoding = search(cells, requirements, rows)
    except RequirementsNotMetError:
        return None
    return result


def loss(search: Any, *given: Any, **asked: Any) -> float:
    """The loss; infinite if nothing was found."""
    result = found(search, *given, **asked)
    return np.inf if result is None else result.ncp


@pytest.mark.parametrize("others", OTHERS, ids=str)
@pytest.mark.parametrize("seed", first_of(range(2), 1))
def test_never_more_loss_with_a_larger_limit_or_a_smaller_k(seed: int, others: Any) -> None:
    for size in (8, 20):
        cells, secret = table(seed, size)
        smaller = np.inf
        for k in (5, 3, 2):
            before = smaller = min(smaller, loss(local_recoding, cells, secret, 0.0, k=k, **others))
            for budget in (0.1, 0.4):
                now = loss(local_recoding, cells, secret, budget, k=k, **others)
                assert now <= before + 1e-9
                assert now <= loss(full_domain_recoding, cells, secret, budget, k=k, **others) + 1e-9
                before = now


@pytest.mark.parametrize(("seed", "size"), [(11, 220), (11, 400), (14, 220), (15, 220)])
def test_never_more_loss_with_the_next_smaller_k(seed: int, size: int) -> None:
    """Around the suppression limit, where the cheapest classes leave too many records without values."""
    cells, secret = table(seed, size)
    losses = [loss(local_recoding, cells, secret, 0.05, k=k) for k in range(20, 14, -1)]
    assert losses == sorted(losses, reverse=True)


def test_a_search_that_empties_no_record_stays_within_the_limit_and_saves() -> None:
    cells, _ = table(18, 220)
    asked = ClassRequirements(PrivacyRequirements(k=18))
    search = _TopDown(cells, asked)
    start = search.recoding(search.split(search.start(), np.zeros_like(cells.tops)))
    assert start.rows_touched == 0
    assert improved(cells, asked, start).rows_touched > 0
    kept = improved(cells, asked, start, empty=False)
    assert kept.rows_touched == 0
    assert kept.ncp < start.ncp - 0.02


@pytest.mark.parametrize("seed", first_of([0, 4, 8, 10], 2))
def test_never_more_loss_with_a_weaker_requirement(seed: int) -> None:
    cells, secret = table(seed, 20)
    for name, falling in (
        ("diversity", (3, 2, 1)),
        ("closeness", (0.2, 0.4, 0.8)),
        ("beta_likeness", (0.5, 1.0, 4.0)),
    ):
        losses = [loss(local_recoding, cells, secret, 0.0, k=2, **{name: limit}) for limit in falling]
        losses.append(loss(local_recoding, cells, secret, 0.0, k=2))
        assert all(b <= a + 1e-9 for a, b in pairwise(losses)), (name, losses)


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Every way to divide some cells into classes."""
    if not items:
        yield []
        return
    for part in partitions(items[1:]):
        yield [[items[0]], *part]
        for place in range(len(part)):
            yield [*part[:place], [items[0], *part[place]], *part[place + 1 :]]


def levels_of(cells: CellLevels, members: list[int]) -> list[int]:
    """The lowest levels on which these cells have the same labels."""
    return [
        next(
            n
            for n in range(one.top + 1)
            if len({int(one.codes[n, cells.places[c][cell]]) for cell in members}) == 1
        )
        for c, one in enumerate(cells.columns)
    ]


def lost_columns(cells: CellLevels, part: list[list[int]]) -> set[int]:
    """The columns that are generalized fully in every record that has a value."""
    lost = set(range(len(cells.columns)))
    for members in part:
        for c, level in enumerate(levels_of(cells, members)):
            if level < cells.tops[c] and cells.there[members, c].any():
                lost.discard(c)
    return {c for c in lost if cells.there[:, c].any()}


def empties(cells: CellLevels, part: list[list[int]]) -> bool:
    """Whether a record has no value left in columns that others still have."""
    gone = lost_columns(cells, part)
    for members in part:
        level = levels_of(cells, members)
        for cell in members:
            own = [c for c in range(len(level)) if c not in gone and cells.there[cell, c]]
            if own and all(level[c] == cells.tops[c] for c in own):
                return True
    return False


@pytest.mark.parametrize("others", OTHERS[:3], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_few_cells_have_the_best_classes_of_all(seed: int, others: Any) -> None:
    cells, secret = table(seed, 6)
    rows = cells.counts.sum() * cells.tops.size
    every = list(partitions(list(range(cells.counts.size))))
    for k in (2, 4):
        asked = PrivacyRequirements(k=k, **others)
        allowed = [
            part
            for part in every
            if all(meets(cells, secret, members, asked) for members in part) and not empties(cells, part)
        ]
        prices = [sum(cost(cells, members) for members in part) / rows for part in allowed]
        made = found(local_recoding, cells, secret, 0.0, k=k, **others)
        if made is None:
            assert not allowed
            continue
        assert made.ncp == pytest.approx(min(prices))
        if made.fully_generalized_columns:  # no cheaper recoding has a value of every column
            kept = [
                price for part, price in zip(allowed, prices, strict=True) if not lost_columns(cells, part)
            ]
            assert min(kept, default=np.inf) >= made.ncp - 1e-9


def test_six_records_lose_less_with_a_larger_limit() -> None:
    people = pa.table({"age": [30] * 3 + [41] * 2 + [52], "zip": ["10"] * 3 + ["20"] * 2 + ["30"]})
    losses = [
        cr.anonymize(
            people, k=2, quasi_identifiers=["age", "zip"], suppression=limit, person="each record"
        ).loss.ncp
        for limit in (0.0, 0.05, 0.2, 0.5, 1.0)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[2] == pytest.approx(1 / 6)


@pytest.mark.parametrize("seed", range(3))
def test_classes_are_close_to_the_records_that_are_released(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = 400
    age, sex = draw.integers(0, 30, rows), draw.integers(0, 2, rows)
    ill = np.where(age < 4, "rare", draw.choice(["flu", "gout", "none"], rows))
    data = pa.table({"age": age, "sex": sex.astype(str), "ill": ill})
    safe = cr.anonymize(
        data,
        k=3,
        closeness=0.25,
        suppression=0.2,
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        person="each record",
    )
    released = safe.frame.to_pylist()
    values = sorted({row["ill"] for row in released})

    def shares(some: list[dict[str, Any]]) -> Any:
        return np.array([sum(row["ill"] == value for row in some) for value in values]) / len(some)

    for key in {(row["age"], row["sex"]) for row in released}:
        own = [row for row in released if (row["age"], row["sex"]) == key]
        assert len(own) >= 3
        assert np.abs(shares(own) - shares(released)).sum() / 2 <= 0.25 + 1e-9
    assert safe.loss.suppressed_records <= 80


@pytest.mark.heavy
def test_few_records_with_many_levels() -> None:
    random = np.random.default_rng(6)
    numbers = {f"n{i}": random.permutation(60) for i in range(6)}  # more than 2^15 lines of labels
    made = cr.anonymize(pa.table(numbers), k=5, quasi_identifiers=[*numbers], person="each record")
    assert made.measured is not None
    assert made.measured.k >= 5
