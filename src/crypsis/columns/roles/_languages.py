"""Words in column names in further languages (`vocabulary/column_names_elsewhere.toml`)."""

from __future__ import annotations

from crypsis.columns.roles._words import sign_of
from crypsis.columns.vocabulary import phrases, vocabulary, words

_CONTENT = vocabulary("column_names_elsewhere")
PEOPLE_ELSEWHERE = words(_CONTENT["people"])
"""Words for a person, or for what is kept of one, also as they begin compounds: "Patientennr"."""
ELSEWHERE = tuple(
    (phrase, sign_of(entry)) for entry in _CONTENT["signs"] for phrase in phrases(entry["phrases"])
)
"""Phrases of words, as they are written."""
PARTS = tuple((part, sign_of(entry)) for entry in _CONTENT["parts"] for part in entry["words"].split())
"""Parts of names; an underscore is any gap or none."""
