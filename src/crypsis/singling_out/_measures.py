"""The measures of a set of columns: F1, F2 and k of lodha2007, and tighter bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from crypsis.array_types import Floats
from crypsis.counting.cells import Cells, ColumnSetCounts
from crypsis.counting.partitions import count_column_sets
from crypsis.errors import ParameterError, unknown_columns
from crypsis.results import Estimate, Result
from crypsis.singling_out import _distinct as estimators
from crypsis.singling_out._bounds import check_fraction
from crypsis.singling_out._search import FoundSet

CONFIDENCE = 0.95
"""Of the intervals of estimates from samples of the records."""


class ColumnSet(Result):
    """A set of columns and how many people it can make unique.

    `domain_product`, `bound` and `mean_class_size` are D, F2 and k of lodha2007 under its
    multiple-domain assumption; the fields that begin with `population_` do not need it.
    """

    columns: tuple[str, ...]
    rows: int
    population: int | None
    distinct: int
    """The number of equivalence classes in the data."""
    singletons: int
    """S: the records that are unique."""
    unique_fraction: float
    """F1 = S / rows."""
    domain_product: float
    """D, if every combination of the columns' values could occur."""
    bound: float | None
    """The largest expected share of unique people for that D."""
    mean_class_size: float | None
    """n / D, at least 1: the people in an equivalence class on average."""
    population_distinct: int | Estimate | None
    """The equivalence classes of the population: counted where the data is all of it."""
    population_bound: float | None
    """F2: an upper bound of the share of unique people, correlations included."""
    population_mean_class_size: float | None
    """n over the upper end of the number of equivalence classes."""
    alpha: float
    measure: str
    """What decided: F1, or F2 where a population is given."""

    @property
    def value(self) -> float:
        """The measure that decided."""
        return self.unique_fraction if self.population_bound is None else self.population_bound

    @property
    def publish(self) -> bool:
        """The decision of lodha2007, section 5.1: publish, or suppress."""
        return self.value < self.alpha


CountedSet: TypeAlias = ColumnSetCounts | FoundSet


