"""The people of a population in the cells of a release, and in cells that no record is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crypsis.array_types import Codes, Floats, Ints
from crypsis.counting.grouping import group
from crypsis.dataset import Dataset
from crypsis.errors import RoleError
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._levels import CellLevels
from crypsis.protection.recoding._steps import FrequentValues, HierarchyLevel


@dataclass(frozen=True, eq=False)
class PopulationCells:
    """The people of a population who are alike to each cell, and those in other cells.

    A class matches at least the people of its own cells and of the other cells with its labels.
    """

    matching: Ints
    """The people of each cell of the release."""
    places: tuple[Codes, ...]
    """The value of each other cell in each column."""
    outside: Ints
    """The people of each other cell."""

    @cached_property
    def every(self) -> Floats:
        """The people of all cells, those of the release first."""
        return np.concatenate([self.matching, self.outside]).astype(np.float64)

    def wider(self, cells: CellLevels) -> CellLevels:
        """The cells of the release, and behind them the others, without records."""
        places = tuple(
            np.concatenate([mine, more]) for mine, more in zip(cells.places, self.places, strict=True)
        )
        counts = np.concatenate([cells.counts, np.zeros(self.outside.size, np.int64)])
        return CellLevels(cells.columns, places, counts)


def population_table(data: Dataset) -> Dataset:
    """The table of the population; an error where there is none."""
    if not isinstance(data.population, Dataset):
        raise RoleError(
            "k-map and delta-presence need the table of the population, not only its size.",
            code="population-is-not-a-table",
            hint="Set {population} to a table.",
        )
    return data.population


def without_rest(columns: Sequence[ColumnPlan]) -> tuple[ColumnPlan, ...]:
    """The columns without steps that keep frequent values and call all others "other".

    Which people of a population such a label covers depends on the labels of other records.
    """
    return tuple(
        column.model_copy(
            update={"coarser": tuple(s for s in column.coarser if not isinstance(s, FrequentValues))}
        )
        for column in columns
    )


def population_cells(
    everyone: Dataset, columns: Sequence[ColumnPlan], values: Sequence[Sequence[Any]], places: Sequence[Codes]
) -> tuple[PopulationCells, list[list[Any]]]:
    """The people of a population by the cells of a release, and the values of both.

    `values` are those of each column of the release after its step, `places` those of its cells.
    Values that only the population has are added behind them; people with a value that a hierarchy
    lacks match nobody.
    """
    table = everyone.cells([column.name for column in columns])
    values_by_column = [list(value) for value in values]
    counts, is_known = table.counts.astype(np.int64), np.ones(len(table), bool)
    theirs = []
    for c, column_plan in enumerate(columns):
        positions = {value: position for position, value in enumerate(values_by_column[c])}
        tree = next(
            (s for s in (column_plan.step, *column_plan.coarser) if isinstance(s, HierarchyLevel)), None
        )
        listed = table.values[c].to_pylist()
        value_codes = np.empty(len(listed), np.int64)
        for i, value in enumerate(listed):
            fits = value is None or tree is None or tree.label(value) is not None
            now = value if value is None or not fits else column_plan.step.label(value)
            if fits and now not in positions:
                positions[now] = len(values_by_column[c])
                values_by_column[c].append(now)
            value_codes[i] = positions[now] if fits else -1
        theirs.append(value_codes[table.codes[c]])
        is_known &= theirs[-1] >= 0
    theirs, counts = [codes[is_known] for codes in theirs], counts[is_known]
    size = places[0].size
    codes = tuple(
        np.concatenate([mine, more]).astype(np.int32) for mine, more in zip(places, theirs, strict=True)
    )
    first, member = group(codes, tuple(map(len, values_by_column)))
    people = np.zeros(first.size, np.int64)
    np.add.at(people, member[size:], counts)
    of_release = np.zeros(first.size, bool)
    of_release[member[:size]] = True
    elsewhere = np.flatnonzero(~of_release)
    population_cells = PopulationCells(
        people[member[:size]], tuple(code[first[elsewhere]] for code in codes), people[elsewhere]
    )
    return population_cells, values_by_column
