"""Two files in comparable form: their shared columns as scores that can be ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from crypsis.dataset import Data, Dataset, as_columns, as_dataset
from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns
from crypsis.linkage._alignment import RowMap, correspond, own_rows
from crypsis.linkage._columns import ComparedColumn, compared_column
from crypsis.linkage._orders import Orders
from crypsis.linkage._ranks import Floats, Ints, Points, Scores, Ties, column_seed, ranks, rescale
from crypsis.options import Columns
from crypsis.tables.sampling import average_ranks


class PairOptions(TypedDict, total=False):
    """How two files are aligned and their columns ordered.

    Parameters
    ----------
    columns : str or sequence of str
        The columns to compare; by default all that the files share.
    orders : mapping
        The order of each column of categories: a list of its values, a `Hierarchy` or "frequency".
    on : str
        The column of record numbers; by default the files are aligned row by row.
    row_map : array of int or "unknown"
        For each masked record the row of its original, -1 for none; "unknown" without alignment.
    seed : int
        The seed of every random choice, 0 by default.
    """

    columns: Columns | None
    orders: Orders | None
    on: str | None
    row_map: RowMap
    seed: int


class RankOptions(PairOptions, total=False):
    """`PairOptions`, and the ranks of equal values.

    Parameters
    ----------
    ties : {"average", "random"}
        Equal values share their mean rank (default), or are ranked at random as in domingo2016,
        which makes a file with many equal values seem safer than it is.
    """

    ties: Ties


@dataclass(frozen=True, eq=False)
class Pair:
    """Two files, column by column, and which masked record belongs to which original (or None)."""

    columns: tuple[ComparedColumn, ...]
    own: Ints | None
    original_records: int
    masked_records: int
    ties: Ties
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def known_own(self, purpose: str) -> Ints:
        """The masked record of each original (-1: suppressed), or an error if it is unknown."""
        if self.own is None:
            raise InputError(
                f"{purpose} needs to know which masked record belongs to which original: the files "
                f"have {self.original_records:,} and {self.masked_records:,} records and no row "
                "map.",
                code="not-aligned",
                hint="Set {on} to a column of record numbers, or set {row_map}.",
            )
        return self.own

    @property
    def rows_correspond(self) -> bool:
        """Whether the rows of the two files seem to correspond in their order."""
        return self.original_records == self.masked_records and correspond(
            zip(self._ranks([c.original for c in self.columns], 0).T, self.masked_ranks().T, strict=True)
        )

    def masked_ranks(self) -> Floats:
        """The ranks of the masked file, one column each."""
        return self._ranks([column.masked for column in self.columns], 1)

    @cached_property
    def points(self) -> Points:
        """Both files as points in rank space; unequal numbers of records by rescaled ranks."""
        return rescale(self._ranks([c.original for c in self.columns], 0), self.masked_ranks())

    def _ranks(self, scores: list[Scores], side: int) -> Floats:
        return np.column_stack(
            [
                ranks(score, ties=self.ties, seed=column_seed(self.seed, name, side))
                for name, score in zip(self.names, scores, strict=True)
            ]
        )

    def with_columns(self, kept_columns: list[int]) -> Pair:
        """The same files with some of the columns."""
        return replace(self, columns=tuple(self.columns[i] for i in kept_columns))


def to_frame(data: Data, columns: Sequence[str] | None = None) -> nw.DataFrame[Any]:
    """A frame, a path, a mapping or a two-dimensional array as a Narwhals frame in memory."""
    if isinstance(data, str | Path):
        data = as_dataset(data)
    if isinstance(data, Dataset):
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
            "Records are a frame (pandas, Polars, Arrow, DuckDB, Spark), a Dataset, a path, a "
            f"mapping of columns or a two-dimensional array; a {type(data).__name__} was given."
        ) from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def pair(
    original: Data,
    masked: Data,
    *,
    columns: Columns | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
    order_from: Literal["original", "masked"] = "original",
    ranks_only: bool = False,
) -> Pair:
    """The columns that both files share (or those named), aligned and ready to be ranked.

    With `ranks_only`, two Datasets that are joined on record numbers are ranked where their rows
    are: only record numbers and ranks come into memory, in the order of the record numbers.
    """
    if ties not in get_args(Ties):
        raise ParameterError(
            f"Parameter 'ties' must be 'average' or 'random'; {ties!r} is not a valid value.",
            parameter="ties",
        )
    wanted = None if columns is None else as_columns(columns)
    orders = dict(orders or {})
    datasets = isinstance(original, Dataset) and isinstance(masked, Dataset)
    if ranks_only and on is not None and datasets:
        original, masked = _ranked_in_place(original, masked, wanted, orders, on)
    first, second = to_frame(original), to_frame(masked)
    if len(first) == 0 or len(second) == 0:
        raise InputError("A file has no records; both need at least one.", code="no-records")
    names = _names(first.columns, second.columns, wanted, on)
    if any(name not in names for name in orders):
        raise unknown_columns(orders, names)
    masked_rows = own_rows(first, second, on, row_map)
    shared = tuple(compared_column(n, first[n], second[n], orders.get(n), order_from) for n in names)
    return Pair(tuple(shared), masked_rows, len(first), len(second), ties, seed)


def true_matches(
    original: Data, masked: Data, *, on: str | None = None, row_map: RowMap = None
) -> Ints | None:
    """For each original record the row of its masked record.

    Parameters
    ----------
    original, masked : Data
        The two files.
    on, row_map
        See `PairOptions`.

    Returns
    -------
    array of int or None
        -1 where a record was suppressed; None where the true matches are unknown.

    Examples
    --------
    >>> true_matches({"no": [7, 8, 9]}, {"no": [9, 7]}, on="no")
    array([ 1, -1,  0])
    """
    return own_rows(to_frame(original), to_frame(masked), on, row_map)


def _names(
    first: Sequence[str], second: Sequence[str], wanted: Sequence[str] | None, on: str | None
) -> tuple[str, ...]:
    if wanted is not None:
        for file in (first, second):
            if any(name not in file for name in wanted):
                raise unknown_columns(wanted, file)
    shared = [name for name in first if name in set(second) and name != on]
    names = tuple(dict.fromkeys(shared if wanted is None else wanted))
    if on in names:
        raise ColumnError(
            f"Column {on!r} contains record numbers and cannot be compared.",
            code="record-numbers",
            columns=(on,),
        )
    if not names:
        raise ColumnError("The files share no column that could be compared.", code="no-shared-columns")
    return names


def _ranked_in_place(
    original: Dataset, masked: Dataset, columns: Sequence[str] | None, orders: Orders, on: str
) -> tuple[pa.Table, pa.Table]:
    """Record numbers and ranks of two Datasets; other columns are fetched as they are."""
    names = _names(original.names, masked.names, columns, on)
    both = (original, masked)
    for data in both:
        data.rows.column(on)
    ranked = [
        name
        for name in names
        if name not in orders and all(data.rows.column(name).kind.ordered for data in both)
    ]
    listed = [name for name in names if name not in ranked]
    tables = []
    for data in both:
        rows = average_ranks(data.rows, ranked, keep=[on, *listed]) if ranked else data.rows
        tables.append(rows.to_arrow([*ranked, on, *listed]).sort_by(on).select([on, *names]))
    return tables[0], tables[1]
