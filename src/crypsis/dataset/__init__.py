"""Datasets: rows with the roles of their columns, and how data is given to functions."""

from crypsis.dataset._dataset import Dataset
from crypsis.dataset._notes import ColumnNote, check_priors, is_reason
from crypsis.dataset._read import as_dataset, as_seen, read
from crypsis.dataset._rewrite import CleanCopy, rewrite
from crypsis.dataset._roles import (
    DESIGN,
    ROLE_KEYWORDS,
    SAMPLE,
    SAMPLE_KEYWORDS,
    UNIT_KEYWORDS,
    Data,
    as_columns,
    as_missing_values,
    as_role,
    decided,
    takes_options,
    takes_roles,
)

__all__ = [
    "DESIGN",
    "ROLE_KEYWORDS",
    "SAMPLE",
    "SAMPLE_KEYWORDS",
    "UNIT_KEYWORDS",
    "CleanCopy",
    "ColumnNote",
    "Data",
    "Dataset",
    "as_columns",
    "as_dataset",
    "as_missing_values",
    "as_role",
    "as_seen",
    "check_priors",
    "decided",
    "is_reason",
    "read",
    "rewrite",
    "takes_options",
    "takes_roles",
]
