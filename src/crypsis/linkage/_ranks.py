"""Ranks of scores, and two files of ranks put on one scale. Arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ParameterError
from crypsis.linkage._columns import Pair, Scores

Floats: TypeAlias = NDArray[np.float64]
Ties: TypeAlias = Literal["random", "average"]


def ranks(scores: Scores, *, ties: Ties = "random", seed: tuple[int, ...] = (0,)) -> Floats:
    """The place of each score in increasing order, from 1; ties at random or at their mean place.

    >>> ranks(np.array([30, 10, 20, 10]), ties="average")
    array([4. , 1.5, 3. , 1.5])
    """
    check_ties(ties)
    order = np.argsort(scores)
    lined_up = scores[order]
    new = np.concatenate([[True], lined_up[1:] != lined_up[:-1]])
    result = np.empty(len(scores))
    if ties == "average":
        first = np.flatnonzero(new)
        after = np.append(first[1:], len(scores))
        result[order] = ((first + after + 1) / 2)[np.cumsum(new) - 1]
        return result
    if not new.all():
        # A stable sort of shuffled scores: the same on every machine.
        shuffled = np.random.default_rng(seed).permutation(len(scores))
        order = shuffled[np.argsort(scores[shuffled], kind="stable")]
    result[order] = np.arange(1, len(scores) + 1)
    return result


def check_ties(ties: str) -> None:
    """Refuse a way to treat ties that does not exist."""
    if ties not in get_args(Ties):
        raise ParameterError(f"ties is 'random' or 'average'; {ties!r} was given.")


def column_seed(seed: int, name: str, side: int) -> tuple[int, ...]:
    """One stream of randomness a column and file, the same whichever other columns take part."""
    return (seed, side, crc32(name.encode()))


@dataclass(frozen=True)
class Places:
    """The records of two files as points whose coordinates are ranks on one scale.

    `unit` is the length of one masked rank on that scale: coordinates are whole numbers there (or
    halves), so that equal distances are exactly equal.
    """

    original: Floats
    masked: Floats
    unit: float


def places(pair: Pair, *, ties: Ties = "random", seed: int = 0) -> Places:
    """Both files as points in rank space; unequal numbers of records by rescaled ranks."""
    x = np.column_stack(
        [ranks(c.original, ties=ties, seed=column_seed(seed, c.name, 0)) for c in pair.columns]
    )
    y = np.column_stack(
        [ranks(c.masked, ties=ties, seed=column_seed(seed, c.name, 1)) for c in pair.columns]
    )
    return rescale(x, y)


def rescale(x: Floats, y: Floats) -> Places:
    """Ranks of two files on one scale, where rank r of n stands for the quantile (r - 1/2)/n.

    >>> rescale(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0], [3.0], [4.0]])).unit
    4.0
    """
    if len(x) == len(y):
        return Places(x, y, 1.0)
    # Whole numbers: (r - 1/2)/n becomes (2r - 1) times the other file's number of records.
    return Places((2 * x - 1) * len(y), (2 * y - 1) * len(x), 2.0 * len(x))


def places_among(
    pair: Pair, masked_records: int, *, ties: Ties = "random", seed: int = 0
) -> Floats:
    """Where the second file's records would stand among the first's, on the scale of `rescale`.

    A value between two ranks takes one of them at random; one that occurs takes its rank.
    """
    rng = np.random.default_rng((seed, 5))
    n = pair.original_records
    found = []
    for column in pair.columns:
        lined_up = np.sort(column.original)
        below = np.searchsorted(lined_up, column.masked, side="left")
        upto = np.searchsorted(lined_up, column.masked, side="right")
        first = np.where(upto > below, below + 1, np.maximum(below, 1))
        last = np.where(upto > below, upto, np.minimum(below + 1, n))
        drawn = (first + last) / 2 if ties == "average" else rng.integers(first, last + 1)
        found.append(np.asarray(drawn, dtype=np.float64))
    ranked = np.column_stack(found)
    return ranked if n == masked_records else (2 * ranked - 1) * masked_records


def correlation(one: Floats, other: Floats) -> float | None:
    """Pearson's correlation of two columns of ranks; None where one of them does not vary."""
    a, b = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return None if scale == 0 else float(np.clip((a @ b) / scale, -1.0, 1.0))
