"""Sensitive columns with very many values: neighbors are merged for the search, and nothing is missed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.protection import PrivacyRequirements, anonymize
from crypsis.protection.recoding import _class_requirements as merging
from crypsis.protection.recoding._class_requirements import ClassRequirements, SensitiveColumn
from crypsis.protection.recoding.kernels import requirements as kernel


def column(
    rows: int, values: int, seed: int, *, ordered: bool = True, missing: bool = False
) -> SensitiveColumn:
    """Rows in 20 cells, each of them with a part of the values."""
    draw = np.random.default_rng(seed)
    cell = np.sort(draw.integers(0, 20, rows))
    code = (draw.beta(1 + cell % 3, 1 + cell % 2) * values).astype(np.int64)
    code[:values] = np.arange(values)  # every value occurs
    if missing:
        code[draw.random(rows) < 0.1] = values
    return SensitiveColumn(cell, code, np.ones(rows, np.int64), values + missing, ordered, missing)


def earth_movers(own: np.ndarray, every: np.ndarray, values: int) -> Fraction:
    """The distance among ordered values, by its definition."""
    here, there = np.bincount(own, minlength=values), np.bincount(every, minlength=values)
    spent, carried = Fraction(0), Fraction(0)
    for a, b in zip(here.tolist(), there.tolist(), strict=True):
        carried += Fraction(a, len(own)) - Fraction(b, len(every))
        spent += abs(carried)
    return spent / (values - 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_distance_of_merged_values_is_at_most_two_of_them_less(seed: int) -> None:
    one = column(4000, 2500, seed)
    other = one.merged()
    assert other.values == merging.MAX_VALUES < one.values
    for cell in range(20):
        mine = one.cell == cell
        rows = np.bincount(other.code[mine], minlength=other.values).astype(float)
        counted = kernel.distance.py_func(  # kernels alone can call it compiled
            rows,
            float(mine.sum()),
            other.shares,
            kernel.ORDERED,
            False,
            np.zeros((2, other.values), np.int64),
        )
        exact = earth_movers(one.code[mine], one.code, one.values)
        assert abs(float(exact) - counted) <= 2 / merging.MAX_VALUES
        assert np.unique(other.code[mine]).size <= np.unique(one.code[mine]).size


def test_the_missing_value_stays_apart() -> None:
    one = column(4000, 2500, 1, missing=True)
    other = one.merged()
    assert other.values == merging.MAX_VALUES + 1
    assert np.array_equal(other.code == merging.MAX_VALUES, one.code == 2500)


def test_common_neighbors_few_values_and_hierarchies_are_not_merged() -> None:
    few = column(4000, 900, 0)
    assert few.merged() is few
    common = column(40_000, 2500, 0)
    common.code[:2000] = 5
    assert common.merged() is common


@pytest.mark.parametrize(
    ("asked", "ordered", "merges"),
    [
        ({"closeness": 0.2}, True, True),
        ({"closeness": 0.2}, False, False),  # half a sum of differences becomes less
        ({"diversity": 3}, False, True),
        ({"closeness": 0.2, "beta_likeness": 1.0}, True, False),
        ({"best_guess": 0.5}, True, False),
    ],
)
def test_values_are_merged_only_where_that_is_sound(
    asked: dict[str, float], ordered: bool, merges: bool
) -> None:
    one = column(4000, 2500, 0, ordered=ordered)
    arrays = ClassRequirements(PrivacyRequirements(k=2, **asked), (one,)).arrays(20)
    assert arrays is not None
    assert (arrays[3][-1] == merging.MAX_VALUES) == merges
    if merges and "closeness" in asked:
        assert arrays[7][kernel.CLOSENESS] == pytest.approx(0.2 - 2 / merging.MAX_VALUES)


def test_a_release_with_many_values_is_as_close_as_required() -> None:
    draw = np.random.default_rng(4)
    age = draw.integers(20, 60, 3000)
    income = age * 1000 + draw.integers(0, 40_000, 3000)
    table = pa.table({"age": age, "zone": [f"z{z}" for z in draw.integers(0, 9, 3000)], "income": income})
    data = cr.Dataset.from_frame(
        table, quasi_identifiers=["age", "zone"], sensitive=["income"], person="each record"
    )
    made = anonymize(data, k=3, closeness=0.15, diversity=3)
    classes: dict[tuple[object, ...], list[int]] = {}
    rows = made.data.to_arrow().to_pylist()
    for row in rows:
        classes.setdefault((row["age"], row["zone"]), []).append(row["income"])
    values = sorted({row["income"] for row in rows})
    assert len(values) > merging.MAX_VALUES
    assert len(classes) > 1
    place = {value: i for i, value in enumerate(values)}
    every = np.array([place[row["income"]] for row in rows])
    for own in classes.values():
        assert len(own) >= 3
        assert len(set(own)) >= 3
        far = earth_movers(np.array([place[v] for v in own]), every, len(values))
        assert float(far) <= 0.15 + 1e-9
