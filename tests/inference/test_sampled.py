"""Inference from some of the groups: exact where all are seen, intervals that cover."""

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
from crypsis.engine import Rows, large
from crypsis.engine.large import large_groups, whole_groups
from crypsis.errors import ColumnError, InputError, ParameterError, TooLarge
from crypsis.estimates import mapped, row_mean
from crypsis.results import Estimate, Number, Verdict

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


def paired(found: inference.SampledLeakage, true: inference.Leakage) -> list[tuple[Number, float]]:
    outright = true._known.sizes[true._known.distinct == 1].sum() / true.rows
    bad = true._known.sizes[true._known.best_guesses > 0.6].sum() / true.rows
    return [
        (found.groups, true.groups),
        (found.conditional_entropy_bits, true.conditional_entropy_bits),
        (found.mutual_information, true.mutual_information),
        (found.discrimination_rate, true.discrimination_rate),
        (found.conditional_privacy, true.conditional_privacy),
        (found.average_guess, true.best_guess.average),
        (found.average_gain, true.best_guess.average_gain),
        (found.told_outright, float(outright)),
        (found.in_groups_above(0.6), float(bad)),
        (found.worst_guess, true.best_guess.worst),
        (found.itpr, true.itpr),
    ]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("target", ["x", "id", "n"])
def test_where_all_groups_are_seen_nothing_is_estimated(
    target: str, missing: str, exact: bool
) -> None:
    release = cr.Release.from_frame(people(), missing=missing)
    unique = target == "id"
    true = inference.leakage(release, target, GIVEN, unique=unique or None)
    found = inference.sampled_leakage(release, target, GIVEN, unique=unique or None, exact=exact)
    assert (found.rows, found.dropped, found.share) == (true.rows, true.dropped, 1.0)
    assert (found.entropy_bits, found.prior_guess) == (
        pytest.approx(true.entropy_bits, rel=1e-12),
        pytest.approx(true.best_guess.prior, rel=1e-12),
    )
    for number, expected in paired(found, true):
        assert not isinstance(number, Estimate)
        assert number == pytest.approx(expected, rel=1e-9, abs=1e-12)
    if not unique:
        held = inference.diversity(
            people(), quasi_identifiers=GIVEN, sensitive=[target], missing=missing
        )
        assert found.fewest_values_seen == held.distinct_l
        assert found.closeness_seen == (None if exact else pytest.approx(held.t, rel=1e-12))


def test_intervals_cover_on_random_tables() -> None:
    """95 % of the intervals cover; fewer than 85 % of 60 would happen once in a thousand times."""
    draws = 60
    hit = np.zeros(11)
    for seed in range(draws):
        release = cr.Release.from_frame(people(seed))
        true = inference.leakage(release, "x", GIVEN)
        found = inference.sampled_leakage(release, "x", GIVEN, groups=250, seed=seed)
        assert 0 < found.share < 0.5
        assert found.seen < true.groups
        for i, (number, expected) in enumerate(paired(found, true)):
            low, high = ends(number)
            hit[i] += low - 1e-12 <= expected <= high + 1e-12
        assert isinstance(found.average_guess, Estimate)
        assert found.average_guess.low < found.average_guess.high
    assert (hit / draws >= 0.85).all(), hit / draws
    assert (hit[-2:] == draws).all(), "bounds by what was seen hold always"


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_group_that_many_share_is_seen_for_certain(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "_LOOKED_AT", 3000)
    frame: Any = people(1)
    if engine == "spark":
        frame = request.getfixturevalue("spark").createDataFrame(frame)
    rows = cr.Release.from_frame(frame).rows
    sure = large_groups(rows, GIVEN, seed=3)
    assert 1 <= sure.size <= 50
    picked = whole_groups(rows, GIVEN, ["x"], 0.01, sure, seed=3)
    told = picked.cells([*GIVEN, large.CERTAIN]).to_pylist()
    counted = cr.Release.from_frame(people(1)).rows.cells(GIVEN).to_pylist()
    everything = {(r["c0"], r["c1"]): r["count"] for r in counted}
    assert all(everything[r["c0"], r["c1"]] == r["count"] for r in told), "whole groups only"
    largest = max(everything, key=everything.__getitem__)
    assert (*largest, True) in {(r["c0"], r["c1"], r["c2"]) for r in told}
    assert any(not r["c2"] for r in told)
    found = inference.sampled_leakage(frame, "x", GIVEN, groups=250)
    assert found.share < 1
    for number, expected in paired(found, inference.leakage(people(1), "x", GIVEN)):
        low, high = ends(number)
        wide = high - low  # twice the interval holds but once in ten thousand times
        assert low - wide / 2 <= expected <= high + wide / 2


def test_groups_all_alike_do_not_pose_as_certain() -> None:
    alike = row_mean(np.ones(50), np.ones(50, int), 0.01, 5000, limits=(0, 1))
    assert (alike.value, alike.high) == (1, 1)
    assert alike.low < 0.95
    none = row_mean(np.array([]), np.array([], int), 0.01, 100, limits=(0, 1), certain=(20.0, 40))
    assert (none.low, none.high) == (0.2, 0.8)
    whole = row_mean(np.array([3.0]), np.array([4]), 1.0, 4, limits=(0, 1))
    assert (whole.low, whole.value, whole.high) == (0.75, 0.75, 0.75)
    assert mapped(Estimate(2, 1, 3), lambda v: -v) == Estimate(-2, -3, -1)


