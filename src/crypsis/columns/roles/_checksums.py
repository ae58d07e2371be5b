"""Check digits of identifying numbers: those of python-stdnum, and what it lacks.

A function takes a text of digits and letters without separators and says whether it is valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from typing import Any

Check = Callable[[str], bool]


@cache
def _module(name: str) -> Any:
    """A module of python-stdnum, imported when a column first needs it."""
    return import_module(f"stdnum.{name}")


def _standard(*names: str, form: str = "", **options: bool) -> Check:
    """A check by any of the modules; `form` is how the numbers of people begin."""

    def valid(name: str, text: str) -> bool:
        try:
            return bool(_module(name).validate(text, **options))
        except (ValueError, LookupError):  # the tables of some modules have gaps
            return False

    def check(text: str) -> bool:
        return re.match(form, text) is not None and any(valid(name, text) for name in names)

    return check


luhn = _standard("luhn")
iban = _standard("iban", check_country=False)
nl_bsn = _standard("nl.bsn")
de_tax = _standard("de.idnr")
es_dni = _standard("es.dni", "es.nie")
fr_nir = _standard("fr.nir", form=r"[1-478]\d\d(0[1-9]|1[0-2]|[23]\d|4[0-2]|[5-9]\d)")
it_fiscal = _standard("it.codicefiscale")
pl_pesel = _standard("pl.pesel")
fi_hetu = _standard("fi.hetu")
be_national = _standard("be.ssn")
pt_nif = _standard("pt.nif", form="[123]|45")
uk_nhs = _standard("gb.nhs", form="(?!0+$)")
br_cpf = _standard("br.cpf", form=r"(?!(\d)\1+$)")
in_aadhaar = _standard("in_.aadhaar")
ch_ahv = _standard("ch.ssn")
cz_birth = _standard("cz.rc")
ro_cnp = _standard("ro.cnp")
bg_egn = _standard("bg.egn")
tr_identity = _standard("tr.tckimlik")
hr_oib = _standard("hr.oib")
gr_amka = _standard("gr.amka")
ru_inn = _standard("ru.inn")
ua_tax = _standard("ua.rntrc")
jp_individual = _standard("jp.in_")
au_tax = _standard("au.tfn")
coin_address = _standard("bitcoin")


# What python-stdnum lacks, or takes more narrowly than these numbers are issued.


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _short_date(text: str, *, day_first: bool = False) -> bool:
    """Six digits as a day of any century; 29 February in a leap year of one of them."""
    a, month, b = int(text[:2]), int(text[2:4]), int(text[4:6])
    year, day = (b, a) if day_first else (a, b)
    return _is_date(1900 + year, month, day) or _is_date(2000 + year, month, day)


def _weighted(text: str, weights: Sequence[int]) -> int:
    return sum(weight * int(digit) for weight, digit in zip(weights, text, strict=False))


def us_ssn(text: str) -> bool:
    """United States: no zeros, no area 666, and 9xx is an ITIN; those of advertisements were people's."""
    area, group, serial = text[:3], int(text[3:5]), int(text[5:])
    if area in ("000", "666") or not group or not serial:
        return False
    return area[0] != "9" or 50 <= group <= 99


def de_pension(text: str) -> bool:
    """Germany, Versicherungsnummer: a date of birth, a letter, and the weighted digit sums."""
    letter = f"{ord(text[8]) - ord('A') + 1:02d}"
    number = text[:8] + letter + text[9:11]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    total = sum(sum(divmod(w * int(digit), 10)) for w, digit in zip(weights, number, strict=True))
    return total % 10 == int(text[11]) and 1 <= int(text[4:6]) <= 12


def se_personal(text: str) -> bool:
    """Sweden, personnummer, and samordningsnummer, which adds 60 to the day; Luhn."""
    short = text[-10:]
    day = int(short[4:6])
    return _short_date(f"{short[:4]}{day - 60 if day > 60 else day:02d}") and luhn(short)


def dk_cpr(text: str) -> bool:
    """Denmark, CPR: a date first; the check digit was given up in 2007."""
    return _short_date(text[:6], day_first=True)


def no_birth(text: str) -> bool:
    """Norway, fødselsnummer, D-number and auxiliary number (40 added to day or month)."""
    day, month = int(text[:2]) % 40, int(text[2:4]) % 40
    rules = _module("no.fodselsnummer")
    digits = rules.calc_check_digit1(text) + rules.calc_check_digit2(text)
    in_time = _short_date(f"{day:02d}{month:02d}{text[4:6]}", day_first=True)
    return in_time and bool(digits == text[9:])


def cn_resident(text: str) -> bool:
    """China, GB 11643-1999: date of birth and ISO 7064 mod 11-2; former regions, too."""
    born = _is_date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    return born and bool(_module("iso7064.mod_11_2").is_valid(text))


def ru_snils(text: str) -> bool:
    """Russia, SNILS: weights 9 to 1 modulo 101."""
    return _weighted(text, range(9, 0, -1)) % 101 % 100 == int(text[9:])


def kr_resident(text: str) -> bool:
    """Korea, resident registration number: a date and the sex; the check was given up in 2020."""
    return _short_date(text[:6]) and text[6] in "12345678"


def hu_tax(text: str) -> bool:
    """Hungary, adóazonosító jel: an 8, days since 1867, the weighted sum modulo 11."""
    return text[0] == "8" and _weighted(text, range(1, 10)) % 11 == int(text[9])


def sg_nric(text: str) -> bool:
    """Identity numbers of Singapore, by their last letter.

    >>> sg_nric("S1234567D"), sg_nric("S1234567A")
    (True, False)
    """
    total = _weighted(text[1:8], (2, 7, 6, 5, 4, 3, 2))
    total += {"T": 4, "G": 4, "M": 3}.get(text[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "KLJNPQRTUWX"}.get(text[0], "XWUTRQPNMLK")
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
