"""What itpr2019 prints: its small data sets and the values of Tables 4, 5 and 7."""

from __future__ import annotations

import pyarrow as pa

FIRST = [
    (35510, 21, "Asthma"),
    (35591, 42, "HIV"),
    (35593, 47, "Asthma"),
    (35210, 38, "Diabetes"),
    (35273, 32, "HIV"),
    (35517, 20, "Diabetes"),
    (35599, 49, "Diabetes"),
    (35262, 33, "Asthma"),
    (35511, 26, "HIV"),
]
"""Table 1(a): zip code, age, disease."""
SECOND = [
    *FIRST,
    (35212, 39, "Diabetes"),
    (35281, 32, "Diabetes"),
    (35596, 41, "Diabetes"),
    (35592, 46, "Diabetes"),
    (35515, 23, "Diabetes"),
    (35511, 26, "Diabetes"),
]
"""Table 2(a)."""
FIRST_GROUP = ("Asthma", "Diabetes", "HIV")
SECOND_GROUP = ("Asthma", "Diabetes", "Diabetes", "Diabetes", "HIV")
"""Tables 1(b) and 2(b): the diseases of each of the three groups, in alphabetical order."""
AGES = {
    1: (30, 62, 37, 21, 19, 47, 71, 73),
    2: (30,) * 8,
    3: (30, 30, 30, 47, 30, 30, 30, 30),
    4: (30, 30, 30, 47, 30, 47, 30, 30),
    5: (30, 30, 30, 30, 47, 47, 47, 47),
}
"""Table 3, the cases of the age."""
DISEASES = {
    1: "Diabetes Epilepsy Asthma Allergies Depression HIV Heart Cancer".split(),
    2: "Diabetes Diabetes Epilepsy Depression HIV Heart Cancer Allergies".split(),
    3: "Diabetes Diabetes Diabetes Diabetes Diabetes HIV Asthma Allergies".split(),
}
"""Table 3, the cases of the disease."""
ZIP_CODES = {1: (35000,) * 3 + (35510,) * 5, 2: (35000,) * 3 + (35510,) * 3 + (35200,) * 2}
"""Table 6."""
METRICS = ("DR", "MI", "CP", "MIL", "ELD")
TABLE_4 = {
    "re-identification, age 1": ("1.0", "3.0", "0.875", "3.0", "1.0"),
    "re-identification, age 2": ("0.0", "0.0", "0.0", "0.0", "0.125"),
    "re-identification, age 3": ("0.18", "0.54", "0.31", "3.0", "1.0"),
    "re-identification, age 4": ("0.27", "0.81", "0.43", "2.75", "0.5"),
    "re-identification, age 5": ("0.33", "1.0", "0.5", "2.0", "0.25"),
    "inference, disease 1": ("0.33", "1.0", "0.5", "2.0", "0.25"),
    "inference, disease 2": ("0.36", "1.0", "0.5", "1.0", "0.35"),
    "inference, disease 3": ("0.35", "0.54", "0.31", "1.0", "1.0"),
}
TABLE_5 = ("1.0", "0.0", "1.0", "0.83", "0.33", "0.6", "0.75", "0.33", "0.45", "1.0")
TABLE_7 = {
    "DR": ("✗", "(✓)"),
    "MI": ("✗", "(✓)"),
    "CP": ("✗", "(✓)"),
    "MIL": ("(✓)", "✗"),
    "ELD": ("(✓)", "✗"),
    "ITPR": ("✓", "✓"),
}


def table_of(row: str) -> tuple[pa.Table, str]:
    """The data set of a row of Table 4, and which column is the target."""
    kind, case = row.rsplit(" ", 1)
    if kind.startswith("re-identification"):
        return pa.table({"id": range(8), "age": AGES[int(case)]}), "id"
    return pa.table({"age": AGES[5], "disease": DISEASES[int(case)]}), "disease"


def anonymized(rows: list[tuple[int, int, str]]) -> pa.Table:
    """Tables 1(b) and 2(b): three or four digits of the zip code, one of the age."""
    digits = [f"{str(code)[: 3 if str(code)[2] == '2' else 4]}*" for code, _, _ in rows]
    ages = [f"{age // 10}*" for _, age, _ in rows]
    return pa.table({"zip": digits, "age": ages, "disease": [disease for *_, disease in rows]})
