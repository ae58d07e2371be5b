"""Cells: the distinct tuples of some columns with their counts. Almost every measure starts here.

The rows are scanned once by the engine; marginals, class sizes, singletons, entropies and all
subsets of columns are then answered from this table, which is usually far smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.counting import distributions
from crypsis.counting.arrays import codes, numbers, truths
from crypsis.counting.grouping import group, group_keys
from crypsis.counting.matching import compatible_rows, joint_codes
from crypsis.errors import ColumnError, ParameterError, unknown_columns
from crypsis.options import MissingValues
from crypsis.results import Estimate, Group, Number, Result


class ColumnSetCounts(Result):
    """The equivalence classes of a set of columns, counted or estimated."""

    columns: tuple[str, ...]
    rows: int
    distinct: Number
    """The number of classes; where it is an estimate, of those without a missing value."""
    singletons: Number
    """The number of classes of one row."""
    doubletons: int
    """The number of classes of two rows; 0 where `distinct` is an estimate."""
    smallest: int
    largest: int
    """The sizes of the smallest and the largest class; of those sampled, where estimated."""
    squares: int = 0
    """The sum of squared class sizes, where it was counted."""
    missing: int = 0
    """Rows with a missing value in at least one of the columns."""

    @classmethod
    def from_table(cls, names: Sequence[str], table: pa.Table, *, drop_missing: bool) -> ColumnSetCounts:
        """Of all classes in a table: their values, column by column, and last their sizes."""
        sizes = numbers(table.columns[-1])
        incomplete = np.zeros(sizes.size, np.bool_)
        for column in table.columns[:-1]:
            incomplete |= truths(column.is_null())
        missing = int(sizes[incomplete].sum())
        complete = sizes[~incomplete] if drop_missing else sizes
        least, most = (int(complete.min()), int(complete.max())) if complete.size else (0, 0)
        once, twice = (int((complete == n).sum()) for n in (1, 2))
        return cls(
            tuple(names), int(complete.sum()), complete.size, once, twice, least, most, missing=missing
        )

    @property
    def estimated(self) -> bool:
        """Whether the number of classes is an estimate."""
        return isinstance(self.distinct, Estimate)

    @property
    def values(self) -> Number:
        """The number of values of a single column, the missing value excluded."""
        return self.distinct if self.estimated else self.distinct - (self.missing > 0)

    @property
    def unique_fraction(self) -> float:
        """The share of rows that are unique (F1 of lodha2007)."""
        return float(self.singletons) / self.rows if self.rows else 0.0


@dataclass(frozen=True, eq=False, repr=False)
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
    missing: MissingValues = MissingValues.VALUE

    @classmethod
    def from_table(
        cls, table: pa.Table, columns: Sequence[str], missing: MissingValues = MissingValues.VALUE
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
    def from_columns(cls, missing: MissingValues = MissingValues.VALUE, /, **columns: Sequence[Any]) -> Cells:
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

    def __repr__(self) -> str:
        return f"Cells({', '.join(self.columns)}: {len(self):,} cells, {self.counts.sum():,} rows)"

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
        """The rows that are dropped because a value is missing."""
        return int(self.counts.sum()) - self.rows

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """For each cell, how many rows are alike to its rows; 0 for cells that are dropped."""
        if self.missing is MissingValues.DROP:
            return np.where(self.missing_mask.any(axis=0), 0, self.counts)
        if self.missing is MissingValues.WILDCARD and self.missing_mask.any():
            mask = self.missing_mask
            return compatible_rows(self.codes, self.codes, self.domains, (mask, mask), self.counts)
        return self.counts

    @cached_property
    def class_weights(self) -> NDArray[np.float64]:
        """For each cell, the sum of the weights of the rows that are alike to its rows."""
        if self.weights is None:
            raise ParameterError("The cells were counted without weights.", code="no-weights")
        if self.missing is MissingValues.WILDCARD and self.missing_mask.any():
            mask = self.missing_mask
            return compatible_rows(self.codes, self.codes, self.domains, (mask, mask), self.weights)
        return self.weights

    def matching_rows(self, other: Cells) -> NDArray[np.int64]:
        """For each cell, how many rows of `other` are alike to it in the columns of these cells.

        Missing values count by the policy of these cells: a missing value is alike to a missing value,
        to every value, or to none. Cost: a grouping of the cells of both tables, one for each pair of
        patterns of missing values where they are wildcards.
        """
        positions = other.index(self.columns)
        coded = [
            joint_codes(name, (self.codes[i], self.values[i]), (other.codes[j], other.values[j]))
            for i, (name, j) in enumerate(zip(self.columns, positions, strict=True))
        ]
        masks = self.missing_mask, other.missing_mask[positions]
        if self.missing is MissingValues.VALUE:
            masks = np.zeros_like(masks[0]), np.zeros_like(masks[1])
        kept, other_kept = np.arange(len(self)), np.arange(len(other))
        if self.missing is MissingValues.DROP:
            kept, other_kept = (np.flatnonzero(~mask.any(axis=0)) for mask in masks)
        matching = np.zeros(len(self), np.int64)
        matching[kept] = compatible_rows(
            [codes[kept] for codes, _, _ in coded],
            [other_codes[other_kept] for _, other_codes, _ in coded],
            [domain for _, _, domain in coded],
            (masks[0][:, kept], masks[1][:, other_kept]),
            other.counts[other_kept],
        )
        return matching

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
        if self.missing is MissingValues.WILDCARD and self.missing_mask.any():
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
        return replace(self, columns=tuple(names), codes=codes, values=values, counts=counts, weights=weights)

    def class_counts(self) -> ColumnSetCounts:
        """The equivalence classes of all the columns together, counted."""
        occurs = self.class_sizes > 0
        sizes, counts = self.class_sizes[occurs], self.counts[occurs]
        return ColumnSetCounts(
            self.columns,
            int(counts.sum()),
            sizes.size,
            int(counts[sizes == 1].sum()),
            int(counts[sizes == 2].sum()) // 2,
            int(sizes.min()) if sizes.size else 0,
            int(sizes.max(initial=0)),
            int((counts * sizes).sum()),
            int(self.counts[self.missing_mask.any(axis=0)].sum()),
        )

    def group(self, cell: int) -> Group:
        """One cell as a result: its columns, how many rows are alike, and its values."""
        values = tuple(
            value[int(code[cell])].as_py() for value, code in zip(self.values, self.codes, strict=True)
        )
        return Group(self.columns, int(self.class_sizes[cell]), values)

    @cached_property
    def missing_codes(self) -> tuple[int, ...]:
        """The code of a missing value in each column; -1 where no value is missing."""
        return tuple(len(value) - 1 if len(value) and not value[-1].is_valid else -1 for value in self.values)

    @cached_property
    def missing_mask(self) -> NDArray[np.bool_]:
        """Column by column, which cells have a missing value."""
        pairs = zip(self.codes, self.missing_codes, strict=True)
        return np.array([code == missing for code, missing in pairs])


def _sorted_codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """The codes of a dictionary-coded column by the order of its values, a missing value last."""
    chunks = column.chunks or [pa.nulls(0, column.type)]
    dictionary = chunks[0].dictionary
    if pa.types.is_boolean(dictionary.type):  # Arrow does not sort truth values
        sorted_places = pc.sort_indices(dictionary.cast(pa.int8()))
    else:
        sorted_places = pc.sort_indices(dictionary)
    order = np.from_dlpack(sorted_places)
    rank = np.empty(len(dictionary) + 1, np.int32)
    rank[order] = np.arange(len(dictionary), dtype=np.int32)
    rank[len(dictionary)] = len(dictionary)
    placed = np.concatenate([rank[codes(chunk)] for chunk in chunks])
    values = dictionary.take(sorted_places)
    if column.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return placed, values
