"""Partitions against plain grouping, under every policy for missing values that has groups."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.counting.cells import Cells
from crypsis.counting.partitions import count_column_sets
from crypsis.options import MissingValues

VALUES = st.sampled_from([None, "a", "b", "c"])
TABLES = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=30)


@pytest.mark.parametrize("policy", list(MissingValues))
@settings(deadline=None)
@given(rows=TABLES)
def test_subsets_agree_with_grouping_each_one_alone(policy, rows):
    columns = dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True))
    cells = Cells.from_columns(policy, **columns)
    for subset in count_column_sets(cells):
        alone = cells.marginal(subset.columns)
        sizes = alone.class_sizes[alone.class_sizes > 0]
        counts = alone.counts[alone.class_sizes > 0]
        assert (subset.rows, subset.distinct) == (alone.rows, alone.distinct)
        assert subset.singletons == alone.singletons
        assert subset.squares == (sizes * counts).sum()
        assert subset.smallest == (sizes.min() if sizes.size else 0)
