"""What releases of the same people disclose together: classes intersected, records and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TooLargeError
from crypsis.releases._tables import Ints, ReleaseTable
from crypsis.releases._weights import Floats, Weights
from crypsis.results import Estimate, Number

_MOST_ENTRIES = 20_000_000
_CERTAIN, _COMMON = 0.9, 0.5


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
        size = int(people.max(initial=0)) + 1
        keys, whose = np.unique(self.places * size + people[self.rows], return_inverse=True)
        weights = np.zeros(keys.size)
        np.maximum.at(weights, whose, self.weights)
        return keys // size, weights

    def certain_values(self, release_tables: Sequence[ReleaseTable]) -> dict[str, Number]:
        """For each sensitive attribute the share of records of which a value becomes near-certain.

        It is the value of at most half of all records, at least 90 % likely by all releases
        together, and not by one of them.
        """
        certain_by_attribute = {}
        for name, values in self.table.sensitive.items():
            best, value, alone = self._guesses(name, release_tables)
            rare = np.bincount(values)[value] <= _COMMON * self.table.rows
            sure = (best >= _CERTAIN - 1e-9) & rare
            certain_by_attribute[name] = self._share(sure[self.places] & (alone < _CERTAIN))
        return certain_by_attribute

    def gains(self, release_tables: Sequence[ReleaseTable]) -> dict[str, float]:
        """For each sensitive attribute the share of values guessed correctly that one release
        alone does not give away.
        """
        gain_by_attribute = {}
        people = self.weights if self.true is None else self.true.astype(float)
        total = max(float(people.sum()), np.finfo(float).tiny)
        for name, values in self.table.sensitive.items():
            best, value, alone = self._guesses(name, release_tables)
            correct = best[self.places]
            if self.true is not None:  # whether the guess is right, not how likely it is
                correct = (value[self.places] == values[self.rows]).astype(float)
            gain_by_attribute[name] = max(0.0, float((people * (correct - alone)).sum()) / total)
        return gain_by_attribute

    def _guesses(self, name: str, release_tables: Sequence[ReleaseTable]) -> tuple[Floats, Ints, Floats]:
        """The best guess in each intersection, its value, and of each entry that of one release."""
        values = self.table.sensitive[name]
        size = int(values.max(initial=0)) + 1
        keys, inverse = np.unique(self.places * size + values[self.rows], return_inverse=True)
        shares = np.bincount(inverse, weights=self.weights) / self._totals[keys // size]
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
    """In each class the share of its most frequent value."""
    values = table.sensitive[name]
    size = int(values.max(initial=0)) + 1
    keys, counts = np.unique(table.class_of * size + values, return_counts=True)
    largest = np.zeros(table.classes)
    np.maximum.at(largest, keys // size, counts)
    return largest / table.sizes


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
        if counts.sum() > _MOST_ENTRIES:
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
