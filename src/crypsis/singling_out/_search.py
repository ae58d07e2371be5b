"""The Apriori search for minimal sets of columns that make records unique (lodha2007, section 2).

Sets are counted by size. Supersets of a set that was found are not counted, nor is a branch of the
lattice in which even the finest possible refinement would leave too few unique records. Partitions
are refined along the branches, so memory is a few arrays per level and thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from threading import Event, Lock

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.array_types import Ints
from crypsis.counting.partitions import Chosen, CodeTable, Partition
from crypsis.errors import CancelledError
from crypsis.threads import map_threads

Flags = Callable[[Chosen, Ints, Ints, Ints], NDArray[np.bool_]]
"""Which of the sets `chosen + one column`, with these statistics and rows, are searched for."""


@dataclass(frozen=True)
class FoundSet:
    """A set of columns that was found, and its equivalence classes."""

    chosen: Chosen
    columns: tuple[str, ...]
    rows: int
    distinct: int
    singletons: int
    doubletons: int
    squares: int


@dataclass
class SearchResult:
    """The sets found, and how many were counted."""

    found: list[FoundSet]
    tried: int = 0
    ruled_out: int = 0
    complete: bool = True


def search(
    table: CodeTable,
    names: Sequence[str],
    max_columns: int,
    flags: Flags,
    needed: int,
    *,
    squares: bool = True,
    seconds: float | None = None,
    threads: int | None = None,
) -> SearchResult:
    """The minimal sets of at most `max_columns` columns for which `flags` is true.

    `needed` is the fewest unique records with which that could be. Without `squares` the sums of
    squared class sizes, a pass for each set found, are not counted. The search ends when `seconds`
    have passed, when a listener of the progress raises `CancelledError`, or on Ctrl-C; what was
    found until then is returned and marked as incomplete.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    walk = _Walk(table, names, flags, needed, squares, deadline)
    result = SearchResult([])
    total = sum(math.comb(len(table), size) for size in range(1, max_columns + 1))
    try:
        with progress.step("column sets", total) as step:
            for size in range(1, min(max_columns, len(table)) + 1):
                _search_size(walk, size, result, step, threads)
                step.reach(sum(math.comb(len(table), upto) for upto in range(1, size + 1)))
                result.ruled_out = int(step.done) - result.tried
    except (CancelledError, KeyboardInterrupt, TimeoutError):
        result.complete = False
    result.found.sort(key=lambda subset: (len(subset.chosen), subset.chosen))
    return result


def _search_size(
    walk: _Walk, size: int, result: SearchResult, step: progress.Step, threads: int | None
) -> None:
    """All sets of one size; an interruption of one job ends the others."""
    lock = Lock()

    def work(columns: Chosen, covers: int) -> None:
        try:
            report = walk.search(size, columns)
            with lock:
                result.found += report.found
                result.tried += report.tried
                step.advance(covers)
        except BaseException:
            walk.stop.set()
            raise

    try:
        map_threads(work, *walk.jobs(size), threads=threads)
    except BaseException:  # Ctrl-C while the caller waits for others
        walk.stop.set()
        raise
    walk.remember([subset.chosen for subset in result.found])


@dataclass
class _Report:
    found: list[FoundSet]
    tried: int = 0


