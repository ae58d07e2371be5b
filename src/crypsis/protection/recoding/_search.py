"""The search for the levels of local recoding.

It visits the lattice from the least loss to the most and releases every class on the
first levels on which it meets the requirements (see `kernels.sweep`); its alternatives are a search
from the top down (`kernels.specialize`) and, if something is required of sensitive values, one that
releases the classes with the largest gain first (`kernels.greedy`). Cells of the best recodings are
then moved between classes (`kernels.local_search`). The suppression budget counts records that are removed
or suppressed as a whole; the top of a hierarchy is a generalization. If both searches exceed the
budget, columns are opened one after the other, each on its coarsest labels, as far as the budget
allows; a column that cannot be opened stays suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from crypsis import progress
from crypsis.array_types import Flags, Ints, Levels
from crypsis.errors import RequirementsNotMetError
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._deadline import passed
from crypsis.protection.recoding._exact import MAX_CELLS, best_classes
from crypsis.protection.recoding._full_domain import MAX_COUNTS, best_levels, not_kept
from crypsis.protection.recoding._lattice import blocks, vectors_with_losses, visits
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding._local_search import improved
from crypsis.protection.recoding._merge import merged_from_cells
from crypsis.protection.recoding.kernels import requirements as kernel
from crypsis.protection.recoding.kernels import specialize as top_down
from crypsis.protection.recoding.kernels import sweep as kernel_sweep
from crypsis.protection.recoding.kernels.greedy import release_by_gain
from crypsis.threads import map_threads

Order = Callable[[int, float], tuple[float, float]]

_MAX_WORK = 1_000_000_000
"""About how many cells local recoding groups; beyond that it visits fewer vectors."""
_GAIN_WORK = 100_000_000
"""About how many cells it groups where classes are released by their gain."""
_FURTHER_GAIN_WORK = 333_000_000
"""About how many cells it groups in that way again where what loses the least exceeds the budget."""
_MAX_CELLS_COUNTED = 2_000_000
"""How many cells local recoding counts to compare itself with levels that are equal for all rows."""
_FEW_CELLS = 150
"""Stronger requirements, and classes released by their gain, are tried in tables of up to so many cells."""
_FEW_CELLS_OF_SIZES = 500
"""A larger k is tried in tables of up to so many cells: it saves up to a hundredth, in larger ones less."""
_MAX_IDLE_TRIES = 6
"""So many stronger requirements in a row are tried in vain in tables of few cells, in larger ones 1."""
_STRONGER_FACTORS = (0.85, 0.7, 0.5)
"""Which parts of a required distance are tried as stronger requirements."""
_PRICE_STEPS = 8
"""In so many steps the price rises if classes are released by their gain."""
_FEWER_PRICE_STEPS = (4, 2, 1)
"""Fewer steps leave fewer records behind: these are tried in turn if the budget is exceeded."""


@dataclass(frozen=True, eq=False)
class _Groups:
    """Cells `order[starts[g]:ends[g]]` make group g, on `levels[g]`."""

    order: Ints
    starts: Ints
    ends: Ints
    levels: Levels
    count: int


class _TopDown:
    """The cells and requirements as the kernels take them."""

    def __init__(self, cells: CellLevels, requirements: ClassRequirements) -> None:
        self.released, self.k = cells, requirements.k
        self.cells = cells = requirements.wider(cells)
        self.arrays = (cells.codes, cells.loss, cells.lines, cells.counts)
        self.sensitive = requirements.arrays(cells.counts.size)
        self.widest = max(len(labels) for column in cells.columns for labels in column.labels)

    def start(self) -> _Groups:
        """All cells in one group, every column suppressed; or in groups on the allowed levels."""
        cells, columns = self.cells.counts.size, self.cells.tops.size
        if self.cells.limited:
            return self._start_on_limits()
        ends, levels = np.zeros(cells, np.int64), np.zeros((cells, columns), np.int16)
        ends[0], levels[0] = cells, self.cells.tops
        return _Groups(np.arange(cells), np.zeros(cells, np.int64), ends, levels, 1)

    def _start_on_limits(self) -> _Groups:
        """The groups on the coarsest levels that are allowed, as far as they are sufficient."""
        size, limits = self.cells.counts.size, self.cells.limits
        all_cells = np.arange(size)
        member, totals = self.cells.classes(limits.tolist())
        good = kernel.which_sound(all_cells, member, totals, self.k, self.sensitive)
        number = np.where(good, np.cumsum(good) - 1, size)[member]
        order = np.argsort(number, kind="stable")
        count = int(good.sum())
        edges = np.searchsorted(number[order], np.arange(count + 1))
        starts, ends = np.zeros(size, np.int64), np.zeros(size, np.int64)
        starts[:count], ends[:count] = edges[:-1], edges[1:]
        levels = np.zeros((size, limits.size), np.int16)
        levels[:count] = limits
        return _Groups(order, starts, ends, levels, count)

    def sound(self) -> bool:
        """Whether all rows together meet the requirements."""
        all_cells = np.arange(self.cells.counts.size)
        total = np.array([self.cells.counts.sum()])
        good = kernel.which_sound(all_cells, np.zeros_like(all_cells), total, self.k, self.sensitive)
        return bool(good[0])

    def split(self, groups: _Groups, floor: Ints, *, suppress: bool = False) -> _Groups:
        """The groups split down to the floor, as far as the requirements allow."""
        order, starts, ends = groups.order.copy(), groups.starts.copy(), groups.ends.copy()
        levels = groups.levels.copy()
        count = top_down.specialize(
            order,
            starts,
            ends,
            levels,
            groups.count,
            floor,
            self.k,
            self.arrays,
            self.sensitive,
            self.widest,
            suppress,
        )
        return _Groups(order, starts, ends, levels, count)

    def recoding(self, groups: _Groups) -> Recoding:
        """Every cell on the levels of its group; suppressed if it is in none."""
        levels: Levels = top_down.levels_of(
            groups.order, groups.starts, groups.ends, groups.levels, groups.count
        )
        return self.on_levels(levels)

    def on_levels(self, levels: Levels) -> Recoding:
        """The cells of the release on these levels."""
        return self.released.recoding(levels[: self.released.counts.size])

    def with_cheapest_classes(self, levels: Levels, out: Flags) -> Levels | None:
        """Cells that are in no class on the highest levels, with the classes that make them sound.

        Classes are added by increasing cost, one by one and then more at a time, until the
        requirements are met.
        """
        cells = self.cells
        all_cells = np.arange(cells.counts.size)
        at = cells.lines + np.maximum(levels, 0)
        lost = cells.loss[at, all_cells[:, None]].sum(axis=1)
        highest = cells.loss[cells.lines + cells.tops].sum(axis=0)
        member = cells.class_of(levels)
        cost = np.bincount(member, (highest - lost) * cells.counts)
        cost[member[out]] = -1.0  # these come first
        rank = np.empty(cost.size, np.int64)
        rank[np.argsort(cost, kind="stable")] = np.arange(cost.size)
        first = int(np.unique(member[out]).size)
        while first <= cost.size:
            joined = rank[member] < first
            merged = np.flatnonzero(joined)
            total = np.array([cells.counts[merged].sum()])
            if kernel.which_sound(merged, np.zeros_like(merged), total, self.k, self.sensitive)[0]:
                return np.where(joined[:, None], cells.tops, levels).astype(np.int16)
            if first == cost.size:
                break
            first = min(first + max(1, first // 8), cost.size)
        return None


def local_recoding(
    cells: CellLevels, requirements: ClassRequirements, budget_rows: int, *, suppress: bool = True
) -> Recoding:
    """Levels for every cell with little information loss, within the suppression budget.

    At most `budget_rows` records are removed or suppressed as a whole; without `suppress` none is
    removed. Raises `RequirementsNotMetError` if not even all records together meet the
    requirements. Very few cells are divided in the best way; otherwise several searches are
    compared. Small classes that meet a requirement on sensitive values by chance leave
    one-sided records behind; in small tables stronger requirements are therefore tried as well, in
    larger ones the next k: what is found for it is not always worse.
    """
    best = _local_recoding(cells, requirements, budget_rows, suppress)
    if cells.counts.size <= MAX_CELLS and suppress and requirements.population is None:
        exact = best_classes(cells, requirements, budget_rows)
        return best if exact is None else min(best, exact, key=_rank)
    patience = _MAX_IDLE_TRIES if cells.counts.size <= _FEW_CELLS else 1
    if cells.counts.size > (_FEW_CELLS_OF_SIZES if requirements.sizes_only else _FEW_CELLS):
        return best
    idle = 0
    for stronger in _stronger(requirements, int(cells.counts.sum())):
        if passed():
            break
        idle += 1
        try:
            candidate = _local_recoding(cells, stronger, budget_rows, suppress)
        except RequirementsNotMetError:
            continue
        if candidate.ncp < best.ncp - 1e-12:
            best, idle = candidate, 0
        if idle == patience:
            break
    return best


def _stronger(requirements: ClassRequirements, rows: int) -> Iterator[ClassRequirements]:
    """Requirements that imply these: smaller distances, more values, larger classes."""
    required = requirements.requirements
    if required.compared_later:
        for part in _STRONGER_FACTORS:
            yield replace(requirements, factor=part * requirements.factor)
    if required.diversity is not None:
        more = required.model_copy(update={"diversity": required.diversity + 1})
        yield replace(requirements, requirements=more)
    for k in range(requirements.k + 1, rows // 2 + 1):
        yield replace(requirements, requirements=required.model_copy(update={"k": k}))


def _local_recoding(
    cells: CellLevels, requirements: ClassRequirements, budget_rows: int, suppress: bool
) -> Recoding:
    """The recoding with the least loss of all that are tried; one within the budget if time is over."""
    search = _TopDown(cells, requirements)
    if not search.sound():
        raise RequirementsNotMetError(
            "Not even all records together, with every quasi-identifier suppressed, meet the requirements.",
            code="unattainable",
            hint="Relax the requirements.",
        )
    if cells.counts.size == 1:  # one class as it is; Numba would compile every kernel again for it
        return cells.recoding(np.zeros((1, cells.tops.size), np.int16))
    with progress.step("searching classes") as step:
        tries = [search.recoding(search.split(search.start(), np.zeros_like(cells.tops)))]
        step.advance()

        def over() -> bool:
            """Whether the time is over and something can be released."""
            return any(recoding.rows_touched <= budget_rows for recoding in tries) and passed()

        if not over():
            bound = np.inf if cells.limited else _total_loss(cells, tries[0])
            tries.extend(map(search.on_levels, _swept(search, suppress, bound)))
            step.advance()
        best = [min(tries, key=_ncp)]
        if cells.counts.size <= _FEW_CELLS:  # in larger tables moves find less from these
            tries.extend(map(search.on_levels, _by_gain(search, suppress, _PRICE_STEPS, _GAIN_WORK)))
            best.append(min(tries, key=_ncp))
            best.append(cells.recoding(merged_from_cells(cells, requirements)))
            tries.append(best[-1])
        for solution in dict.fromkeys(best):
            tries += [] if over() else [improved(cells, requirements, solution)]
        step.advance()
        exceeded = min(tries, key=_ncp).rows_touched > budget_rows
        for steps in _FEWER_PRICE_STEPS if exceeded and not requirements.sizes_only else ():
            if over():
                break
            levels = _by_gain(search, suppress, steps, _FURTHER_GAIN_WORK)
            least = min(map(search.on_levels, levels), key=_ncp)
            tries.append(improved(cells, requirements, least))
            step.advance()
            if tries[-1].rows_touched <= budget_rows:
                break
        within = [recoding for recoding in tries if recoding.rows_touched <= budget_rows]
        if exceeded and within and not over():  # what was improved exceeds the budget
            tries.append(improved(cells, requirements, min(within, key=_ncp), empty=False))
            within = [recoding for recoding in tries if recoding.rows_touched <= budget_rows]
        same = (
            None
            if over()
            else best_levels(
                cells,
                requirements,
                budget_rows * suppress,
                min(map(_ncp, within), default=np.inf),
                min(MAX_COUNTS, _MAX_CELLS_COUNTED // cells.counts.size),
            )
        )
        if same is not None:
            tries += [same, improved(cells, requirements, same)]
            within = [recoding for recoding in tries if recoding.rows_touched <= budget_rows]
        if not within and not cells.limited:
            for first in (_fewest_rows, _least_loss):
                tries.append(_column_by_column(search, budget_rows, first, suppress))
                step.advance()
            within = [recoding for recoding in tries if recoding.rows_touched <= budget_rows] or tries[-2:]
    if cells.limited:
        within = [recoding for recoding in within if suppress or not recoding.suppressed_records]
        releasing = [recoding for recoding in within if recoding.suppressed_records < cells.counts.sum()]
        if not releasing:
            raise not_kept(cells, min(recoding.rows_touched for recoding in tries))
        return min(releasing, key=_rank)
    least = min(within, key=_rank)
    if least.suppressed_records == cells.counts.sum():  # suppressed values are better than no row
        return search.recoding(search.start())
    return least


def _ncp(recoding: Recoding) -> float:
    return recoding.ncp


def _rank(recoding: Recoding) -> tuple[float, int]:
    """By loss; of equal ones that with fewer columns that are generalized fully."""
    return round(recoding.ncp, 12), len(recoding.fully_generalized_columns)


def _by_gain(search: _TopDown, suppress: bool, steps: int, work: int) -> list[Levels]:
    """The levels found by releasing, again and again, the classes with the largest gain.

    A class has a gain if it costs less than the price, which rises in some steps.
    """
    cells = search.cells
    vectors, least, most = vectors_with_losses(cells)
    lines, labels, loss = blocks(cells, vectors)
    prices = np.linspace(0, most.max(), steps + 1)[1:] + 1e-9
    vector_of_cell = np.empty(cells.counts.size, np.int64)
    release_by_gain(
        lines, least, prices, search.k, (labels, loss, cells.counts), search.sensitive, work, vector_of_cell
    )
    return _placed(search, _levels_found(search, vectors, vector_of_cell), suppress)


def _levels_found(search: _TopDown, vectors: Levels, vector_of_cell: Ints) -> Levels:
    """The vector of each cell; -1 where it has none, the top where it has no records."""
    cells = search.cells
    levels = np.where(vector_of_cell[:, None] < 0, np.int16(-1), vectors[vector_of_cell])
    return np.where((cells.counts == 0)[:, None], cells.tops, levels).astype(np.int16)


def _total_loss(cells: CellLevels, recoding: Recoding) -> float:
    """The loss of all rows, summed over the columns."""
    return float(recoding.ncp * cells.tops.size * cells.counts.sum())


def _swept(search: _TopDown, suppress: bool, bound: float) -> list[Levels]:
    """The levels that visiting the lattice finds; none if their loss would exceed the bound.

    Records that it leaves in no class are removed (`suppress`), or they are generalized fully with
    the classes that this needs.
    """
    cells = search.cells
    vectors, low, high = visits(cells)
    lines, labels, loss = blocks(cells, vectors)
    vector_of_cell = np.empty(cells.counts.size, np.int64)
    left = kernel_sweep.sweep(
        lines,
        low,
        high,
        search.k,
        (labels, loss, cells.counts),
        search.sensitive,
        _MAX_WORK,
        bound * (1 + 1e-6),
        vector_of_cell,
    )
    if left < 0:
        return []
    return _placed(search, _levels_found(search, vectors, vector_of_cell), suppress)


def _placed(search: _TopDown, levels: Levels, suppress: bool) -> list[Levels]:
    """The levels; where cells are in no class, also those with which they are in one."""
    if not (levels[:, 0] < 0).any():
        return [levels]
    placed = search.with_cheapest_classes(levels, levels[:, 0] < 0)
    return [levels] * suppress + ([] if placed is None else [placed])


def _fewest_rows(touched: int, loss: float) -> tuple[float, float]:
    return touched, loss


def _least_loss(touched: int, loss: float) -> tuple[float, float]:
    return loss, touched


def _column_by_column(search: _TopDown, budget_rows: int, order: Order, suppress: bool) -> Recoding:
    """Open columns one by one, the best by `order` first, within the budget; then split further."""
    tops = search.cells.tops
    groups, opened = search.start(), np.zeros(tops.size, bool)

    def attempt(choice: tuple[int, bool]) -> tuple[int, float, int, _Groups]:
        c, out = choice
        floor, wider = tops.copy(), opened.copy()
        floor[c] -= 1
        wider[c] = True
        after = search.split(groups, floor, suppress=out)
        touched, loss = top_down.total_loss(
            after.order, after.starts, after.ends, after.levels, after.count, wider, tops, search.arrays
        )
        return touched, loss, c, after

    while True:
        best: tuple[tuple[float, float], int, _Groups] | None = None
        closed = np.flatnonzero(~opened).tolist()
        choices = list(product(closed, (False, True) if suppress else (False,)))
        for touched, loss, c, after in map_threads(attempt, choices):
            if touched <= budget_rows and (best is None or order(touched, loss) < best[0]):
                best = order(touched, loss), c, after
        if best is None:
            break
        opened[best[1]], groups = True, best[2]
    return search.recoding(search.split(groups, np.where(opened, 0, tops)))
