"""The nearest records in sets of columns, all sets in one pass over the distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.synthetic._columns import FileColumn

_MAX_DISTANCES_AT_ONCE = 2_000_000
"""Distances in memory at a time, by column and by set of columns."""
_NEAREST_RECORDS = 5
"""Neighbors that are found in the sets of columns of two halves of a record."""


@dataclass(frozen=True, eq=False)
class Neighbors:
    """For each target and set of columns the nearest records and their distances."""

    distance: Floats
    """Of the nearest record, by set and target; the mean over the columns of the set."""
    nearest: Ints
    """The nearest record, by set and target."""
    closest: Ints
    """The five nearest in the last sets, by set and target."""


def nearest(
    columns: Sequence[FileColumn], rows: Ints, target: int, file: int, sets: NDArray[np.bool_], last: int = 0
) -> Neighbors:
    """The nearest records in file `file` of some rows of file `target`.

    `sets` has a row for each set of columns; in the `last` of them the five nearest are found. In
    the same file a record is not its own neighbor. Of records at the same distance one is chosen at
    random, the same each time.
    """
    size = columns[0].parts[file].size
    shares = sets / sets.sum(axis=1, keepdims=True)
    jitter = np.random.default_rng(0).random(size, np.float32) * np.float32(1e-5)
    block = max(1, _MAX_DISTANCES_AT_ONCE // (size * (len(columns) + len(sets))))
    count = min(_NEAREST_RECORDS, size)
    parts: list[tuple[Floats, Ints, Ints]] = []
    for start in range(0, rows.size, block):
        chosen = rows[start : start + block]
        stacked = np.stack(
            [column.contributions(column.parts[target][chosen], column.parts[file]) for column in columns]
        )
        distances = np.tensordot(shares.astype(np.float32), stacked, axes=1) + jitter
        if target == file:
            distances[:, np.arange(chosen.size), chosen] = np.inf
        close = np.argpartition(distances[len(sets) - last :], count - 1, axis=2)[:, :, :count]
        best = distances.argmin(axis=2)
        gap = np.take_along_axis(distances, best[:, :, None], axis=2)[:, :, 0] - jitter[best]
        parts.append((np.maximum(gap, 0).astype(np.float64), best, close))
    return Neighbors(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))
