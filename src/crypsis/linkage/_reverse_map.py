"""Reverse mapping: masking as a permutation plus residual noise (domingo2016, Secs. 2-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import narwhals.stable.v2 as nw
import numpy as np

from crypsis.dataset import Data, takes_options
from crypsis.errors import InputError
from crypsis.linkage._columns import ComparedColumn
from crypsis.linkage._orders import Orders
from crypsis.linkage._pair import Pair, PairOptions, pair, to_frame
from crypsis.linkage._ranks import Floats, Ints, column_seed, correlation, ranks
from crypsis.options import Columns
from crypsis.results import Result, raw


def reverse_map(
    original: Data,
    masked: Data,
    *,
    columns: Columns | None = None,
    orders: Orders | None = None,
    seed: int = 0,
) -> Any:
    """The masked file with each value replaced by the original value of the same rank.

    Parameters
    ----------
    original, masked : Data
        The two files.
    columns : str or sequence of str, optional
        The columns to map; by default all that the files share. The result has no others.
    orders : mapping, optional
        The order of each column of categories, see `PairOptions`.
    seed : int
        The seed of the ranks of equal values, which are drawn at random.

    Returns
    -------
    frame
        The kind of frame that `masked` is. Each column is a permutation of the original column, in
        the order of the masked one. With unequal numbers of records a masked value takes the
        original value of the same quantile.

    References
    ----------
    domingo2016, Algorithm 1.

    Examples
    --------
    >>> z = reverse_map({"age": [31, 45, 22]}, {"age": [44.0, 41.5, 20.1]})
    >>> [int(age) for age in z["age"]]
    [45, 31, 22]
    """
    source, target = to_frame(original), to_frame(masked)
    both = pair(source.to_native(), target.to_native(), columns=columns, orders=orders, row_map="unknown")
    taken = {c.name: _gather(source[c.name], _mapped_rows(c, seed), target) for c in both.columns}
    if isinstance(masked, np.ndarray):
        return np.column_stack([taken[name].to_numpy() for name in both.names])
    if isinstance(masked, Mapping):
        return {name: series.to_numpy() for name, series in taken.items()}
    return target.select(both.names).with_columns(*taken.values()).to_native()


def _mapped_rows(column: ComparedColumn, seed: int) -> Ints:
    """For each masked record the original record whose value it takes."""
    by_value = np.argsort(column.original, kind="stable")
    rank = ranks(column.masked, seed=column_seed(seed, column.name, 1))
    wanted = np.floor((rank - 0.5) * (len(by_value) / len(rank))).astype(np.int64)
    return by_value[np.minimum(wanted, len(by_value) - 1)]


def _gather(values: Any, rows: Ints, like: nw.DataFrame[Any]) -> Any:
    taken = values[rows]
    if values.implementation is like.implementation:
        return taken
    return nw.new_series(values.name, taken.to_list(), backend=like.implementation)


class NoiseDecomposition(Result, eq=False):
    """The masking of one column as a permutation and residual noise.

    `noise` is the mean absolute difference between masked and original values (E = Y - X),
    `residual_noise` what remains after the permutation (E' = Y - Z), both in the unit of the column
    (days for times) and None for categories. `smaller_share` is the share of records whose residual
    noise is no larger than their noise. `rank_correlation` between X and Z is the disclosure risk
    of the column (None where the column is constant).
    """

    column: str
    rank_correlation: float | None
    noise: float | None = None
    residual_noise: float | None = None
    smaller_share: float | None = None
    standard_deviation: float | None = None
    noise_by_record: Floats | None = raw(default=None)
    residual_by_record: Floats | None = raw(default=None)


@takes_options(PairOptions)
def decompose_noise(
    original: Data, masked: Data, **options: Unpack[PairOptions]
) -> tuple[NoiseDecomposition, ...]:
    """How much of the masking of each column is permutation, and how much residual noise.

    Parameters
    ----------
    original, masked, **options
        The two files, aligned; see `PairOptions`.

    Returns
    -------
    tuple of NoiseDecomposition
        One result per column.

    Notes
    -----
    The paper calls residual noise "necessarily small". Pairing values in sorted order is the
    cheapest way to pair them, so the mean of |E'| never exceeds that of |E|. But a masking that
    scales a column (Y = 1000 X) has arbitrarily large residual noise, and single records may have
    more of it than noise: see `smaller_share`, and compare with `standard_deviation`.
    Reference: domingo2016, Sec. 3 and Table 2.

    Examples
    --------
    >>> (age,) = decompose_noise({"age": [31, 45, 22]}, {"age": [44.0, 41.5, 20.1]})
    >>> round(age.noise, 2), round(age.residual_noise, 2), age.rank_correlation
    (6.13, 4.47, 0.5)
    """
    return noise_by_column(pair(original, masked, **options))


def noise_by_column(both: Pair) -> tuple[NoiseDecomposition, ...]:
    """The decomposition of every column of a pair."""
    masked_rows = both.known_own("The decomposition into permutation and noise")
    kept = np.flatnonzero(masked_rows >= 0)
    if len(kept) == 0:
        raise InputError("No masked record belongs to an original.", code="not-aligned")
    return tuple(_decompose(column, masked_rows, kept, both.seed) for column in both.columns)


def _decompose(column: ComparedColumn, masked_rows: Ints, kept: Ints, seed: int) -> NoiseDecomposition:
    z = column.original[_mapped_rows(column, seed)][masked_rows[kept]]
    risk = correlation(ranks(column.original[kept], ties="average"), ranks(z, ties="average"))
    if not column.is_measured:
        return NoiseDecomposition(column.name, risk)
    scores = (column.original[kept], column.masked[masked_rows[kept]], z)
    x, y, z = (column.measured(values) for values in scores)
    noise, residual = y - x, y - z
    return NoiseDecomposition(
        column.name,
        risk,
        float(np.abs(noise).mean()),
        float(np.abs(residual).mean()),
        float((np.abs(residual) <= np.abs(noise)).mean()),
        float(x.std()),
        noise,
        residual,
    )
