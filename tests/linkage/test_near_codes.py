"""The nearest records by codes are those of a comparison with all of them."""

from __future__ import annotations

import numpy as np

from crypsis.linkage.suite.kernels.near_codes import nearest_by_codes


def test_nearest_by_codes() -> None:
    draw = np.random.default_rng(4)
    sizes, records = (40, 7, 3), 500
    first = np.cumsum([0, *sizes])
    points, expected = draw.normal(size=(first[-1], 2)), draw.normal(size=(first[-1], 2))
    codes = np.column_stack([draw.integers(0, size, records) for size in sizes]) + first[:-1]
    asked = codes[:50]
    found = np.empty((50, 6), np.int64)
    nearest_by_codes(expected, asked, points, first, codes.astype(np.int32), found)
    apart = np.abs(expected[asked][:, None] - points[codes][None]).sum(axis=(2, 3))
    np.testing.assert_allclose(np.take_along_axis(apart, found, axis=1), np.sort(apart, axis=1)[:, :6])
    assert all(np.unique(row).size == 6 for row in found)
