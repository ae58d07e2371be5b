"""Totals over all groups from some of them, each seen with the same known chance.

The groups come from `crypsis.engine.large.sampled_sizes`: whether one is seen depends on a hash of
its values, and the size of each one seen is exact. Totals are then sums over the groups seen,
divided by the chance (Horvitz and Thompson 1952). SciPy is loaded by the first interval: most
answers need none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.engine.base import Sketch
from crypsis.engine.large import SampledSizes
from crypsis.errors import ParameterError
from crypsis.results import Estimate, Number

CONFIDENCE = 0.95


def scaled_total(
    weights: ArrayLike,
    counts: ArrayLike,
    share: float,
    *,
    largest: float,
    confidence: float = CONFIDENCE,
    method: str = "",
) -> Estimate:
    """The sum of weights over all groups from `counts` groups seen of each weight.

    The interval is that of Fay and Feuer (1997) for weighted sums of rare events, with the variance
    of a sample by chance `share` in place of Poisson's; it holds for few groups, too, and at none
    its upper end is what `largest`, the weight a group unseen may have, leaves possible.

    >>> str(scaled_total([1], [100], 0.01, largest=1))
    '1e+04 (8145 to 1.215e+04 at 95 %)'
    """
    if not 0 < share <= 1 or not 0 < confidence < 1:
        raise ParameterError("A share lies above 0 and at most at 1, a confidence between.")
    weight, count = np.asarray(weights, np.float64), np.asarray(counts, np.float64)
    value = float(weight @ count) / share
    if share == 1:
        return Estimate(value, value, value, confidence, method or "counted in full")
    from scipy.special import gammaincinv

    tail = (1 - confidence) / 2
    spread = (1 - share) * float((weight / share) ** 2 @ count)
    step = largest / share
    low = 0.0
    if value > 0:
        low = float(spread / value * gammaincinv(value**2 / spread, tail))
    above, over = value + step, spread + (1 - share) * step**2
    high = float(over / above * gammaincinv(above**2 / over, 1 - tail))
    return Estimate(value, min(low, value), max(high, value), confidence, method or _told(share))


def group_total(sample: SampledSizes, *, confidence: float = CONFIDENCE) -> Number:
    """How many groups there are."""
    return _whole(sample, np.ones(sample.sizes.size), 1.0, confidence)


def singleton_total(sample: SampledSizes, *, confidence: float = CONFIDENCE) -> Number:
    """How many groups are of one row."""
    return _whole(sample, sample.sizes == 1, 1.0, confidence)


def rows_in_small(sample: SampledSizes, size: int, *, confidence: float = CONFIDENCE) -> Number:
    """How many rows are in groups of fewer than `size` rows."""
    small = np.where(sample.sizes < size, sample.sizes, 0)
    return _whole(sample, small, float(max(size - 1, 1)), confidence)


def _whole(sample: SampledSizes, weights: ArrayLike, largest: float, confidence: float) -> Number:
    if sample.share == 1:
        return int(np.asarray(weights, np.int64) @ sample.groups)
    return scaled_total(
        weights, sample.groups, sample.share, largest=largest, confidence=confidence
    )


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
    """The mean over all `rows` of what groups add up to, from the groups seen with chance `share`.

    `totals` are the sums over the rows of each group seen and `sizes` their rows; `certain` is the
    sum and the rows of the groups that were all counted. The rest of the rows is known to be so
    many, so the sum there is estimated by the ratio of totals to sizes. Its variance is that of
    the residuals (Cochran 1977, section 6.4) and one group more that lies at the end of `limits`,
    between which a mean can be, so that groups all alike do not pose as certain; Student's t takes
    as many degrees of freedom as the residuals are worth (Satterthwaite 1946).

    >>> right, sizes = np.tile([2.0, 1.0, 1.0], 40), np.tile([2, 2, 1], 40)
    >>> str(row_mean(right, sizes, 0.5, 400, limits=(0, 1)))
    '0.8 (0.765 to 0.8334 at 95 %)'
    """
    sure_total, sure_rows = certain
    left = rows - sure_rows
    if share == 1 or not sizes.size or not left:
        value = (sure_total + float(totals.sum())) / rows
        whole = share == 1 or not left
        low, high = (value, value) if whole else _unseen(sure_total, left, rows, limits)
        value = min(max(value, low), high)
        return Estimate(value, low, high, confidence, method or _told(share))
    seen = float(sizes.sum())
    ratio = float(totals.sum()) / seen
    from scipy.special import stdtrit

    residual = totals - ratio * sizes
    typical = float((sizes.astype(np.float64) ** 2).sum()) / seen
    value = (sure_total + left * ratio) / rows
    ends = []
    for limit in limits:
        square = np.append(residual, typical * (limit - ratio)) ** 2
        spread = left / seen * math.sqrt((1 - share) * float(square.sum())) / rows
        worth = float(square.sum()) ** 2 / max(float((square**2).sum()), np.finfo(float).tiny)
        ends.append(float(stdtrit(max(worth, 1.0), (1 + confidence) / 2)) * spread)
    low, high = _unseen(sure_total, left, rows, limits)
    return Estimate(
        min(max(value, low), high),
        min(max(value - ends[0], low), high),
        min(max(value + ends[1], low), high),
        confidence,
        method or _told(share),
    )


def _unseen(
    sure_total: float, left: int, rows: int, limits: tuple[float, float]
) -> tuple[float, float]:
    """Where the mean lies whatever the groups that were not seen hold."""
    low, high = ((sure_total + left * limit) / rows for limit in limits)
    return low, high


def _told(share: float) -> str:
    return f"hash sample, {share:.3g} of the combinations seen in full"


def mapped(number: Number, rule: Callable[[float], float]) -> Number:
    """A monotone function of a number; an estimate keeps its interval."""
    if not isinstance(number, Estimate):
        return rule(number)
    low, high = sorted((rule(number.low), rule(number.high)))
    value = min(max(rule(number.value), low), high)
    return Estimate(value, low, high, number.confidence, number.method, number.assumes)


def sketched(sketch: Sketch, *, confidence: float = CONFIDENCE) -> Estimate:
    """The distinct count of a sketch with its interval (the error of HyperLogLog is normal).

    >>> str(sketched(Sketch(rows=9_000, missing=0, distinct=1000.0, error=0.01)))
    '1000 (980.4 to 1020 at 95 %)'
    """
    wide = NormalDist().inv_cdf((1 + confidence) / 2) * sketch.error
    most = float(sketch.rows - sketch.missing)
    value = min(sketch.distinct, most)
    low, high = value * (1 - wide), min(most, value * (1 + wide))
    return Estimate(value, low, max(high, value), confidence, "HyperLogLog")


def over(number: Number, whole: float, most: float = 1.0) -> Number:
    """A number divided by a known whole, at most `most`; an estimate keeps its interval."""
    if not isinstance(number, Estimate):
        return number / whole if whole else 0.0
    parts: Sequence[float] = [min(most, x / whole) for x in (number.value, number.low, number.high)]
    value, low, high = parts
    return Estimate(value, low, high, number.confidence, number.method, number.assumes)
