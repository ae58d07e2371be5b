"""Dependencies between columns: exact ones are found, correlation is not one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from crypsis.columns.dependencies import find_dependencies

ROWS = 800
DRAW = np.random.default_rng(7)
AGE = DRAW.integers(20, 67, ROWS)
ZIP = DRAW.integers(0, 40, ROWS)
POINTS = DRAW.integers(1, 50, ROWS)
HEIGHT, WEIGHT = DRAW.integers(150, 195, ROWS), DRAW.integers(45, 110, ROWS)
SEX = np.array(["f", "m"])[DRAW.integers(0, 2, ROWS)]
INCOME = DRAW.integers(200, 900, ROWS) * 100


def _bands(values: Any, width: int) -> pa.ChunkedArray:
    return pa.chunked_array([[f"band {v // width}" for v in values]])


def _found(changed: dict[str, Any], released: dict[str, Any], **kept: Any) -> set[str]:
    table = pa.table({**changed, **kept})
    found = find_dependencies(table, released, list(kept))
    return {name for one in found for name in one.columns}


DERIVED = {
    "67 - age": 67 - AGE,
    "months": AGE * 12 + DRAW.integers(0, 12, ROWS),
    "nearly, for 90 %": AGE - 18 - np.where(DRAW.random(ROWS) < 0.9, 0, 2),
    "square with all digits": AGE.astype(float) ** 2 + 0.001 * DRAW.random(ROWS),
    "text": [f"code-{a}" for a in AGE],
}


@pytest.mark.parametrize("kept", DERIVED.values(), ids=DERIVED)
def test_a_column_that_determines_the_age(kept: Any) -> None:
    assert _found({"age": AGE}, {"age": _bands(AGE, 10)}, kept=kept) == {"kept"}


STATISTICS = {
    "independent": DRAW.integers(0, 60, ROWS),
    "correlated": AGE * 800 + DRAW.normal(0, 9_000, ROWS),
    "truth value": DRAW.random(ROWS) < AGE / 100,
    "all different": DRAW.permutation(ROWS),
    "the same bands": [f"{a // 10}" for a in AGE],
    "coarser bands": [f"{a // 20}" for a in AGE],
}


def test_a_number_that_nearly_all_share_is_not_given_back_by_any_other() -> None:
    """Only rare values are generalized; what is right of the common one says nothing of them."""
    rare = np.where(DRAW.random(ROWS) < 0.9, 0, DRAW.integers(1, 24, ROWS))
    few = np.flatnonzero(rare)
    labels = np.array([str(v) for v in rare], object)
    labels[few] = "other"
    labels[np.flatnonzero(rare == 0)[: few.size]] = "other"
    released = {"rare": pa.chunked_array([labels.tolist()])}
    assert _found({"rare": rare}, released, owner=DRAW.integers(0, 3, ROWS)) == set()


@pytest.mark.parametrize("kept", STATISTICS.values(), ids=STATISTICS)
def test_correlation_is_not_a_dependency(kept: Any) -> None:
    assert _found({"age": AGE}, {"age": _bands(AGE, 10)}, kept=kept) == set()


def test_a_code_and_a_city_of_the_zip_code() -> None:
    codes = [f"021{z:02d}" for z in ZIP]
    prefix = pa.chunked_array([["021**"] * ROWS])
    branch = [f"B{(z * 17) % 40}" for z in ZIP]
    city = [f"town {z // 2}" for z in ZIP]  # two zip codes a town
    state = ["MA"] * ROWS
    found = _found({"zip": codes}, {"zip": prefix}, branch=branch, city=city, state=state)
    assert found == {"branch", "city"}


def test_relations_of_three_columns() -> None:
    bmi = WEIGHT / (HEIGHT / 100) ** 2
    changed = {"height": HEIGHT, "weight": WEIGHT}
    released = {"height": _bands(HEIGHT, 10), "weight": _bands(WEIGHT, 10)}
    noise = DRAW.normal(0, 5, ROWS)
    assert _found(changed, released, bmi=bmi) == {"bmi"}
    assert _found(changed, released, health=bmi + noise) == set()
    total = _found({"age": AGE}, {"age": _bands(AGE, 10)}, points=POINTS, total=AGE + POINTS)
    assert total == {"points", "total"}


def test_values_that_only_one_group_has() -> None:
    result = np.where(SEX == "m", DRAW.normal(2, 0.3, ROWS).round(1), np.nan)
    hidden = pa.chunked_array([["*"] * ROWS])
    assert _found({"sex": SEX}, {"sex": hidden}, psa=result) == {"psa"}


def test_what_was_not_changed_needs_no_protection() -> None:
    released = pa.chunked_array([pa.array(AGE)])
    assert _found({"age": AGE}, {"age": released}, kept=67 - AGE) == set()


def test_large_tables_are_searched_in_a_sample_and_measured_on_all() -> None:
    age = np.tile(AGE, 40)
    table = pa.table({"age": age, "pension": 67 - age, "other": np.tile(POINTS, 40)[::-1]})
    found = find_dependencies(table, {"age": _bands(age, 10)}, ["pension", "other"])
    assert [(one.columns, one.recovered) for one in found] == [(("pension",), 1.0)]


def test_few_changed_values_and_a_column_that_says_nothing_of_them() -> None:
    changed = DRAW.random(ROWS) < 0.1
    codes = np.array([f"021{z:02d}" for z in ZIP])
    released = pa.chunked_array([np.where(changed, "021**", codes).tolist()])
    salary = np.where(DRAW.random(ROWS) < 0.24, ">50K", "<=50K")
    assert _found({"zip": codes}, {"zip": released}, salary=salary) == set()
    assert _found({"zip": codes}, {"zip": released}, branch=[f"B{z}" for z in ZIP]) == {"branch"}
    bands = pa.chunked_array([np.where(changed, "*", AGE.astype(str)).tolist()])
    assert _found({"age": AGE}, {"age": bands}, salary=salary) == set()
    assert _found({"age": AGE}, {"age": bands}, root=np.sqrt(AGE + 1e-3 * ZIP)) == {"root"}


def test_minus_zero_is_zero() -> None:
    draw = np.random.default_rng(2)
    table = pa.table({"x": draw.choice([0.0, -0.0], 200), "s": draw.choice(["a", "b"], 200)})
    assert not find_dependencies(table, {"x": pa.chunked_array([[0.0] * 200])}, ["s"])
