"""Cells: the distinct tuples of some columns with their counts. Almost every measure starts here.

The rows are scanned once by the engine; marginals, class sizes, singletons, entropies and all
subsets of columns are then answered from this table, which is usually far smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis import distributions
from crypsis.arrays import codes, numbers
from crypsis.errors import ColumnError, ParameterError, unknown_columns
from crypsis.grouping import group, group_keys
from crypsis.results import Group, Result


class NullPolicy(Enum):
    """How missing values count."""

    VALUE = "value"
    """Missing is a value of its own: two missing values are alike. The default."""
    WILDCARD = "wildcard"
    """Missing may be anything: it is alike to every value (as in sdcMicro)."""
    DROP = "drop"
    """Rows with a missing value in the columns asked about are left out, and counted."""


@dataclass(frozen=True)
class Subset(Result):
    """The groups that a set of columns makes."""

    columns: tuple[str, ...]
    rows: int
    distinct: int
    singletons: int
    doubletons: int
    smallest: int
    largest: int
    squares: int = 0
    """The sum over all rows of how many rows are alike to each."""

    @property
    def unique_fraction(self) -> float:
        """The share of rows that are alone in their group (F1 of lodha2007)."""
        return self.singletons / self.rows if self.rows else 0.0


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct tuples with their counts, dictionary-coded, in the order of their values.

    `codes[i][j]` is the place in `values[i]` of what cell j has in column i. A missing value, where
    there is one, is the last of `values[i]`.
    """

    columns: tuple[str, ...]
    codes: tuple[NDArray[np.int32], ...]
    values: tuple[pa.Array, ...]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    missing: NullPolicy = NullPolicy.VALUE

    @classmethod
    def from_table(
        cls, table: pa.Table, columns: Sequence[str], missing: NullPolicy = NullPolicy.VALUE
    ) -> Cells:
        """From what the engine counted: dictionary-coded columns, then `count`, maybe `weight`."""
        coded = [_sorted_codes(table.column(i)) for i in range(len(columns))]
        codes = tuple(code for code, _ in coded)
        values = tuple(value for _, value in coded)
        order = np.argsort(group_keys(codes, tuple(map(len, values)))[0])
        counts = numbers(table["count"]).astype(np.int64)[order]
        weights = None
        if "weight" in table.column_names:
            weights = numbers(table["weight"]).astype(np.float64)[order]
        return cls(tuple(columns), tuple(c[order] for c in codes), values, counts, weights, missing)

    @classmethod
    def from_columns(
        cls, missing: NullPolicy = NullPolicy.VALUE, /, **columns: Sequence[Any]
    ) -> Cells:
        """From a few columns typed in by hand.

        >>> cells = Cells.from_columns(age=[30, 30, 41], sex=["f", "f", "m"])
        >>> cells.counts, cells.singletons
        (array([2, 1]), 1)
        """
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        names = table.column_names
        grouped = table.group_by(names, use_threads=False).aggregate([([], "count_all")])
        coded = [pc.dictionary_encode(grouped[name]) for name in names]
        arrays = [*coded, grouped["count_all"]]
        named = pa.table(arrays, names=[*(f"c{i}" for i in range(len(names))), "count"])
        return cls.from_table(named.unify_dictionaries(), names, missing)

    def __len__(self) -> int:
        return int(self.counts.size)

    @property
    def domains(self) -> tuple[int, ...]:
        """The number of values of each column, missing included where it occurs."""
        return tuple(map(len, self.values))

    @property
    def rows(self) -> int:
        """The rows that count: all, or under `drop` those without a missing value."""
        return int(self.counts[self.class_sizes > 0].sum())

    @property
    def dropped(self) -> int:
        """The rows left out because a value is missing."""
        return int(self.counts.sum()) - self.rows

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """For each cell, how many rows are alike to its rows; 0 for cells that are left out."""
        if self.missing is NullPolicy.DROP:
            return np.where(self._blank.any(axis=0), 0, self.counts)
        if self.missing is NullPolicy.WILDCARD and self._blank.any():
            return _compatible_rows(self)
        return self.counts

    @property
    def distinct(self) -> int:
        """The number of distinct tuples that count."""
        return int((self.class_sizes > 0).sum())

    @property
    def singletons(self) -> int:
        """The number of rows that are like no other row."""
        return int(self.counts[self.class_sizes == 1].sum())

    def entropy_bits(self) -> float:
        """Shannon entropy of the tuples. Missing as a wildcard has none: then it is an error."""
        if self.missing is NullPolicy.WILDCARD and self._blank.any():
            raise ParameterError(
                "Entropy is not defined when missing values match anything; read the data with "
                "missing values as a value of their own ('value') or dropped ('drop')."
            )
        return distributions.entropy_bits(self.class_sizes)

    def index(self, names: Sequence[str]) -> list[int]:
        """The places of some columns."""
        unknown = [name for name in names if name not in self.columns]
        if unknown:
            raise unknown_columns(unknown, self.columns)
        if not names or len(set(names)) < len(names):
            raise ColumnError("Name at least one column, and each only once.")
        return [self.columns.index(name) for name in names]

    def marginal(self, names: Sequence[str]) -> Cells:
        """The cells of fewer columns, without asking the engine again."""
        places = self.index(names)
        codes = tuple(self.codes[i] for i in places)
        values = tuple(self.values[i] for i in places)
        first, inverse = group(codes, tuple(map(len, values)))
        counts = np.bincount(inverse, weights=self.counts).astype(np.int64)
        if self.counts.sum() >= 2**53:  # beyond what a float adds exactly
            counts = np.zeros(first.size, np.int64)
            np.add.at(counts, inverse, self.counts)
        weights: Any = None
        if self.weights is not None:
            weights = np.bincount(inverse, weights=self.weights)
        codes = tuple(code[first] for code in codes)
        return replace(
            self, columns=tuple(names), codes=codes, values=values, counts=counts, weights=weights
        )

    def subsets(self, most: int | None = None) -> Iterator[Subset]:
        """Every non-empty set of at most `most` columns, each counted in one pass over the cells.

        Depth first, columns with many values before those with few: the sooner groups fall apart
        into single cells, the less is left to pass over.

        >>> cells = Cells.from_columns(a=[1, 1, 2], b=["x", "y", "y"])
        >>> [(s.columns, s.singletons) for s in cells.subsets()]
        [(('a',), 1), (('a', 'b'), 3), (('b',), 1)]
        """
        from crypsis.partitions import Partition

        limit = len(self.columns) if most is None else most
        if limit < 1:
            raise ParameterError(f"Subsets have at least one column; {most} was given.")

        order = sorted(range(len(self.columns)), key=lambda i: -len(self.values[i]))

        def below(partition: Partition, chosen: tuple[int, ...], left: int) -> Iterator[Subset]:
            for place in range(left, len(order)):
                columns = (*chosen, order[place])
                finer = self.refine(partition, order[place])
                yield self.subset(finer, sorted(columns))
                if len(columns) < limit:
                    yield from below(finer, columns, place + 1)

        yield from below(Partition.whole(self.counts), (), 0)

    def refine(self, partition: Any, column: int) -> Any:
        """A partition of these cells split by one more column (see `crypsis.partitions`)."""
        left_out = self._missing_codes[column] if self.missing is NullPolicy.DROP else -1
        domain = len(self.values[column])
        return partition.refine(self.codes[column], domain, self.counts, self._fragile, left_out)

    def subset(self, partition: Any, chosen: Sequence[int]) -> Subset:
        """What a partition by the chosen columns counts, under the policy for missing values."""
        from crypsis import partitions as p

        names = tuple(self.columns[i] for i in chosen)
        if self.missing is NullPolicy.WILDCARD and self._blank[list(chosen)].any():
            cells = self.marginal(names)
            sizes, counts = cells.class_sizes, cells.counts
            pairs = int(counts[sizes == 2].sum()) // 2
            bounds = (int(sizes.min()), int(sizes.max()))
            tally = (cells.rows, cells.distinct, cells.singletons, pairs, *bounds)
            return Subset(names, *tally, int((counts * sizes).sum()))
        fields = (p.ROWS, p.DISTINCT, p.SINGLETONS, p.DOUBLETONS, p.SMALLEST, p.LARGEST, p.SQUARES)
        return Subset(names, *(partition[place] for place in fields))

    def group(self, cell: int) -> Group:
        """One cell as a result: its columns, how many rows are alike, and its values."""
        values = tuple(
            value[int(code[cell])].as_py()
            for value, code in zip(self.values, self.codes, strict=True)
        )
        return Group(self.columns, int(self.class_sizes[cell]), values)

    @cached_property
    def _missing_codes(self) -> tuple[int, ...]:
        return tuple(
            len(value) - 1 if len(value) and not value[-1].is_valid else -1 for value in self.values
        )

    @cached_property
    def _fragile(self) -> NDArray[np.bool_]:
        """The cells that a column may still leave out."""
        drop = self.missing is NullPolicy.DROP
        return np.asarray(self._blank.any(axis=0) & drop)

    @cached_property
    def _blank(self) -> NDArray[np.bool_]:
        """Column by column, which cells have a missing value."""
        pairs = zip(self.codes, self._missing_codes, strict=True)
        return np.array([code == missing for code, missing in pairs])


