"""Which rows of one table are alike to which rows of another, by the codes of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.array_types import Flags, Ints
from crypsis.counting.grouping import group
from crypsis.errors import ColumnError

Number = TypeVar("Number", np.int64, np.float64)
Coded = tuple[NDArray[np.integer], pa.Array]
"""A column of cells: the code of each cell, and the value of each code."""
_CELLS_AT_ONCE = 256
"""Cells that are compared with all of the other table at a time."""


def compatible_rows(
    mine: Sequence[NDArray[np.integer]],
    theirs: Sequence[NDArray[np.integer]],
    domains: Sequence[int],
    masks: tuple[Flags, Flags],
    counts: NDArray[Number],
) -> NDArray[Number]:
    """For each cell of one table the rows of another that are alike where neither is masked.

    `counts` are the rows of the other's cells, or the sums of their weights.

    The cells are grouped by which columns are masked. Two such patterns compare on the columns that
    neither masks: the cells of one are summed over those columns and found from the other.
    """
    sizes = np.zeros(masks[0].shape[1], counts.dtype)
    for here, pattern in _patterns(masks[0]):
        for other_rows, other_pattern in _patterns(masks[1]):
            shared = np.flatnonzero(~(pattern | other_pattern)).tolist()
            if not shared:
                sizes[here] += counts[other_rows].sum()
                continue
            codes = tuple(
                np.concatenate([mine[c][here], theirs[c][other_rows]]).astype(np.int32) for c in shared
            )
            first, member = group(codes, tuple(domains[c] for c in shared))
            totals = np.zeros(first.size, counts.dtype)
            np.add.at(totals, member[here.size :], counts[other_rows])
            sizes[here] += totals[member[: here.size]]
    return sizes


def rows_covered(
    covers: Sequence[Flags], places: Sequence[Ints], theirs: Sequence[Ints], counts: Ints
) -> Ints:
    """For each cell the rows of another table that it covers in every column.

    `covers[c][i]` says which values of column c label i covers, `places[c]` is the label of each
    cell, `theirs[c]` the value of each cell of the other table and `counts` its rows. Cost: the
    cells of one table times those of the other, in bits; equal labels are looked up once.
    """
    cells = len(places[0])
    covered = np.zeros(cells, np.int64)
    order = np.lexsort(tuple(places))
    packed = [np.packbits(cover[:, code], axis=1) for cover, code in zip(covers, theirs, strict=True)]
    padded = np.zeros(packed[0].shape[1] * 8, np.int64)
    padded[: counts.size] = counts
    by_byte = padded.reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)
    for start in range(0, cells, _CELLS_AT_ONCE):
        block = order[start : start + _CELLS_AT_ONCE]
        both = packed[0][places[0][block]]
        for pack, positions in zip(packed[1:], places[1:], strict=True):
            both = both & pack[positions[block]]
        rows, columns = np.nonzero(both)
        totals = (bits[both[rows, columns]] * by_byte[columns]).sum(axis=1)
        covered[block] = np.bincount(rows, totals, block.size).astype(np.int64)
    return covered


def _patterns(mask: Flags) -> list[tuple[Ints, Flags]]:
    """The cells of each pattern of masked columns."""
    patterns, member = np.unique(mask, axis=1, return_inverse=True)
    places = member.ravel()
    return [(np.flatnonzero(places == i), pattern) for i, pattern in enumerate(patterns.T)]


def joint_codes(name: str, mine: Coded, theirs: Coded) -> tuple[Ints, Ints, int]:
    """The codes of column `name` in both tables, equal where the values are equal, and how many."""
    values, other_values = mine[1], theirs[1]
    if values.type != other_values.type:
        other_values = _cast(other_values, values.type, name)
    # A value that only the other table has gets a code of its own beyond mine.
    code_of = np.from_dlpack(pc.index_in(other_values, value_set=values).fill_null(-1)).astype(np.int64)
    is_new = code_of < 0
    code_of[is_new] = len(values) + np.arange(int(is_new.sum()))
    return np.asarray(mine[0], np.int64), code_of[theirs[0]], len(values) + len(other_values)


def _cast(values: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    number = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal
    text = pa.types.is_string, pa.types.is_large_string
    for family in (number, text):
        if all(any(is_kind(t) for is_kind in family) for t in (values.type, kind)):
            wide = pa.float64() if family is number else kind
            if wide == kind:
                return values.cast(kind)
            # Integers against fractions: compare as integers where that is exact.
            exact = pc.equal(pc.floor(values.cast(wide)), values.cast(wide))
            return pc.if_else(exact, values, None).cast(kind)
    raise different_types(name, kind, values.type)


def different_types(name: str, kind: pa.DataType, other_kind: pa.DataType) -> ColumnError:
    """The error of a column whose values in two tables cannot be compared."""
    return ColumnError(
        f"Column {name!r} is of type {kind} in one table and of type {other_kind} in the other; they "
        "cannot be compared.",
        code="different-types",
        columns=(name,),
        hint="Read both with the same type: set {types}.",
    )
