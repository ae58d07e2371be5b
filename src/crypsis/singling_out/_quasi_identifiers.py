"""Quasi-identifiers found without being told (lodha2007, sections 2 and 5.1)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from crypsis import progress
from crypsis.cells import Cells, NullPolicy, Subset
from crypsis.errors import ParameterError
from crypsis.partitions import Partition
from crypsis.release import Release, as_release
from crypsis.results import Estimate, Result
from crypsis.singling_out import _kernels as kernels
from crypsis.singling_out._column_sets import candidate_columns, universe
from crypsis.singling_out._lattice import Branch, Chosen, CodeTable, Ints
from crypsis.singling_out._search import Found, search
from crypsis.singling_out._yardstick import CONFIDENCE, ColumnSet, Counted, Yardstick, singles

_EXACT_WORK = 40_000_000
_ORDERS = 32


@dataclass(frozen=True)
class ColumnShare(Result):
    """How much a column contributes to people being unique."""

    column: str
    distinct: int
    alone: float
    """The share of rows that are unique in this column alone."""
    contribution: float | Estimate
    """What it adds to the share of unique rows, on average over all orders of the columns."""
    sets: int
    """In how many of the minimal sets it is."""


@dataclass(frozen=True)
class QuasiIdentifiers(Result):
    """The minimal sets of columns that single people out."""

    alpha: float
    measure: str
    """What decided: F1 (the table itself) or F2 (the population)."""
    population: int | None
    rows: int
    columns: tuple[str, ...]
    largest: int
    """The size of the largest sets looked at."""
    found: tuple[ColumnSet, ...]
    """Minimal: without any one of its columns a set no longer reaches alpha. Worst first."""
    ranking: tuple[ColumnShare, ...]
    """The columns, the one that contributes most first."""
    tried: int
    """The sets that had to be counted."""
    ruled_out: int
    """The sets that needed no counting."""
    complete: bool
    """False if the search was stopped: what is listed was found, more may be there."""

    @property
    def publish(self) -> bool | None:
        """Whether all the columns may be published together; None if the search cannot tell.

        A set that was found says no. Nothing found says yes only for sets of up to `largest`
        columns, so it is an answer when that is all of them.
        """
        if self.found:
            return False
        return True if self.complete and self.largest >= len(self.columns) else None


def find_quasi_identifiers(
    release: Any,
    alpha: float = 0.5,
    *,
    columns: Sequence[str] | None = None,
    largest: int = 4,
    population: int | Release | None = None,
    domains: Mapping[str, float] | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    **roles: Any,
) -> QuasiIdentifiers:
    """The minimal sets of up to `largest` columns that may make a share `alpha` of people unique.

    By default all columns are looked at that are not identifiers or sensitive. Without a population
    the unique rows of the release decide (F1); with one, the share of unique people that cannot be
    ruled out (F2; see `ColumnSet.population_bound`). A population that is a table itself is counted
    exactly. `domains` gives numbers of values that columns can take, where they are known.

    Missing values count as the release says; where they are wildcards or dropped, adding a column
    may lower the measure, and minimal means that no smaller set was found.

    The search can be stopped (Ctrl-C, a listener of the progress, `seconds`); what it found is kept
    and `complete` is False. Cost: one pass over the cells for each set of fewer than `largest`
    columns that pruning does not rule out, on all cores.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41, 41], "sex": list("fmfm"), "town": list("aaaa")})
    >>> [qi.columns for qi in find_quasi_identifiers(people).found]
    [('age', 'sex')]
    """
    given = as_release(release, **roles)
    source, people = universe(given, population)
    _check(largest, seconds, threads)
    names = candidate_columns(given, columns)
    cells = source.cells(names)
    yardstick = Yardstick(cells, alpha, people, domains)
    table = CodeTable(cells, range(len(names)))
    jury = _Jury(cells, table, yardstick)
    needed = yardstick.needed_singletons(table.fewest_rows)
    estimated = people is not None and not yardstick.whole
    result = search(
        table, largest, jury, needed, uneven=estimated, seconds=seconds, threads=threads
    )
    counted = [jury.counted(one) for one in result.found]
    found = sorted(yardstick.describe(counted), key=lambda s: (-s.value, len(s.columns), s.columns))
    ranking = _rank(cells, found, seed) if result.complete else ()
    return QuasiIdentifiers(
        alpha, yardstick.measure, people, yardstick.rows, names, min(largest, len(names)),
        tuple(found), ranking, result.tried, result.ruled_out, result.complete,
    )  # fmt: skip


def _check(largest: int, seconds: float | None, threads: int | None) -> None:
    if largest < 1 or largest != int(largest):
        raise ParameterError(f"largest is a whole number of at least 1; {largest} was given.")
    if seconds is not None and not seconds > 0:
        raise ParameterError(f"seconds is above zero; {seconds} was given.")
    if threads is not None and threads < 1:
        raise ParameterError(f"threads is at least 1; {threads} was given.")


class _Jury:
    """Says which column sets reach alpha, from the counts of the search."""

    def __init__(self, cells: Cells, table: CodeTable, yardstick: Yardstick) -> None:
        self.cells, self.table, self.yardstick = cells, table, yardstick
        self.log_domains = yardstick.log_domains[table.places]
        self.unseen = yardstick.unseen[table.places]
        # Counting takes a missing value as one value. A wildcard matches more rows, so fewer are
        # unique: who does not reach alpha by the count does not reach it at all, the rest is
        # counted again.
        wild = cells.missing is NullPolicy.WILDCARD
        self.again = wild and bool(cells._blank.any())

    def __call__(self, chosen: Chosen, columns: Ints, stats: Ints, rows: Ints) -> NDArray[np.bool_]:
        before = list(chosen)
        values = self.yardstick.values(
            stats[:, kernels.DISTINCT].astype(np.float64),
            stats[:, kernels.ONES].astype(np.float64),
            stats[:, kernels.TWOS].astype(np.float64),
            rows.astype(np.float64),
            self.log_domains[before].sum() + self.log_domains[columns],
            self.unseen[before].sum() + self.unseen[columns],
        )
        flags = np.asarray(values >= self.yardstick.alpha)
        if self.again:
            for i in np.flatnonzero(flags):
                subset = self._count_again((*chosen, int(columns[i])))
                flags[i] = self.yardstick.describe([subset])[0].value >= self.yardstick.alpha
        return flags

    def counted(self, found: Found) -> Counted | Subset:
        """What was found, with the columns named in the order of the release."""
        if self.again:
            return self._count_again(found.chosen)
        places = sorted(self.table.places[column] for column in found.chosen)
        names = tuple(self.cells.columns[place] for place in places)
        return Counted(
            names, found.rows, found.distinct, found.singletons, found.doubletons, found.squares
        )

    def _count_again(self, chosen: Chosen) -> Subset:
        """One set of columns by the policy for missing values."""
        places = sorted(self.table.places[column] for column in chosen)
        partition = Partition.whole(self.cells.counts)
        for place in places:
            partition = self.cells.refine(partition, place)
        return self.cells.subset(partition, places)


def _rank(cells: Cells, found: Sequence[ColumnSet], seed: int) -> tuple[ColumnShare, ...]:
    """The columns by their Shapley value for the share of unique rows."""
    width = len(cells.columns)
    if len(cells) * 2**width <= _EXACT_WORK and width <= 12:
        shares: list[float | Estimate] = list(_exact_shares(cells))
    else:
        shares = list(_sampled_shares(cells, seed))
    rows = [
        ColumnShare(
            single.columns[0],
            single.distinct,
            single.unique_fraction,
            share,
            sum(single.columns[0] in qi.columns for qi in found),
        )
        for single, share in zip(singles(cells), shares, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-float(row.contribution), row.column)))


def _exact_shares(cells: Cells) -> list[float]:
    """Shapley values from all subsets (Shapley 1953)."""
    width = len(cells.columns)
    unique = np.zeros(2**width)
    unique[0] = float(cells.counts.sum() == 1)
    for subset in cells.subsets():
        unique[sum(1 << cells.columns.index(name) for name in subset.columns)] = (
            subset.unique_fraction
        )
    sets = np.arange(2**width)
    sizes = np.bitwise_count(sets).astype(np.int64)
    shares = []
    for column in range(width):
        without = sets[(sets >> column) & 1 == 0]
        weight = np.array([1 / (width * math.comb(width - 1, s)) for s in range(width)])
        gain = unique[without | (1 << column)] - unique[without]
        shares.append(float((weight[sizes[without]] * gain).sum()))
    return shares


def _sampled_shares(cells: Cells, seed: int) -> list[Estimate]:
    """Shapley values from random orders of the columns, each with its reverse."""
    table = CodeTable(cells, range(len(cells.columns)))
    width = len(table)
    random = np.random.default_rng(seed)
    drawn = [random.permutation(width) for _ in range(_ORDERS // 2)]
    ways = [way for order in drawn for way in (order, order[::-1])]
    gains = np.zeros((_ORDERS, width))
    with ThreadPoolExecutor(os.cpu_count(), "crypsis-orders") as pool:
        found = pool.map(lambda way: _gains(table, way), ways)
        for i, gain in enumerate(progress.track(found, "contribution of columns", _ORDERS)):
            gains[i, ways[i]] = gain
    pairs = (gains[::2] + gains[1::2]) / 2  # independent draws; the two of a pair are not
    mean = pairs.mean(axis=0)
    error = ndtri((1 + CONFIDENCE) / 2) * pairs.std(axis=0, ddof=1) / math.sqrt(len(pairs))
    method = f"Shapley value from {_ORDERS} orders of the columns"
    estimates = {
        table.places[j]: Estimate(
            float(mean[j]), float(mean[j] - error[j]), float(mean[j] + error[j]), CONFIDENCE, method
        )
        for j in range(width)
    }
    return [estimates[place] for place in range(width)]


def _gains(table: CodeTable, way: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each column of an order adds to the share of unique rows."""
    branch = Branch.root(table)
    shares = np.empty(way.size + 1)
    shares[0] = 0.0
    for step, column in enumerate(way):
        if branch.order.size:
            branch = branch.split(table, int(column))
        chosen = np.asarray(way[: step + 1])
        rows = int(table.row_counts(tuple(chosen[:-1]), chosen[-1:])[0])
        # Groups of one cell were set aside; where they were not, they are still in the branch.
        alone = branch.finished[kernels.ONES]
        if not table.strip:
            lone = branch.starts[:-1][np.diff(branch.starts) == 1]
            alone = int((table.rows[branch.order[lone]] == 1).sum())
        shares[step + 1] = alone / rows if rows else 0.0
    return np.diff(shares)
