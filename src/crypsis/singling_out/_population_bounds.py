"""The unique people of any population that fits the class sizes of a sample: arrays in, numbers out.

A class of j people shows i records in a simple random sample of the fraction q with the binomial
probability C(j,i) q^i (1-q)^(j-i). A population is a number x_j >= 0 of classes of each size j, and
the numbers f_i of sampled classes are Poisson counts with expectations linear in x. Their
likelihood is concave in x, so the populations that it does not exclude form a convex set: the
interval goes from the least to the largest number of unique people in it. No shape of the
population is assumed. In a stratified sample each stratum has its own fraction and its own classes;
the likelihoods multiply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.scientific import special

_MAX_COUNTED_SIZE = 12
"""Larger sampled classes say nothing about people who are alone."""
_LOG_LIKELIHOOD_DROP = math.log(20)
"""A population under which a count of zero has probability 0.05 is just not excluded."""
_MAX_SINGLE_SIZE = 12
"""Each size of a class of the population up to this has a place of its own."""
_SIZE_RATIO = 1.15
"""The ratio of the sizes that stand for larger classes: neighbors look alike."""
_WEIGHT_FACTOR = 25.0
"""By this factor the barrier weighs less in each round."""
_CONVERGED_GAIN = 1e-3
"""A step that would gain less ends Newton's method."""


@dataclass(frozen=True)
class UniquePeople:
    """The number of unique people: the likeliest, the least and the largest that fit."""

    likeliest: float
    least: float
    largest: float


@dataclass(frozen=True, eq=False)
class SampledClasses:
    """The classes of a simple random sample, or of strata that were sampled alike."""

    size: Ints
    number: Ints
    """How many classes have each of these sizes."""
    population: float

    @property
    def rows(self) -> float:
        """The records of the sample."""
        return float(self.size @ self.number)

    @property
    def once(self) -> float:
        """The records that are unique in the sample."""
        return float(self.number[self.size == 1].sum())


def unique_people(strata: Sequence[SampledClasses]) -> UniquePeople:
    """The numbers of unique people that fit the classes of a sample, drawn in strata or not.

    Two bounds need no statistics: each person outside the sample shares the class of at most one
    record that is unique in it, or is unique outside it.
    """
    counted = [stratum for stratum in strata if stratum.population > stratum.rows]
    known_uniques = sum(stratum.once for stratum in strata if stratum.population <= stratum.rows)
    if not counted:
        return UniquePeople(known_uniques, known_uniques, known_uniques)
    least = sum(max(0.0, stratum.once - (stratum.population - stratum.rows)) for stratum in counted)
    largest = sum(stratum.once + stratum.population - stratum.rows for stratum in counted)
    fraction = sum(stratum.rows for stratum in counted) / sum(stratum.population for stratum in counted)
    likeliest, low, high = _alone(counted, fraction)
    low, high = max(least, low / fraction), min(largest, high / fraction)
    estimates = (min(max(likeliest / fraction, low), high), min(low, high), high)
    return UniquePeople(*(known_uniques + estimate for estimate in estimates))


def _counts(sampled_classes: SampledClasses) -> Floats:
    counts = np.zeros(_MAX_COUNTED_SIZE)
    few = sampled_classes.size <= _MAX_COUNTED_SIZE
    counts[sampled_classes.size[few] - 1] = sampled_classes.number[few]
    return counts


def _shown(fraction: float) -> Floats:
    """Column j: how a class that shows few records divides among 1, 2, ... of them.

    The first column is a class of one person. Sizes grow geometrically once neighbors look alike.
    """
    sizes = [float(j) for j in range(1, _MAX_SINGLE_SIZE + 1)]
    largest = (_MAX_COUNTED_SIZE + 10 * math.sqrt(_MAX_COUNTED_SIZE) + 20) / fraction
    while sizes[-1] < largest:
        sizes.append(float(math.ceil(sizes[-1] * _SIZE_RATIO)))
    j, i = np.array(sizes), np.arange(1, _MAX_COUNTED_SIZE + 1)[:, None]
    log_p = special.gammaln(j + 1) - special.gammaln(i + 1) - special.gammaln(np.maximum(j - i, 0) + 1)
    log_p += i * math.log(fraction) + (j - i) * math.log1p(-fraction)
    shown = np.where(i <= j, np.exp(log_p), 0.0)
    total = shown.sum(axis=0)
    seen = total > 1e-9
    return np.asarray(shown[:, seen] / total[seen])


