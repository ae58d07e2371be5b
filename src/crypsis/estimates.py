"""Totals over all groups from some of them, each seen with the same known chance.

The groups come from `crypsis.engine.large.sampled_sizes`: whether one is seen depends on a hash of
its values, and the size of each one seen is exact. Totals are then sums over the groups seen,
divided by the chance (Horvitz and Thompson 1952).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv, ndtri

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
    tail = (1 - confidence) / 2
    spread = (1 - share) * float((weight / share) ** 2 @ count)
    step = largest / share
    low = 0.0
    if value > 0:
        low = float(spread / value * gammaincinv(value**2 / spread, tail))
    above, over = value + step, spread + (1 - share) * step**2
    high = float(over / above * gammaincinv(above**2 / over, 1 - tail))
    told = method or f"hash sample, {share:.3g} of the combinations seen in full"
    return Estimate(value, min(low, value), max(high, value), confidence, told)


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


def sketched(sketch: Sketch, *, confidence: float = CONFIDENCE) -> Estimate:
    """The distinct count of a sketch with its interval (the error of HyperLogLog is normal).

    >>> str(sketched(Sketch(rows=9_000, missing=0, distinct=1000.0, error=0.01)))
    '1000 (980.4 to 1020 at 95 %)'
    """
    wide = float(ndtri((1 + confidence) / 2)) * sketch.error
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
