"""How everything is measured: each run in a process of its own, contenders taking turns.

A contender is a function that prepares and returns the call to be timed (see `child.py`); ours runs
in this Python, a peer in its own environment. Answers are compared, so that equal work can be told
from unequal. Machines drift; a ratio within one run of turns does not. Where others use the machine
too, the ratio of processor seconds, all threads together, is the steadier one.
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import environments

ROOT = Path(__file__).parents[1]
WORK = Path(__file__).parent / "work"
RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("CRYPSIS_DATA", ROOT.parent / "shared" / "data"))
_VERSIONS = ("crypsis", "duckdb", "narwhals", "numpy", "numba", "pandas", "pyarrow", "scipy")


@dataclass(frozen=True)
class Contender:
    """A function of a module, and the environment it runs in (ours, unless a peer is named)."""

    name: str
    module: str
    function: str
    peer: str | None = None

    @property
    def title(self) -> str:
        """The name with the version, where it is a peer with an environment."""
        return self.name if self.peer is None else f"{self.name} {environments.version(self.peer)}"


@dataclass(frozen=True)
class Agreement:
    """Whether two answers are the same; where they are not, who is right and by what."""

    equal: bool
    note: str = ""


def same(ours: Any, theirs: Any) -> Agreement:
    """Equal answers; numbers to nine digits."""
    return Agreement(_same(ours, theirs))


@dataclass(frozen=True)
class Task:
    """One row of the table before it is measured.

    `limit` marks a contender that does less than a user needs (a raw query): being slower than it
    is no defeat, but from 1.5 times on `why` has to say where the time goes. `quick` tasks are the
    guard against regressions. A peer that takes longer than `patience` seconds is stopped.
    """

    name: str
    size: str
    ours: Contender
    theirs: Contender
    arguments: Callable[[], Sequence[Any]]
    agree: Callable[[Any, Any], Agreement] = same
    warm: bool = False
    runs: int = 3
    limit: bool = False
    why: str = ""
    quick: bool = False
    patience: float = 600.0

    @property
    def state(self) -> str:
        """Whether the first call is timed or later ones."""
        return "warm" if self.warm else "cold"

    @property
    def key(self) -> str:
        """What a result is known by from one run to the next."""
        return f"{self.name} | {self.size} | {self.theirs.name}"


@dataclass(frozen=True)
class Run:
    """One call in a process of its own; without an answer when it was stopped."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    answer: Any
    stopped: bool = False


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
    cpu_ratio: float
    note: str = ""
    theirs_version: str = ""
    limit: bool = False
    why: str = ""
    quick: bool = False
    stopped: bool = False
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What a result is known by from one run to the next."""
        return f"{self.task} | {self.size} | {self.theirs_is}"

    def line(self) -> str:
        """One line for whoever watches."""
        least = "at least " if self.stopped else ""
        answers = "stopped" if self.stopped else "equal" if self.equal else "NOT EQUAL"
        return (
            f"{self.task} ({self.size}): ours {self.ours_seconds:.3f} s, {self.theirs_is} {least}"
            f"{self.theirs_seconds:.3f} s, ratio {self.ratio:.3f} (processor time "
            f"{self.cpu_ratio:.3f}), {answers}, peak {self.ours_peak_mb:.0f} / "
            f"{self.theirs_peak_mb:.0f} MB, median of {self.runs}, "
            f"{'warm' if self.warm else 'cold'}{'; ' + self.note if self.note else ''}"
        )


def run(contender: Contender, arguments: Sequence[Any], *, state: str, patience: float = 600.0) -> Run:
    """Call a contender in a fresh process: "cold", "warm" or "whole" (see `child.py`)."""
    child = Path(__file__).with_name("child.py")
    paths = [str(ROOT)]
    binary = sys.executable
    if contender.peer is None:
        paths += [part for part in (os.environ.get("PYTHONPATH"), str(ROOT / "src")) if part]
    else:
        binary = str(environments.python(contender.peer))
    command = [binary, str(child), contender.module, contender.function]
    command += [state, json.dumps(list(arguments))]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=patience, env=surroundings, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return Run(patience, patience, math.nan, None, stopped=True)
    if done.returncode != 0:
        failed = RuntimeError if contender.peer is None else environments.Unavailable
        raise failed(f"{contender.title} failed:\n{done.stderr[-2000:]}")
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def alone(function: Callable[..., Any], *arguments: Any) -> Run:
    """A function of ours with nobody beside it, in a fresh process."""
    running = sys.modules["__main__"].__spec__ if function.__module__ == "__main__" else None
    module = function.__module__ if running is None else running.name
    contender = Contender("crypsis", module, function.__name__)
    return run(contender, arguments, state="whole", patience=3600.0)


def side_by_side(task: Task, *, runs: int | None = None) -> Comparison:
    """Take turns, ours and theirs, and compare medians; a contender that was stopped runs once."""
    arguments = list(task.arguments())
    mine: list[Run] = []
    peer: list[Run] = []
    for turn in range(task.runs if runs is None else runs):
        for contender in (mine, peer) if turn % 2 == 0 else (peer, mine):
            if contender is peer and peer and peer[0].stopped:
                continue
            call = task.ours if contender is mine else task.theirs
            patience = 3600.0 if contender is mine else task.patience
            contender.append(run(call, arguments, state=task.state, patience=patience))
    found = compared(task, mine, peer)
    print(found.line(), flush=True)
    return found


def compared(task: Task, mine: list[Run], peer: list[Run]) -> Comparison:
    """Medians, their ratios and whether all answers agree."""
    stopped = peer[0].stopped
    agreement = Agreement(False, "stopped before it answered")
    if not stopped:
        seen = [task.agree(one.answer, peer[0].answer) for one in mine]
        agreement = next((one for one in seen if not one.equal), seen[0])
    ours, theirs = (statistics.median(r.seconds for r in runs) for runs in (mine, peer))
    used = [statistics.median(r.cpu_seconds for r in runs) for runs in (mine, peer)]
    return Comparison(
        task=task.name,
        size=task.size,
        theirs_is=task.theirs.name,
        theirs_version=environments.version(task.theirs.peer) if task.theirs.peer else "",
        ours_seconds=ours,
        theirs_seconds=theirs,
        ratio=ours / theirs,
        cpu_ratio=used[0] / max(used[1], 1e-9),
        equal=agreement.equal,
        note=agreement.note,
        ours_peak_mb=max(r.peak_mb for r in mine),
        theirs_peak_mb=0.0 if stopped else max(r.peak_mb for r in peer),
        runs=len(mine),
        warm=task.warm,
        limit=task.limit,
        why=task.why,
        quick=task.quick,
        stopped=stopped,
        seconds={"ours": [r.seconds for r in mine], "theirs": [r.seconds for r in peer]},
    )


def recorded(name: str) -> dict[str, Comparison]:
    """The comparisons last written under that name, by key."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    found = [Comparison(**one) for one in content.get("comparisons", [])]
    return {one.key: one for one in found}


