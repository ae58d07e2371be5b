"""The probability that a match with a class of a sample is correct: arrays in, numbers out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LARGE = 64
_TERMS = 64
"""From a class of 64, or a sampling fraction of a half, the series has its digits in 64 terms."""


def match_probability(size: Floats, expanded: Floats) -> Floats:
    """E[1/F | f] for classes of f records whose weights sum to `expanded`.

    F, the size of the class in the population, is negative binomial given f, with the sampling
    fraction p = f / `expanded` of the class (at most 1). Then E[1/F | f] = p I(f), where I(f) is
    the integral of u^(f-1) / (p + (1-p) u) from 0 to 1. It is computed without any difference of
    large numbers, in one of two ways:

    - f I(f) is the hypergeometric series 2F1(1, 1; f+1; 1-p). All its terms are positive, and they
      are small soon where f is large or p is not small.
    - I(1) = -log(p) / (1-p), and p I(f) + (1-p) I(f+1) = 1/f. For p below a half an error shrinks
      with every step from f to f+1.

    Parameters
    ----------
    size : array of float
        f of each class, at least 1.
    expanded : array of float
        The sum of the weights of each class, above 0.

    Returns
    -------
    array of float
        The probability for each class, from 1/`expanded` to 1/f.
    """
    f = np.asarray(size, np.float64)
    p = np.minimum(f / np.asarray(expanded, np.float64), 1.0)
    return np.where((f >= _LARGE) | (p >= 0.5), _by_series(f, p), _by_recurrence(f, p))


def _by_series(f: Floats, p: Floats) -> Floats:
    total = np.ones_like(p)
    for n in range(_TERMS, 0, -1):
        total = 1 + n / (f + n) * (1 - p) * total
    return p / f * total


def _by_recurrence(f: Floats, p: Floats) -> Floats:
    q = np.maximum(1 - p, 0.5)  # the others are those of the series
    integral = -np.log(p) / q
    for n in range(1, int(min(f.max(initial=1), _LARGE))):
        integral = np.where(f > n, (1 / n - p * integral) / q, integral)
    return p * integral
