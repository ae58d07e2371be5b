"""Unique rows, and every set of columns with all that it tells: lodha2007's Fig. 3 for any data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crypsis.engine.base import Kind
from crypsis.errors import ColumnError, ParameterError, TooLarge, unknown_columns
from crypsis.release import NullPolicy, Release, as_release
from crypsis.results import Number, Result
from crypsis.singling_out._sampled import sampled_crowds
from crypsis.singling_out._yardstick import ColumnSet, Yardstick


@dataclass(frozen=True)
class Uniqueness(Result):
    """How many rows are like no other row in some columns."""

    columns: tuple[str, ...]
    rows: int
    cells: Number
    singletons: Number
    fraction: Number
    smallest: int | None
    """The smallest group; None where only some groups were seen, and none of them of one row."""


def uniqueness(
    release: Any,
    columns: Sequence[str] | None = None,
    *,
    exact: bool | None = None,
    seed: int = 0,
    **roles: Any,
) -> Uniqueness:
    """The rows that some columns (default: the quasi-identifiers) make unique (lodha2007: S, F1).

    Missing values count as the release says. One scan. Where the distinct tuples are too many to
    fetch, the numbers are estimates with their intervals (see `sampled_crowds`), drawn by `seed`;
    with `exact` the engine counts them all where they are, which takes memory or disk for each.

    >>> import pyarrow as pa
    >>> uniqueness(pa.table({"age": [30, 30, 41], "sex": ["f", "f", "m"]}), ["age", "sex"]).fraction
    0.3333333333333333
    """
    given = as_release(release, **roles)
    names = tuple(columns) if columns is not None else given.quasi_identifiers
    if exact is False:
        return _estimated(given, names, seed)
    try:
        cells = given.cells(columns)
    except TooLarge:
        if given.missing is NullPolicy.WILDCARD:
            raise
        if not exact:
            return _estimated(given, names, seed)
        tally = given.rows.tally(names, drop_missing=given.missing is NullPolicy.DROP)
        counted = (tally.rows, tally.distinct, tally.singletons, tally.smallest)
    else:
        sizes = cells.class_sizes[cells.class_sizes > 0]
        counted = (cells.rows, cells.distinct, cells.singletons, int(sizes.min(initial=cells.rows)))
    rows, distinct, singletons, smallest = counted
    share = singletons / rows if rows else 0.0
    return Uniqueness(names, rows, distinct, singletons, share, smallest)


def _estimated(release: Release, names: tuple[str, ...], seed: int) -> Uniqueness:
    people = replace(release, person=None)  # rows are counted here, whosever they are
    found = sampled_crowds(people, names, seed=seed)
    sure = found.share == 1 or found.smallest_seen == 1
    smallest = found.smallest_seen if sure else None
    return Uniqueness(
        names, found.rows, found.classes, found.singletons, found.unique_fraction, smallest
    )


def column_sets(
    release: Any,
    columns: Sequence[str] | None = None,
    *,
    alpha: float = 0.5,
    population: int | Release | None = None,
    domains: Mapping[str, float] | None = None,
    largest: int | None = None,
    **roles: Any,
) -> tuple[ColumnSet, ...]:
    """Every set of up to `largest` of the columns, with all that it tells; nothing is left out.

    `domains` gives the numbers of values that columns can take in the population where they are
    known; otherwise they are estimated (Chao's upper end). Meant for up to a dozen columns, since
    there are 2^columns sets; `find_quasi_identifiers` is for wide tables. Under the wildcard policy
    for missing values a set costs a grouping per pair of patterns of missingness.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"]})
    >>> [(s.columns, s.singletons, s.publish) for s in column_sets(people, ["age", "sex"])]
    [(('age',), 1, True), (('age', 'sex'), 3, False), (('sex',), 1, True)]
    """
    given = as_release(release, **roles)
    source, people = universe(given, population)
    cells = source.cells(candidate_columns(given, columns))
    yardstick = Yardstick(cells, alpha, people, domains)
    return yardstick.describe(list(cells.subsets(largest)))


def universe(release: Release, population: int | Release | None) -> tuple[Release, int | None]:
    """The table to count in, and the people it stands for; a population's own table is exact."""
    people = release.population if population is None else population
    if isinstance(people, Release):
        return people, people.count
    if people is not None and (isinstance(people, bool) or people != int(people) or people < 1):
        raise ParameterError(f"The population is a whole number of at least 1; {people} was given.")
    return release, None if people is None else int(people)


def candidate_columns(release: Release, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns to look at: those asked for, else all that others might know.

    Identifiers are left out because they name people by themselves, sensitive columns because
    others do not have them (lodha2007, section 5.1).
    """
    if columns is not None:
        unknown = [name for name in columns if name not in release.names]
        if unknown:
            raise unknown_columns(unknown, release.names)
        if not columns:
            raise ColumnError("Name at least one column to look at.")
        return tuple(columns)
    hidden = {*release.identifiers, *release.sensitive, release.person, release.weight}
    names = tuple(
        column.name
        for column in release.rows.columns
        if column.name not in hidden and column.kind is not Kind.NESTED
    )
    if not names:
        raise ColumnError(
            "No column is left to look at: all are identifiers, sensitive, or cannot be compared. "
            "Name the columns that others may know."
        )
    return names
