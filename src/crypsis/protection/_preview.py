"""A preview of a plan: classes, risk and information loss of any choice of levels.

The rows are scanned once. Then every choice is evaluated from the cells of the quasi-identifiers,
at the speed of a slider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from crypsis import progress
from crypsis.array_types import Floats, Ints
from crypsis.counting.grouping import group, group_keys
from crypsis.dataset import Data, as_dataset
from crypsis.errors import ParameterError, unknown_columns
from crypsis.options import Roles
from crypsis.protection._anonymized import Plan
from crypsis.protection._apart import without_apart
from crypsis.protection.recoding._choice import ColumnPlan, fitting_methods
from crypsis.protection.recoding._column_types import counted_column_types
from crypsis.protection.recoding._levels import column_levels
from crypsis.protection.recoding._steps import Keep, Step, Suppress
from crypsis.results import Result
from crypsis.singling_out import max_cells, values_per_column

_MAX_CACHED_LEVELS = 512
"""The class sizes of so many choices of levels are kept; the oldest is dropped for a new one."""


class PreviewOutcome(Result):
    """The release with each column on one level, before single rows are recoded."""

    levels: Mapping[str, int]
    k: int
    rows: int
    classes: int
    smallest: int
    rows_below: int
    """Rows in classes smaller than k."""
    unique_rows: int
    average_risk: float
    """Classes over rows: the average re-identification risk (marketer)."""
    loss: float
    """Information loss (NCP), averaged over rows and columns, 0 to 1."""

    @property
    def share_below(self) -> float:
        """The share of rows in classes smaller than k."""
        return self.rows_below / max(1, self.rows)


class AllowedValues(Result):
    """The number of values a column may keep against a population (lodha2007, equation 1)."""

    column: str
    values: float
    allowed: float


@dataclass(frozen=True, eq=False)
class _ClassSizes:
    """The classes of one choice: their sizes (in people where they are known), the rows and the
    number of classes of each size, the loss.
    """

    sizes: Ints
    rows: Ints
    classes: Ints
    loss: float


class Preview:
    """The cells of a plan's columns and the generalization levels of each.

    Level 0 of a column is the plan's own step; on the last level it is suppressed. Missing values
    count as a value of their own, as in `Plan.apply`.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    plan : Plan
        The plan whose levels are previewed.
    **roles
        See `crypsis.read`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis.protection import plan
    >>> people = pa.table({"age": [30, 31, 41, 44], "sex": ["f", "f", "m", "m"]})
    >>> known = {"quasi_identifiers": ["age", "sex"]}
    >>> preview = Preview(people, plan(people, k=2, **known), **known)
    >>> [preview.outcome({"age": level}, k=2).rows_below for level in (0, preview.top("age"))]
    [4, 0]
    """

    def __init__(self, data: Data, plan: Plan, **roles: Unpack[Roles]) -> None:
        dataset = without_apart(as_dataset(data, **roles), plan.apart)
        self.plan = plan
        self._dataset = dataset
        self.names = tuple(column.name for column in plan.columns)
        cells = dataset.cells(self.names)
        self._codes, self._counts = cells.codes, cells.counts
        self._people: tuple[Ints, Ints] | None = None
        if dataset.person is not None:
            finer = dataset.cells([*self.names, dataset.person])
            has_person = finer.codes[-1] != finer.missing_codes[-1]
            _, cell = group(finer.codes[:-1], finer.domains[:-1])
            self._people = cell[has_person], finer.codes[-1][has_person].astype(np.int64)
        self.rows = int(cells.counts.sum())
        self.steps: dict[str, tuple[Step, ...]] = {column.name: _steps(column) for column in plan.columns}
        self._levels = {
            name: column_levels(name, cells.values[c].to_pylist(), Keep(), self.steps[name])
            for c, name in enumerate(self.names)
        }
        self._known: dict[tuple[int, ...], _ClassSizes] = {}

    @property
    def cells(self) -> int:
        """The number of distinct combinations."""
        return int(self._counts.size)

    def top(self, column: str) -> int:
        """The level on which a column is suppressed."""
        return len(self.steps[column]) - 1

    def values(self, column: str, level: int) -> int:
        """The number of values of a column on a level, with missing if it occurs."""
        return len(self._levels[column].labels[level + 1])

    def methods(self, column: str) -> tuple[str, ...]:
        """The recoding methods that fit a column."""
        return fitting_methods(counted_column_types(self._dataset, [column])[column])

    def outcome(self, levels: Mapping[str, int] | None = None, *, k: int) -> PreviewOutcome:
        """The release on these levels; columns that are not named stay on level 0.

        Cost: one grouping of the cells if the levels are new.
        """
        if k < 1:
            raise ParameterError(f"Parameter 'k' must be at least 1; {k} was given.", parameter="k")
        chosen = self._chosen(levels or {})
        class_sizes = self._class_sizes(chosen)
        below = int(class_sizes.rows[class_sizes.sizes < k].sum())
        classes = int(class_sizes.classes.sum())
        return PreviewOutcome(
            dict(zip(self.names, chosen, strict=True)),
            k,
            self.rows,
            classes,
            int(class_sizes.sizes[0]),
            below,
            int(class_sizes.rows[class_sizes.sizes == 1].sum()),
            classes / max(1, self.rows),
            class_sizes.loss,
        )

    def shares_below(self, levels: Mapping[str, int] | None, ks: Sequence[int]) -> list[float]:
        """The share of rows in classes smaller than each k."""
        class_sizes = self._class_sizes(self._chosen(levels or {}))
        upto = np.concatenate([[0], np.cumsum(class_sizes.rows)])
        return [float(upto[np.searchsorted(class_sizes.sizes, k)]) / max(1, self.rows) for k in ks]

    def without_each(self, levels: Mapping[str, int] | None = None, *, k: int) -> dict[str, PreviewOutcome]:
        """The outcome with each column suppressed in turn: which one makes classes small.

        Cost: one grouping of the cells a column.
        """
        chosen = dict(levels or {})
        return {name: self.outcome({**chosen, name: self.top(name)}, k=k) for name in self.names}

    def trade_off(self, *, k: int, levels: Mapping[str, int] | None = None) -> tuple[PreviewOutcome, ...]:
        """Risk against information loss: from these levels upward until all classes have k rows.

        Each step generalizes the column with the largest gain for its loss: a greedy path of
        full-domain levels, not the optimum; the local recoding of `Plan.apply` loses less. Cost: a
        grouping of the cells for each column of each step.
        """
        start = self._chosen(levels or {})
        tops = [self.top(name) for name in self.names]
        path = [self.outcome(dict(zip(self.names, start, strict=True)), k=k)]
        with progress.step("trade-off", total=sum(tops) - sum(start)) as step:
            while path[-1].rows_below:
                now = path[-1]
                above = [
                    self.outcome({**now.levels, name: now.levels[name] + 1}, k=k)
                    for name, top in zip(self.names, tops, strict=True)
                    if now.levels[name] < top
                ]
                if not above:
                    break
                path.append(max(above, key=lambda outcome: _worth(now, outcome)))
                step.advance()
        return tuple(path)

    def plan_with(self, levels: Mapping[str, int]) -> Plan:
        """The plan with each column on its level."""
        columns = []
        for column, level in zip(self.plan.columns, self._chosen(levels), strict=True):
            steps = self.steps[column.name]
            update: dict[str, Any] = {}
            if level:
                update = {
                    "step": steps[level],
                    "coarser": tuple(s for s in steps[level + 1 :] if not isinstance(s, Suppress)),
                    "values_after": float(self.values(column.name, level)),
                }
            columns.append(column.model_copy(update=update))
        return self.plan.model_copy(update={"columns": tuple(columns)})

    def _chosen(self, levels: Mapping[str, int]) -> tuple[int, ...]:
        if any(name not in self.names for name in levels):
            raise unknown_columns(levels, self.names)
        for name, level in levels.items():
            if not 0 <= level <= self.top(name):
                raise ParameterError(
                    f"Column {name!r} has levels 0 to {self.top(name)}; {level} was given.",
                    parameter="levels",
                )
        return tuple(levels.get(name, 0) for name in self.names)

    def _class_sizes(self, levels: tuple[int, ...]) -> _ClassSizes:
        if levels in self._known:
            return self._known[levels]
        columns = [self._levels[name] for name in self.names]
        codes = tuple(
            column.codes[level + 1][code]
            for column, level, code in zip(columns, levels, self._codes, strict=True)
        )
        domains = tuple(len(column.labels[i + 1]) for column, i in zip(columns, levels, strict=True))
        keys, bound = group_keys(codes, domains)
        if self._people is None:
            classes = np.bincount(_totals(keys, bound, self._counts))
            sizes = np.flatnonzero(classes)
            rows = sizes * classes[sizes]
            numbers = classes[sizes]
        else:
            sizes, rows, numbers = self._of_people(keys)
        lost = sum(self._losses[c][level + 1] for c, level in enumerate(levels)) / len(levels)
        if len(self._known) >= _MAX_CACHED_LEVELS:
            self._known.pop(next(iter(self._known)))
        self._known[levels] = _ClassSizes(sizes, rows, numbers, float(lost))
        return self._known[levels]

    def _of_people(self, keys: Ints) -> tuple[Ints, Ints, Ints]:
        """The sizes of the classes in people, and the rows and the number of classes of each."""
        assert self._people is not None  # noqa: S101 - asked for where people are known
        cell, person = self._people
        _, member = np.unique(keys, return_inverse=True)
        member = member.ravel()
        pairs = np.unique(np.stack([member[cell], person]), axis=1)[0]
        people = np.bincount(pairs, minlength=int(member.max(initial=-1)) + 1)
        sizes, size_index = np.unique(people, return_inverse=True)
        rows = np.bincount(size_index[member], self._counts, sizes.size).astype(np.int64)
        return sizes, rows, np.bincount(size_index, minlength=sizes.size)

    @cached_property
    def _losses(self) -> list[Floats]:
        """For each column the loss of each level, averaged over the rows."""
        return [
            level.average_loss(np.bincount(code, self._counts, level.codes.shape[1]).astype(np.int64))
            for level, code in zip(self._levels.values(), self._codes, strict=True)
        ]


def allowed_values(
    plan: Plan, *, population: int, k: int, beta: float, weights: Mapping[str, float] | None = None
) -> tuple[AllowedValues, ...]:
    """The number of values each column of a plan may keep against a population.

    Parameters
    ----------
    plan : Plan
        The plan; its numbers of values are used, no data.
    population : int
        The number of people.
    k : int
        The smallest class in the population.
    beta : float
        The probability, for each cell, that its class is smaller.
    weights : mapping of str to float, optional
        How much the detail of each column matters; by default as in the plan.

    Returns
    -------
    tuple of AllowedValues

    References
    ----------
    lodha2007, equation (1) with the number of cells of Theorem 4.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis.protection import plan
    >>> made = plan(pa.table({"age": list(range(90))}), k=1, quasi_identifiers=["age"])
    >>> [round(one.allowed) for one in allowed_values(made, population=1000, k=20, beta=0.05)]
    [30]
    """
    bounded = [column for column in plan.columns if column.domain is not None]
    cells = max(1.0, max_cells(population, k, beta))
    domains = [max(1.0, column.domain or 1.0) for column in bounded]
    column_weights = [(weights or {}).get(column.name, column.weight) for column in bounded]
    allowed = values_per_column(cells, domains, weights=column_weights)
    return tuple(
        AllowedValues(column.name, domain, float(most))
        for column, domain, most in zip(bounded, domains, allowed, strict=True)
    )


def _totals(keys: Ints, bound: int, counts: Ints) -> Ints:
    """The summed counts of equal keys, in any order.

    Few possible keys are counted in a table; many are sorted with their counts in their low bits,
    which takes a third of the time of sorting places.
    """
    if bound <= keys.size // 2:
        table = np.bincount(keys, weights=counts)
        return np.asarray(table[table > 0], np.int64)
    bits = int(counts.max()).bit_length()
    if bound.bit_length() + bits < 63:
        packed = (keys << bits) | counts
        packed.sort()
        keys, counts = packed >> bits, packed & ((1 << bits) - 1)
    else:
        order = np.argsort(keys)
        keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return np.asarray(np.add.reduceat(counts, starts), np.int64)


def _steps(column_plan: ColumnPlan) -> tuple[Step, ...]:
    steps = [step for step in (column_plan.step, *column_plan.coarser) if not isinstance(step, Suppress)]
    return (*steps, Suppress())


def _worth(before: PreviewOutcome, after: PreviewOutcome) -> tuple[float, float]:
    """Rows gained for classes of k over the information loss; if none, the least loss."""
    helped, price = before.rows_below - after.rows_below, max(after.loss - before.loss, 1e-9)
    return (helped / price, -price) if helped > 0 else (0.0, -price)
