"""Models of a population behind the class sizes of a sample: arrays in, numbers out.

`number[i]` classes of the sample have `size[i]` rows. A model gives the unique people that it
expects, None where its likelihood has no interior maximum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.scientific import special

_STIRLING_FROM = 1_000.0
"""Beyond this the first terms of Stirling's series are exact enough."""
_CONVERGED_GAIN = 1e-10
"""A step that lowers the loss by less ends the search."""
_DERIVATIVE_STEP = 1e-3
"""The step of the differences that stand for derivatives."""
_MAX_STEP_LENGTH = 4.0
"""Steps are cut to this length: the parameters are logarithms."""
_MAX_STEPS = 50
"""Steps of the search for the best fit at most."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The unique people that a model expects, and where its likelihood was highest."""

    uniques: float
    point: Floats | None = None


Model = Callable[[Ints, Ints, float], Fit | None]


def pitman_uniques(size: Ints, number: Ints, population: float) -> Fit | None:
    """Uniques of the population under Pitman's sampling formula, fitted by maximum likelihood.

    Hoshino 2001.
    """
    rows, classes = float(size @ number), float(number.sum())
    if size.size < 2 or classes == rows:
        return None

    def loss(point: Floats) -> float:
        theta, alpha = math.exp(point[0]), 1 / (1 + math.exp(-point[1]))
        new = (classes - 1) * math.log(alpha)
        new += _log_gamma_ratio(theta / alpha + 1, classes - 1)
        old = float(number @ (special.gammaln(size - alpha) - special.gammaln(1 - alpha)))
        return float(_log_gamma_ratio(theta + 1, rows - 1) - new - old) / classes

    starts = [(math.log(max(classes, 2)), 0.0), (math.log(10), -2.0), (0.0, 2.0)]
    fit = _fit(loss, starts)
    if fit is None:
        return None
    theta, alpha = math.exp(fit[0]), 1 / (1 + math.exp(-fit[1]))
    # E[uniques] = N * P(the first is joined by nobody); Hoshino's N^alpha is its limit.
    log_share = _log_gamma_ratio(population + theta, alpha - 1)
    log_share -= _log_gamma_ratio(theta + 1, alpha - 1)
    return Fit(float(population * math.exp(min(0.0, log_share))), fit)


def zayatz_uniques(size: Ints, number: Ints, population: float) -> Fit:
    """Uniques of the population if its classes had the shape of the sample's (Zayatz 1991).

    The probability that a sample unique is a population unique, by Bayes' rule with hypergeometric
    sampling, times the sample uniques, over the sampling fraction.
    """
    rows = float(size @ number)
    once = float(number[size == 1].sum())
    if once == 0:
        return Fit(0.0)
    # How likely one row of a class of j is sampled, relative to a class of one: j C(N-j, n-1) over
    # C(N-1, n-1). The binomials themselves are so large that their difference has no digits left.
    left = population - rows + 1
    log_one = [
        _log_gamma_ratio(population, 1 - j) - _log_gamma_ratio(left, 1 - j) if j <= left else -math.inf
        for j in size.tolist()
    ]
    ones_fitted = size * np.exp(log_one)
    return Fit(float(min(once * once / float(number @ ones_fitted) * population / rows, population)))


def slide_negative_binomial_uniques(size: Ints, number: Ints, population: float) -> Fit | None:
    """Uniques of the population when class sizes less one are negative binomial.

    Chen & McNulty 1998. A class of the sample then has a size that is the sum of a Bernoulli and a
    negative binomial variable; the two parameters maximize the likelihood of the frequencies as
    Poisson counts, with the number of classes tied to the population by their mean size.
    """
    rows, classes = float(size @ number), float(number.sum())
    if rows >= population:
        return Fit(float(number[size == 1].sum()))
    if size.size < 2:
        return None
    q = rows / population

    def parts(point: Floats) -> tuple[float, float, float]:
        shape, odds = math.exp(point[0]), math.exp(-point[1])  # of failure; below 1e-16 it counts
        return shape, odds, population / (1 + shape * odds)

    def loss(point: Floats) -> float:
        shape, odds, people = parts(point)
        none = (1 - q) * math.exp(-shape * math.log1p(q * odds))
        log_p = np.logaddexp(
            math.log1p(-q) + _log_negative_binomial(size, shape, q * odds),
            math.log(q) + _log_negative_binomial(size - 1, shape, q * odds),
        )
        fitted = float(number @ log_p) + classes * math.log(people) - people * (1 - none)
        return float(-fitted / classes)

    starts = [(0.0, 0.0), (-2.0, -3.0), (-1.0, 2.0), (1.0, -3.0)]
    fit = _fit(loss, starts)
    if fit is None:
        return None
    shape, odds, people = parts(fit)
    return Fit(float(min(people * math.exp(-shape * math.log1p(odds)), population)), fit)


