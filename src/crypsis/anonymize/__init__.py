"""Make it safe: plan the least that must change, do it, and measure that the promise holds."""

from crypsis.anonymize._anonymized import Anonymized, Loss, Method
from crypsis.anonymize._cluster import (
    Clustering,
    Cost,
    cluster,
    interval_labels,
    quantile_groups,
)
from crypsis.anonymize._generalize import apply
from crypsis.anonymize._hierarchy import Hierarchy, HierarchyGap
from crypsis.anonymize._key import Key
from crypsis.anonymize._plan import ColumnPlan, Plan, Promise, plan
from crypsis.anonymize._statement import Statement
from crypsis.anonymize._verify import Measured, PopulationCrowds

__all__ = [
    "Anonymized",
    "Clustering",
    "ColumnPlan",
    "Cost",
    "Hierarchy",
    "HierarchyGap",
    "Key",
    "Loss",
    "Measured",
    "Method",
    "Plan",
    "PopulationCrowds",
    "Promise",
    "Statement",
    "apply",
    "cluster",
    "interval_labels",
    "plan",
    "quantile_groups",
]
