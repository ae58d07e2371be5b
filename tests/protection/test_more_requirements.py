"""Likeness, disclosure in bits, population, average risk, combinations: enforced as measured.

What a release meets is counted here in plain Python from its rows, not by the measures themselves.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import CrypsisError, ParameterError, RequirementsNotMetError, RoleError
from crypsis.hierarchies import Hierarchy
from crypsis.protection import Plan
from tests.cases import first_of

KNOWN = ["age", "zip", "sex"]
RECODINGS = ["local", "full-domain"]


def people(seed: int, rows: int = 120) -> pa.Table:
    """A table with some missing values."""
    draw = np.random.default_rng(seed)
    ages = draw.integers(20, 50, rows).tolist()
    return pa.table(
        {
            "age": pa.array([None if draw.random() < 0.03 else age for age in ages], pa.int64()),
            "zip": [f"{code:05d}" for code in draw.integers(10000, 10030, rows)],
            "sex": draw.choice(["f", "m"], rows),
            "job": draw.choice(["a", "b", "c", "d"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def released(table: pa.Table, **asked: Any) -> Any:
    return cr.anonymize(
        table, quasi_identifiers=KNOWN, sensitive=["job"], seed=1, **asked, person="each record"
    )


def classes(made: Any, names: list[str] | tuple[str, ...] = tuple(KNOWN)) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in made.data.to_arrow().to_pylist():
        found[tuple(row[name] for name in names)].append(row["job"])
    return found


def shares(made: Any) -> dict[str, float]:
    every = Counter(made.data.to_arrow()["job"].to_pylist())
    return {value: count / every.total() for value, count in every.items()}


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("seed", first_of(range(4), 2))
def test_no_value_gains_more_than_beta(seed: int, recoding: str) -> None:
    made = released(people(seed), k=2, beta_likeness=1.0, recoding=recoding)
    all_shares = shares(made)
    worst = max(
        count / len(jobs) / all_shares[job] - 1
        for jobs in classes(made).values()
        for job, count in Counter(jobs).items()
    )
    assert worst == pytest.approx(made.measured.beta_likeness)
    assert worst <= 1.0 + 1e-9


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("seed", first_of(range(4), 2))
def test_no_share_changes_by_more_than_delta_bits(seed: int, recoding: str) -> None:
    made = released(people(seed, 300), k=2, delta_disclosure=1.5, recoding=recoding)
    all_shares = shares(made)
    worst = 0.0
    for jobs in classes(made).values():
        own = Counter(jobs)
        assert set(own) == set(all_shares)
        worst = max(
            worst, *(abs(math.log2(own[job] / len(jobs) / share)) for job, share in all_shares.items())
        )
    assert worst == pytest.approx(made.measured.delta_disclosure)
    assert worst <= 1.5 + 1e-9


def covers(label: Any, value: Any) -> bool:
    """Whether a released label covers a value: itself, an interval, a prefix; missing covers all."""
    text = str(label)
    if label is None or text == str(value):
        return True
    if text.endswith("*"):
        return str(value).startswith(text.rstrip("*"))
    if value is None:
        return False
    if text.startswith("<="):
        return value <= int(text[2:])
    if text.startswith(">="):
        return value >= int(text[2:])
    low, dash, high = text.partition("-")
    return bool(dash) and low.isdigit() and int(low) <= value <= int(high)


def matches(made: Any, population: pa.Table) -> dict[Any, int]:
    everyone = [tuple(row[name] for name in KNOWN) for row in population.to_pylist()]
    return {labels: sum(all(map(covers, labels, one)) for one in everyone) for labels in classes(made)}


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("seed", first_of(range(3), 1))
def test_every_class_matches_enough_of_the_population(seed: int, recoding: str) -> None:
    sample = people(seed, 80)
    everyone = pa.concat_tables([sample, people(seed + 100, 700)])
    asked = {"k_map": 12, "presence": 0.3, "population": everyone}
    made = released(sample, k=1, recoding=recoding, **asked)
    found, sizes = matches(made, everyone), {key: len(v) for key, v in classes(made).items()}
    assert min(found.values()) == made.measured.k_map >= 12
    share = max(sizes[labels] / count for labels, count in found.items())
    assert share == pytest.approx(made.measured.presence)
    assert share <= 0.3 + 1e-9
    # Against the population, classes of the release may stay small: that is the point.
    alone = released(sample, k=12, recoding=recoding)
    assert made.loss.ncp < alone.loss.ncp


def test_labels_of_a_hierarchy_cover_people_of_the_population() -> None:
    towns = Hierarchy([(f"t{i}", f"county {i // 3}", f"state {i // 9}") for i in range(18)])
    draw = np.random.default_rng(3)
    everyone = pa.table({"town": [f"t{i}" for i in draw.integers(0, 18, 300)]})
    made = cr.anonymize(
        everyone.slice(0, 40),
        k=1,
        k_map=30,
        quasi_identifiers=["town"],
        population=everyone,
        hierarchies={"town": towns},
        seed=1,
        person="each record",
    )
    below = {label: set(towns.groups(level)[label]) for level in (0, 1, 2) for label in towns.groups(level)}
    labels = set(made.frame["town"].to_pylist())
    counts = [sum(town in below[label] for town in everyone["town"].to_pylist()) for label in labels]
    assert min(counts) == made.measured.k_map >= 30
    assert made.loss.ncp < 1


def test_texts_without_a_hierarchy_are_kept_or_suppressed_against_a_population() -> None:
    draw = np.random.default_rng(6)
    towns = draw.choice(list("abcdefgh"), 400, p=np.array([30, 20, 15, 12, 10, 8, 4, 1]) / 100)
    everyone = pa.table({"town": towns, "age": draw.integers(20, 30, 400)})
    made = cr.anonymize(
        everyone.slice(0, 60),
        k=1,
        k_map=15,
        quasi_identifiers=["town", "age"],
        population=everyone,
        person="each record",
    )
    assert "other" not in made.frame["town"].to_pylist()
    assert made.measured.k_map >= 15
    assert made.statement.to_markdown()


def test_a_population_must_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(RoleError, match="need the table of the population"):
        released(people(0), k=2, k_map=5, population=10_000)
    with pytest.raises(RoleError, match="need the table of the population"):
        released(people(0), k=2, presence=0.5)


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("seed", first_of(range(3), 1))
def test_the_average_risk_is_met_without_that_class_size(seed: int, recoding: str) -> None:
    table = people(seed, 200)
    made = released(table, k=2, average_risk=0.1, recoding=recoding)
    found = classes(made)
    risk = len(found) / sum(map(len, found.values()))
    assert risk == pytest.approx(made.measured.average_risk)
    assert risk <= 0.1 + 1e-9
    assert made.loss.ncp <= released(table, k=10, recoding=recoding).loss.ncp + 1e-9
    assert made.measured.k < 10


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_every_combination_has_k_records(size: int, recoding: str) -> None:
    for seed in range(2):
        table = people(seed, 60)
        made = released(table, k=4, combinations=size, recoding=recoding)
        smallest = min(
            min(map(len, classes(made, some).values())) for some in combinations(KNOWN, min(size, 3))
        )
        assert smallest == made.measured.combination_k >= 4
        assert made.loss.withheld_share <= 0.05
        if recoding == "local":
            assert made.loss.ncp <= released(table, k=4).loss.ncp + 1e-9
        if recoding == "local" and size < 3:
            full = released(table, k=4, combinations=size, recoding="full-domain")
            assert made.loss.ncp <= full.loss.ncp + 1e-9


@pytest.mark.parametrize("asked", [{"average_risk": 0.15}, {"combinations": 2}])
def test_people_with_several_records_count_once(asked: dict[str, Any]) -> None:
    table = people(5, 150)
    table = table.append_column("who", pa.array([i // 3 for i in range(150)]))
    made = cr.anonymize(
        table,
        k=3,
        person="who",
        identifiers=["who"],
        quasi_identifiers=KNOWN,
        insensitive=["job"],
        seed=1,
        shuffle=False,
        **asked,
    )
    rows = made.data.to_arrow().to_pylist()
    kept = made.key.row_map or range(150)
    who = [i // 3 for i in kept]

    def inside(names: Any) -> dict[Any, set[int]]:
        found = defaultdict(set)
        for one, row in zip(who, rows, strict=True):
            found[tuple(row[name] for name in names)].add(one)
        return found

    if "combinations" in asked:
        least = min(len(v) for some in combinations(KNOWN, 2) for v in inside(some).values())
        assert least == made.measured.combination_k >= 3
    else:
        own = inside(KNOWN)
        worst: dict[int, float] = defaultdict(float)
        for members in own.values():
            for one in members:
                worst[one] = max(worst[one], 1 / len(members))
        average = sum(worst.values()) / len(worst)
        assert average == pytest.approx(made.measured.average_risk)
        assert average <= 0.15 + 1e-9


def test_combinations_go_with_nothing_that_is_required_of_classes() -> None:
    with pytest.raises(ParameterError, match="every combination of some quasi-identifiers"):
        released(people(0), k=2, combinations=2, diversity=2)


def test_what_cannot_be_met_is_refused_with_a_sentence() -> None:
    table = people(0, 60)
    with pytest.raises(RequirementsNotMetError, match="Not even all records together"):
        released(table, k=2, k_map=100, population=table)
    with pytest.raises(CrypsisError, match=r"average risk|only 60 records|Not even all"):
        released(table, k=2, average_risk=0.01)


def hierarchical(own: Counter[str], every: Counter[str], tree: Hierarchy) -> float:
    """The earth mover's distance in a hierarchy, edge by edge of the tree."""
    total = 0.0
    for level in range(tree.height):
        for values in tree.groups(level).values():
            here = sum(own[v] for v in values) / own.total()
            there = sum(every[v] for v in values) / every.total()
            total += abs(here - there) / 2
    return total / tree.height