class _Likelihood:
    """Minus the log-likelihood of the counts, and its derivatives, for x classes of each column."""

    def __init__(self, counts: Floats, shown: Floats) -> None:
        self.counts, self.shown, self.some = counts, shown, counts > 0

    def loss(self, x: Floats) -> float:
        mean = self.shown @ x
        return float(mean.sum() - self.counts[self.some] @ np.log(mean[self.some]))

    def slope(self, x: Floats) -> tuple[Floats, Floats]:
        """The gradient, and R with few rows so that the Hessian is R'R."""
        mean = self.shown @ x
        roots = (np.sqrt(self.counts) / mean)[:, None] * self.shown
        return self.shown.T @ (1 - self.counts / mean), roots


def _alone(strata: Sequence[SampledClasses], fraction: float) -> tuple[float, float, float]:
    """The likeliest, least and largest expected number of sampled people who are alone.

    Those of a stratum count by its own fraction, so that the sum over `fraction` is that of people.
    """
    shown = [_shown(stratum.rows / stratum.population) for stratum in strata]
    columns = np.cumsum([0, *(block.shape[1] for block in shown)])
    blocks = np.zeros((_MAX_COUNTED_SIZE * len(shown), int(columns[-1])))
    price = np.zeros(int(columns[-1]))
    for h, (stratum, block) in enumerate(zip(strata, shown, strict=True)):
        blocks[_MAX_COUNTED_SIZE * h : _MAX_COUNTED_SIZE * (h + 1), columns[h] : columns[h + 1]] = block
        price[columns[h]] = fraction * stratum.population / stratum.rows
    likelihood = _Likelihood(np.concatenate([_counts(stratum) for stratum in strata]), blocks)
    x = _likeliest(likelihood)
    limit = likelihood.loss(x) + _LOG_LIKELIHOOD_DROP
    once = sum(float(stratum.once) * fraction * stratum.population / stratum.rows for stratum in strata)
    ends = (_end(likelihood, x, limit, sign * price, once) for sign in (-1.0, 1.0))
    return float(price @ x), *ends  # type: ignore[return-value]


def _likeliest(likelihood: _Likelihood) -> Floats:
    """Interior points: a barrier, weaker from turn to turn, keeps x above 0."""
    variables = likelihood.shown.shape[1]
    x, weight = np.full(variables, (likelihood.counts.sum() + 1) / variables), 0.01
    while True:

        def value(x: Floats, weight: float = weight) -> float:
            return weight * likelihood.loss(x) - float(np.log(x).sum())

        def slope(x: Floats, weight: float = weight) -> tuple[Floats, Floats]:
            gradient, roots = likelihood.slope(x)
            return weight * gradient - 1 / x, math.sqrt(weight) * roots

        x = _minimum(x, value, slope)
        if variables < 0.01 * weight:
            return x
        weight *= _WEIGHT_FACTOR


def _end(likelihood: _Likelihood, x: Floats, limit: float, price: Floats, once: float) -> float:
    """The largest `price @ x` whose loss is within the limit, or the least for prices below 0.

    The barrier holds the loss below the limit, too; the end moves outward by what it can still
    withhold, so that the interval is never too short.
    """
    variables, sign = len(x), 1.0 if price.max() > 0 else -1.0
    margin, weight = 0.01 * max(1.0, math.sqrt(once)), 1 / math.sqrt(once + 1)
    while True:

        def value(x: Floats, weight: float = weight) -> float:
            left = limit - likelihood.loss(x)
            if left <= 0:
                return math.inf
            return -weight * float(price @ x) - math.log(left) - float(np.log(x).sum())

        def slope(x: Floats, weight: float = weight) -> tuple[Floats, Floats]:
            left = limit - likelihood.loss(x)
            gradient, roots = likelihood.slope(x)
            down = gradient / left - 1 / x - weight * price
            return down, np.vstack([roots / math.sqrt(left), gradient / left])

        x = _minimum(x, value, slope)
        withheld = (variables + 1) / weight
        if withheld < margin:
            return max(0.0, sign * float(price @ x) + sign * withheld)
        weight *= _WEIGHT_FACTOR


def _minimum(
    x: Floats, value: Callable[[Floats], float], slope: Callable[[Floats], tuple[Floats, Floats]]
) -> Floats:
    """Newton's method for x > 0: the Hessian is diag(1/x^2) + R'R, with R of few rows."""
    now = value(x)
    for _ in range(50):
        gradient, roots = slope(x)
        scaled = roots * x
        inner = np.eye(len(roots)) + scaled @ scaled.T
        moved = x * gradient
        step = -x * (moved - scaled.T @ np.linalg.solve(inner, scaled @ moved))
        gain = -float(gradient @ step)
        if gain < _CONVERGED_GAIN:
            break
        shrink = float((step / x).min())
        length = 1.0 if shrink >= -0.95 else -0.95 / shrink
        while (then := value(x + length * step)) > now - 0.1 * length * gain and length > 1e-9:
            length /= 2
        if length <= 1e-9:
            break
        x, now = x + length * step, then
    return x
