"""The profile of a table: which columns and pairs are counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import crypsis as cr


def test_of_very_many_columns_those_with_the_most_values_are_paired() -> None:
    """All pairs of 10,000 columns would be fifty million."""
    draw = np.random.default_rng(2)
    table = pa.table({f"c{i}": draw.integers(0, 2 + i // 8, 60) for i in range(320)})
    profile = cr.scan(table, person="each record")
    assert len(profile.columns) == 320
    assert len(profile.columns_paired) == 300
    assert "c0" not in profile.columns_paired
    assert {name for pair in profile.most_identifying for name in pair.columns} <= {*table.column_names}
