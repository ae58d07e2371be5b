"""Estimates from weighted samples with their sampling errors: arrays in, estimates out.

Variances are those of the linearized estimates: the scores of the records are summed in each
cluster, and the clusters of a stratum vary around their mean, as if drawn with replacement. Without
clusters each record is its own; without weights all weights are 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.results import Estimate
from crypsis.scientific import special

_METHOD = "linearized variance of the sampling design"


@dataclass(frozen=True, eq=False)
class Design:
    """The weight, the stratum and the cluster of each record, the latter two as codes."""

    weight: Floats
    stratum: Ints
    cluster: Ints

    def some(self, rows: Flags) -> Design:
        """The design of some records only: a domain. The others count with a score of 0."""
        return Design(np.where(rows, self.weight, 0.0), self.stratum, self.cluster)

    def covariance(self, scores: Floats) -> Floats:
        """The covariance of the sums of scores, one column for each sum.

        A stratum with one cluster varies around 0, which is on the safe side.
        """
        pairs, pair_index = np.unique(np.stack([self.stratum, self.cluster]), axis=1, return_inverse=True)
        totals = np.zeros((pairs.shape[1], scores.shape[1]))
        np.add.at(totals, pair_index.ravel(), scores)
        _, where = np.unique(pairs[0], return_inverse=True)
        number = np.bincount(where)
        means = np.zeros((number.size, scores.shape[1]))
        np.add.at(means, where, totals)
        means = np.where(number[:, None] > 1, means / number[:, None], 0.0)
        deviations = totals - means[where]
        factor = np.where(number > 1, number / np.maximum(number - 1, 1), 1.0)[where]
        return np.asarray((deviations * factor[:, None]).T @ deviations)


def weighted_total(y: Floats, design: Design, confidence: float) -> Estimate:
    """The total: the sum of weights times values."""
    scores = design.weight * y
    return _estimate(float(scores.sum()), design, scores, confidence)


def weighted_mean(y: Floats, design: Design, confidence: float) -> Estimate | None:
    """The mean; of a column of 0 and 1 the share. None without weight."""
    people = float(design.weight.sum())
    if people <= 0:
        return None
    mean = float(design.weight @ y) / people
    return _estimate(mean, design, design.weight * (y - mean) / people, confidence)


def weighted_quantile(y: Floats, q: float, design: Design, confidence: float) -> Estimate | None:
    """The smallest value below or at which a share q of the people are.

    The interval is Woodruff's (1952): that of the share at the quantile, taken back to values.
    """
    kept = design.weight > 0
    people = float(design.weight.sum())
    if not kept.any():
        return None
    order = np.argsort(y[kept], kind="stable")
    values, upto = y[kept][order], np.cumsum(design.weight[kept][order]) / people

    def at(share: float) -> float:
        position = int(np.searchsorted(upto, share - 1e-12))
        return float(values[min(position, values.size - 1)])

    value = at(q)
    scores = design.weight * ((y <= value) - q) / people
    half = _half(design, scores, confidence)
    low, high = at(max(0.0, q - half)), at(min(1.0, q + half))
    return Estimate(value, min(low, value), max(high, value), confidence, "Woodruff's interval")


def weighted_regression(y: Floats, x: Floats, design: Design, confidence: float) -> list[Estimate] | None:
    """The coefficients of a linear regression; None where they are not determined.

    Binder (1983): the scores are weight times residual times the explanatory values.
    """
    inner = (x * design.weight[:, None]).T @ x
    if np.linalg.matrix_rank(inner) < x.shape[1]:
        return None
    inverse = np.linalg.inv(inner)
    beta = inverse @ (x.T @ (design.weight * y))
    scores = (design.weight * (y - x @ beta))[:, None] * x
    spread = np.sqrt(np.maximum(np.diag(inverse @ design.covariance(scores) @ inverse), 0.0))
    z = float(special.ndtri(0.5 + confidence / 2))
    return [
        Estimate(b, b - z * s, b + z * s, confidence, _METHOD)
        for b, s in zip(beta.tolist(), spread.tolist(), strict=True)
    ]


def interval_overlap(estimate: Estimate, two: Estimate) -> float:
    """The mean share of two confidence intervals that they have in common (Karr et al. 2006).

    1 where they are the same, below 0 where they are apart.

    >>> interval_overlap(Estimate(1, 0, 2), Estimate(2, 1, 3))
    0.5
    """
    common: float = min(estimate.high, two.high) - max(estimate.low, two.low)
    widths = (estimate.high - estimate.low, two.high - two.low)
    if min(widths) <= 0:
        same = estimate.low <= two.high and two.low <= estimate.high
        return 1.0 if widths[0] == widths[1] and same else 0.5 if same else 0.0
    return float((common / widths[0] + common / widths[1]) / 2)


def _half(design: Design, scores: Floats, confidence: float) -> float:
    variance = float(design.covariance(scores[:, None])[0, 0])
    return float(special.ndtri(0.5 + confidence / 2) * np.sqrt(max(variance, 0.0)))


def _estimate(value: float, design: Design, scores: Floats, confidence: float) -> Estimate:
    half = _half(design, scores, confidence)
    return Estimate(value, value - half, value + half, confidence, _METHOD)
