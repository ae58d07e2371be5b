"""One column of two files as scores: numbers that order its values.

A score is the number itself, microseconds for dates and times, the position in the order for
categories.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from crypsis.counting import arrays
from crypsis.errors import ColumnError, ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.linkage._alignment import missing_values
from crypsis.linkage._orders import Order, ordered_values
from crypsis.linkage._ranks import Floats, Ints, Scores

ScoreKind: TypeAlias = Literal["number", "time", "ordered", "nominal"]
KIND_WORDS = {"number": "numbers", "time": "times"} | dict.fromkeys(("ordered", "nominal"), "categories")
_DAY_MICROSECONDS = 86_400_000_000
"""Distances of times are stated in days."""


@dataclass(frozen=True)
class ComparedColumn:
    """One column of both files: its kind and the scores of its values."""

    name: str
    kind: ScoreKind
    original: Scores
    masked: Scores
    values: tuple[Hashable, ...] = ()
    hierarchy: Hierarchy | None = None

    @property
    def is_measured(self) -> bool:
        """Whether differences between scores have a meaning (numbers and times)."""
        return self.kind in ("number", "time")

    def measured(self, scores: Scores) -> Floats:
        """Scores as numbers that can be subtracted: days for times; infinite values are refused."""
        if not self.is_measured:
            raise ColumnError(
                f"Column {self.name!r} contains categories, which cannot be subtracted.",
                code="not-numeric",
                columns=(self.name,),
            )
        values = np.asarray(scores, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ColumnError(
                f"Column {self.name!r} has infinite values, which cannot be subtracted.",
                code="infinite-values",
                hint="Top code them, or compare other {columns}.",
                columns=(self.name,),
            )
        return values / _DAY_MICROSECONDS if self.kind == "time" else values


def compared_column(name: str, x: Any, y: Any, order: Order | None, order_from: str) -> ComparedColumn:
    """The column of both files as scores, or an error that states why it cannot be compared."""
    for series, side in ((x, "original"), (y, "masked")):
        missing = missing_values(series)
        if missing:
            noun = "value" if missing == 1 else "values"
            raise ColumnError(
                f"Column {name!r} of the {side} file has {missing:,} missing {noun}, and a missing "
                "value has no rank.",
                code="missing-values",
                hint="Impute or remove them, or compare other {columns}.",
                columns=(name,),
            )
    kinds = score_kind(x, order), score_kind(y, order)
    words = [KIND_WORDS[kind] for kind in kinds]
    if words[0] != words[1]:
        raise ColumnError(
            f"Column {name!r} contains {words[0]} in the original file and {words[1]} in the "
            "masked file; only columns of one type can be compared.",
            code="different-types",
            hint="Recode one of them, or compare other {columns}.",
            columns=(name,),
        )
    if kinds[0] in ("number", "time"):
        if order is not None:
            raise ParameterError(
                f"Column {name!r} contains {words[0]}, which have an order; only categories can be "
                "given one.",
                parameter="orders",
            )
        return ComparedColumn(name, kinds[0], scores(x, kinds[0]), scores(y, kinds[1]))
    values = _category_order(name, x, y, order, order_from)
    position = {value: i for i, value in enumerate(values)}
    codes = []
    for series in (x, y):
        seen, which = coded_values(series)
        codes.append(np.array([position[value] for value in seen], dtype=np.int64)[which])
    hierarchy = order if isinstance(order, Hierarchy) else None
    kind: ScoreKind = "ordered" if order is None else "nominal"
    return ComparedColumn(name, kind, codes[0], codes[1], values, hierarchy)


def score_kind(series: Any, order: Order | None = None) -> ScoreKind:
    """What the values of a column are to a ranking."""
    dtype = series.dtype
    if order is not None and not dtype.is_numeric():
        return "nominal"
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "number"
    if dtype in (nw.Date, nw.Duration) or dtype.is_temporal():
        return "time"
    return "ordered" if isinstance(dtype, nw.Enum) else "nominal"


def scores(series: Any, kind: ScoreKind) -> Scores:
    """Numbers as they are (integers stay integers, so that large ones keep every digit)."""
    if kind == "number":
        if series.dtype.is_integer() and series.dtype != nw.UInt64:
            return np.asarray(series.to_numpy(), dtype=np.int64)
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if series.dtype == nw.Duration:
        series = series.dt.total_microseconds()
    elif series.dtype == nw.Time:
        series = series.cast(nw.Int64)
    else:
        series = series.dt.timestamp("us")
    return np.asarray(series.to_numpy(), dtype=np.int64)


def _category_order(name: str, x: Any, y: Any, order: Order | None, order_from: str) -> tuple[Hashable, ...]:
    if order is None:
        if not (isinstance(x.dtype, nw.Enum) and isinstance(y.dtype, nw.Enum)):
            raise ColumnError(
                f"Column {name!r} contains categories without an order, and ranks need one.",
                code="no-order",
                hint="Set {orders} (a list of its values, a Hierarchy or 'frequency'), or compare "
                "other {columns}.",
                columns=(name,),
            )
        levels = tuple(x.dtype.categories)
        if levels != tuple(y.dtype.categories):
            raise ColumnError(
                f"Column {name!r} has ordered categories that differ between the two files.",
                code="different-categories",
                hint="Use the same categories in the same order in both files.",
                columns=(name,),
            )
        return levels
    deciding, remaining = (x, y) if order_from == "original" else (y, x)
    seen, which = coded_values(deciding)
    counts = dict(zip(seen, np.bincount(which, minlength=len(seen)).tolist(), strict=True))
    return ordered_values(order, counts, [v for v in coded_values(remaining)[0] if v not in counts], name)


def coded_values(series: Any) -> tuple[list[Hashable], Ints]:
    """The distinct values of a column, None for missing ones, and which of them each record has."""
    coded = series.to_arrow()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    if coded.indices.null_count:  # the last position, behind all values
        coded = pa.DictionaryArray.from_arrays(
            coded.indices.fill_null(len(coded.dictionary)),
            pa.concat_arrays([coded.dictionary, pa.nulls(1, coded.dictionary.type)]),
        )
    return coded.dictionary.to_pylist(), arrays.numbers(coded.indices).astype(np.int64)
