"""Ranks of scores, and the ranks of two files on one scale. Arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[Any]
Ties: TypeAlias = Literal["average", "random"]


def ranks(scores: Scores, *, ties: Ties = "random", seed: tuple[int, ...] = (0,)) -> Floats:
    """The rank of each score from 1; equal scores get their mean rank, or ranks at random.

    >>> ranks(np.array([30, 10, 20, 10]), ties="average")
    array([4. , 1.5, 3. , 1.5])
    """
    order = np.argsort(scores)
    ordered = scores[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    result = np.empty(len(scores))
    if ties == "average":
        first = np.flatnonzero(new)
        after = np.append(first[1:], len(scores))
        result[order] = ((first + after + 1) / 2)[np.cumsum(new) - 1]
        return result
    if not new.all():
        # A stable sort of shuffled scores is the same on every machine.
        shuffled = np.random.default_rng(seed).permutation(len(scores))
        order = shuffled[np.argsort(scores[shuffled], kind="stable")]
    result[order] = np.arange(1, len(scores) + 1)
    return result


def column_seed(seed: int, name: str, side: int) -> tuple[int, ...]:
    """The seed of one column of one file, the same whichever other columns are compared."""
    return (seed, side, crc32(name.encode()))


@dataclass(frozen=True)
class Points:
    """The records of two files as points, one coordinate per column, on one scale.

    `unit` is the length of one masked rank on that scale: rank coordinates are integers there (or
    halves), so that equal distances are exactly equal.
    """

    original: Floats
    masked: Floats
    unit: float = 1.0

    def of_columns(self, kept_columns: list[int]) -> Points:
        """The same records with some of the coordinates."""
        return Points(self.original[:, kept_columns], self.masked[:, kept_columns], self.unit)


def rescale(x: Floats, y: Floats) -> Points:
    """The ranks of two files on one scale, where rank r of n is the quantile (r - 1/2)/n.

    >>> rescale(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0], [3.0], [4.0]])).unit
    4.0
    """
    if len(x) == len(y):
        return Points(x, y)
    # Integers: (r - 1/2)/n becomes (2r - 1) times the number of records of the other file.
    return Points((2 * x - 1) * len(y), (2 * y - 1) * len(x), 2.0 * len(x))


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's correlation of two columns of ranks; None where one of them is constant."""
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return None if scale == 0 else float(np.clip((a @ b) / scale, -1.0, 1.0))
