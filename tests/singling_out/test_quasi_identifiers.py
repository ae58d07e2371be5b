"""The search for quasi-identifiers against trying everything, and what it promises."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis import progress
from crypsis import singling_out as so
from crypsis.errors import CancelledError, ColumnError, InputError, ParameterError

FEW = st.sampled_from([None, 0, 1, 2])
MANY = st.integers(0, 40)
ROWS = st.lists(st.tuples(FEW, FEW, MANY, st.integers(0, 3)), min_size=2, max_size=40)


def table(rows):
    columns = map(list, zip(*rows, strict=True))
    return pa.table({n: pa.array(c, pa.int64()) for n, c in zip("abcd", columns, strict=True)})


def minimal(sets, alpha):
    """The minimal sets that reach alpha, by trying everything."""
    flagged = [frozenset(one.columns) for one in sets if one.value >= alpha]
    return {s for s in flagged if not any(other < s for other in flagged)}


@pytest.mark.parametrize("missing", ["value", "wildcard", "drop"])
@settings(deadline=None, max_examples=30)
@given(rows=ROWS, alpha=st.floats(0.01, 0.99), extra=st.sampled_from([None, 0, 3, 5000]))
def test_finds_exactly_the_minimal_sets(missing, rows, alpha, extra):
    population = None if extra is None else len(rows) + extra
    release = cr.Dataset.from_frame(table(rows), missing=missing, population=population)
    every = so.column_sets(release, alpha=alpha)
    found = so.find_quasi_identifiers(release, alpha, threads=2)
    assert {frozenset(one.columns) for one in found.found} == minimal(every, alpha)
    by_columns = {one.columns: one for one in every}
    assert all(one == by_columns[one.columns] for one in found.found)
    assert found.complete
    assert found.publish is (not minimal(every, alpha))


def test_finds_the_same_in_columns_with_more_than_64_values_and_repeated_rows():
    random = np.random.default_rng(5)
    sizes = dict(zip("abcdef", (2, 3, 5, 63, 65, 300), strict=True))
    rows = {name: random.integers(0, size, 700) for name, size in sizes.items()}
    doubled = pa.concat_tables([pa.table(rows), pa.table(rows).slice(0, 150)])
    every = so.column_sets(doubled, list("abcdef"), max_columns=4, alpha=0.3)
    found = so.find_quasi_identifiers(doubled, 0.3, max_columns=4)
    assert {frozenset(one.columns) for one in found.found} == minimal(every, 0.3)
    assert found.tried + found.ruled_out == len(every)
    assert found.ruled_out > 0


def test_a_key_is_a_minimal_set_alone():
    rows = pa.table({"id": range(50), "sex": [0, 1] * 25, "town": [7] * 50})
    found = so.find_quasi_identifiers(rows, 0.9)
    assert [one.columns for one in found.found] == [("id",)]
    assert found.found[0].measure == "F1"


def test_identifiers_and_sensitive_columns_are_not_searched():
    rows = pa.table({"id": range(50), "sex": [0, 1] * 25, "income": range(50)})
    release = cr.Dataset.from_frame(rows, identifiers=["id"], sensitive=["income"])
    assert so.find_quasi_identifiers(release).columns == ("sex",)


def test_a_complete_population_is_measured_not_bounded():
    # Theorem 1 with the observed D = n would say 1/e here, although everybody is unique.
    rows = pa.table({"id": range(100)})
    (alone,) = so.column_sets(rows, population=100)
    assert alone.population_bound == alone.unique_fraction == 1.0
    assert alone.population_distinct == 100
    assert (alone.measure, alone.publish) == ("F1", False)


def test_a_population_given_as_its_table_is_counted():
    everyone = cr.Dataset.from_frame(pa.table({"age": [1, 1, 2, 3], "sex": list("abab")}))
    release = cr.Dataset.from_frame(pa.table({"age": [1], "sex": ["a"]}), population=everyone)
    ages = next(s for s in so.column_sets(release, ["age", "sex"]) if s.columns == ("age",))
    assert (ages.rows, ages.singletons, ages.population_distinct) == (4, 2, 3)


def test_a_sample_of_unique_people_is_flagged_although_few_values_were_seen():
    # One in a thousand is released. Their 1,000 distinct values are not the population's.
    rows = pa.table({"id": range(1000), "sex": [0, 1] * 500})
    every = {s.columns: s for s in so.column_sets(rows, population=1_000_000)}
    assert not every["id",].publish
    assert every["sex",].publish
    assert every["sex",].population_bound == pytest.approx(2 / (np.e * 1e6))


def test_unique_people_among_common_values_are_found():
    # Half of the people are unique, half share 10,000 values: Chao sees some 10^5 values, which
    # Theorem 1 would take for 10^-4 unique people. The truth is one half.
    random = np.random.default_rng(3)
    half = random.random(30_000) < 0.5
    value = np.where(half, random.integers(10**9, 10**15, 30_000), random.integers(0, 10**4, 30_000))
    (alone,) = so.column_sets(pa.table({"v": value}), population=300_000_000)
    assert 0.5 <= alone.population_bound < 0.7


def test_the_interval_for_distinct_values_covers_the_truth():
    random = np.random.default_rng(11)
    people = 200_000
    held = 0
    for trial in range(40):
        values = random.zipf(1.2 + 0.02 * trial, people)
        sample = random.choice(values, 4000, replace=False)
        (one,) = so.column_sets(pa.table({"v": sample}), population=people)
        held += one.population_distinct.low <= np.unique(values).size <= one.population_distinct.high
    assert held >= 37


def test_every_quantity_is_monotone_or_missing_without_a_population():
    rows = pa.table({"a": [1, 1, 2, 2], "b": [1, 2, 1, 1]})
    for one in so.column_sets(rows):
        assert one.bound is one.mean_class_size is one.population_bound is one.population_distinct is None
        assert (one.measure, one.value) == ("F1", one.unique_fraction)


def test_contributions_add_up_to_the_uniqueness_of_all_columns():
    random = np.random.default_rng(2)
    rows = pa.table({name: random.integers(0, 2 + i, 500) for i, name in enumerate("abcdef")})
    ranking = so.find_quasi_identifiers(rows).ranking
    total = so.uniqueness(rows, list("abcdef")).fraction
    assert sum(share.contribution for share in ranking) == pytest.approx(total)
    assert ranking[0].column == "f"


def test_contributions_of_wide_tables_are_estimates_of_the_same_thing():
    random = np.random.default_rng(2)
    columns = {f"c{i}": random.integers(0, 2 + i % 5, 400) for i in range(14)}
    found = so.find_quasi_identifiers(pa.table(columns), 0.9, max_columns=2, seed=4)
    total = so.uniqueness(pa.table(columns), list(columns)).fraction
    assert sum(float(share.contribution) for share in found.ranking) == pytest.approx(total)
    assert all(isinstance(share.contribution, cr.Estimate) for share in found.ranking)
    again = so.find_quasi_identifiers(pa.table(columns), 0.9, max_columns=2, seed=4)
    assert again == found


def test_an_interrupted_search_returns_what_it_found():
    random = np.random.default_rng(1)
    columns = {f"c{i}": random.integers(0, 12, 3000) for i in range(12)} | {"id": np.arange(3000)}
    seen = []

    def listener(news):
        seen.append(news)
        if news.what == "column sets" and news.done > 20:
            raise CancelledError("enough")

    with progress.report_to(listener):
        found = so.find_quasi_identifiers(pa.table(columns), 0.5, max_columns=5)
    assert not found.complete
    assert ("id",) in [one.columns for one in found.found]
    totals = {news.total for news in seen if news.what == "column sets"}
    assert totals == {sum(math.comb(13, size) for size in range(1, 6))}
    short = so.find_quasi_identifiers(pa.table(columns), 0.99, max_columns=6, seconds=1e-6)
    assert not short.complete
    assert so.QuasiIdentifiers.publish.fget(short) in (None, False)


def test_order_of_rows_and_names_of_values_change_nothing():
    random = np.random.default_rng(9)
    rows = {name: random.integers(0, 9, 300) for name in "abc"}
    turned = {name: [f"x{v}" for v in values[::-1]] for name, values in rows.items()}
    ours = so.column_sets(pa.table(rows), population=5000)
    theirs = so.column_sets(pa.table(turned), population=5000)
    assert {s.columns: s for s in ours} == {s.columns: s for s in theirs}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"alpha": 0.0}, ParameterError),
        ({"alpha": 1.0}, ParameterError),
        ({"alpha": float("nan")}, ParameterError),
        ({"population": 0}, ParameterError),
        ({"population": 3}, ParameterError),
        ({"population": 10.5}, InputError),
        ({"max_columns": 0}, ParameterError),
        ({"seconds": 0}, ParameterError),
        ({"threads": 0}, ParameterError),
        ({"columns": []}, ColumnError),
        ({"columns": ["agee"]}, ColumnError),
        ({"domains": {"zip": 5}}, ColumnError),
        ({"domains": {"age": 0}}, ParameterError),
    ],
)
def test_bad_questions_are_clear_errors(options, error):
    people = pa.table({"age": [1, 2, 3, 4], "sex": list("abab")})
    with pytest.raises(error):
        so.find_quasi_identifiers(people, **options)


def test_messages_state_what_to_do():
    people = pa.table({"age": [1, 2, 3, 4]})
    with pytest.raises(ParameterError, match=r"population \(3\) is smaller .* \(4 records\)"):
        so.find_quasi_identifiers(people, population=3)
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        so.uniqueness(people, ["agee"])
    with pytest.raises(cr.CrypsisError, match="no quasi-identifiers"):
        so.uniqueness(people)
    with pytest.raises(ColumnError, match="No column is left"):
        so.find_quasi_identifiers(people, sensitive=["age"])
    with pytest.raises(ParameterError, match="no records"):
        so.find_quasi_identifiers(people.slice(0, 0))


def test_dates_can_take_every_day_between_their_ends_and_no_more():
    """A fifth of the birth dates is seen once; that makes nobody unique among 300 million."""
    import datetime

    random = np.random.default_rng(5)
    first = datetime.date(1930, 1, 1)
    born = [first + datetime.timedelta(days=int(d)) for d in random.integers(0, 30_000, 40_000)]
    (alone,) = so.column_sets(pa.table({"born": born}), ["born"], population=300_000_000)
    assert alone.unique_fraction > 0.15
    assert alone.population_bound == pytest.approx(30_000 / (np.e * 3e8) + 2 / 40_001, rel=1e-2)
    (numbers,) = so.column_sets(pa.table({"id": np.arange(1000)}), ["id"], population=300_000_000)
    assert numbers.population_bound > 0.5
