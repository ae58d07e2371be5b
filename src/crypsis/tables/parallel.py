"""The same done to every column, on all cores where that is worth a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from crypsis.threads import map_threads

_MIN_THREADED_VALUES = 2_000_000
"""Fewer values take about as long as starting threads."""


def each_column(
    function: Callable[..., Any], columns: Sequence[pa.ChunkedArray], *more: Sequence[Any]
) -> list[Any]:
    """What the function makes of every column, in their order."""
    if sum(map(len, columns)) < _MIN_THREADED_VALUES:
        return list(map(function, columns, *more))
    return map_threads(function, columns, *more)
