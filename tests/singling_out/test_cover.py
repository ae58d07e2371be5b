"""Generalized releases against the table of their population, by brute force."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ColumnError, RequirementsNotMetError
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.cover import covered

QI = ["age", "zip", "day", "job"]


def everyone(n: int = 3_000) -> pa.Table:
    rng = np.random.default_rng(5)
    first = datetime.date(1950, 1, 1)
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "zip": [f"{z:05d}" for z in rng.integers(0, 40, n) * 331],
            "day": [first + datetime.timedelta(int(d)) for d in rng.integers(0, 9_000, n)],
            "job": rng.choice(["clerk", "cook", "judge", "nurse", "baker"], n),
        }
    )


def fits(label: Any, value: Any) -> bool:
    """Whether a person with this value may be in a record with this label; written anew."""
    if label is None:
        return True
    text = str(label)
    if isinstance(value, datetime.date):
        half, quarter = (value.month + 5) // 6, (value.month + 2) // 3
        names = {
            value.isoformat(),
            f"{value:%Y-%m}",
            f"{value.year}-Q{quarter}",
            f"{value.year}-H{half}",
            str(value.year),
            f"{value.year // 10 * 10}s",
        }
        years = re.fullmatch(r"(\d{4})-(\d{4})", text)
        return text in names or (years is not None and int(years[1]) <= value.year <= int(years[2]))
    if isinstance(value, int):
        if found := re.fullmatch(r"(\d+)-(\d+)", text):
            return int(found[1]) <= value <= int(found[2])
        if text[:2] in ("<=", ">="):
            return value <= int(text[2:]) if text[0] == "<" else value >= int(text[2:])
        return text == str(value)
    return value.startswith(text.rstrip("*")) if "*" in text else text in (value, "other")


@pytest.mark.parametrize("recoding", ["local", "full-domain"])
def test_k_map_of_a_generalized_release_by_brute_force(recoding: Any) -> None:
    people = everyone()
    sample = people.slice(0, 120)
    made = cr.anonymize(
        sample, k=3, recoding=recoding, methods={"job": "keep"}, quasi_identifiers=QI, person="each record"
    )
    released = made.frame.to_pylist()
    persons = people.to_pylist()
    counts = [
        sum(all(fits(row[name], person[name]) for name in QI) for person in persons)
        for row in {tuple(row.items()): row for row in released}.values()
    ]
    found = cr.singling_out.delta_presence(made.frame, QI, population=people)
    assert found.k_map == min(counts)
    assert found.unmatched == 0
    data = cr.Dataset.from_frame(made.frame, quasi_identifiers=QI, population=people, person="each record")
    sizes = cr.singling_out.population_class_sizes(data, QI)
    assert sorted(sizes.tolist()) == sorted(counts)
    risk = cr.singling_out.reidentification_risk(data)
    assert risk.journalist.maximum == pytest.approx(1 / min(counts))


def test_a_node_of_a_hierarchy_covers_its_values() -> None:
    tree = Hierarchy([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "gut", "*")])
    found = covered(["lung", "ulcer", "*"], ["flu", "cold", "ulcer"], tree)
    assert found.astype(int).tolist() == [[1, 1, 0], [0, 0, 1], [1, 1, 1]]


def test_a_label_of_unknown_meaning_covers_nobody() -> None:
    values = ["cook", "judge", "nurse", None]
    found = covered(["cook", "(other)", "all", "health", 7], values)
    assert found.astype(int).tolist() == [
        [1, 0, 0, 0],
        [0, 1, 1, 0],
        [1, 1, 1, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ]
    assert not covered([99, 30.5], [30, 41.0]).any()


def test_numbers_as_text_are_compared_with_numbers() -> None:
    release = pa.table({"age": ["30", "41", "41"]})
    found = cr.singling_out.delta_presence(release, ["age"], population=pa.table({"age": [30, 41, 41, 52]}))
    assert (found.k_map, found.unmatched, found.low) == (1, 0, 0.0)


def test_years_are_compared_with_dates_and_other_numbers_are_refused() -> None:
    release = pa.table({"born": [1950, 1951]})
    days = [datetime.date(1950, 3, 1), datetime.date(1950, 4, 1), datetime.date(1951, 1, 1)]
    found = cr.singling_out.delta_presence(release, ["born"], population=pa.table({"born": days}))
    assert (found.k_map, found.unmatched) == (1, 0)
    with pytest.raises(ColumnError, match="type int64 in one table and of type"):
        cr.singling_out.delta_presence(release, ["born"], population=pa.table({"born": ["1950", "of old"]}))


def test_a_population_requirement_that_is_missed_is_refused() -> None:
    """Skewed: most people share a cell, and the others have cells of their own."""
    rng = np.random.default_rng(1)
    people = pa.table({"a": rng.zipf(1.5, 5_000).clip(0, 400), "b": rng.zipf(1.5, 5_000).clip(0, 400)})
    sample = people.slice(0, 1_000)
    known: dict[str, Any] = {"quasi_identifiers": ["a", "b"], "methods": {"a": "keep", "b": "keep"}}
    for population in (people, 5_000):
        with pytest.raises(RequirementsNotMetError, match="people in the population"):
            cr.anonymize(
                sample, k=20, population=population, domains={"a": 2, "b": 2}, **known, person="each record"
            )
