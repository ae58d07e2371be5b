"""Generalization hierarchies: one type for recoding, inference and linkage."""

from crypsis.hierarchies._hierarchy import Hierarchy, HierarchyGapError

__all__ = ["Hierarchy", "HierarchyGapError"]
