"""Every question asked of rows has the same answer on every engine, and the right one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest

import crypsis as cr
from crypsis.counting.cells import Cells
from crypsis.errors import ColumnError, OutputError, ParameterError, TooLargeError
from crypsis.options import MissingValues
from crypsis.tables import Rows, write_rows
from crypsis.tables.sampling import average_ranks, quantiles, sample, sampled_quantiles
from tests.tables.conftest import awkward_table

HARD = 'na"me; DROP'


def counted(columns: list[str]) -> Counter[tuple[object, ...]]:
    """The cells by a plain count over the plain rows; NaN is missing."""
    rows = awkward_table().select(columns).to_pylist()
    return Counter(tuple(None if v != v else v for v in row.values()) for row in rows)


@pytest.mark.parametrize(
    "columns", [["Age"], ["Age", "age"], [HARD, "a.b"], ["😀", "born", "Age"], ["id", "a.b"]]
)
def test_cells(rows: Rows, columns: list[str]) -> None:
    cells = Cells.from_table(rows.cells(columns), columns)
    found = {
        tuple(v[int(c[i])].as_py() for v, c in zip(cells.values, cells.codes, strict=True)): int(n)
        for i, n in enumerate(cells.counts)
    }
    assert found == counted(columns)


def test_cells_come_in_the_order_of_their_values(rows: Rows) -> None:
    cells = Cells.from_table(rows.cells(["Age", "age"]), ["Age", "age"])
    assert cells.values[0].to_pylist() == [20, 21, 22, 23, 24, 25, 26, None]
    tuples = list(zip(*(code.tolist() for code in cells.codes), strict=True))
    assert tuples == sorted(tuples)


def test_cells_with_weights(rows: Rows) -> None:
    cells = Cells.from_table(rows.cells(["age"], weight="id"), ["age"])
    assert cells.weights is not None
    assert cells.weights.tolist() == [float(sum(range(k, 60, 5))) for k in range(5)]


def test_cells_stop_before_the_memory_is_full(rows: Rows) -> None:
    with pytest.raises(TooLargeError, match="more than 10 distinct"):
        rows.cells(["id"], at_most=10)


@pytest.mark.parametrize("columns", [["Age"], ["Age", "a.b"], ["id"], ["😀"]])
def test_tally(rows: Rows, columns: list[str]) -> None:
    expected = counted(columns)
    tally = rows.tally(columns)
    sizes = list(expected.values())
    assert tally.rows == 60
    assert tally.distinct == len(sizes)
    assert tally.singletons == sizes.count(1)
    assert tally.doubletons == sizes.count(2)
    assert (tally.smallest, tally.largest) == (min(sizes), max(sizes))
    assert tally.missing == sum(n for key, n in expected.items() if None in key)


def test_tally_without_missing(rows: Rows) -> None:
    tally = rows.tally(["Age"], drop_missing=True)
    assert (tally.rows, tally.missing, tally.distinct) == (55, 5, 7)


def test_ranks(rows: Rows) -> None:
    from scipy.stats import rankdata

    table = average_ranks(rows, ["Age", "a.b"], keep=["id"]).to_arrow()
    table = table.sort_by("id")
    for name in ("Age", "a.b"):
        values = np.array([np.nan if v is None else v for v in awkward_table()[name].to_pylist()], float)
        ranks = np.full(60, np.nan)
        ranks[~np.isnan(values)] = rankdata(values[~np.isnan(values)])
        found = [np.nan if v is None else v for v in table[name].to_pylist()]
        np.testing.assert_array_equal(found, ranks)


def test_quantiles(rows: Rows) -> None:
    shares = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]
    found = quantiles(rows, ["a.b", "Age", "born"], shares)
    for name in ("a.b", "Age"):
        values = [v for v in awkward_table()[name].to_pylist() if v is not None and v == v]
        expected = np.quantile(values, shares, method="inverted_cdf")
        np.testing.assert_array_equal(found[name].to_pylist(), expected)
    assert found["born"].to_pylist()[0] == date(1980, 1, 1)
    assert found["born"].to_pylist()[-1] == date(1980, 1, 9)


def test_quantiles_need_an_order(rows: Rows) -> None:
    with pytest.raises(ColumnError, match="has no order"):
        quantiles(rows, [HARD], [0.5])
    with pytest.raises(ParameterError, match="between 0 and 1"):
        quantiles(rows, ["Age"], [1.5])


def test_a_sample_by_key_is_the_same_on_every_engine(rows: Rows) -> None:
    def digest(key: int) -> int:
        return int(hashlib.md5(f"7:{key}".encode()).hexdigest()[:15], 16)

    drawn = sample(rows, 12, seed=7, key="id")
    assert drawn["id"].to_pylist() == sorted(range(60), key=digest)[:12]
    assert drawn.column_names == awkward_table().column_names


def test_a_sample_without_key_repeats(rows: Rows) -> None:
    first = sample(rows, 20, seed=3)["id"].to_pylist()
    assert first == sample(rows, 20, seed=3)["id"].to_pylist()
    assert len(set(first)) == 20
    assert first != sample(rows, 20, seed=4)["id"].to_pylist()


def test_a_sample_of_more_than_there_is(rows: Rows) -> None:
    assert sample(rows, 1000, key="id").num_rows == 60


def test_a_sample_needs_a_key_that_reads_the_same_everywhere(rows: Rows) -> None:
    with pytest.raises(ColumnError, match="not a key for a sample"):
        sample(rows, 5, key="a.b")


def test_sampled_quantiles_keep_their_rank_error(on_engine: Callable[[pa.Table], Rows]) -> None:
    n = 20_000
    values = np.random.default_rng(1).permutation(n)
    rows = on_engine(pa.table({"x": values}))
    found = sampled_quantiles(rows, ["x"], [0.1, 0.5, 0.9], rank_error=0.05, seed=5, key="x")
    for share, value in zip([0.1, 0.5, 0.9], found["x"].to_pylist(), strict=True):
        assert abs(value / n - share) <= 0.05


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_write_and_read_back(rows: Rows, tmp_path: Path, suffix: str) -> None:
    import crypsis as cr

    target = write_rows(rows, tmp_path / f"out{suffix}")
    if not rows.local and suffix == ".csv":
        target = tmp_path / "out.csv" / "*.csv"
    back = cr.read(target, missing_markers=[""])
    assert back.names == rows.names
    expected = awkward_table()
    table = back.to_arrow().sort_by("id")
    for name in ("id", "Age", "age", HARD, "born"):
        assert table[name].to_pylist() == expected[name].to_pylist()
    assert [p.name for p in tmp_path.iterdir()] == [f"out{suffix}"]


def test_write_does_not_overwrite(rows: Rows, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        write_rows(rows, target)
    assert target.read_text() == "mine"
    with pytest.raises(OutputError, match="does not exist"):
        write_rows(rows, tmp_path / "nowhere" / "out.csv")
    with pytest.raises(OutputError, match="names no format"):
        write_rows(rows, tmp_path / "out.doc")


def test_unknown_columns_are_named_with_those_there(rows: Rows) -> None:
    with pytest.raises(ColumnError, match=r"Column 'agee' does not exist.*did you mean 'age'.*'born'"):
        rows.cells(["agee"])


def test_missing_values_under_each_policy(rows: Rows) -> None:
    table = rows.cells(["Age", "age"])
    value = Cells.from_table(table, ["Age", "age"])
    drop = Cells.from_table(table, ["Age", "age"], MissingValues.DROP)
    assert (value.rows, value.dropped) == (60, 0)
    assert (drop.rows, drop.dropped) == (55, 5)
    assert drop.distinct == rows.tally(["Age", "age"], drop_missing=True).distinct


def test_a_few_of_many_rows_are_drawn_evenly(tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    duckdb.sql(f"COPY (SELECT range AS id FROM range(1500000)) TO '{path}'")
    rows = cr.read(path).rows
    for seed in range(5):
        drawn = np.array(sample(rows, 2_000, seed=seed)["id"])
        assert len(set(drawn.tolist())) == 2_000
        assert kstest(drawn / 1_500_000, "uniform").pvalue > 1e-4
    assert sample(rows, 2_000, seed=4).equals(sample(cr.read(path).rows, 2_000, seed=4))
