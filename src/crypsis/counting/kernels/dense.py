# mypy: disable-error-code="no-any-return"
"""Counting in a dense table, one place for each combination of codes."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import AnyCodes, Codes, Ints
from crypsis.machine_code import kernel


@kernel
def add_places(codes: AnyCodes, low: int, own: Codes, places: Codes, start: bool) -> bool:
    """Add to the place of each row what its code, counted from `low`, adds in one column.

    With `start` places begin here. False if nothing is known that a code adds.
    """
    for i in range(codes.size):
        code = np.int64(codes[i]) - low
        if code < 0 or code >= own.size:
            return False
        places[i] = own[code] if start else places[i] + own[code]
    return True


@kernel
def count_places(codes: AnyCodes, low: int, own: Codes, places: Codes, table: Ints) -> bool:
    """Count each row at its place, after what the last column adds to it."""
    for i in range(codes.size):
        code = np.int64(codes[i]) - low
        if code < 0 or code >= own.size:
            return False
        table[places[i] + own[code]] += 1
    return True