def _fit(loss: Callable[[Floats], float], starts: Sequence[tuple[float, float]]) -> Floats | None:
    """The minimum of a loss in two unbounded parameters; None if it runs off to infinity."""
    with np.errstate(all="ignore"):
        lowest = [_lowest(_finite(loss), np.array(start)) for start in starts]
    least, best = min(lowest, key=lambda fit: fit[0])
    return best if least < 1e300 and np.abs(best).max() < 40 else None


def _lowest(loss: Callable[[Floats], float], point: Floats) -> tuple[float, Floats]:
    """Newton's method with differences for derivatives, damped as by Levenberg and Marquardt."""
    least, damping = loss(point), 1e-3
    for _ in range(_MAX_STEPS):
        gradient, hessian = _derivatives(loss, point, least)
        if not np.isfinite(hessian).all():
            break
        while True:
            values, vectors = np.linalg.eigh(hessian)
            curved = np.maximum(np.abs(values), 1e-9) + damping
            step = -vectors @ ((vectors.T @ gradient) / curved)
            step *= min(1.0, _MAX_STEP_LENGTH / float(np.linalg.norm(step) + 1e-300))
            stepped = loss(point + step)
            if stepped <= least or damping > 1e6:
                break
            damping *= 8
        gained = least - stepped
        if gained <= 0:
            break
        least, point, damping = stepped, point + step, damping / 10
        if gained < _CONVERGED_GAIN:
            break
    return least, point


def _derivatives(loss: Callable[[Floats], float], point: Floats, here: float) -> tuple[Floats, Floats]:
    """Gradient and Hessian of a function of two variables, by central differences."""
    h = _DERIVATIVE_STEP
    across, up = np.array([h, 0.0]), np.array([0.0, h])
    east, west = loss(point + across), loss(point - across)
    north, south = loss(point + up), loss(point - up)
    mixed = loss(point + across + up) - loss(point + across - up)
    mixed += loss(point - across - up) - loss(point - across + up)
    gradient = np.array([east - west, north - south]) / (2 * h)
    corner = mixed / (4 * h * h)
    hessian = [[(east - 2 * here + west) / h**2, corner], [corner, (north - 2 * here + south) / h**2]]
    return gradient, np.array(hessian)


def _finite(loss: Callable[[Floats], float]) -> Callable[[Floats], float]:
    def guarded(point: Floats) -> float:
        if np.abs(point).max() > 60:
            return 1e300
        value = loss(point)
        return value if math.isfinite(value) else 1e300

    return guarded


def _log_gamma_ratio(z: float, more: float) -> float:
    """The logarithm of gamma(z + more) / gamma(z), also where both are too large to be subtracted.

    Far from zero by Stirling's series, whose large terms are taken together before they round.
    """
    far = z + more
    if min(z, far) < _STIRLING_FROM:
        return math.lgamma(far) - math.lgamma(z)
    series = more * (math.log(z) - 1) + (far - 0.5) * math.log1p(more / z)
    return series + (1 / far - 1 / z) / 12


def _log_negative_binomial(count: Ints, shape: float, odds: float) -> Floats:
    """The logarithm of P[NB = count], by the odds of failure; minus infinity below zero."""
    k = np.maximum(count, 0)
    value = special.gammaln(k + shape) - special.gammaln(shape) - special.gammaln(k + 1)
    value = value - (shape + k) * math.log1p(odds) + k * math.log(odds)
    return np.where(count < 0, -np.inf, value)
