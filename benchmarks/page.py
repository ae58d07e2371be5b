"""What the page makes people wait for: verdict, preview, first what-if and release of synthetic people.

    python -m benchmarks.page                       30,000, 200,000 and 10^6 records
    python -m benchmarks.page 200000                one size
    python -m benchmarks.page 200000 --profile release       where the time of one operation goes

Each operation runs in a process of its own, as the first that a table's process is asked after the
columns were profiled. Seconds by the clock and of all processors. What the process loads while the
columns are looked at is not counted; with --cold it is. Kernels are compiled before
(`crypsis compile`), as an installation does.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from crypsis import demo
from crypsis.web.operations import operation
from crypsis.web.operations._session import TableSession

SIZES = (30_000, 200_000, 1_000_000)
OPERATIONS = ("verdict", "preview", "what-if", "release")
_KNOWN = ("birth_date", "zip", "sex", "occupation")
_ROLES = {
    "name": "identifier",
    "ssn": "identifier",
    "income": "sensitive",
    "disease": "sensitive",
    **dict.fromkeys(_KNOWN, "quasi-identifier"),
}
_CHOICES: dict[str, Any] = {"options": {"k": 5, "excess": 0.2, "exclude": ["income"]}, "hierarchies": {}}
_MAKE: dict[str, Any] = {**_CHOICES, "levels": {}, "masks": {}, "recoding": "local"}


def opened(path: Path, folder: Path, cold: bool) -> tuple[TableSession, dict[str, Any]]:
    """A session whose columns were profiled, and what every operation is given."""
    session = TableSession()
    operation("begin")(session, folder=str(folder), memory_limit="4GB", rows=10**8, columns=1_000)
    file = {"path": str(path), "title": path.name, "units": {"person": "each record"}}
    operation("scan")(session, file=file)
    if not cold:
        operation("prepare")(session)
    return session, {"file": file, "roles": _ROLES}


def run(name: str, session: TableSession, asked: dict[str, Any]) -> dict[str, Any]:
    """One operation of the page."""
    if name == "verdict":
        return dict(operation("assess")(session, **asked))
    if name == "what-if":
        return dict(operation("preview")(session, **asked, **_CHOICES))
    if name == "preview":
        return dict(operation("try_release")(session, **asked, **_MAKE))
    return dict(operation("anonymize")(session, **asked, **_MAKE, form="csv", policy="default"))


def child(name: str, path: Path, *, profile: bool, cold: bool) -> None:
    """Measure one operation in this process."""
    with tempfile.TemporaryDirectory() as folder:
        session, asked = opened(path, Path(folder), cold)
        tracer = cProfile.Profile() if profile else None
        start, used = time.perf_counter(), os.times()
        if tracer is not None:
            tracer.enable()
        run(name, session, asked)
        if tracer is not None:
            tracer.disable()
        now = os.times()
        wall, work = time.perf_counter() - start, now.user + now.system - used.user - used.system
        print(f"| {name} | {wall:.1f} s | {work:.1f} s |", flush=True)
        if tracer is not None:
            pstats.Stats(tracer).sort_stats("cumulative").print_stats(70)


def main() -> None:
    """Each operation on each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("rows", nargs="*", type=int, default=SIZES)
    parser.add_argument("--profile", choices=OPERATIONS)
    parser.add_argument("--cold", action="store_true", help="count what is loaded, too")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        name, path = given.child
        child(name, Path(path), profile=given.profile is not None, cold=given.cold)
        return
    with tempfile.TemporaryDirectory() as folder:
        for rows in given.rows:
            path = demo.write_people(Path(folder) / str(rows), rows=rows)
            print(f"{rows:,} records: wall, processor", flush=True)
            for name in [given.profile] if given.profile else OPERATIONS:
                more = ["--profile", name] if given.profile else []
                more += ["--cold"] * given.cold
                command = ["-m", "benchmarks.page", "--child", name, str(path), *more]
                subprocess.run([sys.executable, *command], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
