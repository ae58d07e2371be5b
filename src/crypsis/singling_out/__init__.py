"""Can one person be singled out? (k-anonymity, re-identification risk; lodha2007.)"""

from crypsis.singling_out._bounds import max_cells, min_cells, uniqueness_bound, values_per_column
from crypsis.singling_out._column_sets import Uniqueness, column_sets, uniqueness
from crypsis.singling_out._combinations import CombinationK, combination_k
from crypsis.singling_out._contributions import ColumnShare
from crypsis.singling_out._equivalence_classes import (
    EquivalenceClasses,
    equivalence_classes,
    k_anonymity,
    reidentification_risk,
)
from crypsis.singling_out._household_risk import HouseholdRisk, household_risk
from crypsis.singling_out._individual_risk import IndividualRisk, individual_risk
from crypsis.singling_out._joint_classes import JointClasses, joint_classes
from crypsis.singling_out._loglinear import LoglinearModel, LoglinearRisk, loglinear_risk
from crypsis.singling_out._measures import ColumnSet
from crypsis.singling_out._population import PopulationUniqueness, population_uniqueness
from crypsis.singling_out._presence import DeltaPresence, delta_presence, k_map, population_class_sizes
from crypsis.singling_out._quasi_identifiers import QuasiIdentifiers, find_quasi_identifiers
from crypsis.singling_out._record_risks import RecordRisks, record_risks
from crypsis.singling_out._records import RecordsAtRisk, records_at_risk
from crypsis.singling_out._released_columns import ReleasedUniqueness, released_uniqueness
from crypsis.singling_out._risk import AttackerRisk, ReidentificationRisk
from crypsis.singling_out._suda import ColumnScore, SudaScores, suda
from crypsis.singling_out._unique_match import UniqueMatch, unique_match_risk
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
    "AttackerRisk",
    "ColumnScore",
    "ColumnSet",
    "ColumnShare",
    "CombinationK",
    "DeltaPresence",
    "EquivalenceClasses",
    "HistoryClasses",
    "HouseholdRisk",
    "IndividualRisk",
    "JointClasses",
    "Knowledge",
    "LoglinearModel",
    "LoglinearRisk",
    "PopulationUniqueness",
    "QuasiIdentifiers",
    "RecordRisks",
    "RecordsAtRisk",
    "ReidentificationRisk",
    "ReleasedUniqueness",
    "SmallestEvents",
    "SudaScores",
    "Unicity",
    "UniqueMatch",
    "Uniqueness",
    "column_sets",
    "combination_k",
    "delta_presence",
    "equivalence_classes",
    "find_quasi_identifiers",
    "history_classes",
    "household_risk",
    "individual_risk",
    "joint_classes",
    "k_anonymity",
    "k_map",
    "loglinear_risk",
    "max_cells",
    "min_cells",
    "population_class_sizes",
    "population_uniqueness",
    "record_risks",
    "records_at_risk",
    "reidentification_risk",
    "released_uniqueness",
    "smallest_events",
    "suda",
    "unicity",
    "unique_match_risk",
    "uniqueness",
    "uniqueness_bound",
    "values_per_column",
]
