"""Can a model distinguish the masked from the original file? The propensity score measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats
from crypsis.dataset import Data, Dataset, as_columns, as_dataset
from crypsis.errors import ColumnError
from crypsis.options import Columns
from crypsis.results import Result
from crypsis.scientific import special
from crypsis.utility._column_changes import shared_columns

_MAX_LEVELS = 20
"""A model knows so many values of a column, the most frequent; the others are one."""


class Propensity(Result):
    """The propensity score mean squared error (pMSE); 0 where the files cannot be distinguished."""

    pmse: float
    expected: float
    """Its mean for a second sample of the same population.

    The Wald statistic of the model is then chi-squared, so (terms - 1) c (1 - c) / rows with c the
    share of masked records. (Snoke et al. 2018 have another null, data drawn from the model.)
    """
    largest: float
    """Its value where the model distinguishes every record."""
    rows: int
    terms: int

    @property
    def ratio(self) -> float:
        """PMSE divided by its expected value: near 1 for a file as good as a second sample."""
        return self.pmse / self.expected if self.expected else 0.0


def propensity(original: Data, masked: Data, columns: Columns | None = None) -> Propensity:
    """How well a logistic model with main effects distinguishes masked from original records.

    Parameters
    ----------
    original, masked : Dataset, frame or path
        The file and what was made of it.
    columns : str or sequence of str, optional
        The columns of the model; by default those in both files.

    Returns
    -------
    Propensity
        The mean squared error of the scores, and what to compare it with.

    Notes
    -----
    Other than numeric columns enter by their twenty most frequent values, the missing value is one
    of them. The model is fitted by iteratively reweighted least squares, in memory.

    References
    ----------
    Woo et al. (2009), Global measures of data utility for microdata masked for disclosure
    limitation.

    Examples
    --------
    >>> import pyarrow as pa
    >>> before, after = pa.table({"a": [1.0, 2.0, 3.0]}), pa.table({"a": [1.0, 2.0, 3.0]})
    >>> round(propensity(before, after).pmse, 12)
    0.0
    """
    first, second = as_dataset(original), as_dataset(masked)
    names = list(shared_columns(second, first) if columns is None else as_columns(columns))
    if not names:
        raise ColumnError("The two files have no column in common.")
    design, label = _design(first, second, names)
    scores = special.expit(design @ _fit(design, label))
    share = float(label.mean())
    terms = int(np.linalg.matrix_rank(design))
    null = (terms - 1) * (1 - share) * share / label.size
    return Propensity(
        float(((scores - share) ** 2).mean()), float(null), share * (1 - share), label.size, terms
    )


def _design(first: Dataset, second: Dataset, names: list[str]) -> tuple[Floats, Floats]:
    before, after = first.to_arrow(names), second.to_arrow(names)
    label = np.r_[np.zeros(before.num_rows), np.ones(after.num_rows)]
    parts = [np.ones((label.size, 1))]
    for name in names:
        numeric = all(side.rows.column(name).kind.numeric for side in (first, second))
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
    named, text_index, counts = np.unique(texts, return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[: min(_MAX_LEVELS, named.size - 1)]
    return np.asarray(text_index[:, None] == common[None, :], float)


def _fit(design: Floats, label: Floats) -> Floats:
    weights = np.zeros(design.shape[1])
    ridge = 1e-6 * np.eye(design.shape[1])
    for _ in range(50):
        chance = special.expit(design @ weights)
        pull = np.maximum(chance * (1 - chance), 1e-9)
        slope = design.T @ (label - chance)
        step = np.linalg.solve((design * pull[:, None]).T @ design + ridge, slope)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    return weights
