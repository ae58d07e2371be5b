"""Prediction of sensitive attributes from all other released columns (held-out records)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.columns.codes import codes_of
from crypsis.counting import arrays
from crypsis.dataset import SAMPLE, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ColumnError, RoleError, unknown_columns
from crypsis.inference._prediction_models import (
    Features,
    Fold,
    bounded_numbers,
    folds,
    predict_numbers,
    predict_values,
)
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Number, Result, raw
from crypsis.tables import Kind
from crypsis.tables.sampling import sample

CERTAIN_SHARE = 0.95
"""The share of correct predictions from which predictions are almost certain."""
_RARE_SHARE = 0.1
"""A value that no more of the records have is rare, and the gain in its probability counts in full."""
_MIN_RARE_PART = 0.05
"""Of those who have a rare value: knowledge of fewer does not count."""
_MIN_CERTAIN_RECORDS = 10
"""Fewer records, with a value or with an almost certain prediction of it, are not judged."""
_MAX_CATEGORIES = 20
"""A number with more distinct values is predicted as a number, others value by value."""
_FOLDS = 3
"""Parts of the records, each predicted from the others."""
_MAX_SMALL_RECORDS = 300
"""Of no more records more parts are made, so that enough records are left to learn from."""
_SMALL_FOLDS = 5
"""Parts of so few records."""


class CertainValue(Result):
    """A value that is predicted almost certainly for some of the records that have it."""

    value: object = raw()
    prior: float
    """The share of all records that have the value."""
    records: int
    """The held-out records that have it."""
    predicted: int
    """The records for which it is predicted almost certainly."""
    correct: int
    """Those of them that have it."""

    @property
    def share(self) -> float:
        """The share of the records with the value for which it is predicted almost certainly."""
        return self.correct / self.records

    @property
    def gain(self) -> float:
        """What counts: the share; of a rare value the gain in probability, in full.

        A value that at most one record in ten has is rare. Almost certain knowledge of it counts
        if it concerns at least one in twenty of those who have it.
        """
        if self.prior > _RARE_SHARE:
            return self.share
        if self.share < _MIN_RARE_PART:
            return 0.0
        return max(self.share, self.correct / self.predicted - self.prior)


class PredictionGain(Result):
    """How much better one sensitive attribute is predicted with the other released columns."""

    target: str
    known: tuple[str, ...]
    """The columns that the model predicts from."""
    numeric: bool
    """Whether a prediction is correct if it is within the tolerance."""
    records: int
    """The held-out records that were predicted."""
    values: int
    """The distinct values of the target in them."""
    tolerance: float
    prior: float
    """The share that is predicted correctly without other columns: always the same value."""
    accuracy: Number
    """The share that is predicted correctly from the other columns."""
    certain: tuple[CertainValue, ...]
    """Values that are predicted almost certainly, the largest gain first."""
    gain: Number
    """The larger of the share of errors avoided and the largest gain of a value; from 0 to 1."""

    @property
    def errors_avoided(self) -> Number:
        """The share of the errors without other columns that they avoid; 0 if none."""
        return _avoided(self.accuracy, self.prior)


@takes_roles(without=SAMPLE)
def prediction_gain(
    data: Data,
    target: Columns | None = None,
    columns: Columns | None = None,
    *,
    tolerance: float = 0.05,
    size: int = 10_000,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> tuple[PredictionGain, ...]:
    """Predict sensitive attributes of held-out records from all other released columns.

    Parameters
    ----------
    data : Dataset, frame or path
        The release.
    target : str or sequence of str, optional
        The sensitive attributes; by default all of them.
    columns : str or sequence of str, optional
        What the intruder knows; by default all released columns that are not signed off.
    tolerance : float
        A predicted number is correct within this share of the number (of at least a tenth of the
        median); a number that may be negative and a date within this share of the interquartile
        range.
    size : int
        The most records that are used; of more a sample is drawn.
    seed : int
        The seed of the sample, of the folds and of the model.
    **roles
        See `crypsis.read`.

    Returns
    -------
    tuple of PredictionGain
        One for each sensitive attribute, with intervals: which records are held out together is drawn,
        and a threshold within the interval is neither met nor exceeded.

    Raises
    ------
    RoleError
        If there is no sensitive attribute.

    Notes ----- Records are split into folds (those of a person together), and each is predicted by a model
    that never saw it: histogram gradient boosting; a random forest for more than twelve values or few
    records; for numbers also linear regression, plain and of logarithms, and the median of the records that
    are alike in a column or in all of them, of which the best counts. What such a model knows is statistics:
    it predicts a person who is not in the data equally well. That a smoker is more likely ill is knowledge,
    not disclosure, and so a mere correlation gives a small gain. The gain is large only where other columns
    nearly replace the attribute: a code for it, a drug for a disease, a sum for its parts. It is the larger
    of

    - the share of errors avoided, (accuracy - prior) / (1 - prior), where the prior is the share of
      the most frequent value, or of the numbers within the tolerance of one number;
    - for each value that at most half of the records have, the share of its records for which it is
      predicted almost certainly (at least 95 % of at least ten predictions are correct), and for a
      value that at most one record in ten has the gain in probability, if that concerns at least
      one in twenty of its records.

    Records with a missing target are not predicted, and harmless values (`harmless` in the roles
    file) are not counted among the values. Cost: three to five models of at most `size` records
    for each attribute; one thread.

    References
    ----------
    Ke et al. (2017), LightGBM. Goodman and Kruskal (1954): lambda, the share of errors avoided.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ward = ["a", "b", "c", "d"] * 50
    >>> ill = ["flu", "flu", "gout", "gout"] * 50
    >>> (found,) = prediction_gain(pa.table({"ward": ward, "ill": ill}), sensitive="ill")
    >>> found.prior, float(found.accuracy), float(found.gain)
    (0.5, 1.0, 1.0)
    """
    dataset = as_dataset(data, **roles)
    targets = dataset.sensitive if target is None else tuple(as_columns(target))
    if not targets:
        raise RoleError(
            "No column is a sensitive attribute.", code="no-sensitive-attributes", hint="Set {sensitive}."
        )
    names = dataset.knowable if columns is None else as_columns(columns)
    used_columns = [*targets, *names]
    if any(name not in dataset.names for name in used_columns):
        raise unknown_columns(used_columns, dataset.names)
    nested = [name for name in targets if dataset.rows.column(name).kind is Kind.NESTED]
    if nested:
        raise ColumnError(
            f"Column {nested[0]!r} has lists, structures or bytes, which cannot be predicted.",
            code="nested-column",
            columns=tuple(nested),
        )
    names = tuple(n for n in names if dataset.rows.column(n).kind is not Kind.NESTED)
    dataset = dataset.as_written([name for name in names if name not in targets])
    person = [dataset.person] if dataset.person is not None else []
    fetched = list(dict.fromkeys([*targets, *names, *person]))
    table = sample(dataset.rows, size, seed=seed, names=fetched)
    sampled = table.num_rows < dataset.count
    return tuple(
        _predicted(
            dataset, _sorted(table, [target, *names, *person]), target, names, tolerance, seed, sampled
        )
        for target in targets
    )


def _sorted(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The records by their values, so that their order, which engines change, changes no fold."""
    table = table.select(list(dict.fromkeys(names)))
    return table.take(arrays.places(np.lexsort([codes_of(column) for column in table.columns])))


