"""Penalized logistic regression on categories that predicts each class without its own records.

A row of the design is a class, or several that are alike in all effects. The model is convex, so that
nothing hangs on a seed, and a class is left out of it by one Newton step (Pregibon 1981), for which the
second derivatives suffice. The few classes that decide an effect alone are left out of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.counting.arrays import sums_of
from crypsis.scientific import linalg, sparse

_MAX_NEWTON_STEPS = 25
"""Newton's method needs 4 to 8 steps; it takes more than this only where it does not converge."""
_CONVERGED_GAIN = 1e-4
"""A step that lowers the loss by less, in units of the log likelihood, ends the search."""
_MAX_LOG_ODDS = 30.0
"""Log odds beyond this are certainty."""
_MAX_INFLUENCE = 0.1
"""A class with so much of its prediction by itself is left out of a fit: a step errs by up to 0.05."""
_MAX_REFIT_PRODUCTS = 200_000_000
"""The products of effects and coefficients in all such fits of a state: about 0.2 seconds."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A regression: the log odds of each row, and their variance by the second derivatives."""

    coefficients: Floats
    scores: Floats
    leverages: Floats


class Regression:
    """The effects of each row on the log odds of a state, and the penalty of their coefficients."""

    def __init__(self, columns: Ints, penalty: Floats) -> None:
        """Rows with one coefficient of each block.

        `columns` has its place in each block (columns) for each row (lines), one behind the last where
        it has none; `penalty` is the quadratic form that is added to the loss, twice.
        """
        rows, blocks = columns.shape
        indicator, ends = np.ones(columns.size), np.arange(rows + 1) * blocks
        size = len(penalty)
        effects = sparse.csr_matrix((indicator, columns.ravel(), ends), (rows, size + 1))
        self.effects, self.penalty = effects[:, :size], penalty
        self.transposed = self.effects.T.tocsr()
        self.lengths = np.diff(self.effects.indptr)
        self.work = rows * blocks**2 + size**3 // 3

    def fit(self, sizes: Floats, counts: Floats, start: Floats | None = None) -> Fitted:
        """Fit the log odds to rows of `sizes` records, of which `counts` are in the state."""
        coefficients, factor = self._coefficients(sizes, counts, start)
        inverse = linalg.cho_solve(factor, np.eye(len(self.penalty)))
        leverages = self.effects.multiply(self.effects @ inverse).sum(axis=1)
        return Fitted(coefficients, self.effects @ coefficients, np.asarray(leverages).ravel())

    def _coefficients(self, sizes: Floats, counts: Floats, start: Floats | None) -> Any:
        """The coefficients by Newton's method, and the factor of the last second derivatives."""
        coefficients = np.zeros(len(self.penalty)) if start is None else start
        weighted, least = self.effects.copy(), self._loss(coefficients, sizes, counts)
        for _ in range(_MAX_NEWTON_STEPS):
            chances = chances_of(self.effects @ coefficients)
            weighted.data = np.repeat(sizes * chances * (1 - chances), self.lengths)
            factor = linalg.cho_factor((self.transposed @ weighted).toarray() + self.penalty)
            slope = self.transposed @ (counts - sizes * chances) - self.penalty @ coefficients
            step = linalg.cho_solve(factor, slope)
            after = self._loss(coefficients + step, sizes, counts)
            while after > least + _CONVERGED_GAIN:
                step = step / 2
                after = self._loss(coefficients + step, sizes, counts)
            gained, least, coefficients = least - after, after, coefficients + step
            if gained < _CONVERGED_GAIN:
                break
        return coefficients, factor

    def _loss(self, coefficients: Floats, sizes: Floats, counts: Floats) -> float:
        penalty = float(coefficients @ self.penalty @ coefficients) / 2
        return penalty + deviance(self.effects @ coefficients, sizes, counts)

    def left_out(self, fitted: Fitted, row: Ints, sizes: Floats, counts: Floats) -> Floats:
        """The log odds of classes in these rows, each by the model without its own records.

        One Newton step from the coefficients of all classes, in closed form: the score changes by
        -h r / (1 - h w), where h is the leverage, r the residual of the class and w its weight.
        """
        scores, leverage = fitted.scores[row], fitted.leverages[row]
        chances = chances_of(scores)
        residuals, weights = counts - sizes * chances, sizes * chances * (1 - chances)
        return np.asarray(scores - leverage * residuals / np.maximum(1 - leverage * weights, 1e-9))

    def refitted(self, fitted: Fitted, scores: Floats, row: Ints, sizes: Floats, counts: Floats) -> Floats:
        """The same where the most influential classes are left out of a fit, as far as time allows."""
        chances = chances_of(fitted.scores[row])
        influence = fitted.leverages[row] * sizes * chances * (1 - chances)
        first = np.argsort(-influence, kind="stable")[: _MAX_REFIT_PRODUCTS // (4 * self.work)]
        rows = len(fitted.scores)
        row_sizes, row_counts = (sums_of(row, numbers, rows) for numbers in (sizes, counts))
        scores = scores.copy()
        for influential in first[influence[first] > _MAX_INFLUENCE].tolist():
            other_sizes, other_counts = row_sizes.copy(), row_counts.copy()
            other_sizes[row[influential]] -= sizes[influential]
            other_counts[row[influential]] -= counts[influential]
            coefficients, _ = self._coefficients(other_sizes, other_counts, fitted.coefficients)
            scores[influential] = (self.effects[row[influential]] @ coefficients)[0]
        return scores


def chances_of(scores: Floats) -> Floats:
    """The probabilities of log odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))))


def log_odds(chances: Floats) -> Floats:
    """The log odds of probabilities."""
    with np.errstate(divide="ignore"):
        odds = np.log(chances) - np.log1p(-chances)
    return np.asarray(np.clip(odds, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))


def deviance(scores: Floats, sizes: Floats, counts: Floats) -> float:
    """Minus the log likelihood of classes of `sizes` records, `counts` of them in the state."""
    scores = np.clip(scores, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)
    return float(sizes @ np.logaddexp(0, scores) - counts @ scores)