def _sorted_codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """The codes of a dictionary-coded column by the order of its values, a missing value last."""
    chunks = column.chunks or [pa.array([], column.type)]
    dictionary = chunks[0].dictionary
    if pa.types.is_boolean(dictionary.type):  # Arrow does not sort truth values
        sorted_places = pc.sort_indices(dictionary.cast(pa.int8()))
    else:
        sorted_places = pc.sort_indices(dictionary)
    order = np.from_dlpack(sorted_places)
    place = np.empty(len(dictionary) + 1, np.int32)
    place[order] = np.arange(len(dictionary), dtype=np.int32)
    place[len(dictionary)] = len(dictionary)
    placed = np.concatenate([place[codes(chunk)] for chunk in chunks])
    values = dictionary.take(sorted_places)
    if column.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return placed, values


def _compatible_rows(cells: Cells) -> NDArray[np.int64]:
    """Rows alike when a missing value, on either side, is alike to everything.

    Cells are sorted by which columns are missing. Two such patterns compare on the columns that
    neither misses; the cells of one are summed over those columns and looked up from the other.
    Cost: a grouping per pair of patterns that occur.
    """
    patterns, member = np.unique(cells._blank, axis=1, return_inverse=True)
    member = member.ravel()
    places = [np.flatnonzero(member == i) for i in range(patterns.shape[1])]
    sizes = np.zeros(len(cells), np.int64)
    for i, here in enumerate(places):
        for j, there in enumerate(places):
            shared = np.flatnonzero(~(patterns[:, i] | patterns[:, j]))
            if shared.size == 0:
                sizes[here] += cells.counts[there].sum()
                continue
            both = np.concatenate([here, there])
            codes = tuple(cells.codes[c][both] for c in shared)
            first, inverse = group(codes, tuple(len(cells.values[c]) for c in shared))
            totals = np.zeros(first.size, np.int64)
            np.add.at(totals, inverse[here.size :], cells.counts[there])
            sizes[here] += totals[inverse[: here.size]]
    return sizes
