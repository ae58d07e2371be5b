"""What connects the records of two releases: a column that both have, the order of the rows, or
the values that nobody changed between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis.array_types import Flags, Ints
from crypsis.hierarchies.overlap import overlapping
from crypsis.releases._tables import ReleaseTable, group_of, shared_codes

_MIN_UNIQUE_SHARE = 0.95
"""The distinct values of a column that identifies people, as a share of its records."""
_MIN_AGREEMENT = 0.9
"""The share of linked rows that have to agree in the other columns."""
_MIN_LINKED_ROWS = 5
"""Fewer rows in common are no key; ten times as many are needed for the order."""
_MIN_STABLE_SHARE = 0.5
"""Where fewer of the values are in the other release, the column has changed."""
_MIN_ADVANTAGE = 0.05
"""How much better than random links those by a column or by the order have to agree."""
_MAX_ORDERED_ROWS = 20_000
"""Rows of files of different sizes that are compared in their order: the first ones."""
_EXTRA_ROWS_AHEAD = 50
"""How far ahead a row is sought, beyond the difference of the sizes."""


@dataclass(frozen=True, eq=False)
class Links:
    """How an intruder connects the records of a release with those of another."""

    by: str
    """ "column", "order", "key" (of the owner) or "values"."""
    columns: tuple[str, ...]
    """The columns that connect them."""
    numbers: Ints
    """What connects each row of the release, as a number ..."""
    other_numbers: Ints
    """... and each row of the other one; equal numbers may be the same person."""
    changed: tuple[str, ...] = ()
    """Columns that both have and whose values were changed, so that they connect nothing."""

    @property
    def exact(self) -> bool:
        """Whether they connect one record with one other."""
        return self.by != "values"

    def reversed(self) -> Links:
        """The same from the other release."""
        return Links(self.by, self.columns, self.other_numbers, self.numbers, self.changed)


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """Two releases and the labels of their common quasi-identifiers."""

    table: ReleaseTable
    other_table: ReleaseTable

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The quasi-identifiers of both."""
        names = self.table.quasi_identifiers
        return tuple(name for name in names if name in self.other_table.quasi_identifiers)

    @cached_property
    def compared(self) -> frozenset[str]:
        """The columns of both that are compared: quasi-identifiers by labels, others by values."""
        return frozenset((*self.shared, *(set(self.table.texts) & set(self.other_table.texts))))

    @cached_property
    def incomparable(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the release and of the other one that may be the same under other names.

        None, where one release has no column besides those compared: it is then a part of the other,
        and nothing in it can be a column of the other one in disguise.
        """
        columns, other_columns = (
            tuple(name for name in table.released if name not in self.compared)
            for table in (self.table, self.other_table)
        )
        return (columns, other_columns) if columns and other_columns else ((), ())

    @cached_property
    def _overlaps(self) -> tuple[dict[str, Flags], int]:
        masks, unread = {}, 0
        for name in self.shared:
            here, other_labels = (np.unique(table.label_of[name]) for table in (self.table, self.other_table))
            labels = [self.table.labels[name][i] for i in here]
            overlap = overlapping(labels, [self.other_table.labels[name][i] for i in other_labels])
            mask = np.zeros((len(self.table.labels[name]), len(self.other_table.labels[name])), bool)
            mask[np.ix_(here, other_labels)] = overlap.possible
            masks[name] = mask
            unread += overlap.unread
        return masks, unread

    @property
    def possible(self) -> dict[str, Flags]:
        """For each common quasi-identifier which labels may be those of one value."""
        return self._overlaps[0]

    @property
    def unread(self) -> int:
        """How many labels could not be compared."""
        return self._overlaps[1]

    def fits(self, rows: Ints, other_rows: Ints) -> Flags:
        """Whether rows of one release may be those of the other, by the quasi-identifiers."""
        is_possible = np.ones(rows.size, bool)
        for name in self.shared:
            here = self.table.label_of[name][self.table.class_of[rows]]
            other_labels = self.other_table.label_of[name][self.other_table.class_of[other_rows]]
            is_possible &= self.possible[name][here, other_labels]
        return is_possible


def find_links(pair: ReleasePair, on: str | None) -> Links:
    """The strongest connection that an intruder finds: a column, the order, or unchanged values."""
    shared = [name for name in pair.table.texts if name in pair.other_table.texts]
    codes = {name: shared_codes(pair.table.texts[name], pair.other_table.texts[name]) for name in shared}
    if on is not None and on in codes:
        return Links("column", (on,), *codes[on])
    stable: list[str] = []
    changed: list[str] = []
    for name, (first, second) in codes.items():
        (stable if np.isin(first, second).mean() >= _MIN_STABLE_SHARE else changed).append(name)

    def agree(rows: Ints, other_rows: Ints) -> Flags:
        agreement = pair.fits(rows, other_rows)
        for name in stable:
            first, second = codes[name]
            if not _unique(first):
                agreement &= first[rows] == second[other_rows]
        return agreement

    keys = [name for name, (first, second) in codes.items() if _is_key(first, second, agree)]
    if keys:
        key = max(keys, key=lambda name: float(np.isin(*codes[name]).mean()))
        return Links("column", (key,), *codes[key])
    order = _order(pair.table.rows, pair.other_table.rows, agree)
    if order is not None:
        return Links("order", (), *order, tuple(changed))
    if not stable:
        numbers, other_numbers = (np.zeros(table.rows, np.int64) for table in (pair.table, pair.other_table))
        return Links("values", (), numbers, other_numbers, tuple(changed))
    size = pair.table.rows
    together = group_of([np.concatenate(codes[name]) for name in stable])
    return Links("values", tuple(stable), together[:size], together[size:], tuple(changed))


def _unique(values: Ints) -> bool:
    return bool(np.unique(values).size >= _MIN_UNIQUE_SHARE * values.size)


def _is_key(first: Ints, second: Ints, agree: Callable[[Ints, Ints], Flags]) -> bool:
    """Whether a column identifies people in both: unique, shared, and in agreement with the rest.

    Numbers that were drawn anew are unique and shared, too, but agree with nothing.
    """
    if not (_unique(first) and _unique(second)) or min(first.size, second.size) < _MIN_LINKED_ROWS:
        return False
    _, rows, other_rows = np.intersect1d(first, second, return_indices=True)
    if rows.size < max(_MIN_LINKED_ROWS, 0.01 * min(first.size, second.size)):
        return False
    return _agrees(rows, other_rows, agree)


def _agrees(rows: Ints, other_rows: Ints, agree: Callable[[Ints, Ints], Flags]) -> bool:
    agreement = float(agree(rows, other_rows).mean())
    by_chance = float(agree(rows, np.random.default_rng(0).permutation(other_rows)).mean())
    return agreement >= _MIN_AGREEMENT and (
        agreement >= by_chance + _MIN_ADVANTAGE or by_chance >= 1 - _MIN_ADVANTAGE
    )


def _order(size: int, other_size: int, agree: Callable[[Ints, Ints], Flags]) -> tuple[Ints, Ints] | None:
    """The rows numbered along both files if they are in the same order; others have no number."""
    if min(size, other_size) < 10 * _MIN_LINKED_ROWS:
        return None
    rows, other_rows = _aligned(size, other_size, agree)
    if rows.size < _MIN_AGREEMENT * min(size, other_size, _MAX_ORDERED_ROWS):
        return None
    mixed = np.random.default_rng(0).permutation(other_rows)
    by_chance = float(agree(rows, mixed).mean())
    if by_chance > 1 - _MIN_ADVANTAGE or _shuffled_aligns(size, other_size, agree, rows.size):
        return None
    numbers, theirs = -1 - np.arange(size), -1 - size - np.arange(other_size)
    numbers[rows] = theirs[other_rows] = np.arange(rows.size)
    return numbers, theirs


def _aligned(size: int, other_size: int, agree: Callable[[Ints, Ints], Flags]) -> tuple[Ints, Ints]:
    """Rows that find one another, one after the other in the order of both files."""
    if size == other_size:
        all_rows = np.arange(size)
        fit = agree(all_rows, all_rows)
        return all_rows[fit], all_rows[fit]
    forward = size <= other_size
    few, many = (size, other_size) if forward else (other_size, size)
    ahead = min(many - few + _EXTRA_ROWS_AHEAD, many)
    at, matches = 0, []
    for row in range(min(few, _MAX_ORDERED_ROWS)):
        candidates = np.arange(at, min(at + ahead, many))
        here = np.full(candidates.size, row)
        fit = agree(here, candidates) if forward else agree(candidates, here)
        if fit.any():
            at += int(np.argmax(fit)) + 1
            matches.append((row, at - 1))
    pairs = np.array(matches, np.int64).reshape(-1, 2)
    return (pairs[:, 0], pairs[:, 1]) if forward else (pairs[:, 1], pairs[:, 0])


def _shuffled_aligns(size: int, other_size: int, agree: Callable[[Ints, Ints], Flags], aligned: int) -> bool:
    """Whether shuffled rows would be found in sequence as well, so that it shows nothing."""
    mixed = np.random.default_rng(0).permutation(size)
    rows, _ = _aligned(size, other_size, lambda rows, other_rows: agree(mixed[rows], other_rows))
    return bool(rows.size > 0.8 * aligned)