def _predicted(
    data: Dataset,
    table: pa.Table,
    target: str,
    names: Sequence[str],
    tolerance: float,
    seed: int,
    sampled: bool,
) -> PredictionGain:
    predictors = tuple(name for name in names if name != target)
    table = table.filter(table[target].is_valid())
    values = bounded_numbers(table[target])
    if values is not None and np.isnan(values).any():
        table, values = (
            table.take(arrays.places(np.flatnonzero(~np.isnan(values)))),
            values[~np.isnan(values)],
        )
    coded = codes_of(table[target])
    distinct = int(coded.max(initial=-1)) + 1
    if distinct < 2 or not predictors:
        correct = 1.0 if distinct == 1 else 0.0
        return PredictionGain(
            target, predictors, False, table.num_rows, distinct, tolerance, correct, correct, (), 0.0
        )
    groups = None if data.person is None else codes_of(table[data.person])
    number = _SMALL_FOLDS if table.num_rows <= _MAX_SMALL_RECORDS else _FOLDS
    parts = [
        part for part in folds(table.num_rows, groups, number, seed) if part.learn.size and part.predict.size
    ]
    features = Features.of(table, predictors)
    if values is not None and distinct > _MAX_CATEGORIES:
        return _numbers(target, predictors, features, values, parts, tolerance)
    note = data.notes.get(target)
    harmless = {str(value) for value in note.harmless} if note is not None else set()
    named = _values_by_code(table[target], coded)
    return _values(target, predictors, features, coded, parts, seed, sampled, named, harmless, tolerance)


