"""A matcher that is learned from the true matches of one half of the people, tried on the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.linkage._ranks import Floats
from crypsis.linkage.suite._candidates import Candidates
from crypsis.linkage.suite._files import Files

_MAX_LEARNED_TARGETS = 1_000
"""Known matches of a half that the model learns from."""
_LEARNED_CANDIDATES = 12
"""Candidates of each target with the highest scores: the others teach little."""
_MIN_KNOWN_MATCHES = 60
"""With fewer known matches no model is learned."""


def learned(files: Files, pairs: Candidates, features: Floats) -> Floats | None:
    """The log odds of each pair, by gradient boosting; None if too few matches are known."""
    if files.own is None or len(files.known) < _MIN_KNOWN_MATCHES:
        return None
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    mine = pairs.place == files.own[pairs.target]
    fold = files.fold[pairs.target]
    near_pairs = _ahead(pairs, features[:, len(files.fields)]) | mine
    log_odds = np.zeros(len(mine))
    for half in (0, 1):
        learn = np.flatnonzero(_some(files, half)[pairs.target] & near_pairs)
        truth = mine[learn]
        if truth.sum() < 10 or truth.all():
            return None
        model = HistGradientBoostingClassifier(
            max_iter=40, max_leaf_nodes=12, learning_rate=0.2, early_stopping=False, random_state=0
        )
        test = np.flatnonzero(fold == half)
        with threadpool_limits(1):  # so few rows gain nothing from threads
            model.fit(features[learn], truth)
            log_odds[test] = model.decision_function(features[test])
    return log_odds


def _ahead(pairs: Candidates, score: Floats) -> NDArray[np.bool_]:
    """The candidates with the highest scores of each target: the others teach little."""
    order = np.lexsort((-score, pairs.target))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - pairs.start[pairs.target[order]]
    return rank < _LEARNED_CANDIDATES


def _some(files: Files, half: int) -> NDArray[np.bool_]:
    chosen = np.zeros(len(files.targets), bool)
    chosen[files.known[files.fold[files.known] != half][:_MAX_LEARNED_TARGETS]] = True
    return chosen


def features_of(
    files: Files, pairs: Candidates, weights: list[Floats], scores: Sequence[Floats | None]
) -> Floats:
    """What the matcher sees of a pair: distances and agreement by column, and the scores."""
    rows = files.targets[pairs.target]
    columns = [*weights, sum(weights, np.zeros(len(rows)))]
    columns += [field.apart(rows, pairs.place) for field in files.fields]
    for number in files.numbers:
        x, y = number.quantiles()
        columns.append(np.abs(x[rows] - y[pairs.place]))
    known_scores = [score for score in scores if score is not None] or [columns[-1]]
    columns += known_scores
    # How far each is behind the best candidate of its target: links compete.
    columns += [score - pairs.best(score)[pairs.target] for score in (columns[len(weights)], *known_scores)]
    return np.column_stack(columns).astype(np.float32)
