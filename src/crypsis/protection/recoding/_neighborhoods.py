"""A recoding, improved by dividing neighborhoods of classes again."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.protection.recoding._deadline import ends
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding.kernels.neighborhoods import divide_again

_CLASSES, _FEWEST, _MOST = 15, 40, 400
"""About how many classes a neighborhood has, and between how many cells."""
_ROUNDS, _MORE_ROUNDS = 12, 25
"""In how many ways each is divided, and in small tables."""
_NONE: Ints = np.zeros(0, np.int64)
MAX_WORK = 200_000_000
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
    least = int((lost > 0).sum()) * _CLASSES * k // max(1, int(cells.counts[released][lost > 0].sum()))
    most = min(max(least, _FEWEST), _MOST)
    rounds = _ROUNDS if released.size > _MOST else _MORE_ROUNDS
    with ends(work):
        divide_again(owner, levels, seeds, most, rounds, k, shown, arrays, work)
    moved = np.where(owner[:, None] < 0, -1, levels[owner]).astype(np.int16)
    return min(recoding, cells.recoding(moved), key=lambda candidate: candidate.ncp)
