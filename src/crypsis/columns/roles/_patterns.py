"""Patterns of values, and the small vocabularies of `vocabulary/values.toml`, matched by Arrow.

A pattern with distinctive punctuation or check digits is evidence without a name. Plain digits (a
telephone number, a zip code) are evidence only with a column name that indicates the same: those
are in `PLAIN_FORMATS`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.columns.roles._words import Hipaa, Sign, sign_of
from crypsis.columns.vocabulary import phrases, vocabulary
from crypsis.counting.arrays import texts, truths
from crypsis.options import Role

_ID = Role.IDENTIFIER
_QI = Role.QUASI_IDENTIFIER
_SENSITIVE = Role.SENSITIVE


@dataclass(frozen=True)
class Pattern:
    """A regular expression that complete values match, and what it indicates."""

    sign: Sign
    regex: str
    luhn: bool = False
    """Whether the digits must also pass the check of ISO/IEC 7812 (Luhn)."""
    share: float = 0.5
    """The share of the values that must match for the column to be recognized."""
    distinct: int = 1
    """The number of different values that must match, because a few codes may match by chance."""

    def matches(self, values: pa.Array) -> np.ndarray:
        """Which values match."""
        matched = pc.match_substring_regex(values, rf"^(?:{self.regex})$", ignore_case=True)
        mask = truths(matched)
        return mask & passes_luhn(values) if self.luhn and mask.any() else mask


def passes_luhn(values: pa.Array) -> np.ndarray:
    """Which texts of digits have the right check digit (Luhn, ISO/IEC 7812).

    >>> passes_luhn(pa.array(["4111 1111 1111 1111", "4111-1111-1111-1112"])).tolist()
    [True, False]
    """
    digits = pc.replace_substring_regex(values, r"[^0-9]", "")
    width = max(1, pc.max(pc.utf8_length(digits)).as_py() or 1)
    padded = pc.utf8_lpad(pc.utf8_slice_codeunits(digits, 0, 40), min(width, 40), "0")
    text = np.array(padded.to_pylist(), dtype=f"S{min(width, 40)}")
    table = text.view(np.uint8).reshape(len(text), -1) - ord("0")
    doubled = table[:, -2::-2] * 2
    total = table[:, ::-2].sum(axis=1) + (doubled - 9 * (doubled > 9)).sum(axis=1)
    good: np.ndarray = total % 10 == 0
    return good


_OCTET = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
_HEX = "[0-9a-f]"
_MONTHS = (
    "(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|mai|okt|dez|mrz|fev|avr|aou|ene|abr|ago|"
    "dic|januar|februar|marz|april|juni|juli|august|september|oktober|november|dezember|january|"
    "february|march|june|july|october|december)"
)
_DAY = r"(0?[1-9]|[12]\d|3[01])"
_MONTH = r"(0?[1-9]|1[0-2])"
_YEAR = r"(1[89]\d\d|20\d\d)"
_CLOCK = r"([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?(Z| ?[+-]\d{2}:?\d{2})?)?"
_EMAIL = Sign("email addresses", _ID, Hipaa.EMAIL, 0.98)
_PHONE = Sign("telephone numbers", _ID, Hipaa.PHONE)
_SSN = Sign("social security numbers", _ID, Hipaa.SSN, 0.97)
_NATIONAL = Sign("national identity numbers", _ID, Hipaa.CODE)
_CARD = Sign("payment card numbers", _ID, Hipaa.ACCOUNT, 0.95)
_DEVICE = Sign("device identifiers", _ID, Hipaa.DEVICE, 0.95)
_IP = Sign("IP addresses", _ID, Hipaa.IP, 0.95)
_CODE = Sign("unique codes", _ID, Hipaa.CODE, 0.95)
_STREET = Sign("street addresses", _ID, Hipaa.GEOGRAPHY)
_POSTAL = Sign("postal codes", _QI, Hipaa.GEOGRAPHY, 0.85)
_DATES = Sign("dates", _QI, Hipaa.DATE, 0.9)
_PLACE = Sign("geographic coordinates", _QI, Hipaa.GEOGRAPHY)
_PERSON = Sign("names of people", _ID, Hipaa.NAME, 0.85)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(_EMAIL, r"(mailto:)?[^@\s,;<>]+@[^@\s,;<>]+\.[a-z]{2,}"),
    Pattern(_EMAIL, r".*[^@\s,;<>]@[^@\s,;<>]+\.[a-z]{2,}\b.*"),
    Pattern(Sign("web addresses", _ID, Hipaa.URL, 0.95), r"(https?|ftp|s3)://\S+|www\.\S+\.\S+"),
    Pattern(Sign("pictures", _ID, Hipaa.PHOTO), r"\S.*\.(jpe?g|png|gif|bmp|tiff?|heic|webp|dcm)"),
    Pattern(Sign("pictures", _ID, Hipaa.PHOTO), r"data:image/\S+"),
    Pattern(_IP, rf"({_OCTET}\.){{3}}{_OCTET}(:\d+|/\d+)?"),
    Pattern(_IP, rf"({_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}|[0-9a-f:]{{2,}}::[0-9a-f:.]*|::[0-9a-f:.]+"),
    Pattern(_SSN, r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}|(x{3}|\*{3})-(x{2}|\*{2})-\d{4}"),
    Pattern(_SSN, r"[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]", share=0.8),
    Pattern(_SSN, r"[12] ?\d{2} ?(0[1-9]|1[0-2]) ?(\d{2}|2[AB]) ?\d{3} ?\d{3}( ?\d{2})?", share=0.9),
    Pattern(_SSN, r"756\.\d{4}\.\d{4}\.\d{2}|\d{3}-\d{3}-\d{3}"),
    Pattern(_SSN, r"\d{2} ?\d{6} ?[A-Z] ?\d{3}", share=0.9),
    Pattern(_NATIONAL, r"\d{8}-?[A-HJ-NP-TV-Z]|[XYZ]-?\d{7}-?[A-Z]", share=0.9, distinct=5),
    Pattern(_NATIONAL, r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]|[A-Z]{5}\d{4}[A-Z]"),
    Pattern(_NATIONAL, r"(\d{2})?\d{2}(0[1-9]|1[0-2])\d{2}[-+]\d{4}|\d{6}[-+A]\d{3}[0-9A-Y]"),
    Pattern(_NATIONAL, r"\d{3}\.\d{3}\.\d{3}-\d{2}|\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}"),
    Pattern(_NATIONAL, r"\d{4} \d{4} \d{4}|\d{2} \d{3} \d{3} \d{3}", distinct=5),
    Pattern(_NATIONAL, r"[1-9]\d{5}(19|20)\d{2}(0[1-9]|1[0-2])\d{5}[\dX]"),
    Pattern(
        Sign("bank accounts (IBAN)", _ID, Hipaa.ACCOUNT, 0.95),
        r"[A-Z]{2}\d{2} ?([A-Z]{4}|\d{4}) ?(\d{4} ?){1,6}[A-Z0-9]{1,4}( ?[A-Z0-9]{1,3})?",
    ),
    Pattern(_CARD, r"\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}|3[47]\d{2}[ -]\d{6}[ -]\d{5}"),
    Pattern(
        _CARD,
        r"4\d{12}(\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d{2})\d{12}",
        luhn=True,
        share=0.8,
        distinct=3,
    ),
    Pattern(_PHONE, r"\+ ?\d[\d ().\-/]{6,}\d( ?(x|ext\.?) ?\d+)?|00\d{2}[ -]\d[\d ()\-/]{5,}\d"),
    Pattern(_PHONE, r"(1[ .-])?\(\d{3}\) ?\d{3}[ .-]?\d{4}( ?(x|ext\.?) ?\d+)?"),
    Pattern(_PHONE, r"(1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}( ?(x|ext\.?) ?\d+)?"),
    Pattern(_PHONE, r"\(?0\d{1,5}\)?[ /-] ?\d{3,}([ -]?\d{2,}){1,4}|0\d([ .-]\d{2}){4}", distinct=3),
    Pattern(_DEVICE, rf"({_HEX}{{2}}[:-]){{5}}{_HEX}{{2}}|({_HEX}{{4}}\.){{2}}{_HEX}{{4}}"),
    Pattern(_DEVICE, r"\d{2}-\d{6}-\d{6}-\d"),
    Pattern(
        Sign("vehicle numbers (VIN)", _ID, Hipaa.VEHICLE),
        r"[A-HJ-NPR-Z0-9]{2}[A-HJ-NPR-Z][A-HJ-NPR-Z0-9]{10}\d{4}|"
        r"[1-9][A-HJ-NPR-Z][A-HJ-NPR-Z0-9]{11}\d{4}",
        share=0.8,
    ),
    Pattern(
        Sign("health plan numbers", _ID, Hipaa.HEALTH_PLAN),
        r"[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?"
        r"[AC-HJKMNP-RT-Y]{2}\d{2}",
    ),
    Pattern(Sign("medical record numbers", _ID, Hipaa.MEDICAL_RECORD), r"mrn?[-: #]?\d{4,}"),
    Pattern(_CODE, rf"\{{?{_HEX}{{8}}-({_HEX}{{4}}-){{3}}{_HEX}{{12}}\}}?"),
    Pattern(_CODE, rf"{_HEX}{{32}}|{_HEX}{{40}}|{_HEX}{{64}}|{_HEX}{{128}}", distinct=3),
    Pattern(Sign("account handles", _ID, Hipaa.CODE), r"@[a-z0-9_.]{2,30}"),
    Pattern(
        _STREET,
        r"\d{1,6}[a-z]?,? .*\b(street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|"
        r"ct|way|place|pl|terrace|square|sq|highway|hwy|parkway|circle|cir|close|crescent)\b\.?.*",
    ),
    Pattern(_STREET, r".*(stra(ß|ss)e|str\.|gasse|platz|weg|allee|straat|laan) ?\d{1,4} ?[a-z]?\b.*"),
    Pattern(_STREET, r"(\d{1,4},? )?(rue|avenue|av\.?|boulevard|calle|c/|via|plaza|rua) .*"),
    Pattern(_STREET, r"p\.? ?o\.? box \d+.*"),
    Pattern(_PERSON, r"(mrs?|ms|miss|dr|prof|herr|frau|mme|mlle|sra?|sir)\.? \p{L}.*"),
    Pattern(_PERSON, r"\p{L}[\p{L}'’ -]+, (mrs?|miss|master|dr|rev|col|major|don|mme)\.? .*"),
    Pattern(_POSTAL, r"\d{5}-\d{4}", share=0.3),
    Pattern(_POSTAL, r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}", share=0.7),
    Pattern(_POSTAL, r"[A-CEGHJ-NPR-TVXY]\d[A-Z][ -]?\d[A-Z]\d", share=0.7, distinct=3),
    Pattern(_POSTAL, r"[1-9]\d{3} ?[A-Z]{2}", share=0.9, distinct=5),
    Pattern(_POSTAL, r"(D|A|CH|F|L|B|DE|FR|AT)-\d{4,5}|\d{3}\*\*|\d{4}-\d{3}", distinct=2),
    Pattern(_PLACE, r"\(?-?\d{1,3}\.\d{2,}[,;] ?-?\d{1,3}\.\d{2,}\)?|POINT ?Z? ?\(.*\)"),
    Pattern(_PLACE, r"\d{1,3}°.*[NSEWO]"),
    Pattern(_DATES, rf"{_YEAR}[-/.]{_MONTH}[-/.]{_DAY}{_CLOCK}", share=0.6),
    Pattern(_DATES, rf"({_DAY}[-/.]{_MONTH}|{_MONTH}/{_DAY})[-/.](\d{{2}}|\d{{4}}){_CLOCK}", share=0.6),
    Pattern(_DATES, rf"{_DAY}\.?[- ]{_MONTHS}\.?[- ,]+(\d{{2}}|\d{{4}}){_CLOCK}", share=0.6),
    Pattern(_DATES, rf"{_MONTHS}\.?[- ]{_DAY}(st|nd|rd|th)?,? (\d{{2}}|\d{{4}}){_CLOCK}", share=0.6),
    Pattern(_DATES, rf"{_MONTHS}\.?[- ]{_YEAR}|{_YEAR}-(0[1-9]|1[0-2])", share=0.9),
    Pattern(_DATES, r"(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(\d{6})?", share=0.98, distinct=10),
    Pattern(Sign("times of day", _QI, None, 0.5), r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[ap]m)?", share=0.9),
    Pattern(
        Sign("codes of diseases (ICD)", _SENSITIVE, None, 0.7),
        r"[A-TV-Z]\d[0-9AB](\.[0-9A-Z]{1,4})?|\d{3}\.\d{1,2}|V\d{2}(\.\d{1,2})?",
        share=0.95,
        distinct=8,
    ),
)

# Plain formats: they confirm what a column name indicates and are not evidence without it.
PLAIN_FORMATS: dict[Hipaa, str] = {
    Hipaa.NAME: r"\p{L}[\p{L}'’.,\- ]*",
    Hipaa.GEOGRAPHY: (
        r"\d{3,5}|\d{9}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|"
        r"\p{L}[\p{L}'’., -]*|-?\d+\.\d*"
    ),
    Hipaa.DATE: r"(18|19|20)\d{2}|\d{1,2}|(19|20)\d{6}|\d{9,13}",
    Hipaa.PHONE: r"\+?[\d ().\-/]{7,20}",
    Hipaa.FAX: r"\+?[\d ().\-/]{7,20}",
    Hipaa.SSN: r"\d{7,10}|[\dA-Z]{9,16}|[\dx*-]{9,11}",
    Hipaa.MEDICAL_RECORD: r"[A-Z]{0,4}[- ]?\d{3,14}",
    Hipaa.HEALTH_PLAN: r"[A-Z]{0,4}[- ]?[\dA-Z-]{4,20}",
    Hipaa.ACCOUNT: r"[A-Z]{0,4}[\d -]{4,30}",
    Hipaa.LICENCE: r"[A-Z]{0,4}[\dA-Z -]{4,20}",
    Hipaa.VEHICLE: r"[A-ZÄÖÜ0-9 -]{4,17}",
    Hipaa.DEVICE: r"[0-9A-Z:-]{6,40}",
    Hipaa.CODE: r"[0-9A-Z_.:-]+",
}


def _terms(text: str) -> pa.Array:
    return texts(phrases(text))


_VALUES = vocabulary("values")
VOCABULARIES: tuple[tuple[Sign, pa.Array, int], ...] = tuple(
    (sign_of(entry), _terms(entry["values"]), entry["distinct"]) for entry in _VALUES["vocabularies"]
)
FLAGS = _terms(_VALUES["flags"])
GIVEN_NAMES = texts(vocabulary("person_names")["written_given"].split())
