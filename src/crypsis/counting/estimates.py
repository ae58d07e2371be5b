"""Totals over all equivalence classes from a sample of them, and means over their rows.

Whether a class is in the sample depends on a hash of its values, and the size of each sampled class
is exact. Totals are sums over the sampled classes, divided by their chance to be sampled (Horvitz
and Thompson 1952). SciPy is loaded by the first interval: most answers need none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.errors import ParameterError
from crypsis.results import Estimate, Number
from crypsis.scientific import special

CONFIDENCE = 0.95
"""Of the intervals unless the caller states it."""


@dataclass(frozen=True)
class SampledClassSizes:
    """The sizes of some equivalence classes, each of them counted in full.

    A class is in the sample if a hash of its values falls below a threshold, so every class has
    the same chance `share` whatever its size.
    """

    share: float
    sizes: NDArray[np.int64]
    """The sizes that occur among the sampled classes, in ascending order ..."""
    classes: NDArray[np.int64]
    """... and how many sampled classes have each."""
    missing: int | None = None
    """Rows dropped because a value is missing; None where they were not counted."""

    @property
    def seen(self) -> int:
        """The number of sampled classes."""
        return int(self.classes.sum())


@dataclass(frozen=True)
class DistinctSketch:
    """The approximate number of combinations of some columns, from one pass (HyperLogLog)."""

    rows: int
    missing: int
    """Rows with a missing value in at least one of the columns."""
    distinct: float
    """Combinations without a missing value."""
    error: float
    """The relative standard error of `distinct`."""


def scaled_total(
    weights: ArrayLike,
    counts: ArrayLike,
    share: float,
    *,
    largest: float,
    confidence: float = CONFIDENCE,
    method: str = "",
) -> Estimate:
    """The sum of weights over all classes from `counts` sampled classes of each weight.

    The interval is that of Fay and Feuer (1997) for weighted sums of rare events, with the variance
    of a sample by chance `share` in place of Poisson's; it covers for few classes, too, and for
    none its upper end follows from `largest`, the largest weight of a class not sampled.

    >>> str(scaled_total([1], [100], 0.01, largest=1))
    '1e+04 (95 % CI 8145 to 1.215e+04)'
    """
    if not 0 < share <= 1 or not 0 < confidence < 1:
        raise ParameterError("The share must be above 0 and at most 1, the confidence between 0 and 1.")
    weight, count = np.asarray(weights, np.float64), np.asarray(counts, np.float64)
    value = float(weight @ count) / share
    if share == 1:
        return Estimate(value, value, value, confidence, method or "counted in full")

    tail = (1 - confidence) / 2
    spread = (1 - share) * float((weight / share) ** 2 @ count)
    step = largest / share
    low = 0.0
    if value > 0:
        low = float(spread / value * special.gammaincinv(value**2 / spread, tail))
    above, over = value + step, spread + (1 - share) * step**2
    high = float(over / above * special.gammaincinv(above**2 / over, 1 - tail))
    return Estimate(value, min(low, value), max(high, value), confidence, method or _method(share))


def class_total(sample: SampledClassSizes, *, confidence: float = CONFIDENCE) -> Number:
    """The number of classes."""
    return _total(sample, np.ones(sample.sizes.size), 1.0, confidence)


def singleton_total(sample: SampledClassSizes, *, confidence: float = CONFIDENCE) -> Number:
    """The number of classes of one row."""
    return _total(sample, sample.sizes == 1, 1.0, confidence)


def rows_in_small_classes(sample: SampledClassSizes, size: int, *, confidence: float = CONFIDENCE) -> Number:
    """The number of rows in classes smaller than `size`."""
    small = np.where(sample.sizes < size, sample.sizes, 0)
    return _total(sample, small, float(max(size - 1, 1)), confidence)


def _total(sample: SampledClassSizes, weights: ArrayLike, largest: float, confidence: float) -> Number:
    if sample.share == 1:
        return int(np.asarray(weights, np.int64) @ sample.classes)
    return scaled_total(weights, sample.classes, sample.share, largest=largest, confidence=confidence)


def row_mean(
    totals: NDArray[np.float64],
    sizes: NDArray[np.int64],
    share: float,
    rows: int,
    *,
    certain: tuple[float, int] = (0.0, 0),
    limits: tuple[float, float],
    confidence: float = CONFIDENCE,
    method: str = "",
) -> Estimate:
    """The mean over all `rows` from class totals, sampled with chance `share`.

    `totals` are the sums over the rows of each sampled class, `sizes` their rows; `certain` is the
    sum and the rows of the classes that were all counted. The number of other rows is known, so
    their sum is estimated by the ratio of totals to sizes. Its variance is that of the residuals
    (Cochran 1977, section 6.4) and of one class more at the end of `limits`, the range of a class
    mean, so that equal classes do not give an interval of width 0. Student's t has the degrees of
    freedom of Satterthwaite (1946).

    >>> right, sizes = np.tile([2.0, 1.0, 1.0], 40), np.tile([2, 2, 1], 40)
    >>> str(row_mean(right, sizes, 0.5, 400, limits=(0, 1)))
    '0.8 (95 % CI 0.765 to 0.8334)'
    """
    sure_total, sure_rows = certain
    left = rows - sure_rows
    if share == 1 or not sizes.size or not left:
        value = (sure_total + float(totals.sum())) / rows
        complete = share == 1 or not left
        low, high = (value, value) if complete else _unseen(sure_total, left, rows, limits)
        value = min(max(value, low), high)
        return Estimate(value, low, high, confidence, method or _method(share))
    seen = float(sizes.sum())
    ratio = float(totals.sum()) / seen

    residual = totals - ratio * sizes
    typical = float((sizes.astype(np.float64) ** 2).sum()) / seen
    value = (sure_total + left * ratio) / rows
    ends = []
    for limit in limits:
        square = np.append(residual, typical * (limit - ratio)) ** 2
        spread = left / seen * math.sqrt((1 - share) * float(square.sum())) / rows
        worth = float(square.sum()) ** 2 / max(float((square**2).sum()), np.finfo(float).tiny)
        ends.append(float(special.stdtrit(max(worth, 1.0), (1 + confidence) / 2)) * spread)
    low, high = _unseen(sure_total, left, rows, limits)
    return Estimate(
        min(max(value, low), high),
        min(max(value - ends[0], low), high),
        min(max(value + ends[1], low), high),
        confidence,
        method or _method(share),
    )


def _unseen(sure_total: float, left: int, rows: int, limits: tuple[float, float]) -> tuple[float, float]:
    """The range of the mean over all possible values of the classes not sampled."""
    low, high = ((sure_total + left * limit) / rows for limit in limits)
    return low, high


def _method(share: float) -> str:
    return f"hash sample, {share:.3g} of the combinations seen in full"


def mapped(number: Number, rule: Callable[[float], float]) -> Number:
    """A monotone function of a number; an estimate keeps its interval."""
    return number.map(rule) if isinstance(number, Estimate) else rule(number)


def fraction_of(number: Number, total: float, at_most: float = 1.0) -> Number:
    """A number divided by a known total, at most `at_most`; an estimate keeps its interval."""
    if not total:
        return 0.0
    return mapped(number, lambda x: min(at_most, x / total))


def share_estimate(right: int, draws: int, method: str, *, confidence: float = CONFIDENCE) -> Estimate:
    """The share of successes in so many draws, with the interval of Clopper and Pearson (1934).

    >>> str(share_estimate(0, 1000, "draws"))
    '0 (95 % CI 0 to 0.003682)'
    """
    tail = (1 - confidence) / 2
    low = 0.0 if right == 0 else float(special.betaincinv(right, draws - right + 1, tail))
    high = 1.0 if right == draws else float(special.betaincinv(right + 1, draws - right, 1 - tail))
    return Estimate(right / draws, low, high, confidence, f"{draws:,} {method}")


def mean_estimate(mean: float, draws: int, method: str, *, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of numbers from 0 to 1 over so many draws, with the interval of Hoeffding (1963).

    >>> str(mean_estimate(0.5, 1000, "draws"))
    '0.5 (95 % CI 0.4571 to 0.5429)'
    """
    half = math.sqrt(math.log(2 / (1 - confidence)) / (2 * draws))
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), confidence, f"{draws:,} {method}")
