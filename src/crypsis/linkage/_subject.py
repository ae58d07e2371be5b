"""What one person can check: her own record and the release, nothing else (domingo2016, Sec. 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from crypsis.errors import InputError, ParameterError
from crypsis.linkage._columns import Orders, Pair, pair, to_frame
from crypsis.linkage._diversity import Criterion
from crypsis.linkage._intruder import share
from crypsis.linkage._nearest import Field, Floats, Ints
from crypsis.linkage._nulls import random_records as draw_records
from crypsis.linkage._permuted_privacy import Around, around
from crypsis.linkage._ranks import Ties, column_seed, ranks
from crypsis.results import Estimate, Result, raw

PLAUSIBLE = 0.05


@dataclass(frozen=True)
class PermutationDistances(Result):
    """How far one original record was moved, column by column.

    `distances` are in ranks, from the released value nearest to the original one to that of the
    record f gives (its `row`; `candidates` is the number of records that would do as well).
    `diversities` are of the values within those distances.
    """

    columns: tuple[str, ...]
    mapping: str
    distances: tuple[float, ...]
    record_distance: float
    criterion: str
    diversities: tuple[float, ...]
    candidates: int | None
    nearest_ranks: tuple[float, ...] = raw()
    row: int = raw()


def permutation_distances(
    record: Any,
    masked: Any,
    *,
    mapping: Literal["subject"] | int = "subject",
    criterion: Criterion = "variance",
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    ties: Ties = "average",
    seed: int = 0,
) -> PermutationDistances:
    """The permutation distances of one original record (domingo2016, Algorithm 2 and Table 3).

    `mapping` is f: "subject" (Algorithm 3, the released record whose largest rank difference is
    smallest; of several the first) or the row of the record's masked version, which the protector
    knows. The record is a mapping of values, a frame of one row or, with an array, a sequence.
    Orders of nominal columns come from the release, the only file a subject has. Missing values are
    an error.

    >>> near = permutation_distances({"age": 30, "income": 50}, {
    ...     "age": [28, 33, 61, 40], "income": [12, 90, 51, 47]})
    >>> near.distances, near.record_distance, near.row
    ((1.0, 1.0), 1.0, 1)
    """
    both = _beside(record, masked, columns, orders)
    f: Any = mapping
    if not isinstance(mapping, str):
        f = np.array([mapping], dtype=np.int64)
    near = around(both, f, criterion, ties, seed)
    return _distances(both, near, criterion)


def _distances(both: Pair, near: Around, criterion: Criterion) -> PermutationDistances:
    moved = near.moved
    return PermutationDistances(
        columns=both.names,
        mapping=near.name,
        distances=tuple(moved[0].tolist()),
        record_distance=float(moved[0].max()),
        criterion=criterion,
        diversities=tuple(near.diversities(moved, criterion)[0].tolist()),
        candidates=None if near.candidates is None else int(near.candidates[0]),
        nearest_ranks=tuple(near.centre[0].tolist()),
        row=int(near.rows[0]),
    )


def _beside(record: Any, masked: Any, columns: Sequence[str] | None, orders: Orders | None) -> Pair:
    if isinstance(record, Mapping):
        record = {name: _column_of_one(value) for name, value in record.items()}
    elif isinstance(masked, np.ndarray):
        record = np.atleast_2d(np.asarray(record))
    frame = to_frame(record)
    if len(frame) != 1:
        raise InputError(f"One record is expected; {len(frame):,} were given.")
    return pair(
        frame.to_native(),
        masked,
        columns=columns,
        orders=orders,
        row_map="unknown",
        order_from="masked",
    )


def _column_of_one(value: Any) -> Any:
    is_column = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    return value if is_column else [value]


@dataclass(frozen=True)
class SubjectColumn(Result):
    """One column as a subject sees it; `whole` is the diversity of the whole released column."""

    column: str
    distance: float
    diversity: float
    whole: float


@dataclass(frozen=True)
class SubjectView(Result):
    """What one person learns from her record and a release.

    `record_distance` is the largest rank difference to the released record nearest to hers,
    `candidates` how many released records are that near. For permutation-only releases,
    `chance` is how often records that are not hers come as near as that (released records held
    against the others, which keeps the dependence between columns), `chance_independent` the same
    for records drawn column by column (the paper's way), and `plausible` whether such a match is
    nothing unusual (at least 5 %): then the distance is safe in the sense of domingo2016, Sec. 5.2.
    """

    records: int
    record_distance: float
    candidates: int
    criterion: str
    columns: tuple[SubjectColumn, ...]
    plausible: bool | None
    chance: Estimate | None
    chance_independent: Estimate | None
    words: tuple[str, ...]
    row: int = raw()


def subject(
    record: Any,
    masked: Any,
    *,
    permutation_only: bool = False,
    random_records: int = 10_000,
    criterion: Criterion = "variance",
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    ties: Ties = "average",
    seed: int = 0,
) -> SubjectView:
    """What a person can check with her own record and the release (subject-verifiability).

    domingo2016, Sec. 4 and the end of Sec. 5.2. `permutation_only` says that the release holds the
    original values in another order (swapping, shuffling, reverse mapping): only then can she also
    tell whether her distance is plausible as chance, since the released columns are the original
    ones. Cost: one search of the release, plus one for the random records.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 2))
    >>> released = np.column_stack([rng.permutation(column) for column in x.T])
    >>> subject(x[0], released, permutation_only=True).plausible
    True
    """
    if random_records < 100:
        raise ParameterError(f"random_records is at least 100; {random_records} was given.")
    both = _beside(record, masked, columns, orders)
    near = around(both, "subject", criterion, ties, seed)
    seen = _distances(both, near, criterion)
    whole = near.whole(criterion)
    chance = independent = plausible = None
    if permutation_only:
        _must_occur(both)
        chance, independent = _chance(both, seen.record_distance, random_records, ties, seed)
        plausible = chance.value >= PLAUSIBLE
    parts = zip(both.names, seen.distances, seen.diversities, whole.tolist(), strict=True)
    return SubjectView(
        records=both.masked_records,
        record_distance=seen.record_distance,
        candidates=seen.candidates or 1,
        criterion=criterion,
        columns=tuple(SubjectColumn(*part) for part in parts),
        plausible=plausible,
        chance=chance,
        chance_independent=independent,
        words=_words(both, seen, chance),
        row=seen.row,
    )


def _must_occur(both: Pair) -> None:
    absent = [c.name for c in both.columns if not np.isin(c.original[0], c.masked)]
    if absent:
        raise InputError(
            "The release does not hold the record's value in "
            f"{', '.join(repr(name) for name in absent)}: either it is not a permutation of the "
            "original values, or the record is not in it. Ask without permutation_only."
        )


def _chance(
    both: Pair, distance: float, wanted: int, ties: Ties, seed: int
) -> tuple[Estimate, Estimate]:
    """How often a stranger comes that near: released records among the others, and random ones."""
    y = np.column_stack(
        [ranks(c.masked, ties=ties, seed=column_seed(seed, c.name, 1)) for c in both.columns]
    )
    field, rng = Field(y), np.random.default_rng((seed, 6))
    some = np.arange(len(y)) if len(y) <= wanted else rng.choice(len(y), wanted, replace=False)
    others = _nearest_other(field, some)
    drawn, exhaustive = draw_records(y, wanted, rng)
    random_near = float((field.distances(drawn, "random records") <= distance).sum())
    independent = share(random_near, len(drawn))
    if exhaustive:
        value = independent.value
        independent = Estimate(value, value, value, 1.0, "all combinations")
    return share(float((others <= distance).sum()), len(others)), independent


def _nearest_other(field: Field, rows: Ints) -> Floats:
    """The distance from released records to the nearest other one."""
    if len(field.place_of) < 2:
        return np.full(len(rows), np.inf)
    place = field.place_of[rows]
    distance = np.zeros(len(rows))
    alone = np.flatnonzero(field.sizes[place] == 1)
    if len(alone):
        distance[alone] = field.some(field.points[place[alone]], 2)[0][:, 1]
    return distance


def _words(both: Pair, seen: PermutationDistances, chance: Estimate | None) -> tuple[str, ...]:
    nearest = both.names[int(np.argmin(seen.distances))]
    lines = [
        f"The released record nearest to yours differs by up to {seen.record_distance:,.4g} of "
        f"{both.masked_records:,} ranks; {seen.candidates:,} "
        + ("record is that near." if seen.candidates == 1 else "records are that near."),
        f"The column that moved least there is {nearest!r} ({min(seen.distances):,.4g} ranks).",
    ]
    if chance is not None:
        verdict = (
            "nothing unusual" if chance.value >= PLAUSIBLE else "unusual: it may well be yours"
        )
        lines.append(
            f"{chance.value:.1%} of the other records have a stranger that near, so such a match "
            f"is {verdict}."
        )
    return tuple(lines)
