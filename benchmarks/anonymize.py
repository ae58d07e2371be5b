"""Anonymizing beside ANJANA, beside the optimal levels of ARX, and beside a plain scan-and-write.

ANJANA lives in an environment of its own (`python -m venv DIR; DIR/bin/pip install anjana`);
CRYPSIS_ANJANA names its Python, and without it that part is left out. The optimal levels are found
by our own exhaustive search, the optimum that ARX's lattice search has as well for this loss.
`CRYPSIS_LARGE_ROWS` sets the rows of the last part (10^8 unless set).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import measure

PEER = Path(__file__).with_name("peers") / "anjana_peer.py"
NAMES = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
TREES = measure.DATA / "hierarchies"
SIX = {
    "age": "age", "education": "education", "marital-status": "marital",
    "occupation": "occupation", "sex": "sex", "native-country": "country",
}  # fmt: skip
NINE = (
    "age education marital-status native-country occupation race salary-class sex workclass"
).split()
RUNS = 3


def adult() -> pd.DataFrame:
    """Adult without rows that have a `?`."""
    path = measure.DATA / "adult" / "adult.data"
    frame = pd.read_csv(path, names=NAMES, skipinitialspace=True)
    frame["salary-class"] = frame["income"]
    return frame[(frame != "?").all(axis=1)].reset_index(drop=True)


def trees(kind: str) -> dict[str, str]:
    if kind == "anjana":
        return {name: str(TREES / "anjana_adult" / f"{file}.csv") for name, file in SIX.items()}
    return {name: str(TREES / "arx_adult" / f"adult_hierarchy_{name}.csv") for name in NINE}


def ours_adult(path: str, kind: str, k: int, budget: float, local: bool) -> dict[str, Any]:
    """Plan, apply and measure, after a warm-up; data and hierarchies are read before the clock."""
    import crypsis as cr
    from crypsis.anonymize import Hierarchy, plan

    frame = pd.read_csv(path)
    files = trees(kind)
    read = {name: Hierarchy.read(file) for name, file in files.items()}
    for _ in range(2):
        start, cpu = time.perf_counter(), time.process_time()
        release = cr.Release.from_frame(frame, quasi_identifiers=list(files))
        made = plan(release, k=k, hierarchies=read, suppression=budget).apply(release, local=local)
        out = made.frame
        seconds, used = time.perf_counter() - start, time.process_time() - cpu
    assert made.measured is not None
    return {
        "seconds": seconds, "cpu_seconds": used, "rows": len(out), "k": made.measured.k,
        "ncp": made.loss.ncp, "ncp_of_labels": ncp_of(frame, out, files),
        "rows_suppressed": made.loss.rows_suppressed,
        "rows_with_suppressed_cells": made.loss.rows_with_suppressed_cells,
        "columns_emptied": list(made.loss.columns_emptied),
    }  # fmt: skip


def ncp_of(before: pd.DataFrame, after: pd.DataFrame, files: dict[str, str]) -> float:
    """NCP of released labels, the same for every maker; rows left out count in full."""
    from crypsis.anonymize import Hierarchy
    from crypsis.utility import ncp

    leaves, sizes = {}, {}
    for name, file in files.items():
        tree = Hierarchy.read(file)
        sizes[name] = len(tree.rows)
        leaves[name] = {
            label: len(values)
            for level in range(1, tree.height + 1)
            for label, values in tree.groups(level).items()
        }
    names = list(files)
    texts = after[names].astype(object).where(after[names].notna(), None)
    texts = texts.map(lambda v: None if v is None else str(v))
    return ncp(before[names].astype(str), texts, names, leaves=leaves, sizes=sizes)


def beside_anjana(python: str) -> dict[str, Any]:
    measure.WORK.mkdir(exist_ok=True)
    path, out = measure.WORK / "adult.csv", measure.WORK / "anjana.csv"
    frame = adult()
    frame.to_csv(path, index=False)
    asked = {"hierarchies": trees("anjana"), "k": 10, "suppression_percent": 50}
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(measure.run(ours_adult, str(path), "anjana", 10, 0.5, True).answer)
        command = [python, str(PEER), str(path), str(out), json.dumps(asked)]
        done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        theirs.append(json.loads(done.splitlines()[-1]))
    found = {"ours": ours[-1], "anjana": theirs[-1]}
    found["anjana"]["ncp_of_labels"] = ncp_of(frame, pd.read_csv(out), trees("anjana"))
    for clock in ("seconds", "cpu_seconds"):
        mine = statistics.median(run[clock] for run in ours)
        found[f"times_faster_by_{clock}"] = statistics.median(r[clock] for r in theirs) / mine
    return found


def beside_optimal_levels() -> dict[str, Any]:
    measure.WORK.mkdir(exist_ok=True)
    path = measure.WORK / "adult.csv"
    adult().to_csv(path, index=False)
    return {
        name: measure.run(ours_adult, str(path), "arx", 5, 0.04, local).answer
        for name, local in (("local", True), ("optimal_levels", False))
    }


def wide(path: str, out: str) -> dict[str, Any]:
    """250,000 rows x 261 columns, k = 10,000, Parquet to Parquet (the paper: 10 s a column)."""
    import crypsis as cr
    from crypsis.anonymize import plan

    release = cr.read(path, quasi_identifiers=[f"v{i}" for i in range(261)])
    made = plan(release, k=10_000, each_column=True, representative="median")
    made.apply(release, verify=False).write(out, overwrite=True)  # the file itself is measured
    return {"bytes": Path(out).stat().st_size}


def clustering() -> dict[str, Any]:
    """10^6 distinct values, k = 10,000, every cost."""
    from crypsis.anonymize import cluster

    values = np.random.default_rng(0).normal(size=1_000_000)
    found: dict[str, Any] = {}
    for cost in ("squares", "median", "cellular", "center"):
        cluster(values[:1_000], 10, cost=cost)  # the kernels are compiled
        start, cpu = time.perf_counter(), time.process_time()
        cluster(values, 10_000, cost=cost)
        found[cost] = {
            "seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu,
        }  # fmt: skip
    return found


def ours_sampled(path: str, out: str) -> int:
    """One column in 20 sampled quantile groups, written and measured."""
    import crypsis as cr
    from crypsis.anonymize import plan

    release = cr.read(path, quasi_identifiers=["x"], memory_limit="1GB")
    k = release.count // 25
    made = plan(release, k=k, each_column=True, representative="median", rank_error=0.005)
    made.apply(release, verify=False).write(out, overwrite=True)
    return int(pq.ParquetFile(out).metadata.num_rows)


def scan_and_write(path: str, out: str) -> int:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "1GB"})
    connection.sql(f"SELECT * FROM read_parquet('{path}')").write_parquet(out, compression="zstd")
    return int(pq.ParquetFile(out).metadata.num_rows)


def large_file(rows: int) -> Path:
    measure.WORK.mkdir(exist_ok=True)
    path = measure.WORK / f"large-{rows}.parquet"
    if not path.exists():
        draw = np.random.default_rng(0)
        with pq.ParquetWriter(path, pa.schema([("x", pa.float64())])) as writer:
            for start in range(0, rows, 1_000_000):
                size = min(1_000_000, rows - start)
                writer.write_table(pa.table({"x": draw.normal(size=size)}))
    return path


def wide_file() -> Path:
    measure.WORK.mkdir(exist_ok=True)
    path = measure.WORK / "wide.parquet"
    if not path.exists():
        draw = np.random.default_rng(0)
        columns = {
            f"v{i}": draw.normal(size=250_000) if i % 2 else draw.integers(0, 10**6, 250_000)
            for i in range(261)
        }
        pq.write_table(pa.table(columns), path)
    return path


def main() -> None:
    found: dict[str, Any] = {}
    python = os.environ.get("CRYPSIS_ANJANA")
    if python is not None:
        found["adult_beside_anjana"] = beside_anjana(python)
    found["nine_arx_hierarchies"] = beside_optimal_levels()
    found["clustering_a_million_values"] = measure.run(clustering).answer
    run = measure.run(wide, str(wide_file()), str(measure.WORK / "wide-out.parquet"))
    found["wide"] = {"seconds": run.seconds, "cpu_seconds": run.cpu_seconds, "peak_mb": run.peak_mb}
    for part, value in found.items():
        print(part, json.dumps(value, indent=2), flush=True)
    rows = int(os.environ.get("CRYPSIS_LARGE_ROWS", "100000000"))
    large = str(large_file(rows))
    compared = measure.side_by_side(
        "sampled quantile groups of one column", f"{rows:,} rows", ours_sampled, scan_and_write,
        large, str(measure.WORK / "large-out.parquet"), theirs_is="DuckDB scan and write", runs=1,
    )  # fmt: skip
    measure.save("anonymize", [compared], **found)


if __name__ == "__main__":
    main()
