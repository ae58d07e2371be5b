"""The distribution of a target within each equivalence class of the given columns, from cells.

Every measure of this package is a function of these arrays. For a target whose values are all
different the class sizes suffice: the target itself is never counted.

Where a person may have several records, classes count people (see `_people`), and so does every
measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Codes, Flags, Floats, Ints
from crypsis.counting.arrays import sums_of
from crypsis.counting.cells import Cells
from crypsis.counting.distributions import entropy_bits
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns
from crypsis.inference._people import People, people_of_cells, representatives
from crypsis.options import MissingValues


@dataclass(frozen=True, eq=False)
class Joint:
    """Counts of (class, target value), class by class: of records, or of people.

    Cells `starts[g]` up to `starts[g + 1]` belong to class g; `codes` are places in `values`. Of
    people `counts` are those who have the value in any of their records in the class, so that they
    may add up to more than there are, and `weights` are the people spread over their records.
    """

    classes: Cells
    starts: Ints
    codes: Codes
    counts: Ints
    values: pa.Array
    dropped: int
    people: People | None = None

    @cached_property
    def sizes(self) -> Ints:
        """The records, or people, of each class."""
        if self.people is not None:
            return self.people.sizes
        return np.asarray(np.add.reduceat(self.counts, self.starts))

    @cached_property
    def records(self) -> Ints:
        """The records of each class, also where people are counted."""
        return self.sizes if self.people is None else self.people.records

    @cached_property
    def member(self) -> Ints:
        """The class of each cell."""
        lengths = np.diff(np.append(self.starts, self.counts.size))
        return np.repeat(np.arange(self.starts.size), lengths)

    @cached_property
    def weights(self) -> Floats:
        """The counts that add up to the class: each person weighs 1, spread over the records."""
        if self.people is None:
            return self.counts.astype(np.float64)
        return sums_of(self.people.cell, self.people.spread, self.counts.size)

    @cached_property
    def shares(self) -> Floats:
        """The share of each cell in its class: p(x | y)."""
        return self.weights / self.sizes[self.member]

    @cached_property
    def shares_having(self) -> Floats:
        """The share of the class that has the value in any record; `shares` of records."""
        return np.asarray(self.counts / self.sizes[self.member])

    @cached_property
    def totals(self) -> NDArray[Any]:
        """The records of each target value; of people their distribution, adding up to `sizes`."""
        if self.people is not None:
            return np.asarray(self.prior * self.sizes.sum())
        sums = np.bincount(self.codes, weights=self.counts, minlength=len(self.values))
        return sums.astype(np.int64)

    @cached_property
    def prior(self) -> Floats:
        """The share of each target value in all records: p(x).

        Of people each weighs 1, spread over all of their records.
        """
        if self.people is not None:
            entries = self.people.spread * self.people.part[self.people.pair]
            sums = np.bincount(self.codes[self.people.cell], entries, minlength=len(self.values))
            return np.asarray(sums / sums.sum())
        return np.asarray(self.totals / self.totals.sum())

    def prior_having(self, state_of_value: Ints, states: int) -> Floats:
        """The chance to have each state in a class, over all: of people that of any record there.

        Each person weighs 1 in the table, spread over the classes by the records there.
        """
        if self.people is None:
            return sums_of(state_of_value, self.prior, states)
        keys = np.unique(self._states_of_pairs(state_of_value, states))
        parts = self.people.part
        sums = np.bincount(keys % states, parts[keys // states], minlength=states)
        return np.asarray(sums / parts.sum())

    def having(self, state_of_value: Ints, states: int) -> tuple[Ints, Ints, Ints]:
        """How many of each class have each state, in any record: classes, states and counts."""
        if self.people is None:
            keys, inverse = np.unique(self.member * states + state_of_value[self.codes], return_inverse=True)
            counts = np.bincount(inverse, self.counts).astype(np.int64)
        else:
            pairs = np.unique(self._states_of_pairs(state_of_value, states))
            state_key = self.people.member[pairs // states] * states + pairs % states
            keys, counts = np.unique(state_key, return_counts=True)
        return keys // states, keys % states, counts

    def _states_of_pairs(self, state_of_value: Ints, states: int) -> Ints:
        """The states of each person in each class, in one number."""
        assert self.people is not None  # noqa: S101 - asked by both callers
        return self.people.pair * states + state_of_value[self.codes[self.people.cell]]

    @cached_property
    def in_table(self) -> Floats:
        """What each cell weighs in the whole table, where a person weighs 1 in all records."""
        if self.people is None:
            return self.counts.astype(np.float64)
        entries = self.people.spread * self.people.part[self.people.pair]
        return sums_of(self.people.cell, entries, self.counts.size)

    @property
    def distinct(self) -> int:
        """How many values the target takes in all records."""
        return int((self.totals > 0).sum())

    @cached_property
    def present(self) -> Joint:
        """Without missing values, which are no diversity; a class of nothing else keeps its one.

        Of people each is counted by one value: what several have is no diversity of one of them.
        """
        if self.people is not None:
            return self.by_one_value.present
        if not len(self.values) or self.values[-1].is_valid:
            return self
        lengths = np.diff(np.append(self.starts, self.counts.size))
        kept = (self.codes != len(self.values) - 1) | (lengths == 1)[self.member]
        starts = np.searchsorted(self.member[kept], np.arange(self.starts.size))
        return replace(self, starts=starts, codes=self.codes[kept], counts=self.counts[kept])

    @property
    def _missing(self) -> int:
        """The place of the missing value; -1 if there is none."""
        return len(self.values) - 1 if len(self.values) and not self.values[-1].is_valid else -1

    @cached_property
    def by_one_value(self) -> Joint:
        """Each person once, by one value; see `_people`."""
        if self.people is None:
            return self
        has_value = self.codes != self._missing
        counts = representatives(self.people, self.member, self.starts, self.counts, has_value)
        kept = counts > 0
        starts = np.searchsorted(self.member[kept], np.arange(self.starts.size))
        return replace(self, starts=starts, codes=self.codes[kept], counts=counts[kept], people=None)

    @cached_property
    def readings(self) -> tuple[tuple[Joint, Ints], ...]:
        """The table and, where records have no person, that of the others; each with its classes here.

        A record without a person is one person's here. They may be records of anybody: a measure
        is that of the worse reading.
        """
        all_people = (self, np.arange(self.starts.size))
        if self.people is None or self.people.known.all() or not self.people.known.any():
            return (all_people,)
        people, classes, cells = self.people.without_unknown(self.counts.size, self.member)
        member = self.member[cells]
        counts = np.bincount(people.cell, minlength=cells.size)
        smaller = replace(
            self.classes, codes=tuple(code[classes] for code in self.classes.codes), counts=people.sizes
        )
        named = Joint(
            smaller,
            np.searchsorted(member, classes),
            self.codes[cells],
            counts,
            self.values,
            self.dropped,
            people,
        )
        return (all_people, (named, classes))

    @cached_property
    def spread(self) -> Joint | None:
        """The same with each person spread over their records; None of records."""
        if self.people is None:
            return None
        return _Spread(
            self.classes, self.starts, self.codes, self.counts, self.values, self.dropped, self.people
        )

    @cached_property
    def diversity(self) -> Ints:
        """The values of each class."""
        return np.diff(np.append(self.present.starts, self.present.counts.size))

    def per_class(self, terms: Floats) -> Floats:
        """The sum over each class of one term per cell."""
        return np.asarray(np.add.reduceat(terms, self.starts))


@dataclass(frozen=True, eq=False)
class _Spread(Joint):
    """People spread over their records: who has one record of ten counts a tenth."""

    def prior_having(self, state_of_value: Ints, states: int) -> Floats:
        """The share of each state in all records of people."""
        return sums_of(state_of_value, self.prior, states)

    def having(self, state_of_value: Ints, states: int) -> tuple[Ints, Ints, Ints]:
        """How many of each class have each state, of whole people."""
        keys, inverse = np.unique(self.member * states + state_of_value[self.codes], return_inverse=True)
        counts = np.floor(np.bincount(inverse, self.weights) + 1e-9).astype(np.int64)
        keys, counts = keys[counts > 0], counts[counts > 0]
        return keys // states, keys % states, counts


@dataclass(frozen=True, eq=False)
class Conditional:
    """The target in each class: its entropy, its best guess and its distance from all records."""

    classes: Cells
    """The distinct tuples of the given columns; their counts are the class sizes."""
    entropy: float
    """H(X), in bits."""
    entropies: Floats
    """H(X | Y = y), in bits."""
    modes: NDArray[Any]
    """The records of the class with its most frequent value."""
    guesses: Ints | None
    """That value's place in `values` (the first, of several); None for a unique target."""
    distinct: Ints
    divergences: Floats
    """Kullback-Leibler divergence of the class from all records, in bits."""
    totals: NDArray[Any] | None
    """The records of each target value; None for a unique target."""
    values: pa.Array | None
    dropped: int

    @property
    def sizes(self) -> Ints:
        """The records of each class."""
        return self.classes.counts

    @cached_property
    def records(self) -> int:
        """The records that count."""
        return int(self.sizes.sum())

    @cached_property
    def shares(self) -> Floats:
        """p(y)."""
        return self.sizes / self.records

    @cached_property
    def weighted(self) -> Floats:
        """p(y) H(X | Y = y): what itpr2019 writes as H(X | Y = y) in formulas (8) to (10)."""
        return self.shares * self.entropies

    @cached_property
    def conditional_entropy(self) -> float:
        """H(X | Y); at most H(X), also after rounding."""
        return min(float(self.weighted.sum()), self.entropy)

    @property
    def mutual_information(self) -> float:
        """I(X; Y), in bits."""
        return self.entropy - self.conditional_entropy

    @cached_property
    def best_guesses(self) -> Floats:
        """The probability of the best guess in each class."""
        return self.modes / self.sizes

    @property
    def prior_guess(self) -> float:
        """The probability of the best guess without the given columns."""
        top = 1 if self.totals is None else float(self.totals.max())
        return top / self.records

    @property
    def average_guess(self) -> float:
        """The probability of the best guess with them, averaged over the records."""
        return max(float(self.modes.sum()) / self.records, self.prior_guess)

    @cached_property
    def itpr(self) -> float:
        """Formula (10) and Definition 4.2 in the reading that lies in [0, 1]."""
        return max(float(self.itprs.max()), self.discrimination_rate)

    @cached_property
    def itprs(self) -> Floats:
        """Each class's term 1 - |Y| p(y) H(X | Y = y) / H(X); negative for large classes."""
        if self.entropy == 0:
            return np.zeros(len(self.classes))
        return 1 - len(self.classes) * self.weighted / self.entropy

    @property
    def discrimination_rate(self) -> float:
        """1 - H(X | Y) / H(X), formula (5)."""
        return 1 - self.conditional_entropy / self.entropy if self.entropy else 0.0


