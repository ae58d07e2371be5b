"""The baseline of inference: what a model without a class's members predicts for them.

That a group differs from all people is knowledge, and a model learns it from other people; that the
members of one class share a value is disclosure, and no model learns it from others. Classes are
divided into folds; the states of a class are predicted from its quasi-identifiers by a model fitted
to the other folds (cross-fitting, Chernozhukov et al. 2018), so no member of a class is in the
model that predicts it.
"""

from __future__ import annotations

import hashlib
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.hierarchies.labels import as_text
from crypsis.inference._boosted_trees import BoostedTrees
from crypsis.inference.text_numbers import read_numbers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW_RECORDS = 200
"""With fewer the baseline is the share in the other classes."""
_FEW_CLASSES = 300
"""Up to so many classes a logistic regression is fitted, above gradient boosting."""
_TRAINING_RECORDS = 8_000
_MANY_CATEGORIES = 200
_REMEMBERED: dict[bytes, Floats] = {}
"""The last baselines: a release is measured when it is found, made, written and assessed."""
_COLUMNS: dict[bytes, _Column] = {}
"""The last columns that were read."""
_REMEMBERED_LAST, _REMEMBERED_COLUMNS, _REMEMBERED_SIZE = 4, 32, 1_000_000


def baseline(
    classes: Cells, member: Ints, state: Ints, counts: Floats, states: int, wanted: Ints, seed: int
) -> Floats:
    """The predicted probability of each state (columns) in each class wanted (rows).

    Cell i has `counts[i]` records, or weighs as much, of class `member[i]` in `state[i]`, of `states` states. Up to 300
    classes the model is a logistic regression: its effects add up, so that what is known of men and
    of graduates predicts graduated men. Above, gradient boosting is fitted to about 8,000 records of
    the other folds.
    """
    sizes = np.asarray(np.bincount(member, counts, minlength=len(classes)), np.float64)
    mark = _mark(classes, (member, state, counts, wanted), states, seed)
    found = _REMEMBERED.get(mark)
    if found is None:
        found = _modelled(classes, member, state, counts, states, wanted, seed, sizes)
        if found.size <= _REMEMBERED_SIZE:
            found.flags.writeable = False
            _REMEMBERED[mark] = found
            for old in list(_REMEMBERED)[:-_REMEMBERED_LAST]:
                _REMEMBERED.pop(old, None)
    return found


def _mark(classes: Cells, arrays: Sequence[NDArray[Any]], states: int, seed: int) -> bytes:
    """A digest of all that a baseline depends on."""
    digest = hashlib.sha256(repr((len(classes), states, seed)).encode())
    every: list[NDArray[Any]] = [*arrays, *classes.codes]
    for array in every:
        digest.update(repr((array.dtype.str, array.size)).encode())
        digest.update(np.ascontiguousarray(array).data)
    for values in classes.values:
        digest.update(_digest(values))
    return digest.digest()


def _digest(values: pa.Array) -> bytes:
    """A digest of the values and their type; equal values that lie differently may have another."""
    batch = pa.RecordBatch.from_arrays([values], ["values"])
    written = hashlib.sha256(batch.schema.serialize())
    written.update(batch.serialize())
    return written.digest()


def _modelled(
    classes: Cells, member: Ints, state: Ints, counts: Floats, states: int, wanted: Ints, seed: int,
    sizes: Floats,
) -> Floats:  # fmt: skip
    """The prediction itself."""
    if sizes.sum() < _FEW_RECORDS or states < 2 or len(classes) < 2:
        return _share_of_others(member, state, counts, states, wanted, sizes)
    few = len(classes) <= _FEW_CLASSES
    order = _hashed(classes, seed)
    fold = _folds(classes, order, few)
    kinds, features = _features(classes)
    keys, inverse = np.unique(member * states + state, return_inverse=True)
    member, state = keys // states, keys % states
    counts = np.bincount(inverse, counts)
    if few:
        features = _effects(kinds, features)
    found = np.zeros((wanted.size, states))
    for turn in range(int(fold.max()) + 1):
        asked = np.flatnonzero(fold[wanted] == turn)
        cells = np.flatnonzero(fold[member] != turn)
        if not asked.size:
            continue
        if not few:
            cells = cells[_drawn(counts[cells], order[member[cells]])]
        known, coded = np.unique(state[cells], return_inverse=True)
        given, of = np.unique(member[cells], return_inverse=True)
        totals = np.zeros((given.size, known.size))
        totals[of, coded] = counts[cells]
        predicted = _by_logistic if few else _by_boosting
        found[np.ix_(asked, known)] = (
            np.ones((asked.size, 1))
            if known.size == 1
            else predicted(features[given], kinds, totals, features[wanted[asked]])
        )
    return found


