"""lodha2007, Fig. 3: the twelve counts of unique rows in UCI Adult, from the table as published."""

from __future__ import annotations

import pytest

import crypsis as cr
from crypsis.counting.partitions import count_column_sets
from papers.lodha2007 import printed

SINGLETONS = {
    tuple(printed.COLUMNS[place - 1] for place in places): int(singletons)
    for places, singletons, *_ in printed.FIGURE_3.values()
}


def test_figure_3_from_one_scan(adult: cr.Dataset) -> None:
    cells = adult.cells(tuple(printed.COLUMNS))
    counted = {subset.columns: subset for subset in count_column_sets(cells)}
    assert len(counted) == 1023
    assert len(SINGLETONS) == 12
    for names, singletons in SINGLETONS.items():
        assert counted[names].singletons == singletons
        assert cells.marginal(names).singletons == singletons


@pytest.mark.parametrize("row", [2, 10])
def test_figure_3_in_the_engine(adult: cr.Dataset, row: int) -> None:
    names, singletons = list(SINGLETONS.items())[row - 1]
    assert adult.rows.tally(list(names)).singletons == singletons
