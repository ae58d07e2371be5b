"""Columns that are easy to get wrong: a name, values, and the role they must be guessed to have."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ROWS = 120
_random = np.random.default_rng(7)

ID, QI, SENSITIVE, NONE = "identifier", "quasi-identifier", "sensitive", "undecided"
HARMLESS = "insensitive"


@dataclass(frozen=True)
class Case:
    name: str
    values: Sequence[Any]
    role: str
    hipaa: str | None = ""
    """The HIPAA identifier; None for none of them; "" where the case does not say."""
    free_text: bool = False


def pick(*values: Any) -> list[Any]:
    """Each of the values, and then any of them."""
    rest = _random.integers(0, len(values), ROWS - len(values))
    return [*values, *(values[i] for i in rest)]


def whole(low: int, high: int) -> list[int]:
    return [int(x) for x in _random.integers(low, high, ROWS)]


def shaped(pattern: str) -> list[str]:
    """Texts in which # is a digit, ? a capital letter, % a hexadecimal digit."""

    def one() -> str:
        return "".join(
            str(_random.integers(0, 10))
            if c == "#"
            else "ABCDEFGHJKLMNPRSTUVWXYZ"[_random.integers(0, 23)]
            if c == "?"
            else "0123456789abcdef"[_random.integers(0, 16)]
            if c == "%"
            else c
            for c in pattern
        )

    return [one() for _ in range(ROWS)]


def luhn(prefix: str, length: int) -> list[str]:
    """Numbers with a right last digit, worked out one by one."""

    def check(body: str) -> str:
        total = 0
        for i, digit in enumerate(reversed(body)):
            value = int(digit) * (2 if i % 2 == 0 else 1)
            total += value - 9 if value > 9 else value
        return str(-total % 10)

    bodies = [prefix + body[len(prefix) :] for body in shaped("#" * (length - 1))]
    return [body + check(body) for body in bodies]


def days(form: str, low: int = -20_000, high: int = 18_000) -> list[str]:
    return [(dt.date(1970, 1, 1) + dt.timedelta(d)).strftime(form) for d in whole(low, high)]


def lines(*parts: Sequence[str]) -> list[str]:
    """Sentences put together at random, one of each part."""
    return [" ".join(part[_random.integers(0, len(part))] for part in parts) for _ in range(ROWS)]


FIRST = ["Mary", "John", "Anna", "Peter", "Laura", "Hans", "Marie", "Carlos", "Emma", "Thomas"]
LAST = [f"{a}{b}" for a in ("Gold", "Stein", "Wood", "Berg") for b in ("man", "er", "son", "feld")]
FULL = [f"{a} {b}" for a in FIRST for b in LAST][:ROWS]
WORDS = ["the patient came in", "she told us", "he was sent home", "we agreed", "nobody was there"]
MORE = ["after a long talk with her mother", "and wept all day long", "because of the old pain"]
EVEN = ["on a Monday in May", "for the third time this year", "without any money left"]
PROSE = [f"{line} ({i})" for i, line in enumerate(lines(WORDS, MORE, EVEN))]
YES_NO = pick("yes", "no")
MEASURE = [float(x) for x in _random.normal(50, 10, ROWS)]
DATES = [dt.date(1950, 1, 1) + dt.timedelta(d) for d in whole(0, 20_000)]
TIMES = [dt.datetime(2020, 1, 1) + dt.timedelta(minutes=m) for m in whole(0, 500_000)]

