"""Records as points whose squared distance is about minus twice the log-likelihood of a mask.

They only serve to find the pairs that are likely; their likelihoods are those of the models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crypsis.array_types import Floats
from crypsis.protection.masking import Transition
from crypsis.protection.masking import _transition_models as models

Columns = Mapping[str, Any]
_IMPOSSIBLE_DISTANCE = 20.0
"""The distance of records that cannot belong together."""
_UNIFORM = np.sqrt(3.0)
"""A uniform distribution over [-d, d] has the standard deviation d / sqrt(3)."""
_MAX_AXIS_CATEGORIES = 8
"""Of up to so many categories each has an axis of its own."""
_RANDOM_AXES = 4
"""More categories are random points on so many axes."""


def coordinates(model: Transition, original: Columns, masked: Columns) -> tuple[Floats, Floats]:
    """The points of the originals and of the masked records; none for masks without a distance."""
    if isinstance(model, models.NoiseModel):
        spread = np.sqrt(model.spread**2 + model.integer / 12) or 1e-9
        return _numbers(original[model.name], spread), _numbers(masked[model.name], spread)
    if isinstance(model, models.CorrelatedNoiseModel):
        values, vectors = np.linalg.eigh(model.covariance + np.diag(np.array(model.integer, float) / 12))
        turn = vectors / np.sqrt(np.maximum(values, 1e-12 * values.max()))
        x, y = (
            np.nan_to_num(np.column_stack([side[name] for name in model.columns])) @ turn
            for side in (original, masked)
        )
        return x, y
    if isinstance(model, models.RankSwapModel):
        reach = max(model.reach, 1) / _UNIFORM
        x, y = (_numbers(_ranks(side[model.name], model.ordered), reach) for side in (original, masked))
        return x, y
    if isinstance(model, models.DateShiftModel):
        x, y = (_numbers(_days(side[model.name]), model.days / _UNIFORM) for side in (original, masked))
        return x, y
    if isinstance(model, models.AssignedModel):
        return _assigned(model, original, masked)
    if isinstance(model, models.MatrixModel | models.RedrawnModel):
        return _categories(model, original[model.name], masked[model.name])
    return np.zeros((_length(original), 0)), np.zeros((_length(masked), 0))


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _numbers(values: Any, spread: float) -> Floats:
    numbers = np.asarray(values, np.float64)
    lost = np.isnan(numbers)
    return np.column_stack([np.where(lost, 0.0, numbers) / spread, _IMPOSSIBLE_DISTANCE * lost])


def _ranks(values: Any, ordered: Floats) -> Floats:
    numbers = np.asarray(values, np.float64)
    middle = (np.searchsorted(ordered, numbers, "left") + np.searchsorted(ordered, numbers, "right")) / 2
    return np.where(np.isnan(numbers), np.nan, middle)


def _days(values: Any) -> Floats:
    days = np.asarray(values, "datetime64[us]")
    numbers = days.astype(np.int64) / 86_400e6
    return np.where(np.isnat(days), np.nan, numbers)


def _assigned(model: models.AssignedModel, original: Columns, masked: Columns) -> tuple[Floats, Floats]:
    """What each original became most often, and what each masked record is."""
    count = max(model.after.count, 1)
    before, after = model.pairs // count, model.pairs % count
    best = np.full(model.before.count + 1, -1.0)
    order = np.argsort(model.shares, kind="stable")
    best[before[order]] = after[order]
    expected = best[model.before.places(original)][:, None]
    released = model.after.places(masked)[:, None].astype(float)
    return _IMPOSSIBLE_DISTANCE * expected, _IMPOSSIBLE_DISTANCE * released


def _categories(
    model: models.MatrixModel | models.RedrawnModel, original: Any, masked: Any
) -> tuple[Floats, Floats]:
    """Codes whose distance is that of a change, on average."""
    at, to = (models.places(side, model.values) for side in (original, masked))
    many = len(model.values)
    if isinstance(model, models.RedrawnModel):
        stay, change = model.stay + (1 - model.stay) * model.shares, (1 - model.stay) * model.shares
    else:
        stay = np.diag(model.matrix)
        change = (1 - stay) / max(many - 1, 1)
    ratio = np.log(np.maximum(stay, 1e-9)) - np.log(np.maximum(change, 1e-9))
    scale = np.sqrt(max(float(np.mean(ratio)), 0.0))
    rng = np.random.default_rng(31)
    if many <= _MAX_AXIS_CATEGORIES:
        codes = np.eye(many)
    else:
        codes = rng.normal(size=(many, _RANDOM_AXES)) / np.sqrt(_RANDOM_AXES)
    codes = np.vstack([scale * codes, np.full((2, codes.shape[1]), _IMPOSSIBLE_DISTANCE)])  # missing, unknown
    return codes[at], codes[to]
