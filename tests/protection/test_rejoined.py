"""Attributes apart that ranks or counts give back to their records: refused, or said by how much."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import RoleError
from crypsis.protection import MAX_REJOINED, rejoined

ROWS = 1_000
ROLES = {"quasi_identifiers": ["age", "grade"], "sensitive": ["pay", "ill"], "person": "each record"}


def people(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    names = np.array(["G" + letter for letter in "hcafbegd"])
    grade = rng.integers(0, 8, ROWS)
    return {
        "age": rng.integers(20, 60, ROWS),
        "grade": names[grade],
        "number": grade,
        "pay": rng.normal(50_000, 9_000, ROWS).round(),
        "ill": rng.choice(["flu", "gout", "none"], ROWS),
    }


def table(data: dict[str, np.ndarray]) -> pa.Table:
    return pa.table({name: values for name, values in data.items() if name != "number"})


def sorted_again(groups: np.ndarray, pay: np.ndarray) -> float:
    """The intruder: the sorted values to the records in the order of the groups' mean pay."""
    means = {group: pay[groups == group].mean() for group in set(groups.tolist())}
    records = np.argsort([means[group] for group in groups.tolist()], kind="stable")
    return float((groups[records] == groups[np.argsort(pay)]).mean())


def dependent(shape: str) -> dict[str, np.ndarray]:
    data, rng = people(), np.random.default_rng(1)
    grade, age = data["number"], data["age"]
    if shape == "pay by grade":
        data["pay"] = (20_000 + 8_000 * grade + rng.normal(0, 2_000, ROWS)).round()
    elif shape == "less pay by grade":
        data["pay"] = (90_000 / (1 + grade) + rng.normal(0, 300, ROWS)).round()
    elif shape == "pay by age":
        data["pay"] = (20_000 + 3_000 * age + rng.normal(0, 600, ROWS)).round()
    elif shape == "pay by both":
        data["pay"] = (20_000 + 700 * age + 30_000 * grade + rng.normal(0, 99, ROWS)).round()
    elif shape == "dates by grade":
        days = 3_000 + 500 * grade + rng.integers(0, 300, ROWS)
        data["pay"] = days.astype("datetime64[D]")
    elif shape == "bands by grade":
        bands = np.array(["low", "some", "mid", "more", "high", "top", "best", "most"])
        data["pay"] = np.where(rng.random(ROWS) < 0.95, bands[grade], "mid")
    elif shape == "codes as frequent as grades":
        number = np.repeat(np.arange(8), [60, 80, 100, 120, 135, 150, 165, 190])
        data["grade"] = np.array([f"G{code}" for code in number])
        data["pay"] = np.array([f"D{code}" for code in rng.permutation(8)[number]])
    return data


SHAPES = [
    "pay by grade",
    "less pay by grade",
    "pay by age",
    "pay by both",
    "dates by grade",
    "bands by grade",
    "codes as frequent as grades",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_values_that_find_their_records_again_are_refused(shape: str) -> None:
    data = dependent(shape)
    if shape.endswith("pay by grade"):
        assert sorted_again(data["grade"], data["pay"]) > 0.8
    with pytest.raises(RoleError, match="would be joined again") as refused:
        cr.anonymize(table(data), k=5, apart=["pay"], seed=1, **ROLES)
    assert refused.value.code == "rejoined"
    release = cr.Dataset.from_frame(table(data).select(["age", "grade", "ill"]))
    original = cr.Dataset.from_frame(table(data))
    (result,) = rejoined(original, release, [["pay"]], None)
    assert result.gain > MAX_REJOINED


@pytest.mark.parametrize("together", [False, True])
def test_files_apart_are_tried_against_each_other(together: bool) -> None:
    data = people()
    data["tax"] = (0.3 * data["pay"] + np.random.default_rng(2).normal(0, 20, ROWS)).round()
    roles = {**ROLES, "sensitive": ["pay", "ill", "tax"]}
    if together:  # in one file their association is released on purpose
        assert cr.anonymize(table(data), k=5, apart=[("pay", "tax")], seed=1, **roles).apart
        return
    with pytest.raises(RoleError, match="would be joined again"):
        cr.anonymize(table(data), k=5, apart=["pay", "tax"], seed=1, **roles)


@pytest.mark.parametrize("seed", range(5))
def test_what_depends_on_nothing_stays_apart(seed: int) -> None:
    """No share is far from chance: 0.015 is a standard deviation, and the worst of four counts."""
    made = cr.anonymize(table(people(seed)), k=5, apart=["pay", "ill"], seed=1, **ROLES)
    assert {result.attribute for result in made.rejoined} == {"pay", "ill"}
    for result in made.rejoined:
        assert abs(result.share - result.chance) < 0.08


def test_less_is_said_by_how_much() -> None:
    """A weak dependence is no reason to refuse; the statement has its number, and no value."""
    data, rng = people(), np.random.default_rng(3)
    data["pay"] = (20_000 + 3_000 * data["number"] + rng.normal(0, 6_000, ROWS)).round()
    made = cr.anonymize(table(data), k=5, apart=["pay"], seed=1, **ROLES)
    (result,) = made.rejoined
    assert 0.05 < result.gain < MAX_REJOINED
    assert result.share == pytest.approx(sorted_again(data["grade"], data["pay"]), abs=0.08)
    text = made.statement.to_markdown()
    assert str(result) in text
    assert str(result) in str(made)
    assert "nothing connects" not in text


def test_an_assessment_with_the_original_says_it_too() -> None:
    data = table(dependent("pay by grade"))
    release = data.select(["age", "grade", "ill"])
    known = {"quasi_identifiers": ["age", "grade"], "sensitive": ["ill"]}
    original = cr.Dataset.from_frame(data, quasi_identifiers=["age", "grade"], sensitive=["pay", "ill"])
    apart = cr.Dataset.from_frame(data.select(["pay"]), sensitive=["pay"])
    found = cr.assess(release, original=original, together=apart, **known)
    links = [one for one in found.findings if one.measure == "linkage.correct_links_above_chance"]
    assert [one.status.value for one in links] == ["exceeded"]
    assert any("gives" in one.statement and "'pay'" in one.statement for one in links)
