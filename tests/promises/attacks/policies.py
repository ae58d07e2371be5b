"""Policies: what their names say, item by item."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import equal
from tests.promises.attacks.judge import SAFE_HARBOR_ANSWERS, assessed, command
from tests.promises.attacks.people import names, plain
from tests.promises.attacks.scenario import Draw, Scenario, Scenarios, Trial

SCENARIOS = Scenarios("Policies")
scenario = SCENARIOS.add
Make = Callable[[Draw], tuple[Any, Any]]
"""The released values and the truth that the attacker reads from them."""
ROWS = 600


def _judged(release: pd.DataFrame, folder: Path, extra: str | None, role: str) -> str:
    release.to_csv(folder / "data.csv", index=False)
    lines = [
        "[roles]",
        'age = "quasi-identifier"',
        'sex = "quasi-identifier"',
        'disease = "sensitive"',
        *([f'"{extra}" = "{role}"'] if extra else []),
        "",
        SAFE_HARBOR_ANSWERS,
    ]
    (folder / "roles.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return command(
        "assess",
        "--person",
        "each record",
        folder / "data.csv",
        "--no-try",
        "--roles",
        folder / "roles.toml",
        "--policy",
        "hipaa-safe-harbor",
    ).verdict


@cache
def _control() -> str:
    """The same table without the column, under the same policy and answers."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return _judged(plain(ROWS), Path(folder), None, "")


def _item(
    name: str,
    release: str,
    column: str,
    make: Make,
    *,
    role: str = "insensitive",
    attacker: str = "reads the column",
    within: float = 0.0,
) -> None:
    """Safe Harbor with one more column, from which the attacker reads something of each person."""

    def run(draw: Draw, folder: Path) -> Trial:
        values, (read, true) = make(draw)
        table = plain(ROWS).assign(**{column: values})
        return Trial(equal(read, true, within), _judged(table, folder, column, role), control=_control())

    SCENARIOS.append(Scenario(SCENARIOS.group, f"safe harbor: {name}", release, attacker, 0.9, run))


def _is(make: Callable[[Draw], Any]) -> Make:
    """Values that are themselves what must not be released."""

    def made(draw: Draw) -> tuple[Any, Any]:
        values = list(make(draw))
        return values, (values, list(values))

    return made


def _ages(draw: Draw) -> np.ndarray:
    return np.where(np.arange(ROWS) % 20 == 0, draw.integers(91, 99, ROWS), draw.integers(20, 80, ROWS))


def _from_ages(written: Callable[[np.ndarray], Any], read: Callable[[Any], Any]) -> Make:
    def made(draw: Draw) -> tuple[Any, Any]:
        ages = _ages(draw)
        values = written(ages)
        old = ages > 89
        return values, (np.asarray(read(pd.Series(values)))[old], ages[old])

    return made


