"""Special uniques detection: records that few columns make unique (Elliot, Manning & Ford 2002)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.counting.cells import Cells
from crypsis.counting.partitions import CodeTable, Partition
from crypsis.dataset import Data, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Columns, MissingValues, Roles
from crypsis.results import Group, Result, raw
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import refuse_wildcards

Bits = NDArray[np.uint8]


class ColumnScore(Result):
    """The share of all SUDA scores that a column contributes."""

    column: str
    share: float


class SudaScores(Result, eq=False):
    """Minimal sample uniques and the SUDA scores of the records."""

    columns: tuple[str, ...]
    max_columns: int
    sample_uniques: int
    """Records that are unique in all the columns together."""
    special_uniques: int
    """Records with a minimal sample unique of at most `max_columns` columns."""
    minimal_uniques: tuple[int, ...]
    """How many minimal sample uniques of 1, 2, ... columns there are."""
    maximum: float
    """The highest score."""
    contributions: tuple[ColumnScore, ...]
    intrusion: float | None
    """P(correct | a unique match) by data intrusion simulation (Skinner & Elliot 2002)."""
    riskiest: Group | None
    """The record with the highest score."""
    scores: NDArray[np.float64] = raw()
    """For each cell of the columns, in the order of `Dataset.cells(columns)`, its score."""


@takes_roles
def suda(
    data: Data, columns: Columns | None = None, *, max_columns: int = 3, **roles: Unpack[Roles]
) -> SudaScores:
    """Find minimal sample uniques and compute SUDA scores.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    max_columns : int
        The size of the largest minimal sample uniques.
    **roles
        See `crypsis.read`.

    Returns
    -------
    SudaScores
        The minimal sample uniques, the scores, and what each column contributes to them.

    Notes
    -----
    A set of columns is a minimal sample unique of a record if it makes the record unique and no
    proper subset does. One of m columns out of A adds (A-m)(A-m-1)...(A-M) to the score, with M =
    `max_columns` (at most A-1): the fewer columns, the higher the score. With the size of the
    population known, data intrusion simulation turns the uniques u and the records p in classes of
    two into the probability that a unique match is correct, q u / (q u + (1-q) p), for a sampling
    fraction q. Missing values count as the data says; wildcards are an error. Cost: a pass over the
    cells for each set of columns.

    References
    ----------
    Elliot, Manning & Ford (2002), A computational algorithm for handling the special uniques
    problem. Skinner & Elliot (2002), A measure of disclosure risk for microdata.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"]})
    >>> found = suda(people, ["age", "sex"], max_columns=2)
    >>> found.minimal_uniques, found.scores.tolist()
    ((2, 1), [1.0, 1.0, 1.0])
    """
    dataset = as_dataset(data, **roles)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    refuse_wildcards(cells)
    width = len(cells.columns)
    if max_columns < 1:
        raise ParameterError(
            f"Parameter 'max_columns' must be at least 1; {max_columns} was given.",
            parameter="max_columns",
        )
    max_columns = min(max_columns, width)
    scores = np.zeros(len(cells))
    through = np.zeros(width)
    found = [0] * max_columns
    smaller: dict[tuple[int, ...], Bits] = {}
    total = sum(math.comb(width, size) for size in range(1, max_columns + 1))
    with progress.step("special uniques", total) as step:
        for size in range(1, max_columns + 1):
            points = math.prod(width - i for i in range(size, min(max_columns, width - 1) + 1))
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
    return SudaScores(
        columns=cells.columns,
        max_columns=max_columns,
        sample_uniques=cells.singletons,
        special_uniques=special,
        minimal_uniques=tuple(found),
        maximum=float(scores.max(initial=0.0)),
        contributions=tuple(ColumnScore(name, float(share)) for name, share in ranked),
        intrusion=_intrusion(cells, dataset.population),
        riskiest=cells.group(int(np.argmax(scores))) if special else None,
        scores=scores,
    )


def _uniques_of_size(cells: Cells, size: int) -> Iterator[tuple[tuple[int, ...], Bits]]:
    """Each set of `size` columns with the cells that it makes unique, as packed bits."""
    single = cells.counts == 1
    missing = cells.missing_mask if cells.missing is MissingValues.DROP else None

    table = CodeTable(cells)
    position = {place: column for column, place in enumerate(table.places)}

    def below(partition: Partition, chosen: tuple[int, ...]) -> Iterator[Any]:
        if len(chosen) == size:
            sizes = np.diff(partition.starts)
            shared = np.zeros(len(cells), bool)
            shared[partition.order[np.repeat(sizes > 1, sizes)]] = True
            unique = single & ~shared
            if missing is not None:
                unique &= ~missing[list(chosen)].any(axis=0)
            yield chosen, np.packbits(unique)
            return
        first = chosen[-1] + 1 if chosen else 0
        for column in range(first, len(cells.columns) - (size - len(chosen)) + 1):
            yield from below(partition.refine(position[column]), (*chosen, column))

    yield from below(Partition.coarsest(table), ())


def _minimal(bits: Bits, chosen: tuple[int, ...], smaller: dict[tuple[int, ...], Bits]) -> Bits:
    """The uniques that are not unique in one column fewer."""
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
