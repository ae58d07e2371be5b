"""The order of released rows: random, reproducible with the key, and said in the statement."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import SeedSequence

import crypsis as cr
from crypsis.protection import Key
from crypsis.tables.shuffled import random_order, shuffled_parts


def people(n: int = 200) -> pa.Table:
    """Sorted by surname, households one after the other."""
    return pa.table(
        {
            "surname": [f"s{i:04d}" for i in range(n)],
            "household": [f"h{i // 4:03d}" for i in range(n)],
            "age": [30 + i % 2 for i in range(n)],
            "row": list(range(n)),
        }
    )


ROLES: dict[str, Any] = {
    "identifiers": ["surname"],
    "excluded": ["household"],
    "quasi_identifiers": ["age"],
    "insensitive": ["row"],
}


def test_position_says_nothing_about_the_original() -> None:
    made = cr.anonymize(people(), k=20, **ROLES, person="each record")
    rows = made.frame["row"].to_pylist()
    assert sorted(rows) == list(range(200))
    assert abs(np.corrcoef(rows, np.arange(200))[0, 1]) < 0.35  # 5 standard deviations of chance
    assert sum(i == row for i, row in enumerate(rows)) < 10
    assert list(made.key.row_map or ()) == rows
    statement = made.statement
    assert statement.row_order == "random"
    assert "random order" in statement.to_markdown()
    assert str(made.key.seed) not in statement.to_json() + made.plan.model_dump_json()


def test_the_key_gives_the_same_order_again(tmp_path: Path) -> None:
    made = cr.anonymize(people(), k=20, **ROLES, person="each record")
    key = Key.load(made.key.save(tmp_path / "key.json"))
    again = cr.anonymize(people(), k=20, key=key, **ROLES, person="each record")
    assert again.frame.equals(made.frame)
    assert not cr.anonymize(people(), k=20, **ROLES, person="each record").frame.equals(made.frame)


def test_an_order_that_is_kept_is_stated_with_what_it_shows() -> None:
    made = cr.anonymize(people(), k=20, shuffle=False, **ROLES, person="each record")
    assert made.frame["row"].to_pylist() == list(range(200))
    text = made.statement.to_markdown()
    assert "in the order of the original" in text
    assert "sorted by 'surname'" in text
    assert "same value of 'household', which is not released, are adjacent" in text
    mixed = people().take(pa.array(np.random.default_rng(1).permutation(200)))
    assert cr.anonymize(mixed, k=20, shuffle=False, **ROLES, person="each record").statement.order_notes == ()


def test_every_order_is_equally_likely() -> None:
    found = Counter(tuple(random_order(4, SeedSequence(seed))) for seed in range(4_800))
    assert set(found) == set(permutations(range(4)))
    assert all(120 < count < 290 for count in found.values())  # 200 expected


@pytest.mark.parametrize("rows", [1, 7, 1_000])
def test_rows_in_parts_come_in_the_same_order(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.tables.shuffled._PILE_ROWS", 60)
    seed = SeedSequence(3)
    table = pa.table({"x": np.arange(rows)})
    parts = [table.slice(start, 13) for start in range(0, rows, 13)]
    made = pa.concat_tables(shuffled_parts(parts, rows, seed))["x"].to_numpy()
    assert np.array_equal(made, random_order(rows, seed))
    assert np.array_equal(np.sort(made), np.arange(rows))
