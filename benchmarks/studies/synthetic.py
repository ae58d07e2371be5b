"""Synthetic files: how often a leak of a known size is found, and what anonymeter says of the same.

python -m benchmarks.studies.synthetic [runs [records ...]]

Small generators with a known share of memorized records (tests/synthetic/generators.py): the share of
files with each verdict, by the number of records, and the risks of anonymeter for some of them.
Writes benchmarks/results/synthetic_study.json and the tables of `docs/synthetic.md`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tests.synthetic import generators as make

from benchmarks import environments, measure
from benchmarks.tables import fill
from crypsis import assess

PAGE = measure.ROOT / "docs" / "synthetic.md"
PEER = Path(__file__).parents[1] / "peers" / "anonymeter_peer.py"
SIZES, RUNS, BESIDE = (200, 500, 1_000, 2_000), 10, 1_000
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex", "region"],
    "sensitive": ["disease"],
    "insensitive": ["income", "height", "visits"],
    "person": "each record",
}
Generator = Callable[[pd.DataFrame, int, np.random.Generator], pd.DataFrame]
GENERATORS: dict[str, Generator] = {
    "independent columns": make.independent,
    "Gaussian copula": make.copula,
    "copula, 2 % memorized": lambda one, n, draw: make.memorizing(one, n, draw, 0.02),
    "copula, 5 % memorized": lambda one, n, draw: make.memorizing(one, n, draw, 0.05),
    "copula, 40 % memorized": lambda one, n, draw: make.memorizing(one, n, draw, 0.4),
    "training records with noise": make.noisy_copies,
}
VERDICTS = ("not safe", "cannot tell", "safe")


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def verdicts(rows: int, runs: int) -> dict[str, Counter[str]]:
    """How often each generator gets each verdict."""
    found: dict[str, Counter[str]] = {name: Counter() for name in GENERATORS}
    for seed in range(runs):
        draw = np.random.default_rng([rows, seed])
        training, holdout = make.people(rows, draw), make.people(rows, draw)
        for name, generate in GENERATORS.items():
            made = _table(generate(training, rows, draw))
            one = assess(made, _table(training), synthetic=True, holdout=_table(holdout), **ROLES)
            found[name][one.verdict.value] += 1
    return found


def beside() -> dict[str, dict[str, Any]]:
    """The advantages that crypsis measures, and the risks of anonymeter, for one file of each."""
    python = environments.python("anonymeter")
    draw = np.random.default_rng(BESIDE)
    training, holdout = make.people(BESIDE, draw), make.people(BESIDE, draw)
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{name}.csv") for name in ("synthetic", "training", "holdout")]
        training.to_csv(paths[1], index=False)
        holdout.to_csv(paths[2], index=False)
        for name, generate in GENERATORS.items():
            made = generate(training, BESIDE, draw)
            made.to_csv(paths[0], index=False)
            began = time.perf_counter()
            ours = assess(_table(made), _table(training), synthetic=True, holdout=_table(holdout), **ROLES)
            middle = time.perf_counter()
            words = [str(python), str(PEER), *map(str, paths), "disease"]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            answer: Any = ours.answer("synthetic")
            attacks = answer.results["synthetic_risk"]
            found[name] = {
                "verdict": ours.verdict.value,
                "crypsis": {
                    one: attacks.worst(one).advantage.to_dict()
                    for one in ("copies", "membership", "singling out", "linkability", "inference")
                },
                "anonymeter": json.loads(done.stdout.splitlines()[-1]),
                "seconds": [middle - began, time.perf_counter() - middle],
            }
    return found


def _verdict_rows(found: dict[int, dict[str, Counter[str]]], runs: int) -> str:
    head = "| generator | " + " | ".join(f"{rows:,} records" for rows in found) + " |"
    lines = [head, "| --- |" + " --- |" * len(found)]
    for name in GENERATORS:
        cells = [
            ", ".join(f"{one[name][verdict]} {verdict}" for verdict in VERDICTS if one[name][verdict])
            for one in found.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(
        [f"Of {runs} files each, with as many records in the training data and in the holdout:", "", *lines]
    )


def _risk(value: Any) -> str:
    if isinstance(value, dict):
        value = [value["value"], value["low"], value["high"]]
    if isinstance(value, str):
        return value
    return f"{100 * value[0]:.1f} ({100 * value[1]:.1f} to {100 * value[2]:.1f})"


def _beside_rows(found: dict[str, dict[str, Any]]) -> str:
    names = ("singling out", "linkability", "inference")
    head = [f"{name}, {whose}" for name in names for whose in ("crypsis", "anonymeter")]
    lines = [
        "| generator | " + " | ".join([*head, "copies, crypsis", "membership, crypsis"]) + " |",
        "| --- |" + " --- |" * 8,
    ]
    for generator, one in found.items():
        cells = [_risk(one[whose][name]) for name in names for whose in ("crypsis", "anonymeter")]
        cells += [_risk(one["crypsis"][name]) for name in ("copies", "membership")]
        lines.append(f"| {generator} | " + " | ".join(cells) + " |")
    ours, theirs = (sum(one["seconds"][i] for one in found.values()) for i in (0, 1))
    lines += [
        "",
        f"In per cent, with intervals: those of crypsis hold for all attacks together, those "
        f"of anonymeter for each by itself. {BESIDE:,} records in each file; all six files took "
        f"crypsis {ours:.0f} s and anonymeter {theirs:.0f} s (500 attacks of each kind; its process is "
        "started for each file, so the times do not compare the methods).",
    ]
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Run the study, write its results and the tables of the manual."""
    runs = int(words[0]) if words else RUNS
    sizes = tuple(map(int, words[1:])) or SIZES
    found = {rows: verdicts(rows, runs) for rows in sizes}
    peers = beside()
    measure.write(
        "synthetic_study",
        {
            "runs": runs,
            "verdicts": {
                str(rows): {name: dict(one) for name, one in part.items()} for rows, part in found.items()
            },
            "beside": peers,
        },
    )
    fill(PAGE, {"verdicts": _verdict_rows(found, runs), "anonymeter": _beside_rows(peers)})
    clean = ("independent columns", "Gaussian copula")
    wrong = sum(part[name]["not safe"] for part in found.values() for name in clean)
    missed = sum(part[name]["safe"] for part in found.values() for name in GENERATORS if name not in clean)
    print(f"{wrong} files without a leak are not safe, {missed} files with one are safe.")
    return int(wrong > 0 or missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
