"""Unicity of more events than can be fetched: some people, and who else has what is known of them.

People are drawn by a hash, and some events of each. Of everybody else only the events are fetched
that may match one of these, by a join in the engine: whether another history has all known events
depends on no others, except on the number of its records, and on its first and its last event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Codes, Flags, Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.dataset import Dataset
from crypsis.errors import TooLargeError
from crypsis.histories.events import Histories, Knowledge, histories_in, place_of
from crypsis.histories.kernels import alone as kernel
from crypsis.histories.tolerance import Buckets, Tolerance, measured
from crypsis.tables import Rows
from crypsis.tables.class_samples import sample_values
from crypsis.tables.joins import rows_in_cells, with_ends

_MAX_PERSON_EVENTS = 20_000_000
"""The most pairs of a person and an event that are fetched."""
_MAX_TOLERANCE_VALUES = 2_000_000
"""The most different values of a column with a tolerance."""
_MIN_DRAWN_PEOPLE = 200
"""If the events of even so few people are too many, the question is refused."""
_EVENT = "crypsis event"
"""The column of the engine that numbers the known events."""
_FIRST = "crypsis first"
"""The column of the engine that marks the first event of a person."""
_LAST = "crypsis last"
"""The column of the engine that marks the last event of a person."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """For each number of events how many of the people drawn are singled out."""

    alone: tuple[int, ...]
    drawn: int
    people: int
    """The number of all people."""


def drawn_people(
    data: Dataset,
    rules: Mapping[str, Tolerance | None],
    knowledge: Knowledge,
    order: str | None,
    events: Sequence[int],
    draws: int,
    seed: int,
) -> Drawn:
    """How many of the people drawn are singled out by some of their events.

    Fewer people than `draws` are drawn if too many others have events like theirs.
    """
    search = _Search(data, rules, knowledge, order)
    while True:
        people, count = sample_values(search.rows, search.person, draws, seed=seed)
        try:
            alone = search.alone(people, events, seed)
            return Drawn(tuple(alone), len(people), count)
        except TooLargeError:
            draws = min(draws, count) // 4
            if draws < _MIN_DRAWN_PEOPLE:
                raise


class _Search:
    """Everybody's events in the engine, and what is known of an event."""

    def __init__(
        self, data: Dataset, rules: Mapping[str, Tolerance | None], knowledge: Knowledge, order: str | None
    ) -> None:
        self.person = data.person or ""
        self.rules, self.knowledge, self.order = dict(rules), knowledge, order
        self.names = [self.person, *rules]
        if order is not None and order not in self.names:
            self.names.append(order)
        self.rows = data.rows.select(self.names)
        self.near = [name for name, rule in rules.items() if rule is not None]
        self.buckets = {name: self._buckets(name, rules[name]) for name in self.near}
        self.records: Cells | None = None
        if knowledge is Knowledge.NUMBER:
            self.records = Cells.from_table(data.rows.cells([self.person]), [self.person])

    def _buckets(self, name: str, rule: Tolerance | None) -> Buckets:
        """The different values of a column with a tolerance, in buckets."""
        cells = Cells.from_table(self.rows.cells([name], at_most=_MAX_TOLERANCE_VALUES), [name])
        return Buckets.of(cells.values[0], rule or Tolerance())

    def alone(self, people: pa.Array, events: Sequence[int], seed: int) -> list[int]:
        """How many of these people are singled out by each number of their events."""
        mark = {_EVENT: pa.array(np.zeros(len(people)))}
        person_rows = rows_in_cells(self.rows, [self.person], [people], mark)
        cells = Cells.from_table(person_rows.cells(self.names), self.names)
        position = None if self.order is None else place_of(cells, self.order)
        histories = histories_in(cells, self.rules, ordered=self.knowledge.ordered, positions=position)
        choices = _choices(histories, self.knowledge, max(events), seed)
        events_used = np.unique(choices[choices >= 0])
        place_in = np.full(histories.key.size, -1, np.int64)
        place_in[events_used] = np.arange(events_used.size)
        joined = _Joined(self, cells, histories, events_used)
        who = np.asarray(pc.index_in(histories.persons, value_set=joined.persons), np.int64)
        owner = np.repeat(who, histories.sizes)[events_used]
        arrays = joined.arrays(owner)
        event_rows = np.where(choices >= 0, joined.fetched + place_in[choices], -1)
        return [
            int(kernel.known_alone(who, event_rows, many, arrays, self.knowledge.code).sum())
            for many in events
        ]


