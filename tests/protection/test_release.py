"""The promise in the file itself, as its readers see it: by the texts of CSV, by Parquet's values.

Two values that are one to a measure but two in the file (NaN and missing, 0.0 and -0.0) would break
a promise that was kept in memory; two that are one in the file (an empty text and a missing one)
would break what is promised of sensitive values.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import math
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import protection as an
from crypsis.errors import CrypsisError, RequirementsNotMetError
from tests.cases import first_of

TEXTS = [
    "a",
    "A",
    " a",
    "a ",
    "\u00e9",
    "e\u0301",
    "",
    "NA",
    "?",
    "nan",
    "null",
    "*",
    "other",
    "1",
    "01",
    "1.0",
    "<=1",
    "all",
    "a,b",
    'q"x',
    "line\nbreak",
    "=1+1",
    "'a",
    "\u200b",
    "None",
    "\r\n",
]
NUMBERS = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e300, 5e-324, 0.1, 0.3, 0.1 + 0.2, 1e16, 1e16 + 2]
DAYS = [(1, 1, 1), (9999, 12, 31), (1600, 2, 3), (2300, 5, 6), (2001, 7, 1), (2001, 7, 9)]
NAMES = ["age", "zip code", "a.b", 'q"x', "A", "a", "=x", "row_number", "c0", "birth\ndate", " lead"]
KINDS: dict[str, tuple[Any, pa.DataType]] = {
    "text": (TEXTS, pa.string()),
    "few": (TEXTS[:3], pa.large_string()),
    "whole": (list(range(-3, 12)), pa.int64()),
    "code": ([f"{i:05d}" for i in range(0, 130, 13)], pa.string()),
    "huge": ([2**63 - 1, 2**63 - 2, -(2**63), 2**53, 2**53 + 1, 0], pa.int64()),
    "unsigned": ([2**64 - 1, 2**64 - 2, 0, 1], pa.uint64()),
    "number": (NUMBERS, pa.float64()),
    "short number": (NUMBERS, pa.float32()),
    "day": ([datetime.date(*day) for day in DAYS], pa.date32()),
    "moment": ([datetime.datetime(*day, 3) for day in DAYS], pa.timestamp("us")),
    "time of day": ([datetime.time(hour) for hour in range(3)], pa.time64("us")),
    "flag": ([True, False], pa.bool_()),
    "money": ([decimal.Decimal(x) for x in ("0.00", "1.10", "99.99")], pa.decimal128(8, 2)),
    "one": (["same"], pa.string()),
    "none": ([None], pa.int32()),
}


def drawn(dice: random.Random) -> tuple[pa.Table, dict[str, Any], dict[str, Any]]:
    rows = dice.choice([1, 5, 13, 30, 60])
    names = dice.sample(NAMES, dice.randint(2, 5))
    columns = []
    for _ in names:
        values, kind = KINDS[dice.choice(list(KINDS))]
        some = dice.sample(values, dice.randint(1, len(values)))
        gone = dice.choice([0.0, 0.1, 0.5])
        column = [None if dice.random() < gone else dice.choice(some) for _ in range(rows)]
        columns.append(pa.array(column, kind))
    asked: dict[str, Any] = {"k": dice.choice([1, 2, 3, 5, 7])}
    optional = {
        "diversity": [1, 2, 3],
        "entropy_diversity": [1.2, 1.9],
        "closeness": [0.2, 0.5],
        "recursive_diversity": [(1.5, 2), (3.0, 2)],
        "best_guess": [0.5, 0.8],
    }
    asked |= {name: dice.choice(of) for name, of in optional.items() if dice.random() < 0.15}
    if dice.random() < 0.2:
        asked |= {"population": 10**6, "beta": 0.1, "release_k": dice.choice([None, 2, 4])}
    asked["suppression"] = dice.choice([0.0, 0.05, 0.3, 1.0])
    asked["representative"] = dice.choice(["interval", "interval", "median", "mean"])
    roles = {"quasi_identifiers": names[:-1], "sensitive": names[-1:]}
    return pa.table(columns, names=names), asked, roles


def lines_of(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names and rows of a file, whatever differs in it told apart."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            head, *lines = csv.reader(file)
        return head, [tuple(line) for line in lines]
    table = pq.read_table(path)
    columns = [[told_apart(value) for value in column.to_pylist()] for column in table.columns]
    return table.column_names, list(zip(*columns, strict=True))


def told_apart(value: Any) -> Any:
    return value.hex() if isinstance(value, float) else value


def broken(
    path: Path, promise: an.PrivacyRequirements, known: list[str], secret: str, numeric: bool
) -> list[str]:
    """What the file misses."""
    names, rows = lines_of(path)
    groups: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        told = dict(zip(names, row, strict=True))
        value = None if told[secret] in ("", "nan") and path.suffix == ".csv" else told[secret]
        groups[tuple(told[name] for name in known)].append(None if value == "nan" else value)
    wrong = [] if min(map(len, groups.values())) >= (promise.k or 1) else ["k"]
    every = Counter(value for values in groups.values() for value in values)
    for values in groups.values():
        own, size = Counter(values), len(values)
        present = Counter(value for value in values if value is not None) or own
        falling = sorted(present.values(), reverse=True)
        bits = -sum(n / sum(falling) * math.log2(n / sum(falling)) for n in falling)
        gap = sum(abs(own[v] / size - every[v] / len(rows)) for v in every) / 2
        c, least = promise.recursive_diversity or (math.inf, 1)
        wrong += ["diversity"] * (len(present) < (promise.diversity or 0))
        wrong += ["entropy"] * (2**bits < (promise.entropy_diversity or 0) - 1e-9)
        wrong += ["recursive"] * (not falling[0] < c * sum(falling[least - 1 :]))
        wrong += ["best guess"] * (max(own.values()) / size > (promise.best_guess or 1) + 1e-9)
        if promise.closeness is not None and not numeric:
            wrong += ["closeness"] * (gap > promise.closeness + 1e-9)
    return wrong


@pytest.mark.parametrize("turn", first_of(range(4), 2))
def test_files_keep_any_promise_or_do_not_appear(
    turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if turn % 2:  # as tables larger than memory are
        monkeypatch.setattr("crypsis.protection.recoding._columns.IN_MEMORY_VALUES", 0)
        monkeypatch.setattr("crypsis.tables.rows.PART_ROWS", 7)
    dice = random.Random(turn)
    written = 0
    for case in range(20):
        table, asked, roles = drawn(dice)
        folder = tmp_path / str(case)
        folder.mkdir()
        path = folder / dice.choice(["out.csv", "out.parquet"])
        local, plan_name = dice.random() < 0.7, dice.choice(["plan.json", "plan.toml"])
        try:
            plan = an.plan(table, **asked, **roles)
            assert an.Plan.load(plan.save(tmp_path / plan_name, overwrite=True)) == plan
            release = cr.Dataset.from_frame(table, **roles)
            made = plan.apply(release, recoding="local" if local else "full-domain", verify=False).write(path)
        except CrypsisError:
            assert not list(folder.iterdir())
            continue
        written += 1
        names, rows = lines_of(path)
        assert names == table.column_names
        assert made.measured is not None
        assert len(rows) == made.measured.rows
        known = [name for name in names if name in roles["quasi_identifiers"]]
        ordered = release.rows.column(names[-1]).kind.ordered
        assert not broken(path, made.requirements, known, names[-1], ordered)
        assert made.loss.withheld_share <= asked["suppression"] + 1e-9
    assert written > 5


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("values", [0, 70_000_000])
def test_what_is_counted_alike_is_written_alike(
    suffix: str, values: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crypsis.protection.recoding._columns.IN_MEMORY_VALUES", values)
    mixed = [0.0, 0.0, 0.0, -0.0, 1.5, 1.5, 1.5, 1.5, math.nan, None, None, None]
    table = pa.table({"x": mixed, "f": pa.array(mixed, pa.float32()), "free": mixed})
    release = cr.Dataset.from_frame(table, quasi_identifiers=["x", "f"], insensitive=["free"])
    path = tmp_path / f"out{suffix}"
    an.plan(release, k=4).apply(release).write(path)
    _, rows = lines_of(path)
    assert sorted(Counter(row[:2] for row in rows).values()) == [4, 4, 4]
    assert len({row[2] for row in rows}) == 5  # nobody knows this one, so it is as it was


def test_an_empty_text_and_a_missing_one_are_one_in_csv(tmp_path: Path) -> None:
    table = pa.table({"x": [1] * 4, "s": ["", "a", "", "a"]})
    release = cr.Dataset.from_frame(table, quasi_identifiers=["x"], sensitive=["s"])
    made = an.plan(release, k=2, diversity=2).apply(release)
    made.write(tmp_path / "out.parquet", statement=False)
    with pytest.raises(RequirementsNotMetError, match="diversity is 1"):
        made.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_release_without_rows_is_refused(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b", "c", "d"], "s": ["u", "u", "u", "v"]})
    release = cr.Dataset.from_frame(table, quasi_identifiers=["x"], sensitive=["s"])
    plan = an.plan(release, k=2, diversity=2, suppression=1.0, methods={"x": "keep"})
    levels = plan.apply(release, recoding="full-domain").measured
    assert levels is not None
    assert levels.rows == 4
    gone = an.Anonymized(
        release, plan, None, an.InformationLoss(4, suppressed_records=4), an.Key(), release
    )  # as if nothing were left
    for suffix in (".csv", ".parquet"):
        with pytest.raises(RequirementsNotMetError, match="No record"):
            gone.write(tmp_path / f"out{suffix}")
    assert not list(tmp_path.iterdir())
