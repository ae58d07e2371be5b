"""The search for quasi-identifiers (lodha2007, sections 2 and 5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.counting.cells import Cells, ColumnSetCounts
from crypsis.counting.kernels import refinement as kernels
from crypsis.counting.partitions import Chosen, CodeTable
from crypsis.dataset import DESIGN, Data, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Columns, MissingValues, Roles
from crypsis.results import Result
from crypsis.singling_out._column_sets import candidate_columns, counted_table
from crypsis.singling_out._contributions import ColumnShare, rank_columns
from crypsis.singling_out._measures import ColumnSet, ColumnSetMeasures, CountedSet
from crypsis.singling_out._search import search


class QuasiIdentifiers(Result):
    """The minimal sets of columns that make a share alpha of people unique."""

    alpha: float
    measure: str
    """The measure that decided: F1 (the data) or F2 (the population)."""
    population: int | None
    rows: int
    columns: tuple[str, ...]
    max_columns: int
    """The size of the largest sets."""
    found: tuple[ColumnSet, ...]
    """Minimal sets: without one of its columns a set does not reach alpha. Highest risk first."""
    ranking: tuple[ColumnShare, ...]
    """The columns, the one that contributes most first."""
    tried: int
    """The sets that were counted."""
    ruled_out: int
    """The sets that needed no counting."""
    complete: bool
    """False if the search was interrupted: there may be more sets."""

    @property
    def publish(self) -> bool | None:
        """Whether all columns may be published together; None if the search cannot tell.

        A set that was found means no. No set found means yes only if the largest sets have all
        columns.
        """
        if self.found:
            return False
        return True if self.complete and self.max_columns >= len(self.columns) else None


@takes_roles(without=DESIGN)
def find_quasi_identifiers(
    data: Data,
    alpha: float = 0.5,
    *,
    columns: Columns | None = None,
    max_columns: int = 4,
    domains: Mapping[str, float] | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> QuasiIdentifiers:
    """Search the minimal sets of columns that may make a share `alpha` of people unique.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    alpha : float
        The share of unique people from which a set is a quasi-identifier.
    columns : str or sequence of str, optional
        The columns; by default all that are not identifiers or sensitive.
    max_columns : int
        The size of the largest sets.
    domains : mapping of str to float, optional
        The number of values that a column can take in the population, where it is known.
    seconds : float, optional
        The time after which the search ends.
    threads : int, optional
        The number of threads; by default one for each core.
    seed : int
        The seed of the contributions of the columns where they are estimated.
    **roles
        See `crypsis.read`. A `population` that is a table is counted exactly.

    Returns
    -------
    QuasiIdentifiers
        The minimal sets, and the columns by their contribution.

    Notes
    -----
    Without a population the unique records decide (F1); with one, the upper bound of the share of
    unique people (F2; see `ColumnSet.population_bound`). Missing values count as the data says;
    where they are wildcards or dropped, one more column may lower the measure, and minimal means
    that no smaller set was found.

    The search can be interrupted (Ctrl-C, a listener of the progress, `seconds`); what it found is
    returned with `complete` False. Cost: one pass over the cells for each set of fewer than
    `max_columns` columns that is not ruled out, on all cores.

    References
    ----------
    lodha2007, Definition 2 and section 5.1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41, 41], "sex": list("fmfm"), "town": list("aaaa")})
    >>> [qi.columns for qi in find_quasi_identifiers(people).found]
    [('age', 'sex')]
    """
    dataset = as_dataset(data, **roles)
    for name, value, fits in (
        ("max_columns", max_columns, max_columns >= 1 and max_columns == int(max_columns)),
        ("seconds", seconds, seconds is None or seconds > 0),
        ("threads", threads, threads is None or threads >= 1),
    ):
        if not fits:
            raise ParameterError(f"{value} is not a valid {name!r}.", parameter=name)
    names = candidate_columns(dataset, columns)
    source, people = counted_table(dataset.as_written(names))
    cells = source.cells(names)
    measures = ColumnSetMeasures(cells, alpha, people, domains)
    table = CodeTable(cells)
    reached = _AlphaTest(cells, table, measures)
    needed = measures.needed_singletons(table.fewest_rows)
    squares = people is not None and not measures.census
    result = search(
        table, names, max_columns, reached, needed, squares=squares, seconds=seconds, threads=threads
    )
    counted: list[CountedSet] = [*result.found]
    if reached.wildcards:
        counted = [reached.count_wildcards(subset.columns) for subset in result.found]
    described = sorted(measures.describe(counted), key=lambda s: (-s.value, len(s.columns), s.columns))
    ranking = rank_columns(cells, described, seed) if result.complete else ()
    return QuasiIdentifiers(
        alpha,
        measures.measure,
        people,
        measures.rows,
        names,
        min(max_columns, len(names)),
        tuple(described),
        ranking,
        result.tried,
        result.ruled_out,
        result.complete,
    )


class _AlphaTest:
    """Which column sets reach alpha, from the counts of the search."""

    def __init__(self, cells: Cells, table: CodeTable, measures: ColumnSetMeasures) -> None:
        self.cells, self.table, self.measures = cells, table, measures
        self.log_domains = measures.log_domains[table.places]
        self.unseen = measures.unseen[table.places]
        # The search counts a missing value as one value. A wildcard matches more records, so fewer
        # are unique: a set that does not reach alpha in the search does not reach it at all, and
        # the others are counted again.
        self.wildcards = cells.missing is MissingValues.WILDCARD and bool(cells.missing_mask.any())

    def __call__(self, chosen: Chosen, columns: Ints, stats: Ints, rows: Ints) -> NDArray[np.bool_]:
        before = list(chosen)
        counts = stats.astype(np.float64)
        values = self.measures.values(
            counts[:, kernels.DISTINCT],
            counts[:, kernels.SINGLETONS],
            counts[:, kernels.DOUBLETONS],
            rows.astype(np.float64),
            self.log_domains[before].sum() + self.log_domains[columns],
            self.unseen[before].sum() + self.unseen[columns],
        )
        flags = np.asarray(values >= self.measures.alpha)
        if self.wildcards:
            for i in np.flatnonzero(flags):
                places = sorted(self.table.places[c] for c in (*chosen, int(columns[i])))
                counted = self.count_wildcards([self.cells.columns[position] for position in places])
                flags[i] = not self.measures.describe([counted])[0].publish
        return flags

    def count_wildcards(self, names: Sequence[str]) -> ColumnSetCounts:
        """The counts of one set of columns with missing values as wildcards."""
        return self.cells.marginal(names).class_counts()
