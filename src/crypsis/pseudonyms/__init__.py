"""Can pseudonyms be resolved? Anonymity of pseudonymized data after an attack (bagai2017)."""

from crypsis.pseudonyms._anonymity import (
    Anonymity,
    ItemRisk,
    anonymity,
    crack_heuristic,
    degree_of_anonymity,
    expected_cracks,
    matching_probability,
)
from crypsis.pseudonyms._attack_file import load_attack
from crypsis.pseudonyms._belief import Belief, NoPerfectMatchingError
from crypsis.pseudonyms._cracks import CrackDistribution, crack_distribution
from crypsis.pseudonyms._decision import AttackOutcome, Decision, decide
from crypsis.pseudonyms._edges import EdgeProbabilities, crack_probabilities, edge_probabilities
from crypsis.pseudonyms._frequencies import (
    Frequencies,
    frequencies,
    frequency_attack,
    probabilistic_frequency_attack,
)
from crypsis.pseudonyms._glynn import GpuStatus, gpu_status
from crypsis.pseudonyms._groups import GroupAnonymity, group_anonymity, group_belief
from crypsis.pseudonyms._joins import join_attack, probabilistic_join_attack
from crypsis.pseudonyms._likely_pairs import LikelyPairs, likely_pairs
from crypsis.pseudonyms._pairs import PairIdentification, pair_identification
from crypsis.pseudonyms._permanent import log_permanent, permanent
from crypsis.pseudonyms._releases import MultipleReleaseRisk, combine_beliefs, multiple_release_risk
from crypsis.pseudonyms._sampling import Convergence
from crypsis.pseudonyms._scaling import Scaling, doubly_stochastic
from crypsis.pseudonyms._sensitive_values import (
    SensitiveValueRisk,
    sensitive_value_distribution,
    sensitive_value_risk,
)
from crypsis.pseudonyms._solve import Block

__all__ = [
    "Anonymity",
    "AttackOutcome",
    "Belief",
    "Block",
    "Convergence",
    "CrackDistribution",
    "Decision",
    "EdgeProbabilities",
    "Frequencies",
    "GpuStatus",
    "GroupAnonymity",
    "ItemRisk",
    "LikelyPairs",
    "MultipleReleaseRisk",
    "NoPerfectMatchingError",
    "PairIdentification",
    "Scaling",
    "SensitiveValueRisk",
    "anonymity",
    "combine_beliefs",
    "crack_distribution",
    "crack_heuristic",
    "crack_probabilities",
    "decide",
    "degree_of_anonymity",
    "doubly_stochastic",
    "edge_probabilities",
    "expected_cracks",
    "frequencies",
    "frequency_attack",
    "gpu_status",
    "group_anonymity",
    "group_belief",
    "join_attack",
    "likely_pairs",
    "load_attack",
    "log_permanent",
    "matching_probability",
    "multiple_release_risk",
    "pair_identification",
    "permanent",
    "probabilistic_frequency_attack",
    "probabilistic_join_attack",
    "sensitive_value_distribution",
    "sensitive_value_risk",
]