def save(name: str, comparisons: Sequence[Comparison], *, keep: Sequence[str] = (), **extra: Any) -> Path:
    """Write comparisons to benchmarks/results/NAME.json; those under the keys in `keep` stay."""
    before = recorded(name)
    fresh = {one.key: one for one in comparisons}
    merged = {key: before[key] for key in keep if key in before and key not in fresh} | fresh
    order = {key: place for place, key in enumerate(keep)}
    ordered = sorted(merged.values(), key=lambda one: order.get(one.key, len(order)))
    return write(name, {"comparisons": [asdict(one) for one in ordered], **extra})


def write(name: str, content: dict[str, Any]) -> Path:
    """Write results with what they were measured on."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    head = {
        "benchmark": name,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "python": platform.python_version(),
        "versions": {part: _version(part) for part in _VERSIONS},
    }
    path.write_text(json.dumps({**head, **content}, indent=2) + "\n", encoding="utf-8")
    return path


def machine() -> str:
    """The kind of machine, in a few words: ratios are only compared on the same kind."""
    return f"{platform.machine()}, {_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    """The model of the processor as the system names it; on ARM often only its number."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        lines = described.read_text(encoding="utf-8", errors="replace").splitlines()
        fields = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
        named = {name.strip(): value.strip() for name, value in fields.items()}
        if "model name" in named:
            return named["model name"]
        if "CPU part" in named:
            return f"CPU {named.get('CPU implementer', '')} {named['CPU part']}".replace("  ", " ")
    return platform.processor() or "processor not named"


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "absent"


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (ours, theirs))
    if numbers:
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return bool(ours == theirs)
