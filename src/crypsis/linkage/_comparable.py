"""Which columns of two files can be compared, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from crypsis.dataset import Data, Dataset, as_columns
from crypsis.errors import ColumnError, ParameterError
from crypsis.linkage._alignment import missing_values
from crypsis.linkage._columns import KIND_WORDS, ScoreKind, score_kind
from crypsis.linkage._orders import Order, Orders
from crypsis.linkage._pair import to_frame
from crypsis.options import Columns
from crypsis.results import Result
from crypsis.tables import Kind, Rows

Categories: TypeAlias = Literal["exclude", "frequency"]

_REASONS = {
    "no-order": "Categories without an order have no ranks.",
    "missing-values": "Missing values have no ranks.",
    "different-types": "The column has different types in the two files.",
}


class ExcludedColumn(Result):
    """A column that is not compared, with the reason as a code and as a sentence."""

    column: str
    code: str
    reason: str


class ComparableColumns(Result):
    """The columns that two files share: those that can be compared, and those that cannot.

    `by_frequency` are the columns of categories that are ordered by the frequency of their values.
    """

    columns: tuple[str, ...]
    excluded: tuple[ExcludedColumn, ...]
    by_frequency: tuple[str, ...]

    def orders(self, orders: Orders | None = None) -> dict[str, Order]:
        """The orders that were given and those by frequency."""
        return {**dict.fromkeys(self.by_frequency, "frequency"), **(orders or {})}


def comparable_columns(
    original: Data,
    masked: Data,
    *,
    columns: Columns | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    categories: Categories = "exclude",
    allow_missing: bool = False,
) -> ComparableColumns:
    """The columns of two files that can be ranked and compared.

    Parameters
    ----------
    original, masked : Data
        The two files.
    columns : str or sequence of str, optional
        The columns to compare; they are not excluded. By default all that the files share, without
        direct identifiers.
    orders : mapping, optional
        The order of each column of categories, see `PairOptions`.
    on : str, optional
        The column of record numbers, which is not compared.
    categories : {"exclude", "frequency"}
        Whether categories without an order are excluded or ordered by their frequency.
    allow_missing : bool
        Whether columns with missing values stay, because the caller removes those records.

    Returns
    -------
    ComparableColumns
        The columns, and the excluded columns with the reason of each.

    Examples
    --------
    >>> people = {"age": [30, 41], "job": ["cook", "clerk"]}
    >>> found = comparable_columns(people, people)
    >>> found.columns, found.excluded[0].code
    (('age',), 'no-order')
    """
    if categories not in get_args(Categories):
        raise ParameterError(
            f"Parameter 'categories' must be 'exclude' or 'frequency'; {categories!r} is not a valid value.",
            parameter="categories",
        )
    first, second = _described(original), _described(masked)
    if columns is None:
        excluded_names = {on, *_identifiers(original), *_identifiers(masked)}
        wanted = tuple(name for name in first if name in second and name not in excluded_names)
    else:
        wanted = as_columns(columns)
    comparable: list[str] = []
    excluded: list[ExcludedColumn] = []
    by_frequency: list[str] = []
    for name in wanted:
        if name not in first or name not in second:
            comparable.append(name)  # named by the caller: the comparison raises the error
            continue
        (kind, missing), (other_kind, other_missing) = first[name](), second[name]()
        unordered = kind == "nominal" and name not in (orders or {})
        code = ""
        if KIND_WORDS[kind] != KIND_WORDS[other_kind]:
            code = "different-types"
        elif unordered and categories == "exclude":
            code = "no-order"
        elif columns is None and not allow_missing and (missing() or other_missing()):
            code = "missing-values"
        if code and columns is None:
            excluded.append(ExcludedColumn(name, code, _REASONS[code]))
            continue
        comparable.append(name)
        if unordered and not code:
            by_frequency.append(name)
    if not comparable:
        raise ColumnError(
            "The files share no column that can be ranked"
            + (": " + " ".join(dict.fromkeys(column.reason for column in excluded)) if excluded else "."),
            code="no-comparable-columns",
            hint="Set {orders} for categories, or {categories=frequency}." if excluded else "",
        )
    return ComparableColumns(tuple(comparable), tuple(excluded), tuple(by_frequency))


_Describe: TypeAlias = Callable[[], tuple[ScoreKind, Callable[[], bool]]]
_KINDS: dict[Kind, ScoreKind] = {
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "number",
    Kind.DATE: "time",
    Kind.TIME: "time",
}


def _described(data: Data) -> dict[str, _Describe]:
    """For each column its kind, and a check for missing values."""
    if isinstance(data, Dataset):
        return {name: partial(_of_rows, data.rows, name) for name in data.names}
    frame: Any = to_frame(data)
    return {name: partial(_of_series, frame[name]) for name in frame.columns}


def _of_rows(rows: Rows, name: str) -> tuple[ScoreKind, Callable[[], bool]]:
    kind = _KINDS.get(rows.column(name).kind, "nominal")
    return kind, lambda: rows.tally([name]).missing > 0


def _of_series(series: Any) -> tuple[ScoreKind, Callable[[], bool]]:
    return score_kind(series), lambda: missing_values(series) > 0


def _identifiers(data: Data) -> tuple[str, ...]:
    return data.identifiers if isinstance(data, Dataset) else ()
