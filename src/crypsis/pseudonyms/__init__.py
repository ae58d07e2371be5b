"""Do the pseudonyms hold? Anonymity of pseudonymized data after an attack (bagai2017)."""

from crypsis.pseudonyms._belief import Belief, Unmatchable
from crypsis.pseudonyms._cracks import CrackDistribution, crack_distribution
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
from crypsis.pseudonyms._sampling import Convergence
from crypsis.pseudonyms._scaling import Scaling, scale
from crypsis.pseudonyms._solve import Block
