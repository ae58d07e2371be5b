"""The histories of people: the events of each, as an intruder may know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group_keys
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError, RoleError, TooLargeError
from crypsis.histories.kernels import knowledge as kernel
from crypsis.histories.tolerance import Tolerance, Tolerances, measured, prefix_codes, tolerance_of
from crypsis.tables import Kind
from crypsis.tables.values import clean_column

_MAX_ROWS_IN_ORDER = 20_000_000
"""More rows are refused where their order is that of the file: each is in memory."""


class Knowledge(StrEnum):
    """What an intruder knows of a history besides some of its events."""

    SET = "set"
    """Nothing: that these events are among those of the person."""
    ORDER = "order"
    """In which order they occurred."""
    NUMBER = "number"
    """How many records the person has."""
    ENDS = "ends"
    """That one is the first and one the last; further events are any others."""

    @property
    def code(self) -> int:
        """The number of the same in the kernel."""
        return {
            Knowledge.SET: kernel.SET,
            Knowledge.ORDER: kernel.ORDER,
            Knowledge.NUMBER: kernel.NUMBER,
            Knowledge.ENDS: kernel.ENDS,
        }[self]

    @property
    def ordered(self) -> bool:
        """Whether the order of the events matters."""
        return self in (Knowledge.ORDER, Knowledge.ENDS)


def as_knowledge(knowledge: Knowledge | str) -> Knowledge:
    """What the intruder knows, by its name."""
    try:
        return Knowledge(knowledge)
    except ValueError:
        names = ", ".join(repr(kind.value) for kind in Knowledge)
        raise ParameterError(
            f"Parameter 'knowledge' must be one of {names}; {knowledge!r} was given.", parameter="knowledge"
        ) from None


@dataclass(frozen=True, eq=False)
class Histories:
    """The events of each person, one after the other, in the order of their key or of their time.

    An event of a person that occurs twice is there once, unless the order of events matters.
    """

    starts: Ints
    key: Ints
    """What must be equal: the columns without a tolerance, coded."""
    values: Floats
    low: Floats
    high: Floats
    """For each column with a tolerance the value, and what the intruder knows of it."""
    token: Ints
    """The event with its exact values, coded; of one that is there once, with its number too."""
    records: Ints
    """The number of records of each person."""
    persons: pa.Array
    """Who they are."""
    cell: Ints
    """The cell of each event, of those that the histories were made of."""
    unlinked: int = 0
    """Records without a person."""

    @property
    def people(self) -> int:
        """The number of people."""
        return int(self.starts.size - 1)

    @property
    def sizes(self) -> Ints:
        """The number of events of each person."""
        return np.diff(self.starts)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The histories as the kernels take them."""
        owner = np.repeat(np.arange(self.people), self.sizes)
        first_value = self.values[:, 0] if self.values.shape[1] else np.zeros(self.key.size)
        order = np.lexsort((first_value, self.key))
        first = np.searchsorted(self.key[order], np.arange(int(self.key.max(initial=-1)) + 2))
        return (
            self.starts,
            self.key,
            self.values,
            self.low,
            self.high,
            owner,
            order,
            first.astype(np.int64),
            self.records,
        )


def person_of(data: Dataset) -> str:
    """The column that identifies people; an error where it is not known."""
    if data.person is None:
        raise RoleError("Whose records these are is not known.", code="no-person", hint="Set {person}.")
    return data.person


