"""Sums of fractions that do not depend on the order in which an engine adds.

Floats round at every addition, and threads finish in any order. So each number is cut into its
whole part and pieces of 24 bits behind the point, all of them whole numbers. Sums of those are
exact, up to 2^29 rows of one cell and people below 2^53.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

_PIECE_FACTOR = 2.0**24
"""Each piece behind the point has 24 bits, so that the sums of pieces are exact."""
_PIECES = 4
"""What is below 2^-72 is not summed: nothing of a number above 2e-6, at most 2e-22 of others."""


def sums(column: nw.Expr, name: str) -> list[nw.Expr]:
    """What to sum of a column of floats; `total` puts it together again."""
    whole = [(column * _PIECE_FACTOR**i).floor() for i in range(_PIECES)]
    pieces = [whole[0], *(whole[i] - whole[i - 1] * _PIECE_FACTOR for i in range(1, _PIECES))]
    return [piece.sum().alias(f"{name}{i}") for i, piece in enumerate(pieces)]


def total(table: pa.Table, name: str) -> pa.Table:
    """The table with the one sum `name` instead of its pieces."""
    pieces = [f"{name}{i}" for i in range(_PIECES)]
    sums = table[pieces[-1]]
    for piece in reversed(pieces[:-1]):
        sums = pc.add(pc.divide(sums, _PIECE_FACTOR), table[piece])
    return table.drop_columns(pieces).append_column(name, sums)
