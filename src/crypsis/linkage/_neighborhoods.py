"""Each original record among the ranks of the masked file (domingo2016, Algorithms 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from crypsis.counting.grouping import sorted_values
from crypsis.errors import ParameterError
from crypsis.linkage._columns import ComparedColumn
from crypsis.linkage._diversity import Criterion, SortedColumn, check_criterion, diversity, rank_interval
from crypsis.linkage._nearest import PointIndex
from crypsis.linkage._pair import Pair
from crypsis.linkage._ranks import Floats, Ints, Scores, Ties

Mapping: TypeAlias = Literal["protector", "subject"] | ArrayLike


@dataclass(frozen=True)
class Neighborhoods:
    """Each original as a point among the ranks of the masked file, column by column.

    `center` has the ranks of the masked values nearest to the original ones, `moved` the distance
    from there to the record that the mapping f gives, `rows` that record (-1: none), `candidates`
    the number of equally near records where f is the nearest one.
    """

    columns: tuple[ComparedColumn, ...]
    ordered: tuple[SortedColumn, ...]
    criterion: Criterion
    center: Floats
    moved: Floats
    rows: Ints
    candidates: Ints | None
    mapping: str

    @property
    def kept(self) -> Ints:
        """The originals to which f gives a masked record."""
        return np.flatnonzero(self.rows >= 0)

    def diversities(self, distance: Floats) -> Floats:
        """The diversity of S(d) in every column, for distances by record and column."""
        return np.column_stack(
            [self._diversity(j, self.center[:, j], distance[:, j]) for j in range(len(self.columns))]
        )

    def diversities_within(self, distance: float) -> Floats:
        """The same with one distance for all: computed once for each rank that is a center."""
        diversities = []
        for j, (center, record) in enumerate(self._centers):
            diversities.append(self._diversity(j, center, np.full(len(center), distance))[record])
        return np.column_stack(diversities)

    @cached_property
    def _centers(self) -> list[tuple[Floats, Ints]]:
        """The ranks that are a center in each column, and which of them each record has."""
        return [sorted_values(column) for column in self.center.T]

    def _diversity(self, j: int, center: Floats, distance: Floats) -> Floats:
        column, ordered = self.columns[j], self.ordered[j]
        low, high = rank_interval(center, distance, len(ordered.values))
        tree = None if column.hierarchy is None else (column.hierarchy, column.values)
        return diversity(ordered, low, high, self.criterion, hierarchy=tree)

    def column_diversities(self) -> Floats:
        """The diversity of each complete column."""
        records = float(len(self.ordered[0].values))
        positions = range(len(self.columns))
        return np.array([self._diversity(j, self.center[:1, j], np.array([records]))[0] for j in positions])


def neighborhoods(both: Pair, mapping: Mapping, criterion: Criterion) -> Neighborhoods:
    """Algorithm 2 for all originals, with f as the protector, the subject or an array of rows."""
    check_criterion(criterion)

    def scores(column: ComparedColumn, values: Scores) -> Scores:
        subtract = column.is_measured and criterion == "variance"
        return column.measured(values) if subtract else values

    ordered = tuple(SortedColumn.of(scores(c, c.masked)) for c in both.columns)
    rng = np.random.default_rng((both.seed, 3))
    center = np.column_stack(
        [
            _nearest_rank(order, scores(c, c.original), both.ties, rng)
            for order, c in zip(ordered, both.columns, strict=True)
        ]
    )
    y = both.masked_ranks()
    rows, candidates, name = _mapped(both, mapping, center, y)
    moved = np.abs(y[rows] - center)
    moved[rows < 0] = np.nan
    return Neighborhoods(both.columns, ordered, criterion, center, moved, rows, candidates, name)


def _nearest_rank(ordered: SortedColumn, x: Scores, ties: Ties, rng: np.random.Generator) -> Floats:
    """The rank of the masked value nearest to each original one; of two equally near, the lower."""
    values, n = ordered.values, len(ordered.values)
    wanted, which = sorted_values(x)
    right = np.minimum(np.searchsorted(values, wanted), n - 1)
    left = np.maximum(right - 1, 0)
    with np.errstate(invalid="ignore"):
        gaps = [np.where(values[i] == wanted, 0.0, np.abs(values[i] - wanted)) for i in (left, right)]
    run = ordered.run[np.where(gaps[0] <= gaps[1], left, right)][which]
    first, after = ordered.run_start[run], ordered.run_start[run + 1]
    if ties == "average":
        return np.asarray((first + 1 + after) / 2)
    return rng.integers(first, after).astype(np.float64) + 1


def _mapped(both: Pair, mapping: Mapping, center: Floats, y: Floats) -> tuple[Ints, Ints | None, str]:
    """The masked record that f gives to each original, the number of candidates, the name of f."""
    if isinstance(mapping, str):
        if mapping == "protector":
            return both.known_own("The protector's mapping"), None, mapping
        if mapping != "subject":
            raise ParameterError(
                "Parameter 'mapping' must be 'protector', 'subject' or an array of rows; "
                f"{mapping!r} is not a valid value.",
                parameter="mapping",
            )
        index = PointIndex(y)
        nearest = index.nearest(center, "nearest released records")
        first_row = np.full(len(index.points), len(y))
        np.minimum.at(first_row, index.place_of, np.arange(len(y)))
        rows = np.minimum.reduceat(first_row[nearest.place], nearest.start[:-1])
        many = np.add.reduceat(index.sizes[nearest.place], nearest.start[:-1])
        return rows, many, mapping
    rows = np.asarray(mapping)
    fits = rows.shape == (both.original_records,) and np.issubdtype(rows.dtype, np.integer)
    if not fits or rows.min() < -1 or rows.max() >= both.masked_records:
        raise ParameterError(
            f"A mapping gives, for each of the {both.original_records:,} originals, the row of a "
            f"masked record (0 to {both.masked_records - 1}) or -1.",
            parameter="mapping",
        )
    return rows.astype(np.int64), None, "given"
