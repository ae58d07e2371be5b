"""Every measure on a real Spark cluster: the same numbers, the same passes, and nothing left."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import demo, inference, linkage
from crypsis import protection as anonymize
from crypsis import singling_out as so
from crypsis.cli import run
from crypsis.columns.profile import scan
from crypsis.errors import OutputError, ParameterError, SourceError, TooLargeError
from crypsis.protection.recoding import _columns
from crypsis.tables.sampling import quantiles
from crypsis.tables.spark.backend import SparkBackend
from tests.cluster import Cluster
from tests.tables.passes import duckdb_passes, spark_passes

ROWS = 1500
QI = ["born", "sex", "zip"]
ROLES: dict[str, Any] = {
    "quasi_identifiers": QI,
    "sensitive": ["disease"],
    "excluded": ["birth_date", "score", "no"],
}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """A part of the sample, with record numbers, a number with holes and NaN, and few zip codes."""
    people = demo.people(ROWS)
    wanted = [name for name in people.column_names if name in ("birth_date", "sex", "zip", "disease")]
    small = people.select(wanted)
    random = np.random.default_rng(3)
    born = pa.array([1940 + v for v in random.integers(0, 30, ROWS)])
    score = [None if i % 50 == 0 else math.nan if i % 61 == 0 else i % 97 / 4 for i in range(ROWS)]
    for name, values in {"born": born, "score": pa.array(score), "no": pa.array(range(ROWS))}.items():
        small = small.append_column(name, values)
    digits = [None if v is None else str(v)[:2] for v in small["zip"].to_pylist()]
    return small.set_column(small.column_names.index("zip"), "zip", pa.array(digits))


@pytest.fixture(scope="module")
def file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cluster_data") / "people.parquet"
    pq.write_table(table, path, row_group_size=500)
    return path


def on(engine: str, file: Path) -> cr.Dataset:
    return cr.read(file, engine=engine, **ROLES, person="each record")


@pytest.fixture(scope="module")
def made(spark: Any, file: Path) -> Any:
    release = on("spark", file)
    return anonymize.plan(release, k=4).apply(release)


def _profiled(found: Any) -> Any:
    columns = [
        (c.column, c.kind, c.distinct, c.missing, c.unique_rows, c.smallest_class, c.largest_class)
        for c in found.columns
    ]
    return [columns, [pair.to_dict() for pair in found.most_identifying]]


def _planned(release: cr.Dataset) -> Any:
    made = anonymize.plan(release, k=4).apply(release)
    return [made.plan.model_dump(mode="json"), made.measured.to_dict(), made.loss.to_dict()]


def _each_column(release: cr.Dataset) -> Any:
    release = release.with_roles({**release.roles, "score": cr.Role.QUASI_IDENTIFIER})
    made = anonymize.plan(release, k=20, each_column=True).apply(release)
    return [made.plan.model_dump(mode="json"), made.measured.to_dict()]


def _merged(release: cr.Dataset) -> Any:
    """Diseases of fewer than 50 rows, so that a coarser step must be found for them."""
    known = dict.fromkeys(("born", "disease"), cr.Role.QUASI_IDENTIFIER)
    others = (name for name in release.names if name not in known)
    release = release.with_roles({**known, **dict.fromkeys(others, cr.Role.EXCLUDED)})
    made = anonymize.plan(release, k=50, each_column=True).apply(release)
    assert {one.step.method for one in made.plan.columns} == {"intervals", "frequent"}
    return [made.plan.model_dump(mode="json"), made.measured.to_dict()]


def _counted_by_the_engine(release: cr.Dataset) -> Any:
    def too_large(*_: Any) -> None:
        raise TooLargeError("too many")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cr.Dataset, "cells", too_large)
        return inference.leakage(release, "disease", exact=True).to_dict()


def _for_people(release: cr.Dataset) -> Any:
    made = anonymize.plan(release, k=20, population=20_000, release_k=4, diversity=2).apply(release)
    return [made.plan.model_dump(mode="json"), made.measured.to_dict()]


def _linked(release: cr.Dataset) -> Any:
    found = linkage.link(release, release, columns=["born"], on="no")
    return [np.asarray(found.distances).tolist(), found.to_dict()]


def _assessed(release: cr.Dataset) -> Any:
    told = cr.assess(release, policy="default", accept_guesses=True, seed=1).to_dict()
    told.pop("made")
    columns = told.pop("columns")
    # Roles that are guessed look at a sample, and a sample without a key is the engine's own.
    return [told, [(c["column"], c["role"], c["distinct"], c["missing"]) for c in columns]]


SLOW = ("profile", "sampled leakage, all of it", "leakage, exact")
"""Left to `make test-heavy`; `assess` asks for most of them."""
MEASURES: dict[str, Callable[[cr.Dataset], Any]] = {
    "profile": lambda r: _profiled(scan(r, limit=40)),
    "uniqueness": lambda r: so.uniqueness(r).to_dict(),
    "uniqueness, exact": lambda r: so.uniqueness(r, [*QI, "score"], exact=True).to_dict(),
    "equivalence classes": lambda r: so.equivalence_classes(r).to_dict(),
    "quasi-identifiers": lambda r: so.find_quasi_identifiers(r, 0.05, columns=QI).to_dict(),
    "sampled classes, all of them": lambda r: so.equivalence_classes(r, exact=False).to_dict(),
    "records at risk": lambda r: so.records_at_risk(r, threshold=0.4).count,
    "leakage": lambda r: inference.leakage(r, "disease", QI).to_dict(),
    "sampled leakage, all of it": lambda r: inference.leakage(r, "disease", sample=9999).to_dict(),
    "leakage, exact": _counted_by_the_engine,
    "diversity": lambda r: inference.attribute_disclosure(r).to_dict(),
    "assess": _assessed,
    "plan": _planned,
    "each column": _each_column,
    "each column, merged": _merged,
    "plan for a population": _for_people,
    "ranks": _linked,
    "quantiles": lambda r: {
        k: v.to_pylist() for k, v in quantiles(r.rows, ["score", "born", "no"], [0, 0.3, 1]).items()
    },
    "value counts": lambda r: {k: sorted(v.items()) for k, v in r.rows.value_counts(QI).items()},
}


# One pass for the cells, and one where a column of floats is counted, for the notations of its numbers,
# except: a profile and an assessment tally each column and draw a sample;
# an assessment also draws samples for predictions and
# to look for people whom nobody named;
# sampled classes are sketched first, leakage looks at the first rows (a sampled one is sketched and
# counts the target, too; an exact one counts groups and pairs), records are found by a join, a
# plan counts, measures, and draws a sample to look for columns that would undo it (for a population
# or each column it looks at the columns first, cuts them into quantiles, and counts the values from
# which the information loss is measured), and ranks are joined back to the rows, twice.
PASSES = {
    **dict.fromkeys(MEASURES, 1),
    "uniqueness, exact": 2,
    "profile": 9,
    "assess": 13,
    "sampled classes, all of them": 2,
    "records at risk": 2,
    "leakage": 2,
    "sampled leakage, all of it": 4,
    "leakage, exact": 5,
    "plan": 3,
    "each column": 5,
    "each column, merged": 6,
    "plan for a population": 7,
    "ranks": 4,
}
# A table that fits in memory is anonymized there, after one reading, and never takes more passes. Of a
# table on this machine the order of the first rows is looked at: two scans, which stop after these.
FITTING = PASSES | {"plan for a population": 6, "assess": 15}
# Asked of DuckDB as if the table did not fit, as none of a cluster is supposed to. Columns that would
# undo the release are then looked for in the rows of the original and of the release, not in a
# sample; where there are none that could, the rows of the release are counted, which Spark does
# without reading a column.
LARGE = {"plan": 4, "each column": 6, "each column, merged": 7, "plan for a population": 8}


def same(one: Any, other: Any) -> None:
    """Equal, floats to 1e-9 of their size."""
    if isinstance(one, float) and isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            same(value, other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    else:
        assert one == other


@pytest.mark.parametrize(
    "measure", [pytest.param(one, marks=[pytest.mark.heavy] if one in SLOW else []) for one in MEASURES]
)
def test_same_numbers_in_as_many_passes(
    spark: Any, file: Path, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = MEASURES[measure]
    with duckdb_passes(monkeypatch) as here:
        ours = ask(on("duckdb", file))
    opened = on("spark", file)
    with spark_passes(spark, ROWS) as there:
        theirs = ask(opened)
    same(ours, theirs)
    assert sum(here) == FITTING[measure], here
    assert sum(there) == PASSES[measure], there
    if measure in LARGE:
        monkeypatch.setattr(_columns, "IN_MEMORY_VALUES", 0)
        with duckdb_passes(monkeypatch) as large:
            same(ours, ask(on("duckdb", file)))
        assert sum(large) == LARGE[measure], large
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def test_too_many_cells_never_reach_the_driver(
    spark: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = on("spark", file).rows
    frame = type(rows.frame.to_native())
    monkeypatch.setattr(frame, "toArrow", lambda _: pytest.fail("rows came to the driver"))
    with pytest.raises(TooLargeError, match=r"more than 1,000 distinct.*equivalence_classes"):
        rows.cells(["no"], at_most=1000)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def test_rows_of_a_cluster_stay_there(spark: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkBackend, "max_values", 5000)
    release = on("spark", file)
    assert release.to_arrow(["no"]).num_rows == ROWS
    with pytest.raises(TooLargeError, match=r"1,500 rows of 4 columns.*write\(\)"):
        release.to_arrow(["no", *QI])


def test_an_answer_too_large_for_the_driver_says_what_to_do(spark: Any, file: Path) -> None:
    from pyspark.errors import PySparkException

    from crypsis.tables.spark.backend import translated

    with pytest.raises(TooLargeError, match=r"spark\.driver\.maxResultSize"), translated("counting"):
        raise PySparkException("results (1.2 GiB) is bigger than spark.driver.maxResultSize")
    with pytest.raises(SourceError, match="Spark refused") as told, translated("counting"):
        raise PySparkException("a value: 12345")
    assert "12345" not in str(told.value)


def test_applied_on_spark_it_is_a_spark_frame(spark: Any, made: Any) -> None:
    frame = made.frame
    assert type(frame) is type(spark.range(1))
    smallest = frame.groupBy(*QI).count().agg({"count": "min"}).collect()[0][0]
    assert smallest == made.measured.k >= 4
    assert frame.count() == made.measured.rows


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_release_is_written_by_executors_whole(made: Any, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"out.{form}"
    made.write(target)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"out.{form}", f"out.{form}.statement.json", f"out.{form}.statement.md"]
    back = cr.read(target if form == "parquet" else target / "*.csv", missing_markers=[""])
    assert back.count == made.measured.rows
    with pytest.raises(OutputError, match="exists already"):
        made.write(target)
    if form == "parquet":
        made.write(target, overwrite=True)
        assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_release_is_written_where_spark_can_and_this_machine_need_not(
    made: Any, file: Path, tmp_path: Path
) -> None:
    release = on("spark", file)
    target = (tmp_path / "there.parquet").as_uri()
    made.write(target, statement=False)
    assert [path.name for path in tmp_path.iterdir()] == ["there.parquet"]
    assert cr.read(target, engine="spark").count == made.measured.rows
    with pytest.raises(OutputError, match="exists already"):
        release.write(target)
    release.write(target, overwrite=True)
    assert cr.read(tmp_path / "there.parquet").count == ROWS
    with pytest.raises(OutputError, match="does not exist"):
        release.write((tmp_path / "no" / "there.parquet").as_uri())
    with pytest.raises(OutputError, match="exists already"):
        on("duckdb", file).write(target)


def test_a_job_that_fails_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    torn = f.when(f.col("id") == 77, f.raise_error(f.lit("a value"))).otherwise(f.col("id"))
    release = cr.Dataset.from_frame(spark.range(100, numPartitions=4).select(torn.alias("x")))
    for target in (tmp_path / "out.parquet", (tmp_path / "out.parquet").as_uri()):
        with pytest.raises(OutputError, match="Spark refused") as told:
            release.write(target)
        assert "a value" not in str(told.value)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_a_worker_dies_in_the_middle_of_a_job(spark: Any, cluster: Cluster) -> None:
    from pyspark.sql import functions as f

    count, parts = 240_000, 24
    slow = f.length(f.sha2(f.repeat(f.col("id").cast("string"), 200), 512)) == 128  # always
    frame = spark.range(count, numPartitions=parts).filter(slow)
    release = cr.Dataset.from_frame(frame.select((f.col("id") % 7).alias("a"), (f.col("id") % 5).alias("b")))
    found: list[Any] = []
    job = threading.Thread(target=lambda: found.append(release.cells(["a", "b"])))
    there = spark.sparkContext._jsc.sc()
    executors = there.getExecutorMemoryStatus().size()
    job.start()
    _await(lambda: _tasks_done(spark) >= 4)
    assert job.is_alive()
    cluster.kill_worker()
    job.join(timeout=120)
    cluster.add_worker()
    _await(lambda: there.getExecutorMemoryStatus().size() >= executors)
    numbers = np.arange(count)
    expected = np.bincount(numbers % 7 * 5 + numbers % 5, minlength=35)
    codes = found[0].codes
    np.testing.assert_array_equal(codes[0] * 5 + codes[1], np.arange(35))
    np.testing.assert_array_equal(found[0].counts, expected)


def _tasks_done(session: Any) -> int:
    tracker = session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def _await(ready: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_files_read_by_spark_are_as_read_by_duckdb(spark: Any, tmp_path: Path, suffix: str) -> None:
    lines = ["id;zip;n;x;day", "1;0123;5;1.5;2024-01-31", "2; 0456 ;NA;;2024-02-01", "3;?;7;2;"]
    path = tmp_path / f"few{suffix}"
    if suffix == ".csv":
        path.write_text("\n".join(lines) + "\n")
    elif suffix == ".jsonl":
        path.write_text('{"id": 1, "zip": "0123"}\n{"id": 2, "zip": null}\n')
    else:
        pq.write_table(pa.table({"id": [1, 2], "zip": ["0123", "?"]}), path)
    options: dict[str, Any] = {} if suffix != ".parquet" else {"missing_markers": ["?"]}
    here, there = (
        cr.read(path, **options, person="each record"),
        cr.read(path, engine="spark", **options, person="each record"),
    )
    assert [(c.name, c.kind) for c in here.rows.columns] == [(c.name, c.kind) for c in there.rows.columns]
    assert here.to_arrow().to_pylist() == there.to_arrow().sort_by("id").to_pylist()


def test_tables_and_queries_of_spark(spark: Any, file: Path) -> None:
    spark.read.parquet(file.as_uri()).createOrReplaceTempView("people")
    assert cr.read("", engine="spark", table="people").count == ROWS
    found = cr.read("", engine="spark", query="SELECT sex FROM people WHERE no < 10")
    assert (found.names, found.count) == (("sex",), 10)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"engine": "sparc"}, "'duckdb' or 'spark'"),
        ({"master": "local[2]"}, "engine='spark'"),
        ({"engine": "spark", "memory_limit": "1GB"}, r"spark\.executor\.memory"),
        ({"engine": "spark", "master": "spark://elsewhere:7077"}, "is running in this process"),
        ({"engine": "spark", "format": "excel"}, "does not read excel"),
    ],
)
def test_options_that_do_not_go_together(spark: Any, file: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        cr.read(file, **options, person="each record")


def test_the_command_line_on_the_cluster(
    spark: Any, cluster: Cluster, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["leak", str(file), "--target", "disease", "--given", "born", "--json"]
    assert run(words) == 0
    here = json.loads(capsys.readouterr().out)
    assert run([*words, "--engine", "spark", "--master", cluster.master]) == 0
    same(here, json.loads(capsys.readouterr().out))
    assert spark.range(5).count() == 5, "the session is still there"