def test_the_worst_group_seen_is_a_bound_unless_it_settles_the_matter() -> None:
    a = np.repeat(np.arange(2000), 6)
    x = np.tile([0, 0, 1, 1, 2, 2], 2000).astype(str)
    found = inference.sampled_leakage(pa.table({"a": a, "x": x}), "x", "a", groups=100)
    assert found.share < 1
    assert ends(found.worst_guess) == (pytest.approx(1 / 3), 1.0)
    assert isinstance(found.itpr, Estimate)
    assert found.itpr.high == 1
    assert found.itpr.low <= 0 <= found.itpr.value + 1e-9
    assert found.itpr_shuffled is None
    assert inference.sampled_leakage(people(), "x", GIVEN, groups=200).worst_guess == 1.0


def test_values_of_the_groups_seen_are_for_the_owner_alone() -> None:
    found = inference.sampled_leakage(people(), "x", GIVEN, groups=200)
    first = found.riskiest_seen[0]
    assert first.best_guess == 1
    assert "values" not in json.dumps(found.to_dict()["riskiest_seen"])
    assert "values" in json.dumps(found.to_dict(reveal=True)["riskiest_seen"])


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"missing": "wildcard"}, ParameterError, "match anything"),
        ({"groups": 0}, ParameterError, "at least 1"),
        ({"given": ["x"]}, ColumnError, "among the given"),
        ({"given": ["nothing"]}, ColumnError, "nothing"),
    ],
)
def test_what_cannot_be(options: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        inference.sampled_leakage(people(), "x", **{"given": GIVEN, **options})


def test_no_rows() -> None:
    with pytest.raises(InputError, match="no rows"):
        inference.sampled_leakage(people().slice(0, 0), "x", GIVEN)


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 1,000 combinations of the quasi-identifiers were too many to fetch."""
    plain = Rows._counted

    def counted(self: Rows, names: Any, inner: Any, weight: Any, at_most: int) -> pa.Table:
        whole = large.CERTAIN not in names
        return plain(self, names, inner, weight, 1000 if whole else at_most)

    monkeypatch.setattr(Rows, "_counted", counted)
    monkeypatch.setattr("crypsis.engine.memory._COUNTED_HERE", 0)
    monkeypatch.setattr("crypsis.engine.memory._TALLIED_HERE", 0)
    monkeypatch.setattr("crypsis._assess._sampled._SOME", 400)
    monkeypatch.setattr("crypsis._assess._sampled_secrets._SOME", 400)
    monkeypatch.setattr("crypsis.inference._sampled._CELLS", 600)


def test_what_exploded_once_is_not_counted_again(few_cells: None) -> None:
    release = cr.Release.from_frame(people())
    for names in (GIVEN, [*GIVEN, "x"]):
        with pytest.raises(TooLarge, match="sampled_leakage"):
            release.cells(names)
    assert set(release.rows._exploded) == {frozenset(GIVEN)}


def test_an_assessment_estimates_what_it_cannot_count(few_cells: None) -> None:
    roles: dict[str, Any] = {"quasi_identifiers": GIVEN, "sensitive": ["x", "n"], "other": ["id"]}
    found = cr.assess(people(), **roles)
    answer = next(one for one in found.answers if one.question == "inference")
    assert "about" in answer.headline
    assert any("--exact counts all" in note for note in answer.notes)
    held = {(one.measure, one.columns[:1]): one for one in found.findings if one.value is not None}
    gain = held["inference.best_guess_gain", ("x",)]
    assert gain.value == pytest.approx(1 - answer.results["sampled leakage of x"].prior_guess)
    assert "(" in gain.statement
    assert isinstance(held["inference.ordered_closeness", ("n",)].value, Estimate)
    assert found.verdict is Verdict.NOT_SAFE
    found.to_html()
    found.to_markdown()
    found.to_json()
    counted = cr.assess(people(), exact=True, **roles)
    answer = next(one for one in counted.answers if one.question == "inference")
    assert answer.results["sampled leakage of x"].share == 1
    assert not answer.notes


def test_an_estimate_never_calls_a_release_safe() -> None:
    from crypsis._assess._sampled_secrets import _held
    from crypsis.policy import hold, load_policy
    from crypsis.results import Status

    table = pa.table({"a": np.repeat(np.arange(2000), 6), "x": ["u", "v"] * 6000})
    release = cr.Release.from_frame(table, quasi_identifiers=["a"], sensitive=["x"])
    found = inference.sampled_leakage(release, "x", groups=100)
    policy = load_policy("default")
    states = {
        one.measure: one.status
        for one in hold(policy, _held(release, [found], policy).measured)
        if one.question == "inference"
    }
    whole = {
        one.measure: one.status
        for one in cr.assess(release, policy=policy).findings
        if one.question == "inference"
    }
    assert whole["inference.best_guess_gain"] is Status.WITHIN
    assert states["inference.best_guess_gain"] is Status.UNKNOWN


def test_the_command_line_estimates_and_counts_on_request(
    few_cells: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(people(), path)
    words = ["leak", str(path), "--target", "x", "--given", "a", "--given", "b"]
    assert run(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "There may be riskier groups than those seen. --exact counts all." in shown
    assert run([*words, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["result"]["targets"]
    assert told["average_guess"]["low"] < told["average_guess"]["high"]
    assert run([*words, "--exact", "--json"]) == 0
    (counted,) = json.loads(capsys.readouterr().out)["result"]["targets"]
    low, high = (told["average_guess"][end] for end in ("low", "high"))
    assert low <= counted["average_guess"] <= high
    assert run([*words, "--groups", str(tmp_path / "groups.csv")]) == 2
    assert "sampled_leakage" in capsys.readouterr().err