def joint_of(dataset: Dataset, target: str, known_columns: Sequence[str]) -> Joint:
    """The target in each class of the given columns: of people where these are known."""
    person = dataset.person
    return joint(
        dataset.cells(joint_columns(dataset, [*known_columns, target])), target, known_columns, person
    )


def several_records(dataset: Dataset) -> bool:
    """Whether people are known, and have several records or may have."""
    if dataset.person is None:
        return False
    counted = dataset.rows.tally([dataset.person])
    return counted.estimated or bool(counted.values < counted.rows - counted.missing)


def joint_columns(dataset: Dataset, names: Sequence[str]) -> list[str]:
    """The columns that are counted for these: with that of the people, where these are known."""
    whose = [] if dataset.person is None or dataset.person in names else [dataset.person]
    return [*names, *whose]


def joint(cells: Cells, target: str, known_columns: Sequence[str], person: str | None = None) -> Joint:
    """Cells of the given columns and the target as a Joint; dropped records are counted.

    With `person`, the column that identifies the people, classes count people.
    """
    names = (*known_columns, target)
    columns = names if person is None or person in names else (*names, person)
    if cells.columns != columns:
        cells = cells.marginal(columns)
    plain = replace(cells, columns=names, codes=cells.codes[: len(names)], values=cells.values[: len(names)])
    kept = _kept(plain, names)
    codes = tuple(code[kept] for code in plain.codes)
    counts = cells.counts[kept]
    dropped = int(cells.counts.sum() - counts.sum())
    people = None
    if person is not None:
        person_column = columns.index(person)
        owner, nobody = cells.codes[person_column][kept], cells.missing_codes[person_column]
        missing = plain.missing_codes[-1]
        members = np.searchsorted(_starts(codes[:-1]), np.arange(counts.size), "right") - 1
        cell, people = people_of_cells(
            members, codes[-1], np.where(owner == nobody, -1, owner), counts, missing
        )
        if people is None:  # everybody has one record
            first = _starts(codes)
            counts = np.add.reduceat(counts, first)
        else:
            first, counts = cell, np.bincount(people.cell, minlength=cell.size).astype(np.int64)
        codes = tuple(code[first] for code in codes)
    starts = _starts(codes[:-1])
    sizes = np.add.reduceat(counts, starts) if people is None else people.sizes
    classes = Cells(
        tuple(known_columns),
        tuple(code[starts] for code in codes[:-1]),
        cells.values[: len(known_columns)],
        sizes,
    )
    values = cells.values[len(known_columns)]
    return Joint(classes, starts, codes[-1], counts, values, dropped, people)


