"""The 18 identifiers of the HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i), in the columns of a table.

A column is examined by its declared role, by its name and by all of its distinct values. What only
a person can know (photographs, an actual knowledge) is in the checklist of the policy instead.
"""

from crypsis.columns.safe_harbor._ages import AGE_LIMIT
from crypsis.columns.safe_harbor._check import (
    ColumnValues,
    SafeHarborHit,
    examine,
    names_an_age_in_years,
    postal_areas_of,
)
from crypsis.columns.safe_harbor._recode import SMALL_AREAS_2000, Recoding, recoded, recoding_of

__all__ = [
    "AGE_LIMIT",
    "SMALL_AREAS_2000",
    "ColumnValues",
    "Recoding",
    "SafeHarborHit",
    "examine",
    "names_an_age_in_years",
    "postal_areas_of",
    "recoded",
    "recoding_of",
]
