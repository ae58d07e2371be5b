"""The verdict on each column, out of its name, its kind, its tally and a sample of its values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from crypsis import progress
from crypsis.engine.base import Column, Kind, Tally
from crypsis.errors import unknown_columns
from crypsis.release import Release, Role
from crypsis.results import Result
from crypsis.roles._evidence import Evidence, Look
from crypsis.roles._names import said_by
from crypsis.roles._words import BODY_WEIGHT, SURVEY_WEIGHT, Hipaa, Sign

SAMPLE_ROWS = 2_000
_FEW_ROWS = 10
_SURE = 0.7
_QUANTITY = r"^[<>=~$€£+-]{0,2} ?\d[\d.,]*( ?-? ?\d[\d.,]*)? ?[%€$£]?( ?\p{L}{1,5})?$"
# Words that are often used for things of a few kinds, such as "device" for mobile or desktop.
_OFTEN_A_KIND = frozenset(Hipaa) - {Hipaa.NAME}


@dataclass(frozen=True)
class Guess(Result):
    """What a column seems to be, why, and how sure that is (0 to 1)."""

    column: str
    role: Role
    reason: str
    confidence: float
    hipaa: Hipaa | None = None
    """Which of the 18 identifiers of the HIPAA Safe Harbor it seems to hold."""
    free_text: bool = False
    """Whether it holds free text, which can never be called safe."""


def guess(
    release: Release, *, tallies: Mapping[str, Tally] | None = None, seed: int = 0
) -> tuple[Guess, ...]:
    """Guess the role of every column.

    Patterns run over a seeded sample of 2,000 rows; missing values count neither for nor against.
    `tallies` are used where the columns were counted already; the others cost a scan each.

    >>> people = pa.table({"zip": [10115, 10117] * 9, "disease": ["flu", "gout"] * 9})
    >>> [(g.column, g.role.value, g.reason) for g in guess(Release.from_frame(people))]
    [('zip', 'quasi-identifier', 'Its name points to a postal code, and 100 % of its values fit.'),
     ('disease', 'sensitive', 'Its name points to health.')]
    """
    rows = release.rows
    known = dict(tallies or {})
    strange = [name for name in known if name not in rows.names]
    if strange:
        raise unknown_columns(strange, rows.names)
    plain = [column.name for column in rows.columns if column.kind is not Kind.NESTED]
    sample = rows.sample(SAMPLE_ROWS, seed=seed, names=plain) if plain else pa.table({})
    guesses = []
    for column in progress.track(rows.columns, "guessing roles"):
        if column.kind is Kind.NESTED:
            guesses.append(_nested(column))
            continue
        tally = known.get(column.name) or rows.tally([column.name])
        guesses.append(_judge(Evidence(column, tally, sample[column.name])))
    return tuple(guesses)


def _judge(evidence: Evidence) -> Guess:
    """The first verdict in the order below; each looks at one kind of evidence."""
    for verdict in _verdicts(evidence):
        if verdict is not None:
            return verdict
    return _guess(evidence, Role.OTHER, "Nothing in its name or values tells what it is.", 0.3)


def _verdicts(evidence: Evidence) -> Iterator[Guess | None]:
    yield _constant(evidence)
    yield _free_text(evidence)
    yield _by_pattern(evidence, Role.IDENTIFIER)
    yield _by_kind(evidence)
    yield _by_identifying_name(evidence)
    yield _dates(evidence)
    if evidence.name.sign is None and not evidence.name.numbered:
        yield _people(evidence)
        yield _by_pattern(evidence, Role.QUASI_IDENTIFIER)
    yield _key(evidence)
    yield _by_pattern(evidence, Role.IDENTIFIER, whole=False)
    yield _by_name(evidence)
    yield _by_pattern(evidence, Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    yield _plain_postal_code(evidence)
    yield _many_texts(evidence)
    yield _measure(evidence)


def _guess(
    evidence: Evidence,
    role: Role,
    reason: str,
    confidence: float,
    hipaa: Hipaa | None = None,
    *,
    free_text: bool = False,
) -> Guess:
    sure = round(min(0.99, confidence), 2)
    return Guess(evidence.column.name, role, reason, sure, hipaa, free_text)


def _nested(column: Column) -> Guess:
    unseen = "it holds lists, structures or bytes, which are not looked into."
    sign = said_by(column.name).sign
    if sign is None:
        return Guess(column.name, Role.IDENTIFIER, unseen.capitalize(), 0.3)
    reason = f"Its name points to {sign.noun}; {unseen}"
    return Guess(column.name, sign.role, reason, round(0.6 * sign.confidence, 2), sign.hipaa)


def _constant(evidence: Evidence) -> Guess | None:
    if evidence.filled == 0:
        return _guess(evidence, Role.OTHER, "It holds no values.", 0.9)
    if not evidence.constant or evidence.look(Role.IDENTIFIER) is not None:
        return None
    return _guess(evidence, Role.OTHER, "Every row holds the same value.", 0.95)


def _free_text(evidence: Evidence) -> Guess | None:
    if not evidence.free_text:
        return None
    look = evidence.look(Role.IDENTIFIER)
    if look is not None and look.share >= 0.8 and evidence.words < 12:
        return None  # street addresses have many words too
    reason = "Long texts in people's own words: free text can never be called safe."
    confidence = 0.7 + 0.25 * min(1.0, evidence.words / 12)
    return _guess(evidence, Role.IDENTIFIER, reason, confidence, free_text=True)


def _by_pattern(evidence: Evidence, *roles: Role, whole: bool = True) -> Guess | None:
    look = evidence.look(*roles, whole=whole)
    if look is None:
        return None
    sign, share = look.sign, look.share
    named = evidence.name.sign
    if named is not None and named.role is sign.role and look.whole:
        if named.confidence < _SURE:
            named = replace(sign, confidence=named.confidence)
        hipaa = named.hipaa or sign.hipaa
        both = 1 - (1 - sign.confidence * share) * (1 - named.confidence)
        return _guess(evidence, sign.role, _name_and(named, share), both, hipaa)
    reason = f"{_percent(share)} of its values look like {sign.noun}."
    confidence = sign.confidence * (0.5 + share / 2) if look.whole else 0.6
    return _guess(evidence, sign.role, reason, confidence, sign.hipaa)


def _by_kind(evidence: Evidence) -> Guess | None:
    """Dates and times, whatever the rest of the name says."""
    if evidence.kind not in (Kind.DATE, Kind.TIME):
        return None
    named = evidence.name.sign
    if named is not None and named.hipaa is Hipaa.DATE:
        reason = f"Its name points to {named.noun}, and it holds dates or times."
        return _guess(evidence, named.role, reason, 0.97, Hipaa.DATE)
    reason = "It holds dates or times, which others may know."
    return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.8, Hipaa.DATE)


def _by_identifying_name(evidence: Evidence) -> Guess | None:
    sign = evidence.name.sign
    if sign is None or sign.role is not Role.IDENTIFIER:
        return None
    if evidence.flags:
        reason = f"Its name points to {sign.noun}, but it holds only yes or no."
        return _guess(evidence, Role.OTHER, reason, 0.6)
    if evidence.fractions and sign.hipaa is not Hipaa.BIOMETRIC:
        reason = f"Its name points to {sign.noun}, but it holds fractions."
        return _guess(evidence, Role.OTHER, reason, 0.5)
    if sign.hipaa in _OFTEN_A_KIND and _few_kinds(evidence):
        reason = f"Its name points to {sign.noun}, but it holds a few words, each in many rows."
        return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.4)
    share = evidence.fits(sign.hipaa) if sign.hipaa is not None else None
    return _named(evidence, sign, share)


def _few_kinds(evidence: Evidence) -> bool:
    crowded = evidence.distinct <= 50 and evidence.filled >= 8 * evidence.distinct
    return crowded and evidence.kind is Kind.TEXT and evidence.share_like(r"^\D*$") >= 0.9


def _named(evidence: Evidence, sign: Sign, share: float | None) -> Guess:
    """What the name says, surer or less sure by the share of the values that fit it."""
    if share is None:
        return _guess(
            evidence, sign.role, f"Its name points to {sign.noun}.", sign.confidence, sign.hipaa
        )
    if share >= 0.5:
        confidence = 1 - (1 - sign.confidence) * (1 - share / 2)
        return _guess(evidence, sign.role, _name_and(sign, share), confidence, sign.hipaa)
    reason = f"Its name points to {sign.noun}, though its values do not look like it."
    return _guess(evidence, sign.role, reason, 0.7 * sign.confidence, sign.hipaa)


def _key(evidence: Evidence) -> Guess | None:
    """A column that tells rows apart by itself: numbered by name, or different in every row."""
    named, numbered = evidence.name.sign, evidence.name.numbered
    sure = named is not None and named.confidence >= _SURE
    if evidence.fractions or evidence.kind is Kind.BOOLEAN or (sure and not evidence.name.key):
        return None
    if _unique_on_purpose(evidence):
        reason = "A different value in every row: it works as a key."
        if evidence.tally.estimated:
            reason = "None of its values that were counted repeats: it seems to work as a key."
        size = min(1.0, math.log10(evidence.filled) / 4)
        confidence = 0.5 + 0.25 * size + 0.2 * (numbered or evidence.kind is Kind.TEXT)
        return _guess(evidence, Role.IDENTIFIER, reason, confidence, Hipaa.CODE)
    repeated = 0.05 if evidence.filled >= 50 else 0.5
    if numbered and named is None and not evidence.flags and evidence.distinct_share >= repeated:
        reason = "Its name ends like that of a key, and it has many different values."
        return _guess(evidence, Role.IDENTIFIER, reason, 0.75, Hipaa.CODE)
    return None


def _unique_on_purpose(evidence: Evidence) -> bool:
    """Whether the values are all different, and would not be by chance in a measure."""
    count = evidence.filled
    if not evidence.unique or count < _FEW_ROWS or evidence.name.counts:
        return False
    if evidence.kind is Kind.TEXT or evidence.name.numbered:
        return True
    numbers = evidence.numbers
    span = float(numbers.max() - numbers.min()) + 1 if len(numbers) else 1.0
    # Of n whole numbers drawn evenly from a span about n^2 / (2 span) pairs are equal.
    return count >= 100 or count**2 / (2 * span) >= 3


def _dates(evidence: Evidence) -> Guess | None:
    look = next((look for look in evidence.looks if look.sign.hipaa is Hipaa.DATE), None)
    named = evidence.name.sign
    if look is None or not look.whole:
        return None
    if named is not None and named.hipaa is Hipaa.DATE:
        return _named(evidence, named, look.share)
    # Whole numbers that happen to look like dates do not outweigh what the name says.
    if named is not None and evidence.whole_numbers:
        return None
    return _by_pattern_alone(evidence, look)


def _by_pattern_alone(evidence: Evidence, look: Look) -> Guess:
    reason = f"{_percent(look.share)} of its values look like {look.sign.noun}."
    confidence = look.sign.confidence * (0.5 + look.share / 2)
    return _guess(evidence, look.sign.role, reason, confidence, look.sign.hipaa)


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
    """Whether weights are those of a survey: far from any body's, or one on average."""
    numbers = evidence.numbers
    if len(numbers) == 0:
        return False
    return float((numbers > 1_000).mean()) > 0.1 or abs(float(numbers.mean()) - 1) < 0.05


