"""How far ranks moved: lodha2007, section 4.1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.errors import ParameterError

Floats = NDArray[np.float64]


def rank_difference(values: ArrayLike, transformed: ArrayLike) -> float:
    """How far a transformation moves the ranks in all (lodha2007, Definition 8).

    Both columns are put in order together with the original values: the rank of a transformed value
    is the average rank of the original values equal to it, or lies between its neighbours. For
    distinct values mapped to values of the column this is the paper's definition.

    >>> rank_difference([1, 12, 4, 7, 3], [3, 7, 3, 7, 3])
    3.0
    """
    before, there = _there(values)
    after, stays = _there(transformed)
    if before.shape != after.shape:
        raise ParameterError("Both columns need the same number of values, row by row.")
    both = there & stays
    before, after = before[both], after[both]
    ordered = np.sort(before)
    return float(np.abs(_rank(ordered, after) - _rank(ordered, before)).sum())


def _there(values: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    given = np.asarray(values, np.float64)
    return given, ~np.isnan(given)


def _rank(ordered: Floats, values: Floats) -> Floats:
    below = np.searchsorted(ordered, values, "left")
    upto = np.searchsorted(ordered, values, "right")
    return np.asarray((below + upto + 1) / 2)
