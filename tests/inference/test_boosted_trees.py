"""The trees of gradient boosting against scikit-learn's, which are grown record by record."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from crypsis.inference._boosted_trees import BoostedTrees
from crypsis.inference.kernels.leaves import add_scores
from crypsis.inference.kernels.leaves import leaves as leaves_of
from crypsis.inference.kernels.trees import STATES, fit
from tests.cases import first_of

CATEGORIES = np.array([False, False, True, True])


def table(
    seed: int, rows: int, missing: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Columns of many and of few numbers and of categories, and what they predict."""
    drawn = np.random.default_rng(seed)
    given = np.column_stack([drawn.integers(0, n, rows) for n in (3_000, 40, 2, 3)]).astype(float)
    target = given[:, 0] / 600 + given[:, 1] / 15 * given[:, 2] + given[:, 3] % 3
    given[drawn.random(given.shape) < missing] = np.nan
    return given, target + drawn.normal(size=rows)


def counted(states: NDArray[np.int64]) -> NDArray[np.float64]:
    """One record a row."""
    return np.eye(int(states.max()) + 1)[states]


def learned() -> HistGradientBoostingClassifier:
    """The same settings."""
    return HistGradientBoostingClassifier(
        max_iter=6, learning_rate=0.25, max_leaf_nodes=15, min_samples_leaf=20,
        l2_regularization=1.0, categorical_features=CATEGORIES, early_stopping=False,
    )  # fmt: skip


@pytest.mark.parametrize("states", first_of([3, 2, 7], 2))
@pytest.mark.parametrize("missing", first_of([0.1, 0.0], 1))
def test_chances_are_those_of_scikit_learn(states: int, missing: float) -> None:
    same = []
    for seed in range(4):
        given, target = table(seed, 1_500, missing)
        asked, _ = table(99, 500, missing)
        asked[:50, 3] = 20  # a category that no record had
        state = np.minimum((target * states / 12).astype(np.int64).clip(0), states - 1)
        ours = BoostedTrees(6, 0.25, 15, 20, 1.0).chances(given, CATEGORIES, counted(state), asked)
        apart = np.abs(ours - learned().fit(given, state).predict_proba(asked)).max(axis=1)
        same.append(np.mean(apart < 1e-6) > 0.98)
        assert np.allclose(ours.sum(axis=1), 1)
        assert apart.mean() < 0.05
    # They round gradients to 32 bits: whether a category has ten records may be decided otherwise.
    assert sum(same) >= 2


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_numbers_are_those_of_scikit_learn(missing: float) -> None:
    given, target = table(5, 2_500, missing)
    asked, _ = table(98, 1_000, missing)
    ours = BoostedTrees(20, 0.25, least=5).numbers(given, CATEGORIES, target, asked)
    theirs = HistGradientBoostingRegressor(
        max_iter=20, learning_rate=0.25, min_samples_leaf=5, categorical_features=CATEGORIES,
        early_stopping=False,
    ).fit(given, target)  # fmt: skip
    assert np.mean(np.abs(ours - theirs.predict(asked)) < 1e-5) > 0.98


def test_rows_that_stand_for_several_records_are_those_records() -> None:
    given, target = table(6, 600)
    given[:, 0] //= 300
    state = (target > target.mean()).astype(np.int64)
    rows, of = np.unique(given, axis=0, return_inverse=True)
    totals = np.zeros((len(rows), 2))
    np.add.at(totals, (of.ravel(), state), 1)
    model = BoostedTrees(10, 0.1, 15, 20, 1.0)
    one_by_one = model.chances(given, CATEGORIES, counted(state), given)
    together = model.chances(rows, CATEGORIES, totals, given)
    assert len(rows) < len(given)
    assert np.allclose(one_by_one, together, atol=1e-9)


def test_too_few_records_to_divide_predict_the_share() -> None:
    given, _ = table(7, 30)
    state = np.arange(30) % 3
    found = BoostedTrees(5, 0.2, least=20).chances(given, CATEGORIES, counted(state), given[:4])
    assert np.allclose(found, 1 / 3)


def test_a_column_without_values_and_one_with_a_single_value_divide_nothing() -> None:
    given, _ = table(8, 500)
    given[:, 0], given[:, 2] = np.nan, np.nan
    given[:, 1] = 4
    state = (given[:, 3] % 3 == 0).astype(np.int64)
    found = BoostedTrees(30, 0.3, least=5).chances(given, CATEGORIES, counted(state), given)
    assert np.array_equal(found.argmax(axis=1), state)


def test_more_categories_than_bins_are_refused() -> None:
    given, state = np.arange(300.0)[:, None], np.arange(300) % 2
    with pytest.raises(ValueError, match="at most 255"):
        BoostedTrees(2, 0.2).chances(given, np.array([True]), counted(state), given)


@pytest.mark.parametrize("leaves", [2, 15, 31])
def test_leaves_are_those_that_walking_down_finds(leaves: int) -> None:
    """Nodes are numbered as they grow, so that the leaves are in any order."""
    drawn = np.random.default_rng(leaves)
    bins = drawn.integers(0, 9, (5_000, 3)).astype(np.uint8)
    totals = np.eye(3)[(bins[:, 0] + bins[:, 1] * bins[:, 2] + drawn.integers(0, 4, 5_000)) % 3]
    columns = np.array([9, 9, 9]), np.zeros(3, bool), np.array([False, True, False])
    shape = (leaves, 5.0, 0.3, 1.0)
    trees = fit(bins, np.ones(5_000), totals, np.zeros(3), STATES, 4, columns, shape)
    scores, walked = np.zeros((5_000, 3)), np.zeros((5_000, 3))
    add_scores(bins, leaves_of(trees), scores)
    column, left, value, right = trees
    for t in range(len(column)):
        node = np.zeros(5_000, np.int64)
        while (inner := column[t, node] >= 0).any():
            at = node[inner]
            bin_ = bins[inner, column[t, at]]
            node[inner] = left[t, at] + right[t, at, bin_]
        walked[:, t % 3] += value[t, node]
    assert np.array_equal(scores, walked)
    assert np.unique(scores[:, 0]).size > leaves
