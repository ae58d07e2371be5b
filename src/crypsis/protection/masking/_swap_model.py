"""Where rank swapping moves a value: the probabilities that an intruder knows who knows the mask.

Ranks are taken from the lowest on; a rank that is still free is swapped with a free one at most
`reach` above it, each equally likely. How many are free is random. Taken at its mean, rank j is free
at the turn of i with probability exp(B[i] - B[s]), where s is the first rank that could take j and B
sums the logarithms of the chances to be left. For a reach of more than a few ranks this is exact to
a few per cent, because the number of free ranks is then near its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis.array_types import Floats, Ints

_MAX_RATE = 1 - 1e-12
"""The highest rate at which a rank takes another: that of exactly 1 has no logarithm of what remains."""


@dataclass(frozen=True, eq=False)
class SwapModel:
    """The probability of each swap among `count` ranks that reaches at most `reach` ranks.

    >>> model = SwapModel(100, 10)
    >>> float(np.sum(model.to_ranks(np.full(100, 50), np.arange(100), np.arange(1, 101))).round(6))
    1.0
    """

    count: int
    reach: int

    @cached_property
    def _fitted(self) -> tuple[Floats, Floats]:
        """The logarithm of the rate at which each rank takes another, and B."""
        n, reach = self.count, self.reach
        left = np.zeros(n + 1)
        rate = np.zeros(n)
        window = float(min(reach, n - 1))  # sum of exp(-(B[s(j)] - B[i])) over the ranks it reaches
        for i in range(n):
            free = np.exp(left[i] - left[max(0, i - reach)])
            rate[i] = min(_MAX_RATE, free / max(window, 1.0)) if window > 0 else 0.0
            left[i + 1] = left[i] + np.log1p(-rate[i])
            # rank i + 1 leaves the window, rank i + 1 + reach comes in
            kept = window - (np.exp(left[i] - left[max(0, i + 1 - reach)]) if i + 1 < n else 0.0)
            window = max(0.0, kept) * (1 - rate[i])
            if i + 1 + reach < n:
                window += 1.0
        with np.errstate(divide="ignore"):
            return np.log(rate), left

    @cached_property
    def _taken(self) -> Floats:
        """Log prefix sums of exp(-B[s(j)]): what the ranks below j can take of it."""
        start = self._fitted[1][np.maximum(0, np.arange(self.count) - self.reach)]
        return np.concatenate([[-np.inf], np.logaddexp.accumulate(-start)])

    @cached_property
    def _taking(self) -> Floats:
        """Log suffix sums of rate(j) exp(B[j]): what the ranks from j on take."""
        rate, left = self._fitted
        sums = np.logaddexp.accumulate((rate + left[:-1])[::-1])[::-1]
        return np.concatenate([sums, [-np.inf]])

    @cached_property
    def stays(self) -> Floats:
        """The probability that each rank is not swapped."""
        ranks = np.arange(self.count)
        moved = self._moved(ranks, np.zeros(self.count, np.int64), np.full(self.count, self.count))
        return np.asarray(np.clip(1 - moved, 0.0, 1.0))

    def to_ranks(self, rank: Ints, low: Ints, high: Ints) -> Floats:
        """The probability that each rank gets the value of one from `low` to before `high`."""
        unmoved = np.where((low <= rank) & (rank < high), self.stays[rank], 0.0)
        return np.asarray(self._moved(rank, low, high) + unmoved)

    def _moved(self, rank: Ints, low: Ints, high: Ints) -> Floats:
        rate, left = self._fitted
        upper = np.minimum(high, rank + self.reach + 1)
        lower = np.minimum(np.maximum(low, rank + 1), upper)
        up = _difference(self._taken[upper], self._taken[lower], (rate + left[:-1])[rank])
        last = np.minimum(high, rank)
        first = np.minimum(np.maximum(low, rank - self.reach), last)
        start = left[np.maximum(0, rank - self.reach)]
        down = _difference(self._taking[np.maximum(first, 0)], self._taking[last], -start)
        return np.asarray(up + down)


def _difference(larger: Floats, smaller: Floats, factor: Floats) -> Floats:
    """The difference of two numbers times a factor, all given by their logarithms."""
    is_larger = larger > smaller
    gap = np.where(is_larger, np.subtract(smaller, larger, where=is_larger, out=np.zeros_like(larger)), 0.0)
    with np.errstate(over="ignore"):
        return np.where(is_larger, np.exp(np.where(is_larger, larger + factor, 0.0)) * -np.expm1(gap), 0.0)
