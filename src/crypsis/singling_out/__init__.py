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
from crypsis.singling_out._column_sets import Uniqueness, column_sets, uniqueness
from crypsis.singling_out._crowds import Crowds, Presence, Risk, crowds, presence
from crypsis.singling_out._population import (
    IndividualRisk,
    PopulationUniqueness,
    individual_risk,
    population_uniqueness,
)
from crypsis.singling_out._quasi_identifiers import (
    ColumnShare,
    QuasiIdentifiers,
    find_quasi_identifiers,
)
from crypsis.singling_out._records import (
    HouseholdRisk,
    RecordsAtRisk,
    household_risk,
    records_at_risk,
)
from crypsis.singling_out._sampled import SampledCrowds, sampled_crowds
from crypsis.singling_out._suda import ColumnScore, SpecialUniques, special_uniques
from crypsis.singling_out._yardstick import ColumnSet

__all__ = [
    "CellLimit",
    "ColumnScore",
    "ColumnSet",
    "ColumnShare",
    "Crowds",
    "HouseholdRisk",
    "IndividualRisk",
    "PopulationUniqueness",
    "Presence",
    "QuasiIdentifiers",
    "RecordsAtRisk",
    "Risk",
    "SampledCrowds",
    "SpecialUniques",
    "Uniqueness",
    "cell_limit",
    "column_sets",
    "crowds",
    "exact_uniqueness_bound",
    "find_quasi_identifiers",
    "household_risk",
    "individual_risk",
    "max_cells",
    "max_cells_binomial",
    "min_cells",
    "population_uniqueness",
    "presence",
    "records_at_risk",
    "sampled_crowds",
    "special_uniques",
    "uniqueness",
    "uniqueness_bound",
    "values_per_column",
]
