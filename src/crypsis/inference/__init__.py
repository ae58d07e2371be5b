"""Can a secret be guessed? Leakage, diversity and closeness (itpr2019 and its kin)."""

from crypsis.inference._advice import Advice, ColumnAdvice, advise
from crypsis.inference._contributions import Contribution
from crypsis.inference._diversity import ColumnDiversity, Diversity, diversity
from crypsis.inference._drawn import SeenGroup
from crypsis.inference._grounds import Ground
from crypsis.inference._groups import GroupRisk
from crypsis.inference._judging import MetricVerdict, Verdict, compare_metrics, judge
from crypsis.inference._leakage import BestGuess, Leakage, PrintedReadings, leakage
from crypsis.inference._sampled import (
    SampledLeakage,
    SampledLeakages,
    sampled_leakage,
    sampled_leakages,
)
from crypsis.inference._search import RiskySets, SetRisk, riskiest_sets
from crypsis.inference._several import Leakages, leakages
from crypsis.inference._suspects import Oddity, Suspect
from crypsis.inference._sweeps import (
    METRICS,
    Surface,
    Sweep,
    epsilon_sweep,
    lambda_sweep,
    risk_surface,
    variation_sweep,
)
from crypsis.inference._uniqueness import Uniqueness

__all__ = [
    "METRICS",
    "Advice",
    "BestGuess",
    "ColumnAdvice",
    "ColumnDiversity",
    "Contribution",
    "Diversity",
    "Ground",
    "GroupRisk",
    "Leakage",
    "Leakages",
    "MetricVerdict",
    "Oddity",
    "PrintedReadings",
    "RiskySets",
    "SampledLeakage",
    "SampledLeakages",
    "SeenGroup",
    "SetRisk",
    "Surface",
    "Suspect",
    "Sweep",
    "Uniqueness",
    "Verdict",
    "advise",
    "compare_metrics",
    "diversity",
    "epsilon_sweep",
    "judge",
    "lambda_sweep",
    "leakage",
    "leakages",
    "risk_surface",
    "riskiest_sets",
    "sampled_leakage",
    "sampled_leakages",
    "variation_sweep",
]
