"""Two files made comparable: the columns they share as scores that can be ranked, row with row.

Everything in `linkage` starts here. A score is a number that orders the values of a column: the
number itself, microseconds for dates and times, the place in the order for categories.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis import arrays
from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns
from crypsis.linkage._alignment import RowMap, missing_values, own_rows
from crypsis.linkage._orders import Order, Taxonomy, ordered_values
from crypsis.release import Release

Scores: TypeAlias = NDArray[Any]
Orders: TypeAlias = Mapping[str, Order]
Kind: TypeAlias = Literal["number", "time", "ordered", "nominal"]

_KIND_WORDS = {
    "number": "numbers",
    "time": "times",
    "ordered": "categories",
    "nominal": "categories",
}


@dataclass(frozen=True)
class Column:
    """One column of both files: what it is and the scores of its values."""

    name: str
    kind: Kind
    original: Scores
    masked: Scores
    values: tuple[Hashable, ...] = ()
    taxonomy: Taxonomy | None = None

    @property
    def is_measured(self) -> bool:
        """Whether differences between scores mean something (numbers and times)."""
        return self.kind in ("number", "time")


@dataclass(frozen=True)
class Pair:
    """Two files, column by column, and which masked record belongs to which original (or None)."""

    columns: tuple[Column, ...]
    own: NDArray[np.int64] | None
    original_records: int
    masked_records: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def known_own(self, purpose: str) -> NDArray[np.int64]:
        """The masked record of each original (-1: suppressed), or an error that asks for it."""
        if self.own is None:
            raise InputError(
                f"{purpose} needs to know which masked record belongs to which original one: the "
                f"files have {self.original_records:,} and {self.masked_records:,} records and no "
                "row map. Name the column that holds record numbers (on=...) or give row_map=..."
            )
        return self.own


def to_frame(data: Any, columns: Sequence[str] | None = None) -> nw.DataFrame[Any]:
    """Whatever holds rows as a Narwhals frame in memory: a frame, a mapping, a two-way array."""
    if isinstance(data, Release):
        data = data.to_arrow(columns)
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise InputError(f"An array of records has two dimensions; this one has {data.ndim}.")
        data = {str(i + 1): data[:, i] for i in range(data.shape[1])}
    if isinstance(data, Mapping):
        data = pa.table({name: pa.array(values) for name, values in data.items()})
    try:
        frame = nw.from_native(data)
    except TypeError as error:
        raise InputError(
            f"Records come as a frame (pandas, Polars, Arrow, DuckDB, Spark), a mapping of columns "
            f"or a two-way array; a {type(data).__name__} was given."
        ) from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def pair(
    original: Any,
    masked: Any,
    *,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    order_from: Literal["original", "masked"] = "original",
    ranks_only: bool = False,
) -> Pair:
    """The columns that both files share (or those named), aligned and ready to be ranked.

    With `ranks_only`, two Releases that are joined on record numbers are ranked by their engines:
    only record numbers and ranks come into memory, in the order of the record numbers.
    """
    if (
        ranks_only
        and on is not None
        and isinstance(original, Release)
        and isinstance(masked, Release)
    ):
        original, masked = ranked_by_engine(original, masked, columns, orders, on)
    first, second = to_frame(original), to_frame(masked)
    if len(first) == 0 or len(second) == 0:
        raise InputError("A file has no records; both need at least one.")
    orders = dict(orders or {})
    names = _names(first, second, columns, on)
    for name in orders:
        if name not in names:
            raise unknown_columns([name], names)
    own = own_rows(first, second, on, row_map)
    shared = tuple(_column(n, first[n], second[n], orders.get(n), order_from) for n in names)
    return Pair(shared, own, len(first), len(second))


def _names(
    first: nw.DataFrame[Any], second: nw.DataFrame[Any], asked: Sequence[str] | None, on: str | None
) -> tuple[str, ...]:
    if isinstance(asked, str):
        asked = [asked]
    if asked is not None:
        for frame in (first, second):
            if any(name not in frame.columns for name in asked):
                raise unknown_columns(asked, frame.columns)
    shared = [name for name in first.columns if name in set(second.columns) and name != on]
    names = tuple(dict.fromkeys(asked if asked is not None else shared))
    if on in names:
        raise ColumnError(f"Column {on!r} holds record numbers and cannot be compared as well.")
    if not names:
        raise ColumnError("The files share no column that could be compared.")
    return names


def _column(name: str, x: Any, y: Any, order: Order | None, order_from: str) -> Column:
    for series, side in ((x, "original"), (y, "masked")):
        missing = missing_values(series)
        if missing:
            raise ColumnError(
                f"Column {name!r} of the {side} file has {missing:,} missing values, and a missing "
                "value has no rank. Fill or drop them first, or leave the column out (columns=...)."
            )
    kinds = _kind(x, order), _kind(y, order)
    if len({_KIND_WORDS[kind] for kind in kinds}) > 1:
        raise ColumnError(
            f"Column {name!r} holds {_KIND_WORDS[kinds[0]]} in the original file and "
            f"{_KIND_WORDS[kinds[1]]} in the masked one; only columns of one kind can be compared. "
            "Recode one of them, or leave the column out (columns=...)."
        )
    if kinds[0] in ("number", "time"):
        if order is not None:
            raise ParameterError(
                f"Column {name!r} has an order of its own; orders= is for categories."
            )
        return Column(name, kinds[0], _scores(x, kinds[0]), _scores(y, kinds[1]))
    values = _category_order(name, x, y, order, order_from)
    place = {value: i for i, value in enumerate(values)}
    codes = []
    for series in (x, y):
        seen, which = _coded(series)
        codes.append(np.array([place[value] for value in seen], dtype=np.int64)[which])
    taxonomy = order if isinstance(order, Taxonomy) else None
    kind: Kind = "ordered" if order is None else "nominal"
    return Column(name, kind, codes[0], codes[1], values, taxonomy)


def _kind(series: Any, order: Order | None) -> Kind:
    dtype = series.dtype
    if order is not None and not dtype.is_numeric():
        return "nominal"
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "number"
    if dtype in (nw.Date, nw.Duration) or dtype.is_temporal():
        return "time"
    return "ordered" if isinstance(dtype, nw.Enum) else "nominal"


def _scores(series: Any, kind: Kind) -> Scores:
    """Numbers as they are (whole ones stay whole, so that large ones keep every digit)."""
    if kind == "number":
        if series.dtype.is_integer() and series.dtype != nw.UInt64:
            return np.asarray(series.to_numpy(), dtype=np.int64)
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if series.dtype == nw.Duration:
        return np.asarray(series.dt.total_microseconds().to_numpy(), dtype=np.int64)
    if series.dtype == nw.Time:
        series = series.cast(nw.Int64)
        return np.asarray(series.to_numpy(), dtype=np.int64)
    return np.asarray(series.dt.timestamp("us").to_numpy(), dtype=np.int64)


def _category_order(
    name: str, x: Any, y: Any, order: Order | None, order_from: str
) -> tuple[Hashable, ...]:
    if order is None:
        if isinstance(x.dtype, nw.Enum) and isinstance(y.dtype, nw.Enum):
            levels = tuple(x.dtype.categories)
            if levels != tuple(y.dtype.categories):
                raise ColumnError(
                    f"Column {name!r} has ordered categories that differ between the two files; "
                    "give both the same categories in the same order."
                )
            return levels
        raise ColumnError(
            f"Column {name!r} holds categories without an order, and ranks need one. Give "
            f"orders={{{name!r}: ...}} (--order) with the list of its values in order, a Taxonomy "
            "or 'frequency', or leave the column out (columns=...)."
        )
    decides, other = (x, y) if order_from == "original" else (y, x)
    seen, which = _coded(decides)
    counts = dict(zip(seen, np.bincount(which, minlength=len(seen)).tolist(), strict=True))
    extra = [value for value in _coded(other)[0] if value not in counts]
    return ordered_values(order, counts, extra, name)


def _coded(series: Any) -> tuple[list[Hashable], NDArray[np.int64]]:
    """The distinct values of a column, and which of them each record has."""
    coded = series.to_arrow()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    return coded.dictionary.to_pylist(), arrays.numbers(coded.indices).astype(np.int64)


def ranked_by_engine(
    original: Release,
    masked: Release,
    columns: Sequence[str] | None,
    orders: Orders | None,
    on: str,
) -> tuple[pa.Table, pa.Table]:
    """Record numbers and ranks of two Releases, ranked where their rows are.

    Columns with an order of the caller's come as they are; there are few distinct values in those.
    """
    shared = [name for name in original.names if name in set(masked.names) and name != on]
    names = list(dict.fromkeys(shared if columns is None else columns))
    for release in (original, masked):
        if any(name not in release.names for name in [*names, on]):
            raise unknown_columns([*names, on], release.names)
    listed = [name for name in names if name in (orders or {})]
    for name in names:
        kinds = {release.rows.column(name).kind.ordered for release in (original, masked)}
        if name not in listed and (len(kinds) > 1 or not original.rows.column(name).kind.ordered):
            listed.append(name)  # refused, with the reason, where columns are compared
    ranked = [name for name in names if name not in listed]
    tables = []
    for release in (original, masked):
        rows = release.rows.ranks(ranked, keep=[on, *listed]) if ranked else release.rows
        table = rows.to_arrow([*ranked, on, *listed])
        tables.append(table.sort_by(on).select([on, *names]))
    return tables[0], tables[1]
