"""One contender in a process of its own; runs in any Python, with the standard library alone.

`python child.py MODULE FUNCTION STATE ARGUMENTS` imports the function, hands it the arguments, and
times the call that it returns: what a contender does before it returns that call (reading a file,
importing its libraries) is not timed. Cold is the first call, warm the median of later ones (of
batches of them, where they are short), and whole is the function itself. A contender may return a
second function that turns what was made into the answer, untimed; and, if another program does the
work, a third that takes the seconds and processor seconds from what that program said of itself. The
answer, the times and the peak of memory go to standard output as the last line, in JSON.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

WARM_SECONDS, WARM_CALLS = 0.5, 9
BATCH_SECONDS = 0.1
"""Calls shorter than this are timed in batches of at least as long."""


def peak_mb() -> float:
    """The largest resident memory of this process so far.

    Linux keeps the peak of the parent in `ru_maxrss` across exec; VmHWM is this program's alone.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child_peak_mb() -> float:
    """The largest resident memory of a program that was started and has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def measured(module: str, function: str, state: str, arguments: list[Any]) -> dict[str, Any]:
    """Prepare, call, and say what it took."""
    contender = getattr(import_module(module), function)
    made = partial(contender, *arguments) if state == "whole" else contender(*arguments)
    call, told, clock = (*made, None)[:3] if isinstance(made, tuple) else (made, None, None)
    batch = 1
    if state == "warm":
        call()
        start = time.perf_counter()
        call()
        batch = max(1, round(BATCH_SECONDS / max(time.perf_counter() - start, 1e-6)))
    seconds: list[float] = []
    cpu: list[float] = []
    while not seconds or (
        state == "warm" and len(seconds) < WARM_CALLS and batch * sum(seconds) < WARM_SECONDS
    ):
        start, used = time.perf_counter(), time.process_time()
        for _ in range(batch):
            done = call()
        spent = time.perf_counter() - start, time.process_time() - used
        if clock is not None:
            spent = clock(done)
        seconds.append(spent[0] / batch)
        cpu.append(spent[1] / batch)
    peak = peak_mb() if clock is None else child_peak_mb()
    return {
        "seconds": statistics.median(seconds),
        "cpu_seconds": statistics.median(cpu),
        "peak_mb": peak,
        "answer": done if told is None else told(done),
    }


if __name__ == "__main__":
    module, function, state, arguments = sys.argv[1:]
    print("\n" + json.dumps(measured(module, function, state, json.loads(arguments))), flush=True)
