# mypy: disable-error-code="no-any-return"
"""Records that match where a missing value matches every value: arrays in, counts out."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Ints
from crypsis.machine_code import kernel


@kernel
def apart(table: Ints, row: Ints, out: Ints) -> None:
    """For each line of a table the columns in which it differs from a row, as bits; 0 is missing."""
    for i in range(table.shape[0]):
        bits = 0
        for c in range(row.size):
            if row[c] != 0 and table[i, c] != 0 and table[i, c] != row[c]:
                bits |= 1 << c
        out[i] = bits


@kernel
def matches(table: Ints, counts: Ints, some: Ints) -> Ints:
    """The number of records that match each of some lines of a table."""
    found = np.zeros(some.size, np.int64)
    for s in range(some.size):
        total = 0
        for i in range(table.shape[0]):
            if counts[i] == 0:
                continue
            alike = True
            for c in range(table.shape[1]):
                mine, other = table[some[s], c], table[i, c]
                if mine != 0 and other != 0 and mine != other:
                    alike = False
                    break
            if alike:
                total += counts[i]
        found[s] = total
    return found
