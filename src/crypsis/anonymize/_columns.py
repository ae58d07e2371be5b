"""The step of each column: the finest that the promise allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from crypsis.anonymize._choose import population_domain, step_count, steps
from crypsis.anonymize._hierarchy import Hierarchy
from crypsis.anonymize._quantiles import coarser_intervals, quantile_steps
from crypsis.anonymize._shapes import NUMBERS, Shape
from crypsis.anonymize._steps import Intervals, Keep, Step, Suppress
from crypsis.engine.base import Kind
from crypsis.release import Release
from crypsis.singling_out import values_per_column


class ColumnPlan(BaseModel):
    """What happens to a column, and what may happen to single rows where that is not enough."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    name: str
    """The column."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """How much its detail matters beside the other columns."""
    values_before: Annotated[float, Field(ge=0)] | None = None
    """None where they were not counted."""
    values_allowed: float | None = None
    """Equation (1) of lodha2007, where a population is given."""
    values_after: float
    """How many values are left at most."""
    step: Step
    """How every row is told."""
    coarser: tuple[Step, ...] = ()
    """How single rows may be told where that is not enough, one after the other."""


class Choice:
    """The choice of a step for each column."""

    def __init__(
        self,
        release: Release,
        look: Mapping[str, Shape],
        weights: dict[str, float],
        hierarchies: dict[str, Hierarchy],
        methods: dict[str, str],
        limits: dict[str, float],
        domains: dict[str, float],
        representative: str,
        rank_error: float | None,
        counted: bool,
    ) -> None:
        self.release, self.look, self.weights = release, look, weights
        self.hierarchies, self.methods, self.limits = hierarchies, methods, limits
        self.representative, self.rank_error = representative, rank_error
        self.counted = counted
        self.domains = {
            name: domains.get(name, population_domain(shape, hierarchies.get(name)))
            for name, shape in look.items()
        }

    def ladder(self, name: str, groups: int | None = None) -> list[Step]:
        """The steps of a column, finest first."""
        return steps(
            self.release, self.look[name], self.methods[name],
            hierarchy=self.hierarchies.get(name), groups=groups, limit=self.limits.get(name),
            representative=self.representative, rank_error=self.rank_error,
        )  # fmt: skip

    def column(
        self, name: str, ladder: Sequence[Step], place: int, allowed: float | None
    ) -> ColumnPlan:
        """A column whose step is the one at `place`."""
        shape = self.look[name]
        return ColumnPlan(
            name=name,
            weight=self.weights.get(name, 1.0),
            values_before=self.domains[name] if self.counted or shape.kind not in NUMBERS else None,
            values_allowed=allowed,
            values_after=step_count(ladder[place], shape, self.domains[name]),
            step=ladder[place],
            coarser=tuple(step for step in ladder[place + 1 :] if not isinstance(step, Suppress)),
        )

    def untouched(self) -> list[ColumnPlan]:
        """Every column on its finest step."""
        found = []
        for name in self.look:
            ladder = self.ladder(name)
            place = len(ladder) - 1 if self.methods[name] == "suppress" else 0
            found.append(self.column(name, ladder, place, None))
        return found

    def each(self, k: int) -> list[ColumnPlan]:
        """Quantile groups of k rows for numbers; other columns on their finest step."""
        numbers = [name for name in self.look if self.methods[name] == "intervals"]
        rows = self.release.count
        # Sampled cuts may be off by the rank error on either side of a group.
        margin = 0.0 if self.rank_error is None else 2 * self.rank_error * rows
        groups = max(1, int(rows // (k + margin)))
        made = quantile_steps(
            self.release,
            {name: min(groups, self.look[name].distinct or 1) for name in numbers},
            whole={name: self.look[name].kind is Kind.INTEGER for name in numbers},
            representative=self.representative,
            rank_error=self.rank_error,
            limits=self.limits,
            least=k,
        )
        found = []
        for name in self.look:
            if name in made:
                whole = self.look[name].kind is Kind.INTEGER
                ladder: list[Step] = [made[name], *coarser_intervals(made[name], whole)]
                found.append(self.column(name, ladder, 0, None))
            else:
                found.append(self.column(name, self.ladder(name), 0, None))
        return found

    def by_equation(self, cells: float) -> list[ColumnPlan]:
        """Equation (1), then the finest step within it; what a step leaves goes to the others."""
        names = list(self.look)
        weights = [self.weights.get(name, 1.0) for name in names]
        domains = [self.domains[name] for name in names]
        first = dict(
            zip(names, values_per_column(max(1.0, cells), domains, weights=weights), strict=True)
        )
        # Columns with few possible steps choose first: numbers can use whatever is left exactly.
        order = sorted(names, key=lambda name: self.methods[name] in ("intervals", "common")
                       and name not in self.hierarchies)  # fmt: skip
        taken: dict[str, ColumnPlan] = {}
        for place, name in enumerate(order):
            open_names = order[place:]
            left = cells / math.prod(one.values_after for one in taken.values())
            share = values_per_column(
                max(1.0, left),
                [self.domains[n] for n in open_names],
                weights=[self.weights.get(n, 1.0) for n in open_names],
            )[0]
            taken[name] = self._finest(name, share, first[name])
        return [self._refined(name, taken, cells) for name in names]

    def _finest(self, name: str, share: float, allowed: float) -> ColumnPlan:
        within = share * (1 + 1e-9)
        flexible = self.methods[name] in ("intervals", "common") and name not in self.hierarchies
        groups = None
        if flexible and self.domains[name] > within:
            groups = max(1, math.floor(within))
            if groups == 1:
                return self.column(name, [Suppress()], 0, allowed)
        ladder = self.ladder(name, groups)
        if groups is not None:
            ladder = [step for step in ladder if not isinstance(step, Keep)]
        sizes = [step_count(step, self.look[name], self.domains[name]) for step in ladder]
        place = next(i for i, size in enumerate(sizes) if size <= within or size <= 1)
        return self.column(name, ladder, place, allowed)

    def _refined(self, name: str, taken: dict[str, ColumnPlan], cells: float) -> ColumnPlan:
        """The next finer step of a column with few steps, if the product still allows it."""
        one = taken[name]
        if isinstance(one.step, Intervals | Keep) or self.methods[name] == "common":
            return one
        ladder = self.ladder(name)
        others = math.prod(other.values_after for n, other in taken.items() if n != name)
        for place, step in enumerate(ladder):
            size = step_count(step, self.look[name], self.domains[name])
            if size * others <= cells * (1 + 1e-9):
                taken[name] = self.column(name, ladder, place, one.values_allowed)
                return taken[name]
        return one
