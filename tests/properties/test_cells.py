"""Cells against a plain count, on random small tables with missing values."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.counting.cells import Cells
from crypsis.counting.partitions import count_column_sets
from crypsis.dataset import Dataset
from crypsis.options import MissingValues

Row = tuple[int | None, ...]
COLUMNS = ("a", "b", "c", "d")

value = st.one_of(st.none(), st.integers(0, 3))
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[value] * width), min_size=1, max_size=25)
)


def cells_of(rows: list[Row], policy: MissingValues = MissingValues.VALUE) -> Cells:
    columns = {
        name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(COLUMNS[: len(rows[0])])
    }
    return Cells.from_columns(policy, **columns)


def alike(one: Row, other: Row, policy: MissingValues) -> bool:
    if policy is MissingValues.WILDCARD:
        return all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))
    return one == other


def brute_sizes(rows: list[Row], policy: MissingValues) -> list[int]:
    """For every row, how many rows are alike: the definition, word for word."""
    if policy is MissingValues.DROP:
        rows = [row for row in rows if None not in row]
    return [sum(alike(row, other, policy) for other in rows) for row in rows]


def row_sizes(cells: Cells) -> list[int]:
    sizes = np.repeat(cells.class_sizes, cells.counts)
    return sorted(int(size) for size in sizes if size > 0)


@given(tables, st.sampled_from(MissingValues))
def test_class_sizes_are_the_definition(rows: list[Row], policy: MissingValues) -> None:
    cells = cells_of(rows, policy)
    expected = brute_sizes(rows, policy)
    assert row_sizes(cells) == sorted(expected)
    assert cells.singletons == expected.count(1)
    assert cells.rows + cells.dropped == len(rows)


@given(tables, st.sampled_from(MissingValues))
def test_every_subset_is_its_marginal(rows: list[Row], policy: MissingValues) -> None:
    cells = cells_of(rows, policy)
    width = len(rows[0])
    found = {subset.columns: subset for subset in count_column_sets(cells)}
    assert len(found) == 2**width - 1
    for size in range(1, width + 1):
        for places in combinations(range(width), size):
            names = tuple(COLUMNS[i] for i in places)
            part = [tuple(row[i] for i in places) for row in rows]
            sizes = brute_sizes(part, policy)
            subset = found[names]
            assert subset.rows == len(sizes)
            assert subset.singletons == sizes.count(1)
            assert subset.doubletons == sizes.count(2) // 2 or policy is MissingValues.WILDCARD
            assert subset.smallest == min(sizes, default=0)
            assert subset.largest == max(sizes, default=0)
            assert row_sizes(cells.marginal(names)) == sorted(sizes)


@given(tables, st.randoms())
def test_order_of_rows_changes_nothing(rows: list[Row], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = cells_of(rows), cells_of(shuffled)
    assert one.counts.tolist() == other.counts.tolist()
    assert [code.tolist() for code in one.codes] == [code.tolist() for code in other.codes]


@given(tables)
def test_merging_values_never_makes_a_class_smaller(rows: list[Row]) -> None:
    merged = [(None if row[0] is None else row[0] // 2, *row[1:]) for row in rows]
    assert int(cells_of(merged).class_sizes.min()) >= int(cells_of(rows).class_sizes.min())


@given(tables)
def test_entropy_is_that_of_the_counts(rows: list[Row]) -> None:
    shares = np.array(list(Counter(rows).values())) / len(rows)
    expected = float(-(shares * np.log2(shares)).sum())
    assert abs(cells_of(rows).entropy_bits() - expected) < 1e-12


@settings(max_examples=25, deadline=None)
@given(tables)
def test_the_engine_counts_the_same(rows: list[Row]) -> None:
    names = COLUMNS[: len(rows[0])]
    table = pa.table({name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(names)})
    release = Dataset.from_frame(table)
    mine, theirs = cells_of(rows), release.cells(names)
    assert theirs.counts.tolist() == mine.counts.tolist()
    tally = release.rows.tally(names)
    assert (tally.distinct, tally.singletons) == (mine.distinct, mine.singletons)
