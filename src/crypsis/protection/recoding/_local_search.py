"""A recoding, improved by a local search over its classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._levels import CellLevels, ColumnLevels, Levels, Recoding
from crypsis.protection.recoding.kernels.local_search import improve

Ints = NDArray[np.int64]

_MAX_WORK, _MAX_WORK_SENSITIVE = 60_000_000, 150_000_000
"""How many costs of a cell in a class the search computes; it saves more if values are required."""
_ROUNDS, _WORTH = 6, 1e-3
"""How many rounds are made, and the part of the loss that each must save."""


def improved(cells: CellLevels, requirements: ClassRequirements, found: Recoding) -> Recoding:
    """The recoding after cells moved to other classes where that lowers the loss.

    Each class stays within the requirements; the loss is never higher. A column of which a label
    does not lie within one label of the next level is not searched, nor are the others then.
    """
    if not found.changes or not all(map(nested, cells.columns)):
        return found
    arrays = (
        np.ascontiguousarray(cells.codes.T), np.ascontiguousarray(cells.loss.T.astype(np.float32)),
        cells.lines, cells.tops, cells.counts,
    )  # fmt: skip
    sensitive = requirements.arrays(cells.counts.size)
    work = np.array([_MAX_WORK if requirements.sizes_only else _MAX_WORK_SENSITIVE])
    best = found
    for _ in range(_ROUNDS):
        owner, order = _classes(cells, best.levels)
        if order.size < 2:
            break
        levels = improve(owner, order, requirements.k, arrays, sensitive, work)
        other = cells.recoding(np.where(owner[:, None] < 0, -1, levels[owner]).astype(np.int16))
        best, before = min(other, best, key=lambda one: one.ncp), best.ncp
        if before - best.ncp < _WORTH * before or work[0] <= 0:
            break
    return best


def _classes(cells: CellLevels, levels: Levels) -> tuple[Ints, Ints]:
    """The class of each cell, -1 where it is suppressed; the classes by decreasing loss."""
    labels = cells.codes[cells.lines + np.maximum(levels, 0), np.arange(cells.counts.size)[:, None]]
    there = np.flatnonzero(levels[:, 0] >= 0)
    keys = np.ascontiguousarray(np.hstack([levels, labels])[there])
    _, member = np.unique(keys, axis=0, return_inverse=True)
    owner = np.full(cells.counts.size, -1, np.int64)
    owner[there] = member.ravel()
    lost = cells.loss[cells.lines + levels[there], there[:, None]].sum(axis=1)
    rows = cells.counts[there]
    mean = np.bincount(owner[there], lost * rows) / np.bincount(owner[there], rows)
    return owner, np.argsort(-mean, kind="stable")


def nested(column: ColumnLevels) -> bool:
    """Whether values with the same label have the same label on all higher levels."""
    for low, high in zip(column.codes[:-1], column.codes[1:], strict=True):
        pairs = np.unique(np.stack([low, high]), axis=1).shape[1]
        if pairs > np.unique(low).size:
            return False
    return True
