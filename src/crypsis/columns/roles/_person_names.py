"""Names of people: the vocabularies of `vocabulary/person_names.toml`, and shapes of names."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from crypsis.columns.roles._patterns import GIVEN_NAMES
from crypsis.columns.vocabulary import vocabulary, words

_NAMES = vocabulary("person_names")


def plain(text: str) -> str:
    """Without capitals and accents, as the vocabularies are.

    >>> plain("Łukasz")
    'lukasz'
    """
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in text if not unicodedata.combining(c)).casefold()


_LETTERS = str.maketrans(
    {
        "ł": "l",
        "Ł": "L",
        "ø": "o",
        "Ø": "O",
        "ı": "i",
        "æ": "ae",
        "đ": "d",
        "ة": "ه",
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
    }
)
GIVEN = frozenset(plain(name) for text in _NAMES["given"].values() for name in text.split())
FAMILY = frozenset(map(plain, _NAMES["family"].split()))
CHINESE: str = _NAMES["chinese"]
KOREAN: str = _NAMES["korean"]
JAPANESE: str = _NAMES["japanese"]
SHAPED = (
    r"^\p{Lu}[\p{L}'’.-]*( ?,)?( (van|von|der|den|de|la|du|da|do|dos|di|del|ten|ter|te|zu|el|al|bin|ben|ibn|"
    r"le|y|e|af|av|of|'t)| ?\p{Lu}[\p{L}'’.-]*){1,5}$"
)
_WORDS = re.compile(r"[^\W\d_]+")
_SPLIT = re.compile(r"([a-z])([A-Z])")
_SURE_GIVEN = (GIVEN | set(map(plain, GIVEN_NAMES.to_pylist()))) - words(_NAMES["other_meanings"])


def names_a_person(text: str) -> bool:
    """Whether a given name and a family name are next to each other in a text.

    >>> names_a_person("neighbor of Anna Bauer"), names_a_person("max_white_cells")
    (True, False)
    """
    words = [plain(word) for word in _WORDS.findall(_SPLIT.sub(r"\1 \2", text))]
    return any(
        (first in _SURE_GIVEN and second in FAMILY) or (first in FAMILY and second in _SURE_GIVEN)
        for first, second in pairwise(words)
    )
