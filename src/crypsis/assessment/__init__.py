"""The assessment: every question that the data allows, compared with a policy, and one verdict."""

from crypsis.assessment._assess import assess
from crypsis.assessment._columns import age_limits
from crypsis.assessment._dossier import make_dossier
from crypsis.assessment._package import (
    Manifest,
    PackageCheck,
    PackagedFile,
    check_package,
    write_package,
)
from crypsis.assessment.result import Answer, Assessment, Change, ColumnRole
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
