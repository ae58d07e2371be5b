"""Local suppression: values removed until every combination has k records, by importance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Flags, Ints
from crypsis.counting.grouping import group
from crypsis.errors import RequirementsNotMetError, TooLargeError, unknown_columns
from crypsis.protection.masking._wildcards import matching_records, suppressed_for_wildcards
from crypsis.tables.values import clean_column

_MAX_COLUMNS = 14
"""Of more columns together there are too many subsets (2^14 of these)."""


def without_values(
    table: pa.Table,
    k: int,
    importance: Sequence[str] = (),
    *,
    wildcards: bool = False,
    ghosts: Mapping[str, Sequence[str]] | None = None,
) -> pa.Table:
    """The table without the values that `suppressed_values` names, counted again.

    The columns of `ghosts` are not part of the classes; they lose their values where that of their
    column is missing.

    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "f", "f"]})
    >>> without_values(people, 2)["age"].to_pylist()
    [None, None, None]
    >>> without_values(people, 2, wildcards=True)["age"].to_pylist()
    [30, 30, None]
    """
    following = {name: source for source, names in (ghosts or {}).items() for name in names}
    names = [name for name in table.column_names if name not in following]
    unknown = [name for name in (*importance, *(ghosts or {})) if name not in names]
    if unknown:
        raise unknown_columns(unknown, names)
    coded = [_coded(table[name]) for name in names]
    order = None
    if importance:
        rest = sorted((n for n in names if n not in importance), key=lambda n: -_values(coded, names, n))
        order = [names.index(name) for name in (*rest, *reversed(importance))]
    codes = np.column_stack(coded)
    _check_size(codes, k)
    search, count = suppressed_values, _sizes
    if wildcards:
        search, count = suppressed_for_wildcards, matching_records
    removed = search(codes, k, order)
    if (count(np.where(removed, 0, codes + 1)) < k).any():
        raise RequirementsNotMetError(
            f"A class has fewer than {k} records after local suppression, so the release is not returned."
        )
    gone = {name: removed[:, c] for c, name in enumerate(names)}
    for name, leader in following.items():
        gone[name] = removed[:, names.index(leader)] | (codes[:, names.index(leader)] < 0)
    columns = [
        pc.if_else(pa.array(gone[name]), pa.scalar(None, table[name].type), table[name])
        for name in table.column_names
    ]
    return pa.table(columns, names=table.column_names)


def _check_size(codes: Ints, k: int) -> None:
    rows, columns = codes.shape
    if rows < k:
        raise RequirementsNotMetError(f"The data has {rows:,} records; classes of {k:,} cannot be formed.")
    if columns > _MAX_COLUMNS:
        raise TooLargeError(
            f"Local suppression takes up to {_MAX_COLUMNS} columns together; {columns} were given.",
            hint="Use fewer columns, or anonymize with local recoding.",
        )


def _values(coded: Sequence[Ints], names: Sequence[str], name: str) -> int:
    return int(np.unique(coded[names.index(name)]).size)


def _coded(column: pa.ChunkedArray) -> Ints:
    """The value of each record by number; missing values, NaN among them, are -1."""
    plain = clean_column(column)
    indices = plain.combine_chunks().dictionary_encode().indices
    return np.asarray(pc.fill_null(indices, -1), np.int64)


def suppressed_values(codes: Ints, k: int, order: Sequence[int] | None = None) -> Flags:
    """Which values to remove, so that every record has k - 1 others like it.

    Parameters
    ----------
    codes : array of int, records by columns
        The value of each record in each column; -1 is missing. Two missing values are alike, and
        unlike every value.
    k : int
        The smallest class.
    order : sequence of int, optional
        The columns from the least important on: a column is suppressed only where all less
        important ones do not suffice. By default as few values of a record as possible are
        suppressed, in columns with many values first.

    Returns
    -------
    array of bool, records by columns

    Notes
    -----
    Sets of columns are tried one after the other. The records in small classes that have k alike
    without these columns lose their values in them. The few that are left at the end lose theirs
    together with records of classes that can spare some, or with a class as a whole.
    """
    now = codes.astype(np.int64) + 1  # 0 is missing
    removed = np.zeros(codes.shape, bool)
    small = _sizes(now) < k
    for chosen in _sets(now, order):
        if not small.any():
            return removed
        left = np.flatnonzero(small)
        tried = now[left].copy()
        tried[:, chosen] = 0
        fixed = np.flatnonzero(~small & (now[:, chosen] == 0).all(axis=1))
        sizes = _sizes(np.concatenate([tried, now[fixed]]))[: left.size]
        rescued = left[sizes >= k]
        _remove(now, removed, rescued, chosen)
        small[rescued] = False
    _remove_rest(now, removed, small, k, order)
    return removed


def _remove_rest(now: Ints, removed: Flags, small: Flags, k: int, order: Sequence[int] | None) -> None:
    """The last records lose values together with records of classes that can spare them."""
    for row in np.flatnonzero(small).tolist():
        for chosen in _sets(now, order):
            if not small[row]:
                break
            kept = [c for c in range(now.shape[1]) if c not in chosen]
            matching = (now[:, kept] == now[row, kept]).all(axis=1)
            protected = matching & ~small & (now[:, chosen] == 0).all(axis=1)
            mine = matching & small
            missing = k - int(protected.sum()) - int(mine.sum())
            donors = _donors(now, np.flatnonzero(matching & ~small & ~protected), k, missing)
            if donors.size >= missing:
                _remove(now, removed, np.concatenate([np.flatnonzero(mine), donors]), chosen)
                small[mine] = False


def _donors(now: Ints, rows: Ints, k: int, missing: int) -> Ints:
    """Records beyond the k of their classes; where these are too few, one class as a whole."""
    if missing <= 0 or not rows.size:
        return rows[:0]
    _, member = np.unique(now[rows], axis=0, return_inverse=True)
    member = member.ravel()
    sizes = np.bincount(member)
    order = np.argsort(member, kind="stable")
    rank = np.empty(rows.size, np.int64)
    rank[order] = np.arange(rows.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    spare = rows[rank >= k]
    return spare[:missing] if spare.size >= missing else rows[member == int(np.argmin(sizes))]


def _remove(now: Ints, removed: Flags, rows: Ints, chosen: Sequence[int]) -> None:
    for c in chosen:
        removed[rows, c] |= now[rows, c] > 0
        now[rows, c] = 0


def _sets(now: Ints, order: Sequence[int] | None) -> Iterator[list[int]]:
    """The sets of columns to try, those that cost least first."""
    columns = now.shape[1]
    if order is not None:
        for number in range(1, 2**columns):
            yield [order[bit] for bit in range(columns) if number >> bit & 1]
        return
    values = [np.unique(now[:, c]).size for c in range(columns)]
    many = sorted(range(columns), key=lambda c: -values[c])
    for size in range(1, columns + 1):
        yield from (list(chosen) for chosen in combinations(many, size))


def _sizes(table: Ints) -> Ints:
    """The number of records equal to each."""
    domains = tuple(int(top) + 1 for top in table.max(axis=0, initial=0))
    codes = tuple(np.ascontiguousarray(column, np.int32) for column in table.T)
    _, member = group(codes, domains)
    return np.asarray(np.bincount(member)[member], np.int64)
