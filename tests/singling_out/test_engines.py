"""Every measure gives the same number on DuckDB and on Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import singling_out as so

QI = ["age", "town", "sex"]


def people(size=400, seed=0):
    random = np.random.default_rng(seed)
    town = random.choice(["ash", "birch", "cedar", None], size, p=[0.5, 0.3, 0.15, 0.05])
    return {
        "who": [int(v) for v in random.integers(0, size * 3 // 4, size)],
        "home": [int(v) for v in random.integers(0, size // 3, size)],
        "age": [int(v) for v in random.geometric(0.06, size)],
        "town": [None if v is None else str(v) for v in town],
        "sex": [str(v) for v in random.choice(["f", "m"], size)],
        "w": [float(v) for v in random.integers(1, 9, size)],
    }


@pytest.fixture(scope="module")
def frames(spark):
    rows, everyone = people(), people(3000, seed=1)
    everyone = {name: everyone[name] + rows[name] for name in rows}

    def on_spark(data):
        schema = "who long, home long, age long, town string, sex string, w double"
        return spark.createDataFrame(list(zip(*data.values(), strict=True)), schema)

    return {"duckdb": (pa.table(rows), pa.table(everyone)), "spark": (on_spark(rows), on_spark(everyone))}


MEASURES = {
    "uniqueness": lambda f, p: so.uniqueness(f, QI),
    "uniqueness, dropping": lambda f, p: so.uniqueness(f, QI, missing="drop"),
    "column sets": lambda f, p: so.column_sets(f, QI, population=10_000),
    "quasi-identifiers": lambda f, p: so.find_quasi_identifiers(f, 0.05, columns=QI),
    "quasi-identifiers, population": lambda f, p: so.find_quasi_identifiers(
        f, 0.05, columns=QI, population=10_000
    ),
    "quasi-identifiers, wildcard": lambda f, p: so.find_quasi_identifiers(
        f, 0.05, columns=QI, missing="wildcard"
    ),
    "equivalence classes": lambda f, p: so.equivalence_classes(f, QI),
    "equivalence classes of persons": lambda f, p: so.equivalence_classes(f, QI, person="who"),
    "equivalence classes, weighted": lambda f, p: so.equivalence_classes(f, QI, weight="w"),
    "equivalence classes, population": lambda f, p: so.equivalence_classes(
        f, QI, population=cr.Dataset.from_frame(p), missing="wildcard"
    ),
    "delta-presence": lambda f, p: so.delta_presence(f, QI, population=p),
    "households": lambda f, p: so.household_risk(f, QI, household="home"),
    "population": lambda f, p: so.population_uniqueness(f, QI, population=10_000),
    "individual risk": lambda f, p: so.individual_risk(f, QI, weight="w"),
    "SUDA": lambda f, p: so.suda(f, QI, population=10_000),
    "records at risk": lambda f, p: so.records_at_risk(f, QI),
    "unicity": lambda f, p: so.unicity(f, QI, person="who"),
    "unicity, drawn": lambda f, p: so.unicity(f, QI, person="who", exact=False, draws=500),
    "unicity, number": lambda f, p: so.unicity(f, QI, person="home", knowledge="number"),
    "unicity, order": lambda f, p: so.unicity(
        f, ["town", "sex"], person="home", knowledge="order", order="age", events=3
    ),
    "unicity, tolerance": lambda f, p: so.unicity(
        f, QI, person="home", tolerance={"age": 2, "town": "prefix 1"}, events=3
    ),
    "histories": lambda f, p: so.history_classes(f, QI, person="home"),
    "inference from histories": lambda f, p: cr.inference.history_disclosure(
        f, "town", ["age", "sex"], person="home", events=3
    ),
    "joint classes": lambda f, p: so.joint_classes(
        f, p, on=["home", "sex"], columns="age", other_columns="town", person="who"
    ),
    "smallest events": lambda f, p: so.smallest_events(f, QI, person="home", events=3),
}


def plain(found):
    parts = found if isinstance(found, tuple) else (found,)
    shown = [part.to_dict(reveal=True) for part in parts]
    for part in shown:
        if isinstance(found, so.RecordsAtRisk):  # the order of rows is the engine's own
            table = found.records.drop_columns(["row"])
            part["records"] = sorted(map(str, table.to_pylist()))
    return shown


@pytest.mark.parametrize("measure", MEASURES)
def test_same_number_on_duckdb_and_spark(frames, measure):
    ours = plain(MEASURES[measure](*frames["duckdb"]))
    theirs = plain(MEASURES[measure](*frames["spark"]))
    assert ours == theirs


@pytest.mark.parametrize("kind", ["set", "number", "order", "ends"])
def test_same_unicity_of_more_records_than_are_fetched(frames, kind, monkeypatch):
    """People are drawn by a hash, and events like theirs found by a join, on every engine."""
    monkeypatch.setattr("crypsis.singling_out.histories._unicity._MAX_FETCHED_ROWS", 10)

    def curve(frame):
        return so.unicity(
            frame,
            ["town", "sex", "w"],
            person="home",
            knowledge=kind,
            events=3,
            draws=80,
            order="age" if kind in ("order", "ends") else None,
            tolerance={"w": 1},
        )

    ours, theirs = (curve(frames[engine][0]) for engine in ("duckdb", "spark"))
    assert ours == theirs
    assert 0 < ours.at(3) < 1
