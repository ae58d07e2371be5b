"""All rows on the same levels: the optimum that Incognito, OLA and ARX look for."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.anonymize._demands import Demands
from crypsis.anonymize._table import Repair, Table
from crypsis.anonymize.kernels import demands as kernel
from crypsis.errors import PromiseBroken
from crypsis.grouping import group

Ints = NDArray[np.int64]

_MOST_COUNTS = 20_000


def full_domain(table: Table, demands: Demands, budget_rows: int) -> Repair:
    """The levels, the same for every row, that lose least when rows without a crowd are left out.

    Level vectors are visited by rising loss, until no later one can be better, so the outcome is
    the optimum, unless that takes more than 20,000 counts of the cells; then the rest of the way up
    takes one column at a time, the one that loses least. Where only sizes are asked about, a vector
    is not counted if a few of its columns alone leave too many rows without a crowd already (the
    subset property of LeFevre et al. 2005).
    """
    rows, columns = int(table.counts.sum()), table.tops.size
    search = _Lattice(table, demands, budget_rows)
    best: tuple[float, Ints, NDArray[np.bool_]] | None = None
    with progress.step("finding levels") as step:
        for floor, vector in _vectors(table, lambda: search.counted < _MOST_COUNTS):
            if best is not None and (floor >= best[0] or search.counted >= _MOST_COUNTS):
                break
            step.advance()
            if search.hopeless(vector):
                continue
            kept, left_out = search.kept(np.array(vector))
            if left_out > budget_rows or left_out == rows:  # nothing is no release
                continue
            lines = table.loss[table.lines + np.array(vector)][:, kept] * table.counts[kept]
            loss = (float(lines.sum()) / columns + left_out) / rows
            if best is None or loss < best[0]:
                best = loss, np.array(vector), kept
    if best is None:
        raise PromiseBroken(
            "No levels keep the promise within the suppression budget; ask for less or allow more."
        )
    levels = np.where(best[2][:, None], best[1], -1).astype(np.int16)
    return table.summary(levels)


class _Lattice:
    """Which rows keep a crowd on which levels."""

    def __init__(self, table: Table, demands: Demands, budget_rows: int) -> None:
        self.table, self.demands, self.budget = table, demands, budget_rows
        self.secrets = demands.arrays(table.counts.size)
        self.every = np.arange(table.counts.size)
        self._own = 0
        widest = sorted(range(table.tops.size), key=lambda c: -len(table.ladders[c].labels[0]))
        some = () if demands.about_secrets else range(2, len(widest))
        self.parts = [_Part(table, sorted(widest[:n])) for n in some]

    @property
    def counted(self) -> int:
        """How often cells were counted so far."""
        return self._own + sum(len(part.known) for part in self.parts)

    def kept(self, vector: Ints) -> tuple[NDArray[np.bool_], int]:
        """Which cells have a crowd on these levels, and how many rows have none."""
        self._own += 1
        inside, totals = self.table.groups(vector.tolist(), self.every)
        good = kernel.which_sound(self.every, inside, totals, self.demands.k, self.secrets)
        return good[inside], int(self.table.counts.sum() - totals[good].sum())

    def hopeless(self, vector: tuple[int, ...]) -> bool:
        """Whether some of the columns alone leave too many rows without a crowd."""
        return any(part.alone(vector, self.demands.k) > self.budget for part in self.parts)


class _Part:
    """Some columns of a table, and how many rows they alone leave without a crowd."""

    def __init__(self, table: Table, columns: list[int]) -> None:
        places = tuple(table.places[c] for c in columns)
        domains = tuple(table.ladders[c].codes.shape[1] for c in columns)
        first, inverse = group(places, domains)
        counts = np.bincount(inverse, table.counts).astype(np.int64)
        ladders = tuple(table.ladders[c] for c in columns)
        self.columns = columns
        self.table = Table(ladders, tuple(place[first] for place in places), counts)
        self.every = np.arange(counts.size)
        self.known: dict[tuple[int, ...], int] = {}

    def alone(self, vector: tuple[int, ...], k: int) -> int:
        """The rows that these columns alone leave without a crowd."""
        levels = tuple(vector[c] for c in self.columns)
        if levels not in self.known:
            _, totals = self.table.groups(levels, self.every)
            self.known[levels] = int(totals[totals < k].sum())
        return self.known[levels]


def _vectors(table: Table, patient: Callable[[], bool]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Level vectors with their average loss, by rising loss; a single way up once patience ends."""
    losses = table.losses()
    tops = table.tops.tolist()

    def price(vector: tuple[int, ...]) -> float:
        return sum(float(losses[c][level]) for c, level in enumerate(vector)) / len(vector)

    vector = (0,) * len(tops)
    heap = [(price(vector), vector, 0)]
    while heap and patient():
        floor, vector, last = heapq.heappop(heap)
        yield floor, vector
        for c in range(last, len(tops)):
            if vector[c] < tops[c]:
                above = (*vector[:c], vector[c] + 1, *vector[c + 1 :])
                heapq.heappush(heap, (price(above), above, c))
    while heap and list(vector) != tops:
        rising = [c for c in range(len(tops)) if vector[c] < tops[c]]
        ways = [(*vector[:c], vector[c] + 1, *vector[c + 1 :]) for c in rising]
        vector = min(ways, key=price)
        yield price(vector), vector