def event_columns(data: Dataset, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns of an event: by default what an intruder may know, without what is sensitive."""
    person = person_of(data)
    if columns is None:
        nested = {column.name for column in data.rows.columns if column.kind is Kind.NESTED}
        columns = [n for n in data.knowable if n not in data.sensitive and n not in nested]
    if not columns:
        raise ColumnError("No column is left that an intruder may know.", code="no-columns")
    if person in columns:
        raise RoleError(
            f"Column {person!r} identifies the person of a record; it is not part of an event.",
            code="person-is-event",
            columns=(person,),
        )
    for name in columns:
        data.rows.column(name)
    return tuple(columns)


def histories_of(
    data: Dataset,
    columns: Sequence[str],
    *,
    ordered: bool = False,
    order: str | None = None,
    tolerance: Tolerances | None = None,
) -> Histories:
    """The histories of all people; by `order`, else by the rows, where the order matters."""
    rules = tolerance_rules(data, columns, tolerance)
    cells, positions = history_cells(data, columns, ordered=ordered, order=order)
    return histories_in(cells, rules, ordered=ordered, positions=positions)


def history_cells(
    data: Dataset, columns: Sequence[str], *, ordered: bool = False, order: str | None = None
) -> tuple[Cells, Ints | None]:
    """The cells of the person and of the columns of events; where order matters, their places."""
    names = [person_of(data), *columns]
    if ordered and order is None:
        return _rows_in_order(data, names)
    needed = [*names, *([order] if order is not None and order not in names else [])]
    cells = Cells.from_table(data.rows.cells(needed), needed)
    return cells, place_of(cells, order) if ordered and order is not None else None


def tolerance_rules(
    data: Dataset, columns: Sequence[str], tolerance: Tolerances | None
) -> dict[str, Tolerance | None]:
    """For each column of the events how exactly it is known; None: exactly."""
    tolerances = dict(tolerance or {})
    for name in tolerances:
        if name not in columns:
            raise ParameterError(
                f"Column {name!r} has a tolerance and is not a column of the events.",
                parameter="tolerance",
                columns=(name,),
            )
    return {
        name: tolerance_of(name, data.rows.column(name).kind, tolerances[name])
        if name in tolerances
        else None
        for name in columns
    }


def histories_in(
    cells: Cells, rules: Mapping[str, Tolerance | None], *, ordered: bool, positions: Ints | None = None
) -> Histories:
    """The histories of all people in the cells of a person and of the columns of their events."""
    has_person = cells.codes[0] != cells.missing_codes[0]
    parts: list[tuple[Ints, int]] = []
    values, low, high = [], [], []
    exact: list[tuple[Ints, int]] = []
    for c, rule in enumerate(rules.values(), start=1):
        code, domain = cells.codes[c].astype(np.int64), len(cells.values[c])
        exact.append((code, domain))
        if rule is None:
            parts.append((code, domain))
        elif rule.prefix is not None:
            number, domain = prefix_codes(cells.values[c], rule.prefix)
            parts.append((number[code], domain))
        else:
            parts.append(((code == cells.missing_codes[c]).astype(np.int64), 2))
            number_of = measured(cells.values[c])
            below, above = rule.bounds(number_of)
            values.append(number_of[code])
            low.append(below[code])
            high.append(above[code])
    count = len(cells)
    table = _Table(
        cells.codes[0].astype(np.int64),
        _numbered(parts, count),
        _numbered(exact, count),
        _columns_of(values, count),
        _columns_of(low, count),
        _columns_of(high, count),
        cells.counts,
        positions,
        np.arange(count),
        cells.values[0],
    )
    unlinked = int(cells.counts[~has_person].sum())
    table = table.take(np.flatnonzero(has_person))
    return table.in_order(unlinked) if ordered else table.once(unlinked)


@dataclass(frozen=True, eq=False)
class _Table:
    """Events with their person; those that are equal have a count."""

    person: Ints
    key: Ints
    token: Ints
    values: Floats
    low: Floats
    high: Floats
    counts: Ints
    positions: Ints | None
    cell: Ints
    persons: pa.Array

    def take(self, at: Ints) -> _Table:
        """Some of the events."""
        positions = None if self.positions is None else self.positions[at]
        return _Table(
            self.person[at],
            self.key[at],
            self.token[at],
            self.values[at],
            self.low[at],
            self.high[at],
            self.counts[at],
            positions,
            self.cell[at],
            self.persons,
        )

    def once(self, unlinked: int) -> Histories:
        """Histories in which an event of a person is there once, by the order of their key."""
        order = np.lexsort((self.token, self.key, self.person))
        sorted_table = self.take(order)
        fresh = np.ones(sorted_table.person.size, bool)
        same = (sorted_table.person[1:] == sorted_table.person[:-1]) & (
            sorted_table.token[1:] == sorted_table.token[:-1]
        )
        fresh[1:] = ~same
        which = np.cumsum(fresh) - 1
        counts = np.bincount(which, sorted_table.counts, int(fresh.sum())).astype(np.int64)
        return sorted_table.take(np.flatnonzero(fresh)).histories(unlinked, counts)

    def in_order(self, unlinked: int) -> Histories:
        """Histories in the order of time; at the same time in that of the events."""
        positions = np.zeros(self.person.size, np.int64) if self.positions is None else self.positions
        order = np.lexsort((self.token, positions, self.person))
        repeated = np.repeat(order, self.counts[order])
        return self.take(repeated).histories(unlinked, None)

    def histories(self, unlinked: int, counts: Ints | None) -> Histories:
        """The events, which are sorted by person, as histories."""
        codes, person = np.unique(self.person, return_inverse=True)
        people = int(person.max(initial=-1)) + 1
        starts = np.searchsorted(person, np.arange(people + 1)).astype(np.int64)
        weights = np.ones(person.size, np.int64) if counts is None else counts
        records = np.bincount(person, weights, people).astype(np.int64)
        token = self.token
        if counts is not None:  # how often, too
            token = np.unique(np.stack([token, counts]), axis=1, return_inverse=True)[1].ravel()
        return Histories(
            starts,
            self.key,
            self.values,
            self.low,
            self.high,
            token.astype(np.int64),
            records,
            self.persons.take(pa.array(codes)),
            self.cell,
            unlinked,
        )


def _numbered(parts: Sequence[tuple[Ints, int]], count: int) -> Ints:
    """One number for the codes of several columns: 0, 1, ..."""
    if not parts:
        return np.zeros(count, np.int64)
    keys, _ = group_keys(
        tuple(code.astype(np.int32) for code, _ in parts), tuple(domain for _, domain in parts)
    )
    _, number = np.unique(keys, return_inverse=True)
    return number.ravel().astype(np.int64)


def _columns_of(parts: Sequence[Floats], count: int) -> Floats:
    return np.column_stack(parts).astype(np.float64) if parts else np.zeros((count, 0))


def place_of(cells: Cells, order: str) -> Ints:
    """The rank of each event in time; missing times come last."""
    return cells.codes[cells.columns.index(order)].astype(np.int64)


def _rows_in_order(data: Dataset, names: Sequence[str]) -> tuple[Cells, Ints]:
    """Every row as a cell of its own, and its place."""
    if not data.rows.local or data.count > _MAX_ROWS_IN_ORDER:
        raise TooLargeError(
            "The order of the rows is not known here, or there are too many of them.",
            code="no-order",
            hint="Set {order} to the column with the time of an event.",
        )
    table = data.to_arrow(list(names))
    codes, values = [], []
    for name in names:
        coded = clean_column(table[name]).combine_chunks().dictionary_encode()
        kept = coded.dictionary
        codes.append(np.asarray(coded.indices.fill_null(len(kept)), np.int32))
        if coded.indices.null_count:
            kept = pa.concat_arrays([kept, pa.nulls(1, kept.type)])
        values.append(kept)
    counts = np.ones(table.num_rows, np.int64)
    return Cells(tuple(names), tuple(codes), tuple(values), counts), np.arange(table.num_rows)


def checked_events(events: int | Sequence[int], draws: int = 1, confidence: float = 0.95) -> tuple[int, ...]:
    """The numbers of known events, 1 to `events` or those given; an error out of range."""
    numbers = tuple(range(1, events + 1)) if isinstance(events, int) else tuple(events)
    for many in numbers or (events,):
        if not isinstance(many, int) or not 1 <= many <= kernel.MOST_EVENTS:
            raise ParameterError(
                f"Parameter 'events' must be 1 to {kernel.MOST_EVENTS}; {many} was given.", parameter="events"
            )
    if draws < 1:
        raise ParameterError(f"Parameter 'draws' must be at least 1; {draws} was given.", parameter="draws")
    if not 0 < confidence < 1:
        raise ParameterError(
            f"Parameter 'confidence' must be between 0 and 1; {confidence} was given.", parameter="confidence"
        )
    return numbers


def checked_order(knowledge: Knowledge, order: str | None) -> None:
    """An error if a column of times was given and has no effect."""
    if order is not None and not knowledge.ordered:
        raise ParameterError(
            f"The order of events does not matter to knowledge {knowledge.value!r}.",
            code="option-without-effect",
            parameter="order",
            hint="Remove {order}, or set {knowledge=order} or {knowledge=ends}.",
        )
