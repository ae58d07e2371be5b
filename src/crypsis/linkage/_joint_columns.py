"""Originals, controls and masked records as points: the columns of the joint test.

Nothing here depends on who is an original and who a control, which keeps the permutation test exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.linkage._ranks import Floats, Ints
from crypsis.scientific import special, stats

MAX_SUBSETS = 127
"""The subsets of up to seven columns are all tested; of more columns only some, in seconds."""
FAR_DISTANCE = 100.0
"""Between two categories, and from a missing value: normal scores differ by less than 10."""
_KS_SLACK = 0.05
"""How far two distributions may be apart, beyond chance, to be of one scale."""
_KS_LEVEL = 1.63
"""The quantile of Kolmogorov's distribution at 0.99."""
_REGULAR_RATIO = 0.7
"""Gaps between values that vary less than this, relative to those of people, are those of ranks."""
_CONTINUOUS_SHARE = 0.5
"""The share of distinct values from which gaps between neighbors are compared."""


class JointColumns(NamedTuple):
    """People (originals first) and masked records as points, and as codes of equal values."""

    people: Floats
    masked: Floats
    people_codes: Ints
    masked_codes: Ints
    nominal: NDArray[np.bool_]
    same_scale: NDArray[np.bool_]
    """Whether values of the two files are compared, or their ranks in each file."""


def joint_columns(people: Floats, masked: Floats, nominal: Sequence[bool]) -> JointColumns:
    """Points and codes of records by columns; NaN is a missing value, categories are codes."""
    points = np.empty(people.shape), np.empty(masked.shape)
    codes = np.empty(people.shape, np.int64), np.empty(masked.shape, np.int64)
    scale = np.ones(people.shape[1], bool)
    for j, categories in enumerate(nominal):
        x, y = people[:, j], masked[:, j]
        both = np.unique(np.concatenate([x, y]), return_inverse=True)[1]
        codes[0][:, j], codes[1][:, j] = both[: len(x)], both[len(x) :]
        if categories:
            points[0][:, j], points[1][:, j] = FAR_DISTANCE * codes[0][:, j], FAR_DISTANCE * codes[1][:, j]
            continue
        has_x, has_y = ~np.isnan(x), ~np.isnan(y)
        points[0][~has_x, j] = points[1][~has_y, j] = FAR_DISTANCE
        scale[j] = _same_scale(x[has_x], y[has_y])
        points[0][has_x, j] = normal_scores(x[has_x])
        points[1][has_y, j] = _on_scale_of(x[has_x], y[has_y]) if scale[j] else normal_scores(y[has_y])
    return JointColumns(*points, *codes, np.array(nominal, bool), scale)


def normal_scores(values: Floats) -> Floats:
    """Each column by its ranks, as quantiles of a normal distribution."""
    return np.asarray(special.ndtri((stats.rankdata(values, axis=0) - 0.5) / len(values)))


def _on_scale_of(people: Floats, values: Floats) -> Floats:
    """The normal scores of values among those of people: equal values have equal scores."""
    distinct, counts = np.unique(people, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    ranks = np.interp(values, distinct, middle)
    return np.asarray(special.ndtri((ranks - 0.5) / len(people)))


def _same_scale(people: Floats, masked: Floats) -> bool:
    """Whether masked values are distributed as those of people, and not spaced like ranks."""
    if not len(people) or not len(masked):
        return False
    slack = _KS_SLACK + _KS_LEVEL * np.sqrt(1 / len(people) + 1 / len(masked))
    if float(stats.ks_2samp(people, masked, method="asymp").statistic) > slack:
        return False
    return _roughness(masked) >= _REGULAR_RATIO * _roughness(people)


def _roughness(values: Floats) -> float:
    """How much the gaps between neighboring values vary, in logarithms; 0 for ranks."""
    gaps = np.diff(np.unique(values))
    return float(np.diff(np.log(gaps)).std()) if len(gaps) > 2 else 0.0


def is_continuous(values: Floats) -> bool:
    """Whether most values are different and none is missing."""
    return not np.isnan(values).any() and len(np.unique(values)) >= _CONTINUOUS_SHARE * len(values)


def gap_changes(ordered: Floats) -> Floats:
    """How the gaps between sorted values change, in logarithms: the same after a smooth transform."""
    gaps = np.diff(ordered)
    least = gaps[gaps > 0].min(initial=np.inf)
    return np.diff(np.log(np.maximum(gaps, least if np.isfinite(least) else 1.0)))


def subsets(columns: int) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """The subsets of columns that are tested, the smallest first, and whether these are all.

    Of many columns: each one, each two, all but one, and all, as far as these are not too many.
    """
    positions = range(columns)
    if 2**columns - 1 <= MAX_SUBSETS:
        sizes: Iterator[int] = iter(range(1, columns + 1))
        return tuple(combination for size in sizes for combination in combinations(positions, size)), True
    chosen = [*combinations(positions, 1), tuple(positions), *combinations(positions, columns - 1)]
    chosen += list(combinations(positions, 2))[: max(0, MAX_SUBSETS - len(chosen))]
    return tuple(sorted(chosen, key=len)), False


def equal_values(columns: JointColumns, subset: Sequence[int]) -> tuple[Ints, Ints, Ints]:
    """For each person: which combination of values, how many people have it, and masked records."""
    people, masked = columns.people_codes[:, subset], columns.masked_codes[:, subset]
    key = np.zeros(len(people) + len(masked), np.int64)
    for column in np.vstack([people, masked]).T:
        key = np.unique(key * (int(column.max()) + 1) + column, return_inverse=True)[1]
    mine, theirs = key[: len(people)], key[len(people) :]
    size = int(key.max()) + 1
    return mine, np.bincount(mine, minlength=size)[mine], np.bincount(theirs, minlength=size)[mine]
