"""The pairs that an intruder considers: of each target the places that are near in some sense."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._fields import NumberField, TextField
from crypsis.linkage.suite._files import Files
from crypsis.scientific import spatial

_MAX_ALL_PAIRS = 40_000
"""Up to so many pairs of a target and a place are all candidates."""
_NEAREST_PLACES = 6
"""Candidates of each target by ranks, by values and by texts."""
_NEAREST_SCALED_PLACES = 12
"""Candidates of each target on the scale of the masking."""
_SEARCHED_VARIATES = 6
"""The search for near records uses so many of the canonical variates; the scores use all."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of targets (positions among them) and places, in the order of the targets."""

    target: Ints
    place: Ints
    start: Ints

    @classmethod
    def of(cls, targets: int, pairs: list[tuple[Ints, Ints]], places: int) -> Candidates:
        """The distinct pairs."""
        keys = np.unique(np.concatenate([query * places + candidate for query, candidate in pairs]))
        target, candidate = keys // places, keys % places
        start = np.searchsorted(target, np.arange(targets + 1))
        return cls(target, candidate, start)

    @cached_property
    def sizes(self) -> Ints:
        """The number of candidates of each target."""
        return np.diff(self.start)

    def best(self, score: Floats) -> Floats:
        """The highest score of each target."""
        return np.maximum.reduceat(score, self.start[:-1])

    def total(self, value: Floats) -> Floats:
        """The sum over the candidates of each target."""
        return np.add.reduceat(value, self.start[:-1])


def candidates(
    files: Files, scaled: list[tuple[Ints, Floats, Floats]], further: Iterable[tuple[Ints, Ints]] = ()
) -> Candidates:
    """Near pairs by ranks, by values, by all columns alike, and by what the masking did.

    All pairs, where they are few. `scaled` has for some targets their points and those of the
    places on the scale of the masking; `further` are pairs of targets and places.
    """
    targets, places = len(files.targets), len(files.sizes)
    if targets * places <= _MAX_ALL_PAIRS:
        all_pairs = np.divmod(np.arange(targets * places), places)
        return Candidates.of(targets, [all_pairs], places)
    near_pairs = []
    if files.numbers:
        both = [number.quantiles() for number in files.numbers]
        x = np.column_stack([field[0][files.targets] for field in both])
        y = np.column_stack([field[1] for field in both])
        near_pairs.append(nearest(x, y, _NEAREST_PLACES, np.inf))
    x, y = alike(files, range(len(files.fields)))
    near_pairs.append(nearest(x, y, _NEAREST_PLACES, 1.0))
    near_pairs += [
        field.similar(files.targets, _NEAREST_PLACES)
        for field in files.fields
        if isinstance(field, TextField)
    ]
    for targets_of_scale, x, y in scaled:
        row, released_place = nearest(
            x[:, :_SEARCHED_VARIATES], y[:, :_SEARCHED_VARIATES], _NEAREST_SCALED_PLACES, 2.0
        )
        near_pairs.append((targets_of_scale[row], released_place))
    near_pairs += further
    return Candidates.of(targets, near_pairs, places)


def alike(files: Files, field_indices: range | list[int]) -> tuple[Floats, Floats]:
    """The coordinates of some fields, every field with the same weight."""
    parts = []
    for j in field_indices:
        x, y = files.points[j]
        if isinstance(files.fields[j], NumberField):  # the value, without the score of its rank
            x, y = np.delete(x, 1, axis=1), np.delete(y, 1, axis=1)
        weight = 1.0 / (np.std(y, axis=0).sum() or 1.0)
        parts.append((x * weight, y * weight))
    return np.column_stack([part[0] for part in parts]), np.column_stack([part[1] for part in parts])


def nearest(x: Floats, y: Floats, number: int, norm: float) -> tuple[Ints, Ints]:
    """The nearest places of each target: pairs of both."""
    k = min(number, len(y))
    tree = spatial.cKDTree(y, balanced_tree=False, compact_nodes=False)
    neighbors = tree.query(x, k=range(1, k + 1), p=norm, workers=-1)[1]
    return np.repeat(np.arange(len(x)), k), neighbors.ravel().astype(np.int64)
