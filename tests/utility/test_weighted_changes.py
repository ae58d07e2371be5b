"""The change of a column in the population, by the weights; and with missing values as wildcards."""

from __future__ import annotations

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import utility

BEFORE = pa.table({"a": ["x", "x", "y", "y"], "w": [1.0, 1.0, 1.0, 7.0]})
AFTER = pa.table({"a": ["x", "x", "y", None], "w": [1.0, 1.0, 1.0, 7.0]})


def test_the_distance_by_weights_is_that_of_the_population() -> None:
    pair = [cr.Dataset.from_frame(one, weight="w") for one in (BEFORE, AFTER)]
    (change,) = utility.column_changes(*pair, ["a"]).columns
    assert change.distance == pytest.approx(1 / 4)
    assert change.weighted_distance == pytest.approx(7 / 10)
    (plain,) = utility.column_changes(BEFORE, AFTER, ["a"]).columns
    assert plain.weighted_distance is None


def test_missing_values_that_match_every_value_are_a_value_here() -> None:
    pair = [cr.Dataset.from_frame(one, missing="wildcard") for one in (BEFORE, AFTER)]
    (change,) = utility.column_changes(*pair, ["a"]).columns
    (plain,) = utility.column_changes(BEFORE, AFTER, ["a"]).columns
    assert change == plain


def test_a_release_has_it_with_its_weights() -> None:
    made = cr.anonymize(
        BEFORE, k=2, quasi_identifiers=["a"], insensitive=["w"], weight="w", seed=1, person="each record"
    )
    assert [one.weighted_distance for one in made.utility.columns if one.column == "a"] == [0.0]
