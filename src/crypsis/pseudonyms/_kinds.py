"""Identical rows and identical columns of a belief matrix, stored once with their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.errors import TooLargeError
from crypsis.scientific import sparse

_MAX_CELLS = 400_000_000
"""Of a matrix item by item: about 5 GB."""


@dataclass(frozen=True, eq=False)
class KindMatrix:
    """A square matrix whose rows are of few kinds, and so are its columns.

    `weights` has a row for each kind of rows and a column for each kind of columns; `row_kind` and
    `column_kind` have the kind of each row and column.
    """

    weights: sparse.csr_array
    row_kind: Ints
    column_kind: Ints

    @property
    def size(self) -> int:
        """The number of rows, which is that of columns."""
        return int(self.row_kind.size)

    @cached_property
    def rows(self) -> Ints:
        """How many rows there are of each kind."""
        return np.bincount(self.row_kind, minlength=self.weights.shape[0])

    @cached_property
    def columns(self) -> Ints:
        """How many columns there are of each kind."""
        return np.bincount(self.column_kind, minlength=self.weights.shape[1])

    @cached_property
    def cell_rows(self) -> Ints:
        """The kind of rows of each stored cell."""
        kinds = np.arange(self.weights.shape[0])
        return np.asarray(np.repeat(kinds, np.diff(self.weights.indptr)), dtype=np.int64)

    @property
    def cell_columns(self) -> Ints:
        """The kind of columns of each stored cell."""
        return np.asarray(self.weights.indices, dtype=np.int64)

    @property
    def pairs(self) -> int:
        """The number of cells above 0 of the matrix item by item."""
        return int(self.rows @ self.degrees)

    @cached_property
    def degrees(self) -> Ints:
        """For each kind of rows, the number of columns with a cell above 0."""
        sums = np.add.reduceat(self.columns[self.cell_columns], self.weights.indptr[:-1])
        return np.where(np.diff(self.weights.indptr) > 0, sums, 0).astype(np.int64)

    @property
    def is_distinct(self) -> bool:
        """Whether no two rows and no two columns are identical."""
        return bool(self.weights.shape == (self.size, self.size))

    def expand(self) -> sparse.csr_array:
        """The matrix item by item."""
        if self.pairs > _MAX_CELLS:
            raise TooLargeError(
                f"The belief matrix of {self.size:,} items has {self.pairs:,} possible pairs, too "
                "many to list one by one.",
                hint="Use `anonymity`, which counts identical rows together.",
            )
        values = sparse.csr_array(self.weights[self.row_kind][:, self.column_kind])
        values.sort_indices()
        return values

    def cells(self, rows: Ints, columns: Ints) -> Floats:
        """The cells of pairs of rows and columns."""
        wide = self.weights.shape[1]
        keys = self.cell_rows * wide + self.cell_columns
        wanted = self.row_kind[rows] * wide + self.column_kind[columns]
        at = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
        return np.where(keys[at] == wanted, self.weights.data[at], 0.0)

    def part(self, rows: Ints, columns: Ints) -> KindMatrix:
        """Some rows and columns; kinds that become identical stay apart."""
        of_rows, row_kind = np.unique(self.row_kind[rows], return_inverse=True)
        of_columns, column_kind = np.unique(self.column_kind[columns], return_inverse=True)
        weights = sparse.csr_array(self.weights[of_rows][:, of_columns])
        weights.sort_indices()
        return KindMatrix(weights, row_kind.ravel(), column_kind.ravel())

    def dense(self) -> Floats:
        """The matrix item by item as a dense array."""
        return np.asarray(self.weights.toarray()[np.ix_(self.row_kind, self.column_kind)])


def merge_kinds(
    matrix: sparse.csr_array, row_kind: Ints | None = None, column_kind: Ints | None = None
) -> KindMatrix:
    """Merge identical rows and identical columns of a matrix, which may itself be one of kinds.

    >>> merge_kinds(sparse.csr_array([[1.0, 1, 0], [1, 1, 0], [0, 1, 1]])).rows
    array([2, 1])
    """
    of_rows, first = _identical(matrix)
    fewer = sparse.csr_array(matrix[first])
    by_column = sparse.csr_array(fewer.T)
    by_column.sort_indices()
    of_columns, first = _identical(by_column)
    weights = sparse.csr_array(fewer[:, first])
    weights.sort_indices()
    return KindMatrix(
        weights,
        of_rows if row_kind is None else of_rows[row_kind],
        of_columns if column_kind is None else of_columns[column_kind],
    )


def _identical(matrix: sparse.csr_array) -> tuple[Ints, Ints]:
    """A number for each row, the same for identical ones, and the first row of each number."""
    seen: dict[tuple[bytes, bytes], int] = {}
    first: list[int] = []
    kinds = np.empty(matrix.shape[0], dtype=np.int64)
    for row in range(matrix.shape[0]):
        begin, end = matrix.indptr[row], matrix.indptr[row + 1]
        key = (matrix.indices[begin:end].tobytes(), matrix.data[begin:end].tobytes())
        kinds[row] = seen.setdefault(key, len(seen))
        if kinds[row] == len(first):
            first.append(row)
    return kinds, np.array(first, dtype=np.int64)
