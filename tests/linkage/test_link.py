from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import linkage
from crypsis.errors import ColumnError, InputError, ParameterError, TooLargeError
from tests.linkage.brute import average_ranks, nearest


def noisy(
    n: int, m: int, noise: float, seed: int = 0, digits: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, m))
    y = x + noise * rng.normal(size=(n, m))
    return (x, y) if digits is None else (x.round(digits), y.round(digits))


@pytest.mark.parametrize(("m", "noise"), [(1, 0.1), (2, 0.5), (3, 0.5), (5, 0.2)])
def test_equals_brute_force(m: int, noise: float) -> None:
    x, y = noisy(400, m, noise)
    found = linkage.link(x, y)
    least, rows = nearest(average_ranks(x), average_ranks(y))
    np.testing.assert_array_equal(found.distances, least)
    assert [match.tolist() for match in found.matches] == rows
    right = [i in row for i, row in enumerate(rows)]
    assert found.true_matches == sum(r and len(row) == 1 for r, row in zip(right, rows, strict=True))
    assert found.multiple_matches == sum(len(row) > 1 for row in rows)
    claims = np.bincount([r for row in rows for r in row], minlength=400)
    np.testing.assert_array_equal(found.matched_by, claims)
    assert float(found.correct_share) == pytest.approx(
        np.mean([r / len(row) for r, row in zip(right, rows, strict=True)])
    )


@pytest.mark.parametrize("digits", [0, 1])
def test_equals_brute_force_with_many_equal_values(digits: int) -> None:
    x, y = noisy(300, 3, 0.5, digits=digits)
    found = linkage.link(x, y, ties="average")
    least, rows = nearest(average_ranks(x), average_ranks(y))
    np.testing.assert_array_equal(found.distances, least)
    assert [match.tolist() for match in found.matches] == rows
    assert found.multiple_matches == sum(len(row) > 1 for row in rows)
    assert found.multiple_with_true == sum(len(r) > 1 and i in r for i, r in enumerate(rows))
    claims = np.bincount([r for row in rows for r in row], minlength=300)
    np.testing.assert_array_equal(found.matched_by, claims)


def test_column_distances_are_those_of_the_matches() -> None:
    x, y = noisy(200, 3, 0.3)
    found = linkage.link(x, y)
    rx, ry = average_ranks(x), average_ranks(y)
    for j, column in enumerate(found.column_distances):
        means = [np.abs(rx[i, j] - ry[match, j]).mean() for i, match in enumerate(found.matches)]
        assert column.matched == pytest.approx(np.mean(means))
        zeros = sum((rx[i, j] == ry[match, j]).sum() for i, match in enumerate(found.matches))
        assert column.zeros == zeros
        assert column.own == pytest.approx(np.abs(rx[:, j] - ry[:, j]).mean())
    assert found.least_protected in found.columns


def test_the_same_on_every_kind_of_frame() -> None:
    x, y = noisy(100, 2, 0.3)
    tables = [pa.table({"a": v[:, 0], "b": v[:, 1]}) for v in (x, y)]
    expected = linkage.link(*tables).distances
    for make in (
        lambda t: t.to_pandas(),
        pl.from_arrow,
        lambda t: pl.from_arrow(t).lazy(),
        lambda t: {name: t[name].to_numpy() for name in t.column_names},
        cr.Dataset.from_frame,
        duckdb.from_arrow,
    ):
        found = linkage.link(*(make(table) for table in tables))
        np.testing.assert_array_equal(found.distances, expected)


def test_datasets_joined_on_numbers_are_ranked_by_the_engine() -> None:
    x, y = noisy(500, 2, 0.3, digits=1)
    rng = np.random.default_rng(1)
    numbers, order = rng.permutation(500), rng.permutation(500)
    grade = rng.choice(["low", "high"], size=500)
    first = pa.table({"no": numbers, "a": x[:, 0], "b": x[:, 1], "g": grade})
    second = pa.table({"no": numbers, "a": y[:, 0], "b": y[:, 1], "g": grade}).take(order)
    options = {"on": "no", "ties": "average", "orders": {"g": ["low", "high"]}}
    local = linkage.link(first, second, **options)
    engine = linkage.link(cr.Dataset.from_frame(first), cr.Dataset.from_frame(second), **options)
    assert (engine.true_matches, engine.multiple_matches) == (local.true_matches, local.multiple_matches)
    by_number = np.argsort(numbers)
    np.testing.assert_array_equal(engine.distances, local.distances[by_number])


