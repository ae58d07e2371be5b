"""What names and values of columns indicate, and the phrases of `vocabulary/column_names.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from crypsis.columns.vocabulary import phrases, vocabulary
from crypsis.options import Role


class Hipaa(Enum):
    """The 18 identifiers of the HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(A) to (R)."""

    NAME = "name"
    GEOGRAPHY = "geographic subdivision smaller than a state"
    DATE = "date"
    PHONE = "telephone number"
    FAX = "fax number"
    EMAIL = "email address"
    SSN = "social security number"
    MEDICAL_RECORD = "medical record number"
    HEALTH_PLAN = "health plan beneficiary number"
    ACCOUNT = "account number"
    LICENCE = "certificate or licence number"
    VEHICLE = "vehicle identifier"
    DEVICE = "device identifier"
    URL = "web address"
    IP = "IP address"
    BIOMETRIC = "biometric identifier"
    PHOTO = "full-face photograph"
    CODE = "other unique code"


@dataclass(frozen=True)
class Sign:
    """What a name or a pattern indicates, and with what confidence."""

    noun: str
    role: Role
    hipaa: Hipaa | None = None
    confidence: float = 0.9


def sign_of(entry: Mapping[str, Any]) -> Sign:
    """The sign that an entry of a vocabulary describes."""
    hipaa = Hipaa[entry["hipaa"]] if "hipaa" in entry else None
    return Sign(entry["noun"], Role(entry["role"]), hipaa, entry["confidence"])


_ENTRIES = vocabulary("column_names")["signs"]
_BY_NOUN = {entry["noun"]: sign_of(entry) for entry in _ENTRIES}
PERSON_NAME = Sign("a name", Role.IDENTIFIER, Hipaa.NAME, 0.9)
UNIQUE_CODE = _BY_NOUN["an identifying number or code"]
SURVEY_WEIGHT = _BY_NOUN["a survey weight"]
BODY_WEIGHT = _BY_NOUN["body weight"]

PHRASES: dict[tuple[str, ...], Sign] = {
    tuple(phrase.split()): sign_of(entry) for entry in _ENTRIES for phrase in phrases(entry["phrases"])
}
