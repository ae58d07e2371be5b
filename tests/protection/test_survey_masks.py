"""PRAM with a matrix and its invariant form, microaggregation within strata, local suppression."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis as cr
from crypsis import protection as an
from crypsis.errors import ColumnError, ParameterError, RequirementsNotMetError
from crypsis.protection import masking
from crypsis.protection.masking._kernels import swap_partners
from crypsis.protection.masking._local_suppression import suppressed_values
from crypsis.protection.masking._transition import invariant, transition_matrix
from crypsis.singling_out import combination_k

MATRIX = {"a": {"a": 0.8, "b": 0.2}, "b": {"b": 0.5, "c": 0.5}}


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.floats(0.01, 1), min_size=n, max_size=n), min_size=n, max_size=n),
            st.lists(st.integers(0, 50), min_size=n, max_size=n),
        )
    )
)
def test_the_invariant_form_keeps_expected_counts_and_rows_sum_to_one(drawn):
    rows, counts = np.array(drawn[0]), np.array(drawn[1])
    matrix = rows / rows.sum(axis=1, keepdims=True)
    both = invariant(matrix, counts)
    assert counts @ both == pytest.approx(counts.astype(float), abs=1e-9)
    if counts.sum():
        assert both[counts > 0].sum(axis=1) == pytest.approx(np.ones((counts > 0).sum()))


def test_categories_that_are_not_in_the_matrix_are_kept():
    mask = masking.PramMatrix(matrix=MATRIX)
    found = transition_matrix(mask, "x", ["a", "b", "c"], np.array([5, 3, 2]))
    assert found.tolist() == [[0.8, 0.2, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("form", [False, True])
def test_frequencies_of_changes_are_those_of_the_matrix(form):
    random = np.random.default_rng(1)
    before = random.choice(list("abc"), 60_000, p=[0.5, 0.3, 0.2])
    table = pa.table({"x": before})
    made = masking.pram_by_matrix(table, "x", matrix=MATRIX, invariant=form, seed=4)
    after = np.array(made["x"].to_pylist())
    counts = np.array([(before == v).sum() for v in "abc"])
    expected = transition_matrix(masking.PramMatrix(matrix=MATRIX, invariant=form), "x", list("abc"), counts)
    for i, one in enumerate("abc"):
        shares = [(after[before == one] == other).mean() for other in "abc"]
        assert shares == pytest.approx(expected[i].tolist(), abs=0.015)
    if form:
        assert [(after == v).sum() for v in "abc"] == pytest.approx(counts.tolist(), rel=0.03)


def test_numbers_are_categories_and_missing_values_stay_missing():
    table = pa.table({"x": pa.array([1, 2, None, 2], pa.int32())})
    made = masking.pram_by_matrix(table, "x", matrix={"2": {"1": 1.0}})
    assert made["x"].to_pylist() == [1, 1, None, 1]
    assert made.schema.field("x").type == pa.int32()


def test_the_statement_has_the_matrix_in_words():
    made = an.mask(pa.table({"x": list("abc") * 5}), {"x": masking.PramMatrix(matrix=MATRIX)})
    assert "matrix of probabilities (kept with 0.5 to 0.8)" in made.statement.to_json()


def test_a_wrong_matrix_is_refused():
    for wrong in ({}, {"a": {"a": 0.5}}, {"a": {"a": 1.5, "b": -0.5}}):
        with pytest.raises(ValueError, match="matrix|probabilities|less than"):
            masking.PramMatrix(matrix=wrong)
    with pytest.raises(ParameterError, match="1 category that column 'x' does not have") as error:
        masking.pram_by_matrix(pa.table({"x": ["a"]}), "x", matrix={"a": {"zebra": 1.0}})
    assert "zebra" not in str(error.value)


def strata(rows=300):
    random = np.random.default_rng(8)
    return pa.table(
        {
            "x": random.normal(size=rows),
            "y": random.normal(size=rows),
            "region": random.choice(["n", "s", None], rows),
            "kind": random.integers(0, 2, rows),
        }
    )


@pytest.mark.parametrize("method", ["microaggregate", "mdav"])
def test_groups_are_those_of_each_stratum_alone(method):
    table = strata()
    made = getattr(masking, method)(table, ["x", "y"], k=4, within=("region", "kind"), exact=True)
    for region in ("n", "s", None):
        for kind in (0, 1):
            same = pc.is_null(table["region"]) if region is None else pc.equal(table["region"], region)
            rows = pc.and_(pc.fill_null(same, False), pc.equal(table["kind"], kind))
            alone = getattr(masking, method)(table.filter(rows), ["x", "y"], k=4, exact=True)
            assert made.filter(rows)["x"].to_pylist() == pytest.approx(alone["x"].to_pylist())
            assert pc.mean(made.filter(rows)["x"]).as_py() == pytest.approx(
                pc.mean(table.filter(rows)["x"]).as_py()
            )
    assert made["region"].to_pylist() == table["region"].to_pylist()


def test_a_stratum_that_is_too_small_is_refused():
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "region": ["n", "n", "n", "s"]})
    with pytest.raises(RequirementsNotMetError, match="1 of 2 strata has fewer than 2 records"):
        masking.microaggregate(table, "x", k=2, within=("region",))
    made = an.mask(table, {"x": masking.Microaggregate(k=1, within=("region",))})
    assert "within each region" in made.statement.to_json()


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(-1, 1)), min_size=4),
    st.integers(1, 4),
    st.sampled_from([None, (0, 1, 2), (2, 0, 1)]),
)
def test_local_suppression_reaches_k_and_only_removes(rows, k, order):
    codes = np.array(rows)
    removed = suppressed_values(codes, k, order)
    after = np.where(removed, -1, codes)
    _, sizes = np.unique(after, axis=0, return_counts=True)
    assert sizes.min() >= k
    assert not removed[codes < 0].any()
    if np.unique(codes, axis=0, return_counts=True)[1].min() >= k:
        assert not removed.any()


def test_local_suppression_removes_the_least_it_can_by_hand():
    table = pa.table({"age": [30, 30, 30, 41], "sex": ["f", "f", "f", "f"]})
    made = masking.local_suppression(table, ["age", "sex"], k=2)
    assert made["sex"].to_pylist() == ["f"] * 4
    assert sorted(made["age"].to_pylist(), key=str) == [30, 30, None, None]


def test_importance_decides_which_column_is_suppressed():
    random = np.random.default_rng(3)
    table = pa.table({name: random.integers(0, 6, 300) for name in "abc"})
    for kept in "abc":
        made = masking.local_suppression(table, list("abc"), k=5, importance=(kept,))
        others = tuple(name for name in "abc" if name != kept)
        last = masking.local_suppression(table, list("abc"), k=5, importance=others)
        assert made[kept].null_count < 20 < 250 < last[kept].null_count
        (found,) = combination_k(made, list("abc"), size=3, k=5)
        assert found.k >= 5


def test_columns_with_the_same_local_suppression_are_suppressed_together():
    random = np.random.default_rng(4)
    table = pa.table({"a": random.integers(0, 9, 200), "b": random.choice(list("xyz"), 200)})
    methods = {"a": "local-suppression:4", "b": "local-suppression:4"}
    made = cr.anonymize(
        table,
        k=4,
        methods=methods,
        quasi_identifiers=["a", "b"],
        recoding="full-domain",
        person="each record",
    )
    assert "values suppressed until at least 4 records are alike" in made.statement.to_json()
    assert made.loss.suppressed_records == 0
    with pytest.raises(RequirementsNotMetError, match="classes of 300"):
        masking.local_suppression(table, ["a", "b"], k=300)
    with pytest.raises(cr.errors.ColumnError):
        masking.local_suppression(table, ["a", "b"], k=3, importance=("c",))


def test_missing_values_and_nan_are_one_value():
    table = pa.table({"a": [1.0, math.nan, None, 1.0], "b": ["x", "y", "y", "x"]})
    made = masking.local_suppression(table, ["a", "b"], k=2)
    assert made["b"].to_pylist() == ["x", "y", "y", "x"]


def _matching(table: pa.Table) -> list[int]:
    """How many records match each if a missing value matches every value: by definition."""
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def alike(one: tuple, two: tuple) -> bool:
        return all(a is None or b is None or a == b for a, b in zip(one, two, strict=True))

    return [sum(alike(one, two) for two in rows) for one in rows]


@pytest.mark.parametrize("seed", range(6))
def test_wildcards_reach_k_with_no_more_suppression_than_values(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = [[None if v == 9 else int(v) for v in column] for column in generator.integers(0, 10, (4, 80))]
    table = pa.table({f"c{i}": values[i] for i in range(4)})
    k = int(generator.integers(2, 6))
    made = masking.local_suppression(table, table.column_names, k=k, missing="wildcard")
    assert min(_matching(made)) >= k
    for name in table.column_names:
        assert all(
            after is None or after == before
            for before, after in zip(table[name].to_pylist(), made[name].to_pylist(), strict=True)
        )
    strict = masking.local_suppression(table, table.column_names, k=k)
    gone = [sum(one[name].null_count for name in one.column_names) for one in (made, strict)]
    assert gone[0] <= gone[1]


def test_no_value_is_suppressed_that_could_be_given_back() -> None:
    generator = np.random.default_rng(7)
    table = pa.table({f"c{i}": generator.integers(0, 5, 60) for i in range(3)})
    made = masking.local_suppression(table, table.column_names, k=3, missing="wildcard")
    for name in table.column_names:
        for row in np.flatnonzero(np.array(made[name].is_null())):
            column = made[name].to_pylist()
            column[row] = table[name][int(row)].as_py()
            back = made.set_column(made.column_names.index(name), name, pa.array(column))
            assert min(_matching(back)) < 3


def test_missing_values_of_the_data_are_compared_as_it_says() -> None:
    table = pa.table({"age": [30, 30, 41], "sex": ["f", "f", "f"]})
    data = cr.Dataset.from_frame(table, missing="wildcard")
    made = cr.protection.mask(data, {("age", "sex"): masking.LocalSuppression(k=2)})
    assert made.frame["age"].to_pylist() == [30, 30, None]
    assert "matches every value" in made.methods[0].description


def test_ghost_variables_lose_the_values_of_the_same_records() -> None:
    table = pa.table(
        {
            "age": [30, 30, 41, None],
            "sex": ["f", "f", "f", "f"],
            "group": ["a", "a", "b", "c"],
            "x": [1, 2, 3, 4],
        }
    )
    mask = masking.LocalSuppression(k=3, missing="wildcard", ghosts={"age": ("group", "x")})
    made = cr.protection.mask(table, {("age", "sex"): mask})
    assert made.frame["group"].to_pylist() == ["a", "a", None, None]
    assert made.frame["x"].to_pylist() == [1, 2, None, None]
    assert made.methods[0].columns == ("age", "sex", "group", "x")
    assert "with age also group, x" in made.methods[0].description
    with pytest.raises(ColumnError):
        masking.local_suppression(table, ["age", "sex"], k=2, ghosts={"group": ("x",)})


@pytest.mark.parametrize("reach", [1, 3, 40, 200])
def test_ranks_are_swapped_with_the_free_rank_that_is_drawn(reach):
    count = 131
    draws = np.random.default_rng(reach).random(count)
    expected = np.arange(count)
    free = [True] * count
    for i in range(count):
        near = [j for j in range(i + 1, min(count, i + reach + 1)) if free[j]]
        if free[i] and near:
            j = near[int(draws[i] * len(near))]
            expected[i], expected[j], free[j] = j, i, False
        free[i] = False
    assert swap_partners(count, reach, draws).tolist() == expected.tolist()
