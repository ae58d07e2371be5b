"""Permanents against thewalrus, the sampler's coverage, and the real baskets.

The peer lives in an environment of its own, named by CRYPSIS_THEWALRUS (a Python that can import
thewalrus); without it only our own numbers are measured.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import measure

PEER = Path(__file__).with_name("peers") / "thewalrus_peer.py"
SIZE, TURNS = 26, 7


def doubly_stochastic(size: int, seed: int) -> NDArray[np.float64]:
    cells = np.random.default_rng(seed).random((size, size))
    for _ in range(200):
        cells /= cells.sum(axis=1, keepdims=True)
        cells /= cells.sum(axis=0)
    return cells


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - start, found


def dense() -> dict[str, Any]:
    """One permanent, permanent with all edges, and thewalrus, taking turns in one run."""
    from crypsis.pseudonyms.kernels import glynn

    glynn.permanent_and_minors(np.ones((8, 8)))
    glynn.permanent(np.ones((8, 8)))
    alone, both, theirs, errors = [], [], [], []
    peer = _Peer.start()
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(TURNS):
            cells = doubly_stochastic(SIZE, turn)
            seconds, one = timed(glynn.permanent, cells)
            alone.append(seconds)
            seconds, two = timed(glynn.permanent_and_minors, cells)
            both.append(seconds)
            errors.append(abs(two.permanent / one.permanent - 1))
            if peer is not None:
                path = Path(folder) / f"{turn}.npy"
                np.save(path, cells)
                answer = peer.ask(path)
                theirs.append(answer["seconds"])
                errors.append(abs(answer["value"] / one.permanent - 1))
    found = {
        "size": SIZE,
        "permanent_seconds": statistics.median(alone),
        "permanent_and_edges_seconds": statistics.median(both),
        "edges_ratio": statistics.median(b / a for a, b in zip(alone, both, strict=True)),
        "thewalrus_seconds": statistics.median(theirs) if theirs else None,
        "ratio": statistics.median(a / t for a, t in zip(alone, theirs, strict=True))
        if theirs
        else None,
        "largest_difference": max(errors),
        "thewalrus": None if peer is None else peer.version,
    }
    print(json.dumps(found), flush=True)
    return found


class _Peer:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.version = self._read()["version"]

    @classmethod
    def start(cls) -> _Peer | None:
        python = os.environ.get("CRYPSIS_THEWALRUS")
        if python is None:
            print("CRYPSIS_THEWALRUS names no Python; measuring without thewalrus", flush=True)
            return None
        return cls(
            subprocess.Popen(
                [python, str(PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )

    def ask(self, path: Path) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))


def uniform_error(size: int = 30) -> dict[str, Any]:
    from crypsis.pseudonyms.kernels import glynn

    seconds, found = timed(glynn.permanent_and_minors, np.full((size, size), 1 / size))
    exact = math.factorial(size) / size**size
    minor = math.factorial(size - 1) / size ** (size - 1)
    answer = {
        "size": size,
        "seconds": seconds,
        "permanent_error": abs(found.permanent / exact - 1),
        "largest_minor_error": float(np.abs(found.minors / minor - 1).max()),
    }
    print(json.dumps(answer), flush=True)
    return answer


def coverage(matrices: int = 100, size: int = 16) -> dict[str, Any]:
    """How many of the 95 % intervals hold the exact Psi and Delta."""
    from crypsis import pseudonyms as ps
    from crypsis.results import Estimate

    hits = {"psi": 0, "delta": 0}
    for seed in range(matrices):
        truth = np.random.default_rng(seed).permutation(size).tolist()
        belief = ps.Belief(doubly_stochastic(size, seed), truth=truth)
        for name, ask in (("psi", ps.expected_cracks), ("delta", ps.degree_of_anonymity)):
            found = ask(belief, method="sampling", seed=seed)
            assert isinstance(found, Estimate)
            hits[name] += int(found.low <= float(ask(belief)) <= found.high)
    answer = {"matrices": matrices, "size": size, **hits}
    print(json.dumps(answer), flush=True)
    return answer


def large(size: int = 2000) -> dict[str, Any]:
    """A dense belief of 2,000 items: Psi and its interval, from matrix to number."""
    from crypsis import pseudonyms as ps

    warm = ps.Belief(doubly_stochastic(80, 0), truth=list(range(80)))
    ps.expected_cracks(warm, precision=0.05)
    cells = doubly_stochastic(size, 1)
    cpu = time.process_time()
    seconds, found = timed(
        lambda: ps.expected_cracks(ps.Belief(cells, truth=list(range(size))), precision=0.01)
    )
    answer = {
        "size": size,
        "seconds": seconds,
        "processor_seconds": time.process_time() - cpu,
        "psi": found.value,
        "relative_half_width": (found.high - found.low) / 2 / found.value,
        "method": found.method,
    }
    print(json.dumps(answer), flush=True)
    return answer


def groceries() -> list[dict[str, Any]]:
    """Everything exact for 169 items whose frequencies are known to a relative error."""
    from crypsis import pseudonyms as ps

    text = (measure.DATA / "groceries" / "groceries.csv").read_text(encoding="utf-8")
    baskets = [[n.strip() for n in line.split(",") if n.strip()] for line in text.splitlines()]
    observed = ps.frequencies(baskets)
    answers = []
    for error in (0.02, 0.02, 0.05, 0.1, 0.2):  # the first one compiles
        ranges = {
            name: (share * (1 - error), share * (1 + error))
            for name, share in zip(observed.pseudonyms, observed.shares.tolist(), strict=True)
        }
        start = time.perf_counter()
        belief = ps.frequency_attack(observed, ranges, truth="names")
        edges = ps.edge_probabilities(belief, method="exact")
        answer = {
            "error": error,
            "log_permanent": ps.log_permanent(belief, method="exact"),
            "delta": ps.degree_of_anonymity(belief, method="exact"),
            "psi": ps.expected_cracks(belief, method="exact"),
            "crack_distribution_mean": ps.crack_distribution(belief, method="exact").expected,
            "largest_block": max(block.size for block in edges.blocks),
            "states": sum(block.states or 0 for block in edges.blocks),
            "seconds": time.perf_counter() - start,
        }
        print(json.dumps(answer), flush=True)
        answers.append(answer)
    return answers[1:]


def main() -> None:
    measure.save(
        "permanents",
        [],
        dense=dense(),
        uniform=uniform_error(),
        coverage=coverage(),
        large=large(),
        groceries=groceries(),
    )


if __name__ == "__main__":
    main()
