"""The crowds that people hide in: k-anonymity, k-map, presence, and the risk to each attacker.

The attackers are those of El Emam (2013), Guide to the De-Identification of Personal Health
Information: a prosecutor knows that the person is in the release, a journalist does not, a marketer
wants as many as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.cells import Cells, NullPolicy
from crypsis.errors import ParameterError, RoleError
from crypsis.grouping import group
from crypsis.release import Release, as_release
from crypsis.results import Group, Result
from crypsis.singling_out._matching import rows_alike

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Risk(Result):
    """The probability that an attacker who picks a match is right."""

    attacker: str
    threshold: float
    above: float
    """The share of records (or people) whose risk is above the threshold."""
    highest: float
    average: float


@dataclass(frozen=True)
class Crowds(Result):
    """The crowds of people alike in the columns that others may know."""

    columns: tuple[str, ...]
    unit: str
    """What is counted: rows, or persons where the release says whose rows they are."""
    units: int
    left_out: int
    """Rows not counted because a value is missing and missing values are dropped."""
    k: int
    """The smallest crowd."""
    classes: int
    average_size: float
    class_sizes: tuple[int, ...]
    """The sizes that occur, in ascending order ..."""
    class_counts: tuple[int, ...]
    """... and how many crowds have each."""
    prosecutor: Risk
    journalist: Risk | None
    """None where nothing is known of the population: neither its table nor weights."""
    marketer: Risk
    smallest: Group
    """One of the smallest crowds."""


def crowds(
    release: Any, columns: Sequence[str] | None = None, *, threshold: float = 0.2, **roles: Any
) -> Crowds:
    """The crowd that each record hides in, and the risk to the three attackers.

    Where the release names the person of a row, people are counted instead of rows: someone with
    five equal rows is no crowd of five, and a person's risk is that of the least crowded row. The
    journalist's and the marketer's matches are counted in the population: in its own table where
    `release.population` is one, else estimated as the sum of the weights (`weight=`), rounded up.
    The default threshold, 0.2, is a crowd of five.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> found = crowds(people, quasi_identifiers=["age", "sex"])
    >>> found.k, found.classes, round(found.marketer.average, 3)
    (1, 2, 0.667)
    """
    given = as_release(release, **roles)
    check_threshold(threshold)
    cells = given.cells(columns)
    units, sizes = units_alike(given, cells)
    there = sizes > 0
    if not there.any():
        raise ParameterError("No row is left to count: every one has a missing value.")
    matches = in_population(given, cells)
    risk = np.zeros(len(cells))
    risk[there] = 1 / sizes[there]
    person = None if given.person is None else _person_cells(given, cells)
    wanted = 1 / np.maximum(sizes if matches is None else matches, 1)
    occurring, counts = np.unique(sizes[there], return_counts=True)
    return Crowds(
        columns=cells.columns,
        unit="rows" if person is None else "persons",
        units=_total(units, there, person),
        left_out=cells.dropped,
        k=int(occurring[0]),
        classes=int(there.sum()),
        average_size=float(units[there].sum() / there.sum()),
        class_sizes=tuple(occurring.tolist()),
        class_counts=tuple(counts.tolist()),
        prosecutor=_risk("prosecutor", risk, units, there, person, threshold),
        journalist=None
        if matches is None
        else _risk("journalist", wanted, units, there, person, threshold),
        marketer=_risk("marketer", wanted, units, there, person, threshold),
        smallest=_group(cells, int(np.flatnonzero(there)[np.argmin(sizes[there])]), sizes),
    )


@dataclass(frozen=True)
class Presence(Result):
    """How surely being in the population means being in the release (Nergiz et al. 2007)."""

    columns: tuple[str, ...]
    k_map: int
    """The fewest people of the population that match a record (Sweeney 2002)."""
    low: float
    high: float
    """delta: the smallest and the largest probability of presence over the population."""
    unmatched: int
    """Records that nobody in the population matches; above zero, it is not their population."""


def presence(
    release: Any, population: Any = None, columns: Sequence[str] | None = None, **roles: Any
) -> Presence:
    """k-map and delta-presence of a release against the table of its population.

    >>> import pyarrow as pa
    >>> everyone = pa.table({"age": [30, 30, 30, 41, 41, 52]})
    >>> found = presence(pa.table({"age": [30, 41]}), everyone, ["age"])
    >>> found.k_map, found.low, found.high
    (2, 0.0, 0.5)
    """
    given = as_release(release, **roles)
    everyone = given.population if population is None else as_release(population)
    if not isinstance(everyone, Release):
        raise RoleError(
            "k-map and presence need the table of the population, not only its size: give it as "
            "population=Release, or use crowds() and population_uniqueness()."
        )
    cells = given.cells(columns)
    others = everyone.cells(cells.columns)
    matches = rows_alike(cells, others)
    here = cells.class_sizes > 0
    there = others.class_sizes > 0
    present = rows_alike(others, cells) / np.maximum(others.class_sizes, 1)
    share = np.minimum(present[there], 1.0)
    return Presence(
        cells.columns,
        int(matches[here].min(initial=int(others.counts.sum()))),
        float(share.min(initial=1.0)),
        float(share.max(initial=0.0)),
        int(cells.counts[here & (matches == 0)].sum()),
    )


def units_alike(release: Release, cells: Cells) -> tuple[Ints, Ints]:
    """Per cell what is in it, and how many are alike: rows, or persons where they are named."""
    if release.person is None:
        return np.where(cells.class_sizes > 0, cells.counts, 0), cells.class_sizes
    if release.missing is NullPolicy.WILDCARD and cells._blank.any():
        raise ParameterError(
            "Persons cannot be counted while missing values match anything; read the data with "
            "missing values as a value of their own ('value') or dropped ('drop')."
        )
    member, persons, _ = _person_cells(release, cells)
    found = np.bincount(member[persons >= 0], minlength=len(cells))
    found = np.where(cells.class_sizes > 0, found, 0).astype(np.int64)
    return found, found


def _person_cells(release: Release, cells: Cells) -> tuple[Ints, Ints, Ints]:
    if release.person in cells.columns:
        raise RoleError(
            f"{release.person!r} tells whose row it is; it cannot be a quasi-identifier, too."
        )
    return with_column(release, cells, str(release.person))


def with_column(release: Release, cells: Cells, name: str) -> tuple[Ints, Ints, Ints]:
    """The cells split by one column more: the old cell, the new code (-1: missing), the rows."""
    finer = release.cells((*cells.columns, name))
    codes = finer.codes[:-1]
    _, member = group(codes, finer.domains[:-1])  # in the order of the values, as cells are
    new = finer.codes[-1].astype(np.int64)
    if finer._missing_codes[-1] >= 0:
        new[new == finer._missing_codes[-1]] = -1
    return member, new, finer.counts


def in_population(release: Release, cells: Cells) -> Floats | None:
    """For each cell the people of the population that match it; None if nothing is known."""
    if isinstance(release.population, Release):
        others = release.population.cells(cells.columns)
        found = rows_alike(cells, others)
        # A record is a member of its population, however its table was made.
        return np.asarray(np.maximum(found, cells.class_sizes), np.float64)
    if release.weight is None:
        return None
    weighted = release.cells(cells.columns, weighted=True)
    check_weights(weighted)
    return np.asarray(np.maximum(np.asarray(weighted.weights), cells.class_sizes), np.float64)


def check_weights(cells: Cells) -> None:
    """Raise unless every weight says that a row stands for somebody."""
    weights = np.asarray(cells.weights)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise ParameterError("Weights are numbers above zero; some are missing, zero or negative.")


def _risk(
    attacker: str,
    risk: Floats,
    units: Ints,
    there: NDArray[np.bool_],
    person: tuple[Ints, Ints, Ints] | None,
    threshold: float,
) -> Risk:
    """Risk over records, or over persons by the row that gives most away."""
    if person is None:
        values, weights = risk[there], units[there].astype(np.float64)
    else:
        member, persons, _ = person
        known = (persons >= 0) & there[member]
        worst = np.zeros(int(persons.max(initial=-1)) + 1)
        np.maximum.at(worst, persons[known], risk[member[known]])
        values = worst[worst > 0]
        weights = np.ones(values.size)
    total = weights.sum()
    above = float(weights[values > threshold].sum() / total)
    return Risk(attacker, threshold, above, float(values.max()), float(values @ weights / total))


def _total(units: Ints, there: NDArray[np.bool_], person: tuple[Ints, Ints, Ints] | None) -> int:
    if person is None:
        return int(units[there].sum())
    member, persons, _ = person
    return int(np.unique(persons[(persons >= 0) & there[member]]).size)


def _group(cells: Cells, cell: int, sizes: Ints) -> Group:
    named = cells.group(cell)
    return Group(named.columns, int(sizes[cell]), named.values)


def check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise ParameterError(f"A threshold of risk lies in (0, 1]; {threshold} was given.")
