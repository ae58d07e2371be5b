"""Log-linear models of a contingency table, and what they say of its uniques: arrays in, numbers out.

The people F of a cell are Poisson with mean L, the records f of the sample Poisson with mean p L,
where p is the sampling fraction; F - f is Poisson with mean m = (1-p) L, whatever f is. So a sample
unique is unique in the population with probability exp(-m), and a match with it is correct with
probability E[1/F | f = 1] = (1 - exp(-m)) / m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Floats

Margin = tuple[int, ...]

_CYCLES = 200
_CLOSE = 1e-6
_SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class TableFit:
    """A fitted table, its uniques' risk, and the error that its bias would make."""

    fitted: Floats
    population_uniques: float
    correct_matches: float
    bias: float
    deviation: float

    @property
    def score(self) -> float:
        """The bias in standard deviations: about normal if the model is right."""
        return self.bias / self.deviation if self.deviation else 0.0


def fit_margins(table: Floats, margins: Sequence[Margin], start: Floats | None = None) -> Floats:
    """The table with these margins of `table` and no interaction beyond them, by scaling.

    Iterative proportional fitting (Deming & Stephan 1940): each margin in turn is scaled to that of
    the table, until all agree. It ends after one cycle where the model is decomposable. `start` may
    be the fit of a model with fewer margins.
    """
    largest = [margin for margin in margins if not any(set(margin) < set(larger) for larger in margins)]
    axes = [tuple(i for i in range(table.ndim) if i not in margin) for margin in largest]
    targets = [table.sum(axis=summed_axes, keepdims=True) for summed_axes in axes]
    fitted = np.ones_like(table) if start is None else start.copy()
    close = _CLOSE * float(table.sum())
    for _ in range(_CYCLES):
        worst = 0.0
        for margin_axes, target in zip(axes, targets, strict=True):
            now = fitted.sum(axis=margin_axes, keepdims=True)
            worst = max(worst, float(np.abs(now - target).max()))
            fitted *= np.divide(target, now, out=np.zeros_like(now), where=now > 0)
        if worst <= close:
            break
    return fitted


def judge(counts: Floats, fitted: Floats, fraction: float | Floats, overall: float) -> TableFit:
    """The risk of the sample uniques under a fitted table, and its estimated bias.

    Parameters
    ----------
    counts : array
        f of each cell.
    fitted : array
        The fitted mean of f, as if every cell had the sampling fraction `overall`.
    fraction : float or array
        The sampling fraction of each cell.
    overall : float
        The sampling fraction of the sample.

    Notes
    -----
    The bias of the expected correct matches is that of Skinner & Shlomo (2008): with h(L) the
    probability of a correct match, mu the fitted mean and L = mu / p, it is the sum over all cells
    of mu exp(-mu) (-h'(L) (f - mu) / p + h''(L) ((f - mu)^2 - f) / (2 p^2)). For Poisson counts f -
    mu and (f - mu)^2 - f are uncorrelated, with variances mu and 2 mu^2, which gives its variance.
    """
    people = fitted / overall
    left = (1 - fraction) * people
    unique = counts == 1
    alone = float(np.exp(-left)[unique].sum())
    matches, _, _ = _match(left)
    _, slope, bend = _match((1 - overall) * people)
    rest = (1 - overall) / overall
    chance = fitted * np.exp(-fitted)
    first, second = -chance * rest * slope, chance * rest**2 * bend / 2
    error = counts - fitted
    bias = float((first * error + second * (error**2 - counts)).sum())
    variance = float((first**2 * fitted + 2 * second**2 * fitted**2).sum())
    return TableFit(fitted, alone, float(matches[unique].sum()), bias, variance**0.5)


def _match(m: Floats) -> tuple[Floats, Floats, Floats]:
    """(1 - exp(-m)) / m and its first two derivatives."""
    x = np.maximum(m, _SMALL)
    gone = np.exp(-x)
    small = m < _SMALL
    value = np.where(small, 1 - m / 2 + m**2 / 6, -np.expm1(-x) / x)
    slope = np.where(small, -0.5 + m / 3, (gone * (x + 1) - 1) / x**2)
    bend = np.where(small, 1 / 3 - m / 4, (2 - gone * (x**2 + 2 * x + 2)) / x**3)
    return value, slope, bend
