"""What do several releases of the same people disclose together?

Two releases that are safe one by one need not be so together: classes that overlap are intersected,
and what was added or removed is found by subtraction.
"""

from crypsis.releases._differences import Difference
from crypsis.releases._ledger import Ledger, LedgerCheck, LedgerEntry, check_ledger
from crypsis.releases._risk import Connection, JointRisk, joint_risk

__all__ = [
    "Connection",
    "Difference",
    "JointRisk",
    "Ledger",
    "LedgerCheck",
    "LedgerEntry",
    "check_ledger",
    "joint_risk",
]
