"""Columns as codes and as numbers, for models and for dependencies between columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.arrays import codes, numbers, scalar


def codes_of(column: pa.ChunkedArray) -> Ints:
    """The values of a column as codes in the order of the values, -1 where one is missing."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    encoded = whole.dictionary_encode()
    dictionary = encoded.dictionary
    if pa.types.is_boolean(dictionary.type):
        dictionary = dictionary.cast(pa.int8())
    rank = np.empty(len(dictionary) + 1, np.int64)
    rank[numbers(pc.sort_indices(dictionary))] = np.arange(len(dictionary))
    rank[-1] = -1  # of what is missing, whose code comes last
    return rank[codes(encoded)]


def as_numbers(column: pa.ChunkedArray) -> Floats | None:
    """A column as numbers with NaN for missing values; None if it has other texts.

    Dates are days; texts count as numbers if nearly all are.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_temporal(kind):
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            column = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
            return _floats(column) / 86_400_000_000
        return _floats(column.cast(pa.int64()) if kind.bit_width == 64 else column.cast(pa.int32()))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _floats(column)
    if pa.types.is_decimal(kind):
        return _floats(column.cast(pa.float64()))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    numeric = pc.match_substring_regex(column, r"^\s*[-+]?\d+(\.\d+)?\s*$")
    if column.length() == column.null_count or (pc.mean(numeric).as_py() or 0) < 0.99:
        return None
    return _floats(pc.utf8_trim_whitespace(pc.if_else(numeric, column, None)).cast(pa.float64(), safe=False))


def _floats(column: Any) -> Floats:
    return numbers(pc.cast(column, pa.float64(), safe=False).fill_null(scalar(np.float64(np.nan)))).astype(
        np.float64
    )


def mode_of_others(member: Ints, target: Ints, counted: Flags | None = None) -> tuple[Floats, Floats]:
    """For each record the most frequent target of the others that are alike, and its share.

    Both are NaN for a record that is alone. Only the records that are `counted` are others.
    """
    if counted is None:
        counted = np.ones(target.size, bool)
    width = int(target.max()) + 1
    keys, counts = np.unique(member[counted] * width + target[counted], return_counts=True)
    order = np.lexsort((-counts, keys // width))
    keys, counts = keys[order], counts[order]
    groups, first = np.unique(keys // width, return_index=True)
    size = int(member.max()) + 1
    top, second = np.full(size, np.nan), np.full(size, np.nan)
    most, next_most = np.zeros(size), np.zeros(size)
    top[groups], most[groups] = keys[first] % width, counts[first]
    has_second = first + 1 < np.append(first[1:], keys.size)
    second[groups[has_second]] = keys[first[has_second] + 1] % width
    next_most[groups[has_second]] = counts[first[has_second] + 1]
    matching_others = np.bincount(member[counted], minlength=size)[member] - counted
    is_own_mode = counted & (top[member] == target)
    behind = is_own_mode & (most[member] - 1 < np.maximum(next_most[member], 1))
    modes = np.where(behind, second[member], top[member])
    count = np.where(behind, next_most[member], most[member] - is_own_mode)
    alone = matching_others < 1
    modes[alone] = np.nan
    share = np.divide(count, matching_others, out=np.full(target.size, np.nan), where=~alone)
    return modes, share
