"""Leakage from some of the classes: exact where all are counted, intervals that cover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import inference
from crypsis.cli import run
from crypsis.counting.estimates import mapped, row_mean
from crypsis.errors import ColumnError, InputError, ParameterError, TooLargeError
from crypsis.policies import Policy, load_policy
from crypsis.policies.findings import Status, Verdict
from crypsis.results import Estimate, Number
from crypsis.tables import Rows
from crypsis.tables import class_samples as large
from crypsis.tables.class_samples import large_classes, sample_classes

GIVEN = ["a", "b"]


def people(seed: int = 0, rows: int = 12_000) -> pa.Table:
    """Combinations with a long tail, with one that many share, or all of them rare."""
    random = np.random.default_rng(seed)
    kind = seed % 3
    tail = random.zipf(1.3, rows) % 3000
    one = np.where(random.random(rows) < 0.4, 0, random.integers(0, 4000, rows))
    a = (tail, one, random.integers(0, 3000, rows))[kind]
    b = random.integers(0, (4, 1, 2)[kind], rows)
    x = np.where(random.random(rows) < random.random(), (a + b) % 7, random.zipf(1.8, rows) % 9)
    gone = random.random(rows) < 0.03
    return pa.table(
        {
            "id": np.arange(rows),
            "a": a,
            "b": pa.array(b, mask=random.random(rows) < 0.02),
            "x": pa.array(x.astype(str), mask=gone),
            "n": random.normal(size=rows).round(1),
        }
    )


def ends(number: Number) -> tuple[float, float]:
    return (number.low, number.high) if isinstance(number, Estimate) else (number, number)


AVERAGES = (
    "classes",
    "conditional_entropy_bits",
    "joint_entropy_bits",
    "normalized_conditional_entropy",
    "mutual_information",
    "discrimination_rate",
    "conditional_privacy",
)
WORST_CASES = (
    "max_information_leakage",
    "max_information_leakage_difference",
    "max_information_leakage_divergence",
    "entropy_l_diversity",
    "itpr_before_scaling",
    "distinct_l",
    "t",
    "itpr",
)


def paired(found: inference.Leakage, true: inference.Leakage) -> list[tuple[Number, float]]:
    """Averages, then worst cases; what was not computed is not compared."""
    table = true.table()
    size, guess, distinct = (np.array(table[name]) for name in ("size", "best_guess", "distinct"))
    assert true.homogeneous_share == pytest.approx(size[distinct == 1].sum() / true.records)
    assert true.share_above(0.6) == pytest.approx(size[guess > 0.6].sum() / true.records)
    pairs = [(getattr(found, name), getattr(true, name)) for name in AVERAGES]
    pairs += [
        (found.best_guess.average, true.best_guess.average),
        (found.best_guess.average_gain, true.best_guess.average_gain),
        (found.homogeneous_share, true.homogeneous_share),
        (found.share_above(0.6), true.share_above(0.6)),
        (found.best_guess.worst, true.best_guess.worst),
    ]
    worst = [(getattr(found, name), getattr(true, name)) for name in WORST_CASES]
    return pairs + [pair for pair in worst if pair[0] is not None]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("target", ["x", "id", "n"])
def test_where_all_classes_are_counted_nothing_is_estimated(
    target: str, missing: str, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = cr.Dataset.from_frame(people(), missing=missing)
    unique = target == "id"
    true = inference.leakage(dataset, target, GIVEN, unique=unique or None)
    options: dict[str, Any] = {"exact": True} if exact else {"sample": 1_000_000}
    with monkeypatch.context() as patch:
        patch.setattr(cr.Dataset, "cells", too_large)
        found = inference.leakage(dataset, target, GIVEN, unique=unique or None, **options)
    assert (found.records, found.dropped, found.complete) == (true.records, true.dropped, True)
    assert (found.entropy_bits, found.best_guess.prior) == (
        pytest.approx(true.entropy_bits, rel=1e-12),
        pytest.approx(true.best_guess.prior, rel=1e-12),
    )
    for number, expected in paired(found, true):
        assert not isinstance(number, Estimate)
        assert number == pytest.approx(expected, rel=1e-9, abs=1e-12)
    if not unique:
        disclosure = inference.attribute_disclosure(
            people(), quasi_identifiers=GIVEN, sensitive=[target], missing=missing
        )
        assert true.distinct_l == disclosure.distinct_l
        assert true.t == pytest.approx(disclosure.t, rel=1e-12)
        assert (found.t is None) == exact


def too_large(*_: Any) -> None:
    raise TooLargeError("too many")


def test_intervals_cover_on_random_tables() -> None:
    """95 % of the intervals cover; fewer than 85 % of 60 would happen once in a thousand times."""
    draws = 60
    hit = np.zeros(len(AVERAGES) + 5 + len(WORST_CASES))
    for seed in range(draws):
        release = cr.Dataset.from_frame(people(seed))
        true = inference.leakage(release, "x", GIVEN)
        found = inference.leakage(release, "x", GIVEN, sample=250, seed=seed)
        assert 0 < found.sampled_share < 0.5
        assert found.classes_counted < true.classes
        for i, (number, expected) in enumerate(paired(found, true)):
            low, high = ends(number)
            hit[i] += low - 1e-12 <= expected <= high + 1e-12
        average = found.best_guess.average
        assert isinstance(average, Estimate)
        assert average.low < average.high
    assert (hit / draws >= 0.85).all(), hit / draws
    assert (hit[-1 - len(WORST_CASES) :] == draws).all(), "bounds by what was counted always cover"


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.heavy)])
def test_a_large_class_is_always_counted(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "_SAMPLED_ROWS", 3000)
    frame: Any = people(1)
    if engine == "spark":
        frame = request.getfixturevalue("spark").createDataFrame(frame)
    rows = cr.Dataset.from_frame(frame).rows
    sure = large_classes(rows, GIVEN, seed=3)
    assert 1 <= sure.size <= 50
    picked = sample_classes(rows, GIVEN, ["x"], 0.01, sure, seed=3)
    sampled = picked.cells([*GIVEN, large.CERTAIN]).to_pylist()
    counted = cr.Dataset.from_frame(people(1)).rows.cells(GIVEN).to_pylist()
    everything = {(r["c0"], r["c1"]): r["count"] for r in counted}
    assert all(everything[r["c0"], r["c1"]] == r["count"] for r in sampled), "complete classes only"
    largest = max(everything, key=everything.__getitem__)
    assert (*largest, True) in {(r["c0"], r["c1"], r["c2"]) for r in sampled}
    assert any(not r["c2"] for r in sampled)
    found = inference.leakage(frame, "x", GIVEN, sample=250)
    assert not found.complete
    for number, expected in paired(found, inference.leakage(people(1), "x", GIVEN)):
        low, high = ends(number)
        wide = high - low  # twice the interval holds but once in ten thousand times
        assert low - wide / 2 <= expected <= high + wide / 2


def test_classes_all_alike_are_not_certain() -> None:
    alike = row_mean(np.ones(50), np.ones(50, int), 0.01, 5000, limits=(0, 1))
    assert (alike.value, alike.high) == (1, 1)
    assert alike.low < 0.95
    none = row_mean(np.array([]), np.array([], int), 0.01, 100, limits=(0, 1), certain=(20.0, 40))
    assert (none.low, none.high) == (0.2, 0.8)
    complete = row_mean(np.array([3.0]), np.array([4]), 1.0, 4, limits=(0, 1))
    assert (complete.low, complete.value, complete.high) == (0.75, 0.75, 0.75)
    assert mapped(Estimate(2, 1, 3), lambda v: -v) == Estimate(-2, -3, -1)


def test_the_worst_class_counted_is_a_bound_unless_nothing_can_be_worse() -> None:
    a = np.repeat(np.arange(2000), 6)
    x = np.tile([0, 0, 1, 1, 2, 2], 2000).astype(str)
    found = inference.leakage(pa.table({"a": a, "x": x}), "x", "a", sample=100)
    assert not found.complete
    assert ends(found.best_guess.worst) == (pytest.approx(1 / 3), 1.0)
    assert isinstance(found.itpr, Estimate)
    assert found.itpr.high == 1
    assert found.itpr.low <= 0 <= found.itpr.value + 1e-9
    assert found.itpr_shuffled is None
    assert inference.leakage(people(), "x", GIVEN, sample=200).best_guess.worst == 1.0


def test_values_of_the_classes_counted_are_not_shown() -> None:
    found = inference.leakage(people(), "x", GIVEN, sample=200)
    first = found.riskiest[0]
    assert first.best_guess == 1
    assert "values" not in json.dumps(found.to_dict()["riskiest"])
    assert "values" in json.dumps(found.to_dict(reveal=True)["riskiest"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"missing": "wildcard"}, ParameterError, "match any value"),
        ({"sample": 0}, ParameterError, "at least 1"),
        ({"columns": ["x"]}, ColumnError, "among the given"),
        ({"columns": ["nothing"]}, ColumnError, "nothing"),
    ],
)
def test_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        inference.leakage(people(), "x", **{"columns": GIVEN, "sample": 9, **options})


def test_no_rows() -> None:
    with pytest.raises(InputError, match="no records"):
        inference.leakage(people().slice(0, 0), "x", GIVEN, sample=9)


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 1,000 combinations of the quasi-identifiers were too many to fetch."""
    plain = Rows._counted

    def counted(self: Rows, names: Any, inner: Any, weight: Any, at_most: int) -> pa.Table:
        complete = large.CERTAIN not in names
        return plain(self, names, inner, weight, 1000 if complete else at_most)

    monkeypatch.setattr(Rows, "_counted", counted)
    monkeypatch.setattr("crypsis.tables.arrow._MAX_COUNTED_ROWS", 0)
    monkeypatch.setattr("crypsis.tables.arrow._MAX_TALLIED_ROWS", 0)
    monkeypatch.setattr("crypsis.singling_out._equivalence_classes.MAX_CLASSES", 400)
    monkeypatch.setattr("crypsis.inference._leakage.DRAWN_CLASSES", 400)
    monkeypatch.setattr("crypsis.inference._many_classes._MAX_CELLS", 600)


