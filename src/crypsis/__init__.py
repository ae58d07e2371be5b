"""Is this data safe to release, against whom, and what is the least that must change?

The public names; everything is loaded when it is first used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crypsis.lazy import lazy_names

if TYPE_CHECKING:
    from crypsis.assessment import assess
    from crypsis.assessment.result import Assessment
    from crypsis.columns.profile import Profile, scan
    from crypsis.counting.cells import Cells
    from crypsis.dataset import Dataset, read, rewrite
    from crypsis.errors import CrypsisError
    from crypsis.linkage import compare
    from crypsis.linkage import verify_record as verify
    from crypsis.options import MissingValues, Role
    from crypsis.protection import anonymize
    from crypsis.results import Estimate, Result

__version__ = "0.1.0"

if "CRYPSIS_THREADS" in os.environ:
    from crypsis.threads import bound_libraries

    bound_libraries()

_NAMES = {
    "Assessment": ".assessment",
    "Cells": ".counting.cells",
    "CrypsisError": ".errors",
    "Estimate": ".results",
    "MissingValues": ".options",
    "Dataset": ".dataset",
    "Profile": ".columns.profile",
    "Result": ".results",
    "Role": ".options",
    "anonymize": ".protection",
    "assess": ".assessment",
    "compare": ".linkage",
    "read": ".dataset",
    "rewrite": ".dataset",
    "scan": ".columns.profile",
    "verify": ".linkage:verify_record",
}
_PACKAGES = (
    "hierarchies",
    "inference",
    "linkage",
    "policies",
    "progress",
    "protection",
    "pseudonyms",
    "releases",
    "schemas",
    "singling_out",
    "synthetic",
    "utility",
)

__all__ = [
    "Assessment",
    "Cells",
    "CrypsisError",
    "Dataset",
    "Estimate",
    "MissingValues",
    "Profile",
    "Result",
    "Role",
    "__version__",
    "anonymize",
    "assess",
    "compare",
    "read",
    "rewrite",
    "scan",
    "verify",
]


__getattr__ = lazy_names(__name__, _NAMES, _PACKAGES)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
