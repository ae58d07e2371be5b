"""The numbers of sdcMicro on its own data beside ours, and the processor time of both.

python -m benchmarks.studies.sdcmicro OUT

OUT is the folder that `sdc_bench.R` of the peers (`CRYPSIS_PEERS`, by default ../shared/peers) has
written, or shall write: it needs R with sdcMicro (`R_LIBS`). What cannot be run is named and left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from crypsis import linkage, singling_out, utility
from crypsis.protection import masking

PEERS = Path(os.environ.get("CRYPSIS_PEERS", Path(__file__).parents[3] / "shared" / "peers"))
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    if not (folder / "suda_r.csv").exists() and not _run_peer(folder):
        return 1
    parts = (_risks, _suda, _small, _suppressed, _masks)
    rows = [row for part in parts for row in part(folder)]
    print("| number | sdcMicro | crypsis | largest difference | CPU seconds, ours |")
    print("| --- | --- | --- | --- | --- |")
    for name, theirs, ours, gap, seconds in rows:
        print(f"| {name} | {theirs} | {ours} | {gap} | {seconds} |")
    print("\nCPU seconds of sdcMicro (medians):")
    for line in _their_times(folder):
        print(line)
    return 0


def _run_peer(folder: Path) -> bool:
    script = PEERS / "sdcmicro" / "sdc_bench.R"
    if shutil.which("Rscript") is None or not script.exists():
        print(f"sdcMicro is left out: no Rscript, or no {script}", file=sys.stderr)
        return False
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(["Rscript", str(script), str(folder)], check=False).returncode == 0


def _column(table: pa.Table, name: str) -> Any:
    return np.array(table[name].to_pylist(), float)


def _timed(work: Callable[[], Any]) -> tuple[Any, str]:
    work()  # what is compiled or imported counts once
    start = time.process_time()
    found = work()
    return found, f"{time.process_time() - start:.3f}"


def _gap(one: Any, two: Any) -> str:
    return f"{float(np.nanmax(np.abs(one - two))):.2g}"


def _row(name: str, theirs: Any, ours: Any, seconds: str = "") -> tuple[str, ...]:
    return (
        name,
        f"{np.nanmean(theirs):.6g}",
        f"{np.nanmean(ours):.6g}",
        _gap(theirs, ours),
        seconds,
    )


def _risks(folder: Path) -> list[tuple[str, ...]]:
    table = csv.read_csv(folder / "testdata.csv")
    found, seconds = _timed(
        lambda: (
            singling_out.record_risks(
                table, KEYS, weight="sampling_weight", household="ori_hid", missing="wildcard"
            ).records
        )
    )
    theirs = csv.read_csv(folder / "risk_r.csv")
    objects = csv.read_csv(folder / "obj_risk_r.csv")
    risk, exact = _column(found, "journalist_risk"), _column(theirs, "exact")
    small = _column(theirs, "fk") <= 20
    return [
        _row("frequencies fk", _column(theirs, "fk"), _column(found, "class_size"), seconds),
        _row("weighted Fk", _column(theirs, "Fk"), _column(found, "population_class_size")),
        _row("individual risk, approximation", _column(theirs, "approx"), risk),
        _row("individual risk, exact, fk up to 20", exact[small], risk[small]),
        _row("household risk, over persons", _column(objects, "hier_risk"),
             _column(found, "household_risk")),
    ]  # fmt: skip


def _suda(folder: Path) -> list[tuple[str, ...]]:
    table = csv.read_csv(folder / "testdata.csv")
    theirs = csv.read_csv(folder / "suda_r.csv")
    found, seconds = _timed(
        lambda: (
            singling_out.record_risks(
                table, KEYS, max_columns=len(KEYS), sampling_fraction=0.01
            ).records
        )
    )
    return [
        _row("SUDA score", _column(theirs, "score7"), _column(found, "suda_score"), seconds),
        _row("DIS-SUDA score", _column(theirs, "dis7"), _column(found, "dis_suda_score")),
    ]


def _small(folder: Path) -> list[tuple[str, ...]]:
    table, theirs = csv.read_csv(folder / "francdat.csv"), csv.read_csv(folder / "franc_r.csv")
    keys = ["Key1", "Key2", "Key3", "Key4"]
    found = singling_out.record_risks(table, keys, weight="w", missing="wildcard").records
    return [
        _row(
            "francdat, individual risk", _column(theirs, "exact"), _column(found, "journalist_risk")
        )
    ]


def _suppressed(folder: Path) -> list[tuple[str, ...]]:
    """Values removed by local suppression; theirs counts a missing value as any value."""
    table = csv.read_csv(folder / "testdata.csv")
    rows = []
    for k in (3, 5):
        made, seconds = _timed(partial(masking.local_suppression, table, KEYS, k=k))
        theirs = csv.read_csv(folder / f"ls_r_{k}.csv")
        removed, own = (
            np.array([float(sum(one[c].null_count for c in KEYS))]) for one in (theirs, made)
        )
        name = f"values removed by local suppression, k = {k}"
        rows.append(_row(name, removed, own, seconds))
    return rows


def _masks(folder: Path) -> list[tuple[str, ...]]:
    rows = []
    for name in ("CASC", "EIA", "Tarragona"):
        table = csv.read_csv(folder / f"{name}.csv")
        for k in (3, 5, 10):
            theirs = csv.read_csv(folder / f"mdav_r_{name}_{k}.csv")
            columns = theirs.column_names
            before, after = (
                np.column_stack([_column(one, c) for c in columns]) for one in (table, theirs)
            )
            schema = pa.schema([(c, pa.float64()) for c in columns])
            numbers = table.select(columns).cast(schema)
            made, seconds = _timed(partial(masking.mdav, numbers, columns, k=k))
            ours = np.column_stack([_column(made, c) for c in columns])
            measures: tuple[tuple[str, Callable[[Any, Any], float]], ...] = (
                ("IL1s", utility.il1s),
                ("interval risk", lambda a, b: linkage.interval_risk(a, b).share),
            )
            for label, measure in measures:
                pair = np.array([measure(before, after)]), np.array([measure(before, ours)])
                rows.append(_row(f"MDAV {name} k = {k}, {label}", *pair, seconds))
                seconds = ""
    return rows


def _their_times(folder: Path) -> list[str]:
    table = csv.read_csv(folder / "times_r.csv")
    tasks, cpu = table["task"].to_pylist(), _column(table, "cpu")
    return [
        f"- {task}: {float(np.median(cpu[[one == task for one in tasks]])):.3f}"
        for task in dict.fromkeys(tasks)
    ]


if __name__ == "__main__":
    sys.exit(main())
