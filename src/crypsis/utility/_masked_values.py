"""Numeric values before and after masking, record by record."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from crypsis.array_types import Floats
from crypsis.errors import ParameterError
from crypsis.results import Result


class NormalizedError(Result):
    """The squared error divided by that of one group, and the curve 1/b^2 (lodha2007, Fig. 7)."""

    error: float
    groups: int
    curve: float
    """1 / groups^2, the error of uniformly distributed values."""

    @property
    def ratio(self) -> float:
        """The error divided by the curve."""
        return self.error / self.curve


def normalized_error(original: ArrayLike, masked: ArrayLike) -> NormalizedError:
    """The sum of squared errors divided by that of the mean (lodha2007, section 5.2).

    Parameters
    ----------
    original, masked : array_like
        A numeric column before and after; records with a missing value in either are not used.

    Returns
    -------
    NormalizedError
        The error, from 0 (nothing changed) to 1 (every value is the mean), and more.

    Examples
    --------
    >>> normalized_error([0, 1, 2, 3], [0.5, 0.5, 2.5, 2.5]).error
    0.2
    """
    before, after = _columns(original, masked)
    least = float(((before - before.mean()) ** 2).sum()) if before.size else 0.0
    error = float(((after - before) ** 2).sum())
    groups = int(np.unique(after).size)
    if least == 0:
        return NormalizedError(0.0 if error == 0 else math.inf, groups, 1.0 / max(1, groups) ** 2)
    return NormalizedError(error / least, groups, 1.0 / groups**2)


def rank_difference(original: ArrayLike, masked: ArrayLike) -> float:
    """The sum of the differences of ranks (lodha2007, Definition 8).

    Parameters
    ----------
    original, masked : array_like
        A numeric column before and after; records with a missing value in either are not used.

    Returns
    -------
    float
        The sum over all records.

    Notes
    -----
    The rank of a masked value is the average rank of the original values equal to it, or lies
    between its neighbors. For distinct values masked to values of the column this is the
    definition of the paper.

    Examples
    --------
    >>> rank_difference([1, 12, 4, 7, 3], [3, 7, 3, 7, 3])
    3.0
    """
    before, after = _columns(original, masked)
    ordered = np.sort(before)
    return float(np.abs(_rank(ordered, after) - _rank(ordered, before)).sum())


def il1s(original: ArrayLike, masked: ArrayLike) -> float:
    """The information loss IL1s: the mean of |x - x'| / (sqrt(2) sd(x)) over all cells.

    Parameters
    ----------
    original, masked : array_like
        A numeric table or column before and after; cells that are missing in either and constant
        columns are not used.

    Returns
    -------
    float
        0 where nothing changed.

    References
    ----------
    Yancey, Winkler, Creecy (2002), Disclosure risk assessment in perturbative microdata protection.

    Examples
    --------
    >>> round(il1s([[0.0], [2.0]], [[1.0], [2.0]]), 4)
    0.25
    """
    before, after = _tables(original, masked)
    spread = np.nanstd(before, axis=0, ddof=1) if before.shape[0] > 1 else np.zeros(before.shape[1])
    varies = spread > 0
    if not varies.any():
        return 0.0
    moved = np.abs(after - before)[:, varies] / (math.sqrt(2) * spread[varies])
    return float(np.nanmean(moved))


def correlation_change(original: ArrayLike, masked: ArrayLike) -> float:
    """The mean absolute change of the correlations between columns.

    Parameters
    ----------
    original, masked : array_like
        A numeric table before and after; records with a missing value are not used.

    Returns
    -------
    float
        0 where nothing changed, and where there is one column.

    Examples
    --------
    >>> round(correlation_change([[1, 1], [2, 2], [3, 3]], [[1, 3], [2, 2], [3, 1]]), 6)
    2.0
    """
    before, after = _tables(original, masked)
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


def _rank(ordered: Floats, values: Floats) -> Floats:
    below = np.searchsorted(ordered, values, "left")
    upto = np.searchsorted(ordered, values, "right")
    return np.asarray((below + upto + 1) / 2)


def _columns(original: ArrayLike, masked: ArrayLike) -> tuple[Floats, Floats]:
    before, after = np.asarray(original, float), np.asarray(masked, float)
    if before.shape != after.shape or before.ndim != 1:
        raise ParameterError("The two columns must have the same number of values.")
    present = ~np.isnan(before) & ~np.isnan(after)
    return before[present], after[present]


def _tables(original: ArrayLike, masked: ArrayLike) -> tuple[Floats, Floats]:
    before, after = np.asarray(original, float), np.asarray(masked, float)
    if before.ndim == 1:
        before, after = before[:, None], after.reshape(-1, 1)
    if before.shape != after.shape:
        raise ParameterError("The two tables must have the same rows and columns.")
    return before, after
