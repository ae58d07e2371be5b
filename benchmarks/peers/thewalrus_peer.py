"""thewalrus in its own environment: the permanent of a doubly stochastic matrix, by Glynn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.tasks.permanents import matrix
from thewalrus import perm  # type: ignore[import-not-found]


def permanent(size: int) -> Callable[[], Any]:
    cells = matrix(size)
    return lambda: float(perm(cells, method="bbfg"))
