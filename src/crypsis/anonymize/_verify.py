"""Measured afterwards, never assumed: what a release meets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from crypsis.anonymize._demands import Demands, Secret, distances
from crypsis.anonymize._plan import Promise
from crypsis.cells import Cells
from crypsis.engine import Rows
from crypsis.errors import PromiseBroken
from crypsis.grouping import group
from crypsis.results import Result

Ints = NDArray[np.int64]
_FEW_COLUMNS = 8


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
    closeness: float | None = None
    best_guess: float | None = None
    each_column: int | None = None
    population: PopulationCrowds | None = None


def secrets_of(
    cells: Cells, places: Sequence[int], ordered: Sequence[bool], member: Ints
) -> tuple[Secret, ...]:
    """Sensitive columns of cells that were grouped: `member` is the group of each cell."""
    return tuple(
        Secret(member, cells.codes[i].astype(np.int64), cells.counts, len(cells.values[i]), flag)
        for i, flag in zip(places, ordered, strict=True)
    )


def qi_groups(cells: Cells, columns: int) -> tuple[Ints, Ints, Ints]:
    """The first `columns` of the cells grouped: a cell for each group, each cell's group, rows."""
    codes, domains = cells.codes[:columns], cells.domains[:columns]
    first, member = group(codes, domains)
    rows = np.zeros(first.size, np.int64)
    np.add.at(rows, member, cells.counts)
    return first, member, rows


def measure(
    rows: Rows, names: Sequence[str], sensitive: Sequence[str], promise: Promise
) -> Measured:
    """Count what the rows meet; missing values are alike to each other, the strictest reading."""
    if promise.each_column is not None:
        smallest = min(column_counts(rows, names).values(), key=min_count, default=Counter())
        return Measured(rows.count, 1, 0, each_column=min_count(smallest))
    asked = promise.diversity, promise.closeness, promise.best_guess
    secret = list(sensitive) if any(limit is not None for limit in asked) else []
    cells = Cells.from_table(rows.cells([*names, *secret]), [*names, *secret])
    if not len(cells):
        return Measured(0, 0, 0)
    _, member, totals = qi_groups(cells, len(names))
    ordered = [rows.column(name).kind.ordered for name in secret]
    found = secrets_of(cells, range(len(names), len(names) + len(secret)), ordered, member)
    crowds = None
    if promise.population is not None:
        crowds = population_crowds(totals, promise)
    return Measured(
        int(totals.sum()), int(totals.min()), totals.size,
        **_secrets_measured(found, totals), population=crowds,
    )  # fmt: skip


def _secrets_measured(secrets: Sequence[Secret], totals: Ints) -> dict[str, Any]:
    if not secrets:
        return {}
    diversity, closeness, guess = [], [], []
    for one in secrets:
        keys, inverse = np.unique(one.cell * one.values + one.code, return_inverse=True)
        counts = np.bincount(inverse, one.count)
        owner = keys // one.values
        diversity.append(int(np.bincount(owner, minlength=totals.size).min()))
        most = np.zeros(totals.size)
        np.maximum.at(most, owner, counts)
        guess.append(float((most / totals).max()))
        overall = one.overall / one.overall.sum()
        worst = 0.0
        for start in range(0, totals.size, 4096):
            inside = (owner >= start) & (owner < start + 4096)
            table = np.zeros((min(4096, totals.size - start), one.values))
            table[owner[inside] - start, keys[inside] % one.values] = counts[inside]
            worst = max(worst, float(distances(table, overall, one.ordered).max()))
        closeness.append(worst)
    return {"diversity": min(diversity), "closeness": max(closeness), "best_guess": max(guess)}


def population_crowds(totals: Ints, promise: Promise, confidence: float = 0.95) -> PopulationCrowds:
    """The crowds of the population behind the released cells."""
    people, k, beta = promise.population, promise.population_k, promise.beta
    assert people is not None  # noqa: S101 - the caller asked for it
    assert k is not None  # noqa: S101
    assert beta is not None  # noqa: S101
    rows = int(totals.sum())
    share = stats.beta.ppf(1 - confidence, totals, rows - totals + 1)
    expected = people * share
    safe = stats.binom.sf(k - 1, people, share) >= 1 - beta
    weight = totals / rows
    return PopulationCrowds(
        people, k, beta, confidence, float(expected.min()),
        float(weight[expected >= k].sum()), float(weight[safe].sum()),
    )  # fmt: skip


def column_counts(rows: Rows, names: Sequence[str]) -> dict[str, Counter[object]]:
    """How often each value of each column occurs; missing values are not counted."""
    counts: dict[str, Counter[object]] = {name: Counter() for name in names}
    if len(names) <= _FEW_COLUMNS:
        for name in names:
            cells = Cells.from_table(rows.cells([name]), [name])
            values = (cells.values[0][int(code)].as_py() for code in cells.codes[0])
            pairs = zip(values, cells.counts.tolist(), strict=True)
            counts[name].update({value: n for value, n in pairs if value is not None})
        return counts
    for name, found in rows.value_counts(names).items():
        counts[name].update(found)
    return counts


def min_count(counts: Counter[object]) -> int:
    """The rows of the rarest value; of a column without values, as many as one likes."""
    return min(counts.values(), default=2**62)


def check(measured: Measured, promise: Promise) -> None:
    """Raise `PromiseBroken` unless what was measured meets what was promised."""
    parts: list[str] = []
    if promise.k is not None and measured.rows and measured.k < promise.k:
        parts.append(f"k is {measured.k}, promised was {promise.k}")
    if promise.diversity is not None and (measured.diversity or 0) < promise.diversity:
        parts.append(f"diversity is {measured.diversity}, promised was {promise.diversity}")
    slack = 1e-12
    for name in ("closeness", "best_guess"):
        limit, value = getattr(promise, name), getattr(measured, name)
        if limit is not None and (value is None or value > limit + slack):
            parts.append(f"{name.replace('_', ' ')} is {value:.4g}, promised was {limit:g}")
    if promise.each_column is not None and (measured.each_column or 0) < promise.each_column:
        parts.append(
            f"a value is shared by {measured.each_column} rows, promised were {promise.each_column}"
        )
    if parts:
        raise PromiseBroken(
            f"The release misses its promise ({'; '.join(parts)}), so it is not handed over. Allow "
            "more suppression, ask for less, or let the plan generalize further."
        )


def demands_of(promise: Promise, secrets: tuple[Secret, ...]) -> Demands:
    """The promise as what every group must meet."""
    return Demands(
        promise.k or 1, promise.diversity, promise.closeness, promise.best_guess, secrets
    )
