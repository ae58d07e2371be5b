"""The effects of quasi-identifiers on a sensitive attribute, as categories of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from crypsis.array_types import Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.inference._class_regression import Regression
from crypsis.inference.text_numbers import read_numbers

_MAX_COLUMN_LEVELS = (96, 48, 24, 12, 6, 3)
"""The most levels of a column; fewer where there are too many classes or coefficients."""
_MAX_COEFFICIENTS = 256
"""The most levels of all columns: to solve for them and those of pairs takes about 10 ms."""
_MAX_PRODUCTS = 3_000_000
"""The most products of effects, of all classes, that are summed in each step of a fit: about 30 ms."""
_MAX_PAIR_LEVELS = 6
"""The most levels of each column of a pair."""
_MAX_PAIRS = 6
"""How many pairs of columns have effects at most; each takes as long as a column."""
_MEAN_PENALTY = 1e-6
"""The penalty of the mean: none, but the second derivatives can be inverted."""


@dataclass(frozen=True, eq=False)
class EffectBlock:
    """One coefficient for each level of a column, or for each cell of a pair of columns."""

    levels: Ints
    """The level of each row; -1 where it has no coefficient."""
    ordered: int = 0
    """So many of the first levels are in an order, in which neighbors have similar effects."""

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return int(self.levels.max(initial=-1)) + 1

    def penalty(self) -> Floats:
        """The quadratic form of its coefficients: squares, or squared differences of neighbors.

        Both are scaled so that the two ends of an order differ as two categories do.
        """
        form = np.eye(self.size)
        if self.ordered > 1:
            steps = np.diff(np.eye(self.ordered), axis=0)
            inner = steps.T @ steps * self.ordered / 2 + 0.01 * np.eye(self.ordered)
            form[: self.ordered, : self.ordered] = inner
        return form


@dataclass(frozen=True, eq=False)
class Effects:
    """The blocks of effects; classes that are alike in all of them are one row."""

    row: Ints
    """The row of each class."""
    columns: tuple[EffectBlock, ...]
    coarse: tuple[Ints, ...]
    """A few levels of each column, for pairs."""
    classes: Ints
    """How many classes a row stands for."""

    @classmethod
    def of(cls, classes: Cells, sizes: Floats) -> Effects:
        """The effects of the columns of these classes, with so many records each."""
        codes = [code.astype(np.int64) for code in classes.codes]
        for most in _MAX_COLUMN_LEVELS:
            levels = [
                _levels(code, values, sizes, most) for code, values in zip(codes, classes.values, strict=True)
            ]
            levels = [column for column in levels if column]
            blocks = [block for column in levels for block in column]
            if sum(block.size for block in blocks) > _MAX_COEFFICIENTS and most > _MAX_COLUMN_LEVELS[-1]:
                continue
            first, row = _alike(blocks, len(classes))
            if first.size * (len(blocks) + 1) ** 2 <= _MAX_PRODUCTS:
                break
        while first.size * (len(blocks) + 1) ** 2 > _MAX_PRODUCTS and len(levels) > 1:
            levels = levels[:-1]  # a weaker baseline excuses less
            blocks = [block for column in levels for block in column]
            first, row = _alike(blocks, len(classes))
        coarse = [_coarse(column[-1], sizes)[first] for column in levels]
        return cls(
            row,
            tuple(EffectBlock(block.levels[first], block.ordered) for block in blocks),
            tuple(coarse),
            np.bincount(row),
        )

    def regression(self, pairs: Sequence[EffectBlock], penalty: float) -> Regression:
        """The regression on a mean, the columns and some pairs of them."""
        blocks = [*self.columns, *pairs]
        starts = np.cumsum([1, *(block.size for block in blocks)])
        places = [np.zeros(self.classes.size, np.int64)]
        form = np.zeros((int(starts[-1]),) * 2)
        form[0, 0] = _MEAN_PENALTY
        for block, start in zip(blocks, starts, strict=False):
            places.append(np.where(block.levels < 0, starts[-1], start + block.levels))
            at = slice(start, start + block.size)
            form[at, at] = penalty * block.penalty()
        return Regression(np.column_stack(places), form)

    def pairs(self, residuals: Floats, weights: Floats) -> list[EffectBlock]:
        """The pairs of columns whose cells have the largest residuals, as far as they are shared.

        What is divided by its variance is the score statistic of each pair. A cell of a single class
        would say nothing of others.
        """
        scored: list[tuple[float, int, EffectBlock]] = []
        for a, b in combinations(self.coarse, 2):
            cells = np.unique(a * (b.max() + 1) + b, return_inverse=True)[1].ravel()
            shared = np.bincount(cells, self.classes) > 1
            if not shared.any():
                continue
            sums, variances = np.bincount(cells, residuals), np.bincount(cells, weights)
            score = float((sums**2 / (variances + 1))[shared].sum())
            numbers = np.where(shared, np.cumsum(shared) - 1, -1)
            scored.append((score, len(scored), EffectBlock(numbers[cells])))
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        room = int((_MAX_PRODUCTS / self.classes.size) ** 0.5) - len(self.columns) - 1
        return [block for _, _, block in scored[: max(0, min(_MAX_PAIRS, room))]]


def _alike(blocks: Sequence[EffectBlock], classes: int) -> tuple[Ints, Ints]:
    """A class that stands for those which are alike in all effects, and the number of each class."""
    if not blocks:
        return np.zeros(1, np.int64), np.zeros(classes, np.int64)
    levels = tuple((block.levels + 1).astype(np.int32) for block in blocks)
    return group(levels, tuple(int(level.max()) + 1 for level in levels))


def _levels(codes: Ints, values: pa.Array, sizes: Floats, most: int) -> list[EffectBlock]:
    """The levels of a column: its frequent values, and intervals of what has an order."""
    read = read_numbers(values)
    blocks, position = [], None
    records = np.bincount(codes, sizes, len(values)).astype(np.float64)
    if read.mostly:
        at = np.unique(read.numbers, return_inverse=True)[1]
        position = np.where(np.isnan(read.numbers), -1, at.ravel())
    elif len(values) > most:
        position = np.arange(len(values))  # the order of texts: codes that begin alike are similar
    if not read.mostly or read.ranges:
        shared = np.bincount(codes, minlength=len(values)) > 1
        frequent = np.argsort(-np.where(shared, records, -1.0), kind="stable")[:most]
        frequent = np.sort(frequent[shared[frequent]])
        level = np.full(len(values), -1)
        level[frequent] = np.arange(frequent.size)
        blocks.append(EffectBlock(level[codes]))
    if position is not None and position.max() > 0:
        blocks.append(_intervals(position, records, most, codes))
    return [block for block in blocks if block.size > 1]


def _intervals(position: Ints, records: Floats, most: int, codes: Ints) -> EffectBlock:
    """Values in an order in intervals of about as many records; without a place they are the last."""
    has_position = position >= 0
    upto = np.cumsum(np.bincount(position[has_position], records[has_position]))
    part = np.minimum((upto - 1e-9) * most / upto[-1], most - 1).astype(np.int64)
    if upto.size <= most:
        part = np.arange(upto.size)
    part = np.unique(part, return_inverse=True)[1].ravel()
    count = int(part.max()) + 1
    level = np.full(position.size, count)
    level[has_position] = part[position[has_position]]
    return EffectBlock(level[codes], count)


def _coarse(block: EffectBlock, sizes: Floats) -> Ints:
    """A few levels of a column: neighbors together, or the most frequent and all others."""
    records = np.bincount(block.levels + 1, sizes)
    if block.ordered:
        upto = np.cumsum(records[1 : block.ordered + 1])
        part = np.minimum((upto - upto[0] / 2) * _MAX_PAIR_LEVELS / upto[-1], _MAX_PAIR_LEVELS - 1)
        part = np.concatenate([[0], part.astype(np.int64), [_MAX_PAIR_LEVELS]])
        return part[block.levels + 1]
    frequent = np.argsort(-records, kind="stable")[: _MAX_PAIR_LEVELS - 1]
    level = np.full(records.size, _MAX_PAIR_LEVELS - 1)
    level[frequent] = np.arange(frequent.size)
    return level[block.levels + 1]
