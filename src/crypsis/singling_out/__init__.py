"""Can one person be picked out? (lodha2007, and what is expected beside it.)"""

from crypsis.singling_out._bounds import (
    CellLimit,
    cell_limit,
    exact_uniqueness_bound,
    max_cells,
    max_cells_binomial,
    min_cells,
    uniqueness_bound,
    values_per_column,
)
from crypsis.singling_out._column_sets import ColumnSet, Uniqueness, column_sets, uniqueness
from crypsis.singling_out._quasi_identifiers import (
    ColumnShare,
    QuasiIdentifiers,
    find_quasi_identifiers,
)

__all__ = [
    "CellLimit",
    "ColumnSet",
    "ColumnShare",
    "QuasiIdentifiers",
    "Uniqueness",
    "cell_limit",
    "column_sets",
    "exact_uniqueness_bound",
    "find_quasi_identifiers",
    "max_cells",
    "max_cells_binomial",
    "min_cells",
    "uniqueness",
    "uniqueness_bound",
    "values_per_column",
]
