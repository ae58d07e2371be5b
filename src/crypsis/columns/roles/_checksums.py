"""Check digits of identifying numbers, each from its published rule.

A function takes a text of digits and letters without separators and says whether it is valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _digits(text: str) -> list[int]:
    return [int(c) for c in text]


def _weighted(text: str, weights: Sequence[int]) -> int:
    return sum(w * int(c) for w, c in zip(weights, text, strict=False))


def is_date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _short_date(text: str, *, day_first: bool = False) -> bool:
    """Six digits as a day of any century; 29 February in a leap year of one of them."""
    a, month, b = int(text[:2]), int(text[2:4]), int(text[4:6])
    year, day = (b, a) if day_first else (a, b)
    return is_date(1900 + year, month, day) or is_date(2000 + year, month, day)


def luhn(text: str) -> bool:
    """ISO/IEC 7812-1, annex B: payment cards, IMEI, Canadian and Swedish numbers."""
    doubled = [2 * d - 9 * (d > 4) for d in _digits(text)[-2::-2]]
    return (sum(_digits(text)[-1::-2]) + sum(doubled)) % 10 == 0


_VERHOEFF = ("0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901",
             "2793806415", "7046913258")  # fmt: skip


def _dihedral(a: int, b: int) -> int:
    """The product in the dihedral group of order 10."""
    if a < 5:
        return (a + b) % 5 if b < 5 else (a + b - 5) % 5 + 5
    return (a - 5 - b) % 5 + 5 if b < 5 else (a - b) % 5


def verhoeff(text: str) -> bool:
    """Verhoeff (1969): Aadhaar."""
    check = 0
    for place, digit in enumerate(reversed(_digits(text))):
        check = _dihedral(check, int(_VERHOEFF[place % 8][digit]))
    return check == 0


_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28,
    "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
    "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21,
    "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24,
    "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24,
    "XK": 20,
}  # fmt: skip


def iban(text: str) -> bool:
    """ISO 13616: the length of the country, and ISO 7064 mod 97-10."""
    if _IBAN_LENGTHS.get(text[:2]) != len(text):
        return False
    number = "".join(str(_LETTERS.index(c)) for c in text[4:] + text[:4])
    return int(number) % 97 == 1


def us_ssn(text: str) -> bool:
    """Social Security Administration: no area 000, 666 or 9xx (but ITIN), no zeros."""
    area, group, serial = text[:3], text[3:5], text[5:]
    if area in ("000", "666") or group == "00" or serial == "0000":
        return False
    return area[0] != "9" or 50 <= int(group) <= 99  # 9xx is an ITIN of the IRS


def nl_bsn(text: str) -> bool:
    """Netherlands, burgerservicenummer: the test of eleven with -1 for the last digit."""
    return int(text) > 0 and _weighted(text, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def de_tax(text: str) -> bool:
    """Germany, Steuer-ID: ISO 7064 mod 11,10; one digit twice or thrice among the first ten."""
    most = max(text[:10].count(c) for c in "0123456789")
    if text[0] == "0" or most not in (2, 3):
        return False
    product = 10
    for digit in _digits(text[:10]):
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == int(text[10])


def de_pension(text: str) -> bool:
    """Germany, Versicherungsnummer: a date of birth, a letter, and the weighted digit sums."""
    letter = f"{_LETTERS.index(text[8]) - 9:02d}"
    number = text[:8] + letter + text[9:11]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    total = sum(sum(_digits(str(w * int(c)))) for w, c in zip(weights, number, strict=True))
    return total % 10 == int(text[11]) and 1 <= int(text[4:6]) <= 12


def es_dni(text: str) -> bool:
    """Spain, DNI and NIE: the letter is the number modulo 23."""
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def fr_nir(text: str) -> bool:
    """France, NIR: sex, year, month, and the key 97 - number modulo 97; 2A and 2B are Corsica."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    month = int(text[3:5])
    fits = text[0] in "123478" and (1 <= month <= 12 or 20 <= month <= 42 or month >= 50)
    return fits and 97 - int(number) % 97 == int(text[13:15])


_CF_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11,
           3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)  # fmt: skip


def it_fiscal(text: str) -> bool:
    """Italy, codice fiscale: the last letter from the values of odd and even places."""
    places = [_LETTERS.index(c) for c in text[:15]]
    odd = sum(_CF_ODD[place] for place in places[::2])
    even = sum(place if place < 10 else place - 10 for place in places[1::2])
    return chr(65 + (odd + even) % 26) == text[15]


