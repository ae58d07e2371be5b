"""Do the pseudonyms hold? Anonymity of pseudonymized data after an attack (bagai2017)."""

from crypsis.pseudonyms._belief import Belief, Unmatchable
from crypsis.pseudonyms._cracks import CrackDistribution, crack_distribution
from crypsis.pseudonyms._decision import AttackOutcome, Decision, Verdict, decide
from crypsis.pseudonyms._figures import (
    GraphPoint,
    HeuristicErrors,
    TruthPoint,
    attack_graphs,
    heuristic_by_truth,
    random_heuristic_errors,
)
from crypsis.pseudonyms._frequencies import (
    Frequencies,
    frequencies,
    frequency_attack,
    probabilistic_frequency_attack,
)
from crypsis.pseudonyms._glynn import Gpu, gpu_status
from crypsis.pseudonyms._groups import (
    GroupAnonymity,
    group_anonymity,
    group_belief,
    group_crack_distribution,
)
from crypsis.pseudonyms._joins import join_attack, probabilistic_join_attack
from crypsis.pseudonyms._metrics import (
    Anonymity,
    EdgeProbabilities,
    ItemRisk,
    crack_heuristic,
    crack_probabilities,
    degree_of_anonymity,
    edge_probabilities,
    expected_cracks,
    heuristic_error,
    matching_probability,
    measure,
)
from crypsis.pseudonyms._permanent import log_permanent, permanent
from crypsis.pseudonyms._releases import ReleasesRisk, combine, releases_risk
from crypsis.pseudonyms._sampling import Convergence
from crypsis.pseudonyms._scaling import Scaling, scale
from crypsis.pseudonyms._secrets import SecretRisk, secret_distribution, secret_risk
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
    "Gpu",
    "GraphPoint",
    "GroupAnonymity",
    "HeuristicErrors",
    "ItemRisk",
    "ReleasesRisk",
    "Scaling",
    "SecretRisk",
    "TruthPoint",
    "Unmatchable",
    "Verdict",
    "attack_graphs",
    "combine",
    "crack_distribution",
    "crack_heuristic",
    "crack_probabilities",
    "decide",
    "degree_of_anonymity",
    "edge_probabilities",
    "expected_cracks",
    "frequencies",
    "frequency_attack",
    "gpu_status",
    "group_anonymity",
    "group_belief",
    "group_crack_distribution",
    "heuristic_by_truth",
    "heuristic_error",
    "join_attack",
    "log_permanent",
    "matching_probability",
    "measure",
    "permanent",
    "probabilistic_frequency_attack",
    "probabilistic_join_attack",
    "random_heuristic_errors",
    "releases_risk",
    "scale",
    "secret_distribution",
    "secret_risk",
]
