"""The probability that a match with a class of a sample is correct: arrays in, numbers out."""

from __future__ import annotations

from typing import Literal

import numpy as np

from crypsis.array_types import Floats
from crypsis.counting.cells import Cells
from crypsis.errors import ParameterError

PopulationModel = Literal["negative binomial", "poisson"]
"""The distribution of the people of a class in the population, given its records."""

_MIN_SERIES_RECORDS = 64
"""From a class of so many records, or a sampling fraction of a half, the series has its digits."""
_SERIES_TERMS = 64
"""Terms of the series."""
_LOGARITHMS = np.arange(-60.0, 6.75, 0.25)
"""The logarithms of the places at which a Laplace transform is summed: the error is below 1e-12."""
_CLASSES_AT_ONCE = 20_000
"""Classes whose Laplace transforms are in memory at a time."""


def match_probability(size: Floats, expanded: Floats, model: PopulationModel = "negative binomial") -> Floats:
    """E[1/F | f] for classes of f records whose weights sum to `expanded`.

    F, the size of the class in the population, is negative binomial given f, with the sampling
    fraction p = f / `expanded` of the class (at most 1). Then E[1/F | f] = p I(f), where I(f) is
    the integral of u^(f-1) / (p + (1-p) u) from 0 to 1. It is computed without any difference of
    large numbers, in one of two ways:

    - f I(f) is the hypergeometric series 2F1(1, 1; f+1; 1-p). All its terms are positive, and they
      are small soon where f is large or p is not small.
    - I(1) = -log(p) / (1-p), and p I(f) + (1-p) I(f+1) = 1/f. For p below a half an error shrinks
      with every step from f to f+1.

    In the Poisson model F - f is Poisson given f, with the mean `expanded` - f.

    Parameters
    ----------
    size : array of float
        f of each class, at least 1.
    expanded : array of float
        The sum of the weights of each class, above 0.
    model : {"negative binomial", "poisson"}
        The distribution of F given f.

    Returns
    -------
    array of float
        The probability for each class, from 1/`expanded` to 1/f.
    """
    if model == "poisson":
        return _moment(1, size, expanded, model)
    f = np.asarray(size, np.float64)
    p = np.minimum(f / np.asarray(expanded, np.float64), 1.0)
    return np.where((f >= _MIN_SERIES_RECORDS) | (p >= 0.5), _by_series(f, p), _by_recurrence(f, p))


def match_variance(size: Floats, expanded: Floats, model: PopulationModel) -> Floats:
    """The variance of 1/F given f, of the same classes."""
    mean = match_probability(size, expanded, model)
    return np.maximum(_moment(2, size, expanded, model) - mean**2, 0.0)


def _moment(order: int, size: Floats, expanded: Floats, model: PopulationModel) -> Floats:
    """E[1/F^m | f] for m = 1 or 2, from the Laplace transform of F.

    It is the integral of x^(m-1) E[exp(-x F)] from 0 to infinity. In the logarithm of x the integrand
    is smooth and falls fast on both sides, so sums of equal steps converge exponentially (Trefethen &
    Weideman 2014). Only distinct classes are computed.
    """
    pairs, inverse = np.unique(
        np.column_stack([size, np.maximum(expanded, size)]).astype(np.float64), axis=0, return_inverse=True
    )
    x = np.exp(_LOGARITHMS)
    moments = np.empty(len(pairs))
    for start in range(0, len(pairs), _CLASSES_AT_ONCE):
        f, total = (part[:, None] for part in pairs[start : start + _CLASSES_AT_ONCE].T)
        with np.errstate(over="ignore", under="ignore"):
            log = (
                -f * x + (total - f) * np.expm1(-x)
                if model == "poisson"
                else -f * np.log1p(np.expm1(x) * total / f)
            )
            moments[start : start + _CLASSES_AT_ONCE] = (np.exp(log) * x**order).sum(axis=1)
    return np.asarray((moments * (_LOGARITHMS[1] - _LOGARITHMS[0]))[inverse.ravel()])


def check_weights(cells: Cells) -> None:
    """Raise unless every weight is a positive number."""
    weights = np.asarray(cells.weights)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise ParameterError(
            "Weights must be positive numbers; some are missing, zero or negative.", code="invalid-weights"
        )


def _by_series(f: Floats, p: Floats) -> Floats:
    total = np.ones_like(p)
    for n in range(_SERIES_TERMS, 0, -1):
        total = 1 + n / (f + n) * (1 - p) * total
    return p / f * total


def _by_recurrence(f: Floats, p: Floats) -> Floats:
    q = np.maximum(1 - p, 0.5)  # the others are those of the series
    integral = -np.log(p) / q
    for n in range(1, int(min(f.max(initial=1), _MIN_SERIES_RECORDS))):
        integral = np.where(f > n, (1 / n - p * integral) / q, integral)
    return p * integral
