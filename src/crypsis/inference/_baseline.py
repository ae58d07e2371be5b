"""The baseline of inference: what a model without a class's members predicts for them.

That a group differs from all people is knowledge, and a model learns it from other people; that the
members of one class share a value is disclosure, and no model learns it from others. The states of a
class are predicted from its quasi-identifiers by a logistic regression with the class left out: the
effects of columns add up, so that what is known of men and of graduates predicts graduated men, and so
do those of pairs of columns, where the other classes show that they matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.counting.arrays import sums_of
from crypsis.counting.cells import Cells
from crypsis.inference._class_regression import chances_of, deviance, log_odds
from crypsis.inference._effects import EffectBlock, Effects
from crypsis.threads import one_thread

_PENALTIES = (64.0, 16.0, 4.0, 1.0, 0.25)
"""From strong to weak, as long as it helps: effects have a variance of one over this in log odds."""
_REMEMBERED: dict[bytes, Floats] = {}
"""The last baselines: a release is measured when it is found, made, written and assessed."""
_MAX_REMEMBERED = 4
"""Baselines that are remembered: the last ones."""
_MAX_REMEMBERED_CELLS = 1_000_000
"""Probabilities of a baseline that is remembered: 8 MB; a larger one is computed again."""


def baseline(
    classes: Cells, member: Ints, state: Ints, counts: NDArray[Any], states: int, wanted: Ints
) -> Floats:
    """The predicted probability of each state (columns) in each class wanted (rows).

    Cell i has `counts[i]` records or people of class `member[i]` in `state[i]`, of `states` states.
    Each state has a regression of its own (Begg and Gray 1984); their probabilities are scaled to 1.
    """
    mark = _mark(classes, (member, state, counts, wanted), states)
    predicted = _REMEMBERED.get(mark)
    if predicted is None:
        predicted = _predicted(classes, member, state, counts, states, wanted)
        if predicted.size <= _MAX_REMEMBERED_CELLS:
            predicted.flags.writeable = False
            _REMEMBERED[mark] = predicted
            for old in list(_REMEMBERED)[:-_MAX_REMEMBERED]:
                _REMEMBERED.pop(old, None)
    return predicted


def _mark(classes: Cells, arrays: Sequence[NDArray[Any]], states: int) -> bytes:
    """A digest of all that a baseline depends on."""
    digest = hashlib.sha256(repr((len(classes), states)).encode())
    codes: list[NDArray[Any]] = [*arrays, *classes.codes]
    for array in codes:
        digest.update(repr((array.dtype.str, array.size)).encode())
        digest.update(np.ascontiguousarray(array).data)
    for values in classes.values:
        batch = pa.RecordBatch.from_arrays([values], ["values"])
        digest.update(batch.schema.serialize())
        digest.update(batch.serialize())
    return digest.digest()


def _predicted(
    classes: Cells, member: Ints, state: Ints, counts: NDArray[Any], states: int, wanted: Ints
) -> Floats:
    """The prediction itself."""
    sizes = np.bincount(member, counts, len(classes)).astype(np.float64)
    totals = np.bincount(state, counts, states)
    predicted = np.zeros((wanted.size, states))
    if len(classes) < 2:  # nobody is left to differ from: what all records share is asked of presence
        predicted[:] = totals / max(1, sizes.sum())
        return predicted
    effects = Effects.of(classes, sizes)
    present = np.flatnonzero(totals).tolist()
    with one_thread():
        for state_present in present[:-1] if len(present) == 2 else present:
            cells = state == state_present
            in_state = np.bincount(member[cells], counts[cells], len(classes)).astype(np.float64)
            predicted[:, state_present] = _chances(effects, sizes, in_state)[wanted]
    if len(present) == 2:
        predicted[:, present[1]] = 1 - predicted[:, present[0]]
    return np.asarray(predicted / np.maximum(predicted.sum(axis=1), 1e-300)[:, None])


def _chances(effects: Effects, sizes: Floats, counts: Floats) -> Floats:
    """The probability of a state in each class, by the model that predicts classes left out best.

    That is its share in the other classes, or the effects of columns, or also those of pairs, each
    with the penalty with which the classes left out are likeliest.
    """
    share = np.maximum(counts.sum() - counts, 0) / np.maximum(sizes.sum() - sizes, 1e-9)
    if not effects.columns:
        return np.asarray(share)
    rows, row = effects.classes.size, effects.row
    row_sizes, row_counts = (sums_of(row, numbers, rows) for numbers in (sizes, counts))
    scores, best = log_odds(share), None
    least = deviance(scores, sizes, counts)
    pairs: list[EffectBlock] = []
    for turn in range(2):
        start = None
        for penalty in _PENALTIES:
            model = effects.regression(pairs, penalty)
            fitted = model.fit(row_sizes, row_counts, start)
            left_out = model.left_out(fitted, row, sizes, counts)
            loss = deviance(left_out, sizes, counts)
            if loss >= least:
                break
            start, least, scores, best = fitted.coefficients, loss, left_out, (model, fitted)
        if best is None or turn:
            break
        chances = chances_of(best[1].scores)
        weights = row_sizes * chances * (1 - chances)
        pairs = effects.pairs(row_counts - row_sizes * chances, weights)
        if not pairs:
            break
    if best is None:
        return np.asarray(share)
    return chances_of(best[0].refitted(best[1], scores, row, sizes, counts))
