"""A plan before it is carried out: what any choice of levels comes to, from the cells alone.

The rows are scanned once. After that every question here is answered from the cells of the
quasi-identifiers, so that a person can move a slider and see at once what it brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.anonymize._columns import ColumnPlan
from crypsis.anonymize._ladder import Ladder, ladder
from crypsis.anonymize._plan import Plan
from crypsis.anonymize._steps import Keep, Step, Suppress
from crypsis.errors import ParameterError, unknown_columns
from crypsis.grouping import group
from crypsis.release import as_release
from crypsis.results import Result
from crypsis.singling_out import max_cells, values_per_column

Ints = NDArray[np.int64]
_KEPT = 512


@dataclass(frozen=True)
class WhatIf(Result):
    """What the release would be with each column told on one level, before any repair."""

    levels: Mapping[str, int]
    k: int
    rows: int
    classes: int
    smallest: int
    rows_below: int
    """Rows in a crowd of fewer than k."""
    unique_rows: int
    average_risk: float
    """Crowds over rows: the chance of the prosecutor, averaged."""
    loss: float
    """NCP: the average share of variety lost over rows and columns."""

    @property
    def share_below(self) -> float:
        """The share of rows in a crowd of fewer than k."""
        return self.rows_below / max(1, self.rows)


@dataclass(frozen=True)
class Allowance(Result):
    """How many values a column may keep against a population (lodha2007, equation 1)."""

    column: str
    values: float
    allowed: float


@dataclass(frozen=True, eq=False)
class _Counted:
    """The crowds of one choice: their sizes, the rows in crowds of each size, the loss."""

    sizes: Ints
    rows: Ints
    loss: float


class Sketch:
    """The cells of a plan's columns and the way up of each, ready to be asked.

    Level 0 of a column is the plan's own step; the last level leaves it empty. Missing values count
    as a value of their own, as they do when a plan is carried out.

    >>> import pyarrow as pa
    >>> from crypsis.anonymize import plan
    >>> people = pa.table({"age": [30, 31, 41, 44], "sex": ["f", "f", "m", "m"]})
    >>> known = {"quasi_identifiers": ["age", "sex"]}
    >>> sketch = Sketch(people, plan(people, k=2, **known), **known)
    >>> sketch.told(k=2).rows_below, sketch.told({"age": sketch.top("age")}, k=2).rows_below
    (4, 0)
    """

    def __init__(self, data: Any, plan: Plan, **roles: Any) -> None:
        release = as_release(data, **roles)
        self.plan = plan
        self.names = tuple(one.name for one in plan.columns)
        cells = release.cells(self.names)
        self._codes, self._counts = cells.codes, cells.counts
        self.rows = int(cells.counts.sum())
        self.steps: dict[str, tuple[Step, ...]] = {one.name: _offered(one) for one in plan.columns}
        self._ladders = {
            one.name: ladder(one.name, cells.values[c].to_pylist(), Keep(), self.steps[one.name])
            for c, one in enumerate(plan.columns)
        }
        self._known: dict[tuple[int, ...], _Counted] = {}

    @property
    def cells(self) -> int:
        """The number of distinct combinations."""
        return int(self._counts.size)

    def top(self, column: str) -> int:
        """The level on which a column is empty."""
        return len(self.steps[column]) - 1

    def values(self, column: str, level: int) -> int:
        """How many different values a column has on a level, missing included where it occurs."""
        return len(self._ladders[column].labels[level + 1])

    def told(self, levels: Mapping[str, int] | None = None, *, k: int) -> WhatIf:
        """What these levels come to; columns that are not named stay on level 0.

        Cost: one grouping of the cells where the levels are new, else nothing.
        """
        if k < 1:
            raise ParameterError(f"k is at least 1; {k} was given.")
        chosen = self._chosen(levels or {})
        found = self._counted(chosen)
        below = int(found.rows[found.sizes < k].sum())
        classes = int((found.rows // found.sizes).sum())
        return WhatIf(
            dict(zip(self.names, chosen, strict=True)), k, self.rows, classes,
            int(found.sizes[0]), below, int(found.rows[found.sizes == 1].sum()),
            classes / max(1, self.rows), found.loss,
        )  # fmt: skip

    def by_crowd(self, levels: Mapping[str, int] | None, ks: Sequence[int]) -> list[float]:
        """The share of rows in a crowd smaller than each k."""
        found = self._counted(self._chosen(levels or {}))
        upto = np.concatenate([[0], np.cumsum(found.rows)])
        return [float(upto[np.searchsorted(found.sizes, k)]) / max(1, self.rows) for k in ks]

    def without(self, levels: Mapping[str, int] | None = None, *, k: int) -> dict[str, WhatIf]:
        """What it would be were one column after the other left empty: which of them is to blame.

        Cost: one grouping of the cells a column.
        """
        given = dict(levels or {})
        return {name: self.told({**given, name: self.top(name)}, k=k) for name in self.names}

    def curve(self, *, k: int, levels: Mapping[str, int] | None = None) -> tuple[WhatIf, ...]:
        """Risk against loss: from these levels up, each time the column that helps most for its
        price, until every row has its crowd.

        A greedy path of full-domain levels, not the optimum; the local repair of `apply` does
        better. Cost: a grouping of the cells for each column of each step.
        """
        start = self._chosen(levels or {})
        tops = [self.top(name) for name in self.names]
        path = [self.told(dict(zip(self.names, start, strict=True)), k=k)]
        with progress.step("trade-off", total=sum(tops) - sum(start)) as step:
            while path[-1].rows_below:
                now = path[-1]
                above = [
                    self.told({**now.levels, name: now.levels[name] + 1}, k=k)
                    for name, top in zip(self.names, tops, strict=True)
                    if now.levels[name] < top
                ]
                if not above:
                    break
                path.append(max(above, key=lambda one: _worth(now, one)))
                step.advance()
        return tuple(path)

    def chosen_plan(self, levels: Mapping[str, int]) -> Plan:
        """The plan with each column on its level, to be carried out."""
        columns = []
        for one, level in zip(self.plan.columns, self._chosen(levels), strict=True):
            steps = self.steps[one.name]
            update: dict[str, Any] = {}
            if level:
                update = {
                    "step": steps[level],
                    "coarser": tuple(s for s in steps[level + 1 :] if not isinstance(s, Suppress)),
                    "values_after": float(self.values(one.name, level)),
                }
            columns.append(one.model_copy(update=update))
        return self.plan.model_copy(update={"columns": tuple(columns)})

    def _chosen(self, levels: Mapping[str, int]) -> tuple[int, ...]:
        if any(name not in self.names for name in levels):
            raise unknown_columns(levels, self.names)
        for name, level in levels.items():
            if not 0 <= level <= self.top(name):
                raise ParameterError(
                    f"The column {name!r} has levels 0 to {self.top(name)}; {level} was given."
                )
        return tuple(levels.get(name, 0) for name in self.names)

    def _counted(self, levels: tuple[int, ...]) -> _Counted:
        if levels in self._known:
            return self._known[levels]
        ladders = [self._ladders[name] for name in self.names]
        codes = tuple(
            one.codes[level + 1][code]
            for one, level, code in zip(ladders, levels, self._codes, strict=True)
        )
        domains = tuple(len(one.labels[i + 1]) for one, i in zip(ladders, levels, strict=True))
        _, inverse = group(codes, domains)
        totals = np.bincount(inverse, weights=self._counts).astype(np.int64)
        sizes, classes = np.unique(totals, return_counts=True)
        lost = sum(self._losses[c][level + 1] for c, level in enumerate(levels)) / len(levels)
        if len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[levels] = _Counted(sizes, sizes * classes, float(lost))
        return self._known[levels]

    @cached_property
    def _losses(self) -> list[NDArray[np.float64]]:
        """For each column what each level of its ladder loses, averaged over the rows."""
        return [
            _average_loss(self._ladders[name], code, self._counts)
            for name, code in zip(self.names, self._codes, strict=True)
        ]


def allowances(
    plan: Plan, *, population: int, k: int, beta: float, weights: Mapping[str, float] | None = None
) -> tuple[Allowance, ...]:
    """How many values each column of a plan may keep so that the population hides its people.

    Equation (1) of lodha2007 with the number of cells of Theorem 4: no scan, no cells.
    """
    known = [one for one in plan.columns if one.values_before is not None]
    cells = max(1.0, max_cells(population, k, beta))
    domains = [max(1.0, one.values_before or 1.0) for one in known]
    given = [(weights or {}).get(one.name, one.weight) for one in known]
    allowed = values_per_column(cells, domains, weights=given)
    return tuple(
        Allowance(one.name, domain, float(most))
        for one, domain, most in zip(known, domains, allowed, strict=True)
    )


def _offered(one: ColumnPlan) -> tuple[Step, ...]:
    steps = [step for step in (one.step, *one.coarser) if not isinstance(step, Suppress)]
    return (*steps, Suppress())


def _average_loss(one: Ladder, codes: Any, counts: Ints) -> NDArray[np.float64]:
    weight = np.bincount(codes, weights=counts, minlength=one.codes.shape[1])
    return np.asarray((one.loss * weight).sum(axis=1) / max(1.0, float(weight.sum())))


def _worth(before: WhatIf, after: WhatIf) -> tuple[float, float]:
    """Rows that find a crowd, over what that loses; where none does, the cheapest."""
    helped, price = before.rows_below - after.rows_below, max(after.loss - before.loss, 1e-9)
    return (helped / price, -price) if helped > 0 else (0.0, -price)
