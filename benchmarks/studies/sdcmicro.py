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
FEWER_KEYS = ["urbrur", "roof", "walls", "relat", "sex"]
MORE = """
suppressWarnings(suppressMessages(library(sdcMicro))); data(testdata2); data(testdata)
out <- function(x, name) write.csv(x, file.path(FOLDER, name), row.names = FALSE, na = "")
keys <- c("urbrur", "roof", "walls", "relat", "sex")
sdc <- createSdcObj(testdata2, keyVars = keys, weightVar = "sampling_weight", hhId = "ori_hid")
out(testdata2, "testdata2.csv"); out(as.data.frame(sdc@risk$individual), "testdata2_r.csv")
out(as.data.frame(localSuppression(sdc, k = 3)@manipKeyVars), "testdata2_ls_r.csv")
out(data.frame(k = c(2, 3, 5), violations = sapply(c(2, 3, 5), function(k)
  kAnon_violations(sdc, weighted = FALSE, k = k))), "testdata2_k_r.csv")
keys <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
sdc <- createSdcObj(testdata, keyVars = keys, weightVar = "sampling_weight")
sdc <- localSuppression(addGhostVars(sdc, keyVar = "relat", ghostVars = "age"), k = 3)
out(data.frame(relat = sdc@manipKeyVars$relat, age = sdc@manipGhostVars$age), "ghost_r.csv")
"""
"""What `sdc_bench.R` does not write: testdata2 with households, and ghost variables."""


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    if not (folder / "suda_r.csv").exists() and not _run_peer(folder):
        return 1
    parts = (_risks, _suda, _small, _suppressed, _masks, _testdata2, _ghosts)
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
    return (name, f"{np.nanmean(theirs):.6g}", f"{np.nanmean(ours):.6g}", _gap(theirs, ours), seconds)


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
        _row("household risk, over persons", _column(objects, "hier_risk"), _column(found, "household_risk")),
    ]


def _suda(folder: Path) -> list[tuple[str, ...]]:
    table = csv.read_csv(folder / "testdata.csv")
    theirs = csv.read_csv(folder / "suda_r.csv")
    found, seconds = _timed(
        lambda: singling_out.record_risks(table, KEYS, max_columns=len(KEYS), sampling_fraction=0.01).records
    )
    return [
        _row("SUDA score", _column(theirs, "score7"), _column(found, "suda_score"), seconds),
        _row("DIS-SUDA score", _column(theirs, "dis7"), _column(found, "dis_suda_score")),
    ]


def _small(folder: Path) -> list[tuple[str, ...]]:
    table, theirs = csv.read_csv(folder / "francdat.csv"), csv.read_csv(folder / "franc_r.csv")
    keys = ["Key1", "Key2", "Key3", "Key4"]
    found = singling_out.record_risks(table, keys, weight="w", missing="wildcard").records
    return [_row("francdat, individual risk", _column(theirs, "exact"), _column(found, "journalist_risk"))]


def _suppressed(folder: Path) -> list[tuple[str, ...]]:
    """Values removed by local suppression; theirs counts a missing value as any value."""
    table = csv.read_csv(folder / "testdata.csv")
    rows = []
    for k in (3, 5):
        removed = _missing(csv.read_csv(folder / f"ls_r_{k}.csv"), KEYS)
        for missing in ("wildcard", "value"):
            work = partial(masking.local_suppression, table, KEYS, k=k, missing=missing)
            made, seconds = _timed(work)
            name = f"values removed by local suppression, k = {k}, missing as {missing}"
            rows.append(_row(name, removed, _missing(made, KEYS), seconds))
    return rows


def _missing(table: pa.Table, columns: list[str]) -> Any:
    return np.array([float(sum(table[name].null_count for name in columns))])


def _more(folder: Path) -> bool:
    if not (folder / "ghost_r.csv").exists() and shutil.which("Rscript") is not None:
        code = f"FOLDER <- '{folder}'\n{MORE}"
        subprocess.run(["Rscript", "-e", code], check=False, stdout=subprocess.DEVNULL)
    return (folder / "ghost_r.csv").exists()


def _testdata2(folder: Path) -> list[tuple[str, ...]]:
    if not _more(folder):
        return []
    table, theirs = csv.read_csv(folder / "testdata2.csv"), csv.read_csv(folder / "testdata2_r.csv")
    found = singling_out.record_risks(
        table, FEWER_KEYS, weight="sampling_weight", household="ori_hid", missing="wildcard"
    ).records
    columns = {
        "fk": "class_size",
        "Fk": "population_class_size",
        "risk": "journalist_risk",
        "hier_risk": "household_risk",
    }
    rows = [
        _row(f"testdata2, {name}", _column(theirs, name), _column(found, ours))
        for name, ours in columns.items()
    ]
    violations = csv.read_csv(folder / "testdata2_k_r.csv")
    sizes = _column(found, "class_size")
    own = np.array([float((sizes < k).sum()) for k in violations["k"].to_pylist()])
    rows.append(_row("testdata2, records below k = 2, 3, 5", _column(violations, "violations"), own))
    made, seconds = _timed(partial(masking.local_suppression, table, FEWER_KEYS, k=3, missing="wildcard"))
    theirs = csv.read_csv(folder / "testdata2_ls_r.csv")
    pair = _missing(theirs, FEWER_KEYS), _missing(made, FEWER_KEYS)
    return [*rows, _row("testdata2, values removed, k = 3", *pair, seconds)]


def _ghosts(folder: Path) -> list[tuple[str, ...]]:
    """A ghost variable is missing exactly where its key is: the records in which they differ."""
    if not _more(folder):
        return []
    table, theirs = csv.read_csv(folder / "testdata.csv"), csv.read_csv(folder / "ghost_r.csv")
    made = masking.local_suppression(table, KEYS, k=3, missing="wildcard", ghosts={"relat": ("age",)})
    apart = [
        np.array(
            [
                float(
                    sum(
                        a != b
                        for a, b in zip(
                            one["relat"].is_null().to_pylist(), one["age"].is_null().to_pylist(), strict=True
                        )
                    )
                )
            ]
        )
        for one in (theirs, made)
    ]
    return [_row("ghost variable unlike its key, records", apart[0], apart[1])]


def _masks(folder: Path) -> list[tuple[str, ...]]:
    rows = []
    for name in ("CASC", "EIA", "Tarragona"):
        table = csv.read_csv(folder / f"{name}.csv")
        for k in (3, 5, 10):
            theirs = csv.read_csv(folder / f"mdav_r_{name}_{k}.csv")
            columns = theirs.column_names
            before, after = (np.column_stack([_column(one, c) for c in columns]) for one in (table, theirs))
            schema = pa.schema([(c, pa.float64()) for c in columns])
            numbers = table.select(columns).cast(schema)
            made, seconds = _timed(partial(masking.mdav, numbers, columns, k=k, exact=True))
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
