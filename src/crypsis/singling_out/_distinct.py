"""How many distinct values a population has when a sample of it shows some: arrays in, arrays out.

Throughout, d is the number of distinct values in a sample of n rows, f1 of them seen once and f2
seen twice; N is the size of the population. All functions work element by element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crypsis.array_types import Floats
from crypsis.scientific import special


@dataclass(frozen=True)
class Interval:
    """Estimates with the lower and upper ends of their intervals."""

    value: Floats
    low: Floats
    high: Floats


def chao(
    distinct: ArrayLike, once: ArrayLike, twice: ArrayLike, rows: ArrayLike, confidence: float = 0.95
) -> Interval:
    """The number of values that can occur at all (Chao 1984), with a log-normal interval.

    d + (n-1)/n f1^2/(2 f2), and the bias-corrected form where f2 = 0. It is a lower bound in
    expectation: values so rare that neither f1 nor f2 shows them stay invisible.
    """
    d, f1, f2, n = _floats(distinct, once, twice, rows)
    a = (n - 1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = f1 / f2
        unseen = a * np.where(f2 > 0, f1 * ratio / 2, f1 * (f1 - 1) / 2)
        spread = f2 * (a / 2 * ratio**2 + a**2 * ratio**3 + a**2 / 4 * ratio**4)
        corrected = a * f1 * (f1 - 1) / 2 + a**2 * f1 * (2 * f1 - 1) ** 2 / 4
        corrected -= a**2 * f1**4 / (4 * np.maximum(d + unseen, 1))
    return _log_normal(d, unseen, np.where(f2 > 0, spread, corrected), confidence)


def chao_in_population(
    distinct: ArrayLike,
    once: ArrayLike,
    twice: ArrayLike,
    rows: ArrayLike,
    population: float,
    confidence: float = 0.95,
) -> Interval:
    """The number of values in a population of known size, drawn from without replacement.

    Chao & Lin 2012: d + f1^2 / (2 n/(n-1) f2 + q/(1-q) f1) with q = n/N, and their variance. Like
    `chao` it is a lower bound in expectation; it is exact where the sample is the population.
    """
    d, f1, f2, n = _floats(distinct, once, twice, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        w, r = n / (n - 1), n / (population - n)
        estimable = (f1 > 0) & (n > 1) & (n < population)
        unseen = np.where(estimable, f1**2 / (2 * w * f2 + r * f1), 0.0)
        by_once = (2 * w * f2 * unseen**2 + f1**2 * unseen) ** 2 / f1**5
        by_twice = 4 * w**2 * f2 * (unseen / f1) ** 4
    return _log_normal(d, unseen, unseen + by_once + by_twice, confidence)


def haas_stokes(
    distinct: ArrayLike, once: ArrayLike, squares: ArrayLike, rows: ArrayLike, population: float
) -> Floats:
    """The second-order jackknife of Haas & Stokes 1998 (their D_uj2), at most N.

    `squares`, the sum of squared class sizes of the sample, measures how uneven the classes are.
    """
    d, f1, s2, n = _floats(distinct, once, squares, rows)
    q = np.minimum(n / population, 1 - 1e-15)  # at q = 1 what is left of the sums is d
    seen = 1 - (1 - q) * f1 / n
    first = d / seen
    uneven = first / n**2 * (s2 - n) + first / population - 1
    second = (d - f1 * (1 - q) * np.log1p(-q) / q * np.maximum(uneven, 0)) / seen
    return np.asarray(np.where(n < population, np.clip(second, d, population), d))


def unseen_fraction(once: ArrayLike, twice: ArrayLike, rows: ArrayLike, confidence: float = 0.95) -> Floats:
    """The upper end for the share of people whose value the sample does not show.

    Good 1953 estimates it by f1/n; the interval is Esty's (1983).
    """
    f1, f2, n = _floats(once, twice, rows)
    spread = np.sqrt(np.maximum(f1 + 2 * f2 - f1**2 / n, 0))
    return np.asarray(np.minimum((f1 + _normal(confidence) * spread) / n, 1.0))


def distinct_in_population(
    distinct: ArrayLike,
    once: ArrayLike,
    twice: ArrayLike,
    squares: ArrayLike,
    rows: ArrayLike,
    population: float,
    confidence: float = 0.95,
) -> Interval:
    """Haas and Stokes' estimate between a lower end by Chao and an upper end that is safe.

    Chao's estimator bounds from below, so its own upper end may lie far under the truth when many
    values are rare. The upper end here takes every person outside the sample whose value the sample
    does not show as one more distinct value; their share comes from `unseen_fraction`.
    """
    d, f1, f2, s2, n = _floats(distinct, once, twice, squares, rows)
    high = d + np.maximum(population - n, 0) * unseen_fraction(f1, f2, n, confidence)
    low = np.minimum(chao_in_population(d, f1, f2, n, population, confidence).low, high)
    value = np.clip(haas_stokes(d, f1, s2, n, population), low, high)
    return Interval(value, low, high)


def _floats(*values: ArrayLike) -> tuple[Floats, ...]:
    return tuple(np.asarray(value, np.float64) for value in values)


def _normal(confidence: float) -> float:
    return float(special.ndtri((1 + confidence) / 2))


def _log_normal(d: Floats, unseen: Floats, variance: Floats, confidence: float) -> Interval:
    """Chao 1987: the unseen part is log-normal, so that the interval never falls below d."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.exp(_normal(confidence) * np.sqrt(np.log1p(variance / unseen**2)))
        low = np.where(unseen > 0, d + unseen / factor, d)
        high = np.where(unseen > 0, d + unseen * factor, d)
    return Interval(d + unseen, low, high)
