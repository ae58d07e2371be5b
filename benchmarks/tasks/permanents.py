"""Permanents of dense matrices: thewalrus, piquasso."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.measure import Agreement, Contender, Task


def matrix(size: int, seed: int = 0) -> Any:
    """A random matrix whose rows and columns sum to one."""
    import numpy as np

    cells = np.random.default_rng(seed).random((size, size))
    for _ in range(200):
        cells /= cells.sum(axis=1, keepdims=True)
        cells /= cells.sum(axis=0)
    return cells


def permanent_ours(size: int) -> Callable[[], Any]:
    from crypsis.pseudonyms import permanent

    cells = matrix(size)
    return lambda: float(permanent(cells))


def edges_ours(size: int) -> Callable[[], Any]:
    """The permanent and, in the same walk, the probability of every edge."""
    from crypsis.pseudonyms.kernels import glynn

    cells = matrix(size)
    return lambda: float(glynn.permanent_and_minors(cells).permanent)


def close(ours: float, theirs: float) -> Agreement:
    """Equal to 7 digits: all methods add terms of both signs."""
    return Agreement(abs(ours / theirs - 1) < 1e-7, f"differ by {abs(ours / theirs - 1):.0e}")


def _ours(function: str = "permanent_ours") -> Contender:
    return Contender("crypsis", __name__, function)


WALRUS = Contender("thewalrus", "benchmarks.peers.thewalrus_peer", "permanent", "thewalrus")

TASKS = (
    Task("permanent", "dense, t = 20", _ours(), WALRUS, lambda: [20], agree=close, warm=True, quick=True),
    Task("permanent", "dense, t = 24", _ours(), WALRUS, lambda: [24], agree=close, warm=True),
    Task("permanent", "dense, t = 26", _ours(), WALRUS, lambda: [26], agree=close, warm=True),
    Task(
        "permanent and all t^2 edges, against the permanent alone",
        "dense, t = 24",
        _ours("edges_ours"),
        WALRUS,
        lambda: [24],
        agree=close,
        warm=True,
    ),
)
