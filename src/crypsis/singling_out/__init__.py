"""Can one person be singled out? (k-anonymity, re-identification risk; lodha2007.)"""

from crypsis.singling_out._bounds import (
    max_cells,
    min_cells,
    uniqueness_bound,
    values_per_column,
)
from crypsis.singling_out._column_sets import Uniqueness, column_sets, uniqueness
from crypsis.singling_out._contributions import ColumnShare
from crypsis.singling_out._equivalence_classes import (
    EquivalenceClasses,
    equivalence_classes,
    k_anonymity,
    reidentification_risk,
)
from crypsis.singling_out._measures import ColumnSet
from crypsis.singling_out._population import (
    IndividualRisk,
    PopulationUniqueness,
    individual_risk,
    population_uniqueness,
)
from crypsis.singling_out._presence import (
    DeltaPresence,
    delta_presence,
    k_map,
    population_class_sizes,
)
from crypsis.singling_out._quasi_identifiers import QuasiIdentifiers, find_quasi_identifiers
from crypsis.singling_out._records import (
    HouseholdRisk,
    RecordsAtRisk,
    household_risk,
    records_at_risk,
)
from crypsis.singling_out._released_columns import ReleasedUniqueness, released_uniqueness
from crypsis.singling_out._risk import AttackerRisk, ReidentificationRisk
from crypsis.singling_out._suda import ColumnScore, SudaScores, suda
from crypsis.singling_out.histories import (
    HistoryClasses,
    Knowledge,
    SmallestEvents,
    Unicity,
    history_classes,
    smallest_events,
    unicity,
)

__all__ = [
    "AttackerRisk", "ColumnScore", "ColumnSet", "ColumnShare", "DeltaPresence",
    "EquivalenceClasses", "HistoryClasses", "HouseholdRisk", "IndividualRisk", "Knowledge",
    "PopulationUniqueness",
    "QuasiIdentifiers", "RecordsAtRisk", "ReidentificationRisk", "ReleasedUniqueness",
    "SmallestEvents", "SudaScores", "Unicity", "Uniqueness",
    "column_sets", "delta_presence", "equivalence_classes", "find_quasi_identifiers",
    "history_classes", "household_risk", "individual_risk", "k_anonymity", "k_map", "max_cells", "min_cells",
    "population_class_sizes",
    "population_uniqueness", "records_at_risk", "reidentification_risk", "released_uniqueness",
    "smallest_events", "suda", "unicity", "uniqueness",
    "uniqueness_bound", "values_per_column",
]  # fmt: skip
