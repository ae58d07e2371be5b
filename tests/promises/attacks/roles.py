"""Roles: identifiers that were called something else, were never decided, or are hard to recognize."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.promises.attacks.attackers import found_among, singled_out
from tests.promises.attacks.judge import anonymized, assessed, command, flags, released
from tests.promises.attacks.people import ROLES, hospital, names, plain
from tests.promises.attacks.scenario import CHANGED, Draw, Scenarios, Trial

SCENARIOS = Scenarios("Roles")
scenario = SCENARIOS.add


def _declared(
    values: Sequence[object],
    column: str,
    register: Sequence[object] | None = None,
    role: str = "insensitive",
    **options: object,
) -> Trial:
    """A safe table with one more column, which the attacker has in a register of everybody."""
    release = plain(len(values)).assign(**{column: values})
    known = release if register is None else release.assign(**{column: register})
    roles = {**ROLES, role: [*ROLES.get(role, []), column]}
    return Trial(success=singled_out(release, known, [column]), verdict=assessed(release, **roles, **options))


@scenario("knows the name of everybody and reads the file")
def anonymize_with_quasi_identifiers_only(draw: Draw, folder: Path) -> Trial:
    """Names and social security numbers for which nobody decided a role."""
    people = hospital(draw)
    people.to_csv(folder / "patients.csv", index=False)
    ended = command(
        "anonymize",
        "--person",
        "each record",
        folder / "patients.csv",
        "-o",
        folder / "out.csv",
        "--k",
        "5",
        "--key",
        folder / "key.json",
        *flags(quasi_identifiers=["age", "zip", "sex"]),
    )
    wanted = [*people["name"], *people["ssn"]]
    made = released(folder / "out.csv")
    if made is None:
        return Trial(found_among(people.to_numpy().ravel(), wanted), ended.verdict)
    return Trial(1.0, CHANGED, after=found_among(made.to_numpy().ravel(), wanted))


@scenario("knows the name of everybody and reads the frame")
def anonymize_in_python_with_quasi_identifiers_only(draw: Draw, folder: Path) -> Trial:
    """A column of member names without a role, beside quasi-identifiers and a sensitive attribute."""
    people = hospital(draw).drop(columns="ssn").rename(columns={"name": "member"})
    made = anonymized(people, k=5, quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"])
    wanted = list(people["member"])
    if made is None:
        return Trial(1.0, "refused")
    return Trial(1.0, CHANGED, after=found_among(made.to_numpy().ravel(), wanted))


@scenario("has a list of social security numbers with names")
def social_security_numbers_called_insensitive(draw: Draw, folder: Path) -> Trial:
    """Social security numbers that were declared insensitive."""
    return _declared(hospital(draw, 600)["ssn"].to_numpy(), "ssn")


@scenario("has a list of e-mail addresses")
def addresses_called_insensitive(draw: Draw, folder: Path) -> Trial:
    """E-mail addresses that were declared insensitive."""
    return _declared([_address(one) for one in names(draw, 600)], "email")


@scenario("knows everybody by name")
def names_called_sensitive(draw: Draw, folder: Path) -> Trial:
    """Full names that were declared a sensitive attribute."""
    return _declared(names(draw, 600), "full_name", role="sensitive")


@scenario("knows everybody by name")
def names_under_a_neutral_column_name(draw: Draw, folder: Path) -> Trial:
    """Surnames in a column with a neutral name, declared insensitive."""
    return _declared(names(draw, 600), "label")


@scenario("computes the hash of each address on a list")
def hashed_addresses(draw: Draw, folder: Path) -> Trial:
    """SHA-256 of e-mail addresses, in hexadecimal, declared insensitive."""
    known = [_address(one) for one in names(draw, 600)]
    there = [hashlib.sha256(one.encode()).hexdigest() for one in known]
    guessed = [hashlib.sha256(one.encode()).hexdigest() for one in known]
    return _declared(there, "ref", guessed)


@scenario("computes the hash of all ten thousand extensions")
def hashed_telephone_numbers(draw: Draw, folder: Path) -> Trial:
    """MD5 of telephone extensions, first 12 hexadecimal digits, declared insensitive."""
    numbers = draw.permutation(10_000)[:600]
    tables = {hashlib.md5(f"{n:04d}".encode()).hexdigest()[:12]: n for n in range(10_000)}
    there = [hashlib.md5(f"{n:04d}".encode()).hexdigest()[:12] for n in numbers]
    release = plain(600).assign(code=there)
    cracked = np.array([tables[one] for one in there])
    return Trial(float((cracked == numbers).mean()), assessed(release, **ROLES, insensitive=["code"]))


@scenario("decodes Base64")
def encoded_addresses(draw: Draw, folder: Path) -> Trial:
    """E-mail addresses in Base64, declared insensitive."""
    known = [_address(one) for one in names(draw, 600)]
    there = [base64.b64encode(one.encode()).decode() for one in known]
    release = plain(600).assign(token=there)
    decoded = [base64.b64decode(one).decode() for one in there]
    return Trial(found_among(decoded, known), assessed(release, **ROLES, insensitive=["token"]))


@scenario("has a telephone directory")
def telephone_numbers_as_integers(draw: Draw, folder: Path) -> Trial:
    """Telephone numbers as integers in a column called v3, declared insensitive."""
    return _declared(draw.permutation(9_000_000)[:600] + 6_170_000_000, "v3")


@scenario("has the account numbers of a bank's customers")
def bank_accounts(draw: Draw, folder: Path) -> Trial:
    """IBANs in a column called ref, declared insensitive."""
    return _declared([_iban(int(n)) for n in draw.integers(0, 10**18, 600)], "ref")


@scenario("has a list of card numbers")
def card_numbers(draw: Draw, folder: Path) -> Trial:
    """Numbers of payment cards in a column called temp, declared insensitive."""
    return _declared([_luhn(f"4{n:014d}") for n in draw.integers(0, 10**14, 600)], "temp")


@scenario("has the national register")
def national_numbers(draw: Draw, folder: Path) -> Trial:
    """Polish PESEL numbers in a column called c7, declared insensitive."""
    made = []
    for year, month, day, rest in zip(
        draw.integers(40, 99, 600),
        draw.integers(1, 13, 600),
        draw.integers(1, 29, 600),
        draw.integers(0, 10**4, 600),
        strict=True,
    ):
        digits = f"{year:02d}{month:02d}{day:02d}{rest:04d}"
        weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
        check = -sum(w * int(d) for w, d in zip(weights, digits, strict=True)) % 10
        made.append(f"{digits}{check}")
    return _declared(made, "c7")


def _foreign(column: str, first: str, last: str):  # type: ignore[no-untyped-def]
    def run(draw: Draw, folder: Path) -> Trial:
        every = [f"{b} {a}" for a in first.split() for b in last.split()]
        return _declared(draw.permutation(every)[:600], column)

    return run


_POLISH = _foreign(
    "nazwisko",
    "Kowalski Nowak Wiśniewski Wójcik Kamiński Lewandowski Zieliński Szymański Woźniak Dąbrowski "
    "Kozłowski Jankowski Mazur Krawczyk Piotrowski Grabowski Pawłowski Michalski Król Wieczorek "
    "Jabłoński Wróbel Majewski Olszewski Stępień",
    "Anna Jan Zofia Piotr Maria Paweł Ewa Tomasz Agnieszka Marek Katarzyna Michał Barbara Krzysztof "
    "Magdalena Andrzej Joanna Stanisław Elżbieta Józef Danuta Jerzy Halina Adam Irena",
)
_CHINESE = _foreign(
    "姓名",
    "王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗 梁 宋 郑 谢 韩",
    "伟 芳 娜 敏 静 丽 强 磊 军 洋 勇 艳 杰 娟 涛 明 超 秀 霞 平 刚 桂 英 华 玉",
)
_ARABIC = _foreign(
    "الاسم",
    "الأحمد العلي الحسن الخطيب المصري الشامي النجار الحداد البكري القاسم الصالح المحمود الكريم "
    "الرشيد السعيد الفارس العمر الزين الطيب الشريف الملك الأمين الجابر الناصر الهادي",
    "محمد أحمد علي حسن حسين عمر خالد يوسف إبراهيم فاطمة عائشة مريم زينب ليلى سارة نور هدى سلمى رانيا "
    "دينا كريم طارق سامي رامي باسم",
)


@scenario("has the register of residents")
def names_in_polish(draw: Draw, folder: Path) -> Trial:
    """Polish names in a column called nazwisko, declared insensitive."""
    return _POLISH(draw, folder)


@scenario("has the register of residents")
def names_in_chinese(draw: Draw, folder: Path) -> Trial:
    """Chinese names in a column called 姓名, declared insensitive."""
    return _CHINESE(draw, folder)


@scenario("has the register of residents")
def names_in_arabic(draw: Draw, folder: Path) -> Trial:
    """Arabic names in a column called الاسم, declared insensitive."""
    return _ARABIC(draw, folder)


@scenario("parses the documents")
def names_in_json(draw: Draw, folder: Path) -> Trial:
    """JSON documents with a name in each, declared insensitive."""
    known = names(draw, 600)
    there = [
        json.dumps({"visit": {"by": one, "n": int(n)}})
        for one, n in zip(known, draw.integers(0, 9, 600), strict=True)
    ]
    read = [json.loads(one)["visit"]["by"] for one in there]
    return Trial(
        found_among(read, known), assessed(plain(600).assign(payload=there), **ROLES, insensitive=["payload"])
    )


@scenario("reads the notes")
def names_in_notes(draw: Draw, folder: Path) -> Trial:
    """Notes of one sentence with a name in one of a hundred, declared insensitive."""
    known = names(draw, 6)
    said = np.array(["called twice, no answer", "came with her brother", "asked to be called back"])
    notes = said[draw.integers(0, 3, 600)].astype(object)
    notes[draw.permutation(600)[:6]] = [f"spoke with {one} today" for one in known]
    return Trial(
        found_among(notes, known), assessed(plain(600).assign(notes=notes), **ROLES, insensitive=["notes"])
    )


@scenario("reads the column")
def one_address_among_twenty_thousand_values(draw: Draw, folder: Path) -> Trial:
    """One e-mail address, in a column of five words and 19,998 rows, declared insensitive."""
    rows = 19_998
    channel = draw.choice(["web", "shop", "phone", "fair", "none"], rows).astype(object)
    channel[15_001] = "clara.vogel@example.org"
    release = plain(rows).assign(channel=channel)
    found = [one for one in channel if "@" in one]
    return Trial(
        found_among(found, ["clara.vogel@example.org"]),
        assessed(release, **ROLES, insensitive=["channel"]),
        control=assessed(release.assign(channel="web"), **ROLES, insensitive=["channel"]),
    )


@scenario("has the customers' record numbers")
def scanned_and_saved_without_a_decision(draw: Draw, folder: Path) -> Trial:
    """Customer codes in a column called V1; the file of guessed roles was not edited."""
    codes = [f"{n:05X}" for n in draw.permutation(900_000)[:600] + 100_000]
    release = plain(600).assign(V1=codes)
    release.to_csv(folder / "data.csv", index=False)
    command("scan", folder / "data.csv", "--save", folder / "roles.toml")
    ended = command(
        "assess", "--person", "each record", folder / "data.csv", "--no-try", "--roles", folder / "roles.toml"
    )
    return Trial(singled_out(release, release, ["V1"]), ended.verdict)


@scenario("has the customers' record numbers")
def guesses_accepted(draw: Draw, folder: Path) -> Trial:
    """Codes without any sign of what they are; all guesses were accepted."""
    codes = [
        f"{a}{n}"
        for a, n in zip(draw.choice(list("KLMNP"), 600), draw.permutation(60_000)[:600], strict=True)
    ]
    release = plain(600).assign(V6=codes)
    return Trial(singled_out(release, release, ["V6"]), assessed(release, accept_guesses=True))


@scenario("has a list of social security numbers with names")
def declared_identifiers_under_safe_harbor(draw: Draw, folder: Path) -> Trial:
    """A column without a name that says so, declared an identifier and still in the file, under Safe Harbor."""
    codes = [f"{n:06d}" for n in draw.permutation(900_000)[:600] + 100_000]
    release = plain(600).assign(mark=codes)
    roles = {"insensitive": ["age", "sex", "disease"], "identifiers": ["mark"]}
    return Trial(
        singled_out(release, release, ["mark"]), assessed(release, policy="hipaa-safe-harbor", **roles)
    )


@scenario("looks up who had the address at that time")
def network_addresses(draw: Draw, folder: Path) -> Trial:
    """IP addresses in a column called origin, declared insensitive."""
    return _declared(
        [f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}" for n in draw.permutation(2**24)[:600]], "origin"
    )


@scenario("follows the links")
def profile_pages(draw: Draw, folder: Path) -> Trial:
    """Addresses of profile pages, declared insensitive."""
    there = [f"https://people.example.org/{one.replace(' ', '_')}" for one in names(draw, 600)]
    return _declared(there, "link")


@scenario("is a neighbor")
def street_addresses(draw: Draw, folder: Path) -> Trial:
    """Streets and building numbers, declared insensitive."""
    streets = draw.choice(["Lindenweg", "Hauptstrasse", "Am Markt", "Gartenallee"], 600)
    there = [
        f"{street} {number}" for street, number in zip(streets, draw.permutation(2_000)[:600], strict=True)
    ]
    return _declared(there, "location")


def _address(name: str) -> str:
    return name.lower().replace(" ", ".") + "@example.org"


def _luhn(digits: str) -> str:
    doubled = [int(d) * (2 if i % 2 == 0 else 1) for i, d in enumerate(reversed(digits))]
    return f"{digits}{-sum(d - 9 if d > 9 else d for d in doubled) % 10}"


def _iban(account: int) -> str:
    body = f"{account:018d}"
    check = 98 - int(f"{body}131400") % 97
    return f"DE{check:02d}{body}"
