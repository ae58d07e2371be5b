"""Dates shifted by person, and pseudonyms and shifts that are the same in several files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.errors import ColumnError, RoleError
from crypsis.protection import Key, mask
from crypsis.protection.masking import ShiftDates, parse_mask


def visits(seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    start = pd.Timestamp("2024-01-01")
    days = pd.to_timedelta(draw.integers(0, 300, 200), unit="D")
    return pd.DataFrame(
        {
            "who": [f"P{n:03d}" for n in draw.integers(0, 40, 200)],
            "came": start + days,
            "left": start + days + pd.to_timedelta(draw.integers(0, 9, 200), unit="D"),
        }
    )


def shifts(before: pd.DataFrame, after: Any, column: str = "came") -> pd.Series:
    """The days by which the dates of each person moved; an error if they are not the same."""
    moved = (pd.to_datetime(pd.Series(after[column].to_pylist())) - before[column]).dt.days
    assert moved.groupby(before["who"]).nunique().max() == 1
    return moved.groupby(before["who"]).first()


def test_all_dates_of_a_person_move_alike() -> None:
    data = visits()
    shift = ShiftDates(days=30)
    made = mask(data, {"came": shift, "left": shift}, person="who", seed=1)
    table = made.data.to_arrow()
    moved = shifts(data, table)
    assert moved.between(-30, 30).all()
    assert moved.nunique() > 15
    assert (moved == shifts(data, table, "left")).all()
    assert made.methods[0].description.startswith("shifted by up to 30 days")
    days = (data["came"] - data["came"].groupby(data["who"]).transform("min")).dt.days
    after = pd.to_datetime(pd.Series(table["came"].to_pylist()))
    assert (days == (after - after.groupby(data["who"]).transform("min")).dt.days).all()


def test_dates_without_a_time_and_missing_ones() -> None:
    table = pa.table({"who": ["a", "a", None], "day": pa.array([19_000, None, 19_000], pa.date32())})
    made = mask(table, {"day": parse_mask("shift:10")}, person="who").data.to_arrow()
    assert made["day"].type == pa.date32()
    assert made["day"][1].as_py() is None
    assert made["day"][2].as_py() is not None


def test_a_file_with_the_same_key_corresponds() -> None:
    """Pseudonyms and date shifts of two files of the same people, and of another key."""
    first, second = visits(1), visits(2)
    masks: dict[Any, Any] = {"came": ShiftDates(days=60), "who": parse_mask("pseudonym")}
    one = mask(first, masks, person="who")
    same = mask(second, masks, person="who", key=Key(pseudonyms=one.key.pseudonyms))
    other = mask(second, masks, person="who")
    mine, theirs = shifts(first, one.data.to_arrow()), shifts(second, same.data.to_arrow())
    both = mine.index.intersection(theirs.index)
    assert len(both) > 20
    assert (mine[both] == theirs[both]).all()
    assert (mine[both] != shifts(second, other.data.to_arrow())[both]).any()
    names = dict(zip(first["who"], one.data.to_arrow()["who"].to_pylist(), strict=True))
    again = dict(zip(second["who"], same.data.to_arrow()["who"].to_pylist(), strict=True))
    assert all(names[who] == again[who] for who in both)
    assert set(again.values()).isdisjoint(other.data.to_arrow()["who"].to_pylist())


def test_two_files_at_the_command_line(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        visits(seed).drop(columns="left").to_csv(tmp_path / f"{name}.csv", index=False)
    words = [
        "--person",
        "who",
        "--id",
        "who",
        "--insensitive",
        "came",
        "--k",
        "1",
        "--method",
        "came=shift:60",
        "--method",
        "who=pseudonym",
    ]
    key = tmp_path / "a.key.json"
    files = (("a", []), ("b", ["--same-key", str(key)]))
    for name, more in files:
        given = [
            "anonymize",
            str(tmp_path / f"{name}.csv"),
            "-o",
            str(tmp_path / f"{name}-out.csv"),
            "--key",
            str(tmp_path / f"{name}.key.json"),
            *words,
            *more,
        ]
        assert run(given) == 0
    released = [set(pd.read_csv(tmp_path / f"{name}-out.csv")["who"]) for name in "ab"]
    people = [set(visits(seed)["who"]) for seed in (1, 2)]
    assert len(released[0] & released[1]) == len(people[0] & people[1])
    assert "date shifts" in Key.load(key).pseudonyms


def test_mistakes_are_named() -> None:
    with pytest.raises(RoleError, match="whose records these are is not known"):
        mask(visits(), {"came": ShiftDates(days=30)})
    with pytest.raises(ColumnError, match="has no dates or times"):
        mask(visits().assign(came="x"), {"came": ShiftDates(days=30)}, person="who")
    with pytest.raises(cr.CrypsisError, match="needs a number in its range"):
        parse_mask("shift:0")
