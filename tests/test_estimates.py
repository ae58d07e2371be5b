"""Estimates of what is too much to count: intervals that cover, and never taken for counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import singling_out as so
from crypsis import tallies
from crypsis.engine import Rows, large
from crypsis.engine.large import SampledSizes, sampled_sizes, sketches
from crypsis.errors import ParameterError, RoleError, TooLarge
from crypsis.estimates import group_total, over, rows_in_small, scaled_total, singleton_total
from crypsis.profile import EstimatedSubset, profile
from crypsis.results import Estimate, Verdict


def crowded(seed: int = 0, rows: int = 30_000) -> pa.Table:
    """A long tail: some combinations are common, most of them rare."""
    random = np.random.default_rng(seed)
    a = random.zipf(1.3, rows) % 4000
    return pa.table({"id": np.arange(rows), "a": a, "b": random.integers(0, 9, rows)})


TRUE = so.uniqueness(crowded(), ["a", "b"])


def in_small_crowds(size: int) -> float:
    a, b = (crowded()[name].to_numpy() for name in ("a", "b"))
    _, sizes = np.unique(a * 10 + b, return_counts=True)
    return float(sizes[sizes < size].sum() / sizes.sum())


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_intervals_of_a_hash_sample_cover(engine: str, request: pytest.FixtureRequest) -> None:
    frame: Any = crowded()
    draws = 60
    if engine == "spark":
        frame, draws = request.getfixturevalue("spark").createDataFrame(frame), 4
    release = cr.Release.from_frame(frame)
    truth = [float(TRUE.cells), float(TRUE.singletons), in_small_crowds(5) * TRUE.rows]
    hit = np.zeros(3)
    for seed in range(draws):
        sample = sampled_sizes(release.rows, ["a", "b"], 0.05, seed=seed)
        found = group_total(sample), singleton_total(sample), rows_in_small(sample, 5)
        assert all(isinstance(one, Estimate) and one.low < one.high for one in found)
        hit += [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
    # 95 % of the intervals cover; fewer than 85 % of 60 would happen once in a thousand times.
    assert (hit / draws >= (0.85 if engine == "duckdb" else 0.5)).all()


def test_the_interval_holds_at_small_numbers_too() -> None:
    random = np.random.default_rng(1)
    for total, share in ((3, 0.2), (40, 0.05), (500, 0.3), (5000, 0.9)):
        seen = random.binomial(total, share, 2000)
        ends = {n: scaled_total([1], [n], share, largest=1) for n in set(seen.tolist())}
        cover = np.mean([ends[n].low <= total <= ends[n].high for n in seen.tolist()])
        assert cover >= 0.94, (total, share, cover)
    assert scaled_total([1], [0], 0.1, largest=1).high == pytest.approx(36.9, abs=4)
    assert scaled_total([2], [3], 1.0, largest=2).high == 6
    with pytest.raises(ParameterError, match="share"):
        scaled_total([1], [1], 0.0, largest=1)


def test_weights_widen_the_interval() -> None:
    alone, together = (scaled_total([w], [100], 0.1, largest=w) for w in (1, 4))
    assert (together.low, together.high) == (
        pytest.approx(4 * alone.low),
        pytest.approx(4 * alone.high),
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_sketch_is_as_good_as_it_says(engine: str, request: pytest.FixtureRequest) -> None:
    table = crowded().append_column(
        "hole", pa.array([None if i % 3 else i % 50 for i in range(30_000)])
    )
    frame = table if engine == "duckdb" else request.getfixturevalue("spark").createDataFrame(table)
    rows = cr.Release.from_frame(frame).rows
    one, two, three = sketches(rows, [["id"], ["a", "b"], ["hole"]])
    assert (one.rows, one.missing, three.missing) == (30_000, 0, 20_000)
    for sketch, true in ((one, 30_000), (two, float(TRUE.cells)), (three, 50)):
        assert abs(sketch.distinct / true - 1) < 4 * sketch.error


def test_the_sketch_error_is_that_of_this_duckdb() -> None:
    """The error that is told must not be smaller than the error that is."""
    import duckdb

    from crypsis.engine.duck import DuckBackend

    texts = ", ".join(f"approx_count_distinct(i * {k} + {k})" for k in range(1, 120))
    found = duckdb.connect().sql(f"SELECT {texts} FROM range(50000) t(i)").fetchall()[0]
    off = np.array(found) / 50_000 - 1
    assert np.sqrt(np.mean(off**2)) < 1.25 * DuckBackend.sketch_error


def test_uniqueness_is_counted_estimated_or_counted_on_request() -> None:
    table = crowded()
    about = so.uniqueness(table, ["a", "b"], exact=False)
    assert about.cells == TRUE.cells, "few combinations are all seen, so nothing is estimated"
    few = so.sampled_crowds(table, ["a", "b"], groups=500)
    for number, true in ((few.classes, TRUE.cells), (few.singletons, TRUE.singletons)):
        assert isinstance(number, Estimate)
        assert number.low <= float(true) <= number.high
    assert isinstance(few.in_small_crowds, Estimate)
    assert few.in_small_crowds.low <= in_small_crowds(5) <= few.in_small_crowds.high
    assert few.in_crowds_below(5) == few.in_small_crowds
    assert (few.rows, few.left_out) == (30_000, 0)


def test_too_many_combinations_are_estimated_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Rows.cells
    monkeypatch.setattr(Rows, "cells", lambda self, names, **more: plain(self, names, at_most=50))
    monkeypatch.setattr(so._column_sets, "sampled_crowds", partial(so.sampled_crowds, groups=400))
    table = crowded()
    about, counted = (so.uniqueness(table, ["a", "b"], exact=exact) for exact in (None, True))
    assert isinstance(about.fraction, Estimate)
    assert isinstance(counted.fraction, float)
    assert about.fraction.low <= counted.fraction <= about.fraction.high
    assert (counted.cells, counted.singletons) == (TRUE.cells, TRUE.singletons)


def test_missing_values_in_a_sample_of_groups() -> None:
    table = pa.table({"a": [1, None, None, 2, 2], "b": [1, 1, 1, None, 5]})
    found = so.sampled_crowds(table, ["a", "b"])
    assert (found.rows, found.classes, found.singletons) == (5, 4, 3)
    found = so.sampled_crowds(table, ["a", "b"], missing="drop")
    assert (found.rows, found.left_out, found.classes, found.singletons) == (2, 3, 2, 2)
    for wrong in ({"missing": "wildcard"}, {"person": "b"}):
        with pytest.raises(ParameterError, match="persons and wildcards"):
            so.sampled_crowds(table, ["a"], **wrong)
    with pytest.raises(RoleError, match="--qi"):
        so.sampled_crowds(table)
    with pytest.raises(ParameterError, match="at least 2"):
        so.sampled_crowds(table, ["a"], crowd=1)


def test_an_explosion_is_seen_before_it_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LOOK_ROWS", 1000)
    release = cr.Release.from_frame(crowded())
    asked: list[str] = []
    backend: Any = release.rows.backend
    plain = backend.bounded
    backend.bounded = lambda *given: asked.append(given[1]) or plain(*given)
    with pytest.raises(TooLarge, match="sampled_crowds"):
        release.rows.cells(["id", "b"], at_most=5000)
    assert asked == [], "nothing was grouped"
    assert release.rows.cells(["b"], at_most=5000).num_rows == 9
    assert len(asked) == 1


def test_columns_with_too_many_values_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [None if i % 7 == 0 else f"x{i % 3000}" for i in range(30_000)]
    table = crowded().append_column("c", pa.array(many))
    table = table.append_column("late", pa.array([max(0, i - 20_000) for i in range(30_000)]))
    table = table.append_column("u", pa.array(np.random.default_rng(2).permutation(30_000) * 3))
    exact = {c.column: c for c in profile(table).columns}
    monkeypatch.setattr(tallies, "EXACT_ROWS", 1000)
    monkeypatch.setattr(tallies, "EXACT_VALUES", 2700)
    monkeypatch.setattr(tallies, "_SEEN", 800)
    monkeypatch.setattr(tallies, "LOOK_ROWS", 2000)
    monkeypatch.setattr("crypsis.profile.EXACT_ROWS", 1000)
    monkeypatch.setattr("crypsis.profile.EXACT_VALUES", 2500)
    monkeypatch.setattr("crypsis.profile._COUNTED_HERE", 1000)
    found = profile(table)
    for column in found.columns:
        true = exact[column.column]
        if column.column in ("id", "c", "late", "u"):
            assert isinstance(column.distinct, Estimate)
            assert column.distinct.low <= float(true.distinct) <= column.distinct.high
            assert column.smallest_group is None
            assert column.missing == true.missing
        else:
            assert (column.distinct, column.unique_rows) == (true.distinct, true.unique_rows)
        assert column.role == true.role
    reason = next(c.reason for c in found.columns if c.column == "u")
    assert reason.startswith("None of its values that were counted repeats")
    pairs = [pair for pair in found.most_identifying if isinstance(pair, EstimatedSubset)]
    assert pairs
    assert profile(table, exact=True).columns == profile(table, exact=True).columns
    assert all(not isinstance(c.distinct, Estimate) for c in profile(table, exact=True).columns)


def test_an_assessment_of_too_many_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Rows.cells

    def cells(self: Rows, names: Any, *, weight: Any = None, at_most: int = 60) -> pa.Table:
        return plain(self, names, weight=weight, at_most=60)

    monkeypatch.setattr(Rows, "cells", cells)
    monkeypatch.setattr("crypsis._assess._sampled._SOME", 400)
    roles: dict[str, Any] = {"identifiers": ["id"], "quasi_identifiers": ["a", "b"]}
    found = cr.assess(crowded(), **roles)
    shares = [one for one in found.findings if one.measure.endswith("small_crowds")]
    assert shares
    assert isinstance(shares[0].value, Estimate)
    assert shares[0].value.low <= in_small_crowds(shares[0].crowd or 5) <= shares[0].value.high
    assert found.verdict is not Verdict.SAFE
    assert any("--exact counts all" in note for one in found.answers for note in one.notes)
    counted = cr.assess(crowded(), exact=True, **roles)
    share = next(one for one in counted.findings if one.measure.endswith("small_crowds"))
    assert share.value == pytest.approx(in_small_crowds(share.crowd or 5), rel=1e-12)
    found.to_html()
    found.to_markdown()


def test_the_smallest_crowd_seen_is_no_promise() -> None:
    from crypsis._assess._sampled import _smallest

    table = pa.table({"a": np.repeat(np.arange(3000), 7)})
    found = so.sampled_crowds(table, ["a"], groups=100)
    held = _smallest(found)
    assert found.smallest_seen == 7
    assert isinstance(held.value, Estimate)
    assert (held.value.low, held.value.high) == (1, 7)


def test_an_estimate_is_never_shown_without_its_interval() -> None:
    number = Estimate(1234.5, 1000.2, 1500.7)
    assert f"{number:,}" == "1,234 (1,000 to 1,501)"
    assert f"{number:.1f}" == "1234.5 (1000.2 to 1500.7)"
    assert f"{number}" == str(number)
    assert over(number, 10_000) == Estimate(0.12345, 0.10002, 0.15007)
    assert over(5, 10) == 0.5
    assert SampledSizes(1.0, np.array([1, 2]), np.array([3, 4])).seen == 7
