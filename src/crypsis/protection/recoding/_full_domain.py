"""Full-domain recoding: the level of each column, equal for all rows, with the least loss.

It is the optimum that Incognito, OLA and ARX search for.
"""

from __future__ import annotations

import numpy as np

from crypsis import progress
from crypsis.array_types import Flags, Ints
from crypsis.counting.grouping import group
from crypsis.errors import RequirementsNotMetError
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._deadline import passed
from crypsis.protection.recoding._lattice import promising_vectors
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding.kernels.requirements import sound_within

MAX_COUNTS = 20_000
"""How often the search counts the cells."""


def full_domain_recoding(cells: CellLevels, requirements: ClassRequirements, budget_rows: int) -> Recoding:
    """The levels, equal for all rows, with the least loss if rows in small classes are suppressed.

    Level vectors are visited by increasing loss until no later one can be better, so the result is the
    optimum, unless that takes more than 20,000 counts of the cells or the time is over; then the search
    continues with one column at a time, the one with the least loss. A vector is not visited if a few of its
    columns alone suppress too many rows already (the subset property of LeFevre et al. 2005). Sensitive
    values are counted only until too many rows are in classes that fail.
    """
    best = best_levels(cells, requirements, budget_rows)
    if best is None and cells.limited:
        search = _Lattice(cells, requirements, budget_rows)
        raise not_kept(cells, search.kept(cells.limits, search.rows)[1])
    if best is None:
        raise RequirementsNotMetError(
            "No generalization levels meet the requirements within the suppression budget.",
            code="no-levels",
            hint="Relax the requirements or raise {suppression}.",
        )
    return best


def best_levels(
    cells: CellLevels,
    requirements: ClassRequirements,
    budget_rows: int,
    below: float = np.inf,
    counts: int = MAX_COUNTS,
) -> Recoding | None:
    """The levels, equal for all rows, with the least loss, if that is below a bound."""
    rows, columns = int(cells.counts.sum()), cells.tops.size
    search = _Lattice(cells, requirements, budget_rows)
    best: tuple[Ints, Flags] | None = None
    with progress.step("searching levels") as step:
        for floor, vector in promising_vectors(
            cells, search.order, search.hopeless, lambda: search.counted < counts and not passed()
        ):
            if floor >= below or (below < np.inf and (search.counted >= counts or passed())):
                break
            step.advance()
            kept, suppressed = search.kept(np.array(vector), budget_rows)
            if suppressed > budget_rows or suppressed == rows:  # no row would be released
                continue
            lines = cells.loss[cells.lines + np.array(vector)][:, kept] * cells.counts[kept]
            loss = (float(lines.sum()) / columns + suppressed) / rows
            if loss < below:
                below, best = loss, (np.array(vector), kept)
    if best is None:
        return None
    return cells.recoding(np.where(best[1][:, None], best[0], -1).astype(np.int16))


class _Lattice:
    """Which rows are in sufficient classes on which levels."""

    def __init__(self, cells: CellLevels, requirements: ClassRequirements, budget: int) -> None:
        self.rows, self.k, self.budget = int(cells.counts.sum()), requirements.k, budget
        self.size = cells.counts.size
        self.cells = requirements.wider(cells)
        self.sensitive = requirements.arrays(self.cells.counts.size)
        self.every = np.arange(self.cells.counts.size)
        self.risk = None if requirements.people else requirements.requirements.average_risk
        self._own = 0
        self.order = sorted(range(cells.tops.size), key=lambda c: -len(cells.columns[c].labels[0]))
        self.parts = [_Subset(cells, self.order[:n]) for n in range(1, len(self.order))]

    @property
    def counted(self) -> int:
        """How often cells were counted so far."""
        return self._own + sum(part.counted for part in self.parts)

    def kept(self, vector: Ints, budget: int) -> tuple[Flags, int]:
        """Which cells are in a sufficient class on these levels, and how many rows are not.

        If these are more than the budget, no more than that is certain.
        """
        self._own += 1
        inside, totals = self.cells.classes(vector.tolist())
        good, lost = sound_within(self.every, inside, totals, self.k, self.sensitive, budget)
        if lost <= budget and self.risk is not None:
            good &= ~_risky(totals, good, self.risk)
            lost = self.rows - totals[good].sum()
        return good[inside[: self.size]], int(lost)

    def hopeless(self, levels: tuple[int, ...]) -> bool:
        """Whether the first columns of the order alone, on these levels, suppress too many rows."""
        if len(levels) > len(self.parts):
            return False  # all columns: `kept` counts them
        return self.parts[len(levels) - 1].rows_below(levels, self.k) > self.budget


def _risky(totals: Ints, good: Flags, limit: float) -> Flags:
    """The smallest classes, without which the average risk of the others meets the limit."""
    order = np.flatnonzero(good)[np.argsort(totals[good], kind="stable")]
    left = totals[order].sum() - np.cumsum([0, *totals[order]])
    classes = order.size - np.arange(order.size + 1)
    first = int(np.argmax(classes <= limit * left * (1 + 1e-12)))
    risky = np.zeros(totals.size, bool)
    risky[order[:first]] = True
    return risky


class _Subset:
    """Some columns, and how many rows they alone put into classes smaller than k."""

    def __init__(self, cells: CellLevels, columns: list[int]) -> None:
        places = tuple(cells.places[c] for c in columns)
        domains = tuple(cells.columns[c].codes.shape[1] for c in columns)
        first, inverse = group(places, domains)
        counts = np.bincount(inverse, cells.counts).astype(np.int64)
        kept_columns = tuple(cells.columns[c] for c in columns)
        self.cells = CellLevels(kept_columns, tuple(codes[first] for codes in places), counts)
        self.counted = 0

    def rows_below(self, levels: tuple[int, ...], k: int) -> int:
        """The rows in classes smaller than k."""
        self.counted += 1
        _, totals = self.cells.classes(levels)
        return int(totals[totals < k].sum())


def not_kept(cells: CellLevels, suppressed: int) -> RequirementsNotMetError:
    """The error that the columns which must be kept cannot be, and what comes nearest."""
    names = [column.name for column in cells.columns if column.limit < column.top]
    rows = int(cells.counts.sum())
    listed = ", ".join(map(repr, names))
    return RequirementsNotMetError(
        f"The requirements cannot be met with {listed} on the levels that must be kept: the nearest "
        f"recoding found suppresses {suppressed:,} of {rows:,} records "
        f"({100 * suppressed / max(1, rows):.1f} %), more than the limit allows.",
        code="not-kept",
        hint="Allow coarser levels in {keep}, raise {suppression} or relax the requirements.",
        columns=tuple(names),
    )
