"""Plans: what they choose, that they are files, and that what they promise is kept or refused."""

from __future__ import annotations

import datetime
import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis.errors import ColumnError, OutputError, ParameterError, RequirementsNotMetError, RoleError
from crypsis.hierarchies import Hierarchy, HierarchyGapError
from crypsis.protection import Plan, Statement, plan

QI = ["sex", "birth", "zip", "age"]


def people(n: int = 2_000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first = np.datetime64("1940-01-01")
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "birth": (first + rng.integers(0, 60 * 365, n)).astype("datetime64[s]"),
            "zip": [f"{z:05d}" for z in rng.integers(0, 100_000, n)],
            "age": rng.integers(18, 99, n),
            "disease": rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "other": rng.random(n),
        }
    )


def opened(frame: Any, **more: Any) -> cr.Dataset:
    roles: dict[str, Any] = {
        "identifiers": ["id"],
        "quasi_identifiers": QI,
        "sensitive": ["disease"],
        "insensitive": ["other"],
    }
    return cr.Dataset.from_frame(frame, **{**roles, **more}, person="each record")


def test_k_is_kept_and_nothing_else_is_touched() -> None:
    frame = people()
    made = plan(opened(frame), k=7).apply(opened(frame))
    out = made.frame
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["sex", "birth", "zip", "age", "disease", "other"]
    assert out.groupby(QI, dropna=False).size().min() >= 7
    assert made.measured.k == out.groupby(QI, dropna=False).size().min()
    assert len(out) == len(frame) - made.loss.suppressed_records
    order = range(len(frame)) if made.key.row_map is None else made.key.row_map
    assert np.array_equal(out["other"], frame["other"].iloc[list(order)])
    assert made.loss.withheld_share <= 0.05
    assert out[QI].isna().sum().sum() == made.loss.suppressed_values
    assert out[list(made.loss.fully_generalized_columns)].isna().all().all()


@pytest.mark.parametrize(
    "asked", [{"diversity": 3}, {"best_guess": 0.55}, {"closeness": 0.25}, {"diversity": 2, "closeness": 0.4}]
)
def test_promises_about_secrets(asked: dict[str, Any]) -> None:
    release = opened(people())
    made = plan(release, k=5, **asked).apply(release)
    groups = made.frame.groupby(QI, dropna=False)["disease"]
    assert groups.size().min() >= 5
    if "diversity" in asked:
        assert groups.nunique().min() == made.measured.diversity >= asked["diversity"]
    shares = groups.value_counts(normalize=True)
    if "best_guess" in asked:
        assert shares.max() == pytest.approx(made.measured.best_guess)
        assert shares.max() <= asked["best_guess"] + 1e-12
    if "closeness" in asked:
        overall = made.frame["disease"].value_counts(normalize=True)
        wide = shares.unstack(fill_value=0)
        worst = (wide[overall.index] - overall).abs().sum(axis=1).max() / 2
        assert worst == pytest.approx(made.measured.closeness)
        assert worst <= asked["closeness"] + 1e-12


tables = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 30) | st.none(), st.sampled_from("xyz")),
    min_size=1,
    max_size=40,
)


