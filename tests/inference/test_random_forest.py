"""The trees of the random forest against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from crypsis.inference._random_forest import RandomForest


def table(seed: int, rows: int, states: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Columns of many and of few numbers, and states that two of them nearly decide."""
    drawn = np.random.default_rng(seed)
    given = np.column_stack([drawn.integers(0, n, rows) for n in (3_000, 40, 2, 300)]).astype(float)
    found = given[:, 1] / 40 * states * 0.6 + given[:, 2] * states * 0.3 + drawn.random(rows)
    return given, np.minimum(found, states - 1).astype(np.int64)


@pytest.mark.parametrize("least", [1, 2, 7])
@pytest.mark.parametrize("states", [2, 20])
def test_a_tree_of_one_column_is_that_of_scikit_learn(least: int, states: int) -> None:
    drawn = np.random.default_rng(3)
    given, asked = drawn.normal(size=(800, 1)), drawn.normal(size=(300, 1))
    state = np.digitize(given[:, 0] + drawn.normal(size=800), np.linspace(-1.5, 1.5, states - 1))
    theirs = DecisionTreeClassifier(min_samples_leaf=least).fit(given, state).predict_proba(asked)
    ours = RandomForest(1, least, bootstrap=False).chances(given, state, asked, 0)
    assert np.allclose(ours, theirs)


@pytest.mark.parametrize("states", [3, 15, 90])
def test_a_forest_is_as_good_as_that_of_scikit_learn(states: int) -> None:
    given, state = table(0, 4_000, states)
    asked, true = table(1, 2_000, states)
    expected, again = (
        RandomForestClassifier(40, min_samples_leaf=2, max_features=0.5, random_state=seed)
        .fit(given, state)
        .predict_proba(asked)
        for seed in (0, 1)
    )
    found = RandomForest(40, 2, 0.5).chances(given, state, asked, 0)
    correct = [(one.argmax(axis=1) == true).mean() for one in (found, expected)]
    assert abs(correct[0] - correct[1]) < 0.02
    apart = [np.abs(one - expected).mean() for one in (found, again)]
    assert apart[0] < 1.1 * apart[1]  # as far as theirs of another seed
    assert np.allclose(found.sum(axis=1), 1)


def test_a_state_that_a_column_decides_is_certain() -> None:
    code = np.repeat(np.arange(30), 40)
    given = np.column_stack([code * 1.0, np.random.default_rng(0).random(code.size)])
    found = RandomForest(40, 2).chances(given, code, given[::7], 0)
    assert np.allclose(found[np.arange(len(found)), code[::7]], 1)


def test_the_same_seed_grows_the_same_forest() -> None:
    given, state = table(0, 500, 15)
    found = [RandomForest(5, 2, 0.5).chances(given, state, given, seed) for seed in (4, 4, 5)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_columns_with_one_value_divide_nothing() -> None:
    state = np.arange(60) % 3
    found = RandomForest(10, 2).chances(np.ones((60, 2)), state, np.ones((4, 2)), 0)
    assert np.allclose(found, 1 / 3, atol=0.15)
