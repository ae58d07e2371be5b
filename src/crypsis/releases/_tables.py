"""A release as arrays: the equivalence class of each row, the labels of each class, other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Ints
from crypsis.counting.arrays import codes, numbers
from crypsis.dataset import Dataset
from crypsis.errors import TooLargeError
from crypsis.hierarchies.labels import as_text
from crypsis.options import Role
from crypsis.tables import Kind

_MAX_ROWS = 2_000_000
"""Records of a release; more are refused."""
_QUANTILE_PARTS = 10
"""A sensitive number with many values is compared by tenths."""
_MAX_SINGLE_VALUES = 20
"""A sensitive number with no more values is compared by each of them."""


@dataclass(frozen=True, eq=False)
class ReleaseTable:
    """The rows of a release, by their classes in the quasi-identifiers."""

    rows: int
    quasi_identifiers: tuple[str, ...]
    labels: Mapping[str, Sequence[Any]]
    """The labels of each quasi-identifier ..."""
    label_of: Mapping[str, Ints]
    """... and the place of the label of each class among them."""
    class_of: Ints
    """The class of each row."""
    texts: Mapping[str, pa.Array]
    """The other released columns as text; equal for 5 and 5.0, missing values too."""
    sensitive: Mapping[str, Ints]
    """The value of each row as a number; of numbers with many values the tenth it is in."""
    undecided: tuple[str, ...]
    """Columns without a role: nothing is known of them."""
    released: tuple[str, ...] = ()
    """The columns that are released."""
    people: Ints | None = None
    """The person of each row, as a number, where that is known and people have several rows."""
    persons: bool = False
    """Whether the person of each row is known."""

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.class_of.max()) + 1 if self.rows else 0

    @cached_property
    def sizes(self) -> Ints:
        """The rows of each class."""
        return np.bincount(self.class_of, minlength=self.classes)


def release_table(data: Dataset) -> ReleaseTable:
    """Read a release whose columns have their roles."""
    if not data.rows.local or data.count > _MAX_ROWS:
        raise TooLargeError(f"Releases are compared on one machine, and up to {_MAX_ROWS:,} records.")
    flat = [
        column.name
        for column in data.rows.columns
        if column.kind is not Kind.NESTED and data.roles.get(column.name) is not Role.EXCLUDED
    ]
    table = data.to_arrow(flat)
    coded = {name: table[name].combine_chunks().dictionary_encode() for name in flat}
    quasi_identifiers = tuple(name for name in data.quasi_identifiers if name in coded)
    class_of, first = _classes([_places(coded[name]) for name in quasi_identifiers], table.num_rows)
    labels = {name: [*coded[name].dictionary.to_pylist(), None] for name in quasi_identifiers}
    sensitive = {
        name: _groups(table[name].combine_chunks(), coded[name]) for name in data.sensitive if name in coded
    }
    return ReleaseTable(
        table.num_rows,
        quasi_identifiers,
        labels,
        {name: _places(coded[name])[first] for name in quasi_identifiers},
        class_of,
        {name: _texts(coded[name]) for name in flat if name not in quasi_identifiers},
        sensitive,
        tuple(name for name in flat if data.roles.get(name, Role.UNDECIDED) is Role.UNDECIDED),
        data.released,
        _people(data),
        data.person is not None,
    )


def _people(data: Dataset) -> Ints | None:
    """The person of each row; those without one are of the same person."""
    if data.person is None:
        return None
    people = _places(data.to_arrow([data.person])[data.person].combine_chunks().dictionary_encode())
    return people if np.unique(people).size < people.size else None


def with_roles_of(earlier: Dataset, data: Dataset) -> Dataset:
    """An earlier release whose columns have the roles of the columns of the same names.

    A column that is excluded now was released then, so that decides nothing about it. The people of
    both are in the column of the same name.
    """
    shared = {
        name: role for name, role in data.roles.items() if name in earlier.names and role is not Role.EXCLUDED
    }
    decided = {name: role for name, role in earlier.roles.items() if role is not Role.UNDECIDED}
    person = earlier.person or (data.person if data.person in earlier.names else None)
    return replace(earlier, roles={**shared, **decided}, person=person)


def shared_codes(first: pa.Array, second: pa.Array) -> tuple[Ints, Ints]:
    """Two columns of text as numbers that are equal where the texts are."""
    joined = pa.concat_arrays([first, second]).dictionary_encode()
    places = codes(joined).astype(np.int64)
    return places[: len(first)], places[len(first) :]


def group_of(columns: Sequence[Ints]) -> Ints:
    """The number of the combination of values of each row."""
    groups = np.zeros(columns[0].size, np.int64)
    for column in columns:
        groups = np.unique(groups * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return groups


def _classes(columns: Sequence[Ints], rows: int) -> tuple[Ints, Ints]:
    """The class of each row, and a row of each class; without columns all rows are one class."""
    if not columns or not rows:
        return np.zeros(rows, np.int64), np.zeros(min(rows, 1), np.int64)
    class_of = group_of(columns)
    return class_of, np.unique(class_of, return_index=True)[1]


def _places(column: pa.DictionaryArray) -> Ints:
    """The place of each value; that of missing ones is after all others."""
    return codes(column).astype(np.int64)


def _texts(column: pa.DictionaryArray) -> pa.Array:
    values = [None if value is None else as_text(value) for value in column.dictionary.to_pylist()]
    return pc.fill_null(pa.array(values, pa.string()).take(column.indices), "\x00")


def _groups(column: pa.Array, coded: pa.DictionaryArray) -> Ints:
    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not is_number or len(coded.dictionary) <= _MAX_SINGLE_VALUES:
        return _places(coded)
    values = numbers(pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan")))
    is_finite = np.isfinite(values)
    if not is_finite.any():
        return np.zeros(len(column), np.int64)
    cuts = np.unique(np.quantile(values[is_finite], np.arange(1, _QUANTILE_PARTS) / _QUANTILE_PARTS))
    groups = np.searchsorted(cuts, values, side="right").astype(np.int64)
    return np.where(is_finite, groups, _QUANTILE_PARTS)
