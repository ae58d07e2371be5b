"""Samples of rows, quantiles and ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.errors import ColumnError, ParameterError
from crypsis.tables.draws import smallest_hashes
from crypsis.tables.rows import COUNT, Rows
from crypsis.tables.schema import Column, Kind
from crypsis.tables.values import clean_column

_KEY_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.DATE)


def sample(
    rows: Rows, size: int, *, seed: int = 0, key: str | None = None, names: Sequence[str] | None = None
) -> pa.Table:
    """`size` rows drawn at random without replacement (all rows, if there are fewer).

    With a `key` column that identifies the rows the sample is the same on every engine and for
    every order of the rows; without one it is repeatable on the same engine and source.
    """
    if size < 1:
        raise ParameterError(f"Parameter 'size' must be at least 1; {size} was given.")
    chosen = rows.names if names is None else tuple(names)
    inner = [rows.column(name).inner for name in chosen]
    if key is None:
        table = rows.backend.sample(rows.frame.select(*inner), rows.count, size, seed)
        return table.rename_columns(list(chosen))
    if rows.column(key).kind not in _KEY_KINDS:
        raise ColumnError(
            f"Column {key!r} is not a key for a sample. A key has integers, text or dates, which "
            "every engine writes alike.",
            columns=(key,),
        )
    hashed = rows.backend.with_hash(rows.frame, rows.column(key).inner, seed, "h")
    table = smallest_hashes(rows.backend, hashed.select(*inner, "h"), "h", rows.count, size)
    return table.rename_columns(list(chosen))


def quantiles(rows: Rows, names: Sequence[str], probabilities: Sequence[float]) -> dict[str, pa.Array]:
    """For each probability the smallest value with that share of the values at or below it.

    Exact, always a value that occurs, for numbers, dates and times. Missing values do not count.
    """
    for name in names:
        kind = rows.column(name).kind
        if not kind.ordered:
            raise ColumnError(
                f"Column {name!r} is {kind.value}, which has no order. Quantiles need numbers, "
                "dates or times.",
                columns=(name,),
            )
    if not probabilities or not all(0 <= p <= 1 for p in probabilities):
        raise ParameterError("Quantiles need probabilities between 0 and 1.")
    inner = [rows.column(name).inner for name in names]
    by_column = rows.backend.quantiles(rows.cleaned(inner), inner, probabilities)
    return dict(zip(names, by_column.values(), strict=True))


def sampled_quantiles(
    rows: Rows,
    names: Sequence[str],
    probabilities: Sequence[float],
    *,
    rank_error: float,
    confidence: float = 0.95,
    seed: int = 0,
    key: str | None = None,
) -> dict[str, pa.Array]:
    """Quantiles from a sample: each within `rank_error` of its share of the rows.

    The sample has ln(2/(1-confidence)) / (2 rank_error^2) rows; by the inequality of Dvoretzky,
    Kiefer, Wolfowitz and Massart (1990) all quantiles of a column are then right together with the
    given confidence. (lodha2007, section 4.1, takes (1/error) log(1/delta): too few.)
    """
    table = sample(rows, sample_size(rank_error, confidence), seed=seed, key=key, names=names)
    by_column = {}
    for name in names:
        column = clean_column(table[name]).drop_null()
        ordered = column.take(pc.sort_indices(column)).combine_chunks()
        places = [max(0, math.ceil(p * len(ordered)) - 1) for p in probabilities]
        by_column[name] = ordered.take(pa.array(places)) if len(ordered) else ordered
    return by_column


def sample_size(rank_error: float, confidence: float) -> int:
    """How many rows to draw so that sampled quantiles are within `rank_error` (Massart 1990).

    >>> sample_size(0.01, 0.95)
    18445
    """
    if not 0 < rank_error < 1 or not 0 < confidence < 1:
        raise ParameterError("Rank error and confidence must be between 0 and 1.")
    return math.ceil(math.log(2 / (1 - confidence)) / (2 * rank_error**2))


def average_ranks(rows: Rows, names: Sequence[str], *, keep: Sequence[str] = ()) -> Rows:
    """The columns as average ranks from 1 to the number of values; missing stays missing.

    Rows come back in no particular order: `keep` a key to identify them by. The values are counted,
    cumulated and joined back, so that only distinct values are ever sorted in one place.
    """
    kept = [rows.column(name) for name in keep]
    plain = frame = rows.cleaned(rows.comparable(names), [column.inner for column in kept])
    ranked = [Column(name, Kind.NUMBER, rows.column(name).inner) for name in names]
    for inner in (column.inner for column in ranked):
        counts = plain.select(inner).drop_nulls().group_by(inner).agg(nw.len().alias(COUNT))
        below = nw.col(COUNT).cum_sum().over(order_by=inner) - nw.col(COUNT)
        # The average of the ranks below+1 .. below+n that n equal values share.
        average = nw.col("below") + (nw.col(COUNT) + 1) / 2
        steps = counts.with_columns(below.alias("below"))
        steps = steps.select(nw.col(inner).alias("value"), average.alias("rank"))
        joined = frame.join(steps, left_on=inner, right_on="value", how="left")
        frame = joined.with_columns(nw.col("rank").alias(inner)).drop("rank")
    columns = [*ranked, *kept]
    selected = frame.select(*(column.inner for column in columns))
    return rows.derive(columns, lambda _: selected)
