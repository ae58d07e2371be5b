"""Every verb through the command line, as a person waits for it: on three tables of three kinds.

    python -m benchmarks.verbs                all verbs; the results and the table in the docs
    python -m benchmarks.verbs assess         one verb; what else is recorded stays
    python -m benchmarks.verbs --profile scan:diabetes130    where the time of one run goes

Adult is 32,561 rows of census data, diabetes130 101,766 encounters in 50 columns, and "wide" 10^6
generated rows of 20 independent columns of 2 to 300 values. Each run is a process of its own, so
that starting Python and loading libraries count. Peaks are those of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.measure import RESULTS, ROOT, write

RUNS = 3
PATIENCE = 600
ADULT_KNOWN = ("age", "education", "marital-status", "race", "sex", "native-country")
DIABETES_KNOWN = ("race", "gender", "age", "admission_type_id", "time_in_hospital")
WIDE_KNOWN = ("c0", "c1", "c2", "c3", "c4")


def _each(option: str, names: Sequence[str]) -> list[str]:
    return [part for name in names for part in (option, name)]


def commands(folder: Path) -> dict[str, list[str]]:
    """The command of each verb on each table, by `verb:table`."""
    tables = {
        "Adult": (data.adult(), ADULT_KNOWN, "income", ("age", "hours-per-week", "capital-gain")),
        "diabetes130": (
            data.diabetes(),
            DIABETES_KNOWN,
            "readmitted",
            ("num_lab_procedures", "num_medications", "time_in_hospital"),
        ),
        "wide": (data.wide(), WIDE_KNOWN, "c5", ("c12", "c15", "c19")),
    }
    found: dict[str, list[str]] = {}
    for name, (path, known, secret, numbers) in tables.items():
        roles = [*_each("--qi", known), "--sensitive", secret, "--person", "each record"]
        masked, record, out = data.masked(path, numbers), data.first(path, numbers), folder / name
        found |= {
            f"scan:{name}": ["scan", path],
            f"leak:{name}": ["leak", path, "--target", secret, *_each("--given", known)],
            f"assess:{name}": ["assess", path],
            f"assess with a report:{name}": ["assess", path, *roles, "-o", f"{out}-report.html", "--force"],
            f"anonymize:{name}": [
                "anonymize",
                path,
                "-o",
                f"{out}-safe.parquet",
                "--k",
                "10",
                "--force",
                *roles,
            ],
            f"compare:{name}": ["compare", path, masked, *_each("--column", numbers)],
            f"verify:{name}": ["verify", masked, "--record", record],
            f"attack join:{name}": [
                "attack",
                "join",
                *data.known(path, numbers),
                "--truth",
                "rows",
                *_each("--on", numbers),
            ],
        }
    return found


def once(command: Sequence[str]) -> dict[str, Any]:
    """One run: seconds, processor seconds, peak and the exit status."""
    binary = str(Path(sys.executable).with_name("crypsis"))
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        child = subprocess.Popen([binary, *command], stdout=said, stderr=said, env=surroundings)
        status, used = -1, None
        while time.perf_counter() - start < PATIENCE:
            done, code, used = os.wait4(child.pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(code)
                break
            time.sleep(0.01)
        else:
            child.kill()
            _, _, used = os.wait4(child.pid, 0)
        took = time.perf_counter() - start
        child.returncode = status
        said.seek(0)
        if status not in (0, 1, -1):  # 1 is a verdict
            raise RuntimeError(f"crypsis {command[0]} ended with {status}:\n{said.read()!r}")
    return {
        "seconds": took,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
        "status": status,
    }


def measured(command: Sequence[str], runs: int) -> dict[str, Any]:
    """The median of some runs; one that takes longer than half a minute is run once."""
    found = [once(command)]
    while len(found) < runs and found[0]["seconds"] < 30:
        found.append(once(command))
    middle = {
        name: round(statistics.median(one[name] for one in found), 3)
        for name in ("seconds", "cpu_seconds", "peak_mb")
    }
    return {**middle, "status": found[0]["status"], "runs": len(found)}


def recorded() -> dict[str, dict[str, Any]]:
    """What was measured last, by `verb:table`."""
    path = RESULTS / "verbs.json"
    if not path.exists():
        return {}
    verbs: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["verbs"]
    return verbs


def table() -> str:
    """The table in the docs: verbs down, tables across."""
    found = recorded()
    if not found:
        return "Not measured yet."
    names = list(dict.fromkeys(key.partition(":")[2] for key in found))
    lines = [f"| verb | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    for verb in dict.fromkeys(key.partition(":")[0] for key in found):
        cells = []
        for name in names:
            one = found.get(f"{verb}:{name}")
            cells.append("" if one is None else f"{one['seconds']:.1f} s, {one['peak_mb']:,.0f} MB")
        lines.append(f"| {verb} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks.verbs", description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="verbs, or verb:table")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--profile", metavar="VERB:TABLE", help="profile one run")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        every = commands(Path(folder))
        if asked.profile:
            _profile(every[asked.profile])
            return
        measure_all(every, asked.only, asked.runs)


def everything() -> None:
    """All verbs on all tables."""
    with tempfile.TemporaryDirectory() as folder:
        measure_all(commands(Path(folder)), ())


def measure_all(every: Mapping[str, Sequence[str]], only: Sequence[str], runs: int = RUNS) -> None:
    """Measure the verbs asked for and save after each, so that a run may be stopped."""
    found = recorded()
    for key, command in every.items():
        if only and key not in only and key.partition(":")[0] not in only:
            continue
        found[key] = measured(command, runs)
        print(f"{key:34} {found[key]}", flush=True)
        write("verbs", {"verbs": {one: found[one] for one in every if one in found}})


def _profile(command: Sequence[str]) -> None:
    import cProfile
    import pstats

    from crypsis.cli import main as run

    sys.argv = ["crypsis", *command]
    profile = cProfile.Profile()
    try:
        profile.runcall(run)
    except SystemExit:
        pass
    finally:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    main()
