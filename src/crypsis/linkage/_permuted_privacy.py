"""(d, v, f)-permuted privacy: how far values moved, and how diverse their surroundings are.

domingo2016, Sec. 4: Definitions 1 and 2, Algorithms 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.errors import InputError, ParameterError
from crypsis.grouping import sorted_values
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Column, Orders, Pair, pair
from crypsis.linkage._diversity import (
    Criterion,
    Sorted,
    check_criterion,
    diversity,
    meets,
    stretch,
)
from crypsis.linkage._nearest import Field, Floats, Ints
from crypsis.linkage._ranks import Ties, check_ties, column_seed, ranks
from crypsis.linkage._reverse_mapping import measured
from crypsis.results import Result, raw

Mapping: TypeAlias = Literal["protector", "subject"] | ArrayLike


@dataclass(frozen=True)
class Around:
    """Each original as a point among the ranks of the masked file, column by column.

    `centre` holds the ranks of the masked values nearest to the original ones, `moved` how far the
    record that f gives is from there, `rows` that record (-1: none).
    """

    columns: tuple[Column, ...]
    lined_up: tuple[Sorted, ...]
    centre: Floats
    moved: Floats
    rows: Ints
    candidates: Ints | None
    name: str

    @property
    def kept(self) -> Ints:
        """The originals that f gives a masked record."""
        return np.flatnonzero(self.rows >= 0)

    def diversities(self, distance: Floats, criterion: Criterion) -> Floats:
        """The diversity of S(d) in every column, for distances by record and column."""
        return np.column_stack(
            [
                self._diversity(j, self.centre[:, j], distance[:, j], criterion)
                for j in range(len(self.columns))
            ]
        )

    def diversities_within(self, distance: float, criterion: Criterion) -> Floats:
        """The same with one distance for all: once for each rank that is a centre."""
        found = []
        for j, (centre, record) in enumerate(self._centres):
            far = np.full(len(centre), distance)
            found.append(self._diversity(j, centre, far, criterion)[record])
        return np.column_stack(found)

    @cached_property
    def _centres(self) -> list[tuple[Floats, Ints]]:
        """The ranks that are a centre in each column, and which of them each record has."""
        return [sorted_values(column) for column in self.centre.T]

    def _diversity(self, j: int, centre: Floats, distance: Floats, criterion: Criterion) -> Floats:
        column, lined_up = self.columns[j], self.lined_up[j]
        low, high = stretch(centre, distance, len(lined_up.values))
        tree = None if column.taxonomy is None else (column.taxonomy, column.values)
        return diversity(lined_up, low, high, criterion, taxonomy=tree)

    def whole(self, criterion: Criterion) -> Floats:
        """The diversity of each whole column."""
        everything = np.full((1, len(self.columns)), float(len(self.lined_up[0].values)))
        one = Around(
            self.columns, self.lined_up, self.centre[:1], self.moved[:1], self.rows, None, self.name
        )
        return np.asarray(one.diversities(everything, criterion)[0])


def around(
    both: Pair, mapping: Mapping, criterion: Criterion, ties: Ties = "average", seed: int = 0
) -> Around:
    """Algorithm 2 for all originals, with f as the protector, the subject or an array of rows."""
    check_criterion(criterion)
    check_ties(ties)
    lined_up = tuple(
        Sorted.of(measured(c.masked, c) if c.is_measured and criterion == "variance" else c.masked)
        for c in both.columns
    )
    scores = [
        measured(c.original, c) if c.is_measured and criterion == "variance" else c.original
        for c in both.columns
    ]
    rng = np.random.default_rng((seed, 3))
    centre = np.column_stack(
        [_nearest_rank(s, x, ties, rng) for s, x in zip(lined_up, scores, strict=True)]
    )
    y = np.column_stack(
        [ranks(c.masked, ties=ties, seed=column_seed(seed, c.name, 1)) for c in both.columns]
    )
    rows, candidates, name = _mapped(both, mapping, centre, y)
    moved = np.abs(y[rows] - centre)
    moved[rows < 0] = np.nan
    return Around(both.columns, lined_up, centre, moved, rows, candidates, name)


def _nearest_rank(
    lined_up: Sorted, x: NDArray[Any], ties: Ties, rng: np.random.Generator
) -> Floats:
    """The rank of the masked value nearest to each original one; of two equally near, the lower."""
    values, n = lined_up.values, len(lined_up.values)
    wanted, which = sorted_values(x)
    right = np.minimum(np.searchsorted(values, wanted), n - 1)
    left = np.maximum(right - 1, 0)
    with np.errstate(invalid="ignore"):
        gaps = [
            np.where(values[i] == wanted, 0.0, np.abs(values[i] - wanted)) for i in (left, right)
        ]
    run = lined_up.run[np.where(gaps[0] <= gaps[1], left, right)][which]
    first, after = lined_up.run_start[run], lined_up.run_start[run + 1]
    if ties == "average":
        return np.asarray((first + 1 + after) / 2)
    return rng.integers(first, after).astype(np.float64) + 1


def _mapped(
    both: Pair, mapping: Mapping, centre: Floats, y: Floats
) -> tuple[Ints, Ints | None, str]:
    if isinstance(mapping, str):
        if mapping == "protector":
            return both.known_own("The protector's mapping"), None, mapping
        if mapping != "subject":
            raise ParameterError(
                f"The mapping is 'protector', 'subject' or an array of rows; {mapping!r} was given."
            )
        field = Field(y)
        found = field.nearest(centre, "nearest to each subject")
        first_row = np.full(len(field.points), len(y))
        np.minimum.at(first_row, field.place_of, np.arange(len(y)))
        rows = np.minimum.reduceat(first_row[found.place], found.start[:-1])
        many = np.add.reduceat(field.sizes[found.place], found.start[:-1])
        return rows, many, mapping
    given = np.asarray(mapping)
    fits = given.shape == (both.original_records,) and np.issubdtype(given.dtype, np.integer)
    if not fits or given.min() < -1 or given.max() >= both.masked_records:
        raise ParameterError(
            f"A mapping gives, for each of the {both.original_records:,} originals, the row of a "
            f"masked record (0 to {both.masked_records - 1}) or -1."
        )
    return given.astype(np.int64), None, "given"


@dataclass(frozen=True)
class ColumnFailures(Result):
    """How many records one column lets down, and what it asked of them."""

    column: str
    distance: float
    diversity: float
    too_near: int
    too_uniform: int


@dataclass(frozen=True)
class PermutedPrivacy(Result):
    """Whether, and for which records, a masked file has (d, v, f)-permuted privacy.

    `satisfied` is Definition 2: every record meets every column's distance d and diversity v. One
    record decides that, so `share` says how many do. `meets`, `distances` and `diversities` are by
    record (and column); the last are of S(d). Records without a masked version (`suppressed`) do
    not count.
    """

    mapping: str
    criterion: Criterion
    records: int
    suppressed: int
    satisfied: bool
    share: float
    d: tuple[float, ...]
    v: tuple[float, ...]
    columns: tuple[ColumnFailures, ...]
    meets: NDArray[np.bool_] = raw()
    distances: Floats = raw()
    diversities: Floats = raw()

    def failures(self, row: int) -> tuple[str, ...]:
        """Why one record does not meet d and v, column by column; empty where it does."""
        if np.isnan(self.distances[row]).any():
            return ()
        words = []
        for j, column in enumerate(self.columns):
            moved, found = self.distances[row, j], self.diversities[row, j]
            if moved < column.distance:
                words.append(f"{column.column!r} moved {moved:g} ranks, not {column.distance:g}")
            if not meets(self.criterion, found, column.diversity):
                words.append(
                    f"{column.column!r} has a {self.criterion} of {found:.4g} around it, "
                    f"not {column.diversity:.4g}"
                )
        return tuple(words)


def permuted_privacy(
    original: Any,
    masked: Any,
    *,
    d: float | Sequence[float] | None = None,
    v: float | Sequence[float] | None = None,
    mapping: Mapping = "protector",
    criterion: Criterion = "variance",
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> PermutedPrivacy:
    """Hold every record against distances d and diversities v, one of each a column.

    domingo2016, Definitions 1 and 2. Without `d` or `v`, those that every record meets are found:
    the strongest claim that holds for the whole file (on real data it is next to nothing; ask for
    the `share` at a d and v of your own, or see `privacy_frontier`). `mapping` is f: the
    protector's (record numbers), the subject's (Algorithm 3) or an array of masked rows.
    `criterion` is "variance" (of the population), "distinct" values, "entropy" in bits, or
    "t-closeness", where v is an upper limit. Definition 1 asks for more than v, its example for at
    least v: so do we. Missing values are an error. Cost: sorts, plus a k-d tree search for the
    subject.

    >>> x, y = {"a": [1, 2, 3, 4]}, {"a": [3.1, 2.2, 1.3, 4.4]}
    >>> permuted_privacy(x, y).d, permuted_privacy(x, y, d=1).share
    ((0.0,), 0.5)
    """
    both = pair(original, masked, columns=columns, orders=orders, on=on, row_map=row_map)
    near = around(both, mapping, criterion, ties, seed)
    kept = near.kept
    if len(kept) == 0:
        raise InputError(
            "No original has a masked record; there is nothing to hold against d and v."
        )
    moved = near.moved[kept]
    wanted_d = _vector(d, both.names, "d") if d is not None else moved.min(axis=0)
    found = near.diversities(np.tile(wanted_d, (both.original_records, 1)), criterion)
    worst = found[kept].max(axis=0) if criterion == "t-closeness" else found[kept].min(axis=0)
    wanted_v = _vector(v, both.names, "v") if v is not None else worst
    far = moved >= wanted_d
    diverse = np.column_stack(
        [meets(criterion, found[kept, j], wanted_v[j]) for j in range(len(wanted_v))]
    )
    good = (far & diverse).all(axis=1)
    by_record = np.ones(both.original_records, dtype=bool)
    by_record[kept] = good
    return PermutedPrivacy(
        mapping=near.name,
        criterion=criterion,
        records=both.original_records,
        suppressed=both.original_records - len(kept),
        satisfied=bool(good.all()),
        share=float(good.mean()),
        d=tuple(wanted_d.tolist()),
        v=tuple(wanted_v.tolist()),
        columns=tuple(
            ColumnFailures(
                name,
                float(wanted_d[j]),
                float(wanted_v[j]),
                int((~far[:, j]).sum()),
                int((~diverse[:, j]).sum()),
            )
            for j, name in enumerate(both.names)
        ),
        meets=by_record,
        distances=near.moved,
        diversities=found,
    )


def _vector(value: float | Sequence[float], names: tuple[str, ...], what: str) -> Floats:
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if len(numbers) == 1:
        numbers = np.repeat(numbers, len(names))
    if numbers.shape != (len(names),) or not np.all(numbers >= 0):
        raise ParameterError(
            f"{what} is one number >= 0, or one for each of the {len(names)} columns "
            f"({', '.join(repr(name) for name in names)}); {len(numbers)} were given."
        )
    return numbers
