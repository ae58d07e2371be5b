"""Special uniques detection: records that few columns make unique (Elliot, Manning & Ford 2002)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from crypsis import progress
from crypsis.array_types import Bytes, Floats
from crypsis.counting.cells import Cells
from crypsis.counting.match_probability import check_weights
from crypsis.counting.partitions import CodeTable, Partition
from crypsis.dataset import DESIGN, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Columns, MissingValues, Roles
from crypsis.results import Group, Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import check_threshold, refuse_wildcards


class ColumnScore(Result):
    """The share of all SUDA scores that a column contributes."""

    column: str
    share: float


class SudaScores(Result):
    """Minimal sample uniques and the SUDA scores of the records."""

    columns: tuple[str, ...]
    max_columns: int
    records: int
    sample_uniques: int
    """Records that are unique in all the columns together."""
    special_uniques: int
    """Records with a minimal sample unique of at most `max_columns` columns."""
    minimal_uniques: tuple[int, ...]
    """How many minimal sample uniques of 1, 2, ... columns there are."""
    maximum: float
    """The highest score."""
    average: float
    """The average score of all records."""
    contributions: tuple[ColumnScore, ...]
    sampling_fraction: float | None
    """The sampling fraction of data intrusion simulation; None where it is not known."""
    intrusion: float | None
    """P(correct | a unique match) by data intrusion simulation (Skinner & Elliot 2002)."""
    threshold: float
    dis_maximum: float | None
    """The highest DIS-SUDA score."""
    dis_share_above: float | None
    """The share of records whose DIS-SUDA score is above the threshold."""
    riskiest: Group | None
    """The record with the highest score."""


@takes_roles(without=DESIGN)
def suda(
    data: Data,
    columns: Columns | None = None,
    *,
    max_columns: int = 3,
    sampling_fraction: float | None = None,
    threshold: float = 0.2,
    **roles: Unpack[Roles],
) -> SudaScores:
    """Find minimal sample uniques and compute SUDA and DIS-SUDA scores.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    max_columns : int
        The size of the largest minimal sample uniques.
    sampling_fraction : float, optional
        The sampling fraction; by default from the population, or else from the weights.
    threshold : float
        The DIS-SUDA score above which a record counts as at risk.
    **roles
        See `crypsis.read`.

    Returns
    -------
    SudaScores
        The minimal sample uniques, the scores, and what each column contributes to them;
        `record_risks` has the scores of each record.

    Notes
    -----
    A set of columns is a minimal sample unique of a record if it makes the record unique and no
    proper subset does. One of m columns out of A adds (A-m)(A-m-1)...(A-M) to the score, with M =
    `max_columns` (at most A-1): the fewer columns, the higher the score.

    With the sampling fraction q known, data intrusion simulation turns the uniques u and the
    records p in classes of two into the probability that a unique match is correct, DIS = q u /
    (q u + (1-q) p). DIS-SUDA spreads it over the records with a score s: the odds against a correct
    match are proportional to s^-(1 + (8-A)/20), and their sum is u (1/DIS - 1). These are the
    scores of the program SUDA and of sdcMicro (where the sampling fraction is 0.01 unless it is
    given, and M is A). Missing values count as the data says; wildcards are an error. Cost: a pass
    over the cells for each set of columns.

    References
    ----------
    Elliot, Manning & Ford (2002), A computational algorithm for handling the special uniques
    problem. Skinner & Elliot (2002), A measure of disclosure risk for microdata. Elliot, Manning,
    Mayes, Gurd & Bane (2005), SUDA: a program for detecting special uniques.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"]})
    >>> found = suda(people, ["age", "sex"], max_columns=2)
    >>> found.minimal_uniques, found.maximum
    ((2, 1), 1.0)
    """
    dataset = as_seen(data, columns, **roles)
    check_threshold(threshold)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    refuse_wildcards(cells)
    scored = score_cells(cells, max_columns)
    fraction = sampling_fraction_of(dataset, cells, sampling_fraction)
    special = int((scored.scores > 0).sum())
    through = scored.through
    spread = through / through.sum() if through.sum() else through
    ranked = sorted(zip(cells.columns, spread, strict=True), key=lambda pair: (-pair[1], pair[0]))
    dis = None if fraction is None else dis_scores(cells, scored.scores, fraction)
    records = cells.rows
    return SudaScores(
        columns=cells.columns,
        max_columns=len(scored.found),
        records=records,
        sample_uniques=cells.singletons,
        special_uniques=special,
        minimal_uniques=scored.found,
        maximum=float(scored.scores.max(initial=0.0)),
        average=float(scored.scores.sum() / records) if records else 0.0,
        contributions=tuple(ColumnScore(name, float(share)) for name, share in ranked),
        sampling_fraction=fraction,
        intrusion=None if fraction is None else _intrusion(cells, fraction),
        threshold=threshold,
        dis_maximum=None if dis is None else float(dis.max(initial=0.0)),
        dis_share_above=None if dis is None else float((dis > threshold).sum() / max(records, 1)),
        riskiest=cells.group(int(np.argmax(scored.scores))) if special else None,
    )


@dataclass(frozen=True, eq=False)
class ScoredCells:
    """The SUDA score of each cell, the minimal sample uniques by size, and scores by column."""

    scores: Floats
    found: tuple[int, ...]
    through: Floats


def score_cells(cells: Cells, max_columns: int) -> ScoredCells:
    """The SUDA score of each cell; 0 of one that is not a minimal sample unique."""
    width = len(cells.columns)
    if max_columns < 1:
        raise ParameterError(
            f"Parameter 'max_columns' must be at least 1; {max_columns} was given.", parameter="max_columns"
        )
    max_columns = min(max_columns, width)
    scores = np.zeros(len(cells))
    through = np.zeros(width)
    uniques_by_size = [0] * max_columns
    smaller: dict[tuple[int, ...], Bytes] = {}
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
                uniques_by_size[size - 1] += hits.size
                unique[chosen] = bits
                step.advance()
            smaller = unique
    return ScoredCells(scores, tuple(uniques_by_size), through)


def dis_scores(cells: Cells, scores: Floats, fraction: float) -> Floats:
    """The DIS-SUDA score of each cell: data intrusion simulation, spread by the SUDA scores."""
    dis = np.zeros(scores.size)
    scored = scores > 0
    chance = _intrusion(cells, fraction)
    if chance is None or not scored.any():
        return dis
    weight = scores[scored] ** -(1 + (8 - len(cells.columns)) / 20)
    against = cells.singletons * (1 / chance - 1) * weight / weight.sum()
    dis[scored] = 1 / (1 + against)
    return dis


def _uniques_of_size(cells: Cells, size: int) -> Iterator[tuple[tuple[int, ...], Bytes]]:
    """Each set of `size` columns with the cells that it makes unique, as packed bits."""
    single = cells.counts == 1
    missing = cells.missing_mask if cells.missing is MissingValues.DROP else None

    table = CodeTable(cells)
    position = {table_place: column for column, table_place in enumerate(table.places)}

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


def _minimal(bits: Bytes, chosen: tuple[int, ...], smaller: dict[tuple[int, ...], Bytes]) -> Bytes:
    """The uniques that are not unique in one column fewer."""
    for part in combinations(chosen, len(chosen) - 1):
        if part:
            bits = bits & ~smaller[part]
    return bits


def sampling_fraction_of(dataset: Dataset, cells: Cells, stated_fraction: float | None) -> float | None:
    """The fraction that was given, or that of the population, or that of the weights."""
    if stated_fraction is not None:
        if not 0 < stated_fraction <= 1:
            raise ParameterError(
                f"Parameter 'sampling_fraction' must be above 0 and at most 1; {stated_fraction} was given.",
                parameter="sampling_fraction",
            )
        return stated_fraction
    people: Any = getattr(dataset.population, "count", dataset.population)
    if people is None and dataset.weight is not None:
        weighted = dataset.cells(cells.columns, weighted=True)
        check_weights(weighted)
        people = float(weighted.class_weights[cells.class_sizes > 0].sum())
    return None if people is None or not 0 < cells.rows <= people else cells.rows / people


def _intrusion(cells: Cells, fraction: float) -> float | None:
    once = float(cells.singletons)
    pairs = float(cells.counts[cells.class_sizes == 2].sum())
    chance = fraction * once + (1 - fraction) * pairs
    return fraction * once / chance if chance else None
