"""The choice of a recoding step for each column: the finest that the requirements allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from crypsis.dataset import Dataset
from crypsis.documents import Document
from crypsis.errors import ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.labels import PERIODS, as_text, units_between
from crypsis.protection.recoding._column_types import NUMBERS, ColumnType, counted_column_types
from crypsis.protection.recoding._quantiles import quantile_steps, with_representatives
from crypsis.protection.recoding._steps import (
    DATE_STEPS,
    DateUnit,
    FrequentValues,
    HierarchyLevel,
    Intervals,
    Keep,
    Prefix,
    Step,
    Suppress,
    Top,
    coarser_intervals,
)
from crypsis.singling_out import values_per_column
from crypsis.tables import Kind

METHODS = ("keep", "intervals", "date", "prefix", "frequent", "suppress")
"""The recoding methods of a column."""
_MAX_INTERVALS = 128
"""The finest intervals of a column are at most so many, unless their number is set."""
_MAX_KEPT_VALUES = 1_000
"""A number with more different values is in intervals from the first level on."""


class ColumnPlan(Document):
    """The recoding of a column, and the coarser steps for single rows where it is not enough."""

    name: str
    """The column."""
    weight: Annotated[float, Field(ge=0)] = 1.0
    """How much its detail matters, compared with the other columns; 0: it may be dropped."""
    keep: Annotated[int, Field(ge=0)] | None = None
    """The coarsest level that is allowed: 0 is the step itself, 1 the first coarser one."""
    may_change: bool = False
    """Of a sensitive attribute, whether a coarser step or none may be chosen."""
    values_before: Annotated[float, Field(ge=0)] | None = None
    """The number of values in the table; none if they were not counted."""
    domain: Annotated[float, Field(ge=0)] | None = None
    """The number of values in the population, which the table need not show."""
    values_allowed: float | None = None
    """The number of values allowed by equation (1) of lodha2007, if a population is given."""
    values_after: float
    """The largest number of values after recoding."""
    step: Step
    """The recoding of every row."""
    coarser: tuple[Step, ...] = ()
    """Coarser steps for single rows, from the finest to the coarsest."""


def sensitive_plan(
    data: Dataset, name: str, tree: Hierarchy | None, weight: float, *, may_change: bool
) -> ColumnPlan:
    """A sensitive attribute, released as it is, with its coarser steps."""
    column = counted_column_types(data, [name])[name]
    if tree is not None:
        tree.check(data.cells([name]).values[0].to_pylist(), name)
    trees = {} if tree is None else {name: tree}
    choice = StepChoice(
        data,
        {name: column},
        {name: weight},
        trees,
        {name: default_method(column)},
        {},
        {},
        "interval",
        None,
        True,
    )
    coarser = [step for step in choice.steps(name) if not isinstance(step, Keep | Suppress)]
    return ColumnPlan(
        name=name,
        weight=weight,
        values_before=column.distinct,
        values_after=column.distinct,
        step=Keep(),
        coarser=tuple(coarser),
        may_change=may_change,
    )


def hierarchy_of(column_plan: ColumnPlan, *, released: bool = False) -> Hierarchy | None:
    """The hierarchy of a column whose steps are levels of one; of its released labels alone."""
    steps = [column_plan.step, *column_plan.coarser]
    levels = [step for step in steps if isinstance(step, HierarchyLevel)]
    if not levels:
        return None
    leaves = [value for values in levels[0].groups.values() for value in values]
    used_levels = [step for step in levels if not (released and step is column_plan.step)]
    if released and isinstance(column_plan.step, HierarchyLevel):
        rows = {column_plan.step.label(leaf): [step.label(leaf) for step in used_levels] for leaf in leaves}
    else:
        rows = {leaf: [step.label(leaf) for step in used_levels] for leaf in leaves}
    return Hierarchy([(leaf, *labels) for leaf, labels in rows.items()])


def default_method(column: ColumnType) -> str:
    """The method of a column by its type and its name."""
    if column.dated:
        return "date"
    if column.postal and column.digits and column.width > 1:
        return "prefix"
    if column.kind in NUMBERS and not column.coded:
        return "intervals"
    return "frequent" if (column.coded or column.kind is Kind.TEXT) and column.distinct > 2 else "keep"


def fitting_methods(column: ColumnType) -> tuple[str, ...]:
    """The methods that apply to a column."""
    fits = {
        "intervals": column.kind in NUMBERS,
        "date": column.dated,
        "prefix": column.kind in (Kind.INTEGER, Kind.TEXT),
        "frequent": column.kind in (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN),
    }
    return tuple(method for method in METHODS if fits.get(method, True))


def check_method(column: ColumnType, method: str) -> None:
    """Raise unless the method exists and applies to the column."""
    if method not in METHODS:
        raise ParameterError(
            f"{method!r} is not a recoding method.",
            code="unknown-method",
            hint=f"Set {{methods}} to {', '.join(METHODS)} or a mask.",
        )
    if method not in fitting_methods(column):
        raise ParameterError(
            f"Method {method!r} does not fit column {column.name!r}, which is of type {column.kind.value}.",
            columns=(column.name,),
        )


def values_after(step: Step, column: ColumnType, domain: float) -> float:
    """The largest number of values of a column in the population after a step."""
    if isinstance(step, DateUnit):
        return units_between(column.low, column.high, step.unit)
    if isinstance(step, Prefix):
        return float(min(domain, 10.0**step.length if column.digits else domain))
    if isinstance(step, Intervals):
        return len(step.labels)
    if isinstance(step, HierarchyLevel):
        return len(step.groups)
    if isinstance(step, FrequentValues):
        return len(step.values) + 1
    return 1 if isinstance(step, Suppress) else domain


def population_domain(column: ColumnType, hierarchy: Hierarchy | None) -> float:
    """The number of values of a column in the population, not all of which a sample has.

    Days between the extremes for dates, all codes of that length for codes of digits, all values of
    a hierarchy; otherwise the values that occur.
    """
    if hierarchy is not None:
        return max(1, len(hierarchy.rows))
    method = default_method(column)
    if method == "date" and column.low is not None:
        return float((column.high - column.low).days + 1)
    return 10.0**column.width if method == "prefix" else float(max(1, column.distinct))


def _separates(step: DateUnit, column: ColumnType) -> bool:
    """Whether a step above the decade has more than one label for the dates of a column."""
    if step.unit not in PERIODS or column.low is None:
        return True
    return units_between(column.low, column.high, step.unit) > 1


def _coarsest_allowed(name: str, steps: Sequence[Step], level: int | str) -> int:
    """The level that is meant: a number, or a unit of dates."""
    units = [step.unit if isinstance(step, DateUnit) else "" for step in steps]
    if level in units and level:
        return units.index(str(level))
    text = str(level)
    last = len(steps) - 2  # the last one suppresses
    if text.isdigit() and int(text) <= last:
        return int(text)
    named = [unit for unit in units if unit]
    forms = f"from 0 (as it is) to {last}" + (f", or {', '.join(named)}" if named else "")
    raise ParameterError(
        f"Column {name!r} cannot be kept at {level!r}: its levels are {forms}.",
        parameter="keep",
        columns=(name,),
    )


@dataclass(frozen=True, eq=False)
class StepChoice:
    """The options of a plan, and the step that they lead to for each column."""

    data: Dataset
    columns: Mapping[str, ColumnType]
    weights: Mapping[str, float]
    hierarchies: Mapping[str, Hierarchy]
    methods: Mapping[str, str]
    top_code: Mapping[str, float]
    given_domains: Mapping[str, float]
    representative: str
    rank_error: float | None
    counted: bool
    """Whether the values of numeric columns were counted."""

    @cached_property
    def domains(self) -> dict[str, float]:
        """The number of values of each column in the population."""
        return {
            name: self.given_domains.get(name, population_domain(column, self.hierarchies.get(name)))
            for name, column in self.columns.items()
        }

    def finest(self, keep: Mapping[str, int | str] | None = None) -> list[ColumnPlan]:
        """Every column on its finest step; `keep` has the coarsest levels that are allowed."""
        plans = []
        for name in self.columns:
            steps = self.steps(name)
            position = len(steps) - 1 if self.methods[name] == "suppress" else 0
            column_plan = self._column(name, steps, position, None)
            if name in (keep or {}):
                level = _coarsest_allowed(name, steps, (keep or {})[name])
                column_plan = column_plan.model_copy(update={"keep": level})
            plans.append(column_plan)
        return plans

    def each_column(self, k: int) -> list[ColumnPlan]:
        """Quantile groups of k rows for numbers; other columns on their finest step."""
        numbers = [name for name in self.columns if self.methods[name] == "intervals"]
        integer = {name: column.kind is Kind.INTEGER for name, column in self.columns.items()}
        rows = self.data.count
        # Sampled cuts may be off by the rank error on either side of a group.
        margin = 0.0 if self.rank_error is None else 2 * self.rank_error * rows
        groups = max(1, int(rows // (k + margin)))
        quantiles = quantile_steps(
            self.data,
            {name: min(groups, self.columns[name].distinct or 1) for name in numbers},
            integer=integer,
            representative=self.representative,
            rank_error=self.rank_error,
            top_code=self.top_code,
            min_size=k,
        )
        plans = []
        for name in self.columns:
            steps: list[Step] = (
                [quantiles[name], *self._coarser(name, quantiles[name])]
                if name in quantiles
                else self.steps(name)
            )
            plans.append(self._column(name, steps, 0, None))
        return plans

    def within(self, cells: float) -> list[ColumnPlan]:
        """Equation (1), then the finest step within it; what a step leaves goes to the others."""
        names = list(self.columns)
        shares = dict(zip(names, self._shares(cells, names), strict=True))
        # Columns with few possible steps choose first: numbers can use whatever remains exactly.
        order = sorted(names, key=self._flexible)
        chosen: dict[str, ColumnPlan] = {}
        for position, name in enumerate(order):
            left = cells / math.prod(column_plan.values_after for column_plan in chosen.values())
            share = self._shares(left, order[position:])[0]
            chosen[name] = self._finest_within(name, share, shares[name])
        return [self._refined(name, chosen, cells) for name in names]

    def steps(self, name: str, groups: int | None = None) -> list[Step]:
        """Every step of a column that makes sense, finest first, `Suppress` last."""
        column, method = self.columns[name], self.methods[name]
        limit, hierarchy = self.top_code.get(name), self.hierarchies.get(name)
        first: Step = Keep() if limit is None else Top(limit=limit)
        inner: Sequence[Step] = ()
        if hierarchy is not None:
            levels = range(1, hierarchy.height)
            inner = [HierarchyLevel(level=i, groups=hierarchy.groups(i)) for i in levels]
        elif column.distinct <= 1 or method in ("keep", "suppress"):
            inner = ()
        elif method == "date":
            inner = [step for step in DATE_STEPS if _separates(step, column)]
        elif method == "prefix":
            lengths = range(column.width - 1, 0, -1)
            inner = [Prefix(length=n, width=column.width) for n in lengths]
        elif method == "frequent":
            inner = self._frequent(name, groups)
        else:
            inner = self._intervals(column, groups)
            if groups is not None or column.distinct > _MAX_KEPT_VALUES:
                return [*inner, Suppress()]
        return [first, *inner, Suppress()]

    def _intervals(self, column: ColumnType, groups: int | None) -> list[Intervals]:
        name, integer = column.name, column.kind is Kind.INTEGER
        fine = quantile_steps(
            self.data,
            {name: groups or min(column.distinct, _MAX_INTERVALS)},
            integer={name: integer},
            representative=self.representative,
            rank_error=self.rank_error,
            top_code=self.top_code,
        )[name]
        return [fine, *self._coarser(name, fine)]

    def _coarser(self, name: str, fine: Intervals) -> list[Intervals]:
        integer = self.columns[name].kind is Kind.INTEGER
        coarser = coarser_intervals(fine, integer=integer)
        if self.representative == "interval":
            return coarser
        return [with_representatives(self.data, name, step, self.representative) for step in coarser]

    def _frequent(self, name: str, groups: int | None) -> list[FrequentValues]:
        cells = self.data.cells([name])
        order = np.argsort(-cells.counts, kind="stable")
        listed = [cells.values[0][int(cells.codes[0][j])].as_py() for j in order]
        texts = [as_text(value) for value in listed if value is not None]
        sizes = [size for size in (64, 32, 16, 8, 4, 2, 1) if size < len(texts) - 1]
        if groups is not None:
            sizes = [groups - 1]
        rest_label = "other"
        while rest_label in texts:
            rest_label = f"({rest_label})"
        return [FrequentValues(values=tuple(texts[:n]), other=rest_label) for n in sizes if n >= 1]

    def _shares(self, cells: float, names: Sequence[str]) -> Sequence[float]:
        weights = [max(self.weights.get(name, 1.0), 1e-3) for name in names]
        return values_per_column(max(1.0, cells), [self.domains[name] for name in names], weights=weights)

    def _flexible(self, name: str) -> bool:
        """Whether a column can have any number of groups."""
        return self.methods[name] in ("intervals", "frequent") and name not in self.hierarchies

    def _column(self, name: str, steps: Sequence[Step], position: int, allowed: float | None) -> ColumnPlan:
        column = self.columns[name]
        return ColumnPlan(
            name=name,
            weight=self.weights.get(name, 1.0),
            values_before=float(column.distinct) if self.counted or column.kind not in NUMBERS else None,
            domain=self.domains[name] if self.counted or column.kind not in NUMBERS else None,
            values_allowed=allowed,
            values_after=values_after(steps[position], column, self.domains[name]),
            step=steps[position],
            coarser=tuple(step for step in steps[position + 1 :] if not isinstance(step, Suppress)),
        )

    def _finest_within(self, name: str, share: float, allowed: float) -> ColumnPlan:
        within = share * (1 + 1e-9)
        groups = None
        if self._flexible(name) and self.domains[name] > within:
            groups = max(1, math.floor(within))
            if groups == 1:
                return self._column(name, [Suppress()], 0, allowed)
        steps = self.steps(name, groups)
        if groups is not None:
            steps = [step for step in steps if not isinstance(step, Keep)]
        sizes = [values_after(step, self.columns[name], self.domains[name]) for step in steps]
        position = next(i for i, size in enumerate(sizes) if size <= within or size <= 1)
        return self._column(name, steps, position, allowed)

    def _refined(self, name: str, chosen: dict[str, ColumnPlan], cells: float) -> ColumnPlan:
        """The next finer step of a column with few steps, if the product still allows it."""
        column_plan = chosen[name]
        if isinstance(column_plan.step, Intervals | Keep) or self.methods[name] == "frequent":
            return column_plan
        other_values = math.prod(plan.values_after for n, plan in chosen.items() if n != name)
        steps = self.steps(name)
        for position, step in enumerate(steps):
            size = values_after(step, self.columns[name], self.domains[name])
            if size * other_values <= cells * (1 + 1e-9):
                chosen[name] = self._column(name, steps, position, column_plan.values_allowed)
                return chosen[name]
        return column_plan
