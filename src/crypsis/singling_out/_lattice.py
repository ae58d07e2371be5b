"""Cells laid out for counting, and their partitions along the lattice of column sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.cells import Cells, NullPolicy
from crypsis.singling_out import _kernels as kernels

Ints = NDArray[np.int64]
Chosen = tuple[int, ...]


class CodeTable:
    """The codes of some cells laid out for counting, columns with many values first."""

    def __init__(self, cells: Cells, places: Sequence[int]) -> None:
        self.places = sorted(places, key=lambda place: -len(cells.values[place]))
        self.domains = np.array([len(cells.values[p]) for p in self.places], np.int64)
        dropping = cells.missing is NullPolicy.DROP
        codes = [cells._missing_codes[p] if dropping else -1 for p in self.places]
        self.blanks = np.array(codes, np.int64)
        self.strip = bool((self.blanks < 0).all())
        self.counts = cells.counts
        self.rows = np.minimum(cells.counts, 3).astype(np.uint8)
        kind = np.min_scalar_type(max(1, int(self.domains.max(initial=1)) - 1))
        self.columns = [cells.codes[p].astype(kind) for p in self.places]
        self.wide = int((self.domains > kernels.BITS).sum())
        cell_count = cells.counts.size
        self.wide_codes = _side_by_side(self.columns[: self.wide], kind, cell_count)
        narrow = [column.astype(np.uint8) for column in self.columns[self.wide :]]
        self.narrow_codes = _side_by_side(narrow, np.dtype(np.uint8), cell_count)
        self.kept = np.array([_bits(d, b) for d, b in zip(self.domains, self.blanks, strict=True)])
        self._patterns = _blank_patterns(cells, self.places) if not self.strip else None
        self._total = int(cells.counts.sum())

    def __len__(self) -> int:
        return len(self.places)

    def row_counts(self, chosen: Chosen, columns: Ints) -> Ints:
        """The rows that count for the sets of `chosen` and one of the columns."""
        if self._patterns is None:
            return np.full(columns.size, self._total, np.int64)
        blank, counts = self._patterns
        open_rows = ~blank[:, list(chosen)].any(axis=1)
        return np.asarray((counts * open_rows) @ ~blank[:, columns])

    @cached_property
    def fewest_rows(self) -> int:
        """The rows without any blank."""
        if self._patterns is None:
            return self._total
        blank, counts = self._patterns
        return int(counts[~blank.any(axis=1)].sum())


@dataclass(frozen=True, eq=False)
class Branch:
    """A partition of the cells by some columns."""

    chosen: Chosen
    order: NDArray[np.int32]
    starts: NDArray[np.int32]
    finished: Ints

    @classmethod
    def root(cls, table: CodeTable) -> Branch:
        """All cells in one group."""
        order = np.arange(table.rows.size, dtype=np.int32)
        starts = np.array([0, order.size], np.int32)
        return cls((), order, starts, np.zeros(4, np.int64))

    def split(self, table: CodeTable, column: int) -> Branch:
        """The partition by one column more."""
        finished = self.finished.copy()
        order, starts = kernels.split(
            self.order, self.starts, table.columns[column], int(table.domains[column]),
            int(table.blanks[column]), table.rows, table.counts, table.strip, finished,
        )  # fmt: skip
        return Branch((*self.chosen, column), order, starts, finished)

    def tally(self, table: CodeTable, columns: Ints) -> Ints:
        """For each of the columns the statistics of the partition that it would be split into."""
        parts = []
        wide = columns[columns < table.wide]
        if wide.size:
            parts.append(self._tally_wide(table, wide, table.wide_codes, 0))
        narrow = columns[columns >= table.wide]
        if narrow.size:
            leftmost = int(narrow[0]) - table.wide
            if 4 * narrow.size < len(table) - int(narrow[0]):  # most of them would be for nothing
                parts.append(self._tally_wide(table, narrow, table.narrow_codes, table.wide))
            else:
                every = kernels.tally_narrow(
                    self.order, self.starts, table.narrow_codes, leftmost,
                    table.kept[table.wide :], table.rows, self.finished,
                )  # fmt: skip
                parts.append(every[narrow - int(narrow[0])])
        return np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)

    def _tally_wide(self, table: CodeTable, columns: Ints, codes: Any, offset: int) -> Ints:
        domain = int(table.domains[columns].max())
        blanks = table.blanks[columns]
        return np.asarray(
            kernels.tally_wide(
                self.order, self.starts, codes, columns - offset, blanks, domain, table.rows,
                self.finished,
            )
        )  # fmt: skip

    def squares(self, table: CodeTable, column: int) -> int:
        """The sum of squared group sizes of the partition by one column more."""
        total = kernels.squares(
            self.order, self.starts, table.columns[column], int(table.domains[column]),
            int(table.blanks[column]), table.counts, self.finished,
        )  # fmt: skip
        return int(total)

    def most_singletons(self, values: ArrayLike) -> NDArray[np.float64]:
        """The most rows that could be unique after a split into so many values.

        A group of s cells split into v values leaves at most s of them alone, and fewer than v if
        there are more cells than values.
        """
        sizes = np.bincount(np.diff(self.starts), minlength=1)
        cells = np.cumsum(sizes * np.arange(sizes.size))
        groups = np.cumsum(sizes)
        caps = np.asarray(values, np.float64)
        upto = np.minimum(caps, sizes.size - 1).astype(np.int64)
        # NumPy would turn 0 * inf into NaN, so a cap beyond every group adds nothing explicitly.
        beyond = groups[-1] - groups[upto]
        rest = np.where(beyond > 0, beyond * (np.minimum(caps, sizes.size) - 1), 0.0)
        return np.asarray(self.finished[kernels.ONES] + cells[upto] + rest)


def _side_by_side(columns: Sequence[Any], kind: Any, cells: int) -> Any:
    """Codes row by row instead of column by column."""
    if not columns:
        return np.zeros((cells, 0), kind)
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _bits(domain: int, blank: int) -> np.uint64:
    """The bits of the values that count, for a column of up to 64 values."""
    every = 2 ** min(int(domain), kernels.BITS) - 1
    hidden = 1 << int(blank) if 0 <= blank < kernels.BITS else 0
    return np.uint64(every & ~hidden)


def _blank_patterns(cells: Cells, places: Sequence[int]) -> tuple[NDArray[np.bool_], Ints]:
    """Which columns are missing together, and in how many rows."""
    blank = cells._blank[list(places)].T
    patterns, member = np.unique(blank, axis=0, return_inverse=True)
    counts = np.bincount(member.ravel(), weights=cells.counts, minlength=len(patterns))
    return patterns, counts.astype(np.int64)
