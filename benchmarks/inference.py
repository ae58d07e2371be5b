"""Leakage of 10^9 rows against raw DuckDB; k, l and t against pyCANON.

pyCANON lives in an environment of its own (`python -m venv DIR; DIR/bin/pip install pycanon`);
CRYPSIS_PYCANON names its Python, and without it that part is left out. CRYPSIS_BENCH_ROWS asks for
fewer rows.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks import measure

ROWS = int(os.environ.get("CRYPSIS_BENCH_ROWS", 1_000_000_000))
PEER = Path(__file__).with_name("peers") / "pycanon_peer.py"
PAPER = "itpr2019, section 5.3: 19 s for 10^9 rows on 4 nodes with 100 workers of one core each"
ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status"),
    *("occupation", "relationship", "race", "sex", "capital-gain", "capital-loss"),
    *("hours-per-week", "native-country", "income"),
]
EIGHT = [
    *("age", "workclass", "education", "marital-status", "occupation", "race", "sex"),
    "native-country",
]

Answer = tuple[int, int, float]


def inference_ours(path: str) -> Answer:
    """How well the disease can be inferred from the age: everything `leakage` reports."""
    import crypsis as cr
    from crypsis.inference import leakage

    found = leakage(cr.read(path), "disease", ["age"])
    return found.groups, found.rows, round(found.conditional_entropy_bits, 9)


def identity_ours(path: str) -> Answer:
    """How well a row is told by its age; that the id is unique is declared."""
    import crypsis as cr
    from crypsis.inference import leakage

    found = leakage(cr.read(path), "id", ["age"], unique=True)
    return found.groups, found.rows, round(found.conditional_entropy_bits, 9)


def command_line_ours(path: str) -> Answer:
    """Both at once, from the command line."""
    from crypsis.cli import run

    arguments = ["leak", path, "--target", "disease", "--target", "id", "--unique", "id"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = run([*arguments, "--given", "age", "--json"])
    assert status == 0
    found = json.loads(printed.getvalue())["result"]["targets"]
    assert found[1]["uniqueness"] == "declared"
    first = found[0]
    return first["groups"], first["rows"], round(first["conditional_entropy_bits"], 9)


def inference_raw(path: str) -> Answer:
    table = _raw(f"SELECT age, disease, count(*) AS n FROM '{path}' GROUP BY age, disease")
    import numpy as np

    _, member = np.unique(table["age"].to_numpy(), return_inverse=True)
    counts = table["n"].to_numpy()
    sizes = np.bincount(member, counts)
    left = -(counts * np.log2(counts / sizes[member])).sum() / sizes.sum()
    return sizes.size, int(sizes.sum()), round(float(left), 9)


def identity_raw(path: str) -> Answer:
    table = _raw(f"SELECT age, count(*) AS n FROM '{path}' GROUP BY age")
    import numpy as np

    sizes = table["n"].to_numpy()
    left = (sizes * np.log2(sizes)).sum() / sizes.sum()
    return sizes.size, int(sizes.sum()), round(float(left), 9)


def _raw(sql: str) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    relation = connection.sql(sql)
    assert relation is not None
    return relation.to_arrow_table()


def generate(path: Path) -> None:
    """(id, age, disease): every id once, 120 ages, 100 diseases of which some go with some ages."""
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql(
        f"""COPY (SELECT i AS id, age::SMALLINT AS age,
        'd' || (CASE WHEN h % 4 = 0 THEN age % 100 ELSE (h >> 8) % 100 END) AS disease
        FROM (SELECT i, hash(i) % 120 AS age, hash(i * 7 + 1) AS h FROM range({ROWS}) t(i)))
        TO '{path}' (FORMAT parquet, PARQUET_VERSION v2)"""
    )


def anonymity_ours(path: str) -> tuple[float, tuple[int, int, float]]:
    """k, l and t of a frame in memory, and the seconds for them alone."""
    import pandas

    from crypsis.inference import diversity

    frame = pandas.read_csv(path, names=ADULT_COLUMNS, skipinitialspace=True)
    start = time.perf_counter()
    found = diversity(frame, quasi_identifiers=EIGHT, sensitive=["income"])
    seconds = time.perf_counter() - start
    return seconds, (found.k, found.distinct_l, round(found.t, 9))


def anonymity_pycanon(path: str) -> tuple[float, tuple[int, int, float]]:
    """The same by pyCANON, in its own environment; it times itself the same way."""
    found = json.loads(_peer("time", path))
    return found["seconds"], (found["k"], found["l"], round(found["t"], 9))


def _peer(*arguments: str) -> str:
    python = os.environ["CRYPSIS_PYCANON"]
    done = subprocess.run(
        [python, str(PEER), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout


def against_pycanon(runs: int = 3) -> tuple[list[measure.Comparison], dict[str, Any]]:
    """Take turns; each side in a fresh process, loading and importing left out on both."""
    if "CRYPSIS_PYCANON" not in os.environ:
        print("CRYPSIS_PYCANON is not set: nothing to compare k, l and t with")
        return [], {}
    adult = str(measure.DATA / "adult" / "adult.data")
    ours, theirs = [], []
    for _ in range(runs):
        ours.append(measure.run(anonymity_ours, adult))
        theirs.append(measure.run(anonymity_pycanon, adult))
    our_time = statistics.median(run.answer[0] for run in ours)
    their_time = statistics.median(run.answer[0] for run in theirs)
    found = measure.Comparison(
        task="k, l and t of eight quasi-identifiers, income sensitive",
        size="Adult, 32,561 rows, a frame in memory",
        theirs_is="pyCANON",
        ours_seconds=our_time,
        theirs_seconds=their_time,
        ratio=our_time / their_time,
        equal=all(run.answer[1] == theirs[0].answer[1] for run in ours),
        ours_peak_mb=max(run.peak_mb for run in ours),
        theirs_peak_mb=0.0,
        runs=runs,
        warm=False,
    )
    print(found.line(), flush=True)
    return [found], {"pycanon": json.loads(_peer("cases"))}


def main() -> None:
    found, extra = against_pycanon()
    path = measure.WORK / "inference" / "people.parquet"
    generate(path)
    size = f"{ROWS:,} rows, Parquet, {path.stat().st_size / 1e9:.1f} GB"
    tasks = (
        ("inference: disease from age", inference_ours, inference_raw),
        ("re-identification: id from age, id declared unique", identity_ours, identity_raw),
        ("both, by `crypsis leak`", command_line_ours, inference_raw),
    )
    try:
        for task, ours, raw in tasks:
            found.append(
                measure.side_by_side(
                    task, size, ours, raw, str(path), theirs_is="raw DuckDB group-by", runs=5
                )
            )
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)
    print(f"{PAPER}; here on {os.cpu_count()} cores")
    measure.save("inference", found, paper=PAPER, **extra)


if __name__ == "__main__":
    main()
