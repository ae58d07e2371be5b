"""k-anonymity of every combination of some quasi-identifiers, as offices require it.

Classes of all quasi-identifiers may be smaller than k, so cells need not move together: each value
of a cell is on the lowest level found on which all combinations with it have k records. Values that
are too rare rise level by level, the cheapest for the number of combinations with it first;
then columns are lowered again wherever that leaves no combination too small. Recodings with k
records in every class of all columns meet the requirement as well, and so do the best levels that
are equal for all records; they are lowered in the same way, and the result with the least loss is
taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count

import numpy as np

from crypsis import progress
from crypsis.array_types import Flags, Floats, Ints, Levels
from crypsis.counting.grouping import group
from crypsis.errors import RequirementsNotMetError
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding._class_requirements import ClassRequirements, PeopleOfCells
from crypsis.protection.recoding._deadline import limited, passed
from crypsis.protection.recoding._full_domain import not_kept
from crypsis.protection.recoding._lattice import vectors_by_loss
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding._search import local_recoding

_MAX_VECTORS = 3_000
"""So many choices of levels, equal for all records, are visited, those with the least loss first."""
_MAX_LOWERING_PASSES = 3
"""How often all columns are lowered where every combination keeps its size."""


def recoding_of_combinations(
    cells: CellLevels, requirements: ClassRequirements, budget_rows: int, *, local: bool
) -> Recoding:
    """Levels on which every combination of the required number of columns has k records."""
    search = _Combinations(cells, requirements)
    if not local:
        return _full_domain(search, budget_rows)
    required = requirements.requirements
    full_requirements = required.model_copy(
        update={"k": required.combination_k, "combinations": None, "combination_k": None}
    )
    tries: list[Recoding] = []
    failure: RequirementsNotMetError | None = None

    def within() -> list[Recoding]:
        """Those that can be released."""
        few = [recoding for recoding in tries if recoding.rows_touched <= budget_rows]
        return [recoding for recoding in few if not search.small(recoding.levels).any()]

    with progress.step("searching combinations") as step:
        for start in (
            search.raised,
            lambda: _all_columns(cells, requirements, full_requirements, budget_rows),
            lambda: _full_domain(search, budget_rows).levels,
        ):
            if limited() and within() and passed():
                break
            try:
                tries.append(cells.recoding(search.lowered(start())))
            except RequirementsNotMetError as error:
                failure = error
            step.advance()
    sound = within()
    if not sound:
        if failure is not None:
            raise failure
        raise not_kept(cells, min(recoding.rows_touched for recoding in tries))
    return min(sound, key=lambda recoding: recoding.ncp)


def _all_columns(
    cells: CellLevels,
    requirements: ClassRequirements,
    privacy_requirements: PrivacyRequirements,
    budget_rows: int,
) -> Levels:
    """The levels on which the classes of all columns have k records."""
    required = replace(requirements, requirements=privacy_requirements)
    return local_recoding(cells, required, budget_rows).levels


class _Combinations:
    """The combinations of columns, and the cells that are in too small a class of one."""

    def __init__(self, cells: CellLevels, requirements: ClassRequirements) -> None:
        required = requirements.requirements
        self.cells, self.k = cells, required.combination_k or 1
        self.people: PeopleOfCells | None = requirements.people
        size = min(required.combinations or 1, cells.tops.size)
        self.sets = list(combinations(range(cells.tops.size), size))
        self.widths = [int(column.codes.max(initial=0)) + 1 for column in cells.columns]
        self.below: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}

    def keys(self, levels: Levels, c: int) -> Ints:
        """The label of each cell in a column: 0 if suppressed with its record, 1 if missing."""
        column, level = self.cells.columns[c], levels[:, c].astype(np.int64)
        codes = column.codes[np.maximum(level, 0), self.cells.places[c]].astype(np.int64)
        gone = (level == column.top) | ~self.cells.there[:, c]
        keys = np.where(gone, 1, 2 + level * self.widths[c] + codes)
        return np.asarray(np.where(level < 0, 0, keys))

    def sizes(self, keys: Mapping[int, Ints], chosen: Sequence[int]) -> tuple[Ints, Ints]:
        """The class of each cell in a combination, and the records or people of each class."""
        codes = tuple(keys[c].astype(np.int32) for c in chosen)
        _, member = group(codes, tuple(int(keys[c].max()) + 1 for c in chosen))
        counts = self.cells.counts
        if self.people is None:
            return member, np.bincount(member, counts).astype(np.int64)
        cell = np.repeat(np.arange(counts.size), np.diff(self.people.first))
        pairs = np.unique(np.stack([member[cell], self.people.people]), axis=1)
        return member, np.bincount(pairs[0], minlength=int(member.max()) + 1).astype(np.int64)

    def small(self, levels: Levels) -> Ints:
        """For each cell and column the number of combinations with it that are too small."""
        keys = {c: self.keys(levels, c) for c in range(self.cells.tops.size)}
        violations = np.zeros((self.cells.counts.size, len(keys)), np.int64)
        out = levels[:, 0] < 0
        for chosen in self.sets:
            member, sizes = self.sizes(keys, chosen)
            bad = np.flatnonzero((sizes[member] < self.k) & ~out)
            violations[np.ix_(bad, np.array(chosen))] += 1
        return violations

    def hopeless(self, vector: Sequence[int], budget_rows: int) -> bool:
        """Whether one combination on these levels suppresses too many records already."""
        for chosen in self.sets:
            levels = tuple(vector[c] for c in chosen)
            if (chosen, levels) not in self.below:
                same = np.tile(np.array(vector, np.int16), (self.cells.counts.size, 1))
                keys = {c: self.keys(same, c) for c in chosen}
                member, sizes = self.sizes(keys, chosen)
                bad = sizes[member] < self.k
                self.below[chosen, levels] = int(self.cells.counts[bad].sum())
            if self.below[chosen, levels] > budget_rows:
                return True
        return False

    def raised(self) -> Levels:
        """From the values up: too rare values rise, one column of a cell at a time."""
        cells = self.cells
        levels = np.zeros((cells.counts.size, cells.tops.size), np.int16)
        while True:
            bad = self.small(levels)
            rows = np.flatnonzero(bad.any(axis=1))
            if not rows.size:
                return levels
            gains = np.full((rows.size, cells.tops.size), -1.0)
            for c in range(cells.tops.size):
                level = levels[rows, c].astype(np.int64)
                above = np.minimum(level + 1, cells.limits[c])
                line = cells.lines[c]
                cost = cells.loss[line + above, rows] - cells.loss[line + level, rows]
                able = (level < cells.limits[c]) & cells.there[rows, c]
                gains[:, c] = np.where(able, bad[rows, c] / (cost + 1e-3), -1.0)
            best = gains.argmax(axis=1)
            rising = gains[np.arange(rows.size), best] > 0
            if rising.any():
                levels[rows[rising], best[rising]] += 1
            else:  # nothing can rise: these records are removed
                levels[rows] = -1

    def lowered(self, levels: Levels) -> Levels:
        """The levels after columns were lowered wherever every combination keeps its size."""
        for _ in range(_MAX_LOWERING_PASSES):
            before = levels
            for c in np.argsort(-self._lost(levels), kind="stable").tolist():
                for _ in range(int(self.cells.tops[c])):
                    lower = self._lower(levels, c)
                    if (lower == levels).all():
                        break
                    levels = lower
            if (levels == before).all():
                break
        return levels

    def _lost(self, levels: Levels) -> Floats:
        cells = self.cells
        at = cells.lines + np.maximum(levels, 0)
        lost = cells.loss[at, np.arange(cells.counts.size)[:, None]]
        return np.asarray((lost * cells.counts[:, None]).sum(axis=0))

    def _lower(self, levels: Levels, c: int) -> Levels:
        """One column a level lower, in as many cells as every combination allows."""
        sets = [columns for columns in self.sets if c in columns]
        moved: Flags = (levels[:, c] > 0) & self.cells.there[:, c]
        keys = {column: self.keys(levels, column) for column in range(self.cells.tops.size)}
        before = [self.sizes(keys, chosen)[0] for chosen in sets]
        while moved.any():
            after = levels.copy()
            after[moved, c] -= 1
            keys[c] = self.keys(after, c)
            back = np.zeros_like(moved)
            for chosen, old in zip(sets, before, strict=True):
                member, sizes = self.sizes(keys, chosen)
                bad = (sizes[member] < self.k) & (levels[:, 0] >= 0)
                back |= bad & moved
                # Those who left a class that is too small without them return to it.
                left = np.zeros(int(old.max()) + 1, bool)
                left[old[bad & ~moved]] = True
                back |= moved & left[old]
            if not back.any():
                return after
            moved = moved & ~back
        return levels


def _full_domain(search: _Combinations, budget_rows: int) -> Recoding:
    """The levels, equal for all records, with the least loss if rare records are suppressed."""
    cells = search.cells
    rows = int(cells.counts.sum())
    best: Recoding | None = None
    fewest, visits = rows, count(1)
    for floor, vector in vectors_by_loss(cells, lambda: next(visits) < _MAX_VECTORS):
        if best is not None and floor >= best.ncp:
            break
        if search.hopeless(vector, budget_rows):
            continue
        levels = np.tile(np.array(vector, np.int16), (cells.counts.size, 1))
        while True:
            bad = search.small(levels).any(axis=1)
            if not bad.any():
                break
            levels[bad] = -1
            if cells.counts[levels[:, 0] < 0].sum() > budget_rows:
                break
        recoding = cells.recoding(levels)
        fewest = min(fewest, recoding.suppressed_records)
        if recoding.suppressed_records > budget_rows or recoding.suppressed_records == rows:
            continue
        if best is None or recoding.ncp < best.ncp:
            best = recoding
    if best is None:
        if cells.limited:
            raise not_kept(cells, fewest)
        raise RequirementsNotMetError(
            "No generalization levels meet the requirements within the suppression budget.",
            code="no-levels",
            hint="Relax the requirements or raise {suppression}.",
        )
    return best
