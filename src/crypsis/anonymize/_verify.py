"""Measured afterwards, never assumed: what a release meets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from crypsis.anonymize._demands import Demands, Secret
from crypsis.anonymize._promise import Promise
from crypsis.cells import Cells, NullPolicy
from crypsis.engine import Rows
from crypsis.errors import PromiseBroken
from crypsis.grouping import group
from crypsis.release import Release, Role
from crypsis.results import Result

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PopulationCrowds(Result):
    """What the released cells say of the crowds in the population (lodha2007, Theorem 4).

    The theorem assumes equally likely cells, which quantiles per column do not give when columns
    depend on each other. So from every cell's count a lower bound on its share of the population is
    taken (Clopper and Pearson 1934, one-sided), and with it its expected count there.
    """

    population: int
    k: int
    beta: float
    confidence: float
    smallest_expected: float
    """The lower bound of the smallest cell."""
    rows_expecting_k: float
    """The share of rows whose cell is expected to hold k people, by the lower bound."""
    rows_meeting_k: float
    """The share whose cell holds k people with probability 1 - beta, by the lower bound."""


@dataclass(frozen=True)
class Measured(Result):
    """What the rows of a release meet, by count."""

    rows: int
    k: int
    classes: int
    diversity: int | None = None
    """The fewest sensitive values in a group."""
    entropy_diversity: float | None = None
    """2^(smallest entropy of a group)."""
    recursive_diversity: int | None = None
    """The largest l of recursive (c,l)-diversity with the c that was promised."""
    closeness: float | None = None
    best_guess: float | None = None
    each_column: int | None = None
    population: PopulationCrowds | None = None


def secrets_of(cells: Cells, names: Sequence[str], rows: Rows, member: Ints) -> tuple[Secret, ...]:
    """Sensitive columns of cells that were grouped: `member` is the group of each cell."""
    found = []
    for name in names:
        place = cells.columns.index(name)
        values = cells.values[place]
        found.append(
            Secret(
                member, cells.codes[place].astype(np.int64), cells.counts, len(values),
                rows.column(name).kind.ordered, len(values) > 0 and not values[-1].is_valid,
            )
        )  # fmt: skip
    return tuple(found)


def qi_groups(cells: Cells, columns: int) -> tuple[Ints, Ints, Ints]:
    """The first `columns` of the cells grouped: a cell for each group, each cell's group, rows."""
    codes, domains = cells.codes[:columns], cells.domains[:columns]
    first, member = group(codes, domains)
    rows = np.zeros(first.size, np.int64)
    np.add.at(rows, member, cells.counts)
    return first, member, rows


def measure(release: Release, names: Sequence[str], promise: Promise) -> Measured:
    """Count what the rows meet; missing values are alike to each other, the strictest reading.

    The sensitive columns are measured by `crypsis.inference`, as any assessment does.
    """
    rows = release.rows
    if promise.each_column is not None:
        smallest = min(column_counts(rows, names).values(), key=min_count, default=Counter())
        return Measured(rows.count, 1, 0, each_column=min_count(smallest))
    strict = release
    if release.missing is not NullPolicy.VALUE:
        strict = replace(release, missing=NullPolicy.VALUE, _cells={})
    secret = list(release.sensitive) if promise.about_secrets else []
    cells = strict.cells([*names, *secret])
    if not len(cells):
        return Measured(0, 0, 0)
    totals = cells.marginal(names).counts
    crowds = None
    if promise.population is not None:
        crowds = population_crowds(totals, promise)
    return Measured(
        int(totals.sum()), int(totals.min()), totals.size,
        **(_secrets_measured(strict, names, promise) if secret else {}), population=crowds,
    )  # fmt: skip


def _secrets_measured(release: Release, names: Sequence[str], promise: Promise) -> dict[str, Any]:
    from crypsis.inference import diversity

    others = {name: role for name, role in release.roles.items() if role is Role.SENSITIVE}
    known = dict.fromkeys(names, Role.QUASI_IDENTIFIER)
    factor, _ = promise.recursive_diversity or (1.0, 0)
    found = diversity(release.with_roles({**others, **known}), c=factor)
    recursive = min(one.recursive_l for one in found.columns)
    return {
        "diversity": found.distinct_l,
        "entropy_diversity": found.entropy_l,
        "recursive_diversity": None if promise.recursive_diversity is None else recursive,
        "closeness": found.t,
        "best_guess": found.alpha,
    }


def population_crowds(totals: Ints, promise: Promise, confidence: float = 0.95) -> PopulationCrowds:
    """The crowds of the population behind the released cells."""
    people, k, beta = promise.population, promise.population_k, promise.beta
    assert people is not None  # noqa: S101 - the caller asked for it
    assert k is not None  # noqa: S101
    assert beta is not None  # noqa: S101
    rows = int(totals.sum())
    share = betaincinv(totals, rows - totals + 1, 1 - confidence)  # Clopper and Pearson 1934
    expected = people * share
    # At least k of the people, each there with that probability.
    safe = (betainc(k, people - k + 1, share) if people >= k else 0 * share) >= 1 - beta
    weight = totals / rows
    return PopulationCrowds(
        people, k, beta, confidence, float(expected.min()),
        float(weight[expected >= k].sum()), float(weight[safe].sum()),
    )  # fmt: skip


def column_counts(rows: Rows, names: Sequence[str]) -> dict[str, Counter[object]]:
    """How often each value of each column occurs, in one pass; missing values are not counted."""
    return {name: Counter(found) for name, found in rows.value_counts(names).items()}


def min_count(counts: Counter[object]) -> int:
    """The rows of the rarest value; of a column without values, as many as one likes."""
    return min(counts.values(), default=2**62)


def check(measured: Measured, promise: Promise) -> None:
    """Raise `PromiseBroken` unless what was measured meets what was promised."""
    if not measured.rows:
        raise PromiseBroken(
            "No row would be left in the release, so it is not handed over. Allow less suppression "
            "or ask for less."
        )
    parts: list[str] = []
    if promise.k is not None and measured.k < promise.k:
        parts.append(f"k is {measured.k}, promised was {promise.k}")
    recursive = promise.recursive_diversity
    slack = 1e-9
    for name, limit, high in (
        ("diversity", promise.diversity, False),
        ("entropy_diversity", promise.entropy_diversity, False),
        ("recursive_diversity", None if recursive is None else recursive[1], False),
        ("closeness", promise.closeness, True),
        ("best_guess", promise.best_guess, True),
        ("each_column", promise.each_column, False),
    ):
        if limit is None:
            continue
        value = getattr(measured, name)
        if value is None or (value - limit if high else limit - value) > slack * max(1, limit):
            told = "not known" if value is None else f"{value:.6g}"
            parts.append(f"{name.replace('_', ' ')} is {told}, promised was {limit:g}")
    if parts:
        raise PromiseBroken(
            f"The release misses its promise ({'; '.join(parts)}), so it is not handed over. Allow "
            "more suppression, ask for less, or let the plan generalize further."
        )


def demands_of(promise: Promise, secrets: tuple[Secret, ...]) -> Demands:
    """The promise as what every group must meet."""
    return Demands(
        promise.k or 1, promise.diversity, promise.entropy_diversity, promise.recursive_diversity,
        promise.closeness, promise.best_guess, secrets,
    )  # fmt: skip