def conditional(
    cells: Cells, known_columns: Sequence[str], target: str | None, person: str | None = None
) -> Conditional:
    """The target in each class of the given columns; `target=None` means a unique one."""
    if target is None:
        return unique_conditional(
            cells if cells.columns == tuple(known_columns) else cells.marginal(known_columns)
        )
    return counted_conditional(joint(cells, target, known_columns, person))


def counted_conditional(table: Joint) -> Conditional:
    """Class by class, from the counts of each value."""
    surprise = np.log2(table.shares)
    entropies = np.maximum(table.per_class(-table.shares * surprise), 0.0) + 0.0  # no minus zero
    divergences = table.per_class(table.shares * (surprise - np.log2(table.prior[table.codes])))
    amounts = table.counts if table.people is None else table.weights
    modes = np.maximum.reduceat(amounts, table.starts)
    top = np.where(amounts == modes[table.member], table.codes, len(table.values))
    return Conditional(
        classes=table.classes,
        entropy=entropy_bits(table.totals),
        entropies=entropies,
        modes=modes,
        guesses=np.minimum.reduceat(top, table.starts).astype(np.int64),
        distinct=table.diversity,
        divergences=np.maximum(divergences, 0.0),
        totals=table.totals,
        values=table.values,
        dropped=table.dropped,
    )


