"""The suite of intruders and the posterior beside other record linkage: correct links, time, memory.

python -m benchmarks.studies.link_suite [calibration|peers|scale ...]

Writes benchmarks/results/link_suite_study.json and the tables of `docs/linkage.md`. Needs the data of
`CRYPSIS_DATA` (by default ../shared/data); what cannot be run is named and left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from benchmarks import measure
from benchmarks.environments import Unavailable
from benchmarks.measure import Contender
from benchmarks.tables import fill

DATA = Path(os.environ.get("CRYPSIS_DATA", measure.ROOT.parent / "shared" / "data"))
PAGE = measure.ROOT / "docs" / "linkage.md"
CENSUS = ["AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC"]
ADULT = {0: "age", 4: "education_num", 12: "hours", 6: "occupation", 5: "marital", 13: "country"}
SEED = 2016
PEERS = {
    "splink": Contender("splink", "benchmarks.peers.splink_peer", "link", "splink"),
    "recordlinkage": Contender(
        "recordlinkage", "benchmarks.peers.recordlinkage_peer", "link", "recordlinkage"
    ),
    "sdcMicro": Contender("sdcMicro", "benchmarks.studies.link_suite", "sdcmicro"),
    "Gower and Hungarian": Contender(
        "Gower and Hungarian", "benchmarks.studies.link_suite", "gower_hungarian"
    ),
}
OURS = {
    "suite": Contender("suite", "benchmarks.studies.link_suite", "suite"),
    "posterior": Contender("posterior", "benchmarks.studies.link_suite", "posterior"),
}


def census(rows: int = 600) -> pa.Table:
    """Records of the CASC file "Census", some of its columns."""
    table = csv.read_csv(DATA / "casc" / "CASCrefmicrodata.csv").select(CENSUS)
    chosen = np.sort(np.random.default_rng(SEED).permutation(table.num_rows)[:rows])
    return table.take(pa.array(chosen))


def adult(rows: int = 600) -> pa.Table:
    """People of Adult, numbers and categories."""
    read = csv.ReadOptions(autogenerate_column_names=True)
    table = csv.read_csv(DATA / "adult" / "adult.data", read_options=read)
    chosen = np.sort(np.random.default_rng(SEED).permutation(table.num_rows)[:rows])
    columns = {name: table.column(place).take(pa.array(chosen)) for place, name in ADULT.items()}
    texts = {"occupation", "marital", "country"}
    return pa.table(
        {
            name: pa.array([str(v).strip() for v in one.to_pylist()])
            if name in texts
            else one.cast(pa.float64())
            for name, one in columns.items()
        }
    )


def settings() -> dict[str, tuple[Callable[[], pa.Table], dict[str, str]]]:
    """Files and how they are masked."""
    names, half = CENSUS, len(CENSUS) // 2
    adults = {"age": "noise:0.3", "education_num": "rank-swap:10", "hours": "noise:0.3"}
    return {
        "Census, noise 0.25": (census, dict.fromkeys(names, "noise:0.25")),
        "Census, noise 0.02 and 1": (
            census,
            {n: "noise:0.02" if i < half else "noise:1" for i, n in enumerate(names)},
        ),
        "Census, rank swapping 15 %": (census, dict.fromkeys(names, "rank-swap:15")),
        "Adult, PRAM 0.8 and noise": (
            adult,
            adults | {"occupation": "pram:0.8", "marital": "pram:0.8", "country": "pram:0.9"},
        ),
    }


def _files(folder: str) -> tuple[pa.Table, pa.Table, dict[str, str]]:
    here = Path(folder)
    masks = json.loads((here / "masks.json").read_text(encoding="utf-8"))
    return csv.read_csv(here / "original.csv"), csv.read_csv(here / "masked.csv"), masks


def suite(folder: str) -> Callable[[], Any]:
    """The worst of the suite: correct links, and the name of the intruder."""
    from crypsis import linkage

    def call() -> list[Any]:
        original, masked, _ = _files(folder)
        found = linkage.attack_links(original, masked)
        return [found.worst.correct_share.value * found.worst.records, found.method]  # type: ignore[union-attr]

    return call


def posterior(folder: str) -> Callable[[], Any]:
    """The links of the posterior that are correct, and how many are expected to be."""
    from crypsis.protection import link_posterior

    def call() -> list[float]:
        original, masked, masks = _files(folder)
        found = link_posterior(original, masked, masks)
        return [found.attack.true_matches or 0, float(found.expected_share) * found.records]

    return call


_SDCMICRO = """
suppressWarnings(suppressMessages(library(sdcMicro)))
read <- function(name) read.csv(file.path(FOLDER, name), stringsAsFactors = TRUE)
x <- read("original.csv"); y <- read("masked.csv"); x$row_ <- y$row_ <- seq_len(nrow(x))
for (v in names(x)) if (is.factor(x[[v]])) {
  every <- union(levels(x[[v]]), levels(y[[v]]))
  x[[v]] <- factor(x[[v]], every); y[[v]] <- factor(y[[v]], every)
}
found <- recordLinkage(x, y, vars = setdiff(names(x), "row_"), x_id = "row_", y_id = "row_")
cat(found$correct_matches, sum(proc.time()[c(1, 2)]))
"""


def sdcmicro(folder: str) -> Callable[[], Any]:
    """sdcMicro's own `recordLinkage` (R, `R_LIBS`): correct links, and its processor time."""

    def call() -> list[float]:
        code = f"FOLDER <- '{folder}'\n{_SDCMICRO}"
        done = subprocess.run(["Rscript", "-e", code], check=True, capture_output=True, text=True)
        return [float(part) for part in done.stdout.split()[-2:]]

    return call


