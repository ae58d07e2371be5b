"""recordlinkage in its own environment: similarities of all pairs, the best match of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import recordlinkage


def link(folder: str) -> Callable[[], Any]:
    """How many best matches are the own record, by the better of two rules.

    The rules: the largest sum of similarities, and the log weights of its EM classifier.
    """

    def call() -> int:
        x, y = (pd.read_csv(Path(folder) / f"{name}.csv") for name in ("original", "masked"))
        index = recordlinkage.Index()
        index.full()
        pairs = index.index(x, y)
        compare = recordlinkage.Compare()
        for name in x.columns:
            if pd.api.types.is_numeric_dtype(x[name]):
                spread = float(x[name].std()) or 1.0
                compare.numeric(name, name, method="gauss", scale=0.3 * spread, label=name)
            else:
                compare.exact(name, name, label=name)
        similar = compare.compute(pairs, x, y)
        right = [_right(similar.sum(axis=1))]
        try:
            model = recordlinkage.ECMClassifier(binarize=0.6)
            model.fit(similar)
            right.append(_right(model.prob(similar)))
        except Exception as error:  # noqa: BLE001 - the classifier fails on columns without variation
            print(type(error).__name__)
        return max(right)

    return call


def _right(score: Any) -> int:
    best = score.groupby(level=0).idxmax()
    return int(sum(one == other for one, other in best))
