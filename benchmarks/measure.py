"""How everything is measured: each run in a process of its own, contenders taking turns.

A contender is a function of a module, called by name in a fresh process, which times the call and
reads its own peak of memory. It returns something comparable, so that equal work can be told from
unequal. Machines drift; a ratio within one run of turns does not. Where others use the machine too,
the ratio of processor seconds, all threads together, is the steadier one.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

WORK = Path(__file__).parent / "work"
RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("CRYPSIS_DATA", Path(__file__).parents[2] / "shared" / "data"))
_VERSIONS = ("crypsis", "duckdb", "narwhals", "numpy", "numba", "pandas", "pyarrow", "scipy")


@dataclass(frozen=True)
class Comparison:
    """One task: our time and theirs, the ratio, whether the answers were equal, the peaks."""

    task: str
    size: str
    theirs_is: str
    ours_seconds: float
    theirs_seconds: float
    ratio: float
    equal: bool
    ours_peak_mb: float
    theirs_peak_mb: float
    runs: int
    warm: bool
    cpu_ratio: float | None = None

    def line(self) -> str:
        state = "warm" if self.warm else "cold"
        cpu = "" if self.cpu_ratio is None else f" (processor time {self.cpu_ratio:.3f})"
        return (
            f"{self.task} ({self.size}): ours {self.ours_seconds:.3f} s, {self.theirs_is} "
            f"{self.theirs_seconds:.3f} s, ratio {self.ratio:.3f}{cpu}, "
            f"{'equal' if self.equal else 'NOT EQUAL'}, peak {self.ours_peak_mb:.0f} / "
            f"{self.theirs_peak_mb:.0f} MB, median of {self.runs}, {state}"
        )


@dataclass(frozen=True)
class Run:
    """One call in a process of its own."""

    seconds: float
    peak_mb: float
    answer: Any
    cpu_seconds: float = 0.0


def _child(pipe: Any, call: Callable[..., Any], arguments: tuple[Any, ...], warm: bool) -> None:
    if warm:
        call(*arguments)
    start, cpu_start = time.perf_counter(), time.process_time()
    answer = call(*arguments)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send(Run(seconds, peak, answer, cpu))


def run(call: Callable[..., Any], *arguments: Any, warm: bool = False) -> Run:
    """Call a function in a fresh process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(there, call, arguments, warm))
    process.start()
    there.close()
    try:
        found: Run = here.recv()
    except EOFError:
        raise RuntimeError(f"{call.__name__} died") from None
    finally:
        process.join()
    return found


def side_by_side(
    task: str,
    size: str,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    *arguments: Any,
    theirs_is: str,
    runs: int = 3,
    warm: bool = False,
) -> Comparison:
    """Take turns, ours and theirs, and compare medians."""
    mine: list[Run] = []
    peer: list[Run] = []
    for turn in range(runs):
        for contender in (mine, peer) if turn % 2 == 0 else (peer, mine):
            call = ours if contender is mine else theirs
            contender.append(run(call, *arguments, warm=warm))
    our_time = statistics.median(r.seconds for r in mine)
    their_time = statistics.median(r.seconds for r in peer)
    found = Comparison(
        task=task,
        size=size,
        theirs_is=theirs_is,
        ours_seconds=our_time,
        theirs_seconds=their_time,
        ratio=our_time / their_time,
        equal=all(r.answer == peer[0].answer for r in mine),
        ours_peak_mb=max(r.peak_mb for r in mine),
        theirs_peak_mb=max(r.peak_mb for r in peer),
        runs=runs,
        warm=warm,
        cpu_ratio=_middle(mine) / _middle(peer),
    )
    print(found.line(), flush=True)
    return found


def _middle(runs: list[Run]) -> float:
    return statistics.median(run.cpu_seconds for run in runs)


def save(name: str, comparisons: list[Comparison], **extra: Any) -> None:
    """Write what was measured to benchmarks/results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    content = {
        "benchmark": name,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "versions": {part: _version(part) for part in _VERSIONS},
        "comparisons": [asdict(comparison) for comparison in comparisons],
        **extra,
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "absent"
