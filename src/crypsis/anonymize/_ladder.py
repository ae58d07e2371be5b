"""The way up of a column: what each of its values becomes on each level, and what that loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.anonymize._steps import Intervals, Level, Step, Suppress

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ladder:
    """Levels from what is released now (0) up to missing (the last).

    `codes[l][j]` is the place in `labels[l]` of what value j becomes on level l; `loss[l][j]` is
    the share of the column's variety lost by that, 0 for itself and 1 for missing.
    """

    name: str
    labels: tuple[tuple[Any, ...], ...]
    codes: Codes
    loss: Floats

    @property
    def top(self) -> int:
        """The level on which every value is missing."""
        return len(self.labels) - 1


def ladder(name: str, values: Sequence[Any], base: Step, coarser: Sequence[Step]) -> Ladder:
    """The ladder above a column that `base` was applied to; `values` are what it holds now.

    What a level loses is measured as NCP does (Xu et al. 2006): for a name of a hierarchy the share
    of the hierarchy's values it stands for, for an interval the share of the range, for anything
    else the share of the values that occur; nothing for a value that stands for itself alone.
    """
    raws = [None if value is None else base.raw_value(value) for value in values]
    levels: list[list[Any]] = [list(values)]
    losses = [_loss(base, raws, levels[0])]
    for step in coarser:
        if isinstance(step, Suppress):
            continue
        named = [None if value is None else step.label(value) for value in raws]
        levels.append(named)
        losses.append(np.maximum(_loss(step, raws, named), losses[-1]))
    levels.append([None] * len(values))
    there = np.array([value is not None for value in values], float)
    losses.append(there)
    coded = [_code(level) for level in levels]
    return Ladder(
        name,
        tuple(labels for _, labels in coded),
        np.array([codes for codes, _ in coded], np.int32).reshape(len(levels), len(values)),
        np.array(losses).reshape(len(levels), len(values)) * there,
    )


def _code(named: Sequence[Any]) -> tuple[list[int], tuple[Any, ...]]:
    places: dict[Any, int] = {}
    codes = [places.setdefault(label, len(places)) for label in named]
    return codes, tuple(places)


def _loss(step: Step, raws: Sequence[Any], named: Sequence[Any]) -> Floats:
    if isinstance(step, Level):
        every = sum(map(len, step.groups.values()))
        share = {label: _share(len(values), every) for label, values in step.groups.items()}
        return np.array([share.get(label, 0.0) for label in named])
    if isinstance(step, Intervals):
        return _interval_loss(step, raws)
    sizes: dict[Any, set[Any]] = {}
    for value, label in zip(raws, named, strict=True):
        sizes.setdefault(label, set()).add(value)
    every = len(set(raws))
    return np.array([_share(len(sizes[label]), every) for label in named])


def _share(part: int, whole: int) -> float:
    return 0.0 if part <= 1 else part / whole


def _interval_loss(step: Intervals, raws: Sequence[Any]) -> Floats:
    numbers = [float(value) for value in raws if value is not None]
    if not numbers or not step.upper:
        return np.ones(len(raws))
    edges = np.array([min(*numbers, step.upper[0]), *step.upper, max(*numbers, step.upper[-1])])
    edges = np.clip(
        edges, -np.finfo(float).max / 4, np.finfo(float).max / 4
    )  # infinities have width
    widths = np.diff(edges) / max(edges[-1] - edges[0], np.finfo(float).tiny)
    if len(widths) > 1:
        # The extremes are not told, so the first and last are as wide as their neighbours at least.
        widths[0], widths[-1] = max(widths[0], widths[1]), max(widths[-1], widths[-2])
    places = np.searchsorted(step.upper, [np.nan if v is None else float(v) for v in raws])
    return np.asarray(widths[np.minimum(places, widths.size - 1)])


def node_losses(ladders: Sequence[Ladder], rows: Sequence[NDArray[np.int64]]) -> list[Floats]:
    """For each column the average loss of each level over the rows (`rows`: per value)."""
    return [
        (one.loss * weight).sum(axis=1) / max(1, int(weight.sum()))
        for one, weight in zip(ladders, rows, strict=True)
    ]
