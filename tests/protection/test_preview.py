"""What a choice of levels comes to, against counting the rows themselves."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import ColumnError, ParameterError
from crypsis.protection import Preview, allowed_values, plan
from crypsis.protection._preview import _totals
from crypsis.singling_out import max_cells, values_per_column

QI = ["age", "zip", "sex"]


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(5)
    n = 2_000
    zips = [None if i % 50 == 0 else f"{z:05d}" for i, z in enumerate(rng.integers(100, 180, n))]
    return pa.table(
        {
            "age": rng.integers(20, 70, n),
            "zip": zips,
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, n))),
        }
    )


@pytest.fixture(scope="module")
def preview(people: pa.Table) -> Preview:
    return Preview(people, plan(people, k=5, quasi_identifiers=QI), quasi_identifiers=QI)


def _counted(people: pa.Table, preview: Preview, levels: dict[str, int]) -> Counter[tuple[object, ...]]:
    columns = []
    for name in QI:
        step = preview.steps[name][levels.get(name, 0)]
        columns.append([None if v is None else step.label(v) for v in people[name].to_pylist()])
    return Counter(zip(*columns, strict=True))


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_against_the_rows(people: pa.Table, preview: Preview, data: st.DataObject) -> None:
    levels = {name: data.draw(st.integers(0, preview.top(name)), name) for name in QI}
    k = data.draw(st.integers(1, 60))
    told, crowds = preview.outcome(levels, k=k), _counted(people, preview, levels)
    assert told.classes == len(crowds)
    assert told.smallest == min(crowds.values())
    assert told.rows_below == sum(size for size in crowds.values() if size < k)
    assert told.unique_rows == sum(size for size in crowds.values() if size == 1)
    assert told.average_risk == pytest.approx(len(crowds) / people.num_rows)
    assert preview.shares_below(levels, [k]) == [pytest.approx(told.share_below)]


def test_losses(preview: Preview) -> None:
    tops = {name: preview.top(name) for name in QI}
    assert preview.outcome(k=5).loss == 0
    # 40 of 2,000 postal codes are missing already, so emptying the rest loses 0.98 of that column.
    assert preview.outcome(tops, k=5).loss == pytest.approx((1 + 0.98 + 1) / 3)
    assert preview.outcome({"sex": preview.top("sex")}, k=5).loss == pytest.approx(1 / 3)
    one_by_one = [preview.outcome({"age": level}, k=5).loss for level in range(preview.top("age") + 1)]
    assert one_by_one == sorted(one_by_one)


def test_without_a_column(people: pa.Table, preview: Preview) -> None:
    found = preview.without_each(k=5)
    crowds = Counter(zip(people["age"].to_pylist(), people["sex"].to_pylist(), strict=True))
    assert found["zip"].rows_below == sum(size for size in crowds.values() if size < 5)


def test_the_curve_ends_where_everyone_has_a_crowd(preview: Preview) -> None:
    path = preview.trade_off(k=20)
    assert path[0].loss == 0
    assert path[-1].rows_below == 0
    assert all(b.loss >= a.loss for a, b in pairwise(path))
    steps = [sum(one.levels.values()) for one in path]
    assert steps == list(range(len(path)))
    assert preview.trade_off(k=1)[0].rows_below == 0


def test_the_plan_that_was_chosen_can_be_carried_out(people: pa.Table, preview: Preview) -> None:
    levels = {"age": 2, "zip": preview.top("zip")}
    chosen = preview.plan_with(levels)
    assert [one.step for one in chosen.columns][:2] == [preview.steps["age"][2], preview.steps["zip"][-1]]
    made = chosen.apply(people, quasi_identifiers=QI)
    assert made.measured is not None
    assert made.measured.k >= 5
    told = preview.outcome(levels, k=5)
    if not told.rows_below:  # nothing was left to repair: it is what was foretold
        assert made.measured.classes == told.classes
        assert made.measured.k == told.smallest
    assert preview.plan_with({}) == preview.plan


def test_allowances_are_equation_1(preview: Preview) -> None:
    found = allowed_values(preview.plan, population=10**6, k=20, beta=0.05, weights={"age": 2})
    domains = [one.domain for one in preview.plan.columns]
    cells = max_cells(10**6, 20, 0.05)
    expected = values_per_column(cells, domains, weights=[2, 1, 1])  # type: ignore[arg-type]
    assert [one.allowed for one in found] == pytest.approx(list(expected))


def test_wrong_questions(preview: Preview) -> None:
    with pytest.raises(ColumnError, match="Column 'height' does not exist"):
        preview.outcome({"height": 1}, k=5)
    with pytest.raises(ParameterError, match="has levels 0 to"):
        preview.outcome({"sex": 9}, k=5)
    with pytest.raises(ParameterError, match="'k' must be at least 1"):
        preview.outcome(k=0)


@pytest.mark.parametrize("bound", [50, 10_000, 2**61])
def test_totals_by_table_and_by_sorting(bound: int) -> None:
    rng = np.random.default_rng(1)
    keys, counts = rng.integers(0, bound, 400) // 3 * 3, rng.integers(1, 9, 400)
    keys[200:] = keys[:200]
    expected = Counter[int]()
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        expected[key] += count
    assert sorted(_totals(keys, bound, counts).tolist()) == sorted(expected.values())
