"""The verdict in one sentence about people, and the columns that cause it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.report.explanation import people
from crypsis.results import Estimate


def _assess(table: dict[str, Any], **options: Any) -> cr.Assessment:
    return cr.assess(pa.table(table), **{"person": "each record", **options})


def test_not_safe_counts_people_and_names_columns() -> None:
    n = 60
    found = _assess(
        {
            "patient_id": [f"P{i:04d}" for i in range(n)],
            "birth_date": [f"1950-{1 + i // 10:02d}-{1 + i % 10:02d}" for i in range(n)],
            "sex": ["f", "m"] * (n // 2),
            "diagnosis": ["flu", "gout", "asthma"] * (n // 3),
        },
        identifiers=["patient_id"],
        quasi_identifiers=["birth_date", "sex"],
        sensitive=["diagnosis"],
    )
    assert found.explanation.startswith(
        "Not safe: all 60 patients can be singled out by birth_date and sex; 1 column identifies "
        "patients directly; 'diagnosis' "
    )
    assert found.causes == ["'birth_date' alone makes 100 % of the records unique."]
    assert found.explanation in str(found).replace("\n", " ")
    assert "Not safe: all 60 patients" in found.to_markdown()


def test_columns_together_are_to_blame() -> None:
    found = _assess(
        {"row": [i // 8 for i in range(64)], "column": [i % 8 for i in range(64)]},
        quasi_identifiers=["row", "column"],
    )
    assert found.explanation == (
        "Not safe: the people of all 64 records can be singled out by row and column."
    )
    assert found.causes == [
        "No single column is to blame: 'row' and 'column' together make 100 % of the records "
        "unique; none of them makes a record unique alone."
    ]


def test_small_classes_without_a_unique_record() -> None:
    found = _assess({"age": [30] * 3 + [40] * 50}, quasi_identifiers=["age"])
    assert found.explanation == (
        "Not safe: the people of 3 of 53 records share age with fewer than 4 others."
    )
    assert found.causes == []


def test_safe_names_what_was_not_asked() -> None:
    found = _assess({"age": [30] * 20 + [40] * 20}, quasi_identifiers=["age"])
    assert found.verdict.value == "safe"
    assert found.explanation == (
        "Safe under this policy: each record shares age with at least 19 others; not asked: "
        "inference, linkage and pseudonyms."
    )


def test_cannot_tell_names_the_first_reason_in_words() -> None:
    found = _assess({"age": [30] * 40, "V1": [1] * 20 + [2] * 20}, quasi_identifiers=["age"])
    assert found.explanation.startswith("Cannot tell whether it is safe: 1 column is undecided")
    assert all("singling_out." not in one.text for one in found.reasons)


def test_patients_are_counted_once_however_many_records_they_have() -> None:
    n = 40
    found = _assess(
        {
            "patient": [f"P{i // 3:04d}" for i in range(3 * n)],
            "day": [f"2020-01-{1 + i % 28:02d} {i:03d}" for i in range(3 * n)],
            "ill": ["flu", "gout", "asthma"] * n,
        },
        identifiers=["patient"],
        quasi_identifiers=["day"],
        sensitive=["ill"],
        person="patient",
    )
    assert found.explanation.startswith("Not safe: all 40 patients can be singled out by day;")
    assert found.explanation.endswith("the patients of all 120 records.")
    assert "40 of 40 people (100 %)" in found.answer("singling_out").headline  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("count", "unit", "text"),
    [
        (5, "records", "the people of all 5 records"),
        (1, "people", "1 of 5 people"),
        (Estimate(2.0, 1.0, 3.0, 0.95, ""), "people", "40 % of 5 people"),
    ],
)
def test_how_many_people(count: Any, unit: str, text: str) -> None:
    found = _assess({"age": [30] * 5}, quasi_identifiers=["age"])
    assert people(found, count, 5, unit) == text
