"""A recoding, improved by dividing neighborhoods of classes again."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.protection.recoding._deadline import ends
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding.kernels.neighborhoods import divide_again

_TARGET_CLASSES = 15
"""About so many classes are a neighborhood."""
_MIN_CELLS = 40
"""A neighborhood is never limited to fewer cells."""
_MAX_CELLS = 400
"""The most cells of a neighborhood; a table of up to so many is small."""
_DIVISIONS = 12
"""In so many ways each neighborhood is divided."""
_DIVISIONS_OF_SMALL_TABLES = 25
"""In so many ways each neighborhood of a small table is divided."""
_NONE: Ints = np.zeros(0, np.int64)
MAX_DIVISION_WORK = 200_000_000
"""How many members of possible classes are looked at."""


def divided_again(
    cells: CellLevels,
    prices: Floats,
    k: int,
    recoding: Recoding,
    work: Ints,
    *,
    turn: int = 0,
    shown: Ints = _NONE,
) -> Recoding:
    """The recoding after neighborhoods of classes were divided again wherever that lowers the loss.

    Sizes alone are required: each class has `k` records. `prices` has the loss of every label, a line
    each; `work[0]`, how many members of possible classes may still be looked at, is lowered. Each
    `turn` goes through the cells in another order. No class is formed of which no column of `shown`
    is below its top.
    """
    released = np.flatnonzero(recoding.levels[:, 0] >= 0)
    _, member = np.unique(cells.class_of(recoding.levels)[released], return_inverse=True)
    owner = np.full(cells.counts.size, -1, np.int64)
    owner[released] = member.ravel()
    rows = int(cells.counts[released].sum())
    levels = np.zeros((max(int(owner.max()) + 1, rows // k) + 1, cells.tops.size), np.int64)
    levels[owner[released]] = recoding.levels[released]
    arrays = (
        np.ascontiguousarray(cells.codes.T),
        np.ascontiguousarray(prices.T.astype(np.float32)),
        cells.lines,
        cells.limits,
        cells.counts,
    )
    lost = arrays[1][released[:, None], cells.lines + recoding.levels[released]].sum(axis=1)
    seeds = released[np.argsort(-lost, kind="stable")]
    if turn > 0:
        seeds = np.random.default_rng(turn).permutation(released)
    least = int((lost > 0).sum()) * _TARGET_CLASSES * k // max(1, int(cells.counts[released][lost > 0].sum()))
    most = min(max(least, _MIN_CELLS), _MAX_CELLS)
    rounds = _DIVISIONS if released.size > _MAX_CELLS else _DIVISIONS_OF_SMALL_TABLES
    with ends(work):
        divide_again(owner, levels, seeds, most, rounds, k, shown, arrays, work)
    moved = np.where(owner[:, None] < 0, -1, levels[owner]).astype(np.int16)
    return min(recoding, cells.recoding(moved), key=lambda candidate: candidate.ncp)
