"""Perturbation of columns: arrays in, arrays out.

NaN is missing and stays missing. Every function takes a generator, so that the same seed gives
the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.array_types import Flags, Floats, Ints
from crypsis.errors import ParameterError
from crypsis.protection.masking import _kernels as kernels
from crypsis.protection.recoding._clusters import cluster
from crypsis.scientific import special

_BLOCK_ROWS = 65_536
"""Rows are handed on in blocks of so many."""


def noise(table: Floats, scale: float, generator: Generator, *, correlated: bool) -> Floats:
    """Add normal noise of `scale` standard deviations to each column.

    Correlated noise has the covariance of the data, so that correlations are kept on average
    (Kim 1986); independent noise weakens them by 1 / (1 + scale^2).
    """
    return with_noise(table, scale * spread(blocks([table]), correlated=correlated), generator)


def blocks(tables: Iterable[Floats]) -> Iterator[Floats]:
    """The same rows in blocks of one size, so that sums do not depend on how they were divided."""
    waiting: list[Floats] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.shape[0]
        if rows >= _BLOCK_ROWS:
            joined = np.concatenate(waiting)
            full = rows - rows % _BLOCK_ROWS
            yield from (joined[i : i + _BLOCK_ROWS] for i in range(0, full, _BLOCK_ROWS))
            waiting, rows = [joined[full:].copy()], rows - full
    if rows:
        yield np.concatenate(waiting)


def spread(parts: Iterable[Floats], *, correlated: bool) -> Floats:
    """The columns' standard deviations, or a root of their covariance: one pass, in blocks.

    Moments of blocks are combined as in Chan, Golub and LeVeque (1983). Correlated noise needs more
    complete rows than columns; with fewer it is independent.
    """
    each: _Moments | None = None
    joint: _Moments | None = None
    for part in parts:
        each = _plus(each, _moments(part))
        if correlated:
            joint = _plus(joint, _moments(part[~np.isnan(part).any(axis=1)], together=True))
    if each is None:
        return np.zeros(0)
    if joint is not None and joint.rows[0] > joint.mean.size:
        values, vectors = np.linalg.eigh(joint.squares / joint.rows[0])
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(np.sqrt(each.squares / np.maximum(each.rows, 1)))


def with_noise(table: Floats, spread: Floats, generator: Generator) -> Floats:
    """Normal draws with that spread added, row by row: the same for any division into parts."""
    draws = generator.standard_normal(table.shape)
    if spread.ndim == 1:
        return np.asarray(table + spread * draws)
    noisy = table.copy()
    for c in range(table.shape[1]):
        for j in range(table.shape[1]):
            noisy[:, c] += spread[c, j] * draws[:, j]
    return noisy


@dataclass(frozen=True)
class _Moments:
    rows: Floats
    mean: Floats
    squares: Floats
    """Sums of squared deviations from the mean; of products if columns are taken together."""


def _moments(block: Floats, *, together: bool = False) -> _Moments:
    present = ~np.isnan(block)
    rows = present.sum(axis=0).astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.where(present, block, 0.0).sum(axis=0) / np.maximum(rows, 1)
        centered = np.where(present, block - mean, 0.0)
        return _Moments(rows, mean, centered.T @ centered if together else (centered**2).sum(axis=0))


def _plus(first: _Moments | None, two: _Moments) -> _Moments:
    if first is None:
        return two
    rows = first.rows + two.rows
    with np.errstate(invalid="ignore", over="ignore"):
        gap, weight = two.mean - first.mean, first.rows * two.rows / np.maximum(rows, 1)
        product = np.outer(gap, gap) * weight if first.squares.ndim == 2 else gap**2 * weight
        mean = first.mean + gap * two.rows / np.maximum(rows, 1)
    return _Moments(rows, mean, first.squares + two.squares + product)


def rank_swap(column: Floats, percent: float, generator: Generator) -> Floats:
    """Swap each value with one whose rank is at most `percent` of the rows away (Moore 1996)."""
    present = np.flatnonzero(~np.isnan(column))
    reach = int(present.size * percent / 100)
    if reach < 1:
        return column.copy()
    order = present[np.argsort(column[present], kind="stable")]
    partner = kernels.swap_partners(order.size, reach, generator.random(order.size))
    swapped = column.copy()
    swapped[order] = column[order[partner]]
    return swapped


def shuffle(table: Floats, unchanged: Floats | None, generator: Generator) -> Floats:
    """The values of each column in another order that keeps rank correlations.

    Muralidhar and Sarathy 2006: ranks become normal scores; new scores are drawn conditionally on
    those of the columns in `unchanged`, which stay; and each column's own values are assigned in the
    order of the new scores. So every column keeps exactly its values, and the rank correlations
    keep their expectation. Rows with a missing value are not shuffled.
    """
    joined = table if unchanged is None else np.hstack([table, unchanged])
    rows = np.flatnonzero(~np.isnan(joined).any(axis=1))
    if rows.size < 2:
        return table.copy()
    scores, fixed = _scores(table[rows]), None if unchanged is None else _scores(unchanged[rows])
    columns = scores.shape[1]
    spread = np.atleast_2d(np.cov(scores.T, ddof=0))
    center: Any = 0.0
    if fixed is not None:
        across = scores.T @ fixed / rows.size
        around = np.atleast_2d(np.cov(fixed.T, ddof=0))
        slope = across @ np.linalg.pinv(around)
        center, spread = fixed @ slope.T, spread - slope @ across.T
    values, vectors = np.linalg.eigh(spread)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = center + generator.standard_normal((rows.size, columns)) @ root.T
    shuffled = table.copy()
    for c in range(columns):
        rank = np.argsort(np.argsort(drawn[:, c], kind="stable"), kind="stable")
        shuffled[rows, c] = np.sort(table[rows, c])[rank]
    return shuffled


def _scores(table: Floats) -> Floats:
    ranks = np.argsort(np.argsort(table, axis=0, kind="stable"), axis=0, kind="stable") + 1
    return np.asarray(special.ndtri(ranks / (table.shape[0] + 1)))


def microaggregate(column: Floats, k: int) -> Floats:
    """Each value becomes the mean of its group of at least k, groups chosen optimally."""
    return np.asarray(cluster(column, k, cost="squares").transformed("mean"))


def mdav(table: Floats, k: int) -> Floats:
    """Each record becomes the mean of its group of k to 2k - 1 near records (MDAV).

    Columns are standardized for the distances.
    """
    if np.isnan(table).any():
        raise ParameterError(
            "Records with a missing value have no nearest neighbors, which MDAV needs.",
            code="missing-values",
            hint="Use microaggregation column by column.",
        )
    if not 1 <= k <= table.shape[0]:
        raise ParameterError(
            f"Parameter 'k' must be between 1 and the number of records; {k} was given.", parameter="k"
        )
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    group = kernels.mdav_groups(np.ascontiguousarray(scaled), k)
    sizes = np.bincount(group)
    means = np.column_stack([np.bincount(group, column) / sizes for column in table.T])
    return np.asarray(means[group])


def pram(codes: Ints, values: int, stay: float, generator: Generator) -> Ints:
    """Keep each category with probability `stay`, else draw one from how often each occurs.

    Post-randomization (Gouweleeuw et al. 1998) with the matrix stay I + (1 - stay) 1 p', which
    keeps the expected frequencies p. -1 is missing and stays missing.
    """
    present = codes >= 0
    counts = np.bincount(codes[present], minlength=values)
    change, drawn = redrawn(present, counts, stay, generator)
    return np.asarray(np.where(change, drawn, codes))


def pram_by_matrix(codes: NDArray[np.integer], matrix: Floats, generator: Generator) -> Ints:
    """Each category becomes what its row of the matrix draws; -1 is missing and stays missing."""
    draws = generator.random(codes.size)
    drawn = np.full(codes.size, -1, np.int64)
    for code in np.unique(codes[codes >= 0]):
        rows = np.flatnonzero(codes == code)
        upto = np.cumsum(matrix[code])
        state = np.searchsorted(upto, draws[rows] * upto[-1], "right")
        drawn[rows] = np.minimum(state, np.flatnonzero(matrix[code])[-1])
    return drawn


def redrawn(present: Flags, counts: Ints, stay: float, generator: Generator) -> tuple[Flags, Ints]:
    """Which rows are drawn again, and the place of their new value; two draws a row."""
    draws = generator.random((present.size, 2))
    change = present & (draws[:, 0] >= stay)
    upto = np.cumsum(counts)
    total = int(upto[-1]) if upto.size else 0
    return change, np.searchsorted(upto, (draws[:, 1] * total).astype(np.int64), "right")


def rounded(column: Floats, base: float) -> Floats:
    """To the nearest multiple of `base`; halves to the even one."""
    return np.asarray(np.round(column / base) * base)
