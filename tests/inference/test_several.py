"""Several targets out of one scan."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, TooLargeError
from crypsis.inference import UniquenessBasis, leakage, leakages
from crypsis.tables import Rows

PEOPLE = pa.table(
    {
        "id": range(6),
        "age": [30, 30, 30, 41, 41, 52],
        "ill": ["flu", "flu", "gout", "HIV", "HIV", "flu"],
        "job": ["a", "b", "a", "b", "a", "b"],
    }
)


def test_each_target_is_as_if_it_were_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    scans = []
    counted = Rows.cells

    def watched(self: Rows, names: Any, **options: Any) -> pa.Table:
        scans.append(tuple(names))
        return counted(self, names, **options)

    monkeypatch.setattr(Rows, "cells", watched)
    found = leakages(PEOPLE, ["id", "ill", "job"], ["age"], unique=["id"])
    assert scans == [("age", "ill", "job")]
    assert [one.target for one in found.targets] == ["id", "ill", "job"]
    assert found["id"].uniqueness is UniquenessBasis.DECLARED
    for name in ("id", "ill", "job"):
        alone = leakage(PEOPLE, name, ["age"], unique=True if name == "id" else None)
        assert found[name].to_dict(reveal=True) == alone.to_dict(reveal=True)


def test_too_many_together_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Dataset.cells

    def limited(self: Dataset, names: Any) -> Any:
        if len(names) > 2:
            raise TooLargeError("too many")
        return counted(self, names)

    monkeypatch.setattr(Dataset, "cells", limited)
    found = leakages(PEOPLE, ["ill", "job"], ["age"])
    assert found["ill"].itpr == leakage(PEOPLE, "ill", ["age"]).itpr
    alone = leakages(PEOPLE, ["ill"], ["age", "job"])["ill"]
    assert alone.itpr == pytest.approx(leakage(PEOPLE, "ill", ["age", "job"], sample=9).itpr)


def test_errors() -> None:
    with pytest.raises(ColumnError, match="at least one column"):
        leakages(PEOPLE, [], ["age"])
    with pytest.raises(ColumnError, match="each named once"):
        leakages(PEOPLE, ["ill", "ill"], ["age"])
    with pytest.raises(ColumnError, match="'id' is declared unique, but it is not a target"):
        leakages(PEOPLE, ["ill"], ["age"], unique=["id"])
    with pytest.raises(ColumnError, match="not among the targets"):
        _ = leakages(PEOPLE, ["ill"], ["age"])["job"]