class _Walk:
    """The walk through the lattice for sets of one size, with the smaller sets that were found."""

    def __init__(
        self,
        table: CodeTable,
        names: Sequence[str],
        flags: Flags,
        needed: int,
        squares: bool,
        deadline: float,
    ) -> None:
        self.table, self.names, self.flags = table, names, flags
        self.needed, self.squares, self._deadline = needed, squares, deadline
        self.stop = Event()
        self.root = Partition.coarsest(table)
        self._known: list[Ints] = [np.zeros((0, 1), np.int64)] * len(table)
        self._alone: set[int] = set()
        self._firsts: dict[int, Partition] = {}

    def remember(self, chosens: list[Chosen]) -> None:
        """Record sets whose supersets need not be counted, by the columns that are in them."""
        longest = max(map(len, chosens), default=1)
        # Shorter sets repeat their first column: the same set, all rows equally long.
        padded = [chosen + chosen[:1] * (longest - len(chosen)) for chosen in chosens]
        table = np.array(padded, np.int64).reshape(len(chosens), longest)
        self._known = [table[(table == column).any(axis=1)] for column in range(len(self.table))]
        self._alone = {chosen[0] for chosen in chosens if len(chosen) == 1}

    def jobs(self, size: int) -> tuple[list[Chosen], list[int]]:
        """How the sets of a size begin, and how many sets begin so."""
        width, first = len(self.table), min(size - 1, 2)
        beginnings, covered = [], []
        for columns in combinations(range(width), first):
            following = width - 1 - columns[-1] if columns else width
            covers = math.comb(following, size - first)
            if covers and not self._alone.intersection(columns):
                beginnings.append(columns)
                covered.append(covers)
        return beginnings, covered

    def search(self, size: int, columns: Chosen) -> _Report:
        """The sets of a size that begin with the given columns."""
        report, branch = _Report([]), self.root
        blocked = np.zeros(len(self.table), bool)
        blocked[list(self._alone)] = True
        for column in columns:
            if blocked[column] or self._ended():
                return report
            branch = self._first(column) if not branch.chosen else branch.refine(column)
            blocked = blocked | self._blocks(branch.chosen)
        self._below(branch, size, blocked, report)
        return report

    def _ended(self) -> bool:
        """Whether another job was interrupted; raises where the time is over."""
        if time.monotonic() > self._deadline:
            raise TimeoutError
        return self.stop.is_set()

    def _first(self, column: int) -> Partition:
        """The partition by one column; a few are kept, because consecutive jobs need the same."""
        kept = self._firsts.get(column)
        if kept is None:
            kept = self.root.refine(column)
            self._firsts = dict([*self._firsts.items()][-3:]) | {column: kept}
        return kept

    def _below(self, branch: Partition, size: int, blocked: NDArray[np.bool_], report: _Report) -> None:
        """Count all sets of `size` columns that begin with those of the branch."""
        if self._ended():
            return
        following = branch.chosen[-1] + 1 if branch.chosen else 0
        columns = following + np.flatnonzero(~blocked[following:])
        more = size - len(branch.chosen)
        if columns.size < more or not self._can_reach(branch, columns, more):
            return
        if more > 1:
            for column in columns[: columns.size - more + 1]:
                finer = branch.refine(int(column))
                self._below(finer, size, blocked | self._blocks(finer.chosen), report)
            return
        likely = branch.max_singletons(self.table.domains[columns]) >= self.needed
        columns = columns[likely]
        report.tried += columns.size
        stats = branch.tally(columns)
        rows = self.table.row_counts(branch.chosen, columns)
        for i in np.flatnonzero(self.flags(branch.chosen, columns, stats, rows)):
            column = int(columns[i])
            squares = branch.squares(column) if self.squares else 0
            chosen = (*branch.chosen, column)
            names = tuple(self.names[p] for p in sorted(self.table.places[c] for c in chosen))
            counted = (int(rows[i]), *map(int, stats[i]), squares)
            report.found.append(FoundSet(chosen, names, *counted))

    def _can_reach(self, branch: Partition, columns: Ints, more: int) -> bool:
        """Whether `more` of the columns could make enough records unique."""
        most = math.prod(sorted(map(int, self.table.domains[columns]), reverse=True)[:more])
        return bool(branch.max_singletons([most])[0] >= self.needed)

    def _blocks(self, chosen: Chosen) -> NDArray[np.bool_]:
        """The columns that would complete a set that was found and has the last column chosen."""
        blocked = np.zeros(len(self.table), bool)
        known_places = self._known[chosen[-1]]
        if known_places.size:
            absent = ~np.isin(known_places, chosen)
            # The one column absent from the branch, which padding cannot repeat: it is first only
            # in a set of one column, and those are blocked from the start.
            single = absent.sum(axis=1) == 1
            blocked[known_places[single][absent[single]]] = True
        return blocked
