"""The words in a column name, and what they say about dates, ages, places and people."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from crypsis.columns.vocabulary import vocabulary, words


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case without accents.

    >>> words_of("dateOfBirth2"), words_of("ADMIT_DT")
    (('date', 'of', 'birth', '2'), ('admit', 'dt'))
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    parts = re.findall(r"[^\W\d_]+|\d+", plain)
    split = (re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", p) for p in parts)
    return tuple(word.casefold() for part in split for word in part.split())


_SETS = vocabulary("safe_harbor")
DATE_ELEMENTS = words(_SETS["date_elements"])
"""Elements of dates, in the singular: "months" and "days" are durations or counts."""
EVENTS = words(_SETS["events"])
DAY_WORDS = words(_SETS["day_words"])
DURATIONS = words(_SETS["durations"])
"""Words that make a column a duration or a count, not an element of a date."""
YEAR_WORDS = words(_SETS["year_words"])
BIRTH_WORDS = words(_SETS["birth_words"])
COHORT_WORDS = words(_SETS["cohort_words"])
"""Words for years in which people were born, or were included in a study."""
AREA_WORDS = words(_SETS["area_words"])
AGE_WORDS = words(_SETS["age_words"])
PLACE_WORDS = words(_SETS["place_words"])
ZIP_WORDS = words(_SETS["zip_words"])
LARGE_PLACES = words(_SETS["large_places"])
ABOUT = words(_SETS["about"])
RELATIVES = words(_SETS["relatives"])
EMPLOYERS = words(_SETS["employers"])
RECORD_WORDS = words(_SETS["record_words"])
NUMBER_ENDS = words(_SETS["number_ends"])
CODE_LISTS = words(_SETS["code_lists"])
DATE_ENDINGS = tuple(_SETS["date_endings"].split())
AGE_COMPOUND = re.compile(
    r"^(age|alter)(yrs?|years?|bands?|groups?|grp|cat(egory)?|range|class|bin|bucket|code|in\w*|"
    r"at\w*|months?|mos?|days?|weeks?|decade|[0-9]+|gruppe|klasse)$|"
    r"^(patient|pt|pat|subject|person|member|admission|adm|death|onset|diagnosis|dx|visit|client)age$"
)
