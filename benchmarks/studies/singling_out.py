"""Every quantity of all subsets of Adult, and the search for quasi-identifiers in wide tables."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import data, measure

# A table of people: a few telling columns, many that tell little.
MIXED = [2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 10, 12, 16, 20, 30, 50, 80, 100, 300]


def all_subsets(path: str) -> dict[str, Any]:
    """Every quantity of all 1,023 subsets, after the scan, on one core."""
    import crypsis as cr
    from crypsis.singling_out import column_sets

    release = cr.read(path)
    release.cells(data.TEN)
    column_sets(release, data.TEN, population=300_000_000, max_columns=1)  # the kernels are compiled
    start, cpu = time.perf_counter(), time.process_time()
    found = column_sets(release, data.TEN, population=300_000_000)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu_seconds": used, "sets": len(found)}


def wide_search(kind: str, alpha: float, largest: int) -> dict[str, Any]:
    """The search for quasi-identifiers in a wide table, scan included."""
    import crypsis as cr
    from crypsis.singling_out import find_quasi_identifiers

    warm = pa.table({"a": np.arange(300) % 90, "b": np.arange(300) % 7, "c": np.arange(300) % 5})
    find_quasi_identifiers(warm)
    release = _diabetes() if kind == "diabetes130" else cr.Dataset.from_frame(_people())
    start, cpu = time.perf_counter(), time.process_time()
    found = find_quasi_identifiers(release, alpha, columns=list(release.names), max_columns=largest)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    return {
        "rows": found.rows,
        "columns": len(found.columns),
        "alpha": alpha,
        "largest": largest,
        "seconds": seconds,
        "cpu_seconds": used,
        "found": len(found.found),
        "tried": found.tried,
        "ruled_out": found.ruled_out,
        "complete": found.complete,
    }


def _diabetes() -> Any:
    import crypsis as cr

    release = cr.read(data.diabetes(), missing_markers=["?"])
    release.cells(list(release.names))
    return release


def _people() -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table({f"c{i}": draw.integers(0, d, 1_000_000) for i, d in enumerate(MIXED)})


def main() -> None:
    answer = measure.alone(all_subsets, data.adult()).answer
    found: dict[str, Any] = {"all_subsets": answer}
    print(json.dumps(found, indent=2), flush=True)
    for kind, alpha, largest in (("diabetes130", 0.5, 4), ("people", 0.5, 5)):
        run = measure.alone(wide_search, kind, alpha, largest)
        found[kind] = {**run.answer, "peak_mb": run.peak_mb}
        print(kind, json.dumps(found[kind]), flush=True)
    measure.write("singling_out_study", found)


if __name__ == "__main__":
    main()