NAMES = [
    Case("name", FULL, ID, "name"),
    Case("full_name", FULL, ID, "name"),
    Case("FirstName", pick(*FIRST), ID, "name"),
    Case("LASTNAME", pick(*LAST), ID, "name"),
    Case("Vorname", pick(*FIRST), ID, "name"),
    Case("Nachname", pick(*LAST), ID, "name"),
    Case("prénom", pick(*FIRST), ID, "name"),
    Case("Nom de famille", pick(*LAST), ID, "name"),
    Case("apellidos", pick(*LAST), ID, "name"),
    Case("patientName", FULL, ID, "name"),
    Case("emergency_contact", FULL, ID, "name"),
    Case("username", shaped("user####"), ID, "name"),
    Case("col1", FULL, ID, "name"),
    Case("col2", pick(*FIRST), ID, "name"),
    Case("v17", [f"{b}, {a}" for a in FIRST for b in LAST][:ROWS], ID, "name"),
    Case("passenger", [f"{b}, Mr. {a}" for a in FIRST for b in LAST][:ROWS], ID, "name"),
    Case("attended by", pick("Dr. Gold", "Dr. Stein", "Prof. Berg"), ID, "name"),
    Case("product_name", pick("Chair", "Table", "Lamp"), NONE, None),
    Case("filename", pick("a.csv", "b.csv"), NONE, None),
    Case("drug_name", pick("aspirin", "codeine"), SENSITIVE, None),
    Case("city_name", pick("Springfield", "Shelbyville"), QI),
    Case("company_name", pick("Acme", "Initech", "Hooli"), QI, None),
    Case("name_length", whole(3, 12), NONE, None),
]
CONTACTS = [
    Case("email", shaped("user####@example.org"), ID, "email address"),
    Case("e-mail", shaped("user####@example.org"), ID, "email address"),
    Case("contact", shaped("????.??@example.com"), ID, "email address"),
    Case("col_9", [*shaped("x###@example.org")[:40], *pick("none")[:80]], ID, "email address"),
    Case("correo electrónico", shaped("a###@example.es"), ID, "email address"),
    Case("email_opt_in", pick(True, False), NONE, None),
    Case("has_email", YES_NO, NONE, None),
    Case("num_emails", whole(0, 9), NONE, None),
    Case("phone", [int(x) for x in shaped("2#########")], ID, "telephone number"),
    Case("Telefonnummer", shaped("030 #######"), ID, "telephone number"),
    Case("tel", shaped("+49 30 ########"), ID, "telephone number"),
    Case("x1", shaped("(2##) 555-####"), ID, "telephone number"),
    Case("x2", shaped("212-555-####"), ID, "telephone number"),
    Case("x3", shaped("+44 20 #### ####"), ID, "telephone number"),
    Case("x4", shaped("0# ## ## ## ##"), ID, "telephone number"),
    Case("mobile", [int(x) for x in shaped("15########")], ID, "telephone number"),
    Case("fax", shaped("(2##) 555-####"), ID, "fax number"),
    Case("PhoneService", YES_NO, NONE, None),
    Case("phone_type", pick("home", "work"), NONE, None),
    Case("homepage", shaped("https://example.org/~u####"), ID, "web address"),
    Case("x5", shaped("https://example.org/%%%%"), ID, "web address"),
    Case("x6", shaped("www.example.org/%%%%"), ID, "web address"),
    Case(
        "x7", [f"10.{a}.{b}.7" for a, b in zip(whole(0, 255), whole(0, 255), strict=True)], ID, "IP address"
    ),
    Case("x8", shaped("2001:db8:%%%%::%%%%"), ID, "IP address"),
    Case("ipAddress", shaped("fe80:0:0:0:%%%%:%%%%:%%%%:%%%%"), ID, "IP address"),
    Case("ip_country", pick("DE", "US"), QI, None),
    Case("twitter", shaped("@user_####"), ID),
    Case("x9", shaped("@user_####"), ID, "other unique code"),
    Case("address", lines(["1", "22", "315"], ["Main", "Oak", "Elm"], ["Street", "Ave"]), ID),
    Case("x10", lines(["1", "22", "315"], ["Main", "Oak", "Elm"], ["Street", "Ave"]), ID),
    Case("x11", lines(["Hauptstraße", "Ringgasse", "Kirchplatz"], ["1", "23", "4a"]), ID),
    Case("Straße", lines(["Hauptstraße", "Ringgasse", "Kirchplatz"], ["1", "23", "4a"]), ID),
    Case("x12", lines(["12 rue", "3 rue", "4 avenue"], ["de la Paix", "Victor Hugo"]), ID),
]
NUMBERS = [
    Case("ssn", shaped("###-##-####"), ID, "social security number"),
    Case("SSN_", [int(x) for x in shaped("4########")], ID, "social security number"),
    Case("y1", shaped("###-##-####"), ID, "social security number"),
    Case("y2", shaped("***-**-####"), ID, "social security number"),
    Case("social_security_number", shaped("#########"), ID, "social security number"),
    Case("y3", [f"AB{x}C" for x in shaped("######")], ID, "social security number"),
    Case("Sozialversicherungsnummer", shaped("12######?###"), ID, "social security number"),
    Case("y4", shaped("###.###.###-##"), ID, "other unique code"),
    Case("DNI", shaped("########?"), ID, "other unique code"),
    Case("tax_id", shaped("##-#######"), ID),
    Case("Steuernummer", shaped("##/###/#####"), ID),
    Case("mrn", whole(100_000, 999_999), ID, "medical record number"),
    Case("y5", shaped("MRN######"), ID, "medical record number"),
    Case("patient_nbr", whole(1, 60), ID, "medical record number"),
    Case("PATIENTID", whole(1, 60), ID, "medical record number"),
    Case("policy_number", shaped("P-########"), ID, "health plan beneficiary number"),
    Case("member_id", whole(1, 10**8), ID, "health plan beneficiary number"),
    Case("y6", [f"1EG4-TE{d}-MK{x}" for d, x in zip(shaped("#"), shaped("##"), strict=True)], ID),
    Case("account_number", whole(10**8, 10**9), ID, "account number"),
    Case("IBAN", shaped("DE## #### #### #### #### ##"), ID, "account number"),
    Case("y7", shaped("GB##ABCD##############"), ID, "account number"),
    Case("y8", luhn("4", 16), ID, "account number"),
    Case("y9", shaped("4### #### #### ####"), ID, "account number"),
    Case("credit_card", luhn("5500", 16), ID, "account number"),
    Case("account_balance", whole(0, 100_000), SENSITIVE, None),
    Case("account_type", pick("checking", "savings"), NONE, None),
    Case("account", pick("checking", "savings"), QI, None),
    Case("passport", shaped("C########"), ID, "certificate or licence number"),
    Case("drivers_license", shaped("?#######"), ID, "certificate or licence number"),
    Case("license_type", pick("A", "B", "C"), NONE, None),
    Case("VIN", shaped("1HGCM82633A######"), ID, "vehicle identifier"),
    Case("y10", shaped("WVWZZZ1JZ3W######"), ID, "vehicle identifier"),
    Case("license_plate", shaped("?? ### ??"), ID, "vehicle identifier"),
    Case("Kennzeichen", shaped("B-?? ####"), ID, "vehicle identifier"),
    Case("imei", luhn("35", 15), ID, "device identifier"),
    Case("y11", shaped("%%:%%:%%:%%:%%:%%"), ID, "device identifier"),
    Case("serial_number", shaped("SN%%%%%%%%"), ID, "device identifier"),
    Case("device", pick("mobile", "desktop", "tablet"), QI, None),
    Case("device_type", pick("mobile", "desktop", "tablet"), NONE, None),
    Case("y12", [str(uuid.UUID(int=int(x))) for x in whole(1, 10**15)], ID, "other unique code"),
    Case("y13", shaped("%" * 64), ID, "other unique code"),
    Case("fingerprint", shaped("%" * 20), ID, "biometric identifier"),
    Case("photo", shaped("img%%%%.jpg"), ID, "full-face photograph"),
    Case("y14", shaped("scan%%%%.png"), ID, "full-face photograph"),
    Case("image_count", whole(0, 5), NONE, None),
    Case("id", list(range(ROWS)), ID, "other unique code"),
    Case("customer_id", whole(1, 40), ID, "other unique code"),
    Case("Kundennummer", whole(1, 40), ID, "other unique code"),
    Case("employee_no", whole(1, 40), ID, "other unique code"),
    Case("order_id", list(range(500, 500 + ROWS)), ID, "other unique code"),
    Case("row", list(range(ROWS)), ID, "other unique code"),
    Case("y15", [f"K{i:05d}X" for i in range(ROWS)], ID, "other unique code"),
    Case("y16", [None, *(float(i) for i in range(1, ROWS))], ID, "other unique code"),
    Case("diagnosis_id", list(range(ROWS)), ID, "other unique code"),
    Case("type_id", whole(1, 5), NONE, None),
    Case("admission_type_id", whole(1, 8), QI, None),
]
PLACES_AND_DATES = [
    Case("zip", whole(10_000, 99_999), QI, "geographic subdivision smaller than a state"),
    Case("zip5", shaped("0####"), QI, "geographic subdivision smaller than a state"),
    Case("z1", shaped("0000#"), QI, "geographic subdivision smaller than a state"),
    Case("z2", shaped("#####-####")[:60] * 2, QI, "geographic subdivision smaller than a state"),
    Case("z3", [f"SW1A {x}AA" for x in shaped("#")], QI),
    Case("z4", [f"K1A 0B{x}" for x in shaped("#")], QI),
    Case("z5", shaped("1##5 AB"), QI),
    Case("PLZ", whole(1_000, 9_999), QI, "geographic subdivision smaller than a state"),
    Case("code postal", whole(1_000, 95_000), QI),
    Case("postcode", pick("SW1A1AA", "M11AE", "B338TH"), QI),
    Case("city", pick("Berlin", "Paris", "Rome"), QI),
    Case("Wohnort", pick("Berlin", "Ulm", "Kiel"), QI),
    Case("county_fips", whole(1_001, 56_045), QI),
    Case("lat", [float(x) for x in _random.uniform(40, 41, ROWS)], QI),
    Case("Longitude", [float(x) for x in _random.uniform(-74, -73, ROWS)], QI),
    Case("z6", [f"40.{x}, -73.{y}" for x, y in zip(shaped("####"), shaped("####"), strict=True)], QI),
    Case("state", pick("NY", "CA", "TX", "WA", "OR", "FL"), QI, None),
    Case("z7", pick("NY", "CA", "TX", "WA", "OR", "FL"), QI, None),
    Case("z8", pick("Germany", "France", "Spain"), QI, None),
    Case("date_of_birth", DATES, QI, "date"),
    Case("DOB", days("%d.%m.%Y"), QI, "date"),
    Case("Geburtsdatum", days("%d.%m.%Y"), QI, "date"),
    Case("fecha_nacimiento", days("%Y/%m/%d"), QI, "date"),
    Case("birthYear", whole(1930, 2005), QI, None),
    Case("z9", days("%m/%d/%y"), QI, "date"),
    Case("z10", days("%d %b %Y"), QI, "date"),
    Case("z11", days("%B %d, %Y"), QI, "date"),
    Case("z12", [int(x) for x in days("%Y%m%d", 0)], QI, "date"),
    Case("z13", [f"{d}T10:15:00Z" for d in days("%Y-%m-%d")], QI, "date"),
    Case("z14", DATES, QI, "date"),
    Case("created_at", TIMES, QI, "date"),
    Case("admission_date", days("%Y-%m-%d"), QI, "date"),
    Case("diagnosis_date", DATES, QI, "date"),
    Case("z15", [dt.timedelta(minutes=m) for m in whole(0, 900)], NONE, None),
    Case("update_flag", YES_NO, NONE, None),
]
PEOPLE = [
    Case("age", whole(0, 99), QI, None),
    Case("AGE_GROUP", pick("0-9", "10-19", "20-29"), QI, None),
    Case("Alter", whole(0, 99), QI, None),
    Case("sex", pick("F", "M"), QI, None),
    Case("p1", pick("F", "M"), QI, None),
    Case("p2", pick("male", "female"), QI, None),
    Case("Geschlecht", pick("w", "m", "d"), QI, None),
    Case("sexo", whole(1, 3), QI, None),
    Case("race_ethnicity", pick("White", "Black", "Asian"), QI, None),
    Case("p3", pick("White", "Black", "Asian"), QI, None),
    Case("maritalStatus", pick("single", "married"), QI, None),
    Case("p4", pick("single", "married", "divorced"), QI, None),
    Case("Familienstand", pick("ledig", "verheiratet"), QI, None),
    Case("education_years", whole(0, 20), QI, None),
    Case("jobTitle", pick("clerk", "cook"), QI, None),
    Case("Beruf", pick("Koch", "Lehrer"), QI, None),
    Case("nationality", pick("DE", "FR"), QI, None),
    Case("num_children", whole(0, 6), QI, None),
    Case("hours.per.week", whole(1, 80), QI, None),
    Case("height_cm", whole(150, 200), QI, None),
    Case("weight", whole(45, 130), QI, None),
    Case("weight_", whole(5_000, 900_000), HARMLESS, None),
    Case("WEIGHT", [float(x) for x in _random.permutation(np.linspace(0.5, 1.5, ROWS))], HARMLESS),
    Case("survey_weight", MEASURE, HARMLESS, None),
    Case("fnlwgt", whole(10_000, 900_000), HARMLESS, None),
    Case("language", pick("de", "fr"), QI, None),
    Case("veteran", YES_NO, QI, None),
    Case("p5", pick("alpha", "beta"), NONE, None),
    Case("package", pick("small", "large"), NONE, None),
    Case("message_type", pick("a", "b"), NONE, None),
    Case("percentage", whole(0, 100), NONE, None),
    Case("valid", YES_NO, NONE, None),
]
SECRETS = [
    Case("disease", pick("flu", "cancer"), SENSITIVE, None),
    Case("primary_diagnosis", pick("flu", "cancer"), SENSITIVE, None),
    Case("Hauptdiagnose", pick("Grippe", "Krebs"), SENSITIVE, None),
    Case("maladie", pick("grippe", "cancer"), SENSITIVE, None),
    Case("ICD10", shaped("E1#.#"), SENSITIVE, None),
    Case("s1", shaped("?##.#")[:30] * 4, SENSITIVE, None),
    Case("hiv_status", pick("pos", "neg"), SENSITIVE, None),
    Case("hivPositive", pick(True, False), SENSITIVE, None),
    Case("s2", pick("flu", "diabetes", "asthma"), SENSITIVE, None),
    Case("s3", pick("A+", "B-", "AB+", "O-"), SENSITIVE, None),
    Case("blood_type", pick("A+", "B-", "AB+", "O-"), SENSITIVE, None),
    Case("metformin", pick("No", "Up"), SENSITIVE, None),
    Case("A1Cresult", pick("None", ">7"), SENSITIVE, None),
    Case("income", whole(0, 10**6), SENSITIVE, None),
    Case("annual_salary_eur", MEASURE, SENSITIVE, None),
    Case("Jahresgehalt", whole(0, 10**6), SENSITIVE, None),
    Case("ingresos", whole(0, 10**6), SENSITIVE, None),
    Case("state_tax", whole(0, 9_000), SENSITIVE, None),
    Case("credit_score", whole(300, 850), SENSITIVE, None),
    Case("total_debt", MEASURE, SENSITIVE, None),
    Case("religion", pick("none", "catholic"), SENSITIVE, None),
    Case("s4", pick("none", "catholic", "muslim", "jewish", "hindu"), SENSITIVE, None),
    Case("party_affiliation", pick("a", "b"), SENSITIVE, None),
    Case("sexual_orientation", pick("a", "b"), SENSITIVE, None),
    Case("criminal_record", YES_NO, SENSITIVE, None),
    Case("brca1_mutation", YES_NO, SENSITIVE, None),
    Case("drugUse", YES_NO, SENSITIVE, None),
    Case("pregnant", YES_NO, SENSITIVE, None),
    Case("password", shaped("%%%%%%%%%%"), SENSITIVE, None),
]
TEXTS_AND_MEASURES = [
    Case("notes", PROSE, ID, None, free_text=True),
    Case("t1", PROSE, ID, None, free_text=True),
    Case("comment", lines(["fine", "bad", "so so", "ok"], FIRST, LAST), ID, None, free_text=True),
    Case("diagnosis_text", PROSE, ID, None, free_text=True),
    Case("opinion", pick("strongly agree with what was said in the text above", "no"), NONE, None),
    Case("t2", MEASURE, NONE, None),
    Case("sensor_7", [float(i) / 7 for i in range(ROWS)], NONE, None),
    Case("t3", whole(0, 50), NONE, None),
    Case("count", whole(0, 50), NONE, None),
    Case("t4", ["same"] * ROWS, HARMLESS, None),
    Case("disease_", ["HIV"] * ROWS, HARMLESS, None),
    Case("t5", [None] * ROWS, HARMLESS, None),
    Case("t6", ["boss@example.org"] * ROWS, ID, "email address"),
    Case("t7", pick(True, False), NONE, None),
    Case("🙂", whole(0, 50), NONE, None),
    Case("unnamed_1", whole(0, 50), NONE, None),
    Case('a "b".c\n', pick("u", "v"), NONE, None),
    Case("'; DROP TABLE x; --", pick("u", "v"), NONE, None),
    Case("t8", [f"term {x}" for x in whole(0, 60)], NONE, None),
    Case("version", pick("1.2.3", "1.2.4"), NONE, None),
    Case("clock", [f"{h:02d}:{m:02d}:00" for h, m in zip(whole(0, 24), whole(0, 3), strict=True)], QI, None),
    Case("flight", pick("LH123", "BA99"), NONE, None),
    Case("number_outpatient", whole(0, 9), SENSITIVE, None),
    Case("price", [float(x) / 100 for x in whole(100, 9_999)], NONE, None),
    Case("t9", [f"{x} %" for x in whole(0, 50)], NONE),
]

