"""microaggregation in its own environment: the least sum of squares, by its C++ program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.tasks.enforcement import clusters_input
from microaggregation import calculate_sse_dynamic  # type: ignore[import-not-found]


def squares(values: int, k: int) -> Callable[[], Any]:
    column = clusters_input(values).reshape(-1, 1)
    return lambda: float(calculate_sse_dynamic(column, k))
