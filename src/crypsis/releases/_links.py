"""What connects the records of two releases: a column that both have, the order of the rows, or
the values that nobody changed between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.hierarchies.overlap import overlapping
from crypsis.releases._tables import Ints, ReleaseTable, group_of, shared_codes

Mask = NDArray[np.bool_]

_UNIQUE, _AGREE, _FEWEST, _STABLE = 0.95, 0.9, 5, 0.5
_BETTER = 0.05
"""How much better than random links those by a column or by the order have to agree."""
_IN_SEQUENCE, _AHEAD = 20_000, 50


@dataclass(frozen=True, eq=False)
class Links:
    """How an intruder connects the records of a release with those of another."""

    by: str
    """ "column", "order", "key" (of the owner) or "values"."""
    columns: tuple[str, ...]
    """The columns that connect them."""
    own: Ints
    """What connects each row of the release, as a number ..."""
    other: Ints
    """... and each row of the other one; equal numbers may be the same person."""
    changed: tuple[str, ...] = ()
    """Columns that both have and whose values were changed, so that they connect nothing."""

    @property
    def exact(self) -> bool:
        """Whether they connect one record with one other."""
        return self.by != "values"

    def reversed(self) -> Links:
        """The same from the other release."""
        return Links(self.by, self.columns, self.other, self.own, self.changed)


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """Two releases and the labels of their common quasi-identifiers."""

    own: ReleaseTable
    other: ReleaseTable

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The quasi-identifiers of both."""
        names = self.own.quasi_identifiers
        return tuple(name for name in names if name in self.other.quasi_identifiers)

    @cached_property
    def compared(self) -> frozenset[str]:
        """The columns of both that are compared: quasi-identifiers by labels, others by values."""
        return frozenset((*self.shared, *(set(self.own.texts) & set(self.other.texts))))

    @cached_property
    def incomparable(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the release and of the other one that may be the same under other names.

        None, where one release has no column besides those compared: it is then a part of the other,
        and nothing in it can be a column of the other one in disguise.
        """
        own, other = (
            tuple(name for name in one.released if name not in self.compared)
            for one in (self.own, self.other)
        )
        return (own, other) if own and other else ((), ())

    @cached_property
    def _overlaps(self) -> tuple[dict[str, Mask], int]:
        masks, unread = {}, 0
        for name in self.shared:
            here, there = (np.unique(one.label_of[name]) for one in (self.own, self.other))
            labels = [self.own.labels[name][i] for i in here]
            found = overlapping(labels, [self.other.labels[name][i] for i in there])
            mask = np.zeros((len(self.own.labels[name]), len(self.other.labels[name])), bool)
            mask[np.ix_(here, there)] = found.possible
            masks[name] = mask
            unread += found.unread
        return masks, unread

    @property
    def possible(self) -> dict[str, Mask]:
        """For each common quasi-identifier which labels may be those of one value."""
        return self._overlaps[0]

    @property
    def unread(self) -> int:
        """How many labels could not be compared."""
        return self._overlaps[1]

    def fits(self, rows: Ints, others: Ints) -> Mask:
        """Whether rows of one release may be those of the other, by the quasi-identifiers."""
        found = np.ones(rows.size, bool)
        for name in self.shared:
            here = self.own.label_of[name][self.own.class_of[rows]]
            there = self.other.label_of[name][self.other.class_of[others]]
            found &= self.possible[name][here, there]
        return found


def find_links(pair: ReleasePair, on: str | None) -> Links:
    """The strongest connection that an intruder finds: a column, the order, or unchanged values."""
    shared = [name for name in pair.own.texts if name in pair.other.texts]
    codes = {name: shared_codes(pair.own.texts[name], pair.other.texts[name]) for name in shared}
    if on is not None and on in codes:
        return Links("column", (on,), *codes[on])
    stable: list[str] = []
    changed: list[str] = []
    for name, (one, two) in codes.items():
        (stable if np.isin(one, two).mean() >= _STABLE else changed).append(name)

    def agree(rows: Ints, others: Ints) -> Mask:
        found = pair.fits(rows, others)
        for name in stable:
            one, two = codes[name]
            if not _unique(one):
                found &= one[rows] == two[others]
        return found

    keys = [name for name, (one, two) in codes.items() if _is_key(one, two, agree)]
    if keys:
        key = max(keys, key=lambda name: float(np.isin(*codes[name]).mean()))
        return Links("column", (key,), *codes[key])
    order = _order(pair.own.rows, pair.other.rows, agree)
    if order is not None:
        return Links("order", (), *order, tuple(changed))
    if not stable:
        own, other = (np.zeros(one.rows, np.int64) for one in (pair.own, pair.other))
        return Links("values", (), own, other, tuple(changed))
    size = pair.own.rows
    together = group_of([np.concatenate(codes[name]) for name in stable])
    return Links("values", tuple(stable), together[:size], together[size:], tuple(changed))


def _unique(values: Ints) -> bool:
    return bool(np.unique(values).size >= _UNIQUE * values.size)


def _is_key(one: Ints, two: Ints, agree: Callable[[Ints, Ints], Mask]) -> bool:
    """Whether a column identifies people in both: unique, shared, and in agreement with the rest.

    Numbers that were drawn anew are unique and shared, too, but agree with nothing.
    """
    if not (_unique(one) and _unique(two)) or min(one.size, two.size) < _FEWEST:
        return False
    _, rows, others = np.intersect1d(one, two, return_indices=True)
    if rows.size < max(_FEWEST, 0.01 * min(one.size, two.size)):
        return False
    return _agrees(rows, others, agree)


def _agrees(rows: Ints, others: Ints, agree: Callable[[Ints, Ints], Mask]) -> bool:
    there = float(agree(rows, others).mean())
    by_chance = float(agree(rows, np.random.default_rng(0).permutation(others)).mean())
    return there >= _AGREE and (there >= by_chance + _BETTER or by_chance >= 1 - _BETTER)


def _order(size: int, other: int, agree: Callable[[Ints, Ints], Mask]) -> tuple[Ints, Ints] | None:
    """The rows numbered along both files if they are in the same order; others have no number."""
    if min(size, other) < 10 * _FEWEST:
        return None
    rows, others = _aligned(size, other, agree)
    if rows.size < _AGREE * min(size, other, _IN_SEQUENCE):
        return None
    mixed = np.random.default_rng(0).permutation(others)
    by_chance = float(agree(rows, mixed).mean())
    if by_chance > 1 - _BETTER or _shuffled_aligns(size, other, agree, rows.size):
        return None
    own, theirs = -1 - np.arange(size), -1 - size - np.arange(other)
    own[rows] = theirs[others] = np.arange(rows.size)
    return own, theirs


def _aligned(size: int, other: int, agree: Callable[[Ints, Ints], Mask]) -> tuple[Ints, Ints]:
    """Rows that find one another, one after the other in the order of both files."""
    if size == other:
        every = np.arange(size)
        fit = agree(every, every)
        return every[fit], every[fit]
    forward = size <= other
    few, many = (size, other) if forward else (other, size)
    ahead = min(many - few + _AHEAD, many)
    at, found = 0, []
    for row in range(min(few, _IN_SEQUENCE)):
        there = np.arange(at, min(at + ahead, many))
        here = np.full(there.size, row)
        fit = agree(here, there) if forward else agree(there, here)
        if fit.any():
            at += int(np.argmax(fit)) + 1
            found.append((row, at - 1))
    pairs = np.array(found, np.int64).reshape(-1, 2)
    return (pairs[:, 0], pairs[:, 1]) if forward else (pairs[:, 1], pairs[:, 0])


def _shuffled_aligns(size: int, other: int, agree: Callable[[Ints, Ints], Mask], found: int) -> bool:
    """Whether shuffled rows would be found in sequence as well, so that it shows nothing."""
    mixed = np.random.default_rng(0).permutation(size)
    rows, _ = _aligned(size, other, lambda one, two: agree(mixed[one], two))
    return bool(rows.size > 0.8 * found)
