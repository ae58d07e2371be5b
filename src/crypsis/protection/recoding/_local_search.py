"""A recoding, improved by a local search over its classes."""

from __future__ import annotations

from itertools import count

import numpy as np

from crypsis.array_types import Flags, Floats, Ints, Levels
from crypsis.counting.grouping import firsts, numbered
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._deadline import ends, passed
from crypsis.protection.recoding._levels import CellLevels, ColumnLevels, Recoding
from crypsis.protection.recoding._neighborhoods import MAX_DIVISION_WORK, divided_again
from crypsis.protection.recoding.kernels.local_search import improve

_MAX_MOVE_WORK = 60_000_000
"""How many costs of a cell in a class, or bounds of them in a block, the search computes."""
_FORBIDDEN_LEVEL_LOSS = 1000.0
"""The loss added to a level that is not allowed: more than anything can save."""
_MAX_MOVE_ROUNDS = 6
"""So many rounds of moves are made at most."""
_MIN_SAVED_SHARE = 2e-3
"""A round of moves that saves less of the loss is the last one."""
_UNLIMITED_WORK = 2**62
"""The work of a search that goes to the end."""
_MAX_TURNS = 2
"""So often neighborhoods are divided and cells moved, unless the search goes to the end."""
_MAX_IDLE_TURNS = 3
"""A search has gone to the end if so many turns in a row saved nothing."""


def improved(
    cells: CellLevels,
    requirements: ClassRequirements,
    recoding: Recoding,
    *,
    to_the_end: bool = False,
    empty: bool = True,
) -> Recoding:
    """The recoding after cells moved to other classes where that lowers the loss.

    Each class stays within the requirements; the loss is never higher. If sizes alone are required,
    neighborhoods of classes are divided again and single cells moved in turn. The search ends where
    it saves little for its work; `to_the_end`, where no move saves anything. A column of which a label
    does not lie within one label of the next level is not searched, nor are the others then. If not
    `empty`, no record loses its last value.
    """
    if not recoding.changes or not all(map(nested, cells.columns)):
        return recoding
    shown = _shown(cells, recoding, empty)
    if not requirements.sizes_only:
        return _moved(cells, requirements, recoding, to_the_end, shown)
    prices, k = _prices(cells), requirements.k
    work = np.array([_UNLIMITED_WORK if to_the_end else MAX_DIVISION_WORK])
    best, idle = recoding, 0
    for turn in count(1):
        before = best.ncp
        best = divided_again(cells, prices, k, best, work, turn=turn - 1, shown=shown)
        rounds = 1 if turn < _MAX_TURNS else _MAX_MOVE_ROUNDS
        best = _moved(cells, requirements, best, to_the_end, shown, rounds)
        idle = 0 if best.ncp < before else idle + 1
        if (turn >= _MAX_TURNS and not to_the_end) or idle == _MAX_IDLE_TURNS or passed():
            break
    return best


def _shown(cells: CellLevels, recoding: Recoding, empty: bool) -> Ints:
    """The columns of which each class has to show one below its top; none if all may be there."""
    gone = [column.name in recoding.fully_generalized_columns for column in cells.columns]
    shown = np.flatnonzero(~np.array(gone))
    if empty or (cells.limits < cells.tops)[shown].any():  # the tops of some are not allowed
        return shown[:0]
    return shown


def _moved(
    cells: CellLevels,
    requirements: ClassRequirements,
    recoding: Recoding,
    to_the_end: bool,
    shown: Ints,
    rounds: int = _MAX_MOVE_ROUNDS,
) -> Recoding:
    """The recoding after rounds of single moves (see `kernels.local_search`)."""
    arrays = (
        np.ascontiguousarray(cells.codes.T),
        np.ascontiguousarray(_prices(cells).T.astype(np.float32)),
        cells.lines,
        cells.tops,
        cells.counts,
    )
    sensitive = requirements.arrays(cells.counts.size)
    work = np.array([_MAX_MOVE_WORK])
    worth = _MIN_SAVED_SHARE
    if to_the_end:
        work[0], worth = _UNLIMITED_WORK, 0.0
    best = recoding
    fixed = _by_other_cells(cells, requirements, recoding.levels)
    for turn in count():
        owner, order, by_similarity = _classes(cells, best.levels, fixed)
        if order.size < 2:
            break
        with ends(work):
            levels = improve(owner, order, by_similarity, requirements.k, arrays, sensitive, shown, work)
        moved = np.where(owner[:, None] < 0, -1, levels[owner])
        candidate = cells.recoding(np.where(fixed[:, None], best.levels, moved).astype(np.int16))
        best, before = min(candidate, best, key=lambda recoding: recoding.ncp), best.ncp
        if before - best.ncp <= worth * before or work[0] <= 0 or passed():
            break
        if turn + 1 == rounds and not to_the_end:
            break
    return best


def _prices(cells: CellLevels) -> Floats:
    """The loss of each level; of one that is not allowed more than anything can save."""
    if not cells.limited:
        return cells.loss
    prices = cells.loss.copy()
    for line, limit, top, present in zip(cells.lines, cells.limits, cells.tops, cells.there.T, strict=True):
        prices[line + limit + 1 : line + top + 1, present] += _FORBIDDEN_LEVEL_LOSS
    return prices


def _by_other_cells(cells: CellLevels, requirements: ClassRequirements, levels: Levels) -> Flags:
    """The cells of classes that match enough of the population only by cells without records.

    On lower levels, which the search gives to a class if its own cells allow them, they might not.
    """
    if requirements.population is None:
        return np.zeros(cells.counts.size, bool)
    member, required = cells.class_of(levels), requirements.requirements
    people = np.bincount(member, requirements.population.matching)
    rows = np.bincount(member, cells.counts)
    few = people < (required.k_map or 0)
    if required.presence is not None:
        few |= rows > required.presence * people
    return np.asarray(few[member] & (levels[:, 0] >= 0))


def _classes(cells: CellLevels, levels: Levels, fixed: Flags) -> tuple[Ints, Ints, Ints]:
    """The class of each cell, -1 where it is suppressed; the classes by decreasing loss; by labels.

    The class of cells that are fixed is -2.
    """
    released = np.flatnonzero((levels[:, 0] >= 0) & ~fixed)
    member = numbered(cells.class_of(levels)[released])
    owner = np.where(fixed, np.int64(-2), np.int64(-1))
    owner[released] = member
    lost = cells.loss[cells.lines + levels[released], released[:, None]].sum(axis=1)
    rows = cells.counts[released]
    mean = np.bincount(owner[released], lost * rows) / np.bincount(owner[released], rows)
    return owner, np.argsort(-mean, kind="stable"), _by_labels(cells, levels, released[firsts(member)])


def _by_labels(cells: CellLevels, levels: Levels, first: Ints) -> Ints:
    """Classes in an order in which those with common labels, the dearest first, are near each other.

    `first` is a cell of each class.
    """
    column = np.repeat(np.arange(cells.tops.size), cells.tops + 1)
    line = np.argsort(cells.loss @ cells.counts, kind="stable")  # the dearest last
    level = (np.arange(column.size) - cells.lines[column])[line]
    shown = level[:, None] >= levels[np.ix_(first, column[line])].T
    return np.lexsort(np.where(shown, cells.codes[np.ix_(line, first)], -1))


def nested(column: ColumnLevels) -> bool:
    """Whether values with the same label have the same label on all higher levels."""
    for low, high in zip(column.codes[:-1], column.codes[1:], strict=True):
        pairs = np.unique(np.stack([low, high]), axis=1).shape[1]
        if pairs > np.unique(low).size:
            return False
    return True
