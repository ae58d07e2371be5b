"""Histogram gradient boosting (Friedman 2001; Ke et al. 2017) of rows that stand for many records.

The algorithm, and with equal settings the predictions, are those of scikit-learn's
`HistGradientBoostingClassifier` and `HistGradientBoostingRegressor`; but records that are alike are
counted, not repeated, and the trees grow in one kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.threads import map_threads

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

_BINS = 255
_PART = 65_536
"""Rows that are worth a thread."""


@dataclass(frozen=True)
class BoostedTrees:
    """The settings of a model."""

    steps: int
    rate: float
    leaves: int = 31
    least: int = 20
    """The fewest records of a leaf."""
    penalty: float = 0.0

    def chances(self, given: Floats, categories: Truths, totals: Floats, asked: Floats) -> Floats:
        """The probability of each state in the rows asked.

        Row i of `given` stands for `totals[i, k]` records in state k; every state has a record. A
        missing value is NaN.
        """
        from crypsis.inference.kernels.trees import STATES, TWO_STATES

        shares = totals.sum(axis=0) / totals.sum()
        two = shares.size == 2
        base = np.log(shares[1:] / shares[:1]) if two else np.log(shares)
        kind = TWO_STATES if two else STATES
        scores = self._scores(given, categories, totals.sum(axis=1), totals, base, kind, asked)
        if two:
            with np.errstate(over="ignore"):  # a score below -709 has no chance
                chance = 1 / (1 + np.exp(-scores[:, 0]))
            return np.column_stack([1 - chance, chance])
        scores = np.exp(scores - scores.max(axis=1)[:, None])
        return np.asarray(scores / scores.sum(axis=1)[:, None])

    def numbers(self, given: Floats, categories: Truths, target: Floats, asked: Floats) -> Floats:
        """The number predicted for the rows asked; a row of `given` is one record."""
        from crypsis.inference.kernels.trees import NUMBERS

        sizes, base = np.ones(len(given)), np.array([target.mean()])
        totals = target[:, None]
        return self._scores(given, categories, sizes, totals, base, NUMBERS, asked)[:, 0]

    def _scores(
        self, given: Floats, categories: Truths, sizes: Floats, totals: Floats, base: Floats,
        kind: int, asked: Floats,
    ) -> Floats:  # fmt: skip
        from crypsis.inference.kernels import trees as kernel
        from crypsis.inference.kernels.leaves import add_scores, leaves

        binned = [
            _bins(one, bool(category), sizes, other)
            for one, category, other in zip(given.T, categories, asked.T, strict=True)
        ]
        bins = np.column_stack([one[0] for one in binned])
        widths = np.array([one[2] for one in binned], np.int64)
        bins, sizes, totals = _alike(bins, sizes, totals)
        columns = (widths, (bins == widths).any(axis=0), np.asarray(categories, np.bool_))
        shape = (self.leaves, float(self.least), self.rate, self.penalty)
        trees = kernel.fit(bins, sizes, totals, base, kind, self.steps, columns, shape)
        others = np.column_stack([one[1] for one in binned])
        scores = np.tile(base, (len(others), 1))
        found, parts = leaves(trees), range(0, len(others), _PART)
        map_threads(
            lambda at: add_scores(others[at : at + _PART], found, scores[at : at + _PART]), parts
        )
        return scores


def _bins(given: Floats, category: bool, sizes: Floats, asked: Floats) -> tuple[Any, Any, int]:
    """The bins of a column in both tables, and how many there are; the next is for missing values.

    Up to 255 values have a bin each, and more numbers bins of about as many records each. A category
    that was not given is a missing value.
    """
    known = ~np.isnan(given)
    distinct = np.unique(given[known])
    if category:
        if distinct.size > _BINS:  # their bins would be those of others
            raise ValueError(f"A category has at most {_BINS} values, not {distinct.size:,}.")
        width = distinct.size
        bounds = distinct
    else:
        if distinct.size <= _BINS:
            bounds = (distinct[1:] + distinct[:-1]) / 2
        else:
            records = np.repeat(given[known], sizes[known].astype(np.int64))
            shares = np.linspace(0, 100, _BINS + 1)[1:-1]
            bounds = np.unique(np.percentile(records, shares, method="averaged_inverted_cdf"))
        width = bounds.size + 1
    found = []
    for column in (given, asked):
        place = np.searchsorted(bounds, column)
        place[np.isnan(column)] = width
        if category and width:
            there = np.minimum(place, width - 1)
            place = np.where(distinct[there] == column, place, width)
        found.append(place.astype(np.uint8))
    return found[0], found[1], width


def _alike(bins: Any, sizes: Floats, totals: Floats) -> tuple[Any, Floats, Floats]:
    """Rows that are alike in all bins as one."""
    order = np.lexsort(bins.T[::-1])
    ordered = bins[order]
    first = np.ones(len(bins), bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    return (
        np.ascontiguousarray(ordered[starts]),
        np.add.reduceat(sizes[order], starts),
        np.add.reduceat(totals[order], starts, axis=0),
    )