@pytest.mark.parametrize("recoding", RECODINGS)
def test_closeness_by_the_hierarchy_of_a_sensitive_attribute(recoding: str, tmp_path: Path) -> None:
    tree = Hierarchy([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    table = people(7, 300)
    asked = {"k": 2, "closeness": 0.25, "recoding": recoding}
    made = released(table, hierarchies={"job": tree}, **asked)
    every = Counter(made.data.to_arrow()["job"].to_pylist())
    worst = max(hierarchical(Counter(jobs), every, tree) for jobs in classes(made).values())
    assert worst == pytest.approx(made.measured.closeness)
    assert worst <= 0.25 + 1e-9
    # Values that are near each other cost less: the hierarchy needs less generalization.
    assert made.loss.ncp <= released(table, **asked).loss.ncp
    again = Plan.load(made.plan.save(tmp_path / "plan.toml"))
    assert again.hierarchies["job"].rows == made.plan.hierarchies["job"].rows
    for name in ("one.parquet", "two.csv"):
        assert made.write(tmp_path / name).measured.closeness == pytest.approx(worst)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "asked",
    [
        {"beta_likeness": 1.0},
        {"delta_disclosure": 2.0},
        {"average_risk": 0.1},
        {"combinations": 2},
        {"k_map": 10},
        {"presence": 0.4},
    ],
)
def test_the_file_and_its_statement_have_it(asked: Any, form: str, tmp_path: Path) -> None:
    sample = people(1, 200)
    more = {"population": pa.concat_tables([sample, people(2, 400)])}
    against = {"k_map", "presence"} & set(asked)
    made = cr.anonymize(
        sample,
        k=2,
        quasi_identifiers=KNOWN,
        sensitive=["job"],
        verify=False,
        seed=1,
        **asked,
        **(more if against else {}),
        person="each record",
    )
    written = made.write(tmp_path / f"safe.{form}")
    name, limit = next(iter(asked.items()))
    name = "combination_k" if name == "combinations" else name
    assert getattr(written.measured, name) is not None
    text = (tmp_path / f"safe.{form}.statement.md").read_text()
    assert f"{getattr(written.measured, name):.6g}" in text
    assert limit is not None
