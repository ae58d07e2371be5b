"""Can a masked record be linked to its original? (domingo2016, the permutation paradigm)

The protector has both files and knows the true matches; the maximum-knowledge intruder has both
files; a data subject has their own record and the release.
"""

from crypsis.linkage._assignment import Assignment, assign
from crypsis.linkage._comparable import ComparableColumns, ExcludedColumn, comparable_columns
from crypsis.linkage._compare import Comparison, compare
from crypsis.linkage._interval_risk import IntervalRisk, interval_risk
from crypsis.linkage._joint_test import JointTest
from crypsis.linkage._link import Link, SubsetLink, link, link_subsets
from crypsis.linkage._near_distances import near_distances
from crypsis.linkage._null_distribution import NullComparison
from crypsis.linkage._orders import read_orders
from crypsis.linkage._pair import PairOptions, RankOptions, true_matches
from crypsis.linkage._permuted_privacy import (
    PermutedPrivacy,
    PrivacyFrontier,
    permuted_privacy,
    privacy_frontier,
)
from crypsis.linkage._random_match import random_match_probability
from crypsis.linkage._record import RecordVerification, verify_record
from crypsis.linkage._reverse_map import NoiseDecomposition, decompose_noise, reverse_map
from crypsis.linkage._verification import LinkVerification, verify_links
from crypsis.linkage.suite import Contradiction, LinkAttack, LinkSuite, ProposedColumn, attack_links

__all__ = [
    "Assignment",
    "ComparableColumns",
    "Comparison",
    "Contradiction",
    "ExcludedColumn",
    "IntervalRisk",
    "JointTest",
    "Link",
    "LinkAttack",
    "LinkSuite",
    "LinkVerification",
    "NoiseDecomposition",
    "NullComparison",
    "PairOptions",
    "PermutedPrivacy",
    "PrivacyFrontier",
    "ProposedColumn",
    "RankOptions",
    "RecordVerification",
    "SubsetLink",
    "assign",
    "attack_links",
    "comparable_columns",
    "compare",
    "decompose_noise",
    "interval_risk",
    "link",
    "link_subsets",
    "near_distances",
    "permuted_privacy",
    "privacy_frontier",
    "random_match_probability",
    "read_orders",
    "reverse_map",
    "true_matches",
    "verify_links",
    "verify_record",
]
