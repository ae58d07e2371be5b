"""scikit-learn in its own environment: nearest neighbours by the largest rank difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.tasks.linkage import ranks
from sklearn.neighbors import NearestNeighbors


def link(n: int, m: int) -> Callable[[], Any]:
    """The nearest masked record of each original, and how many are as near."""

    def call() -> list[float]:
        x, y = ranks(n, m)
        model = NearestNeighbors(n_neighbors=1, metric="chebyshev").fit(y)
        distances, places = model.kneighbors(x)
        least, first = distances[:, 0], places[:, 0]
        tied = model_ties(model, x, least)
        right = first == np.arange(n)
        correct, wrong = (right & (tied == 1)).sum(), (~right & (tied == 1)).sum()
        return [float(least.sum()), int(correct), int((tied > 1).sum()), int(wrong)]

    return call


def model_ties(model: Any, x: Any, least: Any) -> Any:
    """How many are within each record's own least distance; its trees take a radius a record."""
    tree = model._tree
    if tree is not None:
        return tree.query_radius(x, least, count_only=True)
    distances, _ = model.kneighbors(x, n_neighbors=min(8, model.n_samples_fit_))
    return (distances == least[:, None]).sum(axis=1)
