"""Reverse mapping: masking as a permutation plus residual noise (domingo2016, Secs. 2-3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ColumnError
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Column, Orders, Pair, pair, to_frame
from crypsis.linkage._ranks import Floats, column_seed, correlation, ranks
from crypsis.results import Result, raw

_DAY = 86_400_000_000  # microseconds


def reverse_map(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    seed: int = 0,
) -> Any:
    """The masked file with each value replaced by the original value of the same rank.

    domingo2016, Algorithm 1. Each column of the result is a permutation of the original column, in
    the order of the masked one; ties are broken at random (`seed`). With unequal numbers of records
    a masked value takes the original value of the same quantile, so that columns are permuted only
    where the numbers agree. Columns that the files do not share, or that are not named, are left
    out. Missing values are an error: they have no rank. Comes back as the kind of frame that
    `masked` is. Cost: one sort a column.

    >>> z = reverse_map({"age": [31, 45, 22]}, {"age": [44.0, 41.5, 20.1]})
    >>> [int(age) for age in z["age"]]
    [45, 31, 22]
    """
    both = pair(original, masked, columns=columns, orders=orders, row_map="unknown")
    source, target = to_frame(original), to_frame(masked)
    taken = {
        c.name: _gather(source[c.name], mapped_rows(c, seed=seed), target) for c in both.columns
    }
    if isinstance(masked, np.ndarray):
        return np.column_stack([taken[name].to_numpy() for name in both.names])
    if isinstance(masked, Mapping):
        return {name: series.to_numpy() for name, series in taken.items()}
    frame = target.select(both.names).with_columns(*taken.values())
    return frame.to_native()


def mapped_rows(column: Column, *, seed: int = 0) -> NDArray[np.int64]:
    """For each masked record the original record whose value it takes under reverse mapping."""
    by_value = np.argsort(column.original, kind="stable")
    rank = ranks(column.masked, seed=column_seed(seed, column.name, 1))
    wanted = np.floor((rank - 0.5) * (len(by_value) / len(rank))).astype(np.int64)
    return by_value[np.minimum(wanted, len(by_value) - 1)]


def _gather(values: Any, rows: NDArray[np.int64], like: nw.DataFrame[Any]) -> Any:
    taken = values[rows]
    if values.implementation is like.implementation:
        return taken
    return nw.new_series(values.name, taken.to_list(), backend=like.implementation)


@dataclass(frozen=True)
class TwoSteps(Result):
    """One column's masking as a permutation and residual noise.

    `noise` is what leads from original to masked values directly (E = Y - X), `residual` what is
    left after the permutation (E' = Y - Z), both as mean absolute values in the unit of the column
    (days for times) and None for categories, which cannot be subtracted. `smaller_share` is the
    share of records whose residual noise is no larger than their noise. `rank_correlation` between
    X and Z is the disclosure risk of the column: the nearer to 1, the more; None where the column
    does not vary.
    """

    column: str
    rank_correlation: float | None
    noise: float | None
    residual: float | None
    smaller_share: float | None
    spread: float | None
    noise_by_record: Floats | None = raw(default=None)
    residual_by_record: Floats | None = raw(default=None)


def two_steps(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    seed: int = 0,
) -> tuple[TwoSteps, ...]:
    """How much of the masking of each column is permutation, how much residual noise, how risky.

    domingo2016, Sec. 3 and Table 2. The paper says that residual noise is "necessarily small": it
    is small in one sense only. Pairing values in sorted order is the cheapest way to pair them, so
    the mean size of E' never exceeds that of E; but masking that moves the whole column (Y = 1000
    X) leaves residual noise as large as it likes, and single records may do worse, which
    `smaller_share` tells. Compare with `spread`, the column's standard deviation.

    >>> step, = two_steps({"age": [31, 45, 22]}, {"age": [44.0, 41.5, 20.1]})
    >>> round(step.noise, 2), round(step.residual, 2), step.rank_correlation
    (6.13, 4.47, 0.5)
    """
    both = pair(original, masked, columns=columns, orders=orders, on=on, row_map=row_map)
    own = both.known_own("The view as permutation plus noise")
    return tuple(_two_steps(column, both, own, seed) for column in both.columns)


def _two_steps(column: Column, both: Pair, own: NDArray[np.int64], seed: int) -> TwoSteps:
    kept = np.flatnonzero(own >= 0)
    if len(kept) == 0:
        raise ColumnError(
            "No masked record belongs to an original one; there is nothing to compare."
        )
    z = column.original[mapped_rows(column, seed=seed)][own[kept]]
    risk = correlation(ranks(column.original[kept], ties="average"), ranks(z, ties="average"))
    if not column.is_measured:
        return TwoSteps(column.name, risk, None, None, None, None)
    x, y, z = (
        measured(values, column) for values in (column.original[kept], column.masked[own[kept]], z)
    )
    noise, residual = y - x, y - z
    return TwoSteps(
        column.name,
        risk,
        float(np.abs(noise).mean()),
        float(np.abs(residual).mean()),
        float((np.abs(residual) <= np.abs(noise)).mean()),
        float(x.std()),
        noise,
        residual,
    )


def measured(scores: NDArray[Any], column: Column) -> Floats:
    """Scores as numbers that can be subtracted: days for times; infinite values are an error."""
    if not column.is_measured:
        raise ColumnError(f"Column {column.name!r} holds categories, which cannot be subtracted.")
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ColumnError(
            f"Column {column.name!r} has infinite values. They can be ranked but not subtracted: "
            "cap them first, or leave the column out (columns=...)."
        )
    return values / _DAY if column.kind == "time" else values