@settings(max_examples=30)
@given(tables, st.integers(1, 8), st.booleans(), st.sampled_from([0.0, 0.05, 1.0]), st.booleans())
def test_any_table_keeps_k_or_fails(
    rows: list[Any], k: int, secret: bool, budget: float, local: bool
) -> None:
    table = pa.table(
        {
            "a": pa.array([row[0] for row in rows], pa.string()),
            "b": pa.array([row[1] for row in rows], pa.int64()),
            "s": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    release = cr.Dataset.from_frame(
        table, quasi_identifiers=["a", "b"], sensitive=["s"], person="each record"
    )
    try:
        made = plan(release, k=k, diversity=2 if secret else None, suppression=budget).apply(
            release, recoding="local" if local else "full-domain"
        )
    except RoleError as error:  # the columns drawn may determine each other
        if error.code != "derived-column":
            raise
        return
    except ParameterError:
        assert k > len(rows)
        return
    except RequirementsNotMetError:
        alone = len({row[2] for row in rows}) < 2 and secret
        assert alone or not local
        return
    out = made.frame.to_pandas()
    if len(out):
        groups = out.groupby(["a", "b"], dropna=False)["s"]
        assert groups.size().min() >= k
        if secret:
            assert groups.nunique().min() >= 2
    assert len(out) >= len(rows) - int(budget * len(rows))


@pytest.mark.parametrize(("local", "shuffle"), [(True, False), (False, False), (True, True)])
def test_the_row_map_is_right_for_streamed_rows(
    tmp_path: Path, local: bool, shuffle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crypsis.tables.shuffled._PILE_ROWS", 100_000)
    monkeypatch.setattr("crypsis.protection.recoding._columns.IN_MEMORY_VALUES", 0)
    rng = np.random.default_rng(0)
    n = 400_000
    table = pa.table({"a": rng.zipf(1.6, n).clip(0, 300), "b": rng.integers(0, 30, n), "row": np.arange(n)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=20_000)
    release = cr.read(
        tmp_path / "in.parquet", quasi_identifiers=["a", "b"], insensitive=["row"], person="each record"
    )
    made = plan(release, k=50).apply(release, recoding="local" if local else "full-domain", shuffle=shuffle)
    order = np.arange(n) if made.key.row_map is None else np.array(made.key.row_map)
    out = tmp_path / "out.parquet"
    made.write(out)
    assert np.array_equal(made.data.to_arrow(["row"])["row"].to_numpy(), order)
    assert np.array_equal(pq.read_table(out)["row"].to_numpy(), order)


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(list(frame.columns)).reset_index(drop=True)


@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_a_plan_is_a_file_that_gives_the_same_again(tmp_path: Path, suffix: str) -> None:
    frame = people(500)
    made = plan(opened(frame), k=5, population=10**6, release_k=5, top_code={"age": 90})
    path = made.save(tmp_path / f"plan{suffix}")
    again = Plan.load(path)
    assert again == made
    one, two = made.apply(opened(frame)).frame, again.apply(opened(frame)).frame
    pd.testing.assert_frame_equal(_sorted(one), _sorted(two))
    one, two = (made.apply(opened(frame), seed=3).frame for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    with pytest.raises(OutputError, match="exists"):
        made.save(path)
    path.write_text(path.read_text().replace("prefix", "guess"))
    with pytest.raises(cr.CrypsisError, match="not a valid plan"):
        Plan.load(path)


def test_each_column_alone() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"x": rng.normal(size=5_000), "y": rng.integers(0, 40, 5_000) ** 2})
    release = cr.Dataset.from_frame(frame, quasi_identifiers=["x", "y"], person="each record")
    made = plan(release, k=200, each_column=True, representative="median").apply(release)
    assert isinstance(made.frame, pl.DataFrame)
    for name in ("x", "y"):
        counts = made.frame[name].value_counts()["count"]
        assert counts.min() >= 200
    assert made.frame["x"].n_unique() == 25
    assert made.measured.each_column is not None


def test_top_coding() -> None:
    release = cr.Dataset.from_frame(people()[["age"]], quasi_identifiers=["age"], person="each record")
    made = plan(release, k=5, top_code={"age": 90}, methods={"age": "keep"}).apply(release, shuffle=False)
    assert made.frame["age"].max() == 90
    assert (made.frame["age"] == people()["age"].clip(upper=90)).all()


@pytest.mark.parametrize(("column", "limit"), [("zip", 3.0), ("day", 3.0), ("age", math.inf)])
def test_top_coding_is_for_numbers(column: str, limit: float) -> None:
    table = pa.table({"age": [30, 40], "zip": ["02138", "02139"], "day": [datetime.date(2020, 1, 1)] * 2})
    with pytest.raises(ParameterError, match="finite" if limit > 3 else repr(column)):
        plan(table, k=1, top_code={column: limit}, quasi_identifiers=["age", "zip", "day"])


def test_a_file_is_written_whole_and_with_its_statement(tmp_path: Path) -> None:
    frame = people()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "in.parquet")
    before = (tmp_path / "in.parquet").read_bytes()
    release = cr.read(
        tmp_path / "in.parquet",
        identifiers=["id"],
        quasi_identifiers=QI,
        sensitive=["disease"],
        insensitive=["other"],
        person="each record",
    )
    made = plan(release, k=7).apply(release)
    for suffix in (".parquet", ".csv"):
        out = tmp_path / f"out{suffix}"
        made.write(out)
        assert cr.read(out).count == made.measured.rows
        with pytest.raises(OutputError, match="exists"):
            made.write(out)
    with pytest.raises(OutputError, match="Folder"):
        made.write(tmp_path / "none" / "out.csv")
    assert (tmp_path / "in.parquet").read_bytes() == before
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "in.parquet",
        "out.parquet",
        "out.csv",
        *(f"out.{form}.statement.{note}" for form in ("csv", "parquet") for note in ("md", "json")),
    }
    for form in ("csv", "parquet"):  # each file has its own statement, with its own digest
        told = Statement.load(tmp_path / f"out.{form}.statement.json")
        assert told.file == f"out.{form}"
        assert told.sha256 == hashlib.sha256((tmp_path / f"out.{form}").read_bytes()).hexdigest()


def test_hierarchies_and_their_gaps() -> None:
    frame = pa.table({"job": ["a", "b", "c", "d"] * 3 + ["c"]})
    tree = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")))
    release = cr.Dataset.from_frame(frame, quasi_identifiers=["job"], person="each record")
    made = plan(release, k=4, hierarchies={"job": tree}).apply(release)
    assert set(made.frame["job"].to_pylist()) == {"x", "y"}  # d alone has 3 rows and joins c
    short = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")))
    with pytest.raises(HierarchyGapError) as caught:
        plan(release, k=4, hierarchies={"job": short}).apply(release)
    assert caught.value.unknown == ("d",)


def test_columns_of_one_value_or_none() -> None:
    table = pa.table({"one": ["a"] * 6, "none": pa.nulls(6, pa.int64()), "x": [1, 1, 1, 2, 2, 2]})
    release = cr.Dataset.from_frame(table, quasi_identifiers=["one", "none", "x"], person="each record")
    made = plan(release, k=3).apply(release)
    assert made.measured.k == 3
    assert made.frame.sort_by("x").to_pydict() == table.to_pydict()
    assert plan(release, k=2, population=10, beta=0.5).apply(release).measured.rows == 6


def test_a_relation_the_user_brought() -> None:
    import duckdb

    connection = duckdb.connect()
    relation = connection.sql("SELECT range % 7 AS a, range % 11 AS b FROM range(300)")
    release = cr.Dataset.from_frame(relation, quasi_identifiers=["a", "b"], person="each record")
    made = plan(release, k=6).apply(release)
    assert made.data.to_arrow().to_pandas().groupby(["a", "b"], dropna=False).size().min() >= 6


def test_on_spark(spark: Any) -> None:
    rows = people(300)[["sex", "zip", "age"]].to_dict("records")
    frame = spark.createDataFrame([tuple(row.values()) for row in rows], "sex string, zip string, age int")
    release = cr.Dataset.from_frame(frame, quasi_identifiers=["sex", "zip", "age"], person="each record")
    made = plan(release, k=5).apply(release)
    out = made.data.to_arrow().to_pandas()
    assert out.groupby(["sex", "zip", "age"], dropna=False).size().min() >= 5


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"k": 10**6}, ParameterError),
        ({"k": 0}, ParameterError),
        ({"k": 5, "population": 10**6, "beta": 1.5}, ParameterError),
        ({"k": 5, "suppression": 2.0}, ParameterError),
        ({"k": 5, "weights": {"age": -1.0}}, ParameterError),
        ({"k": 5, "weights": {"agee": 1.0}}, ColumnError),
        ({"k": 5, "methods": {"sex": "date"}}, ParameterError),
        ({"k": 5, "methods": {"sex": "magic"}}, ParameterError),
        ({"k": 5, "each_column": True, "representative": "mode"}, ParameterError),
    ],
)
def test_out_of_range(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        plan(opened(people(50)), **options)


def test_roles_are_needed() -> None:
    with pytest.raises(RoleError, match="quasi"):
        plan(people(20), k=2)
    with pytest.raises(RoleError, match="sensitive"):
        plan(people(20), k=2, diversity=2, quasi_identifiers=["age"])


def test_a_plan_for_other_columns() -> None:
    made = plan(opened(people(50)), k=2)
    with pytest.raises(ColumnError, match="do not exist"):
        made.apply(pa.table({"x": [1]}), insensitive="x")
    with pytest.raises(RoleError, match="'other'"):
        made.apply(opened(people(50), quasi_identifiers=[*QI, "other"], insensitive=()))


def test_dates_without_time() -> None:
    days = [datetime.date(2000 + i // 12, 1 + i % 12, 3) for i in range(48)]
    release = cr.Dataset.from_frame(pa.table({"d": days}), quasi_identifiers=["d"], person="each record")
    made = plan(release, k=3, suppression=0).apply(release)
    counts = made.frame.group_by("d").aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(counts) >= 3
    assert len(counts) == 16


def test_what_is_recoded_and_by_which_hierarchy(tmp_path: Path) -> None:
    table = pa.table({"age": [30, 31, 41, 44], "income": [1, 2, 3, 4]})
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["income"]}
    for methods in ({"income": "intervals"}, {"income": "nose:0.5"}):
        with pytest.raises(ColumnError, match="'income' is not a quasi-identifier") as found:
            cr.anonymize(table, k=2, methods=methods, **roles, person="each record")
        assert "a mask for other columns" in str(found.value)
    with pytest.raises(ColumnError, match=r"'agee' does not exist \(did you mean 'age'\?\)"):
        cr.anonymize(table, k=2, methods={"agee": "intervals"}, **roles, person="each record")
    file = tmp_path / "age.csv"
    file.write_text("30;thirties;*\n31;thirties;*\n41;forties;*\n44;forties;*\n")
    made = cr.anonymize(table, k=2, hierarchies={"age": file}, **roles, person="each record")
    assert set(made.frame["age"].to_pylist()) == {"thirties", "forties"}


def test_codes_are_not_put_into_intervals() -> None:
    """What lies between two codes means nothing, so they are kept or become "other"."""
    rng = np.random.default_rng(1)
    table = pa.table({name: rng.integers(1, 12, 300) for name in ("ward_id", "children")})
    made = {one.name: one for one in plan(table, k=5, quasi_identifiers=table.column_names).columns}
    assert {type(step).__name__ for step in made["ward_id"].coarser} == {"FrequentValues"}
    assert {type(step).__name__ for step in made["children"].coarser} == {"Intervals"}
    asked = plan(table, k=5, quasi_identifiers=["ward_id"], methods={"ward_id": "intervals"})
    assert {type(step).__name__ for step in asked.columns[0].coarser} == {"Intervals"}


@pytest.mark.parametrize("each_column", [True, False])
def test_no_value_of_one_person_follows_from_a_mean(each_column: bool) -> None:
    """Whoever knows all incomes of a group but the highest subtracts them from the sum."""
    draw = np.random.default_rng(2)
    incomes = np.round(np.append(draw.lognormal(10.5, 0.6, 199), 1_234_567.89), 2)
    release = cr.Dataset.from_frame(pl.DataFrame({"x": incomes}), quasi_identifiers=["x"])
    made = plan(release, k=10, each_column=each_column, representative="mean").apply(release, shuffle=False)
    labels = made.frame["x"].to_numpy()
    for label in np.unique(labels):
        group = np.sort(incomes[labels == label])
        claimed = label * group.size - group[:-1].sum()
        assert abs(claimed - group[-1]) > 0.01
        assert not (np.abs(label * group.size - (group.sum() - group)) < 0.01).any()


@pytest.mark.parametrize("each_column", [True, False])
def test_a_median_is_nobody_s_exact_value(each_column: bool) -> None:
    draw = np.random.default_rng(2)
    incomes = np.round(draw.lognormal(10.5, 0.6, 205), 2)
    ages = draw.permutation(np.arange(205) * 3 + 1)
    release = cr.Dataset.from_frame(pl.DataFrame({"x": incomes, "age": ages}), quasi_identifiers=["x", "age"])
    made = plan(release, k=15 if each_column else 4, each_column=each_column, representative="median").apply(
        release, shuffle=False
    )
    assert not np.isin(made.frame["x"].to_numpy(), incomes).any()
    for label in np.unique(made.frame["age"].to_numpy()):
        group = np.sort(ages[made.frame["age"].to_numpy() == label])
        assert (
            group.size == 205 or np.sum(np.abs(group - label) <= 3 * (group[-1] - group[0]) / group.size) >= 3
        )


def test_equal_values_stay_as_they_are() -> None:
    release = cr.Dataset.from_frame(pa.table({"x": [20] * 30 + [40] * 30}), quasi_identifiers=["x"])
    made = plan(release, k=5, each_column=True, representative="mean").apply(release)
    assert set(made.data.to_arrow()["x"].to_pylist()) == {20.0, 40.0}
