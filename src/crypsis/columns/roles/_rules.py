"""The rules that guess a role, each from one kind of evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from crypsis.columns.roles._evidence import Evidence, Match
from crypsis.columns.roles._words import BODY_WEIGHT, SURVEY_WEIGHT, Hipaa, Sign
from crypsis.columns.roles.names import read_name
from crypsis.options import Role
from crypsis.results import Result
from crypsis.tables import Column, Kind

CONFIDENT = 0.8
"""A guess with less confidence is written as undecided, and never accepted as a decision."""
_MIN_KEY_ROWS = 10
"""Fewer different values are no evidence of a key, nor of times in seconds."""
_MIN_NAME_CONFIDENCE = 0.7
"""From this confidence on a name is given as the reason, and is that of a key only if it ends like one."""
_QUANTITY = r"^[<>=~$€£+-]{0,2} ?\d[\d.,]*( ?-? ?\d[\d.,]*)? ?[%€$£]?( ?\p{L}{1,5})?$"
_STRUCTURED = r"^\s*(\{\s*[\"'}]|\[\s*[\[{\"']|<[A-Za-z?!][^<>]*>|a:\d+:\{|\w+=[^=&]+&\w+=)"
_CODED = r"^(\p{L}{1,6}[-_. ]?\d{3,}|[0-9a-f]{8}[0-9a-f-]{4,})$"
_MIN_LINK_CONFIDENCE = 0.6
"""An identifier of this confidence or more, whose values repeat, may link the records of a person."""
_MIN_CODES = 20
"""Codes that link the records of people have so many different values or more."""
_MAX_RECORDS_PER_CODE = 200
"""Codes that link the records of people have so many records each, on average, or fewer."""
_KEYS = re.compile(r"""["']([^"'{}\[\]:,]{1,60})["']\s*[:=]|<([A-Za-z_][\w.-]{0,60})|(?:^|&)(\w{1,60})=""")
_YEAR_2000_SECONDS = 946_684_800
"""The beginning of the year 2000, in seconds since 1970: the earliest time that numbers may stand for."""
_YEAR_2040_SECONDS = 2_208_988_800
"""The beginning of the year 2040: the latest."""
# North America; one country code; mobile and city numbers of Europe without the first zero.
_CALLED = (
    r"^1?[2-9]\d{2}[2-9]\d{6}$",
    r"^(44|49|33|34|39|31|48|32|41|43|46|47|45|7|86|81|82|91|55)\d{9,11}$",
    r"^(1[567]\d{8,9}|6\d{8}|7\d{8,9}|1[3-9]\d{9})$",
)
# Words that are often used for categories, such as "device" for mobile or desktop.
_SHARED = frozenset({Hipaa.NAME, Hipaa.GEOGRAPHY, Hipaa.DATE, Hipaa.PHOTO})
"""What people share by chance: repeated, it does not show that records are those of one person."""
_OFTEN_A_CATEGORY = frozenset(Hipaa) - {Hipaa.NAME}


class Guess(Result):
    """The guessed role of a column, the reason and the confidence (0 to 1)."""

    column: str
    role: Role
    reason: str
    confidence: float
    hipaa: Hipaa | None = None
    """The identifier, of the 18 of the HIPAA Safe Harbor, that it seems to contain."""
    free_text: bool = False
    """Whether it is free text, which is never safe."""
    repeats: bool = False
    """Whether a value is in several records, and not one that people share by chance."""
    links: bool = False
    """Whether it seems to identify people and repeats: it may link the records of one person."""

    @property
    def identifies(self) -> bool:
        """Whether the evidence is strong that the column identifies people by itself."""
        return self.role is Role.IDENTIFIER and self.confidence >= CONFIDENT


def judge(evidence: Evidence) -> Guess:
    """The first guess in the order below, each from one kind of evidence."""
    result = next((candidate for candidate in _candidates(evidence) if candidate is not None), None)
    if result is None:
        reason = "Neither the name nor the values indicate a role."
        result = _guess(evidence, Role.UNDECIDED, reason, 0.3)
    shared = result.free_text or result.hipaa in _SHARED or evidence.flags
    repeats = not (shared or evidence.unique or evidence.constant)
    return replace(result, repeats=repeats, links=repeats and _links(evidence, result))


def _links(evidence: Evidence, guess: Guess) -> bool:
    """Whether the column identifies people, or has codes that each repeat a little."""
    if evidence.kind is not Kind.TEXT and not evidence.integers:
        return False
    if guess.role is Role.IDENTIFIER:
        return guess.confidence >= _MIN_LINK_CONFIDENCE
    few = evidence.filled <= _MAX_RECORDS_PER_CODE * evidence.distinct
    coded = evidence.kind is Kind.TEXT and evidence.share_like(_CODED) >= 0.95
    return coded and few and evidence.distinct >= _MIN_CODES


def _candidates(evidence: Evidence) -> Iterator[Guess | None]:
    yield _constant(evidence)
    yield _free_text(evidence)
    yield _by_pattern(evidence, Role.IDENTIFIER)
    yield _found(evidence)
    yield _structured(evidence)
    yield _by_kind(evidence)
    yield _by_identifying_name(evidence)
    yield _dates(evidence)
    if evidence.name.sign is None and not evidence.name.numbered:
        yield _people(evidence)
        yield _by_pattern(evidence, Role.QUASI_IDENTIFIER)
    yield _key(evidence)
    yield _by_pattern(evidence, Role.IDENTIFIER, complete=False)
    yield _by_name(evidence)
    yield _by_pattern(evidence, Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    yield _plain_postal_code(evidence)
    yield _epoch(evidence)
    yield _long_numbers(evidence)
    yield _many_texts(evidence)
    yield _measure(evidence)


def _guess(
    evidence: Evidence, role: Role, reason: str, confidence: float, hipaa: Hipaa | None = None
) -> Guess:
    return Guess(evidence.column.name, role, reason, round(min(0.99, confidence), 2), hipaa)


def nested(column: Column) -> Guess:
    unseen = "the values are lists, structures or bytes, which are not examined."
    sign = read_name(column.name).sign
    if sign is None:
        return Guess(column.name, Role.IDENTIFIER, unseen.capitalize(), 0.3)
    reason = f"The name indicates {sign.noun}; {unseen}"
    return Guess(column.name, sign.role, reason, round(0.6 * sign.confidence, 2), sign.hipaa)


def _constant(evidence: Evidence) -> Guess | None:
    if evidence.filled == 0:
        return _guess(evidence, Role.INSENSITIVE, "All values are missing.", 0.9)
    identifying = evidence.match(Role.IDENTIFIER) is not None or evidence.identifiers is not None
    if not evidence.constant or identifying:
        return None
    return _guess(evidence, Role.INSENSITIVE, "All records have the same value.", 0.95)


def _free_text(evidence: Evidence) -> Guess | None:
    if not evidence.free_text:
        return None
    match = evidence.match(Role.IDENTIFIER)
    if match is not None and match.share >= 0.8 and evidence.words < 12:
        return None  # street addresses have many words too
    reason = "The values are free text, which is never safe."
    confidence = 0.7 + 0.25 * min(1.0, evidence.words / 12)
    return replace(_guess(evidence, Role.IDENTIFIER, reason, confidence), free_text=True)


def _by_pattern(evidence: Evidence, *roles: Role, complete: bool = True) -> Guess | None:
    match = evidence.match(*roles, complete=complete)
    if match is None:
        return None
    sign, share = match.sign, match.share
    named = evidence.name.sign
    if named is not None and named.role is sign.role and match.complete:
        if named.confidence < _MIN_NAME_CONFIDENCE:
            named = replace(sign, confidence=named.confidence)
        hipaa = named.hipaa or sign.hipaa
        both = 1 - (1 - sign.confidence * share) * (1 - named.confidence)
        return _guess(evidence, sign.role, _name_and(named, share), both, hipaa)
    return _by_match(evidence, match)


def _found(evidence: Evidence) -> Guess | None:
    """Identifiers among all values, however few."""
    identifiers = evidence.identifiers
    if identifiers is None:
        return None
    sign = identifiers.sign
    is_single = identifiers.values == 1
    more = "" if identifiers.complete else "At least "
    verb = "contains" if is_single else "contain"
    reason = f"{more}{identifiers.values:,} {'value' if is_single else 'values'} {verb} {sign.noun}."
    return _guess(evidence, sign.role, reason, sign.confidence, sign.hipaa)


def _structured(evidence: Evidence) -> Guess | None:
    """JSON, XML and the like: what is in it has names of its own."""
    if evidence.kind is not Kind.TEXT or evidence.share_like(_STRUCTURED) < 0.5:
        return None
    texts = evidence.values.slice(0, 200).to_pylist()
    keys = {key for text in texts for matches in _KEYS.findall(text) for key in matches if key}
    signs = [sign for key in sorted(keys) if (sign := read_name(key).sign) is not None]
    identifying = [sign for sign in signs if sign.role is Role.IDENTIFIER]
    if identifying:
        best = max(identifying, key=lambda sign: sign.confidence)
        reason = f"The values are structured text with fields; one indicates {best.noun}."
        return _guess(evidence, Role.IDENTIFIER, reason, best.confidence, best.hipaa)
    reason = "The values are structured text (JSON, XML), whose content is not examined."
    return _guess(evidence, Role.IDENTIFIER, reason, 0.5)


def _epoch(evidence: Evidence) -> Guess | None:
    """Seconds, or parts of seconds, since 1970."""
    numbers = evidence.numbers
    if not evidence.integers or evidence.distinct < _MIN_KEY_ROWS or not len(numbers):
        return None
    low, high = float(numbers.min()), float(numbers.max())
    for scale in (1, 1e3, 1e6, 1e9):
        within = _YEAR_2000_SECONDS * scale <= low and high <= _YEAR_2040_SECONDS * scale
        if within and high - low >= 3600 * scale:
            reason = "The values look like times in seconds since 1970."
            return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.7, Hipaa.DATE)
    return None


def _long_numbers(evidence: Evidence) -> Guess | None:
    """Integers of many digits that hardly repeat: telephone and document numbers."""
    if not (evidence.integers or evidence.share_like(r"^\d{8,20}$") >= 0.9):
        return None
    if evidence.distinct < 5 or evidence.distinct_share < 0.3:
        return None
    if evidence.share_like(r"^\d{8,20}$") < 0.9:
        return None
    if evidence.share_like(r"^\d+000$") >= 0.9:  # thousands of a unit, such as a duration
        return None
    phones = max(evidence.share_like(regex) for regex in _CALLED)
    if phones >= 0.98:
        reason = "The values look like telephone numbers without separators."
        return _guess(evidence, Role.IDENTIFIER, reason, 0.7, Hipaa.PHONE)
    reason = "The values are long numbers that hardly repeat, like those of documents."
    return _guess(evidence, Role.IDENTIFIER, reason, 0.6, Hipaa.CODE)


def _by_kind(evidence: Evidence) -> Guess | None:
    """Dates and times, with any name."""
    if evidence.kind not in (Kind.DATE, Kind.TIME):
        return None
    named = evidence.name.sign
    if named is not None and named.hipaa is Hipaa.DATE:
        reason = f"The name indicates {named.noun}; the values are dates or times."
        return _guess(evidence, named.role, reason, 0.97, Hipaa.DATE)
    reason = "The values are dates or times, which others may know."
    return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.8, Hipaa.DATE)


def _by_identifying_name(evidence: Evidence) -> Guess | None:
    sign = evidence.name.sign
    if sign is None or sign.role is not Role.IDENTIFIER:
        return None
    if evidence.flags:
        reason = f"The name indicates {sign.noun}, but the values are only yes or no."
        return _guess(evidence, Role.UNDECIDED, reason, 0.6)
    if evidence.fractions and sign.hipaa is not Hipaa.BIOMETRIC:
        reason = f"The name indicates {sign.noun}, but the values are fractions."
        return _guess(evidence, Role.UNDECIDED, reason, 0.5)
    if sign.hipaa in _OFTEN_A_CATEGORY and _is_category(evidence):
        reason = f"The name indicates {sign.noun}, but there are few values, each in many records."
        return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.4)
    share = evidence.fits(sign.hipaa) if sign.hipaa is not None else None
    return _named(evidence, sign, share)


def _is_category(evidence: Evidence) -> bool:
    frequent = evidence.distinct <= 50 and evidence.filled >= 8 * evidence.distinct
    return frequent and evidence.kind is Kind.TEXT and evidence.share_like(r"^\D*$") >= 0.9


def _named(evidence: Evidence, sign: Sign, share: float | None) -> Guess:
    """What the name indicates; the share of values that match changes the confidence."""
    if share is None:
        return _guess(evidence, sign.role, f"The name indicates {sign.noun}.", sign.confidence, sign.hipaa)
    if share >= 0.5:
        confidence = 1 - (1 - sign.confidence) * (1 - share / 2)
        return _guess(evidence, sign.role, _name_and(sign, share), confidence, sign.hipaa)
    reason = f"The name indicates {sign.noun}, but most values do not match."
    # Of identifiers the name is evidence enough: codes are written in any format.
    factor = 0.9 if sign.role is Role.IDENTIFIER else 0.7
    return _guess(evidence, sign.role, reason, factor * sign.confidence, sign.hipaa)


def _key(evidence: Evidence) -> Guess | None:
    """A column that identifies records: a key by its name, or a different value in every record."""
    named, numbered = evidence.name.sign, evidence.name.numbered
    sure = named is not None and named.confidence >= _MIN_NAME_CONFIDENCE
    if evidence.fractions or evidence.kind is Kind.BOOLEAN or (sure and not evidence.name.key):
        return None
    if _unique_on_purpose(evidence):
        reason = "Every record has a different value: the column is a key."
        if evidence.classes.estimated:
            reason = "No sampled value repeats: the column seems to be a key."
        size = min(1.0, math.log10(evidence.filled) / 4)
        confidence = 0.5 + 0.25 * size + 0.2 * (numbered or evidence.kind is Kind.TEXT)
        return _guess(evidence, Role.IDENTIFIER, reason, confidence, Hipaa.CODE)
    repeated = 0.05 if evidence.filled >= 50 else 0.5
    if numbered and named is None and not evidence.flags and evidence.distinct_share >= repeated:
        reason = "The name ends like that of a key, and there are many different values."
        return _guess(evidence, Role.IDENTIFIER, reason, 0.75, Hipaa.CODE)
    return None


def _unique_on_purpose(evidence: Evidence) -> bool:
    """Whether all values are different, and not by chance, as measurements may be."""
    count = evidence.filled
    if not evidence.unique or count < _MIN_KEY_ROWS or evidence.name.counts:
        return False
    if evidence.kind is Kind.TEXT or evidence.name.numbered:
        return True
    numbers = evidence.numbers
    span = float(numbers.max() - numbers.min()) + 1 if len(numbers) else 1.0
    # Of n whole numbers drawn evenly from a span about n^2 / (2 span) pairs are equal.
    return count >= 100 or count**2 / (2 * span) >= 3


def _dates(evidence: Evidence) -> Guess | None:
    match = next((match for match in evidence.matches if match.sign.hipaa is Hipaa.DATE), None)
    named = evidence.name.sign
    if match is None or not match.complete:
        return None
    if named is not None and named.hipaa is Hipaa.DATE:
        return _named(evidence, named, match.share)
    # Integers that look like dates by chance do not outweigh the name.
    if named is not None and evidence.integers:
        return None
    return _by_match(evidence, match)


def _by_match(evidence: Evidence, match: Match) -> Guess:
    sign, share = match.sign, match.share
    reason = f"{_percent(share)} of the values look like {sign.noun}."
    confidence = sign.confidence * (0.5 + share / 2) if match.complete else 0.6
    return _guess(evidence, sign.role, reason, confidence, sign.hipaa)


def _by_name(evidence: Evidence) -> Guess | None:
    sign = evidence.name.sign
    if sign is None:
        return None
    if sign == BODY_WEIGHT and _weighs_rows(evidence):
        sign = SURVEY_WEIGHT
    if sign.hipaa is None:
        return _named(evidence, sign, None)
    return _named(evidence, sign, evidence.fits(sign.hipaa))


def _weighs_rows(evidence: Evidence) -> bool:
    """Whether weights are survey weights: far from body weights, or 1 on average."""
    numbers = evidence.numbers
    if len(numbers) == 0:
        return False
    return float((numbers > 1_000).mean()) > 0.1 or abs(float(numbers.mean()) - 1) < 0.05


def _people(evidence: Evidence) -> Guess | None:
    if evidence.people == 0:
        return None
    reason = "The values look like names of people."
    return _guess(evidence, Role.IDENTIFIER, reason, evidence.people, Hipaa.NAME)


def _plain_postal_code(evidence: Evidence) -> Guess | None:
    """Five digits as text, with leading zeros."""
    if evidence.kind is not Kind.TEXT or evidence.distinct < 5:
        return None
    if evidence.share_like(r"^\d{5}$") < 0.95 or evidence.share_like(r"^0") == 0:
        return None
    reason = "The values are five digits with leading zeros, like postal codes."
    return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.6, Hipaa.GEOGRAPHY)


def _many_texts(evidence: Evidence) -> Guess | None:
    if evidence.kind is not Kind.TEXT or evidence.filled < 50 or evidence.distinct_share < 0.2:
        return None
    if evidence.share_like(_QUANTITY) >= 0.9:
        return None
    if evidence.distinct_share >= 0.9:
        reason = "Almost every record has a different text."
        return _guess(evidence, Role.IDENTIFIER, reason, 0.6, Hipaa.CODE)
    reason = "There are many different texts, each in few records."
    return _guess(evidence, Role.UNDECIDED, reason, 0.4)


def _measure(evidence: Evidence) -> Guess | None:
    if evidence.kind is Kind.BOOLEAN or evidence.flags:
        reason = "The values are yes or no, and the name does not indicate a role."
        return _guess(evidence, Role.UNDECIDED, reason, 0.4)
    if evidence.kind in (Kind.INTEGER, Kind.NUMBER) or evidence.share_like(_QUANTITY) >= 0.9:
        reason = "The values are numbers, and the name does not indicate a role."
        return _guess(evidence, Role.UNDECIDED, reason, 0.4)
    return None


def _name_and(sign: Sign, share: float) -> str:
    return f"The name indicates {sign.noun}; {_percent(share)} of the values match."


def _percent(share: float) -> str:
    return f"{max(1, min(round(100 * share), 99 if share < 1 else 100))} %"
