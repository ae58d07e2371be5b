"""A random forest (Breiman 2001) of classification trees.

The algorithm is that of scikit-learn's `RandomForestClassifier`; its trees are grown in a kernel whose
cost does not depend on the number of states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RandomForest:
    """The settings of a model."""

    trees: int
    least: int = 1
    """The fewest rows of a leaf."""
    share: float = 1.0
    """The share of the columns that each division chooses from."""
    bootstrap: bool = True
    """Whether each tree has records drawn with replacement; otherwise all."""

    def chances(self, given: Floats, states: Ints, asked: Floats, seed: int) -> Floats:
        """The probability of each state in the rows asked; states are numbered from 0.

        No value may be missing.
        """
        from crypsis.inference.kernels import forest as kernel

        drawn = np.random.default_rng(seed)
        values, others = np.ascontiguousarray(given.T), np.ascontiguousarray(asked.T)
        columns, rows = values.shape
        width = int(states.max()) + 1
        orders = np.argsort(values, axis=1, kind="stable")
        tries = max(1, int(self.share * columns))
        found = np.zeros((len(asked), width))
        for _ in range(self.trees):
            places = drawn.integers(0, rows, rows) if self.bootstrap else np.arange(rows)
            weights = np.bincount(places, minlength=rows).astype(np.float64)
            kept = orders[(weights > 0)[orders]].reshape(columns, -1)
            most = 2 * kept.shape[1]
            tree = (
                np.zeros(most, np.int64), np.zeros(most), np.zeros(most, np.int64),
                np.zeros(most, np.int64), (np.zeros(most, np.int64), np.zeros(most)),
            )  # fmt: skip
            work = (
                np.zeros(width), np.zeros(width), np.zeros(rows, np.bool_),
                np.zeros(kept.shape[1], np.int64), np.arange(columns),
                np.zeros((most, 2), np.int64),
            )  # fmt: skip
            stream = drawn.integers(0, 2**63, 1).astype(np.uint64)
            kernel.grow(values, kept, weights, states, tries, self.least, stream, tree, work)
            kernel.add_shares(others, tree, found)
        return found / self.trees
