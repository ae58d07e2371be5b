"""Promises together, weights, and what the statement tells of all that."""

from __future__ import annotations

import decimal
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ParameterError, SourceError
from crypsis.hierarchies import Hierarchy
from crypsis.protection import Statement, plan


def small(**more: Any) -> cr.Dataset:
    rng = np.random.default_rng(8)
    n = 400
    table = pa.table(
        {
            "age": rng.integers(18, 90, n),
            "job": rng.choice([*"abcdefgh", "rare-job"], n, p=[*[0.124] * 8, 0.008]),
            "disease": rng.choice(["flu", "gout", "hiv"], n, p=[0.8, 0.15, 0.05]),
        }
    )
    roles = {"quasi_identifiers": ["age", "job"], "sensitive": ["disease"]}
    return cr.Dataset.from_frame(table, **roles, **more)  # type: ignore[arg-type]


def test_a_population_with_a_promise_about_secrets_is_repaired() -> None:
    """k of the release is not asked, but every group needs two diseases."""
    release = small(population=10**6)
    made = plan(release, k=5, diversity=2).apply(release)
    assert made.requirements.k is None
    frame = made.data.to_arrow().to_pandas()
    assert frame.groupby(["age", "job"], dropna=False)["disease"].nunique().min() >= 2
    assert made.measured is not None
    assert made.measured.population is not None


def test_what_does_not_go_together() -> None:
    release = small()
    for more in ({"diversity": 2}, {"release_k": 3}, {"population": 1000}):
        with pytest.raises(ParameterError, match="ach_column requires k of every column alone"):
            plan(release, k=5, each_column=True, **more)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="of type text"):
        plan(release, k=5, top_code={"job": 3})
    times = pa.table({"t": pa.array([1, 2], pa.time64("us"))})
    with pytest.raises(ParameterError, match="does not fit"):
        plan(times, k=1, quasi_identifiers=["t"], methods={"t": "date"})
    with pytest.raises(ParameterError, match="'suppression' is 2; it must be less than"):
        plan(release, k=5, suppression=2)


def test_weights_say_whose_detail_is_kept() -> None:
    release = small()
    bits = {}
    for name in ("age", "job"):
        made = plan(release, k=10, weights={name: 20.0}).apply(release)
        lost = {one.column: one for one in made.utility.columns}
        bits[name] = {column: one.entropy_after_bits for column, one in lost.items()}
    assert bits["age"]["age"] > bits["job"]["age"]
    assert bits["job"]["job"] > bits["age"]["job"]


def test_the_statement_tells_every_level_and_no_original_value(tmp_path: Path) -> None:
    release = small()
    tree = {"job": Hierarchy.from_nested({"low": list("abcd"), "high": [*"efgh", "rare-job"]})}
    made = plan(release, k=12, hierarchies=tree, diversity=2, recursive_diversity=(9.0, 2)).apply(release)
    told = made.statement
    frame = made.data.to_arrow().to_pandas()
    (job,) = [one for one in told.methods if one.column == "job"]
    rows = {level["method"]: level["rows"] for level in job.parameters["levels"]}
    assert rows.get("level", 0) == frame["job"].isin(["low", "high"]).sum() > 0
    assert rows.get("keep", 0) == frame["job"].isin(list("abcdefgh")).sum()
    assert rows.get("suppress", 0) == frame["job"].isna().sum()
    assert "rare-job" not in frame["job"].to_numpy()
    assert "rare-job" not in told.to_markdown() + told.to_json()
    assert told.unchanged == ("disease",)
    assert "records in every class | at least 12 | " in told.to_markdown()
    made.write(tmp_path / "safe.csv")
    assert Statement.load(tmp_path / "safe.csv.statement.json").measured == told.measured
    schema = json.loads(Statement.schema_json())
    assert schema["properties"]["measured"] == {"$ref": "#/$defs/Measured"}
    assert set(schema["required"]) <= set(json.loads(told.to_json()))
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(SourceError, match="not a valid statement"):
        Statement.load(tmp_path / "bad.json")


def test_numbers_stand_for_groups_of_whole_and_decimal_numbers() -> None:
    """Means and medians are those of the rows that have them, on one level for all, and rounded."""
    whole = list(range(40))
    money = pa.array([decimal.Decimal(i) / 4 for i in whole], pa.decimal128(8, 2))
    for column in (pa.array(whole), money):
        release = cr.Dataset.from_frame(pa.table({"x": column}), quasi_identifiers=["x"])
        before = pd.Series([float(value) for value in column.to_pylist()])
        made = plan(release, k=10, representative="mean").apply(release, recoding="full-domain")
        after = made.data.to_arrow()["x"].to_pandas().astype(float)
        assert after.value_counts().min() >= 10
        for label, rows in before.groupby(after):
            assert rows.mean() == pytest.approx(label, abs=1.25 * (rows.max() - rows.min()) / len(rows))
        made = plan(release, k=10, representative="median").apply(release, recoding="full-domain")
        after = made.data.to_arrow()["x"].to_pandas().astype(float)
        assert after.value_counts().min() >= 10
        for label, rows in before.groupby(after):
            assert rows.quantile(0.4) <= label <= rows.quantile(0.6)
