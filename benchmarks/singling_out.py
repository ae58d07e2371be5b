"""All subsets of Adult against pyCANON, and the search for quasi-identifiers in wide tables.

pyCANON lives in an environment of its own (`python -m venv DIR; DIR/bin/pip install pycanon`);
CRYPSIS_PYCANON names its Python, and without it that part is left out. On a machine that others use
too, processor seconds are what to compare.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import measure

PEER = Path(__file__).with_name("peers") / "pycanon_subsets.py"
NAMES = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
TEN = [name for name in NAMES if name not in
       ("fnlwgt", "education-num", "capital-gain", "capital-loss", "income")]  # fmt: skip
SAMPLE = 100
RUNS = 3
# A table of people: a few telling columns, many that tell little.
MIXED = [2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 10, 12, 16, 20, 30, 50, 80, 100, 300]


def all_subsets(path: str) -> dict[str, Any]:
    """Every quantity of all 1,023 subsets, after the scan, on one core."""
    import crypsis as cr
    from crypsis.singling_out import column_sets

    release = cr.read(path, names=NAMES)
    release.cells(TEN)
    column_sets(release, TEN, population=300_000_000, largest=1)  # the kernels are compiled
    start, cpu = time.perf_counter(), time.process_time()
    found = column_sets(release, TEN, population=300_000_000)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    cells = release.cells(TEN)
    smallest = {subset.columns: subset.smallest for subset in cells.subsets()}
    k = {"|".join(one.columns): smallest[one.columns] for one in found}
    return {"seconds": seconds, "cpu_seconds": used, "sets": len(found), "k": k}


def wide_search(kind: str, alpha: float, largest: int) -> dict[str, Any]:
    """The search for quasi-identifiers in a wide table, scan included."""
    import crypsis as cr
    from crypsis.singling_out import find_quasi_identifiers

    warm = pa.table({"a": np.arange(300) % 90, "b": np.arange(300) % 7, "c": np.arange(300) % 5})
    find_quasi_identifiers(warm)
    with tempfile.TemporaryDirectory() as folder:
        release = _diabetes(folder) if kind == "diabetes130" else cr.Release.from_frame(_people())
        start, cpu = time.perf_counter(), time.process_time()
        found = find_quasi_identifiers(release, alpha, columns=list(release.names), largest=largest)
        seconds, used = time.perf_counter() - start, time.process_time() - cpu
    return {
        "rows": found.rows, "columns": len(found.columns), "alpha": alpha, "largest": largest,
        "seconds": seconds, "cpu_seconds": used, "found": len(found.found),
        "tried": found.tried, "ruled_out": found.ruled_out, "complete": found.complete,
    }  # fmt: skip


def _diabetes(folder: str) -> Any:
    import crypsis as cr

    archive = measure.DATA / "diabetes130" / "dataset_diabetes.zip"
    with zipfile.ZipFile(archive) as files:
        files.extract("dataset_diabetes/diabetic_data.csv", folder)
    path = Path(folder) / "dataset_diabetes" / "diabetic_data.csv"
    release = cr.read(path, missing_markers=["?"])
    release.cells(list(release.names))  # the file goes with its folder
    return release


def _people() -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table({f"c{i}": draw.integers(0, d, 1_000_000) for i, d in enumerate(MIXED)})


def beside_pycanon(python: str, path: str) -> dict[str, Any]:
    """pyCANON's k for 100 of the subsets, in turns with ours for all of them."""
    every = [list(c) for size in range(1, 11) for c in itertools.combinations(TEN, size)]
    sample = random.Random(0).sample(every, SAMPLE)
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(measure.run(all_subsets, path).answer)
        command = [python, str(PEER), path, json.dumps(NAMES), json.dumps(sample)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        theirs.append(json.loads(answer))
    result: dict[str, Any] = {"sampled_subsets": SAMPLE}
    for clock in ("seconds", "cpu_seconds"):
        mine = statistics.median(run[clock] for run in ours) / ours[0]["sets"]
        peer = statistics.median(run[clock] for run in theirs) / SAMPLE
        result[f"ours_{clock}_for_all"] = mine * ours[0]["sets"]
        result[f"pycanon_{clock}_for_sample"] = peer * SAMPLE
        result[f"times_faster_by_{clock}"] = peer / mine
    result["equal_k"] = all(
        ours[0]["k"]["|".join(columns)] == k
        for columns, k in zip(sample, theirs[0]["k"], strict=True)
    )
    return result


def main() -> None:
    found: dict[str, Any] = {}
    path = str(measure.DATA / "adult" / "adult.data")
    python = os.environ.get("CRYPSIS_PYCANON")
    if python is None:
        answer = measure.run(all_subsets, path).answer
        found["all_subsets"] = {part: value for part, value in answer.items() if part != "k"}
    else:
        found["all_subsets_beside_pycanon"] = beside_pycanon(python, path)
    print(json.dumps(found, indent=2), flush=True)
    for kind, alpha, largest in (("diabetes130", 0.5, 4), ("people", 0.5, 5)):
        run = measure.run(wide_search, kind, alpha, largest)
        found[kind] = {**run.answer, "peak_mb": run.peak_mb}
        print(kind, json.dumps(found[kind]), flush=True)
    measure.save("singling_out", [], **found)


if __name__ == "__main__":
    main()
