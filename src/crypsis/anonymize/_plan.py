"""The plan: what is promised, and what happens to each column so that the promise can be kept."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from crypsis.anonymize._choose import check_method, default_method
from crypsis.anonymize._columns import Choice, ColumnPlan
from crypsis.anonymize._hierarchy import Hierarchy
from crypsis.anonymize._promise import Promise, promised
from crypsis.anonymize._shapes import counted_shapes, shapes
from crypsis.anonymize._toml import to_toml
from crypsis.errors import OutputError, ParameterError, RoleError, SourceError, unknown_columns
from crypsis.files import written_whole
from crypsis.release import Release, as_release
from crypsis.singling_out import max_cells

if TYPE_CHECKING:
    from crypsis.anonymize._anonymized import Anonymized


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
    entropy_diversity: float | None = None,
    recursive_diversity: tuple[float, int] | None = None,
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
    gets the finest step within that. (Without a population `weights` say whose detail to keep first
    where rows need a crowd.) `release_k` asks for k-anonymity of the release besides.
    Without a population k is asked of the release itself, whose rows are their own universal table:
    columns stay as they are, and `apply` finds every row the cheapest crowd. With `each_column` k
    is asked of every quasi-identifier alone, by quantile groups (section 5.2).

    `diversity`, `entropy_diversity` and `recursive_diversity=(c, l)` ask l-diversity of the
    sensitive columns in every group (distinct values, entropy, recursive), `closeness` t-closeness,
    `best_guess` a limit on the share of the likeliest value. `top_code={"age": 90}` puts ages from
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
        if population is not None:
            raise ParameterError(
                "each_column asks k of every column alone, population of all together: choose one."
            )
        people = None
    promise = promised(
        k=None if people is not None or each_column else k,
        release_k=release_k, each_column=k if each_column else None, people=people, pk=k, beta=beta,
        diversity=diversity, entropy_diversity=entropy_diversity,
        recursive_diversity=recursive_diversity, closeness=closeness, best_guess=best_guess,
        suppression=suppression,
    )  # fmt: skip
    _check(release, promise, names, weights, top_code, hierarchies, methods, domains)
    if promise.k is not None and people is None:
        secret = release.sensitive if promise.about_secrets else ()
        release.cells([*names, *secret])  # counted once; what follows is read from there
        look = counted_shapes(release, names)
    else:
        look = shapes(release, names, count_numbers=not each_column)
    chosen = Choice(
        release, look, dict(weights or {}), dict(hierarchies or {}),
        {name: (methods or {}).get(name) or default_method(look[name]) for name in names},
        dict(top_code or {}), dict(domains or {}), representative, rank_error, not each_column,
    )  # fmt: skip
    for name, method in chosen.methods.items():
        if name not in chosen.hierarchies:
            check_method(look[name], method)
    for name, tree in chosen.hierarchies.items():
        tree.check(release.cells([name]).values[0].to_pylist(), name)
    for name in chosen.limits:
        if not look[name].kind.numeric:
            raise ParameterError(
                f"Only numbers are put together from a limit up; the column {name!r} holds "
                f"{look[name].kind.value}. Leave it out of top_code (--top-code)."
            )
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


def _check(
    release: Release,
    promise: Promise,
    names: Sequence[str],
    weights: Mapping[str, float] | None,
    tops: Mapping[str, float] | None,
    *named: Mapping[str, Any] | None,
) -> None:
    for options in (weights, tops, *named):
        unknown = [name for name in options or {} if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
    if any(not 0 < weight < math.inf for weight in (weights or {}).values()):
        raise ParameterError("Weights are numbers above zero.")
    if not all(map(math.isfinite, (tops or {}).values())):
        raise ParameterError("Top codes are finite numbers.")
    asked = max(promise.k or 1, promise.each_column or 1)
    if asked > release.count:
        raise ParameterError(
            f"k is {asked:,}, but the release has only {release.count:,} rows; choose a smaller k."
        )
    if promise.about_secrets and not release.sensitive:
        raise RoleError(
            "Diversity, closeness and the best guess are about sensitive columns; name them "
            "(sensitive=[...], --sensitive)."
        )


def _number(value: float) -> str:
    return f"{round(value):,}"