def test_ranks_from_spark(spark: Any) -> None:
    x, y = noisy(40, 1, 0.3, digits=1)
    tables = [pa.table({"no": np.arange(40), "a": v[:, 0]}) for v in (x, y)]
    frames = [spark.createDataFrame(table.to_pylist()) for table in tables]
    found = linkage.link(*map(cr.Dataset.from_frame, frames), on="no")
    np.testing.assert_array_equal(found.distances, linkage.link(*tables, on="no").distances)


def test_engine_ranks_refuse_what_frames_refuse() -> None:
    first = cr.Dataset.from_frame(pa.table({"no": [1, 2], "a": ["x", "y"]}))
    with pytest.raises(ColumnError, match="categories without an order"):
        linkage.link(first, first, on="no")
    second = cr.Dataset.from_frame(pa.table({"no": [1, 2], "a": [1.5, 2.5]}))
    with pytest.raises(ColumnError, match="only columns of one type"):
        linkage.link(second, first, on="no")
    with pytest.raises(ColumnError, match="Column 'nr' does not exist"):
        linkage.link(second, second, on="nr")
    holes = cr.Dataset.from_frame(pa.table({"no": [1, 2], "a": [1.5, None]}))
    with pytest.raises(ColumnError, match="1 missing value"):
        linkage.link(second, holes, on="no")


def test_dates_times_and_flags() -> None:
    days = [date(2020, 1, 1) + timedelta(days=3 * i) for i in range(20)]
    moments = [datetime(2020, 1, 1, 12) + timedelta(hours=i) for i in range(20)]
    flags = [i % 2 == 0 for i in range(20)]
    frame = pl.DataFrame({"day": days, "moment": moments, "flag": flags})
    found = linkage.link(frame, frame, columns=["day", "moment"])
    assert found.true_matches == 20
    assert linkage.link(frame, frame, columns=["flag"], ties="average").multiple_matches == 20
    later = frame.with_columns(pl.col("day") + pl.duration(days=2))
    step = linkage.decompose_noise(frame, later, columns=["day"])[0]
    assert (step.noise, step.residual_noise) == (2.0, 2.0)  # in days


def test_suppressed_records_by_row_map_and_by_number() -> None:
    x, y = noisy(60, 2, 0.01)
    kept = np.setdiff1d(np.arange(60), [3, 17, 40])
    rows = np.random.default_rng(2).permutation(kept)
    found = linkage.link(x, y[rows], row_map=rows)
    assert (found.records, found.masked_records, found.suppressed) == (60, 57, 3)
    numbered = [
        pa.table({"no": r, "a": v[:, 0], "b": v[:, 1]}) for r, v in ((np.arange(60), x), (rows, y[rows]))
    ]
    again = linkage.link(*numbered, on="no")
    assert again.true_matches == found.true_matches
    np.testing.assert_array_equal(again.distances, found.distances)
    assert found.true_matches is not None
    assert found.true_matches > 40
    assert found.true_matches + found.multiple_matches + (found.false_matches or 0) == 60


