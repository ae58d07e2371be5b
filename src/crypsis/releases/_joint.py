"""What releases of the same people disclose together: classes intersected, records and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.errors import TooLargeError
from crypsis.releases._tables import ReleaseTable
from crypsis.releases._weights import Weights
from crypsis.results import Estimate, Number

_MAX_ENTRIES = 20_000_000
"""Rows times the intersections of classes that they may be in; more are refused."""
_CERTAIN_SHARE = 0.9
"""The probability from which a value is near-certain."""
_COMMON_SHARE = 0.5
"""A value that more of the records have discloses nothing."""


@dataclass(frozen=True, eq=False)
class Intersections:
    """The classes of all releases intersected, and the records that may be in each.

    An intruder who knows the quasi-identifiers of a person knows their class in every release. Each
    entry is a record of the release and an intersection, with the probability that the person of
    the record is in it.
    """

    table: ReleaseTable
    rows: Ints
    places: Ints
    """The intersection of each entry."""
    weights: Floats
    sure: Floats
    most: Floats
    classes: tuple[Ints, ...]
    """The class in each other release, of each entry."""
    exact: bool
    """Whether the records are connected one by one, so that the weights are counts."""
    same_people: bool
    """Whether everybody of the release is in the others, so that `sure` is right."""
    true: NDArray[np.bool_] | None = None
    """Which entries are those of the people themselves, where the owner's keys are given."""

    @property
    def _totals(self) -> Floats:
        return np.bincount(self.places, weights=self.weights).astype(np.float64)

    def small(self, k: int) -> Number:
        """The share of records whose person an intruder finds with a probability above 1/k."""
        places, weights = self._people
        largest = np.zeros(self._totals.size)
        np.maximum.at(largest, places, weights)
        totals = np.bincount(places, weights, self._totals.size)
        risky = (largest * k > totals * (1 + 1e-6))[self.places]
        return self._share(risky)

    @property
    def _people(self) -> tuple[Ints, Floats]:
        """The intersection of each person, or record, that may be in it, and how likely that is."""
        people = self.table.people
        if people is None:
            return self.places, self.weights
        keys, pair_of = np.unique(_pairs(self.places, people[self.rows]), return_inverse=True)
        return keys // (int(people.max(initial=0)) + 1), _largest(self.weights, pair_of)

    def certain_values(self, release_tables: Sequence[ReleaseTable]) -> dict[str, Number]:
        """For each sensitive attribute the share of records of which a value becomes near-certain.

        It is the value of at most half of all records, at least 90 % likely by all releases
        together, and not by one of them.
        """
        certain_by_attribute = {}
        for name, values in self.table.sensitive.items():
            best, value, alone = self._guesses(name, release_tables)
            holders, everybody = _holders(values, self.table.people)
            rare = holders[value] <= _COMMON_SHARE * everybody
            sure = (best >= _CERTAIN_SHARE - 1e-9) & rare
            certain_by_attribute[name] = self._share(sure[self.places] & (alone < _CERTAIN_SHARE))
        return certain_by_attribute

    def gains(self, release_tables: Sequence[ReleaseTable]) -> dict[str, float]:
        """For each sensitive attribute the share of values guessed correctly that one release
        alone does not give away: of people, where they are known, and else of records.
        """
        gain_by_attribute = {}
        likely = self.weights if self.true is None else self.true.astype(float)
        if self.table.people is None:
            unit = np.arange(self.rows.size)
        else:
            unit = np.unique(_pairs(self.places, self.table.people[self.rows]), return_inverse=True)[1]
        weights = _largest(likely, unit)
        total = max(float(weights.sum()), np.finfo(float).tiny)
        for name, values in self.table.sensitive.items():
            best, value, alone = self._guesses(name, release_tables)
            correct = best[self.places]
            if self.true is not None:  # whether the guess is right, not how likely it is
                correct = (self.true & (value[self.places] == values[self.rows])).astype(float)
            gains = _largest(correct, unit) - _largest(alone, unit)
            gain_by_attribute[name] = max(0.0, float((weights * gains).sum()) / total)
        return gain_by_attribute

    def _guesses(self, name: str, release_tables: Sequence[ReleaseTable]) -> tuple[Floats, Ints, Floats]:
        """The best guess in each intersection, its value, and of each entry that of one release."""
        values = self.table.sensitive[name]
        size = int(values.max(initial=0)) + 1
        people = None if self.table.people is None else self.table.people[self.rows]
        keys, having = _having(self.places * size + values[self.rows], people, self.weights)
        totals = np.bincount(*self._people, self._totals.size)
        shares = having / totals[keys // size]
        order = np.lexsort((shares, keys // size))
        last = np.append(np.diff((keys // size)[order]) != 0, True)[: keys.size]
        best, value = shares[order][last], (keys % size)[order][last]
        alone = _best_guess(self.table, name)[self.table.class_of[self.rows]]
        for release_table, classes in zip(release_tables, self.classes, strict=True):
            if name in release_table.sensitive:
                alone = np.maximum(alone, _best_guess(release_table, name)[classes])
        return best, value, alone

    def _share(self, chosen: NDArray[np.bool_]) -> Number:
        if self.true is not None:
            return int((chosen & self.true).sum()) / self.table.rows
        value = float(self.weights[chosen].sum()) / self.table.rows
        if self.exact or not chosen.any():
            return value
        low = float(self.sure[chosen].sum()) / self.table.rows if self.same_people else 0.0
        high = min(1.0, float(self.most[chosen].sum()) / self.table.rows)
        return Estimate(
            min(max(value, low), high),
            low,
            high,
            confidence=1.0,
            method="bounds by the counts of the releases",
        )


def _best_guess(table: ReleaseTable, name: str) -> Floats:
    """In each class the share of its most frequent value: of people, where they are known."""
    values = table.sensitive[name]
    size = int(values.max(initial=0)) + 1
    ones = np.ones(table.rows)
    keys, counts = _having(table.class_of * size + values, table.people, ones)
    largest = _largest(counts, keys // size, table.classes)
    return largest / _having(table.class_of, table.people, ones)[1]


def _holders(values: Ints, people: Ints | None) -> tuple[Ints, int]:
    """How many people, or records, have each value, and how many there are."""
    if people is None:
        return np.bincount(values), values.size
    distinct = np.unique(np.stack([values, people]), axis=1)[0]
    return np.bincount(distinct), np.unique(people).size


def _having(keys: Ints, people: Ints | None, weights: Floats) -> tuple[Ints, Floats]:
    """The distinct keys with the weight of each: a person counts once, however many records have it."""
    if people is not None:
        pairs, pair_of = np.unique(_pairs(keys, people), return_inverse=True)
        weights = _largest(weights, pair_of)
        keys = pairs // (int(people.max(initial=0)) + 1)
    distinct, inverse = np.unique(keys, return_inverse=True)
    return distinct, np.asarray(np.bincount(inverse, weights), np.float64)


def _pairs(keys: Ints, people: Ints) -> Ints:
    return np.asarray(keys * (int(people.max(initial=0)) + 1) + people)


def _largest(values: Floats, member: Ints, count: int | None = None) -> Floats:
    """The largest value of each member."""
    largest = np.zeros(int(member.max(initial=-1)) + 1 if count is None else count)
    np.maximum.at(largest, member, values)
    return largest


def intersect(
    table: ReleaseTable,
    weights: Sequence[Weights],
    *,
    exact: bool,
    same_people: bool,
    true: Sequence[Ints | None],
) -> Intersections:
    """The intersections of the classes of a release with those of others.

    `true` has for each of them the class of the person of each row, -1 if they are not in it.
    """
    rows, places = np.arange(table.rows), table.class_of.astype(np.int64)
    numbers = [np.ones(table.rows) for _ in range(3)]
    classes: list[Ints] = []
    for weight in weights:
        starts = np.searchsorted(weight.rows, rows, "left")
        counts = np.searchsorted(weight.rows, rows, "right") - starts
        if counts.sum() > _MAX_ENTRIES:
            raise TooLargeError("The releases have too many intersections of classes to count.")
        entry = np.repeat(np.arange(rows.size), counts)
        at = starts[entry] + np.arange(entry.size)
        at -= np.repeat(np.cumsum(counts) - counts, counts)
        classes = [column[entry] for column in classes]
        rows, places = rows[entry], places[entry]
        # Of bounds the product is one only for the upper end; for the lower all but one may fail.
        least = np.maximum(0.0, numbers[1][entry] + weight.sure[at] - 1)
        most = np.minimum(numbers[2][entry], weight.most[at])
        numbers = [numbers[0][entry] * weight.weights[at], least, most]
        chosen = weight.classes[at]
        classes.append(chosen)
        size = int(chosen.max(initial=0)) + 1
        places = np.unique(places * size + chosen, return_inverse=True)[1].astype(np.int64)
    true_links = None
    if all(true_classes is not None for true_classes in true):
        pairs = zip(classes, true, strict=True)
        true_links = np.logical_and.reduce(
            [
                np.ones(rows.size, bool),
                *(
                    true_class == other_class[rows]
                    for true_class, other_class in pairs
                    if other_class is not None
                ),
            ]
        )
    return Intersections(
        table,
        rows,
        places,
        numbers[0],
        numbers[1],
        numbers[2],
        tuple(classes),
        exact,
        same_people,
        true_links,
    )
