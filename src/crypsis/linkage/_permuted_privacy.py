"""(d, v, f)-permuted privacy: how far values moved, and how diverse the values near them are.

domingo2016, Sec. 4, Definitions 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.dataset import Data, takes_options
from crypsis.errors import InputError, ParameterError
from crypsis.linkage._diversity import Criterion, meets
from crypsis.linkage._neighborhoods import Mapping, Neighborhoods, neighborhoods
from crypsis.linkage._pair import RankOptions, pair
from crypsis.linkage._ranks import Floats
from crypsis.results import Result, raw

# The levels that neighborhoods of up to a tenth of the records reach: variance grows with the
# square of their size, entropy with its logarithm.
_LEVELS: dict[Criterion, tuple[float, ...]] = {
    "variance": (0.0, 0.0001, 0.001, 0.01, 0.05),
    "distinct": (0.0, 0.01, 0.05, 0.1, 0.2),
    "entropy": (0.0, 0.2, 0.4, 0.6, 0.8),
    "t-closeness": (0.5, 0.4, 0.3, 0.25, 0.2),
}
_GRID_STEPS = (1, 2, 5)
"""The multiples of each power of ten at which distances are tried."""


class ColumnFailures(Result):
    """How many records do not meet the distance d or the diversity v of one column."""

    column: str
    distance: float
    diversity: float
    too_near: int
    too_uniform: int


class PermutedPrivacy(Result, eq=False):
    """Whether, and for which records, a masked file has (d, v, f)-permuted privacy.

    `satisfied` is Definition 2: every record meets the distance d and the diversity v of every
    column. One record decides that, so `share` is the share of records that do. `meets`,
    `distances` and `diversities` (of S(d)) are by record. Records without a masked record
    (`suppressed`) do not count.
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
        reasons = []
        for j, column in enumerate(self.columns):
            moved, diversity = self.distances[row, j], self.diversities[row, j]
            if moved < column.distance:
                reasons.append(f"{column.column!r} moved {moved:g} ranks, not {column.distance:g}")
            if not meets(self.criterion, diversity, column.diversity):
                reasons.append(
                    f"{column.column!r} has a {self.criterion} of {diversity:.4g} around it, "
                    f"not {column.diversity:.4g}"
                )
        return tuple(reasons)


@takes_options(RankOptions)
def permuted_privacy(
    original: Data,
    masked: Data,
    *,
    d: float | Sequence[float] | None = None,
    v: float | Sequence[float] | None = None,
    mapping: Mapping = "protector",
    criterion: Criterion = "variance",
    **options: Unpack[RankOptions],
) -> PermutedPrivacy:
    """Which records meet the distances d and diversities v: (d, v, f)-permuted privacy.

    Parameters
    ----------
    original, masked, **options
        See `link`.
    d : float or sequence of float, optional
        The distance in ranks, one for all columns or one per column. By default the largest that
        every record meets.
    v : float or sequence of float, optional
        The diversity in the same way; an upper bound for t-closeness.
    mapping : {"protector", "subject"} or array of int
        f, the masked record of each original: the true one, the nearest one (Algorithm 3), or
        rows of the masked file.
    criterion : {"variance", "distinct", "entropy", "t-closeness"}
        The diversity: population variance, number of distinct values, entropy in bits, or distance
        to the distribution of the column.

    Returns
    -------
    PermutedPrivacy
        Whether all records meet d and v, the share that does, and the failures by column.

    Notes
    -----
    Definition 1 requires more than v, its example at least v, which is what is computed. The d and
    v of a file are those of its worst record; see `privacy_frontier` for the share over a grid.
    Reference: domingo2016, Definitions 1 and 2.

    Examples
    --------
    >>> x, y = {"a": [1, 2, 3, 4]}, {"a": [3.1, 2.2, 1.3, 4.4]}
    >>> permuted_privacy(x, y).d, permuted_privacy(x, y, d=1).share
    ((0.0,), 0.5)
    """
    both = pair(original, masked, **options)
    return privacy_of(neighborhoods(both, mapping, criterion), d, v)


def privacy_of(
    neighborhoods: Neighborhoods, d: float | Sequence[float] | None, v: float | Sequence[float] | None
) -> PermutedPrivacy:
    """Compare every record with d and v."""
    criterion, kept = neighborhoods.criterion, neighborhoods.kept
    names = tuple(column.name for column in neighborhoods.columns)
    if len(kept) == 0:
        raise InputError("No original has a masked record.", code="not-aligned")
    moved = neighborhoods.moved[kept]
    wanted_d = _vector(d, names, "d") if d is not None else moved.min(axis=0)
    diversities = neighborhoods.diversities(np.tile(wanted_d, (len(neighborhoods.rows), 1)))
    worst = diversities[kept].max(axis=0) if criterion == "t-closeness" else diversities[kept].min(axis=0)
    wanted_v = _vector(v, names, "v") if v is not None else worst
    far = moved >= wanted_d
    diverse = np.column_stack(
        [meets(criterion, diversities[kept, j], wanted_v[j]) for j in range(len(wanted_v))]
    )
    good = (far & diverse).all(axis=1)
    by_record = np.ones(len(neighborhoods.rows), dtype=bool)
    by_record[kept] = good
    counts = zip(
        names,
        wanted_d.tolist(),
        wanted_v.tolist(),
        (~far).sum(axis=0).tolist(),
        (~diverse).sum(axis=0).tolist(),
        strict=True,
    )
    return PermutedPrivacy(
        mapping=neighborhoods.mapping,
        criterion=criterion,
        records=len(neighborhoods.rows),
        suppressed=len(neighborhoods.rows) - len(kept),
        satisfied=bool(good.all()),
        share=float(good.mean()),
        d=tuple(wanted_d.tolist()),
        v=tuple(wanted_v.tolist()),
        columns=tuple(ColumnFailures(*count) for count in counts),
        meets=by_record,
        distances=neighborhoods.moved,
        diversities=diversities,
    )


