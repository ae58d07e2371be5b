"""The nearest records by codes: every code has a point, the distance of records is summed over columns.

With some coordinates for each of several columns a tree of points finds nothing faster than a visit of
all of them; but a column has fewer codes than there are records, so the distance of each code is
computed once, and a record is left as soon as it is too far.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel


@kernel
def nearest_by_codes(
    expected: Floats, wanted_codes: Ints, points: Floats, first: Ints, codes: Any, nearest: Ints
) -> None:
    """Fill `nearest` with the nearest records of each that is asked for, the nearest first.

    `wanted_codes` has for each of them, in each column, a line of `expected`; `codes` has for each record
    and column a line of `points`, those of column c from `first[c]` to `first[c + 1]`. Distances are
    sums of absolute differences.
    """
    number, columns = nearest.shape[1], codes.shape[1]
    distances, far = np.empty(points.shape[0]), np.empty(number)
    for i in range(wanted_codes.shape[0]):
        for c in range(columns):
            expected_point = expected[wanted_codes[i, c]]
            for code in range(first[c], first[c + 1]):
                distances[code] = 0.0
                for j in range(points.shape[1]):
                    distances[code] += abs(points[code, j] - expected_point[j])
        far[:] = np.inf
        for record in range(codes.shape[0]):
            total = 0.0
            for c in range(columns):
                total += distances[codes[record, c]]
                if total >= far[number - 1]:
                    break
            if total >= far[number - 1]:
                continue
            position = number - 1
            while position > 0 and far[position - 1] > total:
                far[position], nearest[i, position] = far[position - 1], nearest[i, position - 1]
                position -= 1
            far[position], nearest[i, position] = total, record
