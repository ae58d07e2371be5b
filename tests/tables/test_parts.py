"""Classes that are counted a part at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import crypsis as cr
from crypsis.columns import counts
from crypsis.tables import class_samples
from crypsis.tables.rows import Rows


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_the_same_as_at_once(parts: int) -> None:
    draw = np.random.default_rng(parts)
    numbers = draw.integers(0, 3000, 4000).astype(float)
    numbers[draw.random(4000) < 0.1] = np.nan
    numbers[:5] = [0.0, -0.0, -0.0, 0.0, np.nan]
    frame = pd.DataFrame({"key": np.arange(4000), "number": numbers, "text": "t"})
    rows = cr.Dataset.from_frame(frame).rows
    for names in (["key"], ["number"], ["text"], ["number", "text"]):
        assert class_samples.tally_in_parts(rows, names, parts) == Rows.tally(rows, names)


def test_only_a_column_that_hardly_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    plain = class_samples.tally_in_parts

    def noted(rows: Rows, names: list[str], parts: int) -> object:
        asked.append([*names, str(parts)])
        return plain(rows, names, parts)

    monkeypatch.setattr(counts, "tally_in_parts", noted)
    monkeypatch.setattr(counts, "_VALUES_AT_ONCE", 300)
    frame = pd.DataFrame({"key": np.arange(1000), "kind": np.arange(1000) % 7})
    found = counts.count_columns(cr.Dataset.from_frame(frame), ["key", "kind"])
    assert asked == [["key", "4"]]
    assert (found["key"].singletons, found["kind"].distinct) == (1000, 7)