def test_what_exploded_once_is_not_counted_again(few_cells: None) -> None:
    release = cr.Dataset.from_frame(people())
    for names in (GIVEN, [*GIVEN, "x"]):
        with pytest.raises(TooLargeError, match="inference.leakage"):
            release.cells(names)
    assert set(release.rows._too_many) == {frozenset(GIVEN)}


def against_all_records() -> Policy:
    """The default, and the gain and t-closeness against all records."""
    default = load_policy("default").model_dump(exclude_none=True)
    more = [
        {"measure": f"inference.{name}", "unit": "fraction", "at_most": 0.2, "why": "a test"}
        for name in ("attribute_gain", "ordered_t_closeness")
    ]
    return Policy.model_validate({**default, "thresholds": [*default["thresholds"], *more]})


def test_an_assessment_estimates_what_it_cannot_count(few_cells: None) -> None:
    roles: dict[str, Any] = {"quasi_identifiers": GIVEN, "sensitive": ["x", "n"], "insensitive": ["id"]}
    policy = against_all_records()
    found = cr.assess(people(), policy=policy, **roles, person="each record")
    values = next(f for f in found.findings if f.measure == "inference.baseline_excess")
    assert values.status is Status.NOT_EVALUATED  # what cannot be counted is not called safe
    answer = next(one for one in found.answers if one.question == "inference")
    assert "CI" in answer.headline
    assert answer.notes
    assert answer.hint == "Set {exact=True} to count all."
    measured = {(one.measure, one.columns[:1]): one for one in found.findings if one.value is not None}
    gain = measured["inference.attribute_gain", ("x",)]
    assert gain.value == pytest.approx(1 - answer.results["leakage of x"].best_guess.prior)
    assert "(" in gain.statement
    assert isinstance(measured["inference.ordered_t_closeness", ("n",)].value, Estimate)
    assert found.verdict is Verdict.NOT_SAFE
    found.to_html()
    found.to_markdown()
    found.to_json()
    counted = cr.assess(people(), exact=True, policy=policy, **roles, person="each record")
    answer = next(one for one in counted.answers if one.question == "inference")
    assert answer.results["leakage of x"].complete
    assert not answer.notes


