"""Both files as fields; masked records that are alike in all columns are one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from crypsis.counting import arrays
from crypsis.counting.grouping import firsts, numbered
from crypsis.linkage._orders import Orders
from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._field_kinds import field_of
from crypsis.linkage.suite._fields import Field, NumberField


@dataclass(frozen=True, eq=False)
class PeopleInPlaces:
    """How many masked records each person has in each place, and the person of each target."""

    of_target: Ints
    person: Ints
    place: Ints
    count: Floats

    @classmethod
    def of(cls, person: Ints, own: Ints, code: Ints, targets: Ints) -> PeopleInPlaces | None:
        """The people of the original records, each of which has a masked row or none (-1)."""
        released = np.flatnonzero(own >= 0)
        if np.unique(person[released]).size == released.size:
            return None
        pairs = np.stack([person[released], code[own[released]]])
        (of_person, place), count = np.unique(pairs, axis=1, return_counts=True)
        return cls(person[targets], of_person, place, count.astype(np.float64))

    def records(self, person: Ints, place: Ints) -> Floats:
        """The masked records of a person in a place."""
        width = int(self.place.max()) + 1
        keys, wanted = self.person * width + self.place, person * width + place
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where((keys[at] == wanted) & (place >= 0) & (place < width), self.count[at], 0.0)


@dataclass(frozen=True, eq=False)
class Files:
    """The fields of two files, the places of the masked records, and who is attacked.

    `targets` are the original records that the intruder links: all, or a sample. `own` has the
    place of each target's own masked record: -1 where it was suppressed, None where it is unknown.
    """

    fields: tuple[Field, ...]
    originals: int
    masked: int
    place_of: Ints
    sizes: Ints
    targets: Ints
    own: Ints | None
    seed: int
    people: PeopleInPlaces | None = None
    """Whose records these are, where that is known and people have several."""

    def of_target(self, target: Ints, place: Ints) -> Floats:
        """How many masked records of a place are a target's own: those of the person, if that is known."""
        assert self.own is not None  # noqa: S101 - asked by the caller
        if self.people is None:
            return np.asarray((place == self.own[target]) & (place >= 0), np.float64)
        return self.people.records(self.people.of_target[target], place)

    @cached_property
    def chance(self) -> float:
        """The share of correct links of a random guess."""
        if self.people is None:
            return 1.0 / self.masked
        released = np.bincount(self.people.person, self.people.count, int(self.people.of_target.max()) + 1)
        return float(self.by_unit(released[self.people.of_target].astype(np.float64)).mean()) / self.masked

    def by_unit(self, of_target: Floats) -> Floats:
        """What is known of each target as a mean of each person, where people have several records."""
        if self.people is None:
            return of_target
        _, person, records = np.unique(self.people.of_target, return_inverse=True, return_counts=True)
        return np.asarray(np.bincount(person, of_target) / records)

    @cached_property
    def fold(self) -> Ints:
        """Which half each target belongs to: what is learned from one half is tried on the other."""
        rng = np.random.default_rng((self.seed, 21))
        halves = np.arange(len(self.targets)) % 2
        return np.asarray(rng.permutation(halves))

    @cached_property
    def known(self) -> Ints:
        """The targets whose own record is known and released."""
        return np.zeros(0, np.int64) if self.own is None else np.flatnonzero(self.own >= 0)

    @cached_property
    def numbers(self) -> tuple[NumberField, ...]:
        """The fields that have ranks."""
        return tuple(field for field in self.fields if isinstance(field, NumberField))

    @cached_property
    def points(self) -> list[tuple[Floats, Floats]]:
        """The coordinates of each field: those of the targets, and those of the places."""
        field_points = (field.points(self.seed + i) for i, field in enumerate(self.fields))
        return [(x[self.targets], y) for x, y in field_points]


def files_of(
    original: pa.Table,
    masked: pa.Table,
    pairs: Sequence[tuple[str, str]],
    masked_rows: Ints | None,
    *,
    people: Ints | None = None,
    orders: Orders | None = None,
    seed: int = 0,
    most_targets: int,
) -> Files:
    """Both files, with their columns in `pairs`; `masked_rows` has the masked row of each original, `people`
    the person.
    """
    code = np.zeros(masked.num_rows, dtype=np.int64)
    fields = []
    for before, after in pairs:
        x, y = (column.combine_chunks() for column in (original[before], masked[after]))
        encoded = y if pa.types.is_dictionary(y.type) else y.dictionary_encode()
        value = np.asarray(arrays.numbers(encoded.indices.fill_null(len(encoded.dictionary))))
        code = numbered(code * (int(value.max(initial=0)) + 1) + value.astype(np.int64))
        fields.append(field_of(after, x, y, (orders or {}).get(before)))
    first = firsts(code)
    originals = original.num_rows
    targets = np.arange(originals)
    if originals > most_targets:
        chosen = np.random.default_rng((seed, 20)).choice(originals, most_targets, replace=False)
        targets = np.sort(chosen)
    masked_place = None if masked_rows is None else np.where(masked_rows >= 0, code[masked_rows], -1)[targets]
    return Files(
        tuple(field.at(first) for field in fields),
        originals,
        masked.num_rows,
        code,
        np.bincount(code, minlength=len(first)).astype(np.int64),
        targets,
        masked_place,
        seed,
        None
        if people is None or masked_rows is None
        else PeopleInPlaces.of(people, masked_rows, code, targets),
    )
