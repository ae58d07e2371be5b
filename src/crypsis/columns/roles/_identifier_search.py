"""The search for identifiers in all values of a column: one email address is enough.

The engine selects the distinct values that may have one, by one regular expression; those are then
compared with each format and its check digits. Names of people, and identifiers in another notation
(Base64, reversed), have no such expression: they are looked for in all values of a column that has
few different ones, or else in a sample.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from urllib.parse import unquote
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.columns.roles import _checksums as check
from crypsis.columns.roles._person_names import names_a_person
from crypsis.columns.roles._words import Hipaa, Sign
from crypsis.counting import arrays
from crypsis.counting.arrays import truths
from crypsis.options import Role
from crypsis.tables import Column, Kind, Rows

_ID = Role.IDENTIFIER
_MAX_CANDIDATES = 1_000_000
"""No more texts of a column that have the shape of an identifier are fetched."""
_MAX_READ_TEXTS = 10_000
"""Up to so many different texts are read one by one; of more, those of the sample."""
_MAX_READ_CHARACTERS = 400
"""Longer texts are not read for names of people."""
_CHUNK_TEXTS = 20_000
"""Texts are searched in chunks of so many, until an identifier is found."""
_FEW_FORMED = 20
"""Of fewer texts in the format of an identifier, those with right check digits suffice, however few."""
_MIN_VALID_SHARE = 0.2
"""Of as many or more, this share needs right check digits: some of many codes have them by chance."""
_MAX_ACCIDENT_CHANCE = 1e-4
"""The chance that check digits are right by accident, below which numbers are what they seem."""
_ROT13 = str.maketrans(
    ascii_letters, "".join(letters[13:] + letters[:13] for letters in (ascii_lowercase, ascii_uppercase))
)


@dataclass(frozen=True)
class Sought:
    """A format that is found anywhere in a text, with the check of its digits."""

    sign: Sign
    regex: str
    check: Callable[[str], bool] | None = None
    enough: int = 1
    """The number of different values that must match."""
    separators: str = r"[^0-9A-Z]"
    """What is removed before the digits are checked."""
    folded: bool = True
    """Whether small letters mean the same as capitals."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.regex, re.IGNORECASE)

    def count(self, values: pa.Array) -> tuple[int, int]:
        """How many of the values have the format, and in how many its check digits are right."""
        matched = pc.match_substring_regex(values, self.regex, ignore_case=True)
        formed = int(truths(matched).sum())
        if self.check is None:
            return formed, formed
        return formed, sum(map(self._valid, values.filter(matched).to_pylist()))

    def suffices(self, formed: int, valid: int) -> bool:
        """Whether so many are enough, and not those of many codes that are right by chance."""
        return valid >= self.enough and (formed < _FEW_FORMED or valid >= _MIN_VALID_SHARE * formed)

    def _valid(self, value: str) -> bool:
        return any(self._passes(match[0]) for match in self._compiled.finditer(value))

    def _passes(self, text: str) -> bool:
        plain = re.sub(self.separators, "", text.upper() if self.folded else text)
        return self.check is None or self.check(plain)


_EMAIL = Sign("email addresses", _ID, Hipaa.EMAIL, 0.98)
_PHONE = Sign("telephone numbers", _ID, Hipaa.PHONE, 0.95)
_NATIONAL = Sign("national identity numbers", _ID, Hipaa.CODE, 0.95)
_SSN = Sign("social security numbers", _ID, Hipaa.SSN, 0.97)
_CARD = Sign("payment card numbers", _ID, Hipaa.ACCOUNT, 0.95)
_ACCOUNT = Sign("bank accounts (IBAN)", _ID, Hipaa.ACCOUNT, 0.97)
_HASH = Sign("hashes, which others can compute too", _ID, Hipaa.CODE, 0.95)
_CODE = Sign("unique codes", _ID, Hipaa.CODE, 0.9)
PERSON = Sign("names of people", _ID, Hipaa.NAME, 0.9)
_DEVICE = Sign("device identifiers", _ID, Hipaa.DEVICE, 0.95)
# Country calling codes of the ITU, by their first digits.
_CALLING = (
    r"(?:1|7|2[07]|2[1-69]\d|3[0-469]|3[578]\d|4[013-9]|42\d|5[1-8]|5[09]\d|6[0-6]|6[789]\d|8[1246]|"
    r"8[58]\d|9[0-58]|9[679]\d)"
)