LATER = [
    Case("zip_code", [f"{10_000 + 7 * i}" for i in range(ROWS)], QI),
    Case("ZipCode", [10_000 + 7 * i for i in range(ROWS)], QI),
    Case("occupation_code", [100 + i for i in range(ROWS)], QI),
    Case("icd_code", [f"E{i:03d}" for i in range(ROWS)], SENSITIVE),
    Case("disease_id", list(range(ROWS)), ID),
    Case("Street", pick("Pave", "Grvl"), QI, None),
    Case("bank contact", pick("cellular", "telephone"), NONE, None),
    Case("DeviceProtection", pick("Yes", "No", "No internet service"), QI, None),
    Case(
        "recipients",
        [f"{a}; {b}" for a, b in zip(*[iter(shaped("??##@x.org") * 2)] * 2, strict=True)],
        ID,
        "email address",
    ),
    Case("sender", [f"A. B. <{a}>" for a in shaped("??##@x.org")], ID, "email address"),
    Case("u1", ["患者说他昨天晚上开始发烧并且头痛得很厉害" + str(i) for i in range(ROWS)], ID, None, True),
    Case("u2", [*days("%Y-%m-%d")[:60], *days("%d.%m.%Y")[:60]], QI, "date"),
    Case("fname", pick(*FIRST), ID, "name"),
    Case("LAST", pick(*LAST), ID, "name"),
    Case("AGEP", whole(0, 99), QI, None),
    Case("PWGTP", whole(1, 500), HARMLESS, None),
    Case("Geb.-Datum", days("%d.%m.%Y"), QI, "date"),
    Case("addr_state", pick("NY", "CA", "TX"), QI, None),
    Case("hack_license", shaped("%" * 32), ID),
    Case("AnonID", whole(1, 60), ID),
    Case("automobile", pick("bmw", "audi"), NONE, None),
    Case("discharge_disposition_id", whole(1, 9), QI, None),
    Case("surcharge", MEASURE, NONE, None),
]

CASES = [*NAMES, *CONTACTS, *NUMBERS, *PLACES_AND_DATES, *PEOPLE, *SECRETS, *TEXTS_AND_MEASURES, *LATER]
