"""Does a synthetic file disclose the people whose records its generator was trained on?

Synthetic records are of nobody, so equivalence classes of them show nothing. What counts is whether
people of the training data are worse off than people who were never in it.
"""

from crypsis.synthetic._attacks import SyntheticAttack
from crypsis.synthetic._risk import SyntheticRisk, synthetic_risk

__all__ = ["SyntheticAttack", "SyntheticRisk", "synthetic_risk"]
