"""lodha2007, Fig. 3: the twelve counts of unique rows in UCI Adult, from the table as published."""

from __future__ import annotations

import pytest

import crypsis as cr
from crypsis.counting.partitions import count_column_sets

COLUMNS = {
    "A1": "age",
    "A2": "workclass",
    "A3": "education",
    "A4": "marital-status",
    "A5": "occupation",
    "A6": "relationship",
    "A7": "race",
    "A8": "sex",
    "A9": "hours-per-week",
    "A10": "native-country",
}
SINGLETONS = {
    "A1": 2,
    "A1 A9": 986,
    "A1 A7 A8": 65,
    "A1 A2 A3 A5": 5056,
    "A1 A2 A5 A10": 3105,
    "A1 A5 A9 A10": 7581,
    "A2 A3 A5 A10": 1384,
    "A1 A2 A3 A5 A10": 7659,
    "A1 A2 A4 A5 A6": 5215,
    "A1 A2 A5 A6 A9": 12870,
    "A1 A2 A5 A9 A10": 10402,
    "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10": 24802,
}


def test_figure_3_from_one_scan(adult: cr.Dataset) -> None:
    cells = adult.cells(tuple(COLUMNS.values()))
    counted = {subset.columns: subset for subset in count_column_sets(cells)}
    assert len(counted) == 1023
    for row, singletons in SINGLETONS.items():
        names = tuple(COLUMNS[label] for label in row.split())
        assert counted[names].singletons == singletons
        assert cells.marginal(names).singletons == singletons


@pytest.mark.parametrize("row", ["A1 A9", "A1 A2 A5 A6 A9"])
def test_figure_3_in_the_engine(adult: cr.Dataset, row: str) -> None:
    names = [COLUMNS[label] for label in row.split()]
    assert adult.rows.tally(names).singletons == SINGLETONS[row]