def _folds(classes: Cells, order: Ints, few: bool) -> Ints:
    """The fold of each class.

    Few classes are divided by the sum of their codes, as in a Latin square: classes that share a
    value of one column are in different folds, so every value remains in the other folds. Many are
    divided by a hash of their values, which other classes do not change.
    """
    if not few:
        return order % 3
    codes = np.sum([code.astype(np.int64) for code in classes.codes], axis=0) % 8
    if np.bincount(codes).max() > len(classes) / 2:  # the square is not filled
        codes = np.arange(len(classes)) % 8
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _hashed(classes: Cells, seed: int) -> Ints:
    """A number for each class that depends on its values alone."""
    found = np.full(len(classes), seed % 2**32, np.uint64)
    for codes, values in zip(classes.codes, classes.values, strict=True):
        found = (found ^ _read(values).marks[codes]) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return (found >> np.uint64(33)).astype(np.int64)


def _drawn(counts: Floats, order: Ints) -> Ints:
    """The cells of some classes, those with the smallest hash, or all."""
    if counts.sum() <= _TRAINING_RECORDS:
        return np.arange(counts.size)
    first = np.argsort(order, kind="stable")
    return first[: int(np.searchsorted(np.cumsum(counts[first]), _TRAINING_RECORDS)) + 1]


def _share_of_others(
    member: Ints, state: Ints, counts: Floats, states: int, wanted: Ints, sizes: Floats
) -> Floats:
    """The share of each state in all classes but one; of a class of everybody its own."""
    totals = np.bincount(state, counts, minlength=states)
    if sizes.size < 2:  # nobody is left to differ from: what all records share is asked of presence
        return np.tile(totals / max(1, sizes.sum()), (wanted.size, 1))
    own = np.zeros((sizes.size, states))
    np.add.at(own, (member, state), counts)
    left = np.maximum(sizes.sum() - sizes[wanted], 1)
    return np.asarray((totals - own[wanted]) / left[:, None])


def _features(classes: Cells) -> tuple[list[bool], Floats]:
    """The quasi-identifiers of each class as numbers, and which of them are categories."""
    kinds, columns = [], []
    for codes, values in zip(classes.codes, classes.values, strict=True):
        numbers = _read(values).numbers
        kinds.append(numbers is None and len(values) <= _MANY_CATEGORIES)
        columns.append(codes.astype(np.float64) if numbers is None else numbers[codes])
    return kinds, np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class _Column:
    """The values of a quasi-identifier."""

    marks: NDArray[np.uint64]
    """A hash of each."""
    numbers: Floats | None
    """As numbers, where most are; labels of intervals are categories."""


def _read(values: pa.Array) -> _Column:
    """The values of a column, read once for all sensitive attributes."""
    key = _digest(values)
    found = _COLUMNS.get(key)
    if found is None:
        texts = ("" if v is None else as_text(v) for v in values.to_pylist())
        marks = np.array([zlib.crc32(text.encode()) for text in texts], np.uint64)
        read = read_numbers(values)
        found = _Column(marks, read.numbers if read.mostly and not read.ranges else None)
        if len(values) <= _REMEMBERED_SIZE:
            _COLUMNS[key] = found
            for old in list(_COLUMNS)[:-_REMEMBERED_COLUMNS]:
                _COLUMNS.pop(old, None)
    return found


def _by_boosting(given: Floats, kinds: list[bool], totals: Floats, asked: Floats) -> Floats:
    """The probabilities of the states that the model is fitted to, in their order."""
    two = totals.shape[1] == 2
    model = BoostedTrees(
        steps=40 if two else 12, rate=0.1 if two else 0.25, leaves=15, least=20, penalty=1.0
    )
    return model.chances(given, np.array(kinds), totals, asked)


def _by_logistic(given: Floats, kinds: list[bool], totals: Floats, asked: Floats) -> Floats:
    """The same by a logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    row, state = np.nonzero(totals)
    # More threads would wait for each other in fits this small; a regression that has not
    # converged yet is a good baseline already.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(solver="newton-cholesky", max_iter=50)
        model.fit(given[row], state, sample_weight=totals[row, state])
        return np.asarray(model.predict_proba(asked))


def _effects(kinds: list[bool], features: Floats) -> Floats:
    """Numbers in units of their spread, with squares, and an indicator of each category."""
    parts: list[Floats] = []
    for column, category in zip(features.T, kinds, strict=True):
        if category:
            parts.append((column[:, None] == np.unique(column)) * 1.0)
        else:
            center, spread = np.nanmean(column), np.nanstd(column) or 1.0
            unit = np.nan_to_num((column - center) / spread)
            parts.append(np.column_stack([unit, unit**2, np.isnan(column)]))
    return np.hstack(parts)
