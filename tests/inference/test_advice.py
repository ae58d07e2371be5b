"""Advice for raw data: columns by risk, suspect values."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError, TooLargeError
from crypsis.inference import SuspectReason, advise
from crypsis.inference import _uniqueness as how

ROWS = 400


def people() -> pa.Table:
    """Four columns: an age with an impossible value, a place with a slip, its code, a constant."""
    ages = [20 + i % 40 for i in range(ROWS - 1)] + [999]
    places = ["north" if i % 3 else "south" for i in range(ROWS - 1)] + ["Nroth"]
    codes = [1 if i % 3 else 2 for i in range(ROWS - 1)] + [1]
    return pa.table({"age": ages, "place": places, "code": codes, "same": ["x"] * ROWS})


def test_columns_are_ranked_by_what_they_give_away() -> None:
    found = advise(people())
    assert found.records == ROWS
    assert [one.column for one in found.columns][:2] == ["code", "place"]
    code = found["code"]
    assert code.inferred_from == "place"
    assert code.inference_gain == pytest.approx(1.0, abs=0.01)
    assert code.identity_guess == 2 / ROWS
    same = found["same"]
    assert (same.risk, same.inference_gain, same.inferred_from) == (1 / ROWS, 0.0, None)
    assert same.identity_itpr == 0
    with pytest.raises(ColumnError, match="Column 'zip' does not exist"):
        _ = found["zip"]


def test_outliers_and_errors_raise_the_risk_alone() -> None:
    found = advise(people())
    age = found["age"]
    assert [(one.reason, one.value, one.records) for one in age.suspects] == [(SuspectReason.OUTLIER, 999, 1)]
    assert age.identity_itpr == 1.0
    assert age.identity_itpr_without_suspects < 0.7
    place = found["place"]
    assert [(one.reason, one.value, one.probable_value) for one in place.suspects] == [
        (SuspectReason.MISSPELLED, "Nroth", "north")
    ]
    assert place.suspects[0].itpr == 1.0
    assert "Nroth" not in str(found.to_dict())
    assert found["code"].suspects == ()


def test_other_kinds_of_suspects() -> None:
    days = [datetime.date(2020, 1, 1 + i % 28) for i in range(ROWS - 1)]
    days.append(datetime.date(1900, 1, 1))
    numbers = [str(i % 50) for i in range(ROWS - 1)] + ["n/a"]
    names = ["red", "blue"] * (ROWS // 2 - 1) + ["ultraviolet", None]
    found = advise(pa.table({"day": days, "number": numbers, "colour": names}))
    assert [one.reason for one in found["day"].suspects] == [SuspectReason.OUTLIER]
    assert found["day"].suspects[0].value == datetime.date(1900, 1, 1)
    assert [one.reason for one in found["number"].suspects] == [SuspectReason.NOT_NUMERIC]
    assert [(one.reason, one.value) for one in found["colour"].suspects] == [
        (SuspectReason.RARE, "ultraviolet")
    ]


def test_small_groups_agree_by_chance_and_tell_nothing() -> None:
    """A column with a different value in every record determines all others by chance only."""
    table = pa.table({"key": range(100), "coin": [i * i % 7 % 2 for i in range(100)]})
    found = advise(table)
    assert found["key"].risk == 1.0
    assert found["coin"].inference_gain == 0.0


def test_long_unique_columns_are_not_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(how, "FIRST_RECORDS", 50)
    asked: list[tuple[str, ...]] = []
    grouped = Dataset.cells
    monkeypatch.setattr(
        Dataset, "cells", lambda self, names: asked.append(tuple(names)) or grouped(self, names)
    )
    table = people().append_column("id", pa.array(range(ROWS)))
    found = advise(table)
    assert found.columns[0].column == "id"
    assert not any("id" in names for names in asked)


def test_pairs_that_are_too_large_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from crypsis.inference import _advice

    grouped = Dataset.cells

    def limited(self: Dataset, names: Any) -> Any:
        if tuple(names) == ("age", "place"):
            raise TooLargeError("too many")
        return grouped(self, names)

    monkeypatch.setattr(_advice, "_MAX_ONE_SCAN_RECORDS", 0)
    monkeypatch.setattr(Dataset, "cells", limited)
    assert advise(people()).skipped == (("age", "place"),)


def test_errors() -> None:
    with pytest.raises(ColumnError, match="Column 'zip' does not exist"):
        advise(people(), ["zip"])
    with pytest.raises(ColumnError, match="at least one"):
        advise(people(), [])
    with pytest.raises(ParameterError, match="at least 2"):
        advise(people(), rare=1)


def test_adult(adult: Dataset) -> None:
    found = advise(adult)
    first = {one.column for one in found.columns[:2]}
    assert first == {"education", "education-num"}  # each says what the other does
    assert found["native-country"].suspects[0].reason is SuspectReason.RARE
    assert found["native-country"].suspects[0].value == "Holand-Netherlands"
    assert found["native-country"].identity_itpr_without_suspects < found["native-country"].identity_itpr


def test_spark_gives_the_same_numbers(spark: Any) -> None:
    table = people().select(["age", "place"])
    here, there = advise(table), advise(spark.createDataFrame(table))
    assert there.to_dict(reveal=True) == here.to_dict(reveal=True)