class _Joined:
    """The known events, and everybody who has an event that may match one of them."""

    def __init__(self, search: _Search, cells: Cells, histories: Histories, events_used: Ints) -> None:
        self.search = search
        at = histories.cell[events_used]
        codes = {name: cells.codes[c][at] for c, name in enumerate(cells.columns)}
        self.keys = _Keys.of(search, cells, codes)
        self.asked = self._values(codes, dict(zip(cells.columns, cells.values, strict=True)))
        rows, names = self._matching()
        pairs = Cells.from_table(rows.cells(names, at_most=_MAX_PERSON_EVENTS), names)
        self.persons = pairs.values[1]
        self._fetch(pairs, codes)

    def _matching(self) -> tuple[Rows, list[str]]:
        """All events in the engine that may match a known one, and what is fetched of them."""
        search, rows = self.search, self.search.rows
        names = [_EVENT, search.person, *search.near]
        if search.order is not None and search.order not in names:
            names.append(search.order)
        if search.knowledge is Knowledge.ENDS:
            by = [search.order or "", *(name for name in search.rules if name != search.order)]
            rows = with_ends(rows, search.person, by, _FIRST, _LAST)
            names += [_FIRST, _LAST]
        for name in search.near:
            buckets = search.buckets[name]
            number = pa.array(buckets.bucket.astype(np.float64))
            rows = rows_in_cells(rows, [name], [buckets.values], {_bucket(name): number})
        number = pa.array(np.arange(self.keys.size, dtype=np.float64))
        return rows_in_cells(rows, self.keys.names, self.keys.values, {_EVENT: number}), names

    def _values(
        self, codes: Mapping[str, Codes], values: Mapping[str, pa.Array]
    ) -> tuple[Floats, Floats, Floats]:
        """Value, lower and upper end of each column with a tolerance that is a distance."""
        bounds_by_column: tuple[list[Floats], ...] = ([], [], [])
        for name in self.search.near:
            rule = self.search.rules[name]
            if rule is not None and rule.prefix is None:
                number = measured(values[name])
                for kept, values_of_rule in zip(
                    bounds_by_column, (number, *rule.bounds(number)), strict=True
                ):
                    kept.append(values_of_rule[codes[name]])
        size = next(iter(codes.values())).size
        low_value, low, high = (
            np.column_stack(columns) if columns else np.zeros((size, 0)) for columns in bounds_by_column
        )
        return low_value, low, high

    def _fetch(self, pairs: Cells, codes: Mapping[str, Codes]) -> None:
        """The events that were fetched, person by person in their order, then the known ones."""
        search = self.search
        event = np.asarray(pairs.values[0].to_numpy(zero_copy_only=False)).astype(np.int64)
        event = event[pairs.codes[0]]
        owner = pairs.codes[1].astype(np.int64)
        fetched = {name: pairs.codes[c] for c, name in enumerate(pairs.columns)}
        ranks = {n: self.keys.codes[n][event] for n in search.rules if n in self.keys.codes}
        ranks |= {name: fetched[name].astype(np.int64) for name in search.near}
        position = None
        if search.order is not None:
            position = fetched.get(search.order, ranks.get(search.order))
        of_pairs = dict(zip(pairs.columns, pairs.values, strict=True))
        values = self._values(fetched, of_pairs)[0]
        key, own_key = self._key(event, fetched, of_pairs, codes)
        has_owner = np.flatnonzero(owner != pairs.missing_codes[1])
        sorts: list[Ints] = [key] if position is None else []
        if position is not None:
            sorts = [ranks[name].astype(np.int64) for name in reversed(list(search.rules))]
            sorts.append(position.astype(np.int64))
            has_owner = np.repeat(has_owner, pairs.counts[has_owner])
        end = np.ones(owner.size, np.int64)
        if search.knowledge is Knowledge.ENDS:
            first, last = (_truth(pairs, pairs.columns.index(name)) for name in (_FIRST, _LAST))
            end = np.where(first, 0, np.where(last, 2, 1))
            key, owner, values, end, sorts, has_owner = _with_unknown_ends(
                key, owner, values, end, sorts, has_owner, (first, last), int(own_key.max(initial=0))
            )
        order = has_owner[
            np.lexsort((*(sort_keys[has_owner] for sort_keys in sorts), end[has_owner], owner[has_owner]))
        ]
        self.owner, self.key, self.values = owner[order], key[order], values[order]
        self.own_key, self.fetched = own_key, int(order.size)

    def _key(
        self,
        event: Ints,
        fetched: Mapping[str, Codes],
        values: Mapping[str, pa.Array],
        codes: Mapping[str, Codes],
    ) -> tuple[Ints, Ints]:
        """What must be equal, coded, of the events that were fetched and of the known ones."""
        search = self.search
        key, event_key = self.keys.exact[event], self.keys.known
        for name in search.near:
            rule, domain = search.rules[name], search.buckets[name]
            of_all = domain.bucket
            if rule is not None and rule.prefix is None:  # within a distance: missing or not
                of_all = (np.arange(of_all.size) >= len(domain.values.drop_null())).astype(np.int64)
            size = int(of_all.max(initial=0)) + 1
            position = np.asarray(pc.index_in(values[name], value_set=domain.values), np.int64)
            key = key * size + of_all[position][fetched[name]]
            event_key = event_key * size + of_all[self.keys.place[name]]
        if not search.near:
            return key, event_key
        _, both = np.unique(np.concatenate([key, event_key]), return_inverse=True)
        both = both.ravel().astype(np.int64)
        return both[: key.size], both[key.size :]

    def arrays(self, owner: Ints) -> tuple[object, ...]:
        """The histories as the kernels take them; `owner` has the person of each known event."""
        values, low, high = self.asked
        nothing = np.zeros_like(self.values)
        key = np.concatenate([self.key, self.own_key])
        both = np.concatenate([self.values, values])
        order = np.argsort(key, kind="stable")
        if both.shape[1]:
            order = np.lexsort((both[:, 0], key))
        first = np.searchsorted(key[order], np.arange(int(key.max(initial=-1)) + 2))
        starts = np.searchsorted(self.owner, np.arange(len(self.persons) + 1)).astype(np.int64)
        records = np.diff(starts)
        counted = self.search.records
        if counted is not None:
            index = pc.index_in(self.persons, value_set=counted.values[0])
            records = np.append(counted.counts, 0)[np.asarray(index, np.int64)]
        return (
            starts,
            key,
            both,
            np.concatenate([nothing, low]),
            np.concatenate([nothing, high]),
            np.concatenate([self.owner, owner]),
            order,
            first.astype(np.int64),
            records,
        )


