"""Which classes meet the requirements, counted as far as a suppression budget allows."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from crypsis.protection.recoding.kernels.requirements import add, by_part, group_sound, places

Ints = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sound_within(
    cells: Ints, part: Ints, rows: Ints, k: int, sensitive: Any, budget: int
) -> tuple[NDArray[np.bool_], int]:
    """Which parts of some cells meet the requirements, and the rows of the others.

    As soon as these are more than the budget it ends: they are more still, and `good` is not final.
    """
    good = rows >= k
    lost = 0
    for p in range(rows.size):
        if not good[p]:
            lost += rows[p]
    values = places(sensitive)
    if lost > budget or values == 0:
        return good, lost
    order, starts = by_part(part, rows.size)
    present = np.empty(values)
    for p in range(rows.size):
        if good[p]:
            present[:] = 0.0
            mine = cells[order[starts[p] : starts[p + 1]]]
            for cell in mine:
                add(present, cell, 1.0, sensitive)
            if not group_sound(mine, rows[p], present, k, sensitive):
                good[p] = False
                lost += rows[p]
                if lost > budget:
                    break
    return good, lost
