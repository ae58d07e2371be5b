"""The lattice of generalization levels: its vectors by increasing loss, and their labels."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints, Levels
from crypsis.protection.recoding._levels import CellLevels
from crypsis.protection.recoding.kernels.sweep import fill

_MAX_VECTORS = 30_000
"""So many choices of levels are visited, those with the least loss first."""
_LOSS_STEP = 0.1
"""The width of the ranges of loss in which choices of levels are sorted."""
_MAX_PREPARED_LABELS = 24_000_000
"""How many labels of cells, of blocks of columns, are prepared for the visits."""


def vectors_by_loss(
    cells: CellLevels, exhaustive: Callable[[], bool]
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Level vectors with their average loss, by increasing loss; then a single path upward."""
    losses: list[list[float]] = [loss.tolist() for loss in cells.losses()]
    tops = cells.limits.tolist()

    def price(vector: tuple[int, ...]) -> float:
        return sum(map(list.__getitem__, losses, vector)) / len(vector)

    vector = (0,) * len(tops)
    heap = [(price(vector), vector, 0)]
    while heap and exhaustive():
        floor, vector, last = heapq.heappop(heap)
        yield floor, vector
        for c in range(last, len(tops)):
            if vector[c] < tops[c]:
                above = (*vector[:c], vector[c] + 1, *vector[c + 1 :])
                heapq.heappush(heap, (price(above), above, c))
    if heap:
        yield from _upward(cells, vector)


def promising_vectors(
    cells: CellLevels,
    order: Sequence[int],
    hopeless: Callable[[tuple[int, ...]], bool],
    exhaustive: Callable[[], bool],
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Those of `vectors_by_loss` of which the first columns, in an order, are not hopeless.

    The levels of the first columns are extended by those of the next one, the least loss first, so
    that nothing is visited above hopeless ones (the subset property of LeFevre et al. 2005).
    """
    losses: list[list[float]] = [loss.tolist() for loss in cells.losses()]
    tops = cells.limits.tolist()

    def price(levels: tuple[int, ...]) -> float:
        return sum(losses[c][level] for c, level in zip(order, levels, strict=False)) / len(order)

    levels: tuple[int, ...] = (0,)
    heap = [(price(levels), levels)]
    while heap and exhaustive():
        floor, levels = heapq.heappop(heap)
        if levels[-1] < tops[order[len(levels) - 1]]:
            coarser = (*levels[:-1], levels[-1] + 1)
            heapq.heappush(heap, (price(coarser), coarser))
        if hopeless(levels):
            continue
        if len(levels) < len(order):
            longer = (*levels, 0)
            heapq.heappush(heap, (price(longer), longer))
        else:
            yield floor, _in_place(order, levels)
    if heap:
        yield from _upward(cells, _in_place(order, levels))


def _in_place(order: Sequence[int], levels: tuple[int, ...]) -> tuple[int, ...]:
    """The levels of the first columns of an order as a vector; 0 for the others."""
    vector = [0] * len(order)
    for c, level in zip(order, levels, strict=False):
        vector[c] = level
    return tuple(vector)


def _upward(cells: CellLevels, vector: tuple[int, ...]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """From a vector to the top, each time by the level with the least loss."""
    losses: list[list[float]] = [loss.tolist() for loss in cells.losses()]
    tops = cells.limits.tolist()

    def price(vector: tuple[int, ...]) -> float:
        return sum(map(list.__getitem__, losses, vector)) / len(vector)

    while list(vector) != tops:
        rising = [c for c in range(len(tops)) if vector[c] < tops[c]]
        ways = [(*vector[:c], vector[c] + 1, *vector[c + 1 :]) for c in rising]
        vector = min(ways, key=price)
        yield price(vector), vector


def blocks(cells: CellLevels, vectors: Levels) -> tuple[Ints, NDArray[np.uint64], NDArray[np.float32]]:
    """Columns in blocks: the lines of each vector, and the labels and loss of each cell on a line.

    A block has a line for each combination of the levels of its columns. Two blocks are joined, the
    smallest first, while the lines fit into memory.
    """
    parts = [[c] for c in range(cells.tops.size)]
    sizes = [int(top) + 1 for top in cells.tops]
    most = max(sum(sizes), _MAX_PREPARED_LABELS // max(1, cells.counts.size))
    while len(parts) > 1:
        first, second = np.argsort(sizes, kind="stable")[:2].tolist()
        if sum(sizes) - sizes[first] - sizes[second] + sizes[first] * sizes[second] > most:
            break
        sizes[first] *= sizes[second]
        parts[first] += parts[second]
        del sizes[second], parts[second]
    start = np.cumsum([0, *sizes])
    labels = np.zeros((int(start[-1]), cells.counts.size), np.uint64)
    loss = np.zeros(labels.shape, np.float32)
    lines = np.empty((len(vectors), len(parts)), np.int64)
    for b, columns in enumerate(parts):
        lines[:, b] = start[b]
        width = 1
        for c in columns:
            lines[:, b] += width * vectors[:, c].astype(np.int64)  # levels are of 16 bits
            width *= int(cells.tops[c]) + 1
        tops = [range(int(cells.tops[c]) + 1) for c in columns]
        levels = np.array([vector[::-1] for vector in product(*reversed(tops))], np.int64)
        fill(
            levels + cells.lines[columns],
            cells.codes,
            cells.loss,
            labels[start[b] : start[b + 1]],
            loss[start[b] : start[b + 1]],
        )
    return lines, labels, loss


def vectors_with_losses(cells: CellLevels) -> tuple[Levels, Floats, Floats]:
    """Vectors of levels by increasing loss, with the least and the most that a label of each loses."""
    vectors: list[tuple[int, ...]] = []
    for _, vector in vectors_by_loss(cells, lambda: len(vectors) < _MAX_VECTORS):
        vectors.append(vector)
    all_vectors = np.array(vectors, np.int16)
    least, most = np.zeros(len(all_vectors)), np.zeros(len(all_vectors))
    for c, (column, cell_codes) in enumerate(zip(cells.columns, cells.places, strict=True)):
        present = column.loss[:, np.unique(cell_codes)]
        least += present.min(axis=1)[all_vectors[:, c]]
        most += present.max(axis=1)[all_vectors[:, c]]
    return all_vectors, least, most


def visits(cells: CellLevels) -> tuple[Levels, Floats, Floats]:
    """Vectors of levels with ranges of their loss, by increasing loss.

    The labels of one vector differ in loss, so a vector is visited once for each range of width
    `_LOSS_STEP` (of the loss summed over the columns, weights included) that its labels fall into.
    """
    all_vectors, first, last = vectors_with_losses(cells)
    start = np.floor(first / _LOSS_STEP - 1e-9).astype(np.int64)
    ranges = np.ceil(last / _LOSS_STEP + 1e-9).astype(np.int64) - start
    which = np.repeat(np.arange(len(all_vectors)), ranges)
    bucket = np.arange(which.size) - np.repeat(np.cumsum(ranges) - ranges, ranges) + start[which]
    order = np.lexsort((last[which], bucket))
    low = bucket[order] * _LOSS_STEP
    return all_vectors[which[order]], low - 1e-9, low + _LOSS_STEP - 1e-9
