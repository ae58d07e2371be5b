"""The other identifiers, (A) and (D) to (R), by name and by value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crypsis.columns.roles import Hipaa
from crypsis.columns.safe_harbor import _words as w

_PART_WORDS = frozenset("last last4 ssn ssn4 tail lastfour".split())
_LETTERS = re.compile(r"[^\W\d_]{2}")
# One such value is enough.
_CERTAIN: tuple[tuple[Hipaa, re.Pattern[str]], ...] = tuple(
    (item, re.compile(pattern, re.IGNORECASE))
    for item, pattern in (
        (Hipaa.EMAIL, r"(.*[\s<(:;,])?[^@\s,;<>]+@[^@\s,;<>]+\.[a-z]{2,}[>).,;]*(\s.*)?"),
        (Hipaa.URL, r"(https?|ftp|s3)://\S+|www\.\S+\.\S+|\S+\.(com|org|net|de|fr|uk|io)/\S*"),
        (Hipaa.PHOTO, r"\S.*\.(jpe?g|png|gif|bmp|tiff?|heic|webp|dcm)|data:image/.*"),
        (Hipaa.IP, r"((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)(:\d+|/\d+)?"),
        (Hipaa.IP, r"([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|[0-9a-f]{1,4}(:[0-9a-f]{1,4})*::([0-9a-f:.]*)"),
        (Hipaa.DEVICE, r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}"),
        (Hipaa.SSN, r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}|[x*]{3}-[x*]{2}-\d{4}"),
        (Hipaa.PHONE, r"(\+?1[ .-]?)?\(\d{3}\) ?\d{3}[ .-]?\d{4}( ?(x|ext\.?) ?\d+)?"),
        (Hipaa.PHONE, r"(\+?1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}( ?(x|ext\.?) ?\d+)?"),
        (Hipaa.PHONE, r"\+ ?\d[\d ().\-/]{6,}\d( ?(x|ext\.?) ?\d+)?"),
        (Hipaa.CODE, r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?"),
        (
            Hipaa.GEOGRAPHY,
            r"\d{1,6}[a-z]?,? ([\w.'-]+ ){1,4}(street|st|avenue|ave|road|rd|boulevard|blvd|"
            r"lane|ln|drive|dr|court|ct|way|place|pl|terrace|parkway|circle)\.?(,.*)?",
        ),
        (Hipaa.GEOGRAPHY, r"p\.? ?o\.? box \d+.*"),
        (Hipaa.NAME, r"(mrs?|ms|miss|dr|prof|herr|frau)\.? [^\W\d_]+( [^\W\d_]+){0,3}"),
        (Hipaa.MEDICAL_RECORD, r"mrn?[-: #]*\d{4,}"),
    )
)
# Half of the distinct values must match.
_MOSTLY: tuple[tuple[Hipaa, re.Pattern[str]], ...] = tuple(
    (item, re.compile(pattern, re.IGNORECASE))
    for item, pattern in (
        (Hipaa.VEHICLE, r"(?=.*\d)(?=.*[a-z])[A-HJ-NPR-Z0-9]{17}"),
        (Hipaa.CODE, r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}"),
        (
            Hipaa.HEALTH_PLAN,
            r"[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y]"
            r"[AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}",
        ),
        (Hipaa.ACCOUNT, r"[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}"),
        (Hipaa.ACCOUNT, r"\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}"),
        (Hipaa.NAME, r".*\b(inc|llc|l\.l\.c|ltd|corp|corporation|gmbh|plc|& co|company)\.?"),
        (Hipaa.BIOMETRIC, r"[A-Za-z0-9+/=]{80,}|[ACGTN]{20,}"),
        (Hipaa.NAME, r"([^\W\d_]\. ?){2,3}"),
    )
)
_PERSON = re.compile(r"[A-Z][^\W\d_'’-]*[\w'’-]*(,? [A-Z][\w'’.-]*){1,3}")
_CODE_SHAPE = re.compile(r"(?=.*\d{4})[A-Za-z]{0,5}[-_/ #:]?\d{4,}([-_/ ]?[A-Za-z0-9]{1,4})?")
_LONG_TOKEN = re.compile(r"\S{12,}")
_MIN_LONG_VALUES = 20
"""Fewer long values, though different in nearly all records, are not taken for codes."""
_GENERIC_WORK = frozenset(
    "private public government federal state local self self-employed selfemployed retired "
    "unemployed student none other unknown nonprofit non-profit military employed full-time "
    "part-time yes no n/a na".split()
)


def identifier_values(texts: Sequence[str], kind: str, records: int) -> tuple[Hipaa, str] | None:
    """The identifier that the values are, whatever the name."""
    distinct = sorted(set(texts))
    if not distinct:
        return None
    if kind in ("integer", "number"):
        return _long_numbers(distinct)
    for item, pattern in _CERTAIN:
        if any(pattern.fullmatch(text) for text in distinct):
            return item, f"values are {_plural(item)}"
    for item, pattern in _MOSTLY:
        fitting = sum(bool(pattern.fullmatch(text)) for text in distinct)
        if fitting >= max(2, 0.5 * len(distinct)):
            return item, f"most values are {_plural(item)}"
    if all(re.fullmatch(r"\d+(\.0+)?", text) for text in distinct):
        return _long_numbers(distinct)
    if len(distinct) >= max(_MIN_LONG_VALUES, 0.9 * records) and all(map(_LONG_TOKEN.fullmatch, distinct)):
        return Hipaa.CODE, "the values are long and different in nearly all records"
    shaped = sum(bool(_CODE_SHAPE.fullmatch(text)) for text in distinct)
    dates = sum(bool(re.fullmatch(r".*(19|20)\d\d.*", text)) for text in distinct)
    if len(distinct) >= 5 and shaped >= 0.8 * len(distinct) and dates < 0.5 * len(distinct):
        return Hipaa.CODE, "the values are numbers or codes of records"
    return None


def _long_numbers(distinct: Sequence[str]) -> tuple[Hipaa, str] | None:
    """Numbers so long that they number something: telephones, accounts, records."""
    digits = [re.sub(r"\.0+$", "", text).lstrip("-") for text in distinct]
    if len(digits) < 2 or not all(text.isdecimal() for text in digits):
        return None
    lengths = {len(text) for text in digits}
    if lengths == {10} and all(text[0] in "23456789" and text[3] in "23456789" for text in digits):
        return Hipaa.PHONE, "the numbers are written like telephone numbers"
    if min(lengths) >= 8:
        return Hipaa.CODE, "the numbers have eight digits or more, like those of records"
    same = len(lengths) == 1 and min(lengths) >= 7
    if same and len(digits) >= 5 and not all(text.endswith("00") for text in digits):
        return Hipaa.CODE, "the numbers have the same length, like those of records"
    return None


def identifier_name(name: str, texts: Sequence[str], kind: str, records: int) -> tuple[Hipaa, str] | None:
    """The identifier that the name indicates and the values do not contradict."""
    words = w.words_of(name)
    word_set, distinct = set(words), set(texts)
    written = [text for text in distinct if _LETTERS.search(text)]
    if kind == "boolean" or not distinct or word_set & w.ABOUT:
        return None
    if word_set & w.EMPLOYERS:
        named = [text for text in written if text.casefold() not in _GENERIC_WORK]
        return (Hipaa.NAME, "names of employers") if named else None
    if word_set & w.RELATIVES:
        people = sum(bool(_PERSON.fullmatch(text)) for text in written)
        single = sum(text[:1].isupper() and text.isalpha() for text in written)
        about_names = "name" in word_set or "kin" in word_set
        many = len(written) >= 3 and people + single >= 0.6 * len(written)
        if written and (
            about_names or people >= max(1, 0.4 * len(written)) or (many and len(written) >= 0.15 * records)
        ):
            return Hipaa.NAME, "names of relatives or household members"
    if word_set & _PART_WORDS and all(re.fullmatch(r"\D{0,4}\d{4}", text) for text in distinct):
        return Hipaa.SSN, "the last digits of a number"
    numbered = bool(words) and words[-1] in w.NUMBER_ENDS and len(distinct) > 2
    digits = any(any(c.isdigit() for c in text) for text in distinct)
    if numbered and digits and word_set & w.RECORD_WORDS and not word_set & w.CODE_LISTS:
        return Hipaa.MEDICAL_RECORD, "numbers of records, also where they repeat"
    return None


def _plural(item: Hipaa) -> str:
    words = {
        Hipaa.NAME: "names",
        Hipaa.GEOGRAPHY: "street addresses",
        Hipaa.URL: "web addresses",
        Hipaa.PHOTO: "pictures",
        Hipaa.CODE: "unique codes",
        Hipaa.EMAIL: "email addresses",
        Hipaa.IP: "IP addresses",
        Hipaa.BIOMETRIC: "encoded biometrics or pictures",
    }
    return words.get(item, f"{item.value}s")
