"""The formulas of itpr2019 to the letter, where that differs from what its tables need.

They use H(X | Y = y) without the weight p(y); ITPR may then be far below 0.
"""

from __future__ import annotations

import numpy as np

from crypsis.inference import Leakage


def printed_itpr(found: Leakage, *, scaled: bool = True) -> float:
    """Formula (10) and Definition 4.2; before scaling formula (9)."""
    left = (found.classes if scaled else 1) * float(np.min(found.table()["entropy_bits"]))
    return 1 - left / found.entropy_bits if found.entropy_bits else 0.0


def printed_entropy_l_diversity(found: Leakage) -> float:
    """2 to the minus *largest* entropy of a class."""
    return float(2.0 ** -float(np.max(found.table()["entropy_bits"])))
