"""People of a population that match the cells of a release, generalized or not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from crypsis.array_types import Ints
from crypsis.counting.cells import Cells
from crypsis.counting.matching import different_types, rows_covered
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, TooLargeError
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.cover import covered
from crypsis.options import MissingValues

_MAX_COMPARED_CELLS = 200_000_000_000
"""Pairs of a cell of the release and one of the population; more are refused."""


def people_alike(
    cells: Cells, population: Dataset, hierarchies: Mapping[str, Hierarchy] | None = None
) -> Ints:
    """For each cell of a release the people of the population that it covers.

    Where every value of the release is one of the population, values are compared; otherwise the
    labels are read as intervals, prefixes, dates or nodes of a hierarchy (see `covered`).
    """
    missing = [name for name in cells.columns if name not in population.names]
    if missing:
        raise ColumnError(
            f"The table of the population has no column {', '.join(map(repr, missing))}.",
            code="not-in-population",
            columns=tuple(missing),
        )
    population_cells = population.cells(cells.columns)
    if not hierarchies and _is_plain(cells, population_cells):
        return cells.matching_rows(population_cells)
    if len(cells) * len(population_cells) > _MAX_COMPARED_CELLS:
        raise TooLargeError(
            "The release and the population have too many combinations to compare.",
            code="too-many-combinations",
            hint="Use fewer columns.",
        )
    _check_types(cells, population_cells)
    trees = hierarchies or {}
    covers = [
        covered(mine.to_pylist(), theirs.to_pylist(), trees.get(name))
        for name, mine, theirs in zip(cells.columns, cells.values, population_cells.values, strict=True)
    ]
    places = [np.asarray(codes, np.int64) for codes in cells.codes]
    theirs = [np.asarray(codes, np.int64) for codes in population_cells.codes]
    return rows_covered(covers, places, theirs, population_cells.counts)


def _is_plain(cells: Cells, population_cells: Cells) -> bool:
    """Whether every value of the release is one of the population."""
    for mine, theirs in zip(cells.values, population_cells.values, strict=True):
        if _family(mine.type) == "text" != _family(theirs.type):
            return False
        try:
            population_values = set(theirs.cast(mine.type).to_pylist())
        except (ValueError, NotImplementedError):  # an interval is text where there are numbers
            return False
        if not set(mine.to_pylist()) - {None} <= population_values:
            return False
        if (
            None in mine.to_pylist()
            and cells.missing is MissingValues.VALUE
            and None not in population_values
        ):
            return False
    return True


def _check_types(cells: Cells, population_cells: Cells) -> None:
    """Raise `ColumnError` if values that are not text, and not years, are compared with others."""
    for name, mine, theirs in zip(cells.columns, cells.values, population_cells.values, strict=True):
        pair = _family(mine.type), _family(theirs.type)
        if pair[0] not in ("text", "none", pair[1]) and pair != ("number", "date"):
            raise different_types(name, mine.type, theirs.type)


def _family(kind: pa.DataType) -> str:
    """The type of values that can be compared; an interval of any of them is text."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_null(kind):
        return "none"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return "date" if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else str(kind)
