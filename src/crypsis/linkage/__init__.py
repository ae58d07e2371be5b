"""Can a masked record be linked back to its original? (domingo2016, the permutation paradigm)

The protector has both files and knows who is who, the intruder has both files, the subject has her
own record and the release, the user has the release and should be told how it was made.
"""

from crypsis.linkage._assignment import Assignment, assign
from crypsis.linkage._compare import Comparison, compare
from crypsis.linkage._distances import NearDistances, near_distances
from crypsis.linkage._frontier import Frontier, FrontierPoint, privacy_frontier
from crypsis.linkage._intruder import (
    ColumnDistance,
    Link,
    link,
    link_values,
)
from crypsis.linkage._nulls import DistanceRow, NullComparison
from crypsis.linkage._orders import Taxonomy
from crypsis.linkage._permuted_privacy import ColumnFailures, PermutedPrivacy, permuted_privacy
from crypsis.linkage._random_match import random_match_probability
from crypsis.linkage._reverse_mapping import TwoSteps, reverse_map, two_steps
from crypsis.linkage._subject import (
    PermutationDistances,
    SubjectColumn,
    SubjectView,
    permutation_distances,
    subject,
)
from crypsis.linkage._subsets import SubsetLink, link_subsets
from crypsis.linkage._verification import Verification, verify

__all__ = [
    "Assignment",
    "ColumnDistance",
    "ColumnFailures",
    "Comparison",
    "DistanceRow",
    "Frontier",
    "FrontierPoint",
    "Link",
    "NearDistances",
    "NullComparison",
    "PermutationDistances",
    "PermutedPrivacy",
    "SubjectColumn",
    "SubjectView",
    "SubsetLink",
    "Taxonomy",
    "TwoSteps",
    "Verification",
    "assign",
    "compare",
    "link",
    "link_subsets",
    "link_values",
    "near_distances",
    "permutation_distances",
    "permuted_privacy",
    "privacy_frontier",
    "random_match_probability",
    "reverse_map",
    "subject",
    "two_steps",
    "verify",
]
