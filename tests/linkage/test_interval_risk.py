"""Interval disclosure by counting, with missing values and at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.errors import ParameterError
from crypsis.linkage import interval_risk


@given(st.integers(0, 10_000), st.floats(0.01, 2))
def test_every_record_by_counting(seed, width):
    random = np.random.default_rng(seed)
    before = random.normal(size=(30, 3))
    after = before + random.normal(0, 0.5, (30, 3))
    after[random.random((30, 3)) < 0.1] = np.nan
    found = interval_risk(before, after, width=width)
    spread = [np.nanstd(after[:, c], ddof=1) for c in range(3)]
    hits = records = 0
    for i in range(30):
        inside = [
            abs(before[i, c] - after[i, c]) <= width * spread[c]
            for c in range(3)
            if not np.isnan(after[i, c])
        ]
        records += bool(inside)
        hits += bool(inside) and all(inside)
    assert (found.records, found.share) == (records, pytest.approx(hits / records))
    assert found.share <= min(found.by_column) + 0.2


def test_ends():
    x = np.random.default_rng(1).normal(size=50)
    assert interval_risk(x, x).share == 1
    assert interval_risk(x, x + 100).share == 0
    assert interval_risk(x, np.full(50, np.nan)).records == 0
    for wrong in ({"width": 0}, {"width": float("nan")}):
        with pytest.raises(ParameterError):
            interval_risk(x, x, **wrong)
    with pytest.raises(ParameterError):
        interval_risk(x, x[1:])
