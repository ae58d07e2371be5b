"""Information loss is counted from the original, cell by cell, and is the same number everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.hierarchies import Hierarchy
from crypsis.protection import Preview, plan

QI = ["zip", "age", "job"]


def people(n: int = 1_500) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "zip": [f"{z:05d}" for z in rng.integers(0, 200, n) * 7],
            "age": rng.integers(18, 90, n),
            "job": rng.choice(list("abcdefgh"), n),
        }
    )


@pytest.mark.parametrize("top", [False, True])
def test_levels_by_hand_cost_what_the_preview_shows(top: bool) -> None:
    table = people()
    preview = Preview(table, plan(table, k=1, quasi_identifiers=QI), quasi_identifiers=QI)
    levels = {"zip": preview.top("zip") if top else 2, "age": 3, "job": 1}
    made = cr.anonymize(table, k=1, levels=levels, quasi_identifiers=QI, person="each record")
    assert made.loss.ncp == pytest.approx(preview.outcome(levels, k=1).loss)
    assert made.statement.information_loss == made.loss
    assert made.loss.generalized_records == 1_500
    assert made.loss.fully_generalized_columns == (("zip",) if top else ())
    assert made.loss.suppressed_values == made.frame["zip"].null_count


def test_loss_of_a_hierarchy_counted_by_hand() -> None:
    table = pa.table({"job": ["a", "b", "c", "d"] * 3 + ["e"] * 2})
    tree = Hierarchy([(v, "x" if v in "ab" else "y", "*") for v in "abcde"])
    made = cr.anonymize(
        table, k=4, hierarchies={"job": tree}, quasi_identifiers=["job"], shuffle=False, person="each record"
    )
    share = {"x": 2 / 5, "y": 3 / 5, None: 1.0}
    released = made.frame["job"].to_pylist()
    assert made.loss.ncp == pytest.approx(np.mean([share.get(v, 0.0) for v in released]))


def test_the_statement_counts_what_is_missing_and_generalized() -> None:
    """A column that is generalized fully for everybody is counted, and named."""
    rng = np.random.default_rng(2)
    table = pa.table({"a": np.arange(60), "b": rng.integers(0, 2, 60)})
    made = cr.anonymize(
        table, k=20, methods={"a": "keep"}, quasi_identifiers=["a", "b"], person="each record"
    )
    missing = sum(made.frame[name].null_count for name in ("a", "b"))
    assert made.loss.suppressed_values == missing > 0
    assert made.loss.fully_generalized_columns == ("a",)
    assert made.loss.generalized_records == 60
    text = made.statement.to_markdown()
    assert "fully generalized columns: `a`" in text
    assert f"suppressed values: {missing}" in text


def test_before_is_the_number_of_values_in_the_table() -> None:
    table = people()
    rows = {row[0]: row for row in plan(table, k=2, quasi_identifiers=QI).rows()}
    assert rows["zip"][1:3] == (str(len(set(table["zip"].to_pylist()))),) * 2


def test_generalization_is_not_shown_as_more_information() -> None:
    made = cr.anonymize(people(), k=5, quasi_identifiers=QI, person="each record")
    for one in made.utility.columns:
        assert one.entropy_after_bits <= one.entropy_before_bits


def test_more_suppression_never_costs_more() -> None:
    """Six rows, k = 2, from the report: 5 % lost everything, 20 % less, 50 % more again."""
    table = pa.table({"n": [30] * 3 + [41] * 2 + [52], "t": ["10"] * 3 + ["20"] * 2 + ["30"]})
    known: dict[str, Any] = {"quasi_identifiers": ["n", "t"]}
    losses = [
        cr.anonymize(table, k=2, suppression=s, **known, person="each record").loss.ncp
        for s in (0.05, 0.2, 0.5)
    ]
    assert losses == sorted(losses, reverse=True)
