"""Unique records, and the measures of every set of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

from crypsis.counting.estimates import class_total, fraction_of, rows_in_small_classes
from crypsis.counting.partitions import count_column_sets
from crypsis.dataset import DESIGN, SAMPLE, Data, Dataset, as_columns, as_dataset, as_seen, takes_roles
from crypsis.errors import ColumnError, unknown_columns
from crypsis.options import Columns, Roles
from crypsis.results import Number, Result
from crypsis.singling_out._class_sizes import (
    MAX_CLASSES,
    cells_if_countable,
    quasi_identifiers,
    sample_classes,
    smallest_class,
)
from crypsis.singling_out._measures import ColumnSet, ColumnSetMeasures
from crypsis.tables import Kind


class Uniqueness(Result):
    """How many records are unique in some columns."""

    columns: tuple[str, ...]
    records: int
    classes: Number
    """The number of equivalence classes."""
    uniques: Number
    """S: the records that are alone in their equivalence class."""
    fraction: Number
    """F1 = S / records."""
    k: Number
    """The size of the smallest equivalence class."""


@takes_roles(without=SAMPLE)
def uniqueness(
    data: Data,
    columns: Columns | None = None,
    *,
    exact: bool | None = None,
    max_classes: int = MAX_CLASSES,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> Uniqueness:
    """Count the records that are unique in some columns.

    Parameters
    ----------
    data : Dataset, frame or path
        The data. Records are counted, also where persons are named.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    exact : bool, optional
        True counts all classes, False a sample of them. By default all are counted where their
        cells fit in memory, else a sample.
    max_classes : int
        About how many classes a sample has.
    seed : int
        The seed of the sample.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Uniqueness
        S and F1 of lodha2007; estimates with intervals where classes were sampled.

    Notes
    -----
    Missing values count as the data says. Cost: one pass; for a sample two. With `exact` the engine
    counts classes that do not fit in memory where they are, which takes its memory or disk.

    Examples
    --------
    >>> import pyarrow as pa
    >>> uniqueness(pa.table({"age": [30, 30, 41], "sex": ["f", "f", "m"]}), ["age", "sex"]).fraction
    0.3333333333333333
    """
    dataset = replace(as_seen(data, columns, **roles), person=None)
    names = quasi_identifiers(dataset, columns)
    cells = cells_if_countable(dataset, names, exact)
    if cells is not None:
        sizes = cells.class_sizes[cells.class_sizes > 0]
        share = cells.singletons / cells.rows if cells.rows else 0.0
        k = int(sizes.min(initial=cells.rows))
        return Uniqueness(names, cells.rows, cells.distinct, cells.singletons, share, k)
    sample = sample_classes(dataset, names, exact=exact, max_classes=max_classes, seed=seed)
    uniques = rows_in_small_classes(sample.sizes, 2)
    share = fraction_of(uniques, sample.rows)
    classes = class_total(sample.sizes)
    return Uniqueness(names, sample.rows, classes, uniques, share, smallest_class(sample))


@takes_roles(without=DESIGN)
def column_sets(
    data: Data,
    columns: Columns | None = None,
    *,
    alpha: float = 0.5,
    domains: Mapping[str, float] | None = None,
    max_columns: int | None = None,
    **roles: Unpack[Roles],
) -> tuple[ColumnSet, ...]:
    """Measure every set of columns: lodha2007's Fig. 3 for any data.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default all that are not identifiers or sensitive.
    alpha : float
        The share of unique people from which a set is a quasi-identifier.
    domains : mapping of str to float, optional
        The number of values that a column can take in the population, where it is known; otherwise
        it is estimated (the upper end by Chao 1984).
    max_columns : int, optional
        The size of the largest sets; by default all columns.
    **roles
        See `crypsis.read`.

    Returns
    -------
    tuple of ColumnSet
        One for each set.

    Notes
    -----
    Meant for up to a dozen columns, because there are 2^columns sets; `find_quasi_identifiers` is
    for wide tables. With missing values as wildcards a set costs a grouping for each pair of
    patterns of missing values.

    References
    ----------
    lodha2007, section 5.1 and Fig. 3.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"]})
    >>> [(s.columns, s.singletons, s.publish) for s in column_sets(people, ["age", "sex"])]
    [(('age',), 1, True), (('age', 'sex'), 3, False), (('sex',), 1, True)]
    """
    dataset = as_dataset(data, **roles)
    names = candidate_columns(dataset, columns)
    table, people = counted_table(dataset.as_written(names))
    cells = table.cells(names)
    measures = ColumnSetMeasures(cells, alpha, people, domains)
    return measures.describe(list(count_column_sets(cells, max_columns)))


def counted_table(dataset: Dataset) -> tuple[Dataset, int | None]:
    """The table in which uniques are counted (that of the population, if given), and its people."""
    people = dataset.population
    return (people, people.count) if isinstance(people, Dataset) else (dataset, people)


def candidate_columns(dataset: Dataset, columns: Columns | None) -> tuple[str, ...]:
    """The columns asked for, by default all that an intruder may know.

    Identifiers are excluded because they identify a person alone, sensitive columns because an
    intruder does not know them (lodha2007, section 5.1).
    """
    if columns is not None:
        names = as_columns(columns)
        unknown = [name for name in names if name not in dataset.names]
        if unknown:
            raise unknown_columns(unknown, dataset.names)
    else:
        excluded = {*dataset.identifiers, *dataset.sensitive, dataset.person, dataset.weight}
        names = tuple(
            column.name
            for column in dataset.rows.columns
            if column.name not in excluded and column.kind is not Kind.NESTED
        )
    if not names:
        raise ColumnError(
            "No column is left: all are identifiers, sensitive or nested.",
            code="no-columns",
            hint="Set {columns}.",
        )
    return names