def unique_conditional(cells: Cells) -> Conditional:
    """For a target whose values are all different: every record of a class is as likely."""
    kept = _kept(cells, cells.columns)
    sizes = cells.counts[kept]
    classes = Cells(cells.columns, tuple(code[kept] for code in cells.codes), cells.values, sizes)
    entropies = np.log2(sizes)
    entropy = float(np.log2(float(sizes.sum())))
    return Conditional(
        classes=classes,
        entropy=entropy,
        entropies=entropies,
        modes=np.ones_like(sizes),
        guesses=None,
        distinct=sizes,
        divergences=entropy - entropies,
        totals=None,
        values=None,
        dropped=cells.dropped,
    )


def checked_columns(target: str, known_columns: str | Sequence[str], available: Sequence[str]) -> list[str]:
    """The given columns as a list; they and the target exist and differ."""
    names = [known_columns] if isinstance(known_columns, str) else list(known_columns)
    if not names:
        raise ColumnError(
            "No given column is set: the columns that the intruder knows.",
            code="no-given-columns",
            hint="Set at least one given column with {given}.",
        )
    unknown = [name for name in (target, *names) if name not in available]
    if unknown:
        raise unknown_columns(unknown, available)
    if target in names:
        raise ColumnError(
            f"The target {target!r} is among the given columns.",
            code="target-given",
            columns=(target,),
            hint="Remove the target from {given}.",
        )
    if len(set(names)) < len(names):
        raise ColumnError("A given column is named twice.", hint="Name each column once.")
    return names


def check_at_least(name: str, value: int, least: int) -> None:
    """Raise unless a parameter has its smallest value."""
    if value < least:
        raise ParameterError(
            f"Parameter {name!r} must be at least {least}; {value} was given.", parameter=name
        )


def no_wildcards() -> ParameterError:
    """The error for missing values that match any value."""
    return ParameterError(
        "Missing values that match any value make equivalence classes overlap, so that a class "
        "has no distribution.",
        code="wildcards-have-no-distribution",
        hint="Set {missing=value} or {missing=drop}.",
    )


def no_records() -> InputError:
    """The error for data without a record that counts."""
    return InputError("There are no records, so nothing can be measured.", code="no-records")


def _kept(cells: Cells, names: Sequence[str]) -> Flags:
    if len(cells) == 0:
        raise no_records()
    blank = any(len(value) and not value[-1].is_valid for value in cells.values)
    if cells.missing is MissingValues.WILDCARD and blank:
        raise no_wildcards()
    kept = cells.class_sizes > 0
    if not kept.any():
        raise InputError(
            "Every record has a missing value in " + ", ".join(map(repr, names)) + ", so that no "
            "record is left when these are dropped.",
            code="no-records",
            hint="Set {missing=value}.",
        )
    return np.asarray(kept)


def _starts(codes: tuple[Codes, ...]) -> Ints:
    """Where a new class begins; cells are in the order of their codes."""
    new = np.zeros(codes[0].size, bool)
    new[0] = True
    for code in codes:
        new[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(new)
