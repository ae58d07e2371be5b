"""Estimates of what is too much to count: intervals that cover, and never taken for counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import singling_out as so
from crypsis.columns import counts
from crypsis.counting.estimates import (
    SampledClassSizes,
    class_total,
    fraction_of,
    rows_in_small_classes,
    scaled_total,
    singleton_total,
)
from crypsis.errors import ParameterError, RoleError, TooLargeError
from crypsis.policies.findings import Verdict
from crypsis.results import Estimate, number_text
from crypsis.tables import Rows
from crypsis.tables.class_samples import sample_class_sizes, sketches


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


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.heavy)])
def test_intervals_of_a_hash_sample_cover(engine: str, request: pytest.FixtureRequest) -> None:
    frame: Any = crowded()
    draws = 60
    if engine == "spark":
        frame, draws = request.getfixturevalue("spark").createDataFrame(frame), 4
    release = cr.Dataset.from_frame(frame)
    truth = [float(TRUE.classes), float(TRUE.uniques), in_small_crowds(5) * TRUE.records]
    hit = np.zeros(3)
    for seed in range(draws):
        sample = sample_class_sizes(release.rows, ["a", "b"], 0.05, seed=seed)
        found = class_total(sample), singleton_total(sample), rows_in_small_classes(sample, 5)
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
    assert (together.low, together.high) == (pytest.approx(4 * alone.low), pytest.approx(4 * alone.high))


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.heavy)])
def test_a_sketch_is_as_good_as_it_says(engine: str, request: pytest.FixtureRequest) -> None:
    table = crowded().append_column("hole", pa.array([None if i % 3 else i % 50 for i in range(30_000)]))
    frame = table if engine == "duckdb" else request.getfixturevalue("spark").createDataFrame(table)
    rows = cr.Dataset.from_frame(frame).rows
    one, two, three = sketches(rows, [["id"], ["a", "b"], ["hole"]])
    assert (one.rows, one.missing, three.missing) == (30_000, 0, 20_000)
    for sketch, true in ((one, 30_000), (two, float(TRUE.classes)), (three, 50)):
        assert abs(sketch.distinct / true - 1) < 4 * sketch.error


def test_the_sketch_error_is_that_of_this_duckdb() -> None:
    """The error that is told must not be smaller than the error that is."""
    import duckdb

    from crypsis.tables.duckdb.backend import DuckBackend

    texts = ", ".join(f"approx_count_distinct(i * {k} + {k})" for k in range(1, 120))
    found = duckdb.connect().sql(f"SELECT {texts} FROM range(50000) t(i)").fetchall()[0]
    off = np.array(found) / 50_000 - 1
    assert np.sqrt(np.mean(off**2)) < 1.25 * DuckBackend.sketch_error


def test_uniqueness_is_counted_estimated_or_counted_on_request() -> None:
    table = crowded()
    about = so.uniqueness(table, ["a", "b"], exact=False)
    assert about.classes == TRUE.classes, "few combinations are all seen, so nothing is estimated"
    few = so.equivalence_classes(table, ["a", "b"], exact=False, max_classes=500)
    pairs = (few.classes, TRUE.classes), (few.records_below(2), TRUE.uniques)
    for number, true in (*pairs, (few.share_below(5), in_small_crowds(5))):
        assert isinstance(number, Estimate)
        assert number.low <= float(true) <= number.high
    assert (few.units, few.dropped, few.smallest) == (30_000, 0, None)
    assert few.risk.prosecutor.share_above == few.share_below(5)
    assert few.risk.prosecutor.average == fraction_of(few.classes, 30_000)


def test_too_many_combinations_are_estimated_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Rows.cells
    monkeypatch.setattr(Rows, "cells", lambda self, names, **more: plain(self, names, at_most=50))
    table = crowded()
    about, counted = (
        so.uniqueness(table, ["a", "b"], exact=exact, max_classes=400) for exact in (None, True)
    )
    assert isinstance(about.fraction, Estimate)
    assert isinstance(counted.fraction, float)
    assert about.fraction.low <= counted.fraction <= about.fraction.high
    assert (counted.classes, counted.uniques) == (TRUE.classes, TRUE.uniques)


def test_missing_values_in_a_sample_of_classes() -> None:
    table = pa.table({"a": [1, None, None, 2, 2], "b": [1, 1, 1, None, 5]})
    for exact in (False, None):
        found = so.equivalence_classes(table, ["a", "b"], exact=exact)
        assert (found.units, found.classes, found.records_below(2)) == (5, 4, 3)
        found = so.equivalence_classes(table, ["a", "b"], exact=exact, missing="drop")
        assert (found.units, found.dropped, found.classes, found.k) == (2, 3, 2, 1)
    for wrong in ({"missing": "wildcard"}, {"person": "b"}):
        with pytest.raises(ParameterError, match="persons and wildcards"):
            so.equivalence_classes(table, ["a"], exact=False, **wrong)
    with pytest.raises(RoleError, match="quasi_identifiers="):
        so.equivalence_classes(table, exact=False)
    with pytest.raises(ParameterError, match="at least 1"):
        so.equivalence_classes(table, ["a"], exact=False, max_classes=0)


def test_an_explosion_is_seen_before_it_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.tables.rows.FIRST_ROWS", 1000)
    release = cr.Dataset.from_frame(crowded())
    asked: list[str] = []
    backend: Any = release.rows.backend
    plain = backend.bounded
    backend.bounded = lambda *given: asked.append(given[1]) or plain(*given)
    with pytest.raises(TooLargeError, match="equivalence_classes"):
        release.rows.cells(["id", "b"], at_most=5000)
    assert asked == [], "nothing was grouped"
    assert release.rows.cells(["b"], at_most=5000).num_rows == 9
    assert len(asked) == 1


def test_columns_with_too_many_values_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [None if i % 7 == 0 else f"x{i % 3000}" for i in range(30_000)]
    table = crowded().append_column("c", pa.array(many))
    table = table.append_column("late", pa.array([max(0, i - 20_000) for i in range(30_000)]))
    table = table.append_column("u", pa.array(np.random.default_rng(2).permutation(30_000) * 3))
    exact = {c.column: c for c in cr.scan(table).columns}
    monkeypatch.setattr(counts, "EXACT_ROWS", 1000)
    # "a" has 2,612 values and "late" 10,000: the sketch of DuckDB 1.5 errs by 13 per cent.
    monkeypatch.setattr(counts, "EXACT_VALUES", 5000)
    monkeypatch.setattr(counts, "_SAMPLED_VALUES", 800)
    monkeypatch.setattr(counts, "FIRST_ROWS", 2000)
    monkeypatch.setattr("crypsis.columns.profile._COUNTED_IN_MEMORY", 1000)
    found = cr.scan(table)
    for column in found.columns:
        true = exact[column.column]
        if column.column in ("id", "c", "late", "u"):
            assert isinstance(column.distinct, Estimate)
            assert column.distinct.low <= float(true.distinct) <= column.distinct.high
            assert column.smallest_class is None
            assert column.missing == true.missing
        else:
            assert (column.distinct, column.unique_rows) == (true.distinct, true.unique_rows)
        assert column.role == true.role
    reason = next(c.reason for c in found.columns if c.column == "u")
    assert reason.startswith("No sampled value repeats")
    pairs = [pair for pair in found.most_identifying if pair.estimated]
    assert pairs
    assert cr.scan(table, exact=True).columns == cr.scan(table, exact=True).columns
    assert all(not isinstance(c.distinct, Estimate) for c in cr.scan(table, exact=True).columns)


def test_an_assessment_of_too_many_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Rows.cells

    def cells(self: Rows, names: Any, *, weight: Any = None, at_most: int = 60) -> pa.Table:
        return plain(self, names, weight=weight, at_most=60)

    monkeypatch.setattr(Rows, "cells", cells)
    few = partial(so.equivalence_classes, max_classes=400)
    monkeypatch.setattr(so, "equivalence_classes", few)
    roles: dict[str, Any] = {"identifiers": ["id"], "quasi_identifiers": ["a", "b"]}
    found = cr.assess(crowded(), **roles, person="each record")
    shares = [one for one in found.findings if one.measure.endswith("small_classes")]
    assert shares
    assert isinstance(shares[0].value, Estimate)
    assert shares[0].value.low <= in_small_crowds(shares[0].k or 5) <= shares[0].value.high
    assert found.verdict is not Verdict.SAFE
    assert found.answers[0].hint == "Set {exact=True} to count all."
    counted = cr.assess(crowded(), exact=True, **roles, person="each record")
    share = next(one for one in counted.findings if one.measure.endswith("small_classes"))
    assert share.value == pytest.approx(in_small_crowds(share.k or 5), rel=1e-12)
    found.to_html()
    found.to_markdown()


def test_k_of_a_sample_is_an_upper_bound() -> None:
    table = pa.table({"a": np.repeat(np.arange(3000), 7)})
    k = so.equivalence_classes(table, ["a"], exact=False, max_classes=100).k
    assert isinstance(k, Estimate)
    assert (k.value, k.low, k.high) == (7, 1, 7)
    assert so.k_anonymity(table, ["a"]) == so.k_anonymity(table, ["a"], exact=False) == 7


def test_a_share_of_an_estimate_has_an_interval() -> None:
    number = Estimate(1234.5, 1000.2, 1500.7)
    assert f"{number:,}" == "1,234.5"
    assert number_text(number, ",") == "1,234 (95 % CI 1,000 to 1,501)"
    assert number_text(number, ".1f") == "1234.5 (95 % CI 1000.2 to 1500.7)"
    assert f"{number}" == str(number)
    assert fraction_of(number, 10_000) == Estimate(0.12345, 0.10002, 0.15007)
    assert fraction_of(5, 10) == 0.5
    assert SampledClassSizes(1.0, np.array([1, 2]), np.array([3, 4])).seen == 7
