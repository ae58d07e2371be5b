"""The people whom the weights of a sample put behind its cells, where their risk is required."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crypsis.array_types import Floats
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.counting.match_probability import check_weights, match_probability
from crypsis.dataset import Dataset
from crypsis.protection._requirements import PrivacyRequirements

_BISECTION_STEPS = 200
"""After so many halvings of an interval its ends are equal as numbers of 64 bits."""


def matching_people(data: Dataset, names: Sequence[str]) -> Floats:
    """How many people of the population match each cell by the weights, in the order of the cells.

    A class matches the sum of its cells.
    """
    cells = Cells.from_table(data.rows.cells(list(names), weight=data.weight), list(names))
    check_weights(cells)
    _, member = group(cells.codes, cells.domains)
    return np.asarray(np.bincount(member, cells.weights), np.float64)


def fewest_matches(requirements: PrivacyRequirements) -> float:
    """How many people a class of k records must match, so that its risk is not above the limit.

    The risk is E[1/F | f], which falls with the sum of the weights and with the records, so what
    suffices for k records suffices for more; and if two classes meet it, their union does.

    >>> round(fewest_matches(PrivacyRequirements(k=3, journalist_risk=0.05, weighted=True)), 1)
    27.7
    """
    limit = requirements.journalist_risk or 1.0
    k = float(requirements.k or 1)
    if 1 / k <= limit:
        return 0.0
    low, high = k, 2 * k
    while _risk(k, high) > limit:
        low, high = high, 2 * high
    for _ in range(_BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _risk(k, middle) > limit else (low, middle)
    return high


def _risk(k: float, weight: float) -> float:
    return float(match_probability(np.array([k]), np.array([weight]))[0])
