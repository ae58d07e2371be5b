"""Which rows of one table are alike to which of another, cell by cell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.cells import Cells, NullPolicy
from crypsis.errors import ColumnError
from crypsis.grouping import group

Ints = NDArray[np.int64]


def rows_alike(cells: Cells, other: Cells) -> Ints:
    """For each cell, how many rows of `other` are alike to it in the columns of `cells`.

    Missing values count by the policy of `cells`: a missing value is alike to a missing value, to
    everything, or to nothing. Cost: a grouping of both tables' cells, one for each pair of patterns
    of missing values where they are wildcards.
    """
    places = other.index(cells.columns)
    both = [_common_codes(cells, i, other, place) for i, place in enumerate(places)]
    mine, theirs = [pair[0] for pair in both], [pair[1] for pair in both]
    domains = [pair[2] for pair in both]
    sizes = np.zeros(len(cells), np.int64)
    if cells.missing is NullPolicy.VALUE:
        pairs = [(np.arange(len(cells)), np.arange(len(other)), np.arange(len(mine)))]
    else:
        blank = cells._blank.T, other._blank[places].T
        pairs = _pattern_pairs(*blank, drop=cells.missing is NullPolicy.DROP)
    for here, there, shared in pairs:
        if shared.size == 0:
            sizes[here] += other.counts[there].sum()
            continue
        codes = tuple(
            np.concatenate([mine[c][here], theirs[c][there]]).astype(np.int32) for c in shared
        )
        first, member = group(codes, tuple(domains[c] for c in shared))
        totals = np.zeros(first.size, np.int64)
        np.add.at(totals, member[here.size :], other.counts[there])
        sizes[here] += totals[member[: here.size]]
    return sizes


def _pattern_pairs(
    mine: NDArray[np.bool_], theirs: NDArray[np.bool_], *, drop: bool
) -> list[tuple[Ints, Ints, Ints]]:
    """Cells of one pattern of missing values with those of another, and what neither misses."""
    found = []
    for here, pattern in _patterns(mine):
        for there, other in _patterns(theirs):
            if drop and (pattern.any() or other.any()):
                continue
            found.append((here, there, np.flatnonzero(~(pattern | other))))
    return found


def _patterns(blank: NDArray[np.bool_]) -> list[tuple[Ints, NDArray[np.bool_]]]:
    patterns, member = np.unique(blank, axis=0, return_inverse=True)
    member = member.ravel()
    return [(np.flatnonzero(member == i), pattern) for i, pattern in enumerate(patterns)]


def _common_codes(cells: Cells, i: int, other: Cells, j: int) -> tuple[Ints, Ints, int]:
    """The codes of a column in both tables, equal where the values are equal."""
    mine, theirs = cells.values[i], other.values[j]
    if mine.type != theirs.type:
        theirs = _cast(theirs, mine.type, cells.columns[i])
    # A value that only the other table has gets a code of its own beyond mine.
    place = np.from_dlpack(pc.index_in(theirs, value_set=mine).fill_null(-1)).astype(np.int64)
    fresh = place < 0
    place[fresh] = len(mine) + np.arange(int(fresh.sum()))
    return np.asarray(cells.codes[i], np.int64), place[other.codes[j]], len(mine) + len(theirs)


def _cast(values: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    number = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal
    text = pa.types.is_string, pa.types.is_large_string
    for family in (number, text):
        if all(any(is_kind(t) for is_kind in family) for t in (values.type, kind)):
            wide = pa.float64() if family is number else kind
            if wide == kind:
                return values.cast(kind)
            # Whole numbers against fractions: compare as whole numbers where that is exact.
            exact = pc.equal(pc.floor(values.cast(wide)), values.cast(wide))
            return pc.if_else(exact, values, None).cast(kind)
    raise ColumnError(
        f"The column {name!r} holds {kind} in one table and {values.type} in the other; they "
        "cannot be compared. Read both with the same type (types=..., --type)."
    )
