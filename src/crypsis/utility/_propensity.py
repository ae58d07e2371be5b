"""Can the release be told from the original? The propensity score mean squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from crypsis.errors import ParameterError
from crypsis.release import as_release
from crypsis.results import Result

Floats = NDArray[np.float64]
_MOST_LEVELS = 20


@dataclass(frozen=True)
class Propensity(Result):
    """pMSE (Woo et al. 2009): 0 when no model tells the two apart."""

    pmse: float
    expected: float
    """What it is on average for a second sample of the same people.

    The Wald statistic of the model is then chi-squared, so (terms - 1) c (1 - c) / rows with c the
    share of released rows. (Snoke et al. 2018 have another null, a release drawn from the model.)
    """
    largest: float
    """What it is when every row is told apart."""
    rows: int
    terms: int

    @property
    def ratio(self) -> float:
        """Over the expected value: near 1 for a release that is as good as the original."""
        return self.pmse / self.expected if self.expected else 0.0


def propensity(original: Any, released: Any, columns: list[str] | None = None) -> Propensity:
    """How well a logistic model with main effects tells released rows from original ones.

    Numbers enter as they are, other columns by their twenty commonest values; missing values enter
    as a value of their own. Fitted by iteratively reweighted least squares.
    """
    first, second = as_release(original), as_release(released)
    names = columns or [name for name in first.names if name in second.names]
    if not names:
        raise ParameterError("The two have no column in common.")
    design, label = _design(first, second, names)
    scores = expit(design @ _fit(design, label))
    share = float(label.mean())
    terms = int(np.linalg.matrix_rank(design))
    null = (terms - 1) * (1 - share) * share / label.size
    return Propensity(
        float(((scores - share) ** 2).mean()), float(null), share * (1 - share), label.size, terms
    )


def _design(first: Any, second: Any, names: list[str]) -> tuple[Floats, Floats]:
    before, after = first.to_arrow(names), second.to_arrow(names)
    label = np.r_[np.zeros(before.num_rows), np.ones(after.num_rows)]
    parts = [np.ones((label.size, 1))]
    for name in names:
        numeric = all(
            side.rows.column(name).kind.value in ("integer", "number") for side in (first, second)
        )
        values = before[name].to_pylist() + after[name].to_pylist()
        parts.append(_numeric(values) if numeric else _levels(values))
    return np.hstack(parts), label


def _numeric(values: list[Any]) -> Floats:
    column = np.array([np.nan if value is None else float(value) for value in values])
    gone = np.isnan(column)
    column[gone] = column[~gone].mean() if (~gone).any() else 0.0
    spread = column.std()
    scaled = (column - column.mean()) / (spread if spread > 0 else 1.0)
    return np.column_stack([scaled, gone]) if gone.any() else scaled[:, None]


def _levels(values: list[Any]) -> Floats:
    texts = np.array(["" if value is None else f"={value}" for value in values])
    named, place, counts = np.unique(texts, return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[: min(_MOST_LEVELS, named.size - 1)]
    return np.asarray(place[:, None] == common[None, :], float)


def _fit(design: Floats, label: Floats) -> Floats:
    weights = np.zeros(design.shape[1])
    ridge = 1e-6 * np.eye(design.shape[1])
    for _ in range(50):
        chance = expit(design @ weights)
        pull = np.maximum(chance * (1 - chance), 1e-9)
        slope = design.T @ (label - chance)
        step = np.linalg.solve((design * pull[:, None]).T @ design + ridge, slope)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    return weights
