"""The assessment: every question that the data allows, compared with a policy, and one verdict."""

from crypsis.assessment._assess import assess
from crypsis.assessment._columns import age_limits
from crypsis.assessment.result import Answer, Assessment, Change, ColumnRole

__all__ = ["Answer", "Assessment", "Change", "ColumnRole", "age_limits", "assess"]
