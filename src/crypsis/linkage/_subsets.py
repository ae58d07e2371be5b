"""The intruder links on some of the columns only (domingo2016, Note 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from crypsis import progress
from crypsis.errors import ParameterError, TooLarge
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, Pair, pair
from crypsis.linkage._intruder import link_places
from crypsis.linkage._ranks import Places, Ties, places
from crypsis.results import Result

_MOST_SUBSETS = 4096


@dataclass(frozen=True)
class SubsetLink(Result):
    """How well the intruder links on some of the columns only."""

    columns: tuple[str, ...]
    correct: int | None
    multiple: int
    wrong: int | None
    right_share: float | None
    mean_distance: float


def link_subsets(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    largest: int | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> tuple[SubsetLink, ...]:
    """The linkage on every subset of the columns (of at most `largest`), the most right one first.

    domingo2016, Note 1: an intruder who sees that some columns were permuted less links on those.

    >>> x = {"a": [1, 2, 3, 4], "b": [9, 5, 7, 1]}
    >>> link_subsets(x, {"a": x["a"], "b": x["b"][::-1]})[0].columns
    ('a',)
    """
    both = pair(
        original, masked, columns=columns, orders=orders, on=on, row_map=row_map, ranks_only=True
    )
    m = len(both.columns)
    largest = m if largest is None else largest
    if not 1 <= largest <= m:
        raise ParameterError(f"largest lies between 1 and the {m} columns; {largest} was given.")
    number = sum(comb(m, size) for size in range(1, largest + 1))
    if number > _MOST_SUBSETS:
        raise TooLarge(
            f"{m} columns have {number:,} subsets of up to {largest}; at most {_MOST_SUBSETS:,} "
            "are tried. Name fewer columns, or give a smaller largest=."
        )
    points = places(both, ties=ties, seed=seed)
    subsets = [s for size in range(1, largest + 1) for s in combinations(range(m), size)]
    found = [_link_subset(both, points, s) for s in progress.track(subsets, "subsets of columns")]
    return tuple(sorted(found, key=lambda s: (-(s.right_share or 0.0), s.mean_distance)))


def _link_subset(both: Pair, points: Places, chosen: tuple[int, ...]) -> SubsetLink:
    some = list(chosen)
    part = Places(points.original[:, some], points.masked[:, some], points.unit)
    few = Pair(
        tuple(both.columns[i] for i in some), both.own, both.original_records, both.masked_records
    )
    found = link_places(few, part)
    right = None if found.right is None else float(found.right)
    return SubsetLink(
        few.names, found.correct, found.multiple, found.wrong, right, found.mean_distance
    )