def _vector(value: float | Sequence[float], names: tuple[str, ...], what: str) -> Floats:
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if len(numbers) == 1:
        numbers = np.repeat(numbers, len(names))
    if numbers.shape != (len(names),) or not np.all(numbers >= 0):
        raise ParameterError(
            f"Parameter {what!r} must be one number of at least 0, or one for each of the "
            f"{len(names)} columns ({', '.join(map(repr, names))}); {len(numbers)} were given.",
            parameter=what,
        )
    return numbers


class FrontierPoint(Result):
    """The share of records that moved `distance` ranks in every column and are diverse enough.

    `diversity` is a share of that of the column (for t-closeness the largest distance allowed).
    """

    distance: int
    diversity: float
    share: float


class PrivacyFrontier(Result):
    """The share of records that meet (d, v) for a grid of d and v, the same in every column."""

    columns: tuple[str, ...]
    mapping: str
    criterion: str
    records: int
    points: tuple[FrontierPoint, ...]

    def at(self, share: float) -> tuple[FrontierPoint, ...]:
        """The strongest pairs of distance and diversity that `share` of the records meet."""
        sign = -1 if self.criterion == "t-closeness" else 1
        enough = [point for point in self.points if point.share >= share]
        keys = [(point.distance, sign * point.diversity) for point in enough]

        def dominated(key: tuple[int, float]) -> bool:
            return any(corner != key and corner[0] >= key[0] and corner[1] >= key[1] for corner in keys)

        return tuple(point for point, key in zip(enough, keys, strict=True) if not dominated(key))


@takes_options(RankOptions)
def privacy_frontier(
    original: Data,
    masked: Data,
    *,
    distances: Sequence[int] | None = None,
    mapping: Mapping = "protector",
    criterion: Criterion = "variance",
    **options: Unpack[RankOptions],
) -> PrivacyFrontier:
    """The share of records that meet each distance and diversity of a grid.

    The permuted privacy of a file is that of its worst record, which on real data hardly moved. The
    frontier shows the trade-off: a larger distance d is met by fewer records and has a larger, more
    diverse neighborhood S(d).

    Parameters
    ----------
    original, masked, **options
        See `link`.
    distances : sequence of int, optional
        The distances in ranks; by default 0, 1, 2, 5, 10, ... up to a tenth of the records.
    mapping, criterion
        See `permuted_privacy`.

    Returns
    -------
    PrivacyFrontier
        One point per distance and diversity.

    Examples
    --------
    >>> x, y = {"a": [1, 2, 3, 4]}, {"a": [3.1, 2.2, 1.3, 4.4]}
    >>> [(p.distance, p.share) for p in privacy_frontier(x, y, distances=[0, 1]).at(0.5)]
    [(1, 0.5)]
    """
    both = pair(original, masked, **options)
    return frontier_of(neighborhoods(both, mapping, criterion), distances)


def frontier_of(neighborhoods: Neighborhoods, distances: Sequence[int] | None = None) -> PrivacyFrontier:
    """The shares of records over a grid of distances and diversities."""
    wanted = _grid(len(neighborhoods.ordered[0].values)) if distances is None else tuple(distances)
    if not wanted or min(wanted) < 0:
        raise ParameterError(
            "Parameter 'distances' must have at least one distance, each at least 0.", parameter="distances"
        )
    complete = neighborhoods.column_diversities()
    points = [
        FrontierPoint(int(distance), level, share)
        for distance in progress.track(wanted, "distances of the frontier")
        for level, share in _shares(neighborhoods, float(distance), complete)
    ]
    names = tuple(column.name for column in neighborhoods.columns)
    return PrivacyFrontier(
        names, neighborhoods.mapping, neighborhoods.criterion, len(neighborhoods.rows), tuple(points)
    )


def _shares(neighborhoods: Neighborhoods, distance: float, complete: Floats) -> list[tuple[float, float]]:
    criterion, kept = neighborhoods.criterion, neighborhoods.kept
    far = (neighborhoods.moved[kept] >= distance).all(axis=1)
    diversities = neighborhoods.diversities_within(distance)[kept]
    result = []
    for level in _LEVELS[criterion]:
        limits = np.full(len(complete), level) if criterion == "t-closeness" else level * complete
        enough = np.ones(len(kept), dtype=bool)
        for j, limit in enumerate(limits):
            enough &= meets(criterion, diversities[:, j], float(limit))
        result.append((level, float((far & enough).mean()) if len(kept) else 1.0))
    return result


def _grid(records: int) -> tuple[int, ...]:
    steps = [0] + [step * 10**power for power in range(8) for step in _GRID_STEPS]
    return tuple(step for step in steps if step <= max(records // 10, 1))
