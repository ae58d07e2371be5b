"""The transition models against what the masks do, drawn many times."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from scipy import integrate, stats

import crypsis as cr
from crypsis.errors import ColumnError, ParameterError
from crypsis.protection import masking
from crypsis.protection.masking import _kernels
from crypsis.protection.masking._swap_model import SwapModel


def _shares(original: pa.Table, name: str, mask: object, draws: int) -> dict[tuple, float]:
    """How often each original value became each masked one, in many releases."""
    found: dict[tuple, float] = {}
    before = original[name].to_pylist()
    for seed in range(draws):
        made = cr.protection.mask(original, {name: mask}, shuffle=False, seed=seed).frame
        for pair in zip(before, made[name].to_pylist(), strict=True):
            found[pair] = found.get(pair, 0) + 1
    counts = {value: before.count(value) * draws for value in set(before)}
    return {pair: count / counts[pair[0]] for pair, count in found.items()}


def _matches(original: pa.Table, name: str, mask: object, draws: int, within: float) -> None:
    (model,) = masking.transitions(original, {name: mask})
    drawn = _shares(original, name, mask, draws)
    values = sorted(set(original[name].to_pylist()))
    targets = sorted({pair[1] for pair in drawn})
    table = np.exp(model.likelihood({name: np.array(values)[:, None]}, {name: np.array(targets)[None, :]}))
    for i, value in enumerate(values):
        for j, target in enumerate(targets):
            assert table[i, j] == pytest.approx(drawn.get((value, target), 0.0), abs=within)
    assert table.sum(axis=1) == pytest.approx(1, abs=within)


def test_pram_has_the_shares_of_many_draws() -> None:
    jobs = pa.table({"job": ["a"] * 600 + ["b"] * 300 + ["c"] * 100})
    _matches(jobs, "job", "pram:0.7", 10, 0.03)
    own = masking.PramMatrix(matrix={"a": {"a": 0.5, "c": 0.5}}, invariant=True)
    _matches(jobs, "job", own, 10, 0.03)


def test_noise_on_integers_has_the_shares_of_many_draws() -> None:
    _matches(pa.table({"x": [1, 1, 2, 5, 5, 9] * 300}), "x", "noise:0.4", 10, 0.03)


def test_rank_swapping_of_tied_values_has_the_shares_of_many_draws() -> None:
    ages = pa.table({"age": sorted([20, 20, 21, 22, 22, 22, 23, 24, 25, 25] * 8)})
    _matches(ages, "age", "rank-swap:15", 200, 0.05)


@pytest.mark.parametrize(("count", "reach", "within"), [(40, 5, 0.06), (60, 12, 0.04), (60, 59, 0.06)])
def test_the_swaps_of_ranks_are_those_of_many_draws(count: int, reach: int, within: float) -> None:
    generator = np.random.default_rng(3)
    drawn, draws = np.zeros((count, count)), 10_000
    for _ in range(draws):
        partner = _kernels.swap_partners(count, reach, generator.random(count))
        drawn[np.arange(count), partner] += 1 / draws
    ranks = np.arange(count)
    model = SwapModel(count, reach)
    table = np.array([model.to_ranks(np.full(count, i), ranks, ranks + 1) for i in ranks])
    assert table.sum(axis=1) == pytest.approx(1)
    assert np.abs(table - drawn).sum() / 2 / count < within
    assert (table[np.abs(ranks[:, None] - ranks) > reach] == 0).all()
    assert (table[drawn > 0] > 0).all()  # what happens is never impossible


def test_many_ranks_and_a_small_reach_do_not_overflow() -> None:
    model = SwapModel(5_000, 2)
    every = np.arange(5_000)
    total = model.to_ranks(every, np.zeros(5_000, int), np.full(5_000, 5_000))
    assert total == pytest.approx(1)


def test_a_reach_below_one_rank_keeps_every_value() -> None:
    (model,) = masking.transitions(pa.table({"x": [1.0, 2.0]}), {"x": "rank-swap:1"})
    assert model.likelihood({"x": [1.0, 1.0]}, {"x": [1.0, 2.0]}).tolist() == [0.0, -np.inf]


def test_noise_is_a_density_that_integrates_to_one() -> None:
    column = pa.table({"x": [1.0, 2.0, 4.0]})
    (model,) = masking.transitions(column, {"x": "noise:0.5"})
    spread = 0.5 * np.std([1.0, 2.0, 4.0])
    grid = np.array([-1.0, 2.0, 3.3])
    expected = stats.norm.logpdf(grid, 2.0, spread)
    assert model.likelihood({"x": 2.0}, {"x": grid}) == pytest.approx(expected)
    total, _ = integrate.quad(lambda y: np.exp(model.likelihood({"x": 2.0}, {"x": y})), -10, 14)
    assert total == pytest.approx(1)


def test_integers_far_away_have_a_finite_likelihood() -> None:
    (model,) = masking.transitions(pa.table({"x": [0, 10, 20]}), {"x": "noise:0.1"})
    far = model.likelihood({"x": 0.0}, {"x": np.array([0.0, 50.0, -50.0])})
    assert np.isfinite(far).all()
    assert far[0] > far[1] == far[2]


def test_correlated_noise_is_the_normal_density() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=50)
    table = pa.table({"x": x, "y": x + generator.normal(size=50)})
    mask = masking.Noise(scale=0.5, correlated=True)
    (model,) = masking.transitions(table, {("x", "y"): mask})
    covariance = 0.25 * np.cov(np.column_stack([table["x"], table["y"]]).T, ddof=0)
    gap = np.array([[0.1, 0.2], [-1.0, 0.4]])
    found = model.likelihood({"x": [0.0, 0.0], "y": [0.0, 0.0]}, {"x": gap[:, 0], "y": gap[:, 1]})
    assert found == pytest.approx(stats.multivariate_normal.logpdf(gap, cov=covariance))


def test_correlated_noise_without_a_dimension_never_leaves_the_plane() -> None:
    table = pa.table({"x": [1.0, 2.0, 4.0, 9.0], "y": [2.0, 4.0, 8.0, 18.0]})
    mask = masking.Noise(scale=0.5, correlated=True)
    (model,) = masking.transitions(table, {("x", "y"): mask})
    on, off = model.likelihood({"x": [1.0] * 2, "y": [2.0] * 2}, {"x": [2.0] * 2, "y": [4.0, 5.0]})
    assert np.isfinite(on)
    assert off == -np.inf


def test_groups_of_microaggregation_are_known() -> None:
    table = pa.table({"x": [1.0, 3.0, 8.0, 10.0], "y": [0.0, 0.0, 5.0, 7.0]})
    (model,) = masking.transitions(table, {("x", "y"): masking.Mdav(k=2)})
    originals = {"x": np.array([[1.0], [8.0]]), "y": np.array([[0.0], [5.0]])}
    masked = {"x": np.array([2.0, 9.0]), "y": np.array([0.0, 6.0])}
    assert model.likelihood(originals, masked).tolist() == [[0.0, -np.inf], [-np.inf, 0.0]]


def test_equal_values_in_two_strata_have_the_shares_of_both() -> None:
    table = pa.table({"x": [1.0, 3.0, 1.0, 9.0], "area": ["a", "a", "b", "b"]})
    (model,) = masking.transitions(table, {"x": masking.Microaggregate(k=2, within=("area",))})
    found = np.exp(model.likelihood({"x": 1.0}, {"x": np.array([2.0, 5.0, 1.0])}))
    assert found.tolist() == [0.5, 0.5, 0.0]


def test_suppressed_cells_are_those_of_the_mask() -> None:
    table = pa.table({"age": [30, 30, 41, 41, 50], "sex": ["f", "f", "m", "m", "m"]})
    mask = masking.LocalSuppression(k=2)
    (model,) = masking.transitions(table, {("age", "sex"): mask})
    made = masking.local_suppression(table, ["age", "sex"], k=2)
    own = {name: np.array(table[name].to_pylist(), object) for name in ("age", "sex")}
    new = {name: np.array(made[name].to_pylist(), object) for name in ("age", "sex")}
    assert (model.likelihood(own, new) > -np.inf).all()
    assert (model.likelihood({"age": [30], "sex": ["x"]}, {"age": [30], "sex": ["x"]}) < 0).all()


def test_a_missing_value_stays_missing() -> None:
    table = pa.table({"x": [1.0, 2.0, None, 4.0], "job": ["a", "b", None, "a"]})
    for name, mask in (("x", "noise:0.5"), ("x", "rank-swap:50"), ("x", "top:2"), ("job", "pram:0.5")):
        (model,) = masking.transitions(table, {name: mask})
        value = np.nan if name == "x" else None
        one = 1.0 if name == "x" else "a"
        pairs = np.array([value, value, one], object if name == "job" else float)
        others = np.array([value, one, value], object if name == "job" else float)
        assert model.likelihood({name: pairs}, {name: others}).tolist() == [0.0, -np.inf, -np.inf]


def test_data_shuffling_depends_on_the_columns_that_stay_only() -> None:
    generator = np.random.default_rng(2)
    z = generator.normal(size=400)
    table = pa.table({"z": z, "x": z + 0.3 * generator.normal(size=400)})
    mask = masking.Shuffle(given=("z",))
    (model,) = masking.transitions(table, {("x",): mask})
    assert (model.columns, model.given) == (("x",), ("z",))
    made = np.asarray(masking.shuffle(table, "x", given=("z",), seed=1)["x"])
    true = model.likelihood({"z": z}, {"x": made}).mean()
    assert true > model.likelihood({"z": z[::-1]}, {"x": made}).mean() + 1


def test_dates_move_by_whole_days_within_the_limit() -> None:
    table = pa.table({"id": ["p"], "day": [datetime.date(2020, 1, 10)]})
    (model,) = masking.transitions(table, {"day": masking.ShiftDates(days=5, person="id")})
    days = np.array(["2020-01-15", "2020-01-16"], "datetime64[D]")
    found = model.likelihood({"day": np.datetime64("2020-01-10")}, {"day": days})
    assert found.tolist() == [pytest.approx(-np.log(11)), -np.inf]


def test_a_generalized_label_fits_the_values_it_covers() -> None:
    people = pa.table({"age": [30, 31, 41, 44]})
    made = cr.anonymize(people, k=2, quasi_identifiers=["age"], seed=1, person="each record")
    (model,) = made.plan.transitions()
    labels = np.array(["<=31", ">=32", None], object)
    found = model.likelihood({"age": np.array([[30], [44]])}, {"age": labels})
    assert found.tolist() == [[0.0, -np.inf, 0.0], [-np.inf, 0.0, 0.0]]


def test_what_has_no_model_is_refused_or_left_out() -> None:
    table = pa.table({"x": [1.0, 2.0], "id": ["a", "b"]})
    assert masking.transitions(table, {"id": "pseudonym"}) == ()
    with pytest.raises(ParameterError, match="masked twice"):
        masking.transitions(table, {"x": "noise:1", ("x", "id"): masking.LocalSuppression(k=1)})
    with pytest.raises(ColumnError):
        masking.transitions(table, {"y": "noise:1"})
    with pytest.raises(ParameterError, match="not a mask"):
        masking.transitions(table, {"x": "intervals"})
