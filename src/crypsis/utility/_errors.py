"""Numbers against numbers: what masking did to single values (row by row)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.errors import ParameterError
from crypsis.results import Result

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NormalizedError(Result):
    """The squared error against that of a single group, and the curve 1/b^2 (lodha2007, Fig. 7)."""

    error: float
    groups: int
    curve: float
    """1 / groups^2, which uniform values follow."""

    @property
    def ratio(self) -> float:
        """How many times the curve the error is."""
        return self.error / self.curve


def normalized_error(original: ArrayLike, released: ArrayLike) -> NormalizedError:
    """Sum of squared errors over that of the best single value (lodha2007, section 5.2).

    Rows where either is missing are left out.

    >>> normalized_error([0, 1, 2, 3], [0.5, 0.5, 2.5, 2.5]).error
    0.2
    """
    before, after = _pair(original, released)
    least = float(((before - before.mean()) ** 2).sum()) if before.size else 0.0
    error = float(((after - before) ** 2).sum())
    groups = int(np.unique(after).size)
    if least == 0:
        return NormalizedError(0.0 if error == 0 else math.inf, groups, 1.0 / max(1, groups) ** 2)
    return NormalizedError(error / least, groups, 1.0 / groups**2)


@dataclass(frozen=True)
class TradeOff(Result):
    """Privacy and utility of k-anonymous groups in n rows (lodha2007, section 5.2)."""

    rows: int
    k: int
    privacy: float
    """1 - 1/k: the identity disclosure risk is below 1/k."""
    utility: float
    """1 - k^2/n^2."""

    @property
    def constant(self) -> float:
        """(1 - privacy)^2 (1 - utility), which is 1/n^2 whatever k."""
        return (1 - self.privacy) ** 2 * (1 - self.utility)


def trade_off(rows: int, k: int) -> TradeOff:
    """The privacy-utility equation (1 - p)^2 (1 - u) = 1/n^2.

    >>> round(trade_off(1000, 10).constant * 1000**2, 9)
    1.0
    """
    if not 1 <= k <= rows:
        raise ParameterError(f"k lies between 1 and the number of rows ({rows}); {k} was given.")
    return TradeOff(rows, k, 1 - 1 / k, 1 - (k / rows) ** 2)


def il1s(original: ArrayLike, released: ArrayLike) -> float:
    """Mean |x - x'| / (sqrt(2) sd(x)) over all cells (Yancey, Winkler and Creecy 2002).

    Columns are columns of a table, or one column; cells missing on either side are left out, and so
    are columns without spread.

    >>> round(il1s([[0.0], [2.0]], [[1.0], [2.0]]), 4)
    0.25
    """
    before, after = _tables(original, released)
    spread = np.nanstd(before, axis=0, ddof=1) if before.shape[0] > 1 else np.zeros(before.shape[1])
    steady = spread > 0
    if not steady.any():
        return 0.0
    moved = np.abs(after - before)[:, steady] / (math.sqrt(2) * spread[steady])
    return float(np.nanmean(moved))


def correlation_change(original: ArrayLike, released: ArrayLike) -> float:
    """The mean absolute change of the correlations between columns; 0 where there is one column."""
    before, after = _tables(original, released)
    if before.shape[1] < 2:
        return 0.0
    upper = np.triu_indices(before.shape[1], 1)
    gap = np.abs(_correlations(after) - _correlations(before))[upper]
    return float(np.nanmean(gap)) if np.isfinite(gap).any() else 0.0


def _correlations(table: Floats) -> Floats:
    kept = table[~np.isnan(table).any(axis=1)]
    centered = kept - kept.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(centered.T @ centered / np.outer(length, length))


def _pair(original: ArrayLike, released: ArrayLike) -> tuple[Floats, Floats]:
    before, after = np.asarray(original, float), np.asarray(released, float)
    if before.shape != after.shape or before.ndim != 1:
        raise ParameterError("Both columns need the same number of values, row by row.")
    there = ~np.isnan(before) & ~np.isnan(after)
    return before[there], after[there]


def _tables(original: ArrayLike, released: ArrayLike) -> tuple[Floats, Floats]:
    before, after = np.asarray(original, float), np.asarray(released, float)
    if before.ndim == 1:
        before, after = before[:, None], after.reshape(-1, 1)
    if before.shape != after.shape:
        raise ParameterError("Both tables need the same rows and columns.")
    return before, after