def gower_hungarian(folder: str) -> Callable[[], Any]:
    """The rule of sdcMicro's `recordLinkage`: Gower's distance, one to one over all pairs."""
    from scipy.optimize import linear_sum_assignment

    def call() -> int:
        original, masked, _ = _files(folder)
        n = original.num_rows
        apart = np.zeros((n, n))
        for name in original.column_names:
            x, y = (np.array(one[name].to_pylist()) for one in (original, masked))
            if x.dtype.kind in "if":
                span = float(max(x.max(), y.max()) - min(x.min(), y.min())) or 1.0
                apart += np.abs(x[:, None] - y[None]) / span
            else:
                apart += x[:, None] != y[None]
        return int((linear_sum_assignment(apart)[1] == np.arange(n)).sum())

    return call


def peers() -> list[dict[str, Any]]:
    """Each setting with each contender, in a process of its own."""
    from crypsis.protection import mask

    found = []
    for setting, (table, masks) in settings().items():
        original = table()
        released = mask(original, masks, seed=SEED).frame
        with tempfile.TemporaryDirectory() as folder:
            csv.write_csv(original, Path(folder) / "original.csv")
            csv.write_csv(released, Path(folder) / "masked.csv")
            (Path(folder) / "masks.json").write_text(json.dumps(masks), encoding="utf-8")
            for name, contender in (OURS | PEERS).items():
                try:
                    run = measure.run(contender, [folder], state="cold", patience=240.0)
                except (Unavailable, RuntimeError) as error:
                    print(f"{setting}: {name} is left out: {error}", flush=True)
                    continue
                if run.stopped:
                    print(f"{setting}: {name} was stopped", flush=True)
                    continue
                right = run.answer[0] if isinstance(run.answer, list) else run.answer
                found.append(
                    {
                        "setting": setting,
                        "records": original.num_rows,
                        "contender": name,
                        "correct_share": right / original.num_rows,
                        "answer": run.answer,
                        "cpu_seconds": run.answer[1] if name == "sdcMicro" else run.cpu_seconds,
                        "seconds": run.seconds,
                        "peak_mb": run.peak_mb,
                    }
                )
                print(found[-1], flush=True)
    return found


def calibration() -> list[dict[str, Any]]:
    """Links of many masked files by their probability, and the share of them that is correct."""
    from crypsis.protection import link_posterior, mask

    rng = np.random.default_rng(SEED)
    found = []
    for name, masks in {
        "noise": {f"x{j}": "noise:0.3" for j in range(5)},
        "rank swapping": {f"x{j}": "rank-swap:25" for j in range(5)},
        "PRAM and noise": {"a": "pram:0.7", "b": "pram:0.6", "x0": "noise:0.1", "x1": "noise:0.3"},
        "microaggregation and noise": {
            "x0": "microaggregate:20",
            "x1": "microaggregate:20",
            "x2": "noise:0.5",
            "x3": "noise:0.5",
        },
    }.items():
        bins: dict[tuple[float, float], list[float]] = {}
        for seed in range(4):
            people = pa.table(
                {
                    key: rng.choice([f"v{i}" for i in range(15)], 1_000)
                    if key in "ab"
                    else rng.normal(size=1_000)
                    for key in masks
                }
            )
            released = mask(people, masks, seed=seed).frame
            for one in link_posterior(people, released, masks).calibration:
                total = bins.setdefault((one.low, one.high), [0.0, 0.0, 0.0])
                total[0] += one.links
                total[1] += one.links * one.probability
                total[2] += one.correct
        for (low, high), (links, mean, right) in sorted(bins.items()):
            found.append(
                {
                    "masking": name,
                    "low": low,
                    "high": high,
                    "links": int(links),
                    "probability": mean / links,
                    "correct": right / links,
                }
            )
        print(name, found[-1], flush=True)
    return found


