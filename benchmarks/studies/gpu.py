"""Permanents on a GPU: seconds, error against the closed form, and the share of the card's peak.

Run where there is a device: `python -m benchmarks.studies.gpu`. Needs only
NumPy, SciPy, Numba and CuPy.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.pseudonyms.kernels import glynn, gpu
from crypsis.pseudonyms.kernels.sums import Minors

RESULT = Path(__file__).parents[1] / "results" / "gpu.json"
DOUBLES_A_CYCLE = 64  # double-precision instructions a multiprocessor starts in a cycle (sm_90)


def peak() -> float:
    """Double-precision instructions a second, all multiprocessors at their highest clock."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    clock = cupy.cuda.Device(0).attributes["ClockRate"] * 1e3
    return float(properties["multiProcessorCount"] * DOUBLES_A_CYCLE * clock)


def uniform(size: int, *, minors: bool, turns: int = 3) -> dict[str, Any]:
    """The uniform matrix, whose permanent is t!/t^t, and each minor (t-1)!/t^(t-1)."""
    cells = np.full((size, size), 1 / size)
    call = gpu.permanent_and_minors if minors else gpu.permanent
    warm = size < 42  # beyond, a run takes a minute: one turn, compilation included
    if warm:
        call(cells)
    seconds = []
    for _ in range(turns if warm else 1):
        start = time.perf_counter()
        found = call(cells)
        seconds.append(time.perf_counter() - start)
    taken = statistics.median(seconds)
    exact = float(Fraction(math.factorial(size), size**size))
    each = 5 if minors else 2  # operations a column and term that the method cannot do without
    answer = {
        "task": "permanent and all edges" if minors else "permanent",
        "t": size,
        "seconds": taken,
        "turns": len(seconds),
        "relative_error": abs(found.permanent / exact - 1),
        "bound": found.error / found.permanent,
        "share_of_peak": each * size * 2.0 ** (size - 1) / taken / peak(),
    }
    if isinstance(found, Minors):
        minor = float(Fraction(math.factorial(size - 1), size ** (size - 1)))
        answer["largest_minor_error"] = float(np.abs(found.minors / minor - 1).max())
    print(json.dumps(answer), flush=True)
    return answer


def against_processor(size: int = 28, seeds: int = 3) -> dict[str, Any]:
    """Random matrices, here and there: the largest difference, and how much faster."""
    glynn.permanent_and_minors(np.ones((8, 8)))
    gpu.permanent_and_minors(np.ones((size, size)) / size)
    here, there, differences = [], [], []
    for seed in range(seeds):
        cells = np.random.default_rng(seed).random((size, size))
        start = time.perf_counter()
        mine = glynn.permanent_and_minors(cells)
        here.append(time.perf_counter() - start)
        start = time.perf_counter()
        found = gpu.permanent_and_minors(cells)
        there.append(time.perf_counter() - start)
        differences.append(abs(found.permanent / mine.permanent - 1))
        differences.append(float(np.abs(found.minors / mine.minors - 1).max()))
    answer = {
        "t": size,
        "processor_seconds": statistics.median(here),
        "gpu_seconds": statistics.median(there),
        "largest_difference": max(differences),
    }
    print(json.dumps(answer), flush=True)
    return answer


def main() -> None:
    import cupy

    content = {
        "benchmark": "gpu",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "device": gpu.devices()[0],
        "peak_double_instructions_a_second": peak(),
        "versions": {
            "cupy": cupy.__version__,
            "cuda": cupy.cuda.runtime.runtimeGetVersion(),
            "driver": cupy.cuda.runtime.driverGetVersion(),
            "numpy": version("numpy"),
        },
        "processor": against_processor(),
        "permanents": [uniform(size, minors=False) for size in (30, 36, 38, 40, 44)],
        "edges": [uniform(size, minors=True) for size in (30, 36, 38, 40)],
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