def pl_pesel(text: str) -> bool:
    """Poland, PESEL: weights 1379137913, and a month that carries the century."""
    month = int(text[2:4]) % 20
    day = is_date(2000, month, int(text[4:6])) if 1 <= month <= 12 else False
    return day and (10 - _weighted(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10) % 10 == int(text[10])


def se_personal(text: str) -> bool:
    """Sweden, personnummer: a date (60 is added to the day of others), and Luhn."""
    short = text[-10:]
    day = int(short[4:6])
    own = f"{short[:4]}{day - 60 if day > 60 else day:02d}"
    return _short_date(own) and luhn(short)


def dk_cpr(text: str) -> bool:
    """Denmark, CPR: a date first; the check digit was given up in 2007."""
    return _short_date(text[:6], day_first=True)


def no_birth(text: str) -> bool:
    """Norway, fødselsnummer: a date first (40 added to the day or month of others), two checks."""
    day, month = int(text[:2]) % 40, int(text[2:4]) % 40
    if not _short_date(f"{day:02d}{month:02d}{text[4:6]}", day_first=True):
        return False
    first = -_weighted(text, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -_weighted(text, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return first == int(text[9]) and second == int(text[10])


def fi_hetu(text: str) -> bool:
    """Finland, henkilötunnus: a date, a sign of the century, and the number modulo 31."""
    number = int(text[:6] + text[7:10])
    return _short_date(text[:6], day_first=True) and (
        "0123456789ABCDEFHJKLMNPRSTUVWXY"[number % 31] == text[10]
    )


def be_national(text: str) -> bool:
    """Belgium, rijksregisternummer: 97 - number modulo 97, from 2000 on with a 2 in front."""
    month, day = int(text[2:4]) % 20, int(text[4:6])
    ways = (97 - int(text[:9]) % 97, 97 - int("2" + text[:9]) % 97)
    return month <= 12 and day <= 31 and int(text[9:]) in ways


def pt_nif(text: str) -> bool:
    """Portugal, NIF: weights 9 to 2 modulo 11; of people it begins with 1, 2, 3 or 45."""
    check = -_weighted(text, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return (text[0] in "123" or text[:2] == "45") and check % 10 == int(text[8])


def uk_nhs(text: str) -> bool:
    """United Kingdom, NHS number: weights 10 to 2 modulo 11."""
    return -_weighted(text, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11 == int(text[9]) and int(text) > 0


def cn_resident(text: str) -> bool:
    """China, GB 11643-1999: region, date of birth, and ISO 7064 mod 11-2."""
    if not is_date(int(text[6:10]), int(text[10:12]), int(text[12:14])):
        return False
    weights = [2 ** (17 - i) % 11 for i in range(17)]
    return "10X98765432"[_weighted(text, weights) % 11] == text[17]


def br_cpf(text: str) -> bool:
    """Brazil, CPF: two check digits modulo 11."""
    if len(set(text)) == 1:
        return False
    first = -_weighted(text[:9], range(10, 1, -1)) % 11
    second = -_weighted(text[:10], range(11, 1, -1)) % 11
    return [first % 10, second % 10] == _digits(text[9:])


def in_aadhaar(text: str) -> bool:
    """India, Aadhaar: twelve digits by Verhoeff, not beginning with 0 or 1."""
    return text[0] in "23456789" and verhoeff(text)


def ch_ahv(text: str) -> bool:
    """Switzerland, AHV number: 756 and the check digit of EAN-13."""
    return text[:3] == "756" and -_weighted(text, (1, 3) * 6) % 10 == int(text[12])


def cz_birth(text: str) -> bool:
    """Czechia and Slovakia, rodné číslo: a date, 50 (20) added to the month, divisible by 11."""
    month = int(text[2:4]) % 50
    month -= 20 * (month > 20)
    return (
        1 <= month <= 12
        and 1 <= int(text[4:6]) <= 31
        and (len(text) == 9 or int(text) % 11 == 0 or int(text[:9]) % 11 == 10)
    )


def ro_cnp(text: str) -> bool:
    """Romania, CNP: sex and century, a date, and weights 279146358279 modulo 11."""
    check = _weighted(text, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return (
        text[0] != "0" and _short_date(text[1:7]) and min(check, check % 10 or 1) == int(text[12])
    )


def bg_egn(text: str) -> bool:
    """Bulgaria, EGN: a date with 20 or 40 added to the month, weights modulo 11."""
    month = int(text[2:4]) % 20
    fits = 1 <= month <= 12 and 1 <= int(text[4:6]) <= 31
    return fits and _weighted(text, (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == int(text[9])


def tr_identity(text: str) -> bool:
    """Türkiye, T.C. kimlik no: two check digits."""
    d = _digits(text)
    tenth = (7 * sum(d[0:9:2]) - sum(d[1:8:2])) % 10
    return d[0] != 0 and tenth == d[9] and sum(d[:10]) % 10 == d[10]


def hr_oib(text: str) -> bool:
    """Croatia, OIB: ISO 7064 mod 11,10."""
    product = 10
    for digit in _digits(text[:10]):
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == int(text[10])


def gr_amka(text: str) -> bool:
    """Greece, AMKA: a date first, and Luhn."""
    return _short_date(text[:6], day_first=True) and luhn(text)


def ru_snils(text: str) -> bool:
    """Russia, SNILS: weights 9 to 1 modulo 101."""
    return _weighted(text, range(9, 0, -1)) % 101 % 100 == int(text[9:])


def ru_inn(text: str) -> bool:
    """Russia, INN of a person: two check digits modulo 11."""
    first = _weighted(text, (7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10
    second = _weighted(text, (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10
    return first == int(text[10]) and second == int(text[11])


def ua_tax(text: str) -> bool:
    """Ukraine, RNOKPP: days since 1900 first, weights modulo 11."""
    return _weighted(text, (-1, 5, 7, 9, 4, 6, 10, 5, 7)) % 11 % 10 == int(text[9])


def kr_resident(text: str) -> bool:
    """Korea, resident registration number: a date and the sex; the check was given up in 2020."""
    return _short_date(text[:6]) and text[6] in "12345678"


def jp_individual(text: str) -> bool:
    """Japan, Individual Number: weights modulo 11."""
    rest = _weighted(text, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest <= 1 else 11 - rest) == int(text[11])


def hu_tax(text: str) -> bool:
    """Hungary, adóazonosító jel: an 8, days since 1867, the weighted sum modulo 11."""
    return text[0] == "8" and _weighted(text, range(1, 10)) % 11 == int(text[9])


def sg_nric(text: str) -> bool:
    """Identity numbers of Singapore, by their last letter.

    >>> sg_nric("S1234567D"), sg_nric("S1234567A")
    (True, False)
    """
    total = sum(int(d) * w for d, w in zip(text[1:8], (2, 7, 6, 5, 4, 3, 2), strict=True))
    total += {"T": 4, "G": 4, "M": 3}.get(text[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "KLJNPQRTUWX"}.get(
        text[0], "XWUTRQPNMLK"
    )
    return letters[10 - total % 11 if text[0] == "M" else total % 11] == text[8]


def hk_identity(text: str) -> bool:
    """Identity numbers of Hong Kong: one or two letters, six digits and a check digit.

    >>> hk_identity("A1234563"), hk_identity("A1234564")
    (True, False)
    """
    body = text[:-1].rjust(8)
    values = [36 if c == " " else ord(c) - 55 if c.isalpha() else int(c) for c in body]
    total = sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True))
    return "0123456789A"[(11 - total % 11) % 11] == text[-1]


def au_tax(text: str) -> bool:
    """Tax file numbers of Australia.

    >>> au_tax("123456782"), au_tax("123456789")
    (True, False)
    """
    weights = (1, 4, 3, 7, 5, 8, 6, 9, 10)
    return sum(int(d) * w for d, w in zip(text, weights, strict=True)) % 11 == 0


def coin_address(text: str) -> bool:
    """Addresses of Bitcoin (Base58Check).

    >>> coin_address("1BoatSLRHtKNngkdXEeobR76b53LETtpyT")
    True
    """
    signs = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    if not set(text) <= set(signs):
        return False
    number = 0
    for sign in text:
        number = number * 58 + signs.index(sign)
    if number >> 200:
        return False
    content = number.to_bytes(25, "big")
    twice = hashlib.sha256(hashlib.sha256(content[:-4]).digest()).digest()
    return twice[:4] == content[-4:]
