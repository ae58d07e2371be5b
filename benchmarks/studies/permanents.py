"""Permanents: the error against closed forms, the sampler's coverage, and the real baskets."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.tasks.permanents import matrix


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - start, found


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
        belief = ps.Belief(matrix(size, seed), truth=truth)
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

    warm = ps.Belief(matrix(80, 0), truth=list(range(80)))
    ps.expected_cracks(warm, precision=0.05)
    cells = matrix(size, 1)
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
    found = {"uniform": uniform_error(), "coverage": coverage(), "large": large(), "groceries": groceries()}
    measure.write("permanents_study", found)


if __name__ == "__main__":
    main()
