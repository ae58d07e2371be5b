"""Columns that hide what they are: none may get a milder role than it deserves."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ROWS = 300
_random = np.random.default_rng(11)


@dataclass(frozen=True)
class Hidden:
    """A column, and the roles that are strict enough for it."""

    name: str
    values: Sequence[Any]
    allowed: frozenset[str]


IDENTIFIER = frozenset({"identifier", "undecided"})
SURELY = frozenset({"identifier"})
KNOWN = frozenset({"identifier", "undecided", "quasi-identifier"})
NOT_HARMLESS = frozenset({"identifier", "undecided", "quasi-identifier", "sensitive"})


def each(make: Callable[[int], Any]) -> list[Any]:
    return [make(i) for i in range(ROWS)]


def _digits(n: int) -> str:
    return "".join(map(str, _random.integers(0, 10, n)))


def _email(i: int) -> str:
    return f"user{i}@example.org"


def _with_check(length: int, complete: Callable[[str], str | None]) -> list[str]:
    """Numbers of a length to which the rule adds its check digits."""
    found: list[str] = []
    while len(found) < ROWS:
        made = complete(_digits(length))
        if made is not None:
            found.append(made)
    return found


def _mod(weights: Sequence[int], modulus: int, body: str) -> int:
    return sum(w * int(c) for w, c in zip(weights, body, strict=True)) % modulus


def _bsn(body: str) -> str | None:
    check = _mod((9, 8, 7, 6, 5, 4, 3, 2), 11, body)
    return body + str(check) if check < 10 and body[0] != "0" else None


def _pesel(_: str) -> str:
    body = f"{_random.integers(40, 99)}{_random.integers(1, 13):02d}{_random.integers(1, 29):02d}{_digits(4)}"
    return body + str(-_mod((1, 3, 7, 9, 1, 3, 7, 9, 1, 3), 10, body) % 10)


def _iban(body: str) -> str:
    return f"DE{98 - int(body + '131400') % 97:02d}{body}"


def _luhn(body: str) -> str:
    total = 0
    for i, c in enumerate(reversed(body)):
        d = int(c) * (2 - i % 2)
        total += d - 9 * (d > 9)
    return body + str(-total % 10)


def _steuer(body: str) -> str | None:
    if body[0] == "0" or max(body.count(c) for c in "0123456789") not in (2, 3):
        return None
    product = 10
    for c in body:
        product = 2 * ((int(c) + product) % 10 or 10) % 11
    return body + str((11 - product) % 10)


def _nhs(body: str) -> str | None:
    check = -_mod(range(10, 1, -1), 11, body) % 11
    return body + str(check) if check < 10 else None


def _pairs(first: str, last: str) -> list[str]:
    """A given and a family name, at random."""
    given, family = first.split(), last.split()
    return each(lambda _: f"{given[_random.integers(len(given))]} {family[_random.integers(len(family))]}")


def _joined(first: str, last: str) -> list[str]:
    return [name.replace(" ", "") for name in _pairs(first, last)]


def _mixed(rare: Sequence[Any], often: Any) -> list[Any]:
    return [*rare, *[often] * (ROWS - len(rare))]


POLISH = _pairs("Łukasz Agnieszka Małgorzata Krzysztof Zbigniew Paweł", "Nowak Wiśniewska Zając Pawlak Król")
DUTCH = _pairs("Sanne Daan Femke Jeroen Maaike Wouter", "de_Vries van_der_Berg Bakker Jansen ten_Have")
HASHED = [hashlib.md5(_email(i).encode()).hexdigest() for i in range(ROWS)]
SHA = [hashlib.sha256(_email(i).encode()).digest() for i in range(ROWS)]

HIDDEN = [
    # Hashes and codes of identifiers
    Hidden("h1", HASHED, SURELY),
    Hidden("h2", [one.hex() for one in SHA], SURELY),
    Hidden("h3", [base64.b64encode(one).decode() for one in SHA], SURELY),
    Hidden("h4", [one.upper() for one in HASHED], SURELY),
    Hidden("h5", [one[:16] for one in HASHED], IDENTIFIER),
    Hidden("h6", [HASHED[i // 3] for i in range(ROWS)], SURELY),
    Hidden("h7", [HASHED[i // 3][:10] for i in range(ROWS)], IDENTIFIER),
    Hidden("h8", ["0x" + one.hex() for one in SHA], SURELY),
    Hidden("h9", [base64.urlsafe_b64encode(_email(i).encode()).decode() for i in range(ROWS)], IDENTIFIER),
    # Telephone numbers
    Hidden("p1", each(lambda _: int("4917" + _digits(9))), IDENTIFIER),
    Hidden("p2", each(lambda _: int("212" + str(_random.integers(2, 10)) + _digits(6))), IDENTIFIER),
    Hidden("p3", each(lambda _: float("6" + _digits(8))), IDENTIFIER),
    Hidden("p4", each(lambda _: "+48 " + _digits(3) + " " + _digits(3) + " " + _digits(3)), SURELY),
    Hidden("p5", each(lambda _: "0048" + _digits(9)), IDENTIFIER),
    Hidden("p6", each(lambda _: "06" + _digits(8)), IDENTIFIER),
    Hidden("p7", _mixed(["+31 6 12345678"], "see file"), SURELY),
    Hidden("p8", each(lambda i: f"call +1 (212) 555-{i:04d} after six"), SURELY),
    Hidden("p9", each(lambda _: "1" + str(_random.integers(3, 10)) + _digits(9)), IDENTIFIER),
    # Bank accounts and cards
    Hidden("b1", _with_check(18, _iban), SURELY),
    Hidden("b2", [" ".join(n[i : i + 4] for i in range(0, 22, 4)) for n in _with_check(18, _iban)], SURELY),
    Hidden("b3", _mixed(_with_check(18, _iban)[:1], "paid in cash"), SURELY),
    Hidden("b4", each(lambda _: int(_luhn("4" + _digits(14)))), SURELY),
    Hidden(
        "b5",
        [
            f"paid with {n[:4]} {n[4:8]} {n[8:12]} {n[12:]}"
            for n in each(lambda _: _luhn("5" + "2" + _digits(13)))
        ],
        SURELY,
    ),
    Hidden("b6", [n.lower() for n in _with_check(18, _iban)], SURELY),
    # National numbers
    Hidden("n1", _with_check(8, _bsn), SURELY),
    Hidden("n2", [int(n) for n in _with_check(8, _bsn)], SURELY),
    Hidden("n3", _with_check(1, _pesel), SURELY),
    Hidden("n4", [int(n) for n in _with_check(10, _steuer)], SURELY),
    Hidden("n5", _with_check(9, _nhs), SURELY),
    Hidden("n6", [f"{n[:3]} {n[3:6]} {n[6:]}" for n in _with_check(9, _nhs)], SURELY),
    Hidden("n7", each(lambda i: f"{i:08d}" + "TRWAGMYFPDXBNJZSQVHLCKE"[i % 23]), SURELY),
    Hidden(
        "n8",
        each(
            lambda i: (
                f"{1 + i % 28:02d}{1 + i % 12:02d}{50 + i % 40}-{i:03d}"
                + "0123456789ABCDEFHJKLMNPRSTUVWXY"[
                    int(f"{1 + i % 28:02d}{1 + i % 12:02d}{50 + i % 40}{i:03d}") % 31
                ]
            )
        ),
        SURELY,
    ),
    Hidden("n9", _mixed(["123-45-6789"], "unknown"), SURELY),
    Hidden("n10", each(lambda i: f"{i:03d}.{i:03d}.{i:03d}-{i % 100:02d}"), IDENTIFIER),
    Hidden("n11", _mixed(["RSSMRA85T10A562S"], "n/a"), SURELY),
    Hidden("n12", _mixed(["11010519491231002X"], "无"), SURELY),
    Hidden("n13", each(lambda _: _luhn("35" + _digits(12))), SURELY),
    Hidden("n14", each(lambda i: f"9001{1 + i % 28:02d}-{1 + i % 4}{_digits(6)}"), SURELY),
    # One among many
    Hidden("o1", _mixed([_email(1)], "none"), SURELY),
    Hidden("o2", _mixed(["jan (at) example.org"], "none"), SURELY),
    Hidden("o3", [*each(lambda i: f"item {i}")[:-1], "written by jan@example.org"], SURELY),
    Hidden("disease", _mixed([_email(7)], "flu"), SURELY),
    Hidden("category", _mixed([_email(8)], "A"), SURELY),
    Hidden("o4", _mixed(["00:1B:44:11:3A:B7"], "unknown"), SURELY),
    # Nested text
    Hidden("j1", each(lambda i: json.dumps({"name": f"N{i}", "kids": i % 3})), SURELY),
    Hidden("j2", each(lambda i: json.dumps([{"contact": _email(i)}])), SURELY),
    Hidden("j3", each(lambda i: f"<patient><surname>X{i}</surname></patient>"), SURELY),
    Hidden("j4", each(lambda i: json.dumps({"a": i % 3, "b": i % 5})), IDENTIFIER),
    Hidden("j5", each(lambda i: f"phone=0{i}&name=x{i}"), IDENTIFIER),
    # Free text
    Hidden(
        "f1", each(lambda i: f"seen on ward {i}, wife waiting outside, lives next to the old church"), SURELY
    ),
    Hidden(
        "uwagi", each(lambda i: f"pacjent {i} mieszka obok kościoła i pracuje w szkole podstawowej"), SURELY
    ),
    Hidden(
        "f2", each(lambda i: f"L'ajuntament va dir que el pacient {i} viu a prop de la platja nova"), SURELY
    ),
    # Names of people
    Hidden("v1", POLISH, IDENTIFIER),
    Hidden("v2", [name.replace("_", " ") for name in DUTCH], SURELY),
    Hidden(
        "v3",
        [
            s + g
            for s, g in zip(
                each(lambda i: "王李张刘陈杨赵黄周吴"[i % 10]),
                each(lambda i: ("伟", "芳", "秀英", "敏", "静怡")[i % 5]),
                strict=True,
            )
        ],
        SURELY,
    ),
    Hidden("v4", each(lambda i: "김이박최정"[i % 5] + ("민준", "서연", "지우", "하은")[i % 4]), SURELY),
    Hidden(
        "v5",
        each(
            lambda i: (
                ("佐藤", "鈴木", "高橋", "田中")[i % 4] + " " + ("健", "花子", "太郎", "美咲", "翔")[i % 5]
            )
        ),
        SURELY,
    ),
    Hidden("v6", _pairs("Иван Ольга Сергей Наталья Дмитрий", "Иванов Петрова Смирнов Кузнецова"), SURELY),
    Hidden("v7", _pairs("محمد فاطمة أحمد علي مريم", "الحسيني الخطيب المصري التميمي"), SURELY),
    Hidden("v8", _pairs("राहुल प्रिया अमित सुनीता", "शर्मा गुप्ता सिंह पटेल"), SURELY),
    Hidden("v9", _pairs("Γεώργιος Μαρία Ελένη Νικόλαος", "Παπαδόπουλος Βλάχος Οικονόμου"), SURELY),
    Hidden("v10", [f"{name.split()[1]}, {name.split()[0]}" for name in POLISH], IDENTIFIER),
    Hidden(
        "v11",
        each(lambda i: ("Kowalska", "Nowak", "Wójcik", "Mazur", "Krawczyk", "Zając")[i % 6]),
        IDENTIFIER,
    ),
    Hidden("v12", each(lambda i: f"Xq{'aeiou'[i % 5]}rt Zw{'aeiou'[i // 5 % 5]}nk{i}"), IDENTIFIER),
    Hidden(
        "v13",
        [name.upper() for name in _pairs("Mehmet Ayşe Fatma Mustafa", "Yılmaz Kaya Demir Şahin")],
        IDENTIFIER,
    ),
    Hidden("v14", _pairs("Juhani Tuula Mikko Ritva", "Korhonen Virtanen Nieminen"), SURELY),
    # Names of columns in other languages, whose values tell little
    Hidden("nazwisko", each(lambda i: f"x{i % 40}"), SURELY),
    Hidden("telefoon", each(lambda i: f"{i % 50}"), SURELY),
    Hidden("患者姓名", each(lambda i: f"a{i % 40}"), SURELY),
    Hidden("氏名", each(lambda i: f"b{i % 40}"), SURELY),
    Hidden("주민등록번호", each(lambda i: f"c{i % 40}"), SURELY),
    Hidden("رقم الهاتف", each(lambda i: f"d{i % 40}"), SURELY),
    Hidden("आधार संख्या", each(lambda i: f"e{i % 40}"), SURELY),
    Hidden("фамилия", each(lambda i: f"f{i % 40}"), SURELY),
    Hidden("ΑΜΚΑ", each(lambda i: f"g{i % 40}"), SURELY),
    Hidden("rodné číslo", each(lambda i: f"h{i % 40}"), SURELY),
    Hidden("soyadı", each(lambda i: f"i{i % 40}"), SURELY),
    Hidden("sähköposti", each(lambda i: f"j{i % 40}"), SURELY),
    Hidden("codice_fiscale", each(lambda i: f"k{i % 40}"), SURELY),
    Hidden("fødselsnummer", each(lambda i: f"l{i % 40}"), SURELY),
    Hidden("vezetéknév", each(lambda i: f"m{i % 40}"), SURELY),
    Hidden("прізвище", each(lambda i: f"n{i % 40}"), SURELY),
    # Times and codes
    Hidden("t1", each(lambda i: 1_600_000_000 + 86_400 * i), KNOWN),
    Hidden("t2", each(lambda i: 1_600_000_000_000 + 3_600_000 * (i // 2)), KNOWN),
    Hidden("V1", each(lambda i: i % 7), NOT_HARMLESS),
    Hidden("V2", each(lambda i: "ABCDEFG"[i % 7]), NOT_HARMLESS),
    Hidden("V3", each(lambda i: f"{i % 7}.{i % 3}"), NOT_HARMLESS),
    Hidden("V4", each(lambda i: i // 3), NOT_HARMLESS),
    Hidden("V5", each(lambda _: float(_random.normal())), NOT_HARMLESS),
    Hidden("V6", each(lambda i: f"Q{i // 2:05d}"), NOT_HARMLESS),
]
