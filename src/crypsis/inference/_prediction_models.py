"""Held-out prediction of one column from others by the trees of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Flags, Floats, Ints
from crypsis.columns.codes import as_numbers, codes_of, mode_of_others
from crypsis.threads import one_thread

_MAX_TREE_CATEGORIES = 200
"""A text with more values is looked up, because trees split on at most 255 categories."""
_MAX_BOOSTED_VALUES = 12
"""With more values a random forest predicts: boosting fits a tree for each value and step."""
_MAX_MODELED_VALUES = 200
"""With more values each column is looked up by itself: a model would take minutes."""
_MAX_FOREST_RECORDS = 500
"""Of fewer records a forest learns, too: each tree of boosting costs as much as of thousands."""
_FOREST_TREES = 40
"""Trees of a random forest."""
_BOOSTED_TREES = 160
"""Trees of all values together, of which boosting fits one for each value and step."""
_MAX_BOOSTING_STEPS = 50
"""Steps of boosting at most: for two values, and for numbers."""
_COUNTED_CELL_RECORDS = 20
"""Where nearly all cells have more records than this, their counts are the best prediction."""
_COUNTED_CELL_SHARE = 0.95
"""Nearly all cells: this share of them, at least."""
_LARGEST_NUMBER = 1e30
"""Larger numbers and infinities are this: sums of their squares would not be finite."""
_MISSING_NUMBER = -2 * _LARGEST_NUMBER
"""What a missing value is in a forest, which needs numbers: one far below all others."""


@dataclass(frozen=True, eq=False)
class Features:
    """Columns as the model reads them: numbers, categories, and values to look up."""

    numbers: Floats
    """One column a feature; a missing value is NaN."""
    categories: Flags
    lookups: tuple[Ints, ...]
    """The codes of columns with many repeated values, whose order says nothing: zip codes."""

    @classmethod
    def of(cls, table: pa.Table, names: Sequence[str]) -> Features:
        """The features of some columns of a table."""
        features, categories, lookups = [], [], []
        for name in names:
            coded = codes_of(table[name])
            distinct = int(coded.max(initial=-1)) + 1
            number = bounded_numbers(table[name])
            category = number is None and distinct <= _MAX_TREE_CATEGORIES
            values = np.where(coded < 0, np.nan, coded) if number is None else number
            features.append(values.astype(np.float64))
            categories.append(category)
            if distinct > (_MAX_TREE_CATEGORIES if number is None else 30) and distinct < len(coded):
                lookups.append(coded)
        shape = (table.num_rows, len(features))
        return cls(
            np.stack(features, axis=1) if features else np.zeros(shape),
            np.array(categories, bool),
            tuple(lookups),
        )


def bounded_numbers(column: pa.ChunkedArray) -> Floats | None:
    """A column as finite numbers, NaN for missing values; None if it has other texts."""
    values = as_numbers(column)
    return None if values is None else np.clip(values, -_LARGEST_NUMBER, _LARGEST_NUMBER)


@dataclass(frozen=True)
class Fold:
    """The records that a model learns from, and those that it predicts."""

    learn: Ints
    predict: Ints


def folds(count: int, groups: Ints | None, number: int, seed: int) -> Iterator[Fold]:
    """Disjoint folds of records; the records of a person are in the same fold."""
    drawn = np.random.default_rng(seed)
    if groups is None:
        part = drawn.permutation(count) % number
    else:
        unique, member = np.unique(groups, return_inverse=True)
        part = (drawn.permutation(unique.size) % number)[member.ravel()]
    for part_number in range(number):
        yield Fold(np.flatnonzero(part != part_number), np.flatnonzero(part == part_number))


def predict_values(features: Features, target: Ints, parts: Sequence[Fold], seed: int) -> tuple[Ints, Floats]:
    """For each record the value predicted without it, and the probability the model gives it."""
    cells = _cells(np.column_stack([features.numbers, *features.lookups]))
    sizes = np.bincount(cells)[cells]
    if (sizes > _COUNTED_CELL_RECORDS).mean() >= _COUNTED_CELL_SHARE:
        return _most_frequent(cells, target, parts)
    if np.unique(target).size > _MAX_MODELED_VALUES:
        single = [_cells(column[:, None]) for column in features.numbers.T]
        guesses = [_most_frequent(group, target, parts) for group in (cells, *single)]
        return max(guesses, key=lambda guess_and_certainty: int((guess_and_certainty[0] == target).sum()))
    guess, certainty = np.zeros(target.size, np.int64), np.zeros(target.size)
    for fold in parts:
        inputs, categories = _fittable(features, target, fold, values=True)
        learned_values = np.unique(target[fold.learn])
        if learned_values.size < 2 or not categories.size:
            values, counts = np.unique(target[fold.learn], return_counts=True)
            guess[fold.predict] = values[counts.argmax()]
            certainty[fold.predict] = counts.max() / counts.sum()
            continue
        learned = np.searchsorted(learned_values, target[fold.learn])
        learned_inputs, predicted_inputs = inputs[fold.learn], inputs[fold.predict]
        with _one_thread():  # loads scikit-learn, so only where there is something to learn
            chances = (
                _by_forest(learned_inputs, learned, predicted_inputs, seed)
                if learned_values.size > _MAX_BOOSTED_VALUES or learned.size < _MAX_FOREST_RECORDS
                else _by_boosting(learned_inputs, categories, learned, predicted_inputs, learned_values.size)
            )
        guess[fold.predict] = learned_values[chances.argmax(axis=1)]
        certainty[fold.predict] = chances.max(axis=1)
    return guess, certainty


def _cells(columns: Floats) -> Ints:
    """The cell of each record: records with the same values have the same number."""
    coded = np.zeros(len(columns), np.int64)
    for column in columns.T:
        distinct, places = np.unique(column, return_inverse=True)
        coded = np.unique(coded * distinct.size + places.ravel(), return_inverse=True)[1].ravel()
    return coded


def _most_frequent(cells: Ints, target: Ints, parts: Sequence[Fold]) -> tuple[Ints, Floats]:
    """The most frequent value of the other records of the cell, or of all if there are none."""
    guess, certainty = np.zeros(target.size, np.int64), np.zeros(target.size)
    width, size = int(target.max()) + 1, int(cells.max()) + 1
    for fold in parts:
        values, counts = np.unique(target[fold.learn], return_counts=True)
        best = np.full(size, values[counts.argmax()])
        share = np.full(size, counts.max() / counts.sum())
        keys, counts = np.unique(cells[fold.learn] * width + target[fold.learn], return_counts=True)
        order = np.argsort(counts, kind="stable")  # the last one assigned is the most frequent
        learned_cells = keys[order] // width
        best[learned_cells] = keys[order] % width
        share[learned_cells] = counts[order] / np.bincount(cells[fold.learn], minlength=size)[learned_cells]
        guess[fold.predict] = best[cells[fold.predict]]
        certainty[fold.predict] = share[cells[fold.predict]]
    return guess, certainty


def predict_numbers(features: Features, target: Floats, parts: Sequence[Fold]) -> list[Floats]:
    """For each record the number predicted without it: by boosting, by linear regression, looked up.

    One infinite or huge number spoils a regression, but no median of the records that are alike.
    """
    positive = bool((target >= 0).all())
    scaled = np.log1p(target) if positive else target
    guesses = [np.zeros(target.size) for _ in range(3)]
    all_numbers = np.column_stack([features.numbers, *features.lookups])
    for columns in (all_numbers, *(column[:, None] for column in features.numbers.T)):
        guesses.append(_medians(_cells(columns), target, parts))
    with _one_thread():
        for fold in parts:
            inputs, categories = _fittable(features, scaled, fold, values=False)
            guess = np.full(fold.predict.size, np.median(scaled[fold.learn]))
            if categories.size:
                guess = _numbers_of_trees(
                    inputs[fold.learn], categories, scaled[fold.learn], inputs[fold.predict]
                )
            guesses[0][fold.predict] = np.expm1(guess) if positive else guess
            plain = features.numbers[:, ~features.categories]
            guesses[1][fold.predict] = _linear(plain, target, fold)
            logs = np.sign(plain) * np.log(np.maximum(np.abs(plain), 1e-9))
            logged = np.log(np.maximum(target, 1e-9)) if positive else target
            guess = _linear(logs, logged, fold)
            guesses[2][fold.predict] = np.exp(np.clip(guess, -700, 700)) if positive else guess
    return guesses


def _medians(cells: Ints, target: Floats, parts: Sequence[Fold]) -> Floats:
    """The median of the other records of the cell, or of all if there are none."""
    guess, size = np.zeros(target.size), int(cells.max()) + 1
    for fold in parts:
        order = fold.learn[np.lexsort((target[fold.learn], cells[fold.learn]))]
        learned_cells, first, counts = np.unique(cells[order], return_index=True, return_counts=True)
        best = np.full(size, np.median(target[fold.learn]))
        best[learned_cells] = target[order[first + (counts - 1) // 2]]
        guess[fold.predict] = best[cells[fold.predict]]
    return guess


def _fittable(features: Features, target: Any, fold: Fold, *, values: bool) -> tuple[Floats, Flags]:
    """The columns a model can learn from, and which are categories.

    Binning needs two values: a column with one value becomes whether it is missing, and one that
    is the same for all records of the fold is removed.
    """
    inputs = _with_lookups(features, target, fold, values=values)
    categories = np.concatenate([features.categories, np.zeros(len(features.lookups), bool)])
    kept = np.ones(categories.size, bool)
    for column in range(categories.size):
        if _distinct(inputs[fold.learn, column]) < 2:
            inputs[:, column] = np.isnan(inputs[:, column])
            kept[column] = _distinct(inputs[fold.learn, column]) == 2
    return inputs[:, kept], categories[kept]


def _distinct(values: Floats) -> int:
    return int(np.unique(values[~np.isnan(values)]).size)


def _linear(inputs: Floats, target: Floats, fold: Fold) -> Floats:
    """Least squares on the numeric columns, missing values at their mean."""
    filled = np.where(np.isnan(inputs), 0.0, inputs)
    center, spread = filled[fold.learn].mean(axis=0), filled[fold.learn].std(axis=0)
    scaled = (filled - center) / np.where(spread > 0, spread, 1)
    whole = np.column_stack([scaled, np.ones(len(scaled))])
    solution = np.linalg.lstsq(whole[fold.learn], target[fold.learn], rcond=None)[0]
    return np.asarray(whole[fold.predict] @ solution)


def _by_forest(learned_inputs: Floats, target: Ints, predicted_inputs: Floats, seed: int) -> Floats:
    """The probability of each value, by a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        _FOREST_TREES, min_samples_leaf=2, max_features=0.5, random_state=model_seed(seed)
    )
    return np.asarray(forest.fit(_filled(learned_inputs), target).predict_proba(_filled(predicted_inputs)))