@dataclass(frozen=True, eq=False)
class _Keys:
    """The combinations of exact values and of buckets that the engine looks for."""

    names: list[str]
    values: list[pa.Array]
    codes: dict[str, Ints]
    """The exact values of each combination, by their place among those of the people drawn."""
    exact: Ints
    """The number of the exact values of each combination."""
    known: Ints
    """The same of each known event."""
    place: dict[str, Ints]
    """For each known event the place of its value, in columns with a tolerance."""

    @property
    def size(self) -> int:
        return int(self.exact.size)

    @classmethod
    def of(cls, search: _Search, cells: Cells, codes: Mapping[str, Codes]) -> _Keys:
        """The combinations in which something may match one of the known events."""
        exact = [name for name, rule in search.rules.items() if rule is None]
        parts = np.stack(
            [codes[name].astype(np.int64) for name in exact]
            or [np.zeros(next(iter(codes.values())).size, np.int64)]
        )
        different, event_key = np.unique(parts, axis=1, return_inverse=True)
        event_key = event_key.ravel().astype(np.int64)
        row, position = np.arange(event_key.size), {}
        buckets: list[Ints] = []
        values = dict(zip(cells.columns, cells.values, strict=True))
        for name in search.near:
            column_buckets = search.buckets[name]
            value_index = np.asarray(pc.index_in(values[name], value_set=column_buckets.values), np.int64)
            position[name] = value_index[codes[name]]
            first, last = column_buckets.first[position[name]][row], column_buckets.last[position[name]][row]
            width = last - first + 1
            inside = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
            buckets = [np.repeat(bucket, width) for bucket in buckets]
            buckets.append(np.repeat(first, width) + inside)
            row = np.repeat(row, width)
        near_keys = np.unique(np.stack([event_key[row], *buckets]), axis=1)
        own_codes = {name: different[i][near_keys[0]] for i, name in enumerate(exact)}
        of_exact = [values[name].take(pa.array(own_codes[name])) for name in exact]
        of_near = [pa.array(key_column.astype(np.float64)) for key_column in near_keys[1:]]
        names = [*exact, *map(_bucket, search.near)]
        return cls(names, [*of_exact, *of_near], own_codes, near_keys[0], event_key, position)


