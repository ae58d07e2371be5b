"""The search for minimal sets of columns that single people out, apriori-fashion (lodha2007, 2).

Sets are tried by size. No superset of a set that was found is tried, and no branch of the lattice
in which even columns that split every group as far as they can would leave too few unique rows.
Partitions are refined along the branches, so memory stays at a few arrays per level and thread.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis import progress
from crypsis.cells import Cells, NullPolicy
from crypsis.errors import Cancelled
from crypsis.singling_out import _kernels as kernels

Ints = NDArray[np.int64]
Chosen = tuple[int, ...]
Flags = Callable[[Chosen, Ints, Ints, Ints], NDArray[np.bool_]]
"""Which of the sets `chosen + one column`, with these statistics and rows, are looked for."""


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


@dataclass(frozen=True)
class Found:
    """A set of columns that was looked for, and its groups."""

    chosen: Chosen
    rows: int
    distinct: int
    singletons: int
    doubletons: int
    squares: int


@dataclass
class Search:
    """What a search found, and how far it got."""

    found: list[Found]
    tried: int = 0
    ruled_out: int = 0
    complete: bool = True


def search(
    table: CodeTable,
    largest: int,
    flags: Flags,
    needed: int,
    *,
    uneven: bool = True,
    seconds: float | None = None,
    threads: int | None = None,
) -> Search:
    """The minimal sets of at most `largest` columns that `flags` says yes to.

    `needed` is the fewest unique rows with which that could happen. Without `uneven` the squares of
    group sizes, a pass for each set found, are left out. Work stops when `seconds` have
    passed, when a listener of the progress raises `Cancelled`, or on Ctrl-C; what was found until
    then is kept and marked as incomplete.
    """
    walk = _Walk(table, flags, needed, uneven)
    result = Search([])
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    total = sum(math.comb(len(table), size) for size in range(1, largest + 1))
    try:
        with (
            progress.step("column sets", total) as step,
            ThreadPoolExecutor(threads or os.cpu_count(), "crypsis-sets") as pool,
        ):
            for size in range(1, min(largest, len(table)) + 1):
                _search_size(walk, pool, size, result, step, deadline)
                step.reach(sum(math.comb(len(table), upto) for upto in range(1, size + 1)))
                result.ruled_out = int(step.done) - result.tried
    except (Cancelled, KeyboardInterrupt, TimeoutError):
        result.complete = False
    result.found.sort(key=lambda one: (len(one.chosen), one.chosen))
    return result


def _search_size(
    walk: _Walk,
    pool: ThreadPoolExecutor,
    size: int,
    result: Search,
    step: progress.Step,
    deadline: float,
) -> None:
    """All sets of one size; whatever stops it stops its jobs, too."""
    jobs: dict[Future[_Report], int] = {}
    try:
        jobs = walk.start(pool, size)
        for job in as_completed(jobs, timeout=_left(deadline)):
            report = job.result()
            result.found += report.found
            result.tried += report.tried
            step.advance(jobs[job])
    except BaseException:
        walk.stop.set()
        for job in jobs:
            job.cancel()
        raise
    walk.remember([one.chosen for one in result.found])


def _left(deadline: float) -> float | None:
    return None if deadline == math.inf else max(0.0, deadline - time.monotonic())


@dataclass
class _Report:
    found: list[Found]
    tried: int = 0


class _Walk:
    """Walks the lattice for sets of one size; knows what was found in smaller sizes."""

    def __init__(self, table: CodeTable, flags: Flags, needed: int, uneven: bool) -> None:
        self.table, self.flags, self.needed, self.uneven = table, flags, needed, uneven
        self.stop = Event()
        self.root = Branch.root(table)
        self._known: list[Ints] = [np.zeros((0, 1), np.int64)] * len(table)
        self._alone: set[int] = set()
        self._firsts: dict[int, Branch] = {}

    def remember(self, found: list[Chosen]) -> None:
        """Sets whose supersets need not be tried, by the columns that are in them."""
        longest = max(map(len, found), default=1)
        # Shorter sets repeat their first column: the same set, all rows equally long.
        padded = [chosen + chosen[:1] * (longest - len(chosen)) for chosen in found]
        table = np.array(padded, np.int64).reshape(len(found), longest)
        self._known = [table[(table == column).any(axis=1)] for column in range(len(self.table))]
        self._alone = {chosen[0] for chosen in found if len(chosen) == 1}

    def start(self, pool: ThreadPoolExecutor, size: int) -> dict[Future[_Report], int]:
        """Hand out the work for sets of one size; each job with the sets it covers."""
        width = len(self.table)
        root = self.root
        if size == 1:
            return {pool.submit(self._guarded, root, 1): width}
        jobs = {}
        for column in range(width - size + 1):
            if column in self._alone:
                continue
            if size == 2:
                covers = width - 1 - column
                jobs[pool.submit(self._guarded, root, 2, column)] = covers
                continue
            for second in range(column + 1, width - size + 2):
                covers = math.comb(width - 1 - second, size - 2)
                jobs[pool.submit(self._guarded, root, size, column, second)] = covers
        return jobs

    def _guarded(self, branch: Branch, size: int, *columns: int) -> _Report:
        """One job: follow the given columns, then everything below."""
        report = _Report([])
        blocked = np.zeros(len(self.table), bool)
        blocked[list(self._alone)] = True
        for column in columns:
            if blocked[column] or self.stop.is_set():
                return report
            branch = self._first(column) if not branch.chosen else branch.split(self.table, column)
            blocked = blocked | self._blocks(branch.chosen)
        self._below(branch, size, blocked, report)
        return report

    def _first(self, column: int) -> Branch:
        """The partition by one column; a few are kept, since neighbouring jobs need the same."""
        kept = self._firsts.get(column)
        if kept is None:
            kept = self.root.split(self.table, column)
            self._firsts = dict([*self._firsts.items()][-3:]) | {column: kept}
        return kept

    def _below(
        self, branch: Branch, size: int, blocked: NDArray[np.bool_], report: _Report
    ) -> None:
        """Try all sets of `size` columns that begin with those of the branch."""
        if self.stop.is_set():
            return
        following = branch.chosen[-1] + 1 if branch.chosen else 0
        columns = following + np.flatnonzero(~blocked[following:])
        more = size - len(branch.chosen)
        if columns.size < more or not self._hopeful(branch, columns, more):
            return
        if more > 1:
            for column in columns[: columns.size - more + 1]:
                finer = branch.split(self.table, int(column))
                self._below(finer, size, blocked | self._blocks(finer.chosen), report)
            return
        likely = branch.most_singletons(self.table.domains[columns]) >= self.needed
        columns = columns[likely]
        report.tried += columns.size
        stats = branch.tally(self.table, columns)
        rows = self.table.row_counts(branch.chosen, columns)
        for i in np.flatnonzero(self.flags(branch.chosen, columns, stats, rows)):
            column = int(columns[i])
            squares = branch.squares(self.table, column) if self.uneven else 0
            counted = (int(rows[i]), *map(int, stats[i]), squares)
            report.found.append(Found((*branch.chosen, column), *counted))

    def _hopeful(self, branch: Branch, columns: Ints, more: int) -> bool:
        """Whether `more` of the columns could leave enough rows unique."""
        most = math.prod(sorted(map(int, self.table.domains[columns]), reverse=True)[:more])
        return bool(branch.most_singletons([most])[0] >= self.needed)

    def _blocks(self, chosen: Chosen) -> NDArray[np.bool_]:
        """The columns that would complete a set that was found and holds the last one chosen."""
        blocked = np.zeros(len(self.table), bool)
        known = self._known[chosen[-1]]
        if known.size:
            absent = ~np.isin(known, chosen)
            # The one column absent from the branch, which padding cannot repeat: it stands first
            # only in a set of one column, and those are blocked from the start.
            single = absent.sum(axis=1) == 1
            blocked[known[single][absent[single]]] = True
        return blocked


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
