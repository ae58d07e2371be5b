"""Protection of a release: requirements, plan, recoding, masking, measurement, statement, key.

What a perfect intruder knows of masked records is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crypsis.lazy import lazy_names
from crypsis.protection import masking
from crypsis.protection._anonymize import anonymize, mask
from crypsis.protection._anonymized import Anonymized, Plan
from crypsis.protection._explore import Alternative, Exploration, explore
from crypsis.protection._key import Key
from crypsis.protection._loss import InformationLoss
from crypsis.protection._measured import Measured, PopulationClasses
from crypsis.protection._plan import plan
from crypsis.protection._preview import AllowedValues, Preview, PreviewOutcome, allowed_values
from crypsis.protection._recode_classes import RecodingKind
from crypsis.protection._rejoined import MAX_REJOINED, Rejoined, rejoined
from crypsis.protection._released_values import released_values
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection._statement import ApartFile, Method, Statement
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._clusters import Clustering, Cost, cluster, quantile_groups

if TYPE_CHECKING:
    from crypsis.protection.posterior import CalibrationBin, LinkPosterior, link_posterior

__all__ = [
    "MAX_REJOINED",
    "AllowedValues",
    "Alternative",
    "Anonymized",
    "ApartFile",
    "CalibrationBin",
    "Clustering",
    "ColumnPlan",
    "Cost",
    "Exploration",
    "InformationLoss",
    "Key",
    "LinkPosterior",
    "Measured",
    "Method",
    "Plan",
    "PopulationClasses",
    "Preview",
    "PreviewOutcome",
    "PrivacyRequirements",
    "RecodingKind",
    "Rejoined",
    "Statement",
    "allowed_values",
    "anonymize",
    "cluster",
    "explore",
    "link_posterior",
    "mask",
    "masking",
    "plan",
    "quantile_groups",
    "rejoined",
    "released_values",
]

_LATER = dict.fromkeys(("CalibrationBin", "LinkPosterior", "link_posterior"), ".posterior")

__getattr__ = lazy_names(__name__, _LATER)