_ITALIAN = (
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
).split()
_item(
    "year of birth of people over 89",
    "The year of birth, also of people over 89",
    "birth_year",
    _from_ages(lambda a: 2026 - a, lambda v: 2026 - v),
    role="quasi-identifier",
    attacker="subtracts from the current year",
)
_item(
    "ages as text",
    "Ages written 92 years",
    "age_text",
    _from_ages(lambda a: [f"{n} years" for n in a], lambda v: v.str[:2].astype(int)),
    role="quasi-identifier",
)
_item(
    "bands over 89",
    "Ages in bands of five years, up to 95-99",
    "age_band",
    _from_ages(lambda a: [f"{n // 5 * 5}-{n // 5 * 5 + 4}" for n in a], lambda v: v.str[:2].astype(int) + 0),
    role="quasi-identifier",
    within=4,
    attacker="reads the band: the claim is one of its five years",
)
_item(
    "ages in months",
    "Ages in months, up to 1,190",
    "age_months",
    _from_ages(lambda a: a * 12, lambda v: v // 12),
    role="quasi-identifier",
    attacker="divides by twelve",
)
_item(
    "years since birth in another column",
    "Years since the birth, called yrs",
    "yrs_old",
    _from_ages(lambda a: a, lambda v: v),
    role="quasi-identifier",
)


def _days(
    written: Callable[[pd.DatetimeIndex], Any],
    read: Callable[[Any], Any],
    truth: Callable[[pd.DatetimeIndex], Any],
) -> Make:
    def made(draw: Draw) -> tuple[Any, Any]:
        days = pd.DatetimeIndex(
            pd.Timestamp("2025-01-01") + pd.to_timedelta(draw.integers(0, 365, ROWS), unit="D")
        )
        values = list(written(days))
        return values, (list(read(pd.Series(values))), list(truth(days)))

    return made


def _date(days: pd.DatetimeIndex) -> Any:
    return days.strftime("%Y-%m-%d")


_item(
    "epoch seconds",
    "The admission in seconds since 1970",
    "admitted",
    _days(
        lambda d: (d - pd.Timestamp("1970-01-01")) // pd.Timedelta(seconds=1),
        lambda v: pd.to_datetime(v, unit="s").dt.strftime("%Y-%m-%d"),
        _date,
    ),
)
_item(
    "year and month",
    "The admission as YYYYMM",
    "admission",
    _days(
        lambda d: d.strftime("%Y%m").astype(int), lambda v: v.astype(str).str[4:], lambda d: d.strftime("%m")
    ),
)
_item(
    "ISO weeks",
    "The admission as an ISO week",
    "admission_week",
    _days(lambda d: d.strftime("%G-W%V"), lambda v: v.str[-2:], lambda d: d.strftime("%V")),
)
_item(
    "names of months",
    "The month of the admission",
    "month_of_admission",
    _days(lambda d: d.strftime("%B"), lambda v: v, lambda d: d.strftime("%B")),
)
_item(
    "days of the year",
    "The day of the year of the discharge, 1 to 365",
    "discharge_day",
    _days(lambda d: d.day_of_year, lambda v: v, lambda d: d.day_of_year),
)
_item(
    "dates in words",
    "The date of the death, written 14 Mar 2025",
    "death",
    _days(
        lambda d: d.strftime("%d %b %Y"),
        lambda v: pd.to_datetime(v, format="%d %b %Y").dt.strftime("%Y-%m-%d"),
        _date,
    ),
)
_item(
    "days since 1900",
    "The admission as the serial number of a spreadsheet",
    "admit_serial",
    _days(
        lambda d: (d - pd.Timestamp("1899-12-30")).days,
        lambda v: (pd.Timestamp("1899-12-30") + pd.to_timedelta(v, unit="D")).dt.strftime("%Y-%m-%d"),
        _date,
    ),
)
_item(
    "quarters",
    "The quarter of the admission, 2025-Q3",
    "admission_quarter",
    _days(
        lambda d: [f"{one.year}-Q{one.quarter}" for one in d],
        lambda v: v.str[-1],
        lambda d: [str(one.quarter) for one in d],
    ),
)

_item(
    "dates inside of a remark",
    "Remarks such as: seen at 14:05 on 03/04/2025",
    "remark_code",
    _days(
        lambda d: d.strftime("seen at 14:05 on %m/%d/%Y"),
        lambda v: pd.to_datetime(v.str[-10:], format="%m/%d/%Y").dt.strftime("%Y-%m-%d"),
        _date,
    ),
)
_item(
    "compact timestamps",
    "The admission as 20250304T101500Z",
    "e",
    _days(
        lambda d: d.strftime("%Y%m%dT101500Z"),
        lambda v: pd.to_datetime(v.str[:8], format="%Y%m%d").dt.strftime("%Y-%m-%d"),
        _date,
    ),
)
_item(
    "fiscal weeks",
    "The admission as a week of a fiscal year, FY25W12",
    "fiscal",
    _days(lambda d: d.strftime("FY%yW%V"), lambda v: v.str[-2:], lambda d: d.strftime("%V")),
)
_item(
    "months in another language",
    "The month of the admission in Italian",
    "periodo",
    _days(
        lambda d: [_ITALIAN[one.month - 1] for one in d],
        lambda v: [_ITALIAN.index(one) + 1 for one in v],
        lambda d: d.month,
    ),
)
_item(
    "decades of ages",
    "Ages as decades, 90s among them",
    "age_group",
    _from_ages(lambda a: [f"{n // 10 * 10}s" for n in a], lambda v: v.str[:-1].astype(int)),
    role="quasi-identifier",
    within=9,
    attacker="reads the decade: the claim is one of ten years",
)


def _codes(pattern: str, low: int = 0, high: int = 10**9, repeat: int = 1) -> Make:
    def made(draw: Draw) -> Any:
        numbers = draw.integers(low, high, ROWS // repeat)
        return np.repeat([pattern.format(int(n)) for n in numbers], repeat)

    return _is(made)


def _words(*words: str) -> Make:
    return _is(lambda draw: draw.choice(words, ROWS))


_item("names of relatives", "The name of the mother", "mother", _is(lambda draw: names(draw, ROWS)))
_item(
    "employers",
    "The employer",
    "employer",
    _is(lambda draw: [f"{one.split()[1]} & Sons" for one in names(draw, ROWS)]),
)
_item(
    "names of physicians' patients",
    "The name in a column called contact",
    "contact",
    _is(lambda draw: names(draw, ROWS)),
)
_item(
    "county codes",
    "The county as a FIPS code",
    "fips",
    _is(lambda draw: [f"25{n:03d}" for n in draw.choice([1, 3, 5, 7, 9, 11, 13, 15, 17, 21], ROWS)]),
    role="quasi-identifier",
)
_item(
    "counties",
    "The county by name",
    "county",
    _words("Essex", "Suffolk", "Norfolk", "Middlesex", "Plymouth"),
    role="quasi-identifier",
)
_item("cities", "The city", "city", _words("Boston", "Salem", "Lynn", "Quincy"), role="quasi-identifier")
_item(
    "census tracts",
    "The census tract",
    "tract",
    _is(lambda draw: [f"2502500{n:04d}" for n in draw.integers(100, 140, ROWS)]),
    role="quasi-identifier",
)
_item(
    "five digits of the zip code",
    "The zip code with five digits",
    "zip",
    _words("02138", "02139", "02140", "02141"),
    role="quasi-identifier",
)
_item(
    "areas of few people",
    "The first three digits of zip codes, 036 among them",
    "zip3",
    _words("021", "036", "100"),
    role="quasi-identifier",
)
_item(
    "zip codes in a label",
    "The zip code, written Zone 02139",
    "catchment_zone",
    _words("Zone 02138", "Zone 02139", "Zone 02140"),
    role="quasi-identifier",
)
_item(
    "zip codes of a region",
    "The zip code in a column called region_code",
    "region_code",
    _words("10001", "94110", "60601", "30301"),
    role="quasi-identifier",
)
_item(
    "coordinates",
    "Latitude in degrees, with two decimals",
    "latitude",
    _is(lambda draw: draw.uniform(42, 43, ROWS).round(2)),
)
_item(
    "telephone numbers",
    "Telephone numbers as integers",
    "contact_no",
    _is(lambda draw: draw.integers(6_170_000_000, 6_179_999_999, ROWS)),
)
_item("fax numbers", "Fax numbers", "fax", _codes("(617) 555-{:04d}", 0, 10**4))
_item(
    "e-mail addresses",
    "E-mail addresses",
    "mail",
    _is(lambda draw: [f"{one.lower().replace(' ', '.')}@example.org" for one in names(draw, ROWS)]),
)
_item(
    "social security numbers",
    "Social security numbers without hyphens",
    "sn",
    _codes("{:09d}", 101_010_001, 665_999_999),
)
_item("last digits of social security numbers", "The last four digits", "last4", _codes("{:04d}", 0, 10**4))
_item(
    "record numbers",
    "Medical record numbers, each in three rows",
    "mrn",
    _codes("{:07d}", 10**6, 10**7, repeat=3),
)
_item(
    "health plan numbers",
    "Health plan beneficiary numbers",
    "beneficiary",
    _codes("1EG4-TE5-{:04d}", 0, 10**4),
)
_item("account numbers", "Account numbers", "account", _codes("ACC{:08d}", 0, 10**8))
_item("licence numbers", "Numbers of driving licences", "license_no", _codes("S{:08d}", 10**7, 10**8))
_item("vehicles", "License plates", "plate", _codes("{:03d} KLM", 100, 999))
_item(
    "vehicle identification numbers",
    "Vehicle identification numbers",
    "vin",
    _codes("1HGCM82633A{:06d}", 0, 10**6),
)
_item("devices", "Serial numbers of implants", "device_serial", _codes("SN-{:09d}"))
_item("web addresses", "Addresses of web pages", "homepage", _codes("http://example.org/~u{:d}"))
_item(
    "network addresses",
    "IP addresses",
    "ip",
    _is(lambda draw: [f"192.0.{a}.{b}" for a, b in draw.integers(1, 255, (ROWS, 2))]),
)
_item(
    "fingerprints",
    "Templates of fingerprints in Base64",
    "template",
    _is(lambda draw: [base64.b64encode(draw.bytes(48)).decode() for _ in range(ROWS)]),
)
_item("photographs", "Names of files of photographs", "photo", _codes("img/face_{:06d}.jpg", 0, 10**6))
_item(
    "other unique codes",
    "A hash of the social security number",
    "subject_key",
    _is(lambda draw: [hashlib.sha1(str(n).encode()).hexdigest() for n in draw.integers(0, 10**9, ROWS)]),
)


@scenario("knows the quasi-identifiers of a participant")
def classes_of_one_value_under_ema_0070(draw: Draw, folder: Path) -> Trial:
    """Twenty classes of 30 participants with one disease each, under ema-0070."""
    release = _disclosed()
    return Trial(_certain(release), assessed(release, policy="ema-0070", **_ROLES), chance=0.25)


@scenario("knows the quasi-identifiers of a participant")
def classes_of_one_value_under_hipaa_expert(draw: Draw, folder: Path) -> Trial:
    """Twenty classes of 30 participants with one disease each, under hipaa-expert."""
    release = _disclosed()
    return Trial(_certain(release), assessed(release, policy="hipaa-expert", **_ROLES), chance=0.25)


@scenario("knows the quasi-identifiers of a participant")
def classes_of_one_value_under_nist(draw: Draw, folder: Path) -> Trial:
    """Twenty classes of 30 participants with one disease each, under nist-800-188."""
    release = _disclosed()
    return Trial(_certain(release), assessed(release, policy="nist-800-188", **_ROLES), chance=0.25)


_ROLES = {"quasi_identifiers": ["site"], "sensitive": ["disease"]}


def _disclosed() -> pd.DataFrame:
    place = np.arange(ROWS) // 30
    return pd.DataFrame(
        {"site": [f"s{n}" for n in place], "disease": np.array(["HIV", "flu", "gout", "none"])[place % 4]}
    )


def _certain(release: pd.DataFrame) -> float:
    guess = release.groupby("site")["disease"].transform(lambda one: one.mode()[0])
    return equal(guess, release["disease"])