def test_unequal_counts_are_compared_by_rescaled_ranks() -> None:
    x = np.arange(10.0)[:, None]
    y = np.arange(5.0)[:, None]  # quantiles .1 .3 .5 .7 .9 against .05 .15 ... .95
    found = linkage.link(x, y)
    assert found.true_matches is None
    assert found.false_matches is None
    assert found.correct_share is None
    # Each original lies a quarter of a masked rank from its nearest masked record.
    np.testing.assert_allclose(found.distances, 0.25)
    assert [match.tolist() for match in found.matches] == [[i // 2] for i in range(10)]


def test_a_single_record_is_its_own_match() -> None:
    found = linkage.link({"a": [1.0]}, {"a": [5.0]})
    assert (found.true_matches, found.chance) == (1, 1.0)


def test_a_constant_column_links_nothing() -> None:
    x = np.zeros((50, 1))
    assert linkage.link(x, x, ties="average").multiple_matches == 50
    assert float(linkage.link(x, x, ties="average").correct_share) == pytest.approx(1 / 50)
    random = linkage.link(x, x, ties="random")  # a random permutation
    assert random.multiple_matches == 0
    assert random.true_matches is not None
    assert random.true_matches < 10
    assert linkage.decompose_noise(x, x)[0].rank_correlation is None


def test_infinite_values_rank_at_the_ends() -> None:
    x = {"a": [-np.inf, 1.0, 2.0, np.inf]}
    assert linkage.link(x, x).true_matches == 4
    with pytest.raises(ColumnError, match="infinite"):
        linkage.decompose_noise(x, x)
    with pytest.raises(ColumnError, match="infinite"):
        linkage.link(x, x, distance="value")
    with pytest.raises(ColumnError, match="infinite"):
        linkage.permuted_privacy(x, x)
    assert linkage.permuted_privacy(x, x, criterion="distinct").d == (0,)


def test_integers_beyond_float_precision_stay_apart() -> None:
    big = 2**60
    x = {"a": np.array([big + 2, big + 1, big, big + 3])}
    assert linkage.link(x, x, ties="average").true_matches == 4


def test_ties_at_random_repeat_with_the_seed_and_do_not_depend_on_other_columns() -> None:
    x, y = noisy(200, 2, 0.5, digits=0)
    one, again, other = (linkage.link(x, y, ties="random", seed=s).distances for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    alone = linkage.link({"a": x[:, 0]}, {"a": y[:, 0]}, ties="random").distances
    together = linkage.link(
        {"b": x[:, 1], "a": x[:, 0]}, {"b": y[:, 1], "a": y[:, 0]}, columns=["a"], ties="random"
    ).distances
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize(
    ("x", "y", "options", "error", "words"),
    [
        ({"a": [1.0]}, {"b": [1.0]}, {}, ColumnError, "share no column"),
        ({"a": [1.0]}, {"a": [1.0]}, {"columns": ["b"]}, ColumnError, "Column 'b' does not exist"),
        ({"a": [1.0, None]}, {"a": [1.0, 2.0]}, {}, ColumnError, "original file has 1 missing"),
        ({"a": [1.0, 2.0]}, {"a": [np.nan, 2.0]}, {}, ColumnError, "masked file has 1 missing"),
        ({"a": [1.0]}, {"a": ["1-5"]}, {}, ColumnError, "only columns of one type"),
        ({"a": ["x"]}, {"a": ["x"]}, {}, ColumnError, "without an order"),
        ({"a": ["x"]}, {"a": ["x"]}, {"orders": {"a": ["y"]}}, ColumnError, "1 of them are missing"),
        ({"a": ["x"]}, {"a": ["x"]}, {"orders": {"a": "size"}}, ParameterError, "'frequency'"),
        ({"a": [1.0]}, {"a": [1.0]}, {"orders": {"a": "frequency"}}, ParameterError, "have an order"),
        (
            {"a": [1.0]},
            {"a": [1.0]},
            {"orders": {"b": "frequency"}},
            ColumnError,
            "Column 'b' does not exist",
        ),
        ({"a": [1.0]}, {"a": [1.0]}, {"ties": "first"}, ParameterError, "'average'"),
        ({"a": [1.0]}, {"a": [1.0]}, {"row_map": [3]}, ParameterError, "rows from 0 to 0"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0]}, {"row_map": [0, 0]}, ParameterError, "more than once"),
        ({"a": [1.0]}, {"a": [1.0]}, {"row_map": [0.5]}, ParameterError, "row map gives"),
        ({"a": [1.0]}, {"a": [1.0]}, {"row_map": "aligned"}, ParameterError, "'unknown' or None"),
        ({"a": [1.0]}, {"a": [1.0]}, {"on": "a"}, ColumnError, "share no column"),
        (
            {"a": [1.0], "n": [1]},
            {"a": [1.0], "n": [1]},
            {"on": "n", "row_map": [0]},
            ParameterError,
            "not both",
        ),
        (
            {"a": [1.0] * 2, "n": [1, 1]},
            {"a": [1.0] * 2, "n": [1, 2]},
            {"on": "n"},
            ColumnError,
            "occur twice",
        ),
        (
            {"a": [1.0] * 2, "n": [1, None]},
            {"a": [1.0] * 2, "n": [1, 2]},
            {"on": "n"},
            ColumnError,
            "numbers are missing",
        ),
        ({"a": []}, {"a": []}, {}, InputError, "no records"),
        (5, 6, {}, InputError, "Records are a frame"),
        (np.zeros(3), np.zeros(3), {}, InputError, "two dimensions"),
    ],
)
def test_clear_errors(x: object, y: object, options: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        linkage.link(x, y, **options)


def test_errors_never_quote_a_value() -> None:
    with pytest.raises(ColumnError) as caught:
        linkage.link({"a": ["private"]}, {"a": ["hidden"]}, orders={"a": ["other"]})
    assert "private" not in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_values_of_the_data_are_not_shown() -> None:
    x, y = noisy(30, 2, 0.1)
    found = linkage.link(x, y)
    assert "matches" not in found.to_dict()
    assert len(found.to_dict(reveal=True)["matches"]) == 30


def test_link_values_equals_brute_force() -> None:
    x, y = noisy(150, 3, 0.3)
    scaled = [(v - x.mean(axis=0)) / x.std(axis=0) for v in (x, y)]
    table = np.sqrt(((scaled[0][:, None] - scaled[1][None]) ** 2).sum(axis=2))
    found = linkage.link(x, y, distance="value")
    np.testing.assert_allclose(found.distances, table.min(axis=1))
    assert found.true_matches == (table.argmin(axis=1) == np.arange(150)).sum()
    # Scaling a column misleads values, not ranks.
    assert linkage.link(x, 1000 * y).true_matches == linkage.link(x, y).true_matches
    assert (linkage.link(x, 1000 * y, distance="value").true_matches or 0) < 5


def test_subsets_find_the_columns_that_were_not_masked() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = np.column_stack([rng.permutation(x[:, 0]), x[:, 1], x[:, 2]])
    found = linkage.link_subsets(x, y)
    assert len(found) == 7
    assert found[0].true_matches == 300
    assert set(found[0].columns) <= {"2", "3"}
    assert "1" in found[-1].columns
    assert len(linkage.link_subsets(x, y, max_columns=1)) == 3
    with pytest.raises(ParameterError, match="between 1 and the 3"):
        linkage.link_subsets(x, y, max_columns=4)
    with pytest.raises(TooLargeError, match=r"8,191 subsets"):
        linkage.link_subsets(*noisy(5, 13, 0.1))


def test_the_pandas_index_has_no_effect() -> None:
    x, y = noisy(50, 2, 0.2)
    frames = [pd.DataFrame(v, columns=["a", "b"]) for v in (x, y)]
    moved = frames[1].set_axis(range(1000, 1050))
    assert linkage.link(frames[0], moved).true_matches == linkage.link(*frames).true_matches


def test_near_distances_are_the_nearest_few() -> None:
    x, y = noisy(80, 2, 0.4)
    near = linkage.near_distances(x, y, nearest=4)
    assert near.shape == (80, 80)
    rx, ry = average_ranks(x), average_ranks(y)
    table = np.abs(rx[:, None] - ry[None]).max(axis=2)
    for row in range(80):
        there = near.indices[near.indptr[row] : near.indptr[row + 1]]
        distances = near.data[near.indptr[row] : near.indptr[row + 1]]
        assert row in there
        assert len(there) in (4, 5)
        np.testing.assert_array_equal(np.sort(distances)[:4], np.sort(table[row])[:4])
        np.testing.assert_array_equal(distances, table[row, there])
    dense = linkage.near_distances(x, y, nearest=80).toarray()
    np.testing.assert_array_equal(dense, table)
    few = linkage.near_distances(x, y, nearest=1, row_map="unknown")
    np.testing.assert_array_equal(np.diff(few.indptr), np.ones(80))
    with pytest.raises(ParameterError, match="at least 1"):
        linkage.near_distances(x, y, nearest=0)


def test_the_order_of_the_search_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from crypsis.linkage import _nearest

    x, y = noisy(700, 3, 0.5, digits=1)
    plain = linkage.link(x, y, ties="average")
    monkeypatch.setattr(_nearest, "_MIN_ORDERED_POINTS", 1)
    monkeypatch.setattr(_nearest, "_CHUNK_RECORDS", 64)
    ordered = linkage.link(x, y, ties="average")
    np.testing.assert_array_equal(plain.distances, ordered.distances)
    assert [a.tolist() for a in plain.matches] == [b.tolist() for b in ordered.matches]
    same = linkage.verify_links(x, y, ties="average").independent.null_distances
    monkeypatch.undo()
    np.testing.assert_array_equal(same, linkage.verify_links(x, y, ties="average").independent.null_distances)
