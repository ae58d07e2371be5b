"""Slow and plain versions of what `linkage` does fast: all pairs, one record at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]


def average_ranks(values: NDArray[Any]) -> Floats:
    return np.asarray(rankdata(values, axis=0), dtype=np.float64)


def pairwise(x: Floats, y: Floats) -> Floats:
    """The maximum rank difference of all pairs."""
    return np.abs(x[:, None, :] - y[None, :, :]).max(axis=2)


def nearest(x: Floats, y: Floats) -> tuple[Floats, list[list[int]]]:
    """The smallest distance of each row of x, and all rows of y at it."""
    table = pairwise(x, y)
    least = table.min(axis=1)
    return least, [np.flatnonzero(row == best).tolist() for row, best in zip(table, least, strict=True)]
