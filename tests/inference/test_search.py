"""Which sets of columns are worst to know."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError
from crypsis.inference import UniquenessBasis, leakage, riskiest_sets

COLUMNS = ["workclass", "education", "marital-status", "relationship", "race", "sex"]


def test_search_agrees_with_measuring_every_set(census: Dataset) -> None:
    found = riskiest_sets(census, "income", COLUMNS, max_columns=2, limit=100)
    everything = [*([name] for name in COLUMNS), *(list(pair) for pair in combinations(COLUMNS, 2))]
    by_hand = {tuple(names): leakage(census, "income", names).best_guess.average for names in everything}
    assert {one.columns: one.best_guess for one in found.worst} == pytest.approx(by_hand)
    assert found.worst[0].best_guess == max(by_hand.values())
    assert (found.measured, found.pruned) == (21, 0)
    assert found.reaching == ()


def test_threshold_prunes_both_ways(census: Dataset) -> None:
    every = riskiest_sets(census, "income", COLUMNS, max_columns=6)
    threshold = 0.75
    found = riskiest_sets(census, "income", COLUMNS, max_columns=6, threshold=threshold)
    assert found.measured < every.measured
    assert found.pruned > 0
    for one in found.reaching:
        assert one.best_guess >= threshold
        for left_out in one.columns:
            rest = [name for name in one.columns if name != left_out]
            if rest:
                assert leakage(census, "income", rest).best_guess.average < threshold
    none = riskiest_sets(census, "income", COLUMNS, max_columns=6, threshold=0.99)
    assert none.reaching == ()
    assert none.measured == 1  # all columns together do not reach it


def test_sets_that_reveal_everything_are_not_extended() -> None:
    table = pa.table({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2], "x": ["p", "q", "p", "q"]})
    for measure in ("best_guess", "mutual_information", "itpr", "worst_guess"):
        found = riskiest_sets(table, "x", ["a", "b"], measure=measure)  # type: ignore[arg-type]
        assert [one.columns for one in found.reaching] == [("a",)], measure
        assert found.pruned == 1


def test_identity() -> None:
    table = pa.table({"id": range(6), "a": [1, 1, 1, 2, 2, 2], "b": [1, 2, 3, 1, 2, 3]})
    found = riskiest_sets(table, "id", ["a", "b"], unique=True)
    assert found.uniqueness is UniquenessBasis.DECLARED
    assert [one.columns for one in found.reaching] == [("a", "b")]
    assert found.worst[0].best_guess == 1.0
    assert found.worst[1].columns == ("b",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "size"}, "is one of"),
        ({"max_columns": 0}, "at least 1"),
        ({"limit": 0}, "at least 1"),
        ({"measure": "itpr", "threshold": 0.5}, "threshold must be 1"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    table = pa.table({"a": [1, 2], "x": [1, 2]})
    with pytest.raises(ParameterError, match=message):
        riskiest_sets(table, "x", ["a"], **options)
    with pytest.raises(ColumnError, match="among the given"):
        riskiest_sets(table, "x", ["a", "x"])
