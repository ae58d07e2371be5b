"""Shares of successes and their differences, with intervals that are right near 0 and 1 too."""

from __future__ import annotations

import math
from statistics import NormalDist

from crypsis.errors import ParameterError
from crypsis.results import Estimate


def share_of(successes: int, total: int, confidence: float = 0.95) -> Estimate:
    """A share with its interval (Wilson 1927).

    >>> print(share_of(0, 100))
    0 (95 % CI 0 to 0.03699)
    """
    if not 0 <= successes <= total or not total:
        raise ParameterError("A share needs at least one trial, and no more successes than trials.")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = share * (1 - share) / total + z * z / (4 * total * total)
    half = z * math.sqrt(spread) / (1 + z * z / total)
    low = 0.0 if successes == 0 else min(middle - half, share)
    high = 1.0 if successes == total else max(middle + half, share)
    return Estimate(share, max(0.0, low), min(1.0, high), confidence, "Wilson interval")


def difference_of(estimate: Estimate, two: Estimate) -> Estimate:
    """The difference of two independent shares from their intervals (Newcombe 1998, method 10).

    >>> found = difference_of(share_of(56, 70), share_of(48, 80))
    >>> print(found)
    0.2 (95 % CI 0.05243 to 0.3339)
    """
    value = estimate.value - two.value
    below = math.hypot(estimate.value - estimate.low, two.high - two.value)
    above = math.hypot(estimate.high - estimate.value, two.value - two.low)
    return Estimate(
        value,
        max(-1.0, value - below),
        min(1.0, value + above),
        min(estimate.confidence, two.confidence),
        "Newcombe interval",
    )
