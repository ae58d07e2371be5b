"""Partitions of cells into equivalence classes, refined one column at a time.

This is how the classes of all sets of some columns are counted: each refinement is one pass over
the cells that are not yet alone in their class, so larger sets cost less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.array_types import Codes, Flags, Floats, Ints
from crypsis.counting.cells import Cells, ColumnSetCounts
from crypsis.counting.kernels import refinement as kernels
from crypsis.errors import ParameterError
from crypsis.options import MissingValues

Chosen = tuple[int, ...]


class CodeTable:
    """The codes of some cells in the layout of the kernels, columns with many values first."""

    def __init__(self, cells: Cells, places: Sequence[int] | None = None) -> None:
        chosen = range(len(cells.columns)) if places is None else places
        self.places = sorted(chosen, key=lambda position: -len(cells.values[position]))
        self.domains = np.array([len(cells.values[p]) for p in self.places], np.int64)
        dropping = cells.missing is MissingValues.DROP
        self.missing = np.array([cells.missing_codes[p] if dropping else -1 for p in self.places], np.int64)
        self.counts = cells.counts
        self.rows = np.minimum(cells.counts, 3).astype(np.uint8)
        self.wide = int((self.domains > kernels.BITS).sum())
        self._kind = np.min_scalar_type(max(1, int(self.domains.max(initial=1)) - 1))
        self.columns = [cells.codes[p].astype(self._kind) for p in self.places]
        self.fragile: Flags = np.zeros(0, np.bool_)
        self._patterns: tuple[Flags, Ints] | None = None
        if (self.missing >= 0).any():
            mask = cells.missing_mask[self.places]
            self.fragile = np.asarray(mask.any(axis=0))
            patterns, member = np.unique(mask.T, axis=0, return_inverse=True)
            rows = np.bincount(member.ravel(), weights=cells.counts, minlength=len(patterns))
            self._patterns = patterns, rows.astype(np.int64)
        self._total = int(cells.counts.sum())

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def wide_codes(self) -> Any:
        """The codes of the columns with more than 64 values, row by row."""
        return self._row_by_row(self.columns[: self.wide], self._kind)

    @cached_property
    def narrow_codes(self) -> Any:
        """The codes of the other columns, row by row."""
        narrow = [column.astype(np.uint8) for column in self.columns[self.wide :]]
        return self._row_by_row(narrow, np.dtype(np.uint8))

    def _row_by_row(self, columns: Sequence[Any], kind: Any) -> Any:
        if not columns:
            return np.zeros((self.counts.size, 0), kind)
        return np.ascontiguousarray(np.stack(columns, axis=1))

    @cached_property
    def kept(self) -> NDArray[np.uint64]:
        """The bits of the values that count, for columns of up to 64 values."""
        all_bits = [2 ** min(int(domain), kernels.BITS) - 1 for domain in self.domains]
        dropped = [1 << int(code) if 0 <= code < kernels.BITS else 0 for code in self.missing]
        return np.array([a & ~b for a, b in zip(all_bits, dropped, strict=True)], np.uint64)

    def row_counts(self, chosen: Chosen, columns: Ints) -> Ints:
        """The rows that count for the sets of `chosen` and one of the columns."""
        if self._patterns is None:
            return np.full(columns.size, self._total, np.int64)
        missing, counts = self._patterns
        complete = ~missing[:, list(chosen)].any(axis=1)
        return np.asarray((counts * complete) @ ~missing[:, columns])

    @cached_property
    def fewest_rows(self) -> int:
        """The rows without a missing value that drops them."""
        if self._patterns is None:
            return self._total
        missing, counts = self._patterns
        return int(counts[~missing.any(axis=1)].sum())


@dataclass(frozen=True, eq=False)
class Partition:
    """The cells of a table grouped by the columns chosen so far."""

    table: CodeTable
    chosen: Chosen
    order: Codes
    starts: Codes
    finished: Ints
    """The statistics of the classes of a single cell, which no longer are in `order`."""

    @classmethod
    def coarsest(cls, table: CodeTable) -> Partition:
        """All cells in one class."""
        order = np.arange(table.rows.size, dtype=np.int32)
        starts = np.array([0, order.size] if order.size else [0], np.int32)
        return cls(table, (), order, starts, kernels.no_classes())

    def refine(self, column: int) -> Partition:
        """The partition by one column more."""
        table, finished = self.table, self.finished.copy()
        order, starts = kernels.refine(
            self.order,
            self.starts,
            table.columns[column],
            int(table.domains[column]),
            int(table.missing[column]),
            table.counts,
            table.fragile,
            finished,
        )
        return Partition(table, (*self.chosen, column), order, starts, finished)

    def statistics(self) -> Ints:
        """The statistics of all classes, in the order of the kernels."""
        statistics = kernels.statistics(self.order, self.starts, self.table.counts, self.finished)
        if not statistics[kernels.DISTINCT]:
            statistics[kernels.SMALLEST] = 0
        return np.asarray(statistics)

    def tally(self, columns: Ints) -> Ints:
        """For each of the columns: distinct, singletons and doubletons after refinement by it."""
        table, parts = self.table, []
        wide = columns[columns < table.wide]
        if wide.size:
            parts.append(self._tally_wide(wide, table.wide_codes, 0))
        narrow = columns[columns >= table.wide]
        if narrow.size:
            first = int(narrow[0])
            if 4 * narrow.size < len(table) - first:  # most columns would be counted in vain
                parts.append(self._tally_wide(narrow, table.narrow_codes, table.wide))
            else:
                narrow_tallies = kernels.tally_narrow(
                    self.order,
                    self.starts,
                    table.narrow_codes,
                    first - table.wide,
                    table.kept[table.wide :],
                    table.rows,
                    self.finished,
                )
                parts.append(narrow_tallies[narrow - first])
        return np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)

    def _tally_wide(self, columns: Ints, codes: Any, offset: int) -> Ints:
        table = self.table
        tallies = kernels.tally_wide(
            self.order,
            self.starts,
            codes,
            columns - offset,
            table.missing[columns],
            int(table.domains[columns].max()),
            table.rows,
            self.finished,
        )
        return np.asarray(tallies)

    def squares(self, column: int) -> int:
        """The sum of squared class sizes after refinement by one column more."""
        table = self.table
        total = kernels.squares(
            self.order,
            self.starts,
            table.columns[column],
            int(table.domains[column]),
            int(table.missing[column]),
            table.counts,
            self.finished,
        )
        return int(total)

    def max_singletons(self, values: ArrayLike) -> Floats:
        """The most rows that could be unique after refinement into so many values.

        A class of s cells split into v values leaves at most s of them alone, and fewer than v if
        there are more cells than values.
        """
        sizes = np.bincount(np.diff(self.starts), minlength=1)
        cells = np.cumsum(sizes * np.arange(sizes.size))
        classes = np.cumsum(sizes)
        caps = np.asarray(values, np.float64)
        upto = np.minimum(caps, sizes.size - 1).astype(np.int64)
        # NumPy would turn 0 * inf into NaN, so a cap beyond every class adds nothing explicitly.
        beyond = classes[-1] - classes[upto]
        rest = np.where(beyond > 0, beyond * (np.minimum(caps, sizes.size) - 1), 0.0)
        return np.asarray(self.finished[kernels.SINGLETONS] + cells[upto] + rest)


def count_column_sets(cells: Cells, max_columns: int | None = None) -> Iterator[ColumnSetCounts]:
    """Count the classes of every non-empty set of at most `max_columns` columns, depth first.

    Columns with many values come before those with few: the sooner classes fall apart into single
    cells, the fewer cells are left.

    Parameters
    ----------
    cells : Cells
        The cells of all the columns.
    max_columns : int, optional
        The size of the largest sets; by default all columns.

    Yields
    ------
    ColumnSetCounts
        One for each set.

    Examples
    --------
    >>> cells = Cells.from_columns(a=[1, 1, 2], b=["x", "y", "y"])
    >>> [(counts.columns, counts.singletons) for counts in count_column_sets(cells)]
    [(('a',), 1), (('a', 'b'), 3), (('b',), 1)]
    """
    limit = len(cells.columns) if max_columns is None else max_columns
    if limit < 1:
        raise ParameterError(
            f"Parameter 'max_columns' must be at least 1; {max_columns} was given.", parameter="max_columns"
        )
    table = CodeTable(cells)
    # Wildcards match across classes, so sets with a missing value are counted on their own.
    wildcard = cells.missing is MissingValues.WILDCARD
    across = np.asarray(cells.missing_mask.any(axis=1) & wildcard)

    def below(partition: Partition) -> Iterator[ColumnSetCounts]:
        following = partition.chosen[-1] + 1 if partition.chosen else 0
        for column in range(following, len(table)):
            finer = partition.refine(column)
            places = sorted(table.places[chosen] for chosen in finer.chosen)
            names = tuple(cells.columns[position] for position in places)
            if across[places].any():
                yield cells.marginal(names).class_counts()
            else:
                statistics = map(int, finer.statistics())
                distinct, once, twice, squares, rows, smallest, largest = statistics
                yield ColumnSetCounts(names, rows, distinct, once, twice, smallest, largest, squares)
            if len(finer.chosen) < limit:
                yield from below(finer)

    yield from below(Partition.coarsest(table))
