"""How an equivalence class counts people, where a person may have several records. Said here once.

- A class counts a person once, however many records they have there.
- A person *has* a value in a class if any of their records there has it: what an intruder asks of
  near-certain values, of the excess, the gain of a value and the share of the most frequent one
  (alpha). Who has a missing value and others has the others.
- In a distribution (t-closeness, entropy, leakage) a person weighs 1, spread over their records in
  the class. beta and delta are those of the larger reading: of the distribution, or of who has the
  value.
- For l-diversity a person counts by one value: who has the value that most people of the class have
  by that, the others by as many different values as they can. What one person has in many records is
  no diversity of the class, and what everybody has leaves none.
- In the whole table a person weighs 1 too, spread over all of their records: so do priors, the
  distribution that classes are compared with, and what the baseline is fitted to.
- A record without a person is read both as one person more and as nobody's; the worse counts.

Where everybody has one record all of this is the same as counting records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crypsis.array_types import Codes, Flags, Floats, Ints
from crypsis.scientific import csgraph, sparse

_MAX_INDEPENDENT_RECORDS = 16.0
"""The most independent records that one counts as: records that avoid each other are more than one."""
_HALVINGS = 30
"""Bisections of 16 to less than 1e-7."""


@dataclass(frozen=True, eq=False)
class People:
    """Who has which value in which class: an entry for each person and value, a pair for each
    person and class.
    """

    cell: Ints
    """The cell (class and value) of each entry, in ascending order."""
    pair: Ints
    """The pair (class and person) of each entry."""
    spread: Floats
    """The share of the records of the pair that have the value of the entry."""
    member: Ints
    """The class of each pair."""
    person: Ints
    """The person of each pair."""
    part: Floats
    """The share of all records of the person that are in the class, of each pair."""
    times: Ints
    """The records of each pair."""
    known: Flags
    """Whether the person of a pair is known."""
    records: Ints
    """The records of each class."""

    @cached_property
    def sizes(self) -> Ints:
        """The people of each class."""
        return np.bincount(self.member, minlength=self.records.size).astype(np.int64)

    def without_unknown(self, cells: int, class_of: Ints) -> tuple[People, Ints, Ints]:
        """Without records that have no person; with the classes and cells that are left.

        `class_of` is the class of each of so many cells.
        """
        entries = np.flatnonzero(self.known[self.pair])
        pairs = np.flatnonzero(self.known)
        left, new_cell = np.unique(self.cell[entries], return_inverse=True)
        classes, member = np.unique(self.member[pairs], return_inverse=True)
        number = np.full(self.known.size, -1, np.int64)
        number[pairs] = np.arange(pairs.size)
        people = replace(
            self,
            cell=new_cell.astype(np.int64),
            pair=number[self.pair[entries]],
            spread=self.spread[entries],
            member=member.astype(np.int64),
            person=self.person[pairs],
            part=self.part[pairs],
            times=self.times[pairs],
            known=self.known[pairs],
            records=self.records[classes],
        )
        return people, classes, left


@dataclass(frozen=True, eq=False)
class Repeats:
    """How often people have several records: what to expect of a person with any number of them.

    The chance that one of m records has a state is 1 - (1 - s)^(1 + g (m - 1)), if each has it with
    probability s: g is 1 where records of a person are independent, 0 where they are all alike, and
    such that the expected share of all people is that observed.
    """

    start: Ints
    """Where the numbers of records of each class begin."""
    times: Ints
    """The numbers of records that people of a class have, ascending, class by class."""
    count: Ints
    """How many people have so many."""
    everywhere: tuple[Ints, Floats]
    """The numbers of records of people in a class, and what they weigh in the whole table."""

    @classmethod
    def of(cls, people: People) -> Repeats:
        """Those of the people of a table."""
        width = int(people.times.max()) + 1
        keys, count = np.unique(people.member * width + people.times, return_counts=True)
        start = np.searchsorted(keys, np.arange(people.records.size + 1) * width)
        times, time_index = np.unique(people.times, return_inverse=True)
        weights = np.asarray(np.bincount(time_index, people.part), np.float64)
        return cls(start, keys % width, count, (times, weights))

    def expected(self, member: Ints, chance: Floats, share: Floats, having: Floats) -> Floats:
        """Who of some classes has a state of which each record has the `chance`.

        `share` is that of all records that have the state, `having` that of people who have it. Less
        than that share is not expected: what a model errs for one record it errs more for several.
        """
        chance = np.maximum(chance, share)
        repeats = self._alike(share, having)
        first, last = self.start[member], self.start[member + 1]
        member_index = np.repeat(np.arange(member.size), last - first)
        entry = np.arange(member_index.size) - np.repeat(np.cumsum(last - first) - last, last - first)
        power = 1 + repeats[member_index] * (self.times[entry] - 1)
        missed = (1 - np.clip(chance, 0.0, 1.0))[member_index] ** power * self.count[entry]
        people = np.bincount(member_index, self.count[entry], minlength=member.size)
        return 1 - np.bincount(member_index, missed, minlength=member.size) / np.maximum(people, 1)

    def _alike(self, share: Floats, having: Floats) -> Floats:
        """How independent records are for each state (g), by bisection."""
        pairs, inverse = np.unique(np.stack([share, having]), axis=1, return_inverse=True)
        times, weight = self.everywhere
        low, high = np.zeros(pairs.shape[1]), np.full(pairs.shape[1], _MAX_INDEPENDENT_RECORDS)
        base = 1 - np.clip(pairs[0], 0.0, 1.0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            power = 1 + middle[:, None] * (times - 1)
            expected_chance = 1 - (base[:, None] ** power) @ weight / weight.sum()
            low, high = (
                np.where(expected_chance < pairs[1], middle, low),
                np.where(expected_chance < pairs[1], high, middle),
            )
        return low[inverse.ravel()]


def people_of_cells(
    member: Ints, code: Codes, owner: Ints, counts: Ints, missing: int
) -> tuple[Ints, People | None]:
    """The people of rows that are in the order of class, value and person.

    Row i has `counts[i]` records of class `member[i]` with the value `code[i]` of person
    `owner[i]`, -1 where there is none; `missing` is the code of a missing value. The result is the
    first row of each cell that is left, and the people; None where everybody has one record.
    """
    times = np.where(owner < 0, counts, 1)  # a record without a person is one person's
    row = np.repeat(np.arange(owner.size), times)
    records = np.where(owner < 0, 1, counts)[row]
    is_known = owner[row] >= 0
    person = owner[row].astype(np.int64)
    person[~is_known] = person.max(initial=-1) + 1 + np.arange(int((~is_known).sum()))
    _, person = np.unique(person, return_inverse=True)
    of_person = np.bincount(person, records)
    if of_person.max(initial=1) == 1:
        return np.zeros(0, np.int64), None
    classes = int(member.max()) + 1
    of_class = np.bincount(member, counts, minlength=classes).astype(np.int64)
    pairs, pair = np.unique(member[row] * of_person.size + person, return_inverse=True)
    part = np.bincount(pair, records) / of_person[pairs % of_person.size]
    unknown = code[row] == missing
    has_some = np.bincount(pair, ~unknown, minlength=pairs.size) > 0
    left = ~(unknown & has_some[pair])  # who has a value is not missing
    row, pair, records = row[left], pair[left], records[left]
    first = np.flatnonzero(np.append(True, (np.diff(member[row]) != 0) | (np.diff(code[row]) != 0)))
    cell = np.repeat(np.arange(first.size), np.diff(np.append(first, row.size)))
    named = np.zeros(pairs.size, bool)
    named[pair] = owner[row] >= 0
    times_of_pair = np.bincount(pair, records).astype(np.int64)
    people = People(
        cell=cell,
        pair=pair,
        spread=records / times_of_pair[pair],
        times=times_of_pair,
        member=pairs // of_person.size,
        person=pairs % of_person.size,
        part=part,
        known=named,
        records=of_class,
    )
    return row[first], people


def representatives(people: People, member: Ints, starts: Ints, having: Ints, bools: Flags) -> Ints:
    """How many people each cell stands for, if each counts by one value.

    Who has the value that most people of the class have counts by that; the others by as many
    different values of theirs as they can. `member` is the class of each cell, `starts` the first
    cell of each class, `having` who has its value, `bools` whether that is no missing one.
    """
    rank = having + np.where(bools, having.max() + 1, 0)
    most = np.repeat(np.maximum.reduceat(rank, starts), np.diff(np.append(starts, having.size)))
    common = np.flatnonzero(rank == most)
    common = common[np.diff(member[common], prepend=-1) != 0]
    best = np.zeros(having.size, bool)
    best[common] = True
    counts = np.where(best, having, 0)
    done = np.zeros(people.member.size, bool)
    done[people.pair[best[people.cell]]] = True
    rest = np.flatnonzero(~done[people.pair])
    if rest.size:
        pairs, first, row = np.unique(people.pair[rest], return_index=True, return_inverse=True)
        cells, column = np.unique(people.cell[rest], return_inverse=True)
        edges = np.ones(rest.size, np.int8)
        graph = sparse.csr_matrix((edges, (row, column)), shape=(pairs.size, cells.size))
        matched_column = csgraph.maximum_bipartite_matching(graph, perm_type="column")
        chosen = np.where(matched_column >= 0, matched_column, column[first])
        counts = counts + np.bincount(cells[chosen], minlength=counts.size)
    return np.asarray(counts, np.int64)