class ColumnSetMeasures:
    """F1, F2 and k from the counts of column sets, many sets at a time.

    With a population of n people F2 is the smaller of two bounds on the share of unique people.
    One comes from the values that can occur: Theorems 1-2 for the product of the domains, plus the
    share of people whose value in some column is not in the sample (a column of dates can take
    every day between the first and the last in the sample). The other comes from the classes that
    do occur: a population with D classes has at most D unique people, and the upper end of D is
    used. (The theorems do not apply to an estimated D: half of a population may be unique and the
    other half alike, which is D = n/2 and not the n/(2e) of Theorem 1.)
    """

    def __init__(
        self, cells: Cells, alpha: float, population: int | None, domains: Mapping[str, float] | None
    ) -> None:
        check_fraction(alpha, "alpha")
        rows = int(cells.counts.sum())
        if rows == 0:
            raise ParameterError("The data has no records.", code="no-records")
        if population is not None and population < rows:
            raise population_too_small(population, rows)
        self.alpha, self.population, self.rows = alpha, population, rows
        self.census = population == rows
        self.columns = cells.columns
        alone = singles(cells)
        once = np.array([s.singletons for s in alone], np.float64)
        twice = np.array([s.doubletons for s in alone], np.float64)
        seen = np.array([s.distinct for s in alone], np.float64)
        if self.census or population is None:
            values, unseen = seen, np.zeros(seen.size)
        else:
            values = np.ceil(estimators.chao(seen, once, twice, rows, CONFIDENCE).high)
            unseen = estimators.unseen_fraction(once, twice, rows, CONFIDENCE)
            self._use_date_ranges(cells, population, values, unseen)
        for name, size in (domains or {}).items():
            if name not in cells.columns:
                raise unknown_columns([name], cells.columns)
            if not 1 <= size < math.inf:
                raise ParameterError(
                    f"The domain of column {name!r} must be at least 1; {size} was given.",
                    parameter="domains",
                    columns=(name,),
                )
            position = cells.columns.index(name)
            values[position], unseen[position] = size, 0.0
        self.log_domains: Floats = np.log(np.maximum(values, 1))
        self.unseen: Floats = unseen

    def _use_date_ranges(self, cells: Cells, people: int, values: Floats, unseen: Floats) -> None:
        """Let a column of dates take every day between its ends, if that gives a smaller bound.

        The days that are not in a sample are few, unlike texts or numbers; and only 2/(rows + 1) of
        the people are expected beyond the ends of a sample.
        """
        beyond = 2 / (self.rows + 1)
        for position, column in enumerate(cells.values):
            days = _days(column)
            if days is None:
                continue
            ranged, estimated = _theorems(np.log([days, values[position]]) - math.log(people))
            if ranged + beyond < estimated + unseen[position]:
                values[position], unseen[position] = days, beyond

    @property
    def measure(self) -> str:
        """The name of the measure that decides."""
        return "F1" if self.population is None or self.census else "F2"

    def population_bound(self, log_product: Floats, unseen: Floats, high: Floats, unique: Floats) -> Floats:
        """F2 of column sets."""
        assert self.population is not None  # noqa: S101 - checked by the callers
        if self.census:  # every person was counted
            return unique
        can_occur = _theorems(log_product - math.log(self.population)) + unseen
        return np.minimum(np.minimum(can_occur, high / self.population), 1.0)

    def values(
        self, distinct: Floats, once: Floats, twice: Floats, rows: Floats, log_product: Floats, unseen: Floats
    ) -> Floats:
        """The deciding measure for column sets with these counts."""
        unique = once / np.maximum(rows, 1)
        if self.population is None or self.census:
            return unique
        share = estimators.unseen_fraction(once, twice, np.maximum(rows, 1), CONFIDENCE)
        high = distinct + (self.population - rows) * share
        return self.population_bound(log_product, unseen, high, unique)

    def needed_singletons(self, fewest_rows: int) -> int:
        """The fewest unique records with which a set can reach alpha in the worst case."""
        if self.population is None or self.census:
            return math.ceil(self.alpha * fewest_rows * (1 - 1e-12))
        if fewest_rows < self.rows:  # rows are dropped column by column; nothing can be ruled out
            return 0
        n, people = self.rows, self.population
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            distinct = middle + (n - middle) / 2
            unseen = float(estimators.unseen_fraction(middle, (n - middle) / 2, n, CONFIDENCE))
            if (distinct + (people - n) * unseen) / people >= self.alpha:
                high = middle
            else:
                low = middle + 1
        return low

    def describe(self, subsets: Sequence[CountedSet]) -> tuple[ColumnSet, ...]:
        """Column sets with every quantity."""
        if not subsets:
            return ()
        rows = np.array([s.rows for s in subsets], np.float64)
        places = [[self.columns.index(name) for name in s.columns] for s in subsets]
        log_product = np.array([self.log_domains[p].sum() for p in places])
        product = np.exp(np.minimum(log_product, 700))
        unique = np.array([s.singletons for s in subsets]) / np.maximum(rows, 1)
        nothing: list[Any] = [None] * len(subsets)
        classes = bound = mean = among = closest = nothing
        if self.population is not None:
            people = float(self.population)
            bound = _theorems(log_product - math.log(people)).tolist()
            mean = np.maximum(people / product, 1.0).tolist()
            classes, high = self._classes(subsets, rows)
            unseen = np.array([self.unseen[p].sum() for p in places])
            among = self.population_bound(log_product, unseen, high, unique).tolist()
            closest = np.maximum(people / np.clip(high, 1, product), 1.0).tolist()
            if self.census:
                closest = (people / np.maximum(high, 1)).tolist()
        return tuple(
            ColumnSet(
                s.columns,
                s.rows,
                self.population,
                int(s.distinct),
                int(s.singletons),
                float(unique[i]),
                float(product[i]),
                bound[i],
                mean[i],
                classes[i],
                among[i],
                closest[i],
                self.alpha,
                self.measure,
            )
            for i, s in enumerate(subsets)
        )

    def _classes(self, subsets: Sequence[CountedSet], rows: Floats) -> tuple[list[Any], Floats]:
        """The equivalence classes of the population, and the upper ends."""
        seen = np.array([s.distinct for s in subsets], np.float64)
        if self.census:
            return [s.distinct for s in subsets], seen
        assert self.population is not None  # noqa: S101
        once = np.array([s.singletons for s in subsets], np.float64)
        twice = np.array([s.doubletons for s in subsets], np.float64)
        squares = np.array([s.squares for s in subsets], np.float64)
        part = estimators.distinct_in_population(
            seen, once, twice, squares, np.maximum(rows, 1), self.population, CONFIDENCE
        )
        method = "Haas-Stokes; from Chao and Lin's lower end to Good and Turing's upper"
        assumes = "the records are a simple random sample of the population"
        return [
            Estimate(float(v), float(lo), float(hi), CONFIDENCE, method, assumes)
            for v, lo, hi in zip(part.value, part.low, part.high, strict=True)
        ], part.high


def _days(column: pa.Array) -> float | None:
    """The number of days between the ends of a column of dates, plus one for missing dates."""
    present = column.drop_null()
    if len(present) == 0 or not pa.types.is_date32(present.type):
        return None
    first, last = present[0].as_py(), present[-1].as_py()
    return float((last - first).days + 1 + column.null_count)


def population_too_small(population: int, rows: int) -> ParameterError:
    """The error for a population that has fewer people than the data has records."""
    return ParameterError(
        f"The population ({population:,}) is smaller than the data ({rows:,} records).",
        code="population-too-small",
        hint="Set {population} to the number of people from which the records were drawn.",
    )


def _theorems(log_ratio: Floats) -> Floats:
    """lodha2007, Theorems 1-2, for ln(D/n)."""
    few = np.exp(np.minimum(log_ratio, 0.0) - 1)
    many = np.exp(-np.exp(-np.maximum(log_ratio, 0.0)))
    return np.asarray(np.where(log_ratio < 0, few, many))


def singles(cells: Cells) -> list[ColumnSetCounts]:
    """The sets of one column, in the order of the columns."""
    set_by_column = {subset.columns[0]: subset for subset in count_column_sets(cells, 1)}
    return [set_by_column[name] for name in cells.columns]
