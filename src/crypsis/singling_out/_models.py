"""Models of a population behind the class sizes of a sample: arrays in, numbers out.

`number[i]` classes of the sample have `size[i]` rows. `start` is where to begin the search for the
highest likelihood; without it several places are tried. Models without a likelihood ignore it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """The unique people that a model expects, and where its likelihood was highest."""

    uniques: float
    point: Floats | None = None


Model = Callable[[Ints, Ints, float, Floats | None], Fit | None]


def pitman_uniques(
    size: Ints, number: Ints, population: float, start: Floats | None = None
) -> Fit | None:
    """Uniques of the population under Pitman's sampling formula, fitted by maximum likelihood.

    Hoshino 2001. `number[i]` classes have `size[i]` rows. None without an interior maximum.
    """
    rows, classes = float(size @ number), float(number.sum())
    if size.size < 2 or classes == rows:
        return None

    def loss(point: Floats) -> float:
        theta, alpha = math.exp(point[0]), 1 / (1 + math.exp(-point[1]))
        new = (classes - 1) * math.log(alpha)
        new += gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
        old = float(number @ (gammaln(size - alpha) - gammaln(1 - alpha)))
        return float(gammaln(theta + rows) - gammaln(theta + 1) - new - old) / classes

    starts = [(math.log(max(classes, 2)), 0.0), (math.log(10), -2.0), (0.0, 2.0)]
    fit = _fit(loss, starts if start is None else [start])
    if fit is None:
        return None
    theta, alpha = math.exp(fit[0]), 1 / (1 + math.exp(-fit[1]))
    # E[uniques] = N * P(the first is joined by nobody); Hoshino's N^alpha is its limit.
    log_share = gammaln(population + theta + alpha - 1) - gammaln(population + theta)
    log_share += gammaln(1 + theta) - gammaln(theta + alpha)
    return Fit(float(population * math.exp(min(0.0, log_share))), fit)


def zayatz_uniques(
    size: Ints, number: Ints, population: float, start: Floats | None = None
) -> Fit | None:
    """Uniques of the population if its classes had the shape of the sample's (Zayatz 1991).

    The probability that a sample unique is a population unique, by Bayes' rule with hypergeometric
    sampling, times the sample uniques, over the sampling fraction.
    """
    rows = float(size @ number)
    once = float(number[size == 1].sum())
    if once == 0:
        return Fit(0.0)
    j = size.astype(np.float64)
    left = population - j
    with np.errstate(invalid="ignore"):
        log_one = (
            np.log(j) + _log_choose(left, rows - 1) - _log_choose(population, np.asarray(rows))
        )
    one = np.where(left >= rows - 1, np.exp(log_one), 0.0)
    share = once * one[size == 1][0] / float(number @ one)
    return Fit(float(min(once * share * population / rows, population)))


def slide_negative_binomial_uniques(
    size: Ints, number: Ints, population: float, start: Floats | None = None
) -> Fit | None:
    """Uniques of the population when class sizes less one are negative binomial.

    Chen & McNulty 1998. A class of the sample then has a size that is the sum of a Bernoulli and a
    negative binomial variable; the two parameters maximize the likelihood of the frequencies as
    Poisson counts, with the number of classes tied to the population by their mean size. None
    without an interior maximum.
    """
    rows, classes = float(size @ number), float(number.sum())
    if rows >= population:
        return Fit(float(number[size == 1].sum()))
    if size.size < 2:
        return None
    q = rows / population

    def parts(point: Floats) -> tuple[float, float, float]:
        shape, success = math.exp(point[0]), 1 / (1 + math.exp(-point[1]))
        every = population * success / (success + shape * (1 - success))
        return shape, success, every

    def loss(point: Floats) -> float:
        shape, success, every = parts(point)
        thinned = success / (success + q * (1 - success))
        none = (1 - q) * thinned**shape
        log_p = np.logaddexp(
            math.log1p(-q) + _log_negative_binomial(size, shape, thinned),
            math.log(q) + _log_negative_binomial(size - 1, shape, thinned),
        )
        fitted = float(number @ log_p) + classes * math.log(every) - every * (1 - none)
        return float(-fitted / classes)

    starts = [(0.0, 0.0), (-2.0, -3.0), (-1.0, 2.0), (1.0, -3.0)]
    fit = _fit(loss, starts if start is None else [start])
    if fit is None:
        return None
    shape, success, every = parts(fit)
    return Fit(float(min(every * success**shape, population)), fit)


def _fit(loss: Callable[[Floats], float], starts: Sequence[Any]) -> Floats | None:
    """The minimum of a loss in two unbounded parameters; None if it runs off to infinity."""
    from scipy.optimize import minimize  # half a second to import

    best: Floats | None = None
    least = math.inf
    for start in starts:
        with np.errstate(all="ignore"):
            found = minimize(_finite(loss), np.array(start), method="Nelder-Mead",
                             options={"xatol": 1e-4, "fatol": 1e-10, "maxiter": 500})  # fmt: skip
        if found.fun < least:
            least, best = float(found.fun), np.asarray(found.x)
    return best if best is not None and np.abs(best).max() < 40 else None


def _finite(loss: Callable[[Floats], float]) -> Callable[[Floats], float]:
    def guarded(point: Floats) -> float:
        if np.abs(point).max() > 60:
            return 1e300
        value = loss(point)
        return value if math.isfinite(value) else 1e300

    return guarded


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _log_negative_binomial(count: Ints, shape: float, success: float) -> Floats:
    """The logarithm of P[NB = count]; minus infinity below zero."""
    k = np.maximum(count, 0)
    value = gammaln(k + shape) - gammaln(shape) - gammaln(k + 1)
    value = value + shape * math.log(success) + k * math.log1p(-success)
    return np.where(count < 0, -np.inf, value)
