"""Which distances and diversities how many records meet: more than the worst record tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crypsis import progress
from crypsis.errors import ParameterError
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, pair
from crypsis.linkage._diversity import Criterion, meets
from crypsis.linkage._nearest import Floats
from crypsis.linkage._permuted_privacy import Around, Mapping, around
from crypsis.linkage._ranks import Ties
from crypsis.results import Result

# What neighbourhoods of up to a tenth of the records reach: variance grows with the square of
# their size, entropy with its logarithm.
_LEVELS: dict[Criterion, tuple[float, ...]] = {
    "variance": (0.0, 0.0001, 0.001, 0.01, 0.05),
    "distinct": (0.0, 0.01, 0.05, 0.1, 0.2),
    "entropy": (0.0, 0.2, 0.4, 0.6, 0.8),
    "t-closeness": (0.5, 0.4, 0.3, 0.25, 0.2),
}
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class FrontierPoint(Result):
    """The share of records whose every column moved `distance` ranks and is diverse enough there.

    `diversity` is a share of the whole column's (for t-closeness the largest distance allowed).
    """

    distance: int
    diversity: float
    share: float


@dataclass(frozen=True)
class Frontier(Result):
    """The share of records that meet (d, v), for a grid of d and v, the same in every column."""

    columns: tuple[str, ...]
    mapping: str
    criterion: str
    records: int
    points: tuple[FrontierPoint, ...]

    def at(self, share: float) -> tuple[FrontierPoint, ...]:
        """The strongest pairs of distance and diversity that `share` of the records meet."""
        less_is_more = self.criterion == "t-closeness"
        enough = [point for point in self.points if point.share >= share]

        def beaten(point: FrontierPoint) -> bool:
            return any(
                other.distance >= point.distance
                and (
                    other.diversity <= point.diversity
                    if less_is_more
                    else other.diversity >= point.diversity
                )
                and (other.distance, other.diversity) != (point.distance, point.diversity)
                for other in enough
            )

        return tuple(point for point in enough if not beaten(point))


def privacy_frontier(
    original: Any,
    masked: Any,
    *,
    distances: Sequence[int] | None = None,
    mapping: Mapping = "protector",
    criterion: Criterion = "variance",
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> Frontier:
    """How many records meet which distance and diversity.

    (d, v, f)-permuted privacy of a whole file is that of its worst record, which on real data
    hardly moved. The frontier shows the trade instead: a longer distance d, met by fewer records,
    leaves a larger and more diverse neighbourhood S(d). Without `distances`: 0, 1, 2, 5, 10, 20,
    ... up to a tenth of the records.

    >>> x, y = {"a": [1, 2, 3, 4]}, {"a": [3.1, 2.2, 1.3, 4.4]}
    >>> [(p.distance, p.share) for p in privacy_frontier(x, y, distances=[0, 1]).at(0.5)]
    [(1, 0.5)]
    """
    both = pair(original, masked, columns=columns, orders=orders, on=on, row_map=row_map)
    near = around(both, mapping, criterion, ties, seed)
    wanted = _grid(both.masked_records) if distances is None else tuple(distances)
    if not wanted or min(wanted) < 0:
        raise ParameterError("distances are ranks >= 0, at least one of them.")
    whole = near.whole(criterion)
    points = [
        FrontierPoint(int(distance), level, share)
        for distance in progress.track(wanted, "distances of the frontier")
        for level, share in _shares(near, float(distance), criterion, _LEVELS[criterion], whole)
    ]
    return Frontier(both.names, near.name, criterion, both.original_records, tuple(points))


def _shares(
    near: Around, distance: float, criterion: Criterion, levels: Sequence[float], whole: Floats
) -> list[tuple[float, float]]:
    kept = near.kept
    far = (near.moved[kept] >= distance).all(axis=1)
    found = near.diversities_within(distance, criterion)[kept]
    result = []
    for level in levels:
        limits = np.full(len(whole), level) if criterion == "t-closeness" else level * whole
        enough = np.ones(len(kept), dtype=bool)
        for j, limit in enumerate(limits):
            enough &= meets(criterion, found[:, j], float(limit))
        result.append((level, float((far & enough).mean()) if len(kept) else 1.0))
    return result


def _grid(records: int) -> tuple[int, ...]:
    steps = [0] + [step * 10**power for power in range(8) for step in _STEPS]
    return tuple(step for step in steps if step <= max(records // 10, 1))
