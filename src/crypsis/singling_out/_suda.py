"""Special uniques: records that few columns already make unique (Elliot, Manning & Ford 2002)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.cells import Cells, NullPolicy
from crypsis.errors import ParameterError
from crypsis.partitions import Partition
from crypsis.release import as_release
from crypsis.results import Group, Result, raw

Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class ColumnScore(Result):
    """How much of all the scores goes through a column."""

    column: str
    share: float


@dataclass(frozen=True)
class SpecialUniques(Result):
    """Records that are unique in few columns, and how special that makes them."""

    columns: tuple[str, ...]
    largest: int
    uniques: int
    """Records that are unique in all the columns together."""
    special: int
    """Records with a minimal sample unique of at most `largest` columns."""
    minimal_uniques: tuple[int, ...]
    """How many minimal sample uniques of 1, 2, ... columns there are."""
    highest: float
    """The largest score."""
    contributions: tuple[ColumnScore, ...]
    intrusion: float | None
    """P(correct | a unique match) by data intrusion simulation (Skinner & Elliot 2002)."""
    riskiest: Group | None
    scores: NDArray[np.float64] = raw()
    """For each cell of the columns, in the order of `release.cells(columns)`, its score."""


def special_uniques(
    release: Any, columns: Sequence[str] | None = None, *, largest: int = 3, **roles: Any
) -> SpecialUniques:
    """Minimal sample uniques up to `largest` columns, and the SUDA score of each record.

    A set of columns is a minimal sample unique of a record if it makes the record unique and no
    part of it does. One of m columns out of A adds (A-m)(A-m-1)...(A-M) to the score, with M the
    largest size (at most A-1): fewer columns, more special. With the size of the population known,
    data intrusion simulation turns the uniques u and the records p in pairs into the probability
    that a unique match is right, q u / (q u + (1-q) p), for a sampling fraction q. Missing values
    count as the release says; wildcards are an error. Cost: a pass over the cells for each set.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"]})
    >>> found = special_uniques(people, ["age", "sex"], largest=2)
    >>> found.minimal_uniques, found.scores.tolist()
    ((2, 1), [1.0, 1.0, 1.0])
    """
    given = as_release(release, **roles)
    cells = given.cells(columns)
    if given.missing is NullPolicy.WILDCARD and cells._blank.any():
        raise ParameterError("Wildcards have no uniques; read missing values as 'value' or 'drop'.")
    width = len(cells.columns)
    if largest < 1:
        raise ParameterError(f"largest is at least 1; {largest} was given.")
    largest = min(largest, width)
    scores = np.zeros(len(cells))
    through = np.zeros(width)
    found = [0] * largest
    smaller: dict[tuple[int, ...], Bits] = {}
    total = sum(math.comb(width, size) for size in range(1, largest + 1))
    with progress.step("special uniques", total) as step:
        for size in range(1, largest + 1):
            points = math.prod(width - i for i in range(size, min(largest, width - 1) + 1))
            unique = {}
            for chosen, bits in _uniques_of_size(cells, size):
                minimal = np.unpackbits(_minimal(bits, chosen, smaller), count=len(cells))
                hits = np.flatnonzero(minimal)
                scores[hits] += points
                through[list(chosen)] += points * hits.size / size
                found[size - 1] += hits.size
                unique[chosen] = bits
                step.advance()
            smaller = unique
    special = int((scores > 0).sum())
    spread = through / through.sum() if through.sum() else through
    ranked = sorted(zip(cells.columns, spread, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return SpecialUniques(
        cells.columns,
        largest,
        cells.singletons,
        special,
        tuple(found),
        float(scores.max(initial=0.0)),
        tuple(ColumnScore(name, float(share)) for name, share in ranked),
        _intrusion(cells, given.population),
        cells.group(int(np.argmax(scores))) if special else None,
        scores,
    )


def _uniques_of_size(cells: Cells, size: int) -> Any:
    """Each set of `size` columns with the cells that it makes unique, as packed bits."""
    single = cells.counts == 1
    blank = cells._blank if cells.missing is NullPolicy.DROP else None

    def below(partition: Any, chosen: tuple[int, ...]) -> Any:
        if len(chosen) == size:
            sizes = np.diff(partition.starts)
            crowded = np.zeros(len(cells), bool)
            crowded[partition.order[np.repeat(sizes > 1, sizes)]] = True
            unique = single & ~crowded
            if blank is not None:
                unique &= ~blank[list(chosen)].any(axis=0)
            yield chosen, np.packbits(unique)
            return
        first = chosen[-1] + 1 if chosen else 0
        for column in range(first, len(cells.columns) - (size - len(chosen)) + 1):
            yield from below(cells.refine(partition, column), (*chosen, column))

    yield from below(Partition.whole(cells.counts), ())


def _minimal(bits: Bits, chosen: tuple[int, ...], smaller: dict[tuple[int, ...], Bits]) -> Bits:
    """The uniques that are not unique in one column less."""
    for part in combinations(chosen, len(chosen) - 1):
        if part:
            bits = bits & ~smaller[part]
    return bits


def _intrusion(cells: Cells, population: Any) -> float | None:
    if not isinstance(population, int) or population < cells.rows or not cells.rows:
        return None
    fraction = cells.rows / population
    once = float(cells.singletons)
    pairs = float(cells.counts[cells.class_sizes == 2].sum())
    chance = fraction * once + (1 - fraction) * pairs
    return fraction * once / chance if chance else None
