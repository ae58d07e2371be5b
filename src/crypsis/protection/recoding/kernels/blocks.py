# mypy: disable-error-code="no-any-return"
"""Blocks of similar classes, so that not every class is looked at for every cell.

The classes stand in an order in which similar ones are near each other; so many of them at a time are a
block. They are one tuple, `blocks`: (near, block, level, example, dearest, fewest), where `near` is
that order and `block` the block of each class. In each column, `level` is the lowest on which all classes
of a block have one label, `example` a cell with it, `dearest` the highest price of their own labels
and `fewest` the fewest rows of one with a value. Classes that change afterwards may make a block wider.
`classes` and `cells` are described in `local_search`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Ints
from crypsis.protection.recoding.kernels.inner import inner

BLOCK = 16
"""How many classes are in a block."""


@inner
def blocks_of(near: Ints, classes: Any, cells: Any) -> Any:
    """The blocks of classes in this order."""
    columns = cells[2].size
    count = (near.size + BLOCK - 1) // BLOCK
    block, level = np.empty(near.size, np.int64), np.zeros((count, columns), np.int64)
    example = np.empty(count, np.int64)
    dearest, fewest = np.zeros((count, columns)), np.full((count, columns), 2**62)
    blocks = (near, block, level, example, dearest, fewest)
    for place in range(near.size):
        g = near[place]
        block[g] = place // BLOCK
        if place % BLOCK == 0:
            example[block[g]] = classes[2][g]
        widen(g, blocks, classes, cells)
    return blocks


@inner
def widen(g: int, blocks: Any, classes: Any, cells: Any) -> None:
    """Make the block of a class as wide as the class needs now."""
    codes, lines = cells[0], cells[2]
    _, _, first, _, levels, price, known, _, _ = classes
    _, block, level, example, dearest, fewest = blocks
    b = block[g]
    for c in range(lines.size):
        high = max(level[b, c], levels[g, c])
        while codes[first[g], lines[c] + high] != codes[example[b], lines[c] + high]:
            high += 1
        level[b, c] = high
        dearest[b, c] = max(dearest[b, c], price[g, c])
        fewest[b, c] = min(fewest[b, c], known[g, c])


@inner
def least_cost(cell: int, b: int, most: float, blocks: Any, cells: Any) -> float:
    """What it costs at least that a cell joins a class of a block; `most` if it is as much."""
    codes, loss, lines, _, counts = cells
    _, _, level, example, dearest, fewest = blocks
    total = 0.0
    for c in range(lines.size):
        line, high = lines[c], level[b, c]
        while codes[example[b], line + high] != codes[cell, line + high]:
            high += 1
        if high > level[b, c]:  # the class becomes as wide as that, too
            label = loss[cell, line + high]
            total += label * counts[cell] + max(0.0, label - dearest[b, c]) * fewest[b, c]
            if total >= most:
                return most
    return total
