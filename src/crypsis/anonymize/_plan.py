"""The plan: what is promised, and what happens to each column so that the promise can be kept."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crypsis.anonymize._choose import (
    NUMBERS,
    Shape,
    check_method,
    coarser_intervals,
    counted_shapes,
    default_method,
    population_domain,
    quantile_steps,
    shapes,
    step_count,
    steps,
)
from crypsis.anonymize._hierarchy import Hierarchy
from crypsis.anonymize._steps import Intervals, Keep, Step, Suppress
from crypsis.anonymize._toml import to_toml
from crypsis.engine.base import Kind
from crypsis.errors import OutputError, ParameterError, RoleError, SourceError, unknown_columns
from crypsis.files import written_whole
from crypsis.release import Release, as_release
from crypsis.singling_out import max_cells, values_per_column

if TYPE_CHECKING:
    from crypsis.anonymize._anonymized import Anonymized

Share = Annotated[float, Field(ge=0, le=1)]


class Promise(BaseModel):
    """What the release must meet; every part that is set is measured afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    k: Annotated[int, Field(ge=1)] | None = None
    """Every row shares its quasi-identifiers with at least k - 1 others in the release."""
    diversity: Annotated[int, Field(ge=1)] | None = None
    """Every group has at least this many values of each sensitive column."""
    closeness: Share | None = None
    """No group's distribution of a sensitive column is further from that of all rows (t)."""
    best_guess: Annotated[float, Field(gt=0, le=1)] | None = None
    """No sensitive value has a larger share of a group."""
    each_column: Annotated[int, Field(ge=1)] | None = None
    """Every value of each column alone is shared by that many rows."""
    population: Annotated[int, Field(ge=1)] | None = None
    """The people the rows were drawn from."""
    population_k: Annotated[int, Field(ge=1)] | None = None
    """The crowd of each cell in the population (lodha2007, Theorem 4)."""
    beta: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The chance, for each cell, that its crowd in the population is smaller."""
    suppression: Share = 0.05
    """The share of rows that may be left out or have a cell emptied to keep the promise."""


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


class Plan(BaseModel):
    """A plan can be printed, written to JSON or TOML, edited, and used again on the same columns.

    It holds no seed and nothing of single rows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    format: Literal[1] = 1
    """The version of this file's form."""
    promise: Promise
    """What the release must meet."""
    columns: tuple[ColumnPlan, ...]
    """The quasi-identifiers."""
    removed: tuple[str, ...] = ()
    """Identifiers, which are left out of the release."""
    cells_allowed: float | None = None
    """The most cells that keep the promise in the population (lodha2007, Theorem 4)."""

    def apply(self, data: Any, **options: Any) -> Anonymized:
        """Carry out the plan; see `crypsis.anonymize.apply`."""
        from crypsis.anonymize._generalize import apply

        return apply(self, data, **options)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the plan to a `.json` or `.toml` file."""
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".json", ".toml"):
            raise OutputError(f"A plan is a .json or .toml file, not {target.name!r}.")
        fields = self.model_dump(mode="json", exclude_none=True)
        text = to_toml(fields) if suffix == ".toml" else json.dumps(fields, indent=2) + "\n"
        with written_whole(target, overwrite=overwrite) as partial:
            partial.write_text(text, encoding="utf-8")
        return target

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan from a `.json` or `.toml` file, checked field by field."""
        source = Path(path)
        try:
            text = source.read_text(encoding="utf-8")
            toml = source.suffix.lower() == ".toml"
            return cls.model_validate(tomllib.loads(text) if toml else json.loads(text))
        except OSError as error:
            raise SourceError(f"{str(source)!r} cannot be read ({error.strerror}).") from None
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise SourceError(f"{str(source)!r} is no plan: {where}: {first['msg']}.") from None
        except RecursionError:
            raise SourceError(f"{str(source)!r} is nested too deeply to be a plan.") from None
        except ValueError as error:
            raise SourceError(f"{str(source)!r} is not well formed ({error}).") from None

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The plan as a table: column, values before, values after, what is done."""
        return [
            (
                one.name,
                "" if one.values_before is None else _number(one.values_before),
                _number(one.values_after),
                one.step.describe(),
            )
            for one in self.columns
        ] + [(name, "", "", "removed") for name in self.removed]

    def __str__(self) -> str:
        head = ("column", "before", "after", "what is done")
        table = [head, *self.rows()]
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        lines = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in table
        ]
        return "\n".join(line.rstrip() for line in lines)


def plan(
    data: Any,
    *,
    k: int,
    beta: float = 0.05,
    population: int | None = None,
    release_k: int | None = None,
    diversity: int | None = None,
    closeness: float | None = None,
    best_guess: float | None = None,
    each_column: bool = False,
    weights: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    methods: Mapping[str, str] | None = None,
    top_code: Mapping[str, float] | None = None,
    domains: Mapping[str, float] | None = None,
    suppression: float = 0.05,
    representative: str = "interval",
    rank_error: float | None = None,
    **roles: Any,
) -> Plan:
    """The least that must change for what is promised (lodha2007, sections 3.1 and 4).

    With a `population` (or one in the release) the promise is (1-beta, k) against it: equation (1)
    says how many values each quasi-identifier may keep, in proportion to `weights`, and each column
    gets the finest step within that. `release_k` asks for k-anonymity of the release besides.
    Without a population k is asked of the release itself, whose rows are their own universal table:
    columns stay as they are, and `apply` finds every row the cheapest crowd. With `each_column` k
    is asked of every quasi-identifier alone, by quantile groups (section 5.2).

    `diversity`, `closeness` and `best_guess` ask l distinct values, t-closeness and a limit on the
    likeliest value of the sensitive columns in every group. `top_code={"age": 90}` puts ages from
    90 together. `domains` says how many values a column has in the population where the data
    cannot. With `rank_error`, quantiles come from a sample.
    """
    release = as_release(data, **roles)
    names = release.quasi_identifiers
    if not names:
        raise RoleError(
            "No quasi-identifiers are named; say which columns others may know "
            "(quasi_identifiers=[...], --qi)."
        )
    people = population if population is not None else release.population
    if isinstance(people, Release):
        people = people.count
    if each_column:
        people = None
    promise = _promise(
        k=None if people is not None or each_column else k,
        release_k=release_k, each_column=k if each_column else None, people=people, pk=k, beta=beta,
        diversity=diversity, closeness=closeness, best_guess=best_guess, suppression=suppression,
    )  # fmt: skip
    _check(release, promise, names, weights, hierarchies, methods, top_code, domains)
    if promise.k is not None and people is None:
        secret = release.sensitive if _about_secrets(promise) else ()
        release.cells([*names, *secret])  # counted once; what follows is read from there
        look = counted_shapes(release, names)
    else:
        look = shapes(release, names, count_numbers=not each_column)
    chosen = _Choice(
        release, look, dict(weights or {}), dict(hierarchies or {}),
        {name: (methods or {}).get(name) or default_method(look[name]) for name in names},
        dict(top_code or {}), dict(domains or {}), representative, rank_error, not each_column,
    )  # fmt: skip
    for name, method in chosen.methods.items():
        if name not in chosen.hierarchies:
            check_method(look[name], method)
    for name, tree in chosen.hierarchies.items():
        tree.check(release.cells([name]).values[0].to_pylist(), name)
    limit = None
    if each_column:
        columns = chosen.each(k)
    elif people is not None:
        limit = max_cells(people, k, beta)
        columns = chosen.by_equation(limit)
    else:
        columns = chosen.untouched()
    return Plan(
        promise=promise, columns=tuple(columns), removed=release.identifiers, cells_allowed=limit
    )


class _Choice:
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


def _promise(**given: Any) -> Promise:
    people, pk = given.pop("people"), given.pop("pk")
    own = given.pop("release_k") if given["k"] is None else given.pop("release_k") or given["k"]
    beta = given.pop("beta")
    given["k"] = own
    if people is not None:
        given.update(population=people, population_k=pk, beta=beta)
    try:
        return Promise(**given)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise ParameterError(f"{name}: {first['msg']}.") from None


def _check(
    release: Release,
    promise: Promise,
    names: Sequence[str],
    weights: Mapping[str, float] | None,
    *named: Mapping[str, Any] | None,
) -> None:
    for options in (weights, *named):
        unknown = [name for name in options or {} if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
    if any(not 0 < weight < math.inf for weight in (weights or {}).values()):
        raise ParameterError("Weights are numbers above zero.")
    asked = max(promise.k or 1, promise.each_column or 1)
    if asked > release.count:
        raise ParameterError(
            f"k is {asked:,}, but the release has only {release.count:,} rows; choose a smaller k."
        )
    if _about_secrets(promise) and not release.sensitive:
        raise RoleError(
            "Diversity, closeness and the best guess are about sensitive columns; name them "
            "(sensitive=[...], --sensitive)."
        )


def _about_secrets(promise: Promise) -> bool:
    asked = (promise.diversity, promise.closeness, promise.best_guess)
    return any(limit is not None for limit in asked)


def _number(value: float) -> str:
    return f"{round(value):,}"