def posterior_of_noise(records: int) -> list[float]:
    """The posterior of so many records with five columns and noise of a tenth."""
    from crypsis.protection import link_posterior, mask

    rng = np.random.default_rng(SEED)
    people = pa.table({f"x{j}": rng.normal(size=records) for j in range(5)})
    masks = dict.fromkeys(people.column_names, "noise:0.1")
    found = link_posterior(people, mask(people, masks, seed=1).frame, masks)
    return [
        float(found.expected_share),
        (found.attack.true_matches or 0) / records,
        found.exact_records / records,
    ]


def suite_of_noise(records: int) -> float:
    """The suite on so many records with six columns and unequal noise."""
    from crypsis import linkage

    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(records, 6))
    y = x + rng.normal(size=x.shape) * [0.02, 0.02, 0.05, 2, 2, 2]
    share = linkage.attack_links(x, y).correct_share
    return 0.0 if share is None else share.value


def scale() -> list[dict[str, Any]]:
    """Time and memory as the files grow."""
    found = []
    for task, sizes in (
        (suite_of_noise, (3_000, 30_000, 100_000)),
        (posterior_of_noise, (1_000, 10_000, 100_000)),
    ):
        for records in sizes:
            run = measure.alone(task, records)
            found.append(
                {
                    "task": task.__name__,
                    "records": records,
                    "seconds": run.seconds,
                    "cpu_seconds": run.cpu_seconds,
                    "peak_mb": run.peak_mb,
                    "answer": run.answer,
                }
            )
            print(found[-1], flush=True)
    return found


def _peer_table(found: list[dict[str, Any]]) -> str:
    names = [name for name in (*OURS, *PEERS) if any(one["contender"] == name for one in found)]
    lines = [
        f"| file and masking | records | {' | '.join(names)} |",
        f"| --- | ---: | {' | '.join('---:' for _ in names)} |",
    ]
    for setting in dict.fromkeys(one["setting"] for one in found):
        here = {one["contender"]: one for one in found if one["setting"] == setting}
        cells = []
        for name in names:
            one = here.get(name)
            cells.append(
                "-"
                if one is None
                else f"{100 * one['correct_share']:.1f} % "
                f"({one['cpu_seconds']:.1f} s, {one['peak_mb']:.0f} MB)"
            )
        lines.append(f"| {setting} | {next(iter(here.values()))['records']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _calibration_table(found: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(one["masking"] for one in found))
    lines = [f"| probability | {' | '.join(names)} |", f"| --- | {' | '.join('---:' for _ in names)} |"]
    for low, high in sorted({(one["low"], one["high"]) for one in found}):
        cells = []
        for name in names:
            one = next((o for o in found if (o["masking"], o["low"]) == (name, low)), None)
            cells.append("-" if one is None else f"{100 * one['correct']:.1f} % of {one['links']:,}")
        lines.append(f"| {low:g} to {high:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _scale_table(found: list[dict[str, Any]]) -> str:
    lines = ["| task | records x columns | processor time | peak of memory |", "| --- | --- | --- | --- |"]
    for one in found:
        task, wide = ("suite", 6) if one["task"] == "suite_of_noise" else ("posterior", 5)
        lines.append(
            f"| {task} | {one['records']:,} x {wide} | {one['cpu_seconds']:.0f} s | "
            f"{one['peak_mb']:,.0f} MB |"
        )
    return "\n".join(lines)


PARTS: dict[str, tuple[Callable[[], list[dict[str, Any]]], Callable[[list[dict[str, Any]]], str]]] = {
    "peers": (peers, _peer_table),
    "calibration": (calibration, _calibration_table),
    "scale": (scale, _scale_table),
}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    path = measure.RESULTS / "link_suite_study.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    content = {name: known[name] for name in PARTS if name in known}
    for name in wanted:
        work, table = PARTS[name]
        content[name] = work()
        measure.write("link_suite_study", content)
        fill(PAGE, {f"links {name}": table(content[name])})


if __name__ == "__main__":
    main()
