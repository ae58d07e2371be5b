"""Partitions of coded rows, refined one column at a time: how all subsets of columns are counted.

A partition by columns A is refined to one by A and b in a single pass, without sorting or hashing:
within each group the codes of b are counted in a small table. Groups of a single cell cannot be
split further and leave the partition (Huhtala et al. 1999 call it stripped); what they add to the
counts is remembered. So the deeper the subset, the less there is left to do. (A cell that a later
column may still leave out, because its value there is missing, is "fragile" and stays.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

# The places in the array of statistics.
DISTINCT, SINGLETONS, DOUBLETONS, SMALLEST, LARGEST, ROWS, SQUARES = range(7)
_NONE_YET = np.iinfo(np.int64).max


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _note(stats: Ints, size: int) -> None:
    stats[DISTINCT] += 1
    stats[ROWS] += size
    stats[SQUARES] += size * size
    if size == 1:
        stats[SINGLETONS] += 1
    elif size == 2:
        stats[DOUBLETONS] += 1
    if size < stats[SMALLEST]:
        stats[SMALLEST] = size
    if size > stats[LARGEST]:
        stats[LARGEST] = size


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _refine(
    order: Codes,
    starts: Codes,
    codes: Codes,
    domain: int,
    left_out: int,
    fragile: NDArray[np.bool_],
    counts: Ints,
    finished: Ints,
    stats: Ints,
) -> tuple[Codes, Codes]:
    """Split every group by `codes`; single cells go into `finished`, all groups into `stats`.

    Cells whose code is `left_out` (a missing value under the policy "drop") leave altogether.
    """
    new_order = np.empty_like(order)
    new_starts = np.empty(order.size + 1, np.int32)
    table = np.zeros(domain, np.int32)
    place = np.zeros(domain, np.int32)
    touched = np.empty(min(domain, order.size), np.int32)
    groups, end = 0, 0
    for g in range(starts.size - 1):
        seen = 0
        for i in range(starts[g], starts[g + 1]):
            code = codes[order[i]]
            if code == left_out:
                continue
            if table[code] == 0:
                touched[seen] = code
                seen += 1
            table[code] += 1
        for j in range(seen):
            code = touched[j]
            if table[code] > 1:
                new_starts[groups] = end
                groups += 1
                place[code] = end
                end += table[code]
        for i in range(starts[g], starts[g + 1]):
            cell = order[i]
            code = codes[cell]
            if code == left_out:
                continue
            if table[code] == 1 and fragile[cell]:
                new_starts[groups] = end
                groups += 1
                new_order[end] = cell
                end += 1
            elif table[code] == 1:
                _note(finished, counts[cell])
            else:
                new_order[place[code]] = cell
                place[code] += 1
        for j in range(seen):
            table[touched[j]] = 0
    new_starts[groups] = end
    stats[:] = finished
    for g in range(groups):
        size = 0
        for i in range(new_starts[g], new_starts[g + 1]):
            size += counts[new_order[i]]
        _note(stats, size)
    return new_order[:end].copy(), new_starts[: groups + 1].copy()


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells grouped by some columns."""

    order: Codes
    starts: Codes
    finished: Ints
    stats: Ints

    @classmethod
    def whole(cls, counts: Ints) -> Partition:
        """All cells in one group: the partition by no column at all."""
        cells = counts.size
        nothing = np.array([0, 0, 0, _NONE_YET, 0, 0, 0], np.int64)
        everything = nothing.copy()
        if cells:
            _note.py_func(everything, int(counts.sum()))
        order = np.arange(cells, dtype=np.int32)
        return cls(order, np.array([0, cells], np.int32), nothing, everything)

    def refine(
        self,
        codes: Codes,
        domain: int,
        counts: Ints,
        fragile: NDArray[np.bool_],
        left_out: int = -1,
    ) -> Partition:
        """The partition by one column more."""
        finished = self.finished.copy()
        stats = np.empty_like(finished)
        order, starts = _refine(
            self.order, self.starts, codes, domain, left_out, fragile, counts, finished, stats
        )
        return Partition(order, starts, finished, stats)

    def __getitem__(self, place: int) -> int:
        value = int(self.stats[place])
        return 0 if value == _NONE_YET else value