def _international(text: str) -> bool:
    return 8 <= len(text) <= 15


SOUGHT: tuple[Sought, ...] = (
    Sought(_EMAIL, r"[^\s@<>,;:\"'()\[\]{}=/]+@[^\s@<>,;:\"'()\[\]{}=/]+\.[a-z]{2,}"),
    Sought(_EMAIL, r"[a-z0-9._-]{2,} ?[\[({](?:at|@|ät)[\])}] ?[a-z0-9._-]{2,}|[a-z0-9]%40[a-z0-9-]+\."),
    Sought(_ACCOUNT, r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", check.iban),
    Sought(_SSN, r"\b\d{3}-\d{2}-\d{4}\b", check.us_ssn),
    Sought(_SSN, r"\b[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}\b", check.fr_nir),
    Sought(_SSN, r"\b\d{2} ?\d{6} ?[A-Z] ?\d{3}\b", check.de_pension),
    Sought(_SSN, r"\b756\.\d{4}\.\d{4}\.\d{2}\b", check.ch_ahv),
    Sought(_SSN, r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b", None, 5),
    Sought(
        _PHONE,
        rf"\+ ?\(?{_CALLING}\)?[ ()./-]{{0,3}}\d(?:[ ()./-]{{0,2}}\d){{6,12}}\b",
        _international,
        separators=r"\D",
    ),
    Sought(_PHONE, rf"\b00{_CALLING}[ ()./-]{{1,3}}\d(?:[ ()./-]{{0,2}}\d){{6,12}}\b"),
    Sought(_PHONE, r"\([2-9]\d{2}\) ?[2-9]\d{2}[ .-]\d{4}\b|\b[2-9]\d{2}([.-])[2-9]\d{2}[.-]\d{4}\b"),
    Sought(_PHONE, r"\b0[1-9](?:[ .-]\d{2}){4}\b|\b0\d{2,4}[ /-]\d{3,4}[ -]\d{3,5}\b"),
    Sought(_PHONE, r"\b0\d{2,4} ?[ /-] ?\d{5,8}\b", None, 5),
    Sought(
        _CARD,
        r"\b(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6\d{3})([ -])\d{4}[ -]\d{4}[ -]\d{4}\b|"
        r"\b3[47]\d{2}[ -]\d{6}[ -]\d{5}\b",
        check.luhn,
    ),
    Sought(_NATIONAL, r"\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b", check.it_fiscal),
    Sought(_NATIONAL, r"\b\d{8}-?[A-HJ-NP-TV-Z]\b", check.es_dni, 3),
    Sought(_NATIONAL, r"\b[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]\b", check.es_dni),
    Sought(_NATIONAL, r"\b\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]\b", check.fi_hetu, separators=r"\s"),
    Sought(_NATIONAL, r"\b(?:\d{2})?\d{6}[-+]\d{4}\b", check.se_personal, 3),
    Sought(_NATIONAL, r"\b\d{6}-\d{4}\b", check.dk_cpr, 5),
    Sought(_NATIONAL, r"\b\d{6}/\d{4}\b", check.cz_birth),
    Sought(_NATIONAL, r"\b\d{6}-[1-8]\d{6}\b", check.kr_resident),
    Sought(_NATIONAL, r"\b\d{2}\.\d{2}\.\d{2}[- ]\d{3}[.-]\d{2}\b", check.be_national),
    Sought(_NATIONAL, r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", check.br_cpf),
    Sought(_NATIONAL, r"\b\d{3}-\d{3}-\d{3} \d{2}\b", check.ru_snils),
    Sought(_NATIONAL, r"\b\d{3}[ -]\d{3}[ -]\d{4}\b", check.uk_nhs, 3),
    Sought(_NATIONAL, r"\b\d{3}[ -]\d{3}[ -]\d{3}\b", check.luhn, 5),
    Sought(_NATIONAL, r"\b[2-9]\d{3} \d{4} \d{4}\b", check.in_aadhaar, 2),
    Sought(_NATIONAL, r"\b[1-9]\d{5}(?:19|20)\d{9}[\dX]\b", check.cn_resident),
    Sought(_NATIONAL, r"\b[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d\b"),
    Sought(_NATIONAL, r"\b[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]\b", None, 5),
    Sought(_NATIONAL, r"\b[STFGM]\d{7}[A-Z]\b", check.sg_nric, 2),
    Sought(_NATIONAL, r"\b[A-Z]{1,2}\d{6} ?\([0-9A]\)", check.hk_identity),
    Sought(_NATIONAL, r"\b\d{3} \d{3} \d{3}\b", check.au_tax, 2),
    Sought(_DEVICE, r"\b(?:[0-9A-F]{2}[:-]){5}[0-9A-F]{2}\b"),
    Sought(_CODE, r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", None, 3),
    Sought(
        _HASH,
        r"^(?:0x)?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|"
        r"[0-9a-f]{128})$",
        None,
        3,
    ),
    Sought(
        _HASH, r"^(?:[a-z0-9+/_-]{22}==|[a-z0-9+/_-]{27}=|[a-z0-9+/_-]{43}=|[a-z0-9+/_-]{86}==)$", None, 3
    ),
    Sought(_CODE, r"\b[13][1-9A-HJ-NP-Za-km-z]{25,34}\b", check.coin_address, separators=r"\s", folded=False),
    Sought(_HASH, r"^\$(?:2[abxy]?|argon2\w*|5|6|pbkdf2[\w-]*)\$"),
)
_CANDIDATES = (
    r"(?i)@|[\[({]at[\])}]|%40|\+ ?\(?\d|\b00\d{2,3}[ ()./-]|\(\d{3}\)|[a-z]{2}\d\d ?[a-z0-9]{4} ?[a-z0-9]{4}|"
    r"\b\d{3}-\d{2}-\d{4}\b|\b\d{3}[-. ]\d{3}[-. ]\d{3,4}\b|\d{4}[ -]\d{4}[ -]\d{4}|3[47]\d\d[ -]\d{6}|\d{6}[-+/a-fu-y]\d{3}|"
    r"\d\d\.\d\d\.\d\d[- ]\d|756\.\d{4}|\b0\d([ .-]\d\d){3}|\b0\d{2,4} ?[ /-] ?\d{3}|\d{7}-?[a-z]\b|"
    r"[a-z]{6}\d\d[a-z]\d\d|[a-z]{4}\d{6}[hmx]|[a-z]{5}\d{4}[a-z]|[a-z]{2} ?\d\d ?\d\d ?\d\d ?[a-d]\b|"
    r"\d{17}[\dx]|\b[12] ?\d\d ?\d\d ?[\dab]{2} ?\d{3} ?\d{3}|\d\d ?\d{6} ?[a-z] ?\d{3}|"
    r"\b[stfgm]\d{7}[a-z]\b|[a-z]\d{6} ?\(|\b[13][1-9a-z]{25,34}\b|"
    r"([0-9a-f]{2}[:-]){5}|[0-9a-f]{8}-[0-9a-f]{4}-|^(0x)?[0-9a-f]{32}|^[a-z0-9+/_-]{22,86}=|^\$[256apbx]"
)

# Numbers of digits alone: enough of those of one length must have valid check digits.
_Check = Callable[[str], bool]
BARE: tuple[tuple[Sign, int, _Check, float], ...] = (
    (_NATIONAL, 9, check.nl_bsn, 1 / 11),
    (_NATIONAL, 9, check.pt_nif, 1 / 28),
    (_NATIONAL, 9, check.luhn, 1 / 10),
    (_NATIONAL, 9, check.au_tax, 1 / 11),
    (_NATIONAL, 11, check.de_tax, 1 / 16),
    (_NATIONAL, 11, check.pl_pesel, 1 / 65),
    (_NATIONAL, 11, check.no_birth, 1 / 400),
    (_NATIONAL, 11, check.be_national, 1 / 190),
    (_NATIONAL, 11, check.tr_identity, 1 / 110),
    (_NATIONAL, 11, check.gr_amka, 1 / 270),
    (_NATIONAL, 11, check.br_cpf, 1 / 100),
    (_NATIONAL, 11, check.hr_oib, 1 / 10),
    (_NATIONAL, 11, check.ru_snils, 1 / 100),
    (_NATIONAL, 10, check.se_personal, 1 / 270),
    (_NATIONAL, 12, check.se_personal, 1 / 270),
    (_NATIONAL, 10, check.uk_nhs, 1 / 11),
    (_NATIONAL, 10, check.bg_egn, 1 / 20),
    (_NATIONAL, 10, check.cz_birth, 1 / 40),
    (_NATIONAL, 10, check.hu_tax, 1 / 110),
    (_NATIONAL, 10, check.ua_tax, 1 / 11),
    (_NATIONAL, 10, check.dk_cpr, 1 / 27),
    (_NATIONAL, 12, check.in_aadhaar, 1 / 12),
    (_NATIONAL, 12, check.jp_individual, 1 / 11),
    (_NATIONAL, 12, check.ru_inn, 1 / 100),
    (_NATIONAL, 13, check.ro_cnp, 1 / 300),
    (_NATIONAL, 13, check.ch_ahv, 1 / 10_000),
    (_NATIONAL, 18, check.cn_resident, 1 / 3_000),
    (_SSN, 15, check.fr_nir, 1 / 200),
    (_CARD, 16, check.luhn, 1 / 10),
    (Sign("device numbers (IMEI)", _ID, Hipaa.DEVICE, 0.9), 15, check.luhn, 1 / 10),
)
_BARE_VALUES = r"^\d{9,18}[xX]?$"
_MAX_BARE_NUMBERS = 2_000
"""So many numbers without other characters are examined."""
_MIN_VALID_BARE_SHARE = 0.9
"""The share of the numbers of one length whose check digits have to be right."""
_MANY_VALID_NUMBERS = 8
"""So many valid numbers suffice, however likely they are by accident."""
_LONG_DIGITS = 11
"""Few codes other than identifiers have so many digits."""
_MAX_ACCIDENT_CHANCE_IF_LONG = 0.0101
"""The chance below which numbers with so many digits are what they seem: two check digits have 0.01."""


@dataclass(frozen=True)
class Found:
    """Identifiers found in the values of a column."""

    sign: Sign
    values: int
    """The number of different values with one; at least so many if not `complete`."""
    complete: bool = True


_SEARCHED: WeakKeyDictionary[Rows, dict[str, Found | None]] = WeakKeyDictionary()
"""What was found in the columns of rows that are still there."""


def find_identifiers(
    rows: Rows, column: Column, sample: pa.ChunkedArray, all_values: pa.ChunkedArray | None, distinct: int
) -> Found | None:
    """The identifiers in all values of a column: in `all_values` if it has all, else in the engine.

    Rows are searched once: a table is profiled, assessed and anonymized, each time with its evidence.
    """
    if column.duration or column.kind not in (Kind.TEXT, Kind.INTEGER, Kind.NUMBER):
        return None
    searched = _SEARCHED.setdefault(rows, {})
    if column.name not in searched:
        searched[column.name] = _searched(rows, column, sample, all_values, distinct)
    return searched[column.name]


def _searched(
    rows: Rows, column: Column, sample: pa.ChunkedArray, all_values: pa.ChunkedArray | None, distinct: int
) -> Found | None:
    text = column.kind is Kind.TEXT
    pattern = f"{_CANDIDATES}|{_BARE_VALUES}" if text else _BARE_VALUES
    if all_values is not None:
        texts = distinct_texts(all_values)
    else:
        selected = "" if distinct <= _MAX_READ_TEXTS else pattern
        texts = rows.values_like(column.name, selected, _MAX_CANDIDATES)
    values = texts.filter(pc.match_substring_regex(texts, pattern))
    identifiers = (_in_texts(values) if text else None) or _bare_numbers(values)
    if identifiers or not text:
        return identifiers
    if max(len(texts), distinct) <= _MAX_READ_TEXTS:
        return _in_readings(texts, complete=True)
    return _in_readings(distinct_texts(sample))


def identifier_in(text: str) -> Sign | None:
    """The identifier that a single text has, such as the name of a column or a file.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    Sign or None
        What was found.

    Examples
    --------
    >>> identifier_in("anna.smith@example.org").noun, identifier_in("age_group")
    ('email addresses', None)
    """
    values = arrays.texts([visible(text)])
    for sought in SOUGHT:
        if (sought.check is not None or sought.enough == 1) and sought.count(values)[1]:
            return sought.sign
    return PERSON if names_a_person(text) else None


def visible(text: str) -> str:
    """A text as a reader sees it: wide letters are plain, invisible characters are removed.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str

    Examples
    --------
    >>> visible("ａｎｎａ")
    'anna'
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(c for c in folded if unicodedata.category(c) != "Cf")


def _readings(text: str) -> Iterator[str]:
    """A text as it is seen, and what it is in another notation: hexadecimal, Base64, reversed."""
    yield visible(text)
    for decode in (bytes.fromhex, _base64):
        try:
            decoded = decode(text.strip()).decode("utf-8")
        except ValueError:
            continue
        if decoded.isprintable():
            yield decoded
    yield unquote(text)
    yield text[::-1]
    yield text.translate(_ROT13)


def _base64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _in_readings(texts: pa.Array, *, complete: bool = False) -> Found | None:
    """Names of people in a text, and identifiers in another notation."""
    counts: Counter[Sign] = Counter()
    for text in texts.to_pylist():
        if len(text) > _MAX_READ_CHARACTERS:
            continue
        readings = dict.fromkeys(_readings(text))
        if any(map(names_a_person, readings)):
            counts[PERSON] += 1
        email_readings = [reading for reading in readings if reading != text and "@" in reading]
        if email_readings and SOUGHT[0].count(arrays.texts(email_readings))[1]:
            counts[_EMAIL] += 1
    best = max(counts, key=lambda sign: counts[sign], default=None)
    return None if best is None else Found(best, counts[best], complete)


def distinct_texts(values: pa.ChunkedArray) -> pa.Array:
    """The distinct values as texts, whole numbers without a fraction."""
    column = values.drop_null()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
        column = column.filter(pc.equal(pc.floor(column), column))
        column = column.filter(pc.less(pc.abs(column), arrays.scalar(np.float64(2.0**53)))).cast(pa.int64())
    return pc.unique(column.cast(pa.string())).cast(pa.string())


def _in_texts(values: pa.Array) -> Found | None:
    formed: Counter[Sought] = Counter()
    valid: Counter[Sought] = Counter()
    for chunk in _chunks(values):
        for sought in SOUGHT:
            more = sought.count(chunk)
            formed[sought] += more[0]
            valid[sought] += more[1]
        done = [sought for sought in SOUGHT if sought.suffices(formed[sought], valid[sought])]
        if done:
            counts: Counter[Sign] = Counter()
            for sought in done:
                counts[sought.sign] += valid[sought]
            best = max(counts, key=lambda sign: (counts[sign], sign.confidence))
            return Found(best, counts[best], len(values) <= _CHUNK_TEXTS)
    return None


def _chunks(values: pa.Array) -> Iterator[pa.Array]:
    return (values.slice(start, _CHUNK_TEXTS) for start in range(0, len(values), _CHUNK_TEXTS))


def _bare_numbers(values: pa.Array) -> Found | None:
    """Numbers of one length whose check digits are right more often than by chance."""
    bare = values.filter(pc.match_substring_regex(values, _BARE_VALUES))
    texts = bare.slice(0, _MAX_BARE_NUMBERS).to_pylist()
    candidates = [
        Found(sign, valid, len(bare) <= _MAX_BARE_NUMBERS)
        for sign, length, passes, chance in BARE
        if (valid := _valid_numbers(texts, length, passes, chance))
    ]
    return max(candidates, key=lambda candidate: candidate.values, default=None)


def _valid_numbers(values: Sequence[str], length: int, passes: Callable[[str], bool], chance: float) -> int:
    """How many are valid, if nearly all of that length are, and not by chance or all rounded."""
    fitting = [value.upper() for value in values if len(value) == length]
    if length != 18:
        fitting = [value for value in fitting if value.isdecimal()]
    if all(value.endswith("000") for value in fitting):
        return 0
    valid = sum(map(passes, fitting))
    sure = _MAX_ACCIDENT_CHANCE_IF_LONG if length >= _LONG_DIGITS else _MAX_ACCIDENT_CHANCE
    by_accident = chance**valid > sure and valid < _MANY_VALID_NUMBERS
    enough = valid >= _MIN_VALID_BARE_SHARE * len(fitting) and not by_accident
    return valid if valid and enough else 0