def _people(evidence: Evidence) -> Guess | None:
    if evidence.people == 0:
        return None
    reason = "Its values look like names of people."
    return _guess(evidence, Role.IDENTIFIER, reason, evidence.people, Hipaa.NAME)


def _plain_postal_code(evidence: Evidence) -> Guess | None:
    """Five digits kept as text: somebody cared for a leading zero."""
    if evidence.kind is not Kind.TEXT or evidence.distinct < 5:
        return None
    if evidence.share_like(r"^\d{5}$") < 0.95 or evidence.share_like(r"^0") == 0:
        return None
    reason = "Its values are five digits with leading zeros, like postal codes."
    return _guess(evidence, Role.QUASI_IDENTIFIER, reason, 0.6, Hipaa.GEOGRAPHY)


def _many_texts(evidence: Evidence) -> Guess | None:
    if evidence.kind is not Kind.TEXT or evidence.filled < 50 or evidence.distinct_share < 0.2:
        return None
    if evidence.share_like(_QUANTITY) >= 0.9:
        return None
    if evidence.distinct_share >= 0.9:
        reason = "A different text in almost every row."
        return _guess(evidence, Role.IDENTIFIER, reason, 0.6, Hipaa.CODE)
    return _guess(evidence, Role.QUASI_IDENTIFIER, "Many different texts, few rows with each.", 0.4)


def _measure(evidence: Evidence) -> Guess | None:
    if evidence.kind is Kind.BOOLEAN or evidence.flags:
        return _guess(evidence, Role.OTHER, "It says yes or no, and its name does not tell.", 0.4)
    if evidence.kind in (Kind.INTEGER, Kind.NUMBER) or evidence.share_like(_QUANTITY) >= 0.9:
        return _guess(evidence, Role.OTHER, "It holds numbers, and its name does not tell.", 0.4)
    return None


def _name_and(sign: Sign, share: float) -> str:
    return f"Its name points to {sign.noun}, and {_percent(share)} of its values fit."


def _percent(share: float) -> str:
    return f"{max(1, min(round(100 * share), 99 if share < 1 else 100))} %"
