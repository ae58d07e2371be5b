"""Make it safe: plan the least that must change, do it, and measure that the promise holds."""

from crypsis.anonymize._cluster import (
    Clustering,
    Cost,
    cluster,
    interval_labels,
    quantile_groups,
    rank_difference,
)
from crypsis.anonymize._hierarchy import Hierarchy, HierarchyGap

__all__ = [
    "Clustering",
    "Cost",
    "Hierarchy",
    "HierarchyGap",
    "cluster",
    "interval_labels",
    "quantile_groups",
    "rank_difference",
]
