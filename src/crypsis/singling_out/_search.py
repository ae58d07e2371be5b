"""The search for minimal sets of columns that single people out, apriori-fashion (lodha2007, 2).

Sets are tried by size. No superset of a set that was found is tried, and no branch of the lattice
in which even columns that split every group as far as they can would leave too few unique rows.
Partitions are refined along the branches, so memory stays at a few arrays per level and thread.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.errors import Cancelled
from crypsis.singling_out._lattice import Branch, Chosen, CodeTable, Ints

Flags = Callable[[Chosen, Ints, Ints, Ints], NDArray[np.bool_]]
"""Which of the sets `chosen + one column`, with these statistics and rows, are looked for."""


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
