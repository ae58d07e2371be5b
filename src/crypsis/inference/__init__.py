"""Can a sensitive attribute be inferred? l-diversity, t-closeness, leakage (itpr2019)."""

from crypsis.inference._advice import Advice, ColumnAdvice, advise
from crypsis.inference._attribute_disclosure import (
    AlphaKAnonymity,
    AttributeDisclosure,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    SensitiveAttribute,
    TCloseness,
)
from crypsis.inference._class_risks import ClassRisk
from crypsis.inference._contributions import Contribution
from crypsis.inference._history_disclosure import HistoryDisclosure, history_disclosure
from crypsis.inference._leakage import leakage, leakages
from crypsis.inference._leakage_result import BestGuess, Leakage, Leakages
from crypsis.inference._prediction import CertainValue, PredictionGain, prediction_gain
from crypsis.inference._privacy_models import (
    alpha_k_anonymity,
    attribute_disclosure,
    beta_likeness,
    delta_disclosure,
    l_diversity,
    t_closeness,
)
from crypsis.inference._search import ColumnSetLeakage, RiskiestSets, riskiest_sets
from crypsis.inference._suspects import SuspectReason, SuspectValue
from crypsis.inference._uniqueness import UniquenessBasis
from crypsis.inference._value_disclosure import value_disclosure
from crypsis.inference._value_results import AttributeValues, ValueDisclosure, ValueMeasure, WorstClass

__all__ = [
    "Advice",
    "AlphaKAnonymity",
    "AttributeDisclosure",
    "AttributeValues",
    "BestGuess",
    "BetaLikeness",
    "CertainValue",
    "ClassRisk",
    "ColumnAdvice",
    "ColumnSetLeakage",
    "Contribution",
    "DeltaDisclosure",
    "HistoryDisclosure",
    "LDiversity",
    "Leakage",
    "Leakages",
    "PredictionGain",
    "RiskiestSets",
    "SensitiveAttribute",
    "SuspectReason",
    "SuspectValue",
    "TCloseness",
    "UniquenessBasis",
    "ValueDisclosure",
    "ValueMeasure",
    "WorstClass",
    "advise",
    "alpha_k_anonymity",
    "attribute_disclosure",
    "beta_likeness",
    "delta_disclosure",
    "history_disclosure",
    "l_diversity",
    "leakage",
    "leakages",
    "prediction_gain",
    "riskiest_sets",
    "t_closeness",
    "value_disclosure",
]