def _filled(columns: Floats) -> Floats:
    """A missing value is less than all others."""
    return np.where(np.isnan(columns), _MISSING_NUMBER, columns)


def _by_boosting(
    learned_inputs: Floats, categories: Flags, target: Ints, predicted_inputs: Floats, values: int
) -> Floats:
    """The probability of each value, by gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    steps = (
        _MAX_BOOSTING_STEPS if values == 2 else max(12, min(_MAX_BOOSTING_STEPS, _BOOSTED_TREES // values))
    )
    model = HistGradientBoostingClassifier(
        max_iter=steps,
        learning_rate=0.2,
        min_samples_leaf=10,
        early_stopping=False,
        categorical_features=categories,
    )
    return np.asarray(model.fit(learned_inputs, target).predict_proba(predicted_inputs))


def _numbers_of_trees(
    learned_inputs: Floats, categories: Flags, target: Floats, predicted_inputs: Floats
) -> Floats:
    """The number predicted for each record, by gradient boosting, or of few records by a forest."""
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

    if target.size < _MAX_FOREST_RECORDS:
        forest = RandomForestRegressor(_FOREST_TREES, min_samples_leaf=2, max_features=0.5, random_state=0)
        return np.asarray(forest.fit(_filled(learned_inputs), target).predict(_filled(predicted_inputs)))
    model = HistGradientBoostingRegressor(
        max_iter=_MAX_BOOSTING_STEPS,
        learning_rate=0.25,
        min_samples_leaf=5,
        early_stopping=False,
        categorical_features=categories,
    )
    return np.asarray(model.fit(learned_inputs, target).predict(predicted_inputs))


def _with_lookups(features: Features, target: Any, fold: Fold, *, values: bool) -> Floats:
    """The features, and for each column with many values what others with the same value have.

    A record that is learned from is not part of its own lookup; otherwise the model would trust
    values that occur once.
    """
    extra = []
    for coded in features.lookups:
        member = np.unique(coded, return_inverse=True)[1].ravel()
        means = np.full(target.size, np.nan)
        if values:
            means[:] = _other_values(member, np.asarray(target), fold)
        else:
            sums = np.bincount(member[fold.learn], target[fold.learn], member.max() + 1)
            sizes = np.bincount(member[fold.learn], minlength=member.max() + 1)
            is_learned = np.zeros(target.size)
            is_learned[fold.learn] = 1
            count = sizes[member] - is_learned
            has_records = count > 0
            means[has_records] = (sums[member] - is_learned * target)[has_records] / count[has_records]
        extra.append(means)
    return np.column_stack([features.numbers, *extra])


def _other_values(member: Ints, target: Ints, fold: Fold) -> Floats:
    """The most frequent value of the other records that are alike in a column."""
    learned = np.zeros(target.size, bool)
    learned[fold.learn] = True
    return mode_of_others(member, target, learned)[0]


def model_seed(seed: int) -> int:
    """A seed of any size as one of 32 bits, which is what the models take.

    >>> model_seed(7), model_seed(2**200) < 2**32
    (7, True)
    """
    return seed if seed < 2**32 else int(np.random.SeedSequence(seed).generate_state(1)[0])


def _one_thread() -> Any:
    """One thread for scikit-learn, which is loaded first: only loaded libraries are limited."""
    import sklearn.ensemble  # noqa: F401

    return one_thread()