def test_an_estimate_never_calls_a_release_safe() -> None:
    from crypsis.assessment._questions._inference import inference_outcome
    from crypsis.assessment._request import Request
    from crypsis.policies import evaluate

    table = pa.table({"a": np.repeat(np.arange(2000), 6), "x": ["u", "v"] * 6000})
    release = cr.Dataset.from_frame(table, quasi_identifiers=["a"], sensitive=["x"], person="each record")
    one = inference.leakage(release, "x", sample=100)
    found = inference.Leakages(one.given, (one,))
    policy = against_all_records()
    request = Request(release, (), policy)
    states = {
        one.measure: one.status
        for one in evaluate(policy, inference_outcome(request, found, None).measured)
        if one.question == "inference"
    }
    complete = {
        one.measure: one.status
        for one in cr.assess(release, policy=policy).findings
        if one.question == "inference"
    }
    assert complete["inference.attribute_gain"] is Status.MET
    assert states["inference.attribute_gain"] is Status.NOT_EVALUATED


def test_the_command_line_estimates_and_counts_on_request(
    few_cells: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(people(), path)
    words = ["leak", str(path), "--target", "x", "--given", "a", "--given", "b"]
    assert run(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "There may be riskier classes than those counted. --exact counts all." in shown
    assert run([*words, "--json"]) == 0
    (sampled,) = json.loads(capsys.readouterr().out)["result"]["targets"]
    assert sampled["best_guess"]["average"]["low"] < sampled["best_guess"]["average"]["high"]
    assert run([*words, "--exact", "--json"]) == 0
    (counted,) = json.loads(capsys.readouterr().out)["result"]["targets"]
    low, high = (sampled["best_guess"]["average"][end] for end in ("low", "high"))
    assert low <= counted["best_guess"]["average"] <= high
    assert run([*words, "--classes", str(tmp_path / "classes.csv")]) == 2
    assert "too many equivalence classes" in capsys.readouterr().err
