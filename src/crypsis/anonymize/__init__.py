"""Make it safe: plan the least that must change, do it, and measure that the promise holds."""

from crypsis.anonymize._anonymized import Anonymized, Loss, Method, statement_paths
from crypsis.anonymize._cluster import (
    Clustering,
    Cost,
    cluster,
    interval_labels,
    quantile_groups,
)
from crypsis.anonymize._columns import ColumnPlan
from crypsis.anonymize._generalize import apply
from crypsis.anonymize._hierarchy import Hierarchy, HierarchyGap
from crypsis.anonymize._key import Key
from crypsis.anonymize._mask import mask
from crypsis.anonymize._masked_first import MASKS, masked_first, named_mask, together
from crypsis.anonymize._masks import (
    BottomCode,
    Masking,
    Mdav,
    Microaggregate,
    Noise,
    Pram,
    Pseudonym,
    RankSwap,
    Round,
    Shuffle,
    SuppressRare,
    TopCode,
)
from crypsis.anonymize._plan import Plan, plan
from crypsis.anonymize._promise import Promise
from crypsis.anonymize._pseudonyms import original, pseudonym
from crypsis.anonymize._sketch import Allowance, Sketch, WhatIf, allowances
from crypsis.anonymize._statement import Statement
from crypsis.anonymize._verify import Measured, PopulationCrowds

__all__ = [
    "MASKS",
    "Allowance",
    "Anonymized",
    "BottomCode",
    "Clustering",
    "ColumnPlan",
    "Cost",
    "Hierarchy",
    "HierarchyGap",
    "Key",
    "Loss",
    "Masking",
    "Mdav",
    "Measured",
    "Method",
    "Microaggregate",
    "Noise",
    "Plan",
    "PopulationCrowds",
    "Pram",
    "Promise",
    "Pseudonym",
    "RankSwap",
    "Round",
    "Shuffle",
    "Sketch",
    "Statement",
    "SuppressRare",
    "TopCode",
    "WhatIf",
    "allowances",
    "apply",
    "cluster",
    "interval_labels",
    "mask",
    "masked_first",
    "named_mask",
    "original",
    "plan",
    "pseudonym",
    "quantile_groups",
    "statement_paths",
    "together",
]
