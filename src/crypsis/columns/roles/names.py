"""What the name of a column indicates.

`read_name` splits a name into words (snake_case, camelCase, without gaps) and searches them for the
phrases of `crypsis.columns.roles._words`, the longest first.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from crypsis.columns.roles._languages import ELSEWHERE, PARTS, PEOPLE_ELSEWHERE
from crypsis.columns.roles._words import BODY_WEIGHT, PERSON_NAME, PHRASES, UNIQUE_CODE, Hipaa, Sign
from crypsis.options import Role

_ID = Role.IDENTIFIER
_QI = Role.QUASI_IDENTIFIER
_SENSITIVE = Role.SENSITIVE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that indicate this only as the complete name of a column.
_ALONE: dict[str, Sign] = {
    **dict.fromkeys(("first", "last", "middle", "maiden"), PERSON_NAME),
    **dict.fromkeys(("cell", "contact"), replace(PHRASES["phone",], confidence=0.6)),
    "drivers": PHRASES["license",],
    "long": PHRASES["lon",],
    "st": PHRASES["state",],
    "session": UNIQUE_CODE,
    **dict.fromkeys(
        (
            "patient",
            "paziente",
            "paciente",
            "pacjent",
            "pasient",
            "pacient",
            "participant",
            "respondent",
            "proband",
            "teilnehmer",
        ),
        replace(UNIQUE_CODE, confidence=0.7),
    ),
}
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "æ": "ae", "đ": "d", "ı": "i", "ð": "d", "þ": "th"})
_LONGEST_WORD = max(len(word) for phrase in PHRASES for word in phrase)
_NAME_WORDS = _set("name names nom nombre nome naam bezeichnung")
_NUMBER_WORDS = _set(
    "id ids identifier uid uuid guid key number num no nr nbr nro nummer numero numer numar numarasi "
    "szam pk ref reference code"
)
_KEY_WORDS = _set("id ids identifier uid uuid guid key pk")
_CATEGORY_WORDS = _KEY_WORDS | _set("code codes cd type kind category status typ art")
_PEOPLE = (
    _set(
        "patient customer client user member employee staff worker person people individual student "
        "pupil teacher subject participant respondent applicant tenant owner buyer seller driver "
        "passenger visitor guest voter citizen resident inmate donor recipient beneficiary personal "
        "kunde kunden mitarbeiter mieter schuler proband cliente empleado paciente persona salarie "
        "eleve usager personne cust pat pt subj emp hh anon study hadm stay visit claimant player "
        "rider case record encounter"
    )
    | PEOPLE_ELSEWHERE
)
_NUMBER_OF = _set(
    "id num no nr nro numero numer nummer numar cislo code cod codice codigo kod kodu номер код ид"
)
"""Words before that of a person whose number it is: "num_dossier", "codice_paziente"."""
_BETWEEN = _set("de du del della do da dos des la le el il l d of the")
_SEVERAL = _set("people patienten kunden clienten klanten leden personen studenten probanden akten")
# Things that have names: "product_name" is not the name of a person.
_THINGS = _set(
    "product file host item brand category variable column field event test species table group "
    "service plan model color colour feature metric unit currency program project campaign sheet "
    "page task title stage type food dish team class vaccine instrument"
)
# Attributes of an identifier, not the identifier: "phone_type", "account_status".
_ABOUT = _set(
    "type kind category class status count cnt flag group level length len size model make brand "
    "color colour score rate ratio total amount limit carrier opt verified valid present "
    "available indicator method quality frequency year fee cost price service active "
    "enabled consent provider domain changed age bucket range bin typ art anzahl"
)
_COUNTS = _set(
    "has is num number n nb count cnt total sum avg mean average median max min pct percent "
    "share ratio any anzahl nombre was had with days hours time"
)
# Words with other meanings too; their confidence is lower.
_AMBIGUOUS = _set(
    "condition treatment procedure default party union charge sentence sales balance credit heart "
    "emergency lab station stop site place origin land image device plate token subject serial "
    "mail handy pay pin grade child street position department degree major stroke code party"
)
# Stems of the World Health Organization's names for medicines (INN).
_MEDICINE = re.compile(
    r"^[a-z]{2,}(formin|glitazone|gliptin|glinide|gliflozin|statin|prazole|sartan|prilat|olol|"
    r"cillin|mycin|azepam|azolam|oxetine|triptan|vudine|navir|butamide|propamide|azamide|hexamide)$"
    r"|^(gli|gly|migl)[a-z]{2,}(ide|ol)$"
)
_GLUE = _set(
    "of de the number code date id no nr first last full home work mobile cell day status type "
    "time fed federal inc val tot total level group class result med my main primary secondary "
    "current previous real estate utility name month place title country user file"
)


# Words that mean something else at the end of another: "automobile", "template", "disposition".
_SEPARATE = _set("fname lname mname mobile plate charge image party union birth heart token device")
_FREE_TEXT = _set(
    "note notes comment comments remark remarks narrative description text message feedback "
    "review essay answer bemerkung bemerkungen kommentar notiz anmerkung commentaire remarque "
    "comentario observaciones anamnese summary transcript letter body freetext verbatim reason "
    "history report details"
)


@dataclass(frozen=True)
class NameEvidence:
    """What the words in a column name indicate."""

    sign: Sign | None = None
    numbered: bool = False
    """Whether the name ends like that of a key or a count: "id", "number"."""
    key: bool = False
    """Whether the name ends in a word for a key only: "id", "uuid"."""
    category: bool = False
    """Whether the name ends in a word for codes, whose order is that of no quantity: "id", "code", "type"."""
    counts: bool = False
    """Whether the name is that of a count or a flag: "number_of_...", "has_..."."""
    prose: bool = False
    """Whether the name is that of free text: "notes", "comment"."""


@lru_cache(maxsize=4096)
def read_name(name: str) -> NameEvidence:
    """What the name of a column indicates.

    >>> read_name("dateOfBirth").sign.noun, read_name("capital-gain").sign.role.value
    ('a date of birth', 'sensitive')
    >>> read_name("phone_type").sign is None, read_name("order_id").numbered
    (True, True)
    """
    spellings = [words for words in dict.fromkeys((_split(name), _segmented(name))) if words]
    readings = [_read_words(words) for words in spellings] or [NameEvidence()]
    part = _sign_of_parts(name)
    if part is not None:
        readings = [replace(reading, sign=reading.sign or part) for reading in readings]
    recognized = [reading for reading in readings if reading.sign is not None]
    if not recognized:
        return max(readings, key=lambda reading: reading.numbered)
    return max(recognized, key=lambda reading: _weight(reading.sign))


def _read_words(words: tuple[str, ...]) -> NameEvidence:
    numbered = words[-1] in _NUMBER_WORDS
    counts = len(words) > 1 and words[0] in _COUNTS and words[-1] not in _NUMBER_WORDS - {"num"}
    signs = [sign for sign in _matches(words) if not (counts and _is_number_of(sign))]
    if len(words) > 1 and words[-1] in _ABOUT and not _direct(words[-2:]):
        signs = [sign for sign in signs if sign.role is not _ID]
    content = [word for word in words if not word.isdigit()]
    if numbered and len(content) > 1 and content[-1] != "code" and _PEOPLE & set(content):
        signs.append(UNIQUE_CODE)
    elif _is_number_of_person(content):
        english = counts and PEOPLE_ELSEWHERE.isdisjoint(content)  # "num_patient" may be a count
        signs.append(replace(UNIQUE_CODE, confidence=0.7) if english else UNIQUE_CODE)
    sign = max(signs, key=_weight, default=None)
    if sign is None and content and _ends_in_name(content):
        sign = PERSON_NAME
    prose = any({word, word.removesuffix("s")} & _FREE_TEXT for word in content)
    last = words[-1]
    return NameEvidence(sign, numbered, last in _KEY_WORDS, last in _CATEGORY_WORDS, counts, prose)


def _ends_in_name(content: list[str]) -> bool:
    """Whether it is the name of a person: no word before it is that of a thing."""
    *before, last = content
    if len(last) > 6 and last.endswith("name"):
        before, last = [*before, last.removesuffix("name")], "name"
    return last in _NAME_WORDS and not _THINGS & set(before)


def _is_number_of_person(content: list[str]) -> bool:
    """Whether it is a number and whose, in this order; of several people it is a count."""
    if not content or content[0] not in _NUMBER_OF:
        return False
    rest = [word for word in content[1:] if word not in _BETWEEN]
    return bool(rest) and all(word in _PEOPLE and word not in _SEVERAL for word in rest)


def _is_number_of(sign: Sign) -> bool:
    return sign.role is _ID or sign.hipaa is Hipaa.DATE


def _direct(words: tuple[str, ...]) -> bool:
    return PHRASES.get(words, BODY_WEIGHT).role is _ID


def _weight(sign: Sign | None) -> tuple[bool, int, float]:
    """Among several signs the confident ones have precedence, then the riskier role."""
    if sign is None:
        return (False, 0, 0.0)
    order = {Role.INSENSITIVE: 4, _ID: 3, _SENSITIVE: 2, _QI: 1}
    return (sign.confidence >= 0.7, order[sign.role], sign.confidence)


def _matches(words: tuple[str, ...]) -> list[Sign]:
    """The signs of the phrases in the words; a word of a longer phrase is not used again."""
    free = list(words)
    signs: list[Sign] = []
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            part = tuple(free[start : start + length])
            sign = _meaning(part, alone=len(words) == 1)
            if sign is not None:
                signs.append(sign)
                free[start : start + length] = [""] * length
    return signs


def _meaning(part: tuple[str, ...], *, alone: bool) -> Sign | None:
    if "" in part:
        return None
    if alone and part[0] in _ALONE:
        return _ALONE[part[0]]
    if part == ("id",) and not alone:
        return None  # "admission_type_id": the number of values decides
    elsewhere = _ELSEWHERE.get(part)
    if elsewhere is not None and part not in PHRASES:
        short = (
            len(part) == 1 and len(part[0]) <= 3 and part[0].isascii()
        )  # "cap", "eta": only as the complete name
        return elsewhere if not short else replace(elsewhere, confidence=0.7) if alone else None
    *before, last = part
    for form in (last, last.removesuffix("s"), last.removesuffix("es")):
        sign = PHRASES.get((*before, form))
        if sign is not None:
            doubtful = not before and form in _AMBIGUOUS
            return replace(sign, confidence=0.8 * sign.confidence) if doubtful else sign
    if len(part) > 1 or len(last) < 7:
        return None
    if _MEDICINE.match(last):
        return Sign("a medicine", _SENSITIVE, None, 0.8)
    for start in range(max(2, len(last) - _LONGEST_WORD), len(last) - 4):  # "resrevenue"
        sign = PHRASES.get((last[start:],))
        if sign is not None and sign.role in (_ID, _SENSITIVE) and last[start:] not in _SEPARATE:
            return replace(sign, confidence=0.8 * sign.confidence)
    return None


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKD", text)
    return "".join(c for c in text if not unicodedata.combining(c)).casefold().translate(_LETTERS)


def _split(name: str) -> tuple[str, ...]:
    """The words of a name, without capitals and accents: "homePhone2" is home, phone, 2."""
    parts = re.findall(r"[^\W\d_]+|\d+", name)
    words: list[str] = []
    for part in parts:
        pieces = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", part).split()
        words += [_plain(piece) for piece in pieces]
    return tuple(words)


_VOCABULARY = (
    frozenset(word for phrase in PHRASES for word in phrase if len(word) > 2)
    | _PEOPLE
    | _GLUE
    | _NUMBER_WORDS
    | {"zip", "id", "haushalts"}
)


def _segmented(name: str) -> tuple[str, ...]:
    """The words of a name without gaps: "dateofbirth", "PATIENTID"."""
    words: list[str] = []
    for part in re.findall(r"[^\W_]+", name):
        words += _pieces(_plain(part))
    return tuple(words)


def _pieces(part: str) -> list[str]:
    if part in _VOCABULARY or len(part) < 5 or len(part) > 60:
        return [part]
    best: dict[int, list[str]] = {0: []}
    for end in range(2, len(part) + 1):
        for start in sorted(best):
            if part[start:end] in _VOCABULARY:
                candidate = [*best[start], part[start:end]]
                if end not in best or len(candidate) < len(best[end]):
                    best[end] = candidate
    return best.get(len(part), [part])


_ELSEWHERE = {_split(phrase): sign for phrase, sign in ELSEWHERE}
_LONGEST_PHRASE = max(max(map(len, PHRASES)), max(map(len, _ELSEWHERE)))
_UNSPACED = re.compile(r"[\s_.\-]+")


def _sign_of_parts(name: str) -> Sign | None:
    """What a name in a script without word gaps indicates: its longest known part."""
    if name.isascii():
        return None
    text = _UNSPACED.sub("", unicodedata.normalize("NFKC", name).casefold())
    parts = [(part, sign) for part, sign in _PARTS if part in text]
    longest = [
        sign for part, sign in parts if not any(part != longer and part in longer for longer, _ in parts)
    ]
    return max(longest, key=_weight, default=None)


_PARTS = [(_UNSPACED.sub("", unicodedata.normalize("NFKC", part).casefold()), sign) for part, sign in PARTS]