def _bucket(name: str) -> str:
    return f"{_EVENT} {name}"


def _truth(cells: Cells, column: int) -> Flags:
    truth = np.array(cells.values[column].to_pylist(), bool)
    return np.asarray(truth[cells.codes[column]])


def _with_unknown_ends(
    key: Ints,
    owner: Ints,
    values: Floats,
    end: Ints,
    sorts: list[Ints],
    owned: Ints,
    ends: tuple[Flags, Flags],
    most: int,
) -> tuple[Ints, Ints, Floats, Ints, list[Ints], Ints]:
    """The same with a first and a last event, which match nothing, where these were not fetched."""
    unmatched_key = max(int(key.max(initial=0)), most) + 1
    for end_code, is_end in ((0, ends[0]), (2, ends[1])):
        has = np.zeros(int(owner.max(initial=-1)) + 1, bool)
        has[owner[: is_end.size][is_end]] = True
        needs = np.setdiff1d(np.unique(owner[owned]), np.flatnonzero(has))
        owned = np.concatenate([owned, owner.size + np.arange(needs.size)])
        owner = np.concatenate([owner, needs])
        key = np.concatenate([key, np.full(needs.size, unmatched_key)])
        values = np.concatenate([values, np.zeros((needs.size, values.shape[1]))])
        end = np.concatenate([end, np.full(needs.size, end_code)])
        sorts = [np.concatenate([sort_keys, np.zeros(needs.size, np.int64)]) for sort_keys in sorts]
    return key, owner, values, end, sorts, owned


def _choices(histories: Histories, knowledge: Knowledge, most: int, seed: int) -> Ints:
    """Some events of each person in random order, a line for each; filled up with -1.

    Where the first and the last are known, these come first.
    """
    random = np.random.default_rng(seed)
    sizes, starts = histories.sizes, histories.starts[:-1]
    person = np.repeat(np.arange(histories.people), sizes)
    at = np.arange(person.size) - starts[person]
    draw = random.random(person.size)
    if knowledge is Knowledge.ENDS:
        draw[at == sizes[person] - 1] = -1.0
        draw[at == 0] = -2.0
    order = np.lexsort((draw, person))
    chosen = np.full((histories.people, most), -1, np.int64)
    is_chosen = at < most  # places are the same in each order of the events of a person
    chosen[person[is_chosen], at[is_chosen]] = order[is_chosen]
    return chosen
