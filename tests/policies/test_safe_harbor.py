"""HIPAA Safe Harbor: every constructed violation is caught, every compliant table is safe.

Each case is a column that is added to a compliant table, whose columns are all decided: the role of
the added column is one that hides what it is. 45 CFR 164.514(b)(2)(i), items (A) to (R).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.dataset import ColumnNote
from crypsis.policies import load_policy
from crypsis.policies.findings import Status, Verdict

ROWS = 60
ANSWERS = {one.item: "checked by N.N., 2026-11-01" for one in load_policy("hipaa-safe-harbor").checklist}
PEOPLE = [
    "Ann Smith",
    "Bob Jones",
    "Carla Diaz",
    "Dan Brown",
    "Eva Long",
    "Finn Roe",
    "Gil Poe",
    "Hal Dunn",
    "Ida West",
    "Jon Park",
    "Kim Lowe",
    "Lea Ford",
]
TODAY = date.today().year


def cycle(values: Any, rows: int = ROWS) -> list[Any]:
    return [values[i % len(values)] for i in range(rows)]


def numbered(pattern: str) -> list[str]:
    return [pattern.format(i=i, j=1000 + 37 * i) for i in range(ROWS)]


DAYS = [date(2019, 1, 5) + timedelta(days=11 * i) for i in range(ROWS)]

VIOLATIONS: dict[str, tuple[str, list[Any]]] = {
    # (A) names of the person, relatives, employers, household members
    "names": ("full_name", [f"{PEOPLE[i % 12]} {chr(65 + i % 26)}" for i in range(ROWS)]),
    "names in a neutral column": ("v7", cycle(PEOPLE)),
    "surname, given name": ("who", [f"{p.split()[1]}, {p.split()[0]}" for p in cycle(PEOPLE)]),
    "employer": ("employer", cycle(["Acme Inc", "Globex Corp", "Initech LLC", "Bert's Garage"])),
    "employer without a suffix": ("workplace", cycle(["Walmart", "Amazon", "Target", "Kroger"])),
    "company names by value": ("field_3", cycle(["Acme Inc", "Globex Corp", "Initech LLC"])),
    "mother's name": ("mother", cycle(["Mary Hill", "Anne Lake", "Rose Ward", "June Bell"])),
    "spouse": ("spouse_name", cycle(["Mary", "Anne", "Rose", "June"])),
    "next of kin": ("next_of_kin", cycle(["Mary Hill", "Anne Lake", "Rose Ward"])),
    "emergency contact": ("emergency_contact", cycle(["Mary Hill", "Anne Lake", "Rose Ward"])),
    # (B) geographic subdivisions smaller than a state
    "county codes": ("area", cycle([6037, 6073, 36061, 17031, 48201, 4013, 12086, 53033, 6059])),
    "county codes by name": ("county_fips", cycle([37, 73, 61, 31])),
    "county names": ("region", cycle(["Kings County", "Cook County", "Harris County"])),
    "city names": ("loc", cycle(["Boston", "Denver", "Austin", "Fresno", "Omaha"])),
    "city column": ("city", cycle(["Smallville", "Elmwood", "Oakdale"])),
    "city and state": ("place_code", cycle(["Elmwood, TX", "Oakdale, CA", "Riverton, UT"])),
    "five-digit postal codes": ("zip", cycle(["94110", "10025", "60614", "77002"])),
    "postal codes as numbers": ("zip_code", cycle([94110, 10025, 60614, 2139])),
    "nine-digit postal codes": ("x4", cycle(["94110-1234", "10025-4321", "60614-1111"])),
    "small three-digit area": ("zip3", cycle(["941", "100", "036", "606"])),
    "small area as a number": ("zip3", cycle([941, 100, 36, 606])),
    "street addresses": ("line1", numbered("{i} Main Street")),
    "coordinates": ("position", numbered("40.71{i:02d}, -74.00{i:02d}")),
    "latitude": ("latitude", [40.7 + i / 100 for i in range(ROWS)]),
    "census tract": ("geo", [6037101110 + 100 * i for i in range(ROWS)]),
    # (C) elements of dates, ages above 89
    "dates": ("admitted", DAYS),
    "timestamps": ("event", [datetime(2020, 1, 1) + timedelta(hours=31 * i) for i in range(ROWS)]),
    "dates as text": ("adm", [day.strftime("%m/%d/%Y") for day in DAYS]),
    "German dates": ("eintritt", [day.strftime("%d.%m.%Y") for day in DAYS]),
    "one date among years": ("seen", ["2019"] * (ROWS - 1) + ["2019-03-04"]),
    "YYYYMM": ("period", [day.year * 100 + day.month for day in DAYS]),
    "YYYY-MM": ("period", [day.strftime("%Y-%m") for day in DAYS]),
    "YYYYMMDD": ("x9", [int(day.strftime("%Y%m%d")) for day in DAYS]),
    "ISO weeks": ("wk", [f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02d}" for d in DAYS]),
    "weeks as numbers": ("v2", [d.isocalendar()[0] * 100 + d.isocalendar()[1] for d in DAYS]),
    "months": ("birth_month", cycle(list(range(1, 13)))),
    "month names": ("v3", cycle(["January", "March", "July", "October"])),
    "quarters": ("v4", cycle(["2020-Q1", "2020-Q2", "2020-Q3"])),
    "quarter numbers": ("discharge_quarter", cycle([1, 2, 3, 4])),
    "weekdays": ("v5", cycle(["Mon", "Tue", "Sat", "Sun"])),
    "day of the year": ("admit_doy", [1 + 5 * i for i in range(ROWS)]),
    "day of the month": ("admission_day", cycle(list(range(1, 29)))),
    "epoch seconds": ("created", [1_577_836_800 + 86_400 * i for i in range(ROWS)]),
    "epoch milliseconds": ("v6", [1_577_836_800_000 + 86_400_000 * i for i in range(ROWS)]),
    "season": ("v8", cycle(["Spring 2020", "Winter 2021"])),
    "time of day": ("v9", numbered("10:{i:02d}")),
    "month and year": ("v10", cycle(["Jan 2020", "Mar 2020", "Jul 2021"])),
    "ages above 89": ("age", cycle([34, 67, 92, 45])),
    "ages under another name": ("yrs_old", cycle([34, 67, 92, 45])),
    "ages with a unit": ("age_text", cycle(["34 years", "67 years", "92 years"])),
    "ages with a unit in a neutral column": ("v11", cycle(["34 years", "92 years old"])),
    "age bands above 89": ("age_group", cycle(["80-84", "85-89", "90-94", "95-99"])),
    "age band across 89": ("ageband", cycle(["65-74", "75-84", "85-94"])),
    "open band at 95": ("age_cat", cycle(["70-79", "80-94", "95+"])),
    "ages in months": ("age_months", cycle([400, 800, 1105])),
    "birth years of ages above 89": ("birth_year", cycle([1950, 1970, TODAY - 96])),
    "birth year by abbreviation": ("yob", cycle([1950, 1970, TODAY - 93])),
    "birth year bands": ("birth_cohort_year_of_birth", cycle(["1920-1929", "1950-1959"])),
    "ages in words": ("age", cycle(["thirty", "forty-two", "ninety-three"])),
    "decades of ages": ("age_group", cycle(["70s", "80s", "90s", "100s"])),
    "a word for an old person": ("v25", cycle(["octogenarian", "nonagenarian"])),
    "years since birth": ("years_since_birth", cycle([34, 67, 96])),
    "birth years of two digits": ("yob", cycle(["55", "80", "12"])),
    "names of generations": ("generation", cycle(["Greatest (1901-1927)", "Boomer (1946-1964)"])),
    "compact timestamps": ("v26", [day.strftime("%Y%m%dT101500Z") for day in DAYS]),
    "a date inside of a text": ("v27", ["seen early"] * (ROWS - 1) + ["seen at 14:05 on 3/4/2023"]),
    "fiscal weeks": ("fiscal", cycle(["FY23W12", "FY23W13", "FY24W01"])),
    "fiscal quarters": ("v28", cycle(["FY23Q1", "FY23Q2", "FY24Q3"])),
    "Italian months": ("v29", cycle(["gennaio", "febbraio", "marzo"])),
    "Polish months": ("v30", cycle(["styczeń", "luty", "marzec"])),
    "Portuguese months": ("v31", cycle(["janeiro", "fevereiro", "março"])),
    "Austrian months": ("v32", cycle(["Jänner", "Feber", "März"])),
    "Chinese months": ("v33", cycle(["2023年3月", "2023年4月", "2022年12月"])),
    "another calendar": ("v34", cycle(["12 Ramadan 1444", "3 Shawwal 1444"])),
    "month and day": ("v35", cycle(["3/1", "4/2", "12/24", "7/15"])),
    "month and day packed": ("v36", [f"{1 + i % 12:02d}{1 + i % 28:02d}" for i in range(ROWS)]),
    "labeled postal codes": ("catch", cycle(["Zone 02139", "ZIP 10027"])),
    "postal codes of a region": ("region_code", cycle(["94110", "10025", "60614"])),
    "small areas of a region": ("area3", cycle(["036", "059", "021"])),
    "area codes": ("area_code", cycle([617, 212, 203])),
    "plus codes": ("loc", cycle(["87JC9VXX+XX", "87G8Q2PQ+VG"])),
    "cells of a grid": ("v37", cycle(["872a10089ffffff", "872a100d6ffffff"])),
    "last digits": ("last4", [f"{(7919 * i) % 10_000:04d}" for i in range(ROWS)]),
    "initials": ("v38", cycle(["J.S.", "A.B.", "M.K.", "R.T."])),
    "genomes": ("v39", ["".join("ACGT"[(i * 7 + j * j) % 4] for j in range(40)) for i in range(ROWS)]),
    "supervisors": ("supervisor", cycle(["Kim", "Lee", "Patel", "Olsen"])),
    # (D), (E) telephone and fax
    "telephone": ("phone", numbered("(415) 555-{j:04d}")),
    "telephone as numbers": ("contact_no", [4_155_550_000 + 37 * i for i in range(ROWS)]),
    "telephone in a neutral column": ("v12", [4_155_550_000 + 37 * i for i in range(ROWS)]),
    "telephone as fractions": ("v13", [4_155_550_000.0 + 37 * i for i in range(ROWS)]),
    "fax": ("fax", numbered("415555{j:04d}")),
    # (F) to (R)
    "one e-mail address": ("v14", ["none"] * (ROWS - 1) + ["ann@example.org"]),
    "social security numbers": ("v15", numbered("900-12-{j:04d}")),
    "social security numbers as numbers": ("ssn", [900_121_000 + 37 * i for i in range(ROWS)]),
    "medical record numbers": ("mrn", [100_000 + 7 * i for i in range(ROWS)]),
    "repeated record numbers": ("patient_no", cycle([1204, 1377, 1501, 1699, 1722, 1804])),
    "repeated record numbers, few": ("chart_number", cycle(["A-17", "A-18", "B-02"])),
    "repeated record codes by value": ("v16", cycle([f"MR{100017 + 7 * i}" for i in range(12)])),
    "repeated numbers by value": ("v17", cycle([7_100_017 + 7 * i for i in range(12)])),
    "health plan": ("member_id", numbered("H{j:06d}")),
    "accounts": ("iban", numbered("DE89 3704 0044 0532 01{i:02d} 00")),
    "licences": ("drivers_license", numbered("D{j:07d}")),
    "vehicles": ("v18", numbered("1HGCM82633A0{j:05d}")),
    "devices": ("v19", numbered("00:1A:2B:3C:4D:{i:02d}")),
    "implant serial numbers": ("device_serial_no", numbered("SN-{j:06d}")),
    "web addresses": ("v20", ["none"] * (ROWS - 1) + ["https://example.org/ann"]),
    "IP addresses": ("v21", numbered("10.0.0.{i}")),
    "fingerprints": ("fingerprint", numbered("f{j:05d}")),
    "photographs": ("v22", numbered("img_{i}.jpg")),
    "unique codes": ("v23", numbered("00000000-0000-4000-8000-0000000{j:05d}")),
    "hashed e-mail addresses": ("v24", numbered("{j:032x}")),
}

COMPLIANT: dict[str, dict[str, list[Any]]] = {
    "only years": {"admission_year": cycle([2018, 2019, 2020]), "birth_year": cycle([1950, 1970])},
    "years as dates of January": {"admission": [date(2015 + i % 6, 1, 1) for i in range(ROWS)]},
    "three digits": {"zip": cycle(["941", "100", "606", "000"])},
    "three digits and stars": {"zip": cycle(["941**", "100**", "021**"])},
    "three digits as numbers": {"zip3": cycle([941, 100, 21, 0])},
    "ages to 90": {"age": cycle([34, 67, 89, 90])},
    "age bands": {"age_group": cycle(["18-24", "65-74", "80-89", "90+"])},
    "age bands in words": {"age_group": cycle(["under 18", "18-64", "90 and older"])},
    "a top band at 85": {"ageband": cycle(["65-74", "75-84", "85+"])},
    "measured at birth": {
        "birth_weight_g": [1500 + 37 * i for i in range(ROWS)],
        "birth_order": cycle([1, 2, 3]),
    },
    "a census of beds": {"icu_census": cycle(list(range(5, 30)))},
    "fractions": {"visual_acuity": cycle(["6/6", "6/9", "6/12"]), "grade": cycle(["1/3", "2/3"])},
    "codes of drugs": {"ndc": cycle(["00093-7214-01", "00071-0155-23", "68180-0980-03"])},
    "decades of ages to 80": {"age_group": cycle(["60s", "70s", "80s"])},
    "birth years of two digits": {"yob": cycle(["55", "80", "71"])},
    "cohorts of a study": {"cohort": cycle([2015, 2018, 2021])},
    "procedure codes": {"cpt_code": cycle(["99213", "99214", "93000"])},
    "states and regions": {
        "state": cycle(["CA", "NY", "TX", "UT", "OR"]),
        "region": cycle(["Northeast", "South", "West"]),
    },
    "stays and durations": {
        "time_in_hospital": cycle([1, 2, 3, 9]),
        "los_days": cycle([2, 30, 41]),
        "days_since_admission": cycle([0, 3, 12]),
        "age_at_onset": cycle([20, 40, 61]),
    },
    "codes of diseases and procedures": {
        "diagnosis_code": cycle(["E11.9", "I10", "J45.20", "M54.5"]),
        "cpt_code": cycle(["99213", "99214", "93000"]),
        "drg": cycle([470, 871, 291]),
    },
    "flags and categories": {
        "admitted": cycle(["yes", "no"]),
        "phone_type": cycle(["m", "l"]),
        "employer_type": cycle(["private", "public"]),
        "discharge_disposition": cycle(["home", "nursing", "died"]),
        "married": cycle(["yes", "no", "unknown"]),
    },
    "measurements": {
        "glucose": [4.0 + i / 17 for i in range(ROWS)],
        "charges": [1200 + 331 * i for i in range(ROWS)],
        "systolic_bp": cycle([110, 120, 131, 145]),
    },
    "birth years with an open end": {"birth_year": cycle([f"before {TODAY - 89}", "1950", "1970"])},
    "occupation": {
        "occupation": cycle(["cook", "clerk", "nurse"]),
        "employment_status": cycle(["employed", "retired"]),
    },
}


def base() -> dict[str, list[Any]]:
    return {"sex": cycle(["f", "m"]), "disease": cycle(["flu", "gout", "none"])}


def assessed(columns: dict[str, list[Any]], answers: Any = None, **more: Any) -> Any:
    table = pa.table(columns)
    roles = dict.fromkeys(table.column_names, "insensitive")
    roles |= {"sex": "quasi-identifier", "disease": "sensitive"} | more.pop("roles", {})
    data = cr.Dataset.from_frame(table).with_roles(roles, more.pop("notes", None))
    return cr.assess(
        data,
        policy="hipaa-safe-harbor",
        answers=ANSWERS if answers is None else answers,
        **more,
        person="each record",
    )


def test_there_are_enough_cases() -> None:
    assert len(VIOLATIONS) >= 36
    assert len(COMPLIANT) >= 12


@pytest.fixture(scope="module")
def caught() -> dict[str, list[str]]:
    """The measures that name the column of each violation: tables of violations, assessed once."""
    found: dict[str, list[str]] = {}
    left = dict(VIOLATIONS)
    while left:
        table: dict[str, str] = {}
        for case, (name, _) in left.items():
            table.setdefault(name, case)
        result = assessed(base() | {name: VIOLATIONS[case][1] for name, case in table.items()})
        assert result.verdict is Verdict.NOT_SAFE
        for name, case in table.items():
            found[case] = [one.measure for one in result.exceeded if name in one.columns]
            del left[case]
    return found


@pytest.mark.parametrize("case", VIOLATIONS)
def test_a_violation_is_caught(case: str, caught: dict[str, list[str]]) -> None:
    """By the rule itself, not only by the evidence about the role: either alone is "not safe"."""
    rules = ("hipaa_identifiers", "geographic_subdivisions", "dates_finer_than_year", "ages_over_89")
    assert {f"columns.{rule}" for rule in rules} & set(caught[case])


@pytest.mark.parametrize("case", COMPLIANT)
def test_a_compliant_table_is_safe(case: str) -> None:
    found = assessed(base() | COMPLIANT[case])
    assert found.verdict is Verdict.SAFE, [one.statement for one in found.exceeded] + [*found.reasons]


def test_a_declared_identifier_is_one() -> None:
    found = assessed(base() | {"v1": cycle(["a", "b"])}, roles={"v1": "identifier"})
    assert found.verdict is Verdict.NOT_SAFE
    assert [one.measure for one in found.exceeded] == ["columns.hipaa_identifiers"]


def test_the_checklist_is_answered_by_the_owner() -> None:
    columns = base() | COMPLIANT["three digits"]
    found = assessed(columns, answers={})
    assert found.verdict is Verdict.CANNOT_TELL
    assert len(found.checklist) == 7
    assert [reason.code for reason in found.reasons] == ["checklist"] * 7
    some = dict(list(ANSWERS.items())[1:])
    assert assessed(columns, answers=some).verdict is Verdict.CANNOT_TELL
    assert assessed(columns).verdict is Verdict.SAFE
    assert "checked by N.N." in assessed(columns).to_markdown()
    assert "not answered" in found.to_html()
    without = assessed(base(), answers={})
    assert "three-digit" not in " ".join(one.item for one in without.checklist)


def test_a_written_reason_is_the_owners_decision_and_is_shown() -> None:
    columns = base() | {"study_code": numbered("S{j:05d}")}
    assert assessed(columns).verdict is Verdict.NOT_SAFE
    note = ColumnNote(override="Drawn at random, 45 CFR 164.514(c); checked by N.N.")
    found = assessed(columns, notes={"study_code": note})
    assert found.verdict is Verdict.SAFE
    assert "Drawn at random" in found.to_html()


def test_the_sentence_names_what_is_not_part_of_the_policy() -> None:
    found = assessed(base())
    assert found.statement == (
        "Safe to release under this policy; not part of this policy: singling out, inference, "
        "linkage, pseudonyms"
    )
    for text in (str(found), found.to_html(), found.to_markdown(), found.to_json()):
        assert "not part of this policy: singling out" in text


def test_areas_are_counted_in_the_population_where_it_is_given() -> None:
    people = pa.table({"zip": ["941"] * 20_001 + ["100"] * 20_000})
    columns = base() | {"zip": cycle(["941", "000"])}
    assert assessed(columns, population=people).verdict is Verdict.SAFE
    columns = base() | {"zip": cycle(["941", "100"])}
    found = assessed(columns, population=people)
    assert next(one for one in found.findings if "geographic" in one.measure).status is Status.EXCEEDED


def test_the_list_of_small_areas_is_that_of_the_guidance() -> None:
    from crypsis.columns.safe_harbor import SMALL_AREAS_2000

    policy = load_policy("hipaa-safe-harbor")
    assert policy.small_zip3 == SMALL_AREAS_2000
    assert "Census of 2000" in policy.small_zip3_source
