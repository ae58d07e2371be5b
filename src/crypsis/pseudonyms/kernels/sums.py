"""What a permanent kernel returns, and the compensated sum they all end in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-53  # half the distance from 1 to the next double: the error of one rounding


class Permanent(NamedTuple):
    """The permanent, the sum of its terms' absolute values (their ratio: cancellation), a bound.

    `error` bounds the distance to the exact permanent that rounding can have caused.
    """

    permanent: float
    absolute: float
    error: float


class Minors(NamedTuple):
    """The permanent, the permanents of all minors, the absolute sum and the bound as above."""

    permanent: float
    minors: NDArray[np.float64]
    absolute: float
    error: float


def compensated(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over the first axis, by halves, with what each addition loses added at the end.

    Knuth's two-sum at every step: the error is a few units of the result plus a term of second
    order, whatever cancels.

    >>> compensated(np.array([1.0, 1e100, 1.0, -1e100]))
    array(2.)
    """
    lost = np.zeros(terms.shape[1:])
    while len(terms) > 1:
        half = len(terms) // 2
        left, right = terms[:half], terms[half : 2 * half]
        sums = left + right
        part = sums - left
        lost = lost + ((left - (sums - part)) + (right - part)).sum(axis=0)
        terms = np.concatenate([sums, terms[2 * half :]])
    return np.asarray(terms.sum(axis=0) + lost)
