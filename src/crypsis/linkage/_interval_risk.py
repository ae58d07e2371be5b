"""Interval disclosure: is the original near the masked value?"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.errors import ParameterError
from crypsis.results import Result


class IntervalRisk(Result):
    """The share of records whose original values lie in intervals around the masked ones."""

    records: int
    width: float
    share: float
    """The share of records of which all values lie in their intervals."""
    by_column: tuple[float, ...]
    """The same of each column alone."""


def interval_risk(original: Any, masked: Any, *, width: float = 0.05) -> IntervalRisk:
    """Measure interval disclosure: how often the original is within an interval of the masked value.

    Parameters
    ----------
    original, masked : array_like
        A numeric table or column before and after, row by row; NaN is missing.
    width : float
        Half the length of the interval, in standard deviations of the masked column.

    Returns
    -------
    IntervalRisk
        The share of records with all values in their intervals, and that of each column.

    Notes
    -----
    A value that is missing in either file is not compared; a record without any value to compare is
    not counted. It is the measure `dRisk` of sdcMicro. An intruder does not know which masked record
    is whose: `compare` measures whether they can find out.

    References
    ----------
    Mateo-Sanz, Sebe & Domingo-Ferrer (2004), Outlier protection in continuous microdata masking.

    Examples
    --------
    >>> interval_risk([[1.0, 5.0], [2.0, 9.0]], [[1.1, 5.0], [2.0, 5.0]], width=0.5).share
    0.5
    """
    if not width > 0:
        raise ParameterError(f"Parameter 'width' must be above 0; {width} was given.", parameter="width")
    before, after = np.asarray(original, float), np.asarray(masked, float)
    if before.shape != after.shape or before.ndim not in (1, 2) or not before.size:
        raise ParameterError("The two tables must have the same rows and columns.")
    before, after = (x.reshape(x.shape[0], -1) for x in (before, after))
    both_present = ~np.isnan(before) & ~np.isnan(after)
    spread = np.array(
        [
            column[~np.isnan(column)].std(ddof=1) if (~np.isnan(column)).sum() > 1 else 0.0
            for column in after.T
        ]
    )
    with np.errstate(invalid="ignore"):
        within = np.abs(before - after) <= width * spread
    counted = both_present.any(axis=1)
    all_within = (within | ~both_present).all(axis=1)[counted]
    columns = tuple(
        float(within[both_present[:, c], c].mean()) if both_present[:, c].any() else 0.0
        for c in range(after.shape[1])
    )
    share = float(all_within.mean()) if all_within.size else 0.0
    return IntervalRisk(int(counted.sum()), width, share, columns)