def _numbers(
    target: str,
    predictors: tuple[str, ...],
    features: Features,
    values: Floats,
    parts: Sequence[Fold],
    tolerance: float,
) -> PredictionGain:
    tolerated = _nearness(values, tolerance)
    predicted = predict_numbers(features, values, parts)
    correct = max(int((np.abs(guess - values) <= tolerated).sum()) for guess in predicted)
    prior = _best_constant(values, tolerated)
    accuracy = _share(correct, values.size)
    return PredictionGain(
        target,
        predictors,
        True,
        values.size,
        np.unique(values).size,
        tolerance,
        prior,
        accuracy,
        (),
        _avoided(accuracy, prior),
    )


def _values(
    target: str,
    predictors: tuple[str, ...],
    features: Features,
    coded: Ints,
    parts: Sequence[Fold],
    seed: int,
    sampled: bool,
    named: Sequence[object],
    harmless: set[str],
    tolerance: float,
) -> PredictionGain:
    guess, certainty = predict_values(features, coded, parts, seed)
    counts = np.bincount(coded)
    accuracy = _share(int((guess == coded).sum()), coded.size)
    prior = float(counts.max() / coded.size)
    certain = []
    for value in np.flatnonzero((counts >= _MIN_CERTAIN_RECORDS) & (counts <= coded.size / 2)).tolist():
        flagged = _certain_records(guess == value, certainty, coded == value)
        if flagged is None or str(named[value]) in harmless:
            continue
        certain.append(
            CertainValue(
                named[value],
                float(counts[value] / coded.size),
                int(counts[value]),
                int(flagged.sum()),
                int((coded[flagged] == value).sum()),
            )
        )
    certain.sort(key=lambda value: -value.gain)
    gain = _avoided(accuracy, prior)
    if certain and certain[0].gain > float(gain):
        worst = certain[0]
        gain = worst.gain
        if sampled and worst.prior > _RARE_SHARE:
            gain = _share(worst.correct, worst.records)
    return PredictionGain(
        target, predictors, False, coded.size, counts.size, tolerance, prior, accuracy, tuple(certain), gain
    )


def _certain_records(
    predicted: NDArray[np.bool_], certainty: Floats, true: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """The records with the most certain predictions, as many as are almost always correct."""
    places = np.flatnonzero(predicted)
    places = places[np.argsort(-certainty[places], kind="stable")]
    correct = np.cumsum(true[places]) / np.arange(1, places.size + 1)
    enough = np.flatnonzero(correct >= CERTAIN_SHARE)
    if not enough.size or enough[-1] + 1 < _MIN_CERTAIN_RECORDS:
        return None
    flagged = np.zeros(predicted.size, bool)
    flagged[places[: enough[-1] + 1]] = True
    return flagged


def _values_by_code(column: pa.ChunkedArray, coded: Ints) -> list[object]:
    first = np.unique(coded, return_index=True)[1]
    return [value.as_py() for value in column.take(arrays.places(first))]


def _nearness(values: Floats, tolerance: float) -> Floats:
    """How far from each number a prediction may be to be correct."""
    if (values < 0).any():
        low, high = np.percentile(values, [25, 75])
        return np.full(values.size, tolerance * (high - low))
    size = np.abs(values)
    return np.asarray(tolerance * np.maximum(size, np.median(size) / 10))


def _best_constant(values: Floats, tolerated: Floats) -> float:
    """The largest share of the numbers within their tolerance of one number."""
    ends = np.concatenate([values - tolerated, values + tolerated])
    step = np.concatenate([np.ones(values.size), -np.ones(values.size)])
    order = np.lexsort((-step, ends))
    return float(np.cumsum(step[order]).max() / values.size)


def _share(correct: int, records: int) -> Number:
    """A share of held-out records with its interval (Wilson 1927).

    Other folds, of another seed, give another share; their spread is within the interval.
    """
    share = correct / records
    z = 1.959963984540054
    center = (share + z * z / (2 * records)) / (1 + z * z / records)
    spread = math.sqrt(share * (1 - share) / records + z * z / (4 * records * records))
    half = z * spread / (1 + z * z / records)
    low, high = max(0.0, min(center - half, share)), min(1.0, max(center + half, share))
    return Estimate(share, low, high, method="Wilson interval of held-out records")


def _avoided(accuracy: Number, prior: float) -> Number:
    if prior >= 1:
        return 0.0

    def rule(share: float) -> float:
        return min(1.0, max(0.0, (share - prior) / (1 - prior)))

    return accuracy.map(rule) if isinstance(accuracy, Estimate) else rule(float(accuracy))
