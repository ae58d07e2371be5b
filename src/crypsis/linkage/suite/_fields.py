"""One column of both files as an intruder compares it: numbers, categories, texts.

Every kind gives, for pairs of an original and a masked record, a dissimilarity from 0 to 1 and a
level of agreement; for each masked record, how probable each level is for an original at random;
and coordinates in which near records are found. Missing values are a state: they agree with missing
ones, and have levels of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from crypsis.linkage._ranks import Floats, Ints, ranks
from crypsis.scientific import special

Bools: TypeAlias = NDArray[np.bool_]
_NEARNESS_QUANTILES = (0.001, 0.01, 0.05, 0.2)
"""Numbers agree the better, the fewer random pairs are as near as they are."""
_RANDOM_PAIRS = 50_000
"""Pairs at random that show how near two numbers or texts are by chance."""
_MAX_INDICATOR_LABELS = 12
"""Up to so many labels have a coordinate each."""
RANDOM_COORDINATES = 4
"""Coordinates at random of each column, where it has more labels."""
_RARE_GROUP_TEXTS = 50
"""A group of letters that no more texts have is rare."""
_RARE_GROUP_SHARE = 0.02
"""A group of letters that no larger share of the texts has is rare, too."""
_TEXTS_AT_ONCE = 1_000
"""Original texts that are compared with all masked texts at a time."""


@dataclass(frozen=True, eq=False)
class Field(ABC):
    """A column of both files; `lost` and `lost_masked` are the missing values."""

    name: str
    lost: Bools
    lost_masked: Bools

    @property
    @abstractmethod
    def steps(self) -> int:
        """The number of levels of two values that are there, the nearest first."""

    @abstractmethod
    def gap(self, rows: Ints, places: Ints) -> Floats:
        """The dissimilarity of values that are there, from 0 to 1."""

    @abstractmethod
    def step(self, rows: Ints, places: Ints) -> Ints:
        """The level of values that are there."""

    @abstractmethod
    def random_steps(self) -> Floats:
        """For each masked value the share of the original values at each level."""

    @abstractmethod
    def coordinates(self, seed: int) -> tuple[Floats, Floats]:
        """Originals and masked records as points; missing values are 0."""

    @abstractmethod
    def at(self: _F, places: Ints) -> _F:
        """The same column with some of the masked records."""

    def coded(self) -> tuple[Ints, Ints] | None:
        """The values of originals and masked records as codes; None if they hardly repeat.

        Missing values have codes of their own.
        """
        return None

    @property
    def levels(self) -> int:
        """The levels: those of values, masked missing, original missing, both missing."""
        return self.steps + 3

    @property
    def wide(self) -> Bools:
        """The masked values that cover several original ones: intervals and labels of groups."""
        return np.zeros(len(self.lost_masked), bool)

    def apart(self, rows: Ints, places: Ints) -> Floats:
        """The dissimilarity of pairs, from 0 to 1; one missing value is 1 apart from any other."""
        lost, gone = self.lost[rows], self.lost_masked[places]
        return np.where(lost | gone, np.where(lost & gone, 0.0, 1.0), self.gap(rows, places))

    def level(self, rows: Ints, places: Ints) -> Ints:
        """The level of agreement of pairs."""
        lost, gone = self.lost[rows], self.lost_masked[places]
        missing = self.steps - 1 + gone + 2 * lost
        return np.where(lost | gone, missing, self.step(rows, places))

    @cached_property
    def random_levels(self) -> Floats:
        """For each masked record how probable each level is for an original at random."""
        present_share = float(1 - self.lost.mean())
        level_chances = np.zeros((len(self.lost_masked), self.levels))
        level_chances[:, : self.steps] = present_share * self.random_steps() * ~self.lost_masked[:, None]
        level_chances[:, self.steps] = present_share * self.lost_masked
        level_chances[:, self.steps + 1] = (1 - present_share) * ~self.lost_masked
        level_chances[:, self.steps + 2] = (1 - present_share) * self.lost_masked
        return np.maximum(level_chances, 0.5 / len(self.lost))

    def points(self, seed: int) -> tuple[Floats, Floats]:
        """The coordinates, with one more for missing values where there are some."""
        x, y = self.coordinates(seed)
        x[self.lost], y[self.lost_masked] = 0.0, 0.0
        if self.lost.any() or self.lost_masked.any():
            x = np.column_stack([x, self.lost.astype(float)])
            y = np.column_stack([y, self.lost_masked.astype(float)])
        return x, y


_F = TypeVar("_F", bound=Field)


@dataclass(frozen=True, eq=False)
class NumberField(Field):
    """Numbers, dates and ordered categories, and intervals of them in the masked file."""

    values: Floats
    low: Floats
    high: Floats

    @property
    def wide(self) -> Bools:
        """The intervals."""
        return np.asarray((self.high > self.low) & ~self.lost_masked)

    @property
    def steps(self) -> int:
        """Equal or in the interval, then by the quantiles of random pairs."""
        return len(_NEARNESS_QUANTILES) + 2

    @cached_property
    def present(self) -> Floats:
        """The original values in their order."""
        return np.sort(self.values[~self.lost])

    @cached_property
    def span(self) -> float:
        """The range of the original values."""
        return float(np.ptp(self.present)) or 1.0 if len(self.present) else 1.0

    @cached_property
    def middle(self) -> Floats:
        """The middle of each masked interval, within the range of the originals."""
        if not len(self.present):
            return np.zeros(len(self.low))
        inside = np.isinf(self.low) | np.isinf(self.high)
        low = np.where(inside, np.maximum(self.low, self.present[0]), self.low)
        high = np.where(inside, np.minimum(self.high, self.present[-1]), self.high)
        return np.asarray((low + high) / 2)

    @cached_property
    def edges(self) -> Floats:
        """The distances that divide the levels."""
        rng = np.random.default_rng(11)
        present, masked = np.flatnonzero(~self.lost), np.flatnonzero(~self.lost_masked)
        if not len(present) or not len(masked):
            return np.zeros(len(_NEARNESS_QUANTILES) + 1)
        gaps = self._distance(rng.choice(present, _RANDOM_PAIRS), rng.choice(masked, _RANDOM_PAIRS))
        return np.concatenate([[1e-9 * self.span], np.quantile(gaps, _NEARNESS_QUANTILES)])

    def _distance(self, rows: Ints, places: Ints) -> Floats:
        x = self.values[rows]
        gap = np.maximum(self.low[places] - x, x - self.high[places])
        return np.asarray(np.maximum(np.nan_to_num(gap, nan=0.0), 0.0))

    def gap(self, rows: Ints, places: Ints) -> Floats:
        """The distance to the value or interval, in ranges of the original."""
        return np.minimum(self._distance(rows, places) / self.span, 1.0)

    def step(self, rows: Ints, places: Ints) -> Ints:
        """How near the values are, against random pairs."""
        return np.searchsorted(self.edges, self._distance(rows, places), side="left")

    def random_steps(self) -> Floats:
        """The share of the originals within each distance of the masked value."""
        edges = np.append(self.edges, np.inf)
        n = max(len(self.present), 1)
        within = [
            np.searchsorted(self.present, self.high + edge, side="right")
            - np.searchsorted(self.present, self.low - edge, side="left")
            for edge in edges
        ]
        return np.diff(np.column_stack([np.zeros(len(self.low)), *within]) / n, axis=1)

    def coded(self) -> tuple[Ints, Ints]:
        """The numbers, and the intervals, in their order."""
        return (
            _codes(np.unique(self.values, return_inverse=True)[1], self.lost),
            _codes(
                np.unique(np.column_stack([self.low, self.high]), axis=0, return_inverse=True)[1],
                self.lost_masked,
            ),
        )

    def quantiles(self) -> tuple[Floats, Floats]:
        """The ranks in each file, from 0 to 1; missing values in the middle."""
        return _quantile(self.values, self.lost), _quantile(self.middle, self.lost_masked)

    def coordinates(self, seed: int) -> tuple[Floats, Floats]:
        """The value in standard deviations, and the normal score of the rank."""
        scale = float(np.std(self.present)) if len(self.present) else 1.0
        center = float(np.mean(self.present)) if len(self.present) else 0.0
        coordinate_pairs = []
        for value, rank in zip((self.values, self.middle), self.quantiles(), strict=True):
            standard = np.nan_to_num((value - center) / (scale or 1.0))
            coordinate_pairs.append(np.column_stack([standard, special.ndtri(np.clip(rank, 1e-6, 1 - 1e-6))]))
        return coordinate_pairs[0], coordinate_pairs[1]

    def at(self, places: Ints) -> NumberField:
        """The same column with some of the masked records."""
        return replace(
            self, lost_masked=self.lost_masked[places], low=self.low[places], high=self.high[places]
        )


def _codes(codes: Ints, lost: Bools) -> Ints:
    """The codes from 1 on; 0 where the value is missing."""
    return np.where(lost, 0, codes.ravel() + 1).astype(np.int64)


def _quantile(values: Floats, lost: Bools) -> Floats:
    quantiles = np.full(len(values), 0.5)
    present = ~lost
    if present.any():
        quantiles[present] = (ranks(values[present], ties="average") - 0.5) / present.sum()
    return quantiles


@dataclass(frozen=True, eq=False)
class CategoryField(Field):
    """Categories, and labels of the masked file that cover several of them.

    `table` has the dissimilarity of each original category and masked label.
    """

    codes: Ints
    labels: Ints
    table: Floats
    _limits: tuple[float, ...] = field(default=(0.0, 0.5), repr=False)

    @property
    def steps(self) -> int:
        """Covered, near in the hierarchy, and not."""
        return len(self._limits) + 1

    @property
    def wide(self) -> Bools:
        """The labels that cover several categories."""
        return np.asarray(((self.table <= 0).sum(axis=0) > 1)[self.labels] & ~self.lost_masked)

    def coded(self) -> tuple[Ints, Ints]:
        """The categories and the labels."""
        return _codes(self.codes, self.lost), _codes(self.labels, self.lost_masked)

    def gap(self, rows: Ints, places: Ints) -> Floats:
        """The dissimilarity of the category and the label."""
        return self.table[self.codes[rows], self.labels[places]].astype(np.float64)

    def step(self, rows: Ints, places: Ints) -> Ints:
        """Whether the label covers the category."""
        return np.searchsorted(self._limits, self.gap(rows, places), side="left")

    @cached_property
    def _counts(self) -> Ints:
        return np.bincount(self.codes[~self.lost], minlength=self.table.shape[0])

    def random_steps(self) -> Floats:
        """The share of the originals that each label covers."""
        n = max(int(self._counts.sum()), 1)
        within = [self._counts @ (self.table <= limit) / n for limit in (*self._limits, np.inf)]
        shares = np.diff(np.column_stack([np.zeros(self.table.shape[1]), *within]), axis=1)
        return np.asarray(shares[self.labels])

    def coordinates(self, seed: int) -> tuple[Floats, Floats]:
        """One coordinate for each label, or a few at random where there are many.

        An original has the coordinates of the most frequent label that covers it.
        """
        used = np.bincount(self.labels[~self.lost_masked], minlength=self.table.shape[1])
        order = np.argsort(-used, kind="stable")
        covering = self.table[:, order] <= 0
        label_of = np.where(covering.any(axis=1), order[covering.argmax(axis=1)], -1)
        many = self.table.shape[1]
        rng = np.random.default_rng((seed, 7))
        codes = np.eye(many) if many <= _MAX_INDICATOR_LABELS else rng.normal(size=(many, RANDOM_COORDINATES))
        codes = np.vstack([codes, np.zeros(codes.shape[1])])  # no label covers it
        return codes[label_of[self.codes]], codes[self.labels]

    def at(self, places: Ints) -> CategoryField:
        """The same column with some of the masked records."""
        return replace(self, lost_masked=self.lost_masked[places], labels=self.labels[places])


@dataclass(frozen=True, eq=False)
class TextField(Field):
    """Texts, by the weights of the groups of letters that they share (rows of length 1)."""

    weights: Any
    weights_masked: Any
    near: Floats
    near_masked: Floats
    _limits: tuple[float, ...] = field(default=(1e-6, 0.3, 0.6), repr=False)

    @property
    def steps(self) -> int:
        """Equal, and three degrees of similarity."""
        return len(self._limits) + 1

    def gap(self, rows: Ints, places: Ints) -> Floats:
        """One minus the cosine of the two texts."""
        same = self.weights[rows].multiply(self.weights_masked[places]).sum(axis=1)
        return np.clip(1 - np.asarray(same, dtype=np.float64).ravel(), 0.0, 1.0)

    def step(self, rows: Ints, places: Ints) -> Ints:
        """How similar the texts are."""
        return np.searchsorted(self._limits, self.gap(rows, places), side="left")

    def random_steps(self) -> Floats:
        """The share of random pairs at each level."""
        rng = np.random.default_rng(12)
        pairs = (
            rng.integers(len(self.lost), size=_RANDOM_PAIRS // 5),
            rng.integers(len(self.lost_masked), size=_RANDOM_PAIRS // 5),
        )
        share = np.bincount(self.step(*pairs), minlength=self.steps) / len(pairs[0])
        return np.tile(share, (len(self.lost_masked), 1))

    def coordinates(self, seed: int) -> tuple[Floats, Floats]:
        """The main directions of the weights."""
        return self.near.copy(), self.near_masked.copy()

    def similar(self, rows: Ints, number: int) -> tuple[Ints, Ints]:
        """The masked texts that share the most rare groups of letters with some originals."""
        used = np.asarray((self.weights_masked > 0).sum(axis=0)).ravel()
        rare = np.flatnonzero(
            (used > 0) & (used <= max(_RARE_GROUP_TEXTS, _RARE_GROUP_SHARE * len(self.near_masked)))
        )
        original_weights, masked_weights = self.weights[rows][:, rare], self.weights_masked[:, rare].T.tocsc()
        similar_pairs: list[tuple[Ints, Ints]] = []
        for begin in range(0, len(rows), _TEXTS_AT_ONCE):
            both = (original_weights[begin : begin + _TEXTS_AT_ONCE] @ masked_weights).tocoo()
            order = np.lexsort((-both.data, both.row))
            row, released_place = both.row[order].astype(np.int64), both.col[order].astype(np.int64)
            kept = np.arange(len(row)) - np.searchsorted(row, row) < number
            similar_pairs.append((row[kept] + begin, released_place[kept]))
        return np.concatenate([a for a, _ in similar_pairs]), np.concatenate([b for _, b in similar_pairs])

    def at(self, places: Ints) -> TextField:
        """The same column with some of the masked records."""
        return replace(
            self,
            lost_masked=self.lost_masked[places],
            weights_masked=self.weights_masked[places],
            near_masked=self.near_masked[places],
        )
