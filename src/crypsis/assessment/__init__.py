"""The assessment: every question that the data allows, compared with a policy, and one verdict.

What is for a release that was made, the dossier and the package, is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crypsis.assessment._assess import assess
from crypsis.assessment._columns import age_limits
from crypsis.assessment.result import Assessment
from crypsis.lazy import lazy_names
from crypsis.policies.assessed import Answer, Change, ColumnRole

if TYPE_CHECKING:
    from crypsis.assessment._dossier import make_dossier
    from crypsis.assessment._package import Manifest, PackageCheck, PackagedFile, check_package, write_package
    from crypsis.report.dossier import Dossier, ReleasedColumn

__all__ = [
    "Answer",
    "Assessment",
    "Change",
    "ColumnRole",
    "Dossier",
    "Manifest",
    "PackageCheck",
    "PackagedFile",
    "ReleasedColumn",
    "age_limits",
    "assess",
    "check_package",
    "make_dossier",
    "write_package",
]

_PACKAGE = ("Manifest", "PackageCheck", "PackagedFile", "check_package", "write_package")
_LATER = {
    "make_dossier": "._dossier",
    **dict.fromkeys(_PACKAGE, "._package"),
    **dict.fromkeys(("Dossier", "ReleasedColumn"), "crypsis.report.dossier"),
}

__getattr__ = lazy_names(__name__, _LATER)
