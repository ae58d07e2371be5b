"""Diversity and closeness: definitions, distances, missing values, and where pyCANON errs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from crypsis import distributions
from crypsis.errors import ColumnError, ParameterError, RoleError
from crypsis.inference import Ground, diversity
from crypsis.release import Release, Role

ROLES = {"quasi_identifiers": ["q"], "sensitive": ["s"]}


def of(q: list[Any], s: list[Any], **options: Any) -> Any:
    found = diversity(pa.table({"q": q, "s": s}), **ROLES, **options)
    return found, found["s"]


def test_definitions_on_a_small_table() -> None:
    """Class a holds x 3, y 2, z 1; class b holds x 1, y 2, z 3. All rows: 4, 4, 4."""
    _, found = of(["a"] * 6 + ["b"] * 6, list("xxxyyz") + list("xyyzzz"))
    assert found.distinct_l == 3
    entropy = distributions.entropy_bits([3, 2, 1])
    assert found.entropy_l == pytest.approx(2**entropy)
    assert found.alpha == 0.5
    assert found.t == pytest.approx(1 / 6)
    assert found.beta == pytest.approx(0.5)
    assert found.beta_enhanced == pytest.approx(0.5)  # -ln(1/3) = 1.0986
    assert found.delta_disclosure_bits == pytest.approx(1.0)  # 1/6 against 1/3
    # 3 < c (3+2+1), 3 < c (2+1), 3 < c 1
    assert found.recursive_c == pytest.approx((0.5, 1.0, 3.0))
    assert found.recursive_l == 2  # c = 3 is not above 3
    assert (
        diversity(pa.table({"q": ["a"] * 6, "s": list("xxxyyz")}), **ROLES, c=3.5)["s"].recursive_l
        == 3
    )


def test_who_decides_each_measure() -> None:
    q = ["small"] * 2 + ["uniform"] * 4 + ["skew"] * 6
    s = ["x", "y", "x", "x", "x", "x", "x", "y", "y", "y", "y", "y"]
    found, column = of(q, s)
    assert found.k == 2
    assert found.smallest_class.values == ("small",)
    assert column.worst["distinct_l"].values == ("uniform",)
    assert column.worst["alpha"].values == ("uniform",)
    assert column.worst["t"].values == ("uniform",)
    assert column.worst["delta_disclosure_bits"].values == ("uniform",)
    assert column.worst["recursive_l"].values == ("uniform",)


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_the_written_out_distributions(seed: int) -> None:
    random = np.random.default_rng(seed)
    q = random.integers(0, 12, 300)
    s = random.choice([1.5, 2.25, 7.0, 9.0, 20.0, 21.0], 300, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05])
    table = pa.table({"q": q, "s": s})
    values = np.unique(s)
    counts = np.array([[np.sum((q == a) & (s == b)) for b in values] for a in np.unique(q)])
    total = counts.sum(axis=0)
    tree = {float(value): (["low", "*"] if value < 5 else ["high", "*"]) for value in values}
    paths = [tree[float(value)] for value in values]
    ordered = max(distributions.ordered_distance(row, total) for row in counts)
    equal = max(distributions.total_variation(row, total) for row in counts)
    nested = max(distributions.hierarchical_distance(row, total, paths) for row in counts)
    found = diversity(table, **ROLES)["s"]
    assert found.ground is Ground.ORDERED
    assert found.t == pytest.approx(ordered, abs=1e-12)
    assert diversity(table, **ROLES, ground={"s": "equal"})["s"].t == pytest.approx(equal)
    by_tree = diversity(table, **ROLES, hierarchies={"s": tree})["s"]
    assert by_tree.ground is Ground.HIERARCHICAL
    assert by_tree.t == pytest.approx(nested)
    as_rows = [(value, *path) for value, path in tree.items()]
    assert diversity(table, **ROLES, hierarchies={"s": as_rows})["s"].t == by_tree.t


def test_closeness_of_li_2007() -> None:
    """The salary table of Li et al. 2007, section 4: 0.375 and 0.167."""
    salary = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    _, found = of([1, 1, 1, 2, 2, 2, 3, 3, 3], salary)
    assert found.t == pytest.approx(0.375)
    _, other = of([1, 1, 1, 2, 2, 2, 3, 3, 3], [6, 8, 11, 3, 5, 9, 4, 7, 10])
    assert other.t == pytest.approx(1 / 6, abs=2e-3)


def test_order_of_rows_and_of_values_does_not_matter() -> None:
    random = np.random.default_rng(1)
    q, s = random.integers(0, 5, 200), random.normal(size=200).round(1)
    first, _ = of(q.tolist(), s.tolist())
    order = random.permutation(200)
    second, _ = of(q[order].tolist(), s[order].tolist())
    assert first.to_dict(reveal=True) == second.to_dict(reveal=True)


def test_missing_values() -> None:
    q = ["a", "a", "b", "b", None, None]
    s = [1.5, None, 1.5, 2.5, 2.5, 2.5]
    found, column = of(q, s)
    assert (found.k, found.classes, found.rows) == (2, 3, 6)
    assert (column.values, column.distinct_l) == (3, 1)
    dropped, kept = of(q, s, missing="drop")
    assert (dropped.k, dropped.classes, dropped.dropped) == (2, 2, 2)
    assert (kept.rows, kept.dropped, kept.distinct_l) == (3, 3, 1)
    with pytest.raises(ParameterError, match="match anything"):
        of(q, s, missing="wildcard")


def test_missing_in_an_ordered_column_is_far_from_everything() -> None:
    """In class a half is missing, in all rows a quarter; the known rows are distributed alike."""
    q = ["a"] * 4 + ["b"] * 4
    _, found = of(q, [1, 2, None, None, 1, 1, 2, 2])
    assert found.t == pytest.approx(0.25)
    _, all_missing = of(q, [None, None, None, None, 1, 2, 3, 4])
    assert all_missing.t == pytest.approx(0.5)


def test_several_sensitive_columns() -> None:
    table = pa.table(
        {
            "q": ["a", "a", "a", "a", "b", "b", "b", "b"],
            "s": ["x", "x", "y", "y", "x", "y", "x", "y"],
            "u": [1, 1, 2, 2, 1, 2, 3, 4],
        }
    )
    found = diversity(table, quasi_identifiers=["q"], sensitive=["s", "u"])
    assert [one.column for one in found.columns] == ["s", "u"]
    assert found.distinct_l == 2
    assert found["s"].t == 0
    assert found.t == found["u"].t > 0
    known = diversity(table, quasi_identifiers=["q"], sensitive=["s", "u"], others_known=True)
    assert known["s"].distinct_l == 1  # u gives s away
    assert known.k == 4
    with pytest.raises(ColumnError, match="no column 'v'"):
        _ = found["v"]


def test_errors() -> None:
    table = pa.table({"q": [1, 2], "s": ["x", "y"]})
    with pytest.raises(RoleError, match="name both"):
        diversity(table, quasi_identifiers=["q"])
    with pytest.raises(ParameterError, match="above 0"):
        diversity(table, **ROLES, c=0)
    with pytest.raises(ParameterError, match="'equal' or 'ordered'"):
        diversity(table, **ROLES, ground={"s": "round"})  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="not both"):
        diversity(table, **ROLES, ground={"s": "equal"}, hierarchies={"s": {"x": ["*"]}})
    with pytest.raises(ParameterError, match="1 of 2 values are not in the hierarchy"):
        diversity(table, **ROLES, hierarchies={"s": {"x": ["*"]}})
    with pytest.raises(ParameterError, match="all equally many"):
        diversity(table, **ROLES, hierarchies={"s": {"x": ["*"], "y": ["a", "*"]}})
    with pytest.raises(ParameterError, match="one root"):
        diversity(table, **ROLES, hierarchies={"s": {"x": ["+"], "y": ["*"]}})
    with pytest.raises(ParameterError, match="which is not sensitive"):
        diversity(table, **ROLES, ground={"q": "equal"})


# Where pyCANON 1.3.6 is wrong. Its numbers were read off a run (benchmarks/studies/pycanon.py
# repeats it); the right ones are worked out by hand.


def test_pycanon_sorts_recursive_counts_the_wrong_way() -> None:
    """Counts 3 and 1, l = 2: 3 < c 1 needs c above 3. pyCANON sorts upwards and says c = 1."""
    _, found = of(["a"] * 4, ["x", "x", "x", "y"])
    assert found.recursive_c == (0.75, 3.0)


def test_pycanon_drops_rows_with_missing_quasi_identifiers() -> None:
    """One row misses its quasi-identifier and is alone: k = 1. pyCANON says 2."""
    found, _ = of(["a", "a", None], ["x", "y", "x"])
    assert found.k == 1
    assert found.distinct_l == 1


def test_pycanon_confuses_labels_with_places() -> None:
    """A frame that was sorted or filtered keeps its labels; pyCANON takes them for places.

    Classes {x, y} and {x, y}: l = 2, t = 0. pyCANON says l = 1, t = 0.5.
    """
    import pandas as pd

    frame = pd.DataFrame({"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"]}, index=[0, 2, 1, 3])
    found = diversity(frame, **ROLES)
    assert found.distinct_l == 2
    assert found.t == 0


def test_pycanon_truncates_entropy_l() -> None:
    """Two equally frequent values are entropy 2-diverse; pyCANON says 1, for eight it says 7."""
    _, found = of(["a"] * 2, ["x", "y"])
    assert found.entropy_l == 2.0
    _, eight = of(["a"] * 8, list("abcdefgh"))
    assert eight.entropy_l == 8.0
    _, uneven = of(["a"] * 3, ["x", "x", "y"])
    assert uneven.entropy_l == pytest.approx(3 / 2 ** (2 / 3))


def test_pycanon_enhanced_beta_is_capped_instead_of_refused() -> None:
    """p = 3/4, q = 1: the gain 1/3 exceeds -ln p = 0.288, so no beta is met.

    pyCANON takes the largest of min(beta, -ln p) over all values and says 1.0.
    """
    _, found = of(["a", "a", "b", "b"], ["x", "x", "x", "y"])
    assert found.beta == pytest.approx(1.0)
    assert math.isinf(found.beta_enhanced)


def test_pycanon_leaves_absent_values_out_of_delta() -> None:
    """Class a lacks y, which all rows have: |log 0| is infinite. pyCANON says ln 2."""
    _, found = of(["a", "a", "b", "b"], ["x", "x", "x", "y"])
    assert math.isinf(found.delta_disclosure_bits)
    assert found.delta_present_bits == pytest.approx(1.0)
    assert found.to_dict()["delta_disclosure_bits"] is None


def test_pycanon_divides_by_zero_for_a_constant_number() -> None:
    """One value only: every class is distributed as all rows. pyCANON divides by zero."""
    _, found = of(["a", "a", "b"], [1, 1, 1])
    assert found.t == 0


def test_pycanon_cannot_take_dates_or_missing_values() -> None:
    """pyCANON raises for dates and for text of which some is missing.

    Missing numbers it counts as a value without rows: of classes {1.5, 1.5} and {missing, missing}
    it says t = 1, though each is half of what all rows are.
    """
    import datetime

    days = [datetime.date(2020, 1, day) for day in (1, 2, 1, 2)]
    _, found = of(["a", "a", "b", "b"], days)
    assert found.t == 0
    assert found.ground is Ground.ORDERED
    _, text = of(["a", "a", "b", "b"], ["x", None, "x", None])
    assert (text.distinct_l, text.t) == (2, 0)
    _, number = of(["a", "a", "b", "b"], [1.5, None, 1.5, float("nan")])
    assert (number.distinct_l, number.t) == (2, 0)
    _, apart = of(["a", "a", "b", "b"], [1.5, 1.5, None, None])
    assert apart.t == 0.5


ADULT_QI = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)


def test_adult(adult: Release) -> None:
    """The numbers of pyCANON 1.3.6 on the same table, where it is right."""
    roles = {**dict.fromkeys(ADULT_QI, Role.QUASI_IDENTIFIER), "income": Role.SENSITIVE}
    found = diversity(adult.with_roles(roles))
    assert found.rows == 32_561
    assert found.k == 1
    assert found.distinct_l == 1
    assert found.t == pytest.approx(0.7591904425539756)
    assert found["income"].beta == pytest.approx(3.152659099604642)
    few = {**dict.fromkeys(("sex", "race"), Role.QUASI_IDENTIFIER), "income": Role.SENSITIVE}
    small = diversity(adult.with_roles(few))
    assert (small.k, small.distinct_l) == (109, 2)


def test_arx_hierarchy_of_adult(adult: Release, data_folder: Path) -> None:
    """t-closeness of education in its tree lies between 0 and that of equal distances."""
    import csv

    path = data_folder / "hierarchies" / "arx_adult" / "adult_hierarchy_education.csv"
    with path.open(newline="") as lines:
        rows = [tuple(row) for row in csv.reader(lines, delimiter=";")]
    roles = {"sex": Role.QUASI_IDENTIFIER, "education": Role.SENSITIVE}
    equal = diversity(adult.with_roles(roles)).t
    nested = diversity(adult.with_roles(roles), hierarchies={"education": rows}).t
    cells = adult.cells(["sex", "education"])
    dense = np.zeros((2, len(cells.values[1])))
    dense[cells.codes[0], cells.codes[1]] = cells.counts
    tree = {row[0]: row[1:] for row in rows}
    paths = [tree[value] for value in cells.values[1].to_pylist()]
    by_hand = max(
        distributions.hierarchical_distance(row, dense.sum(axis=0), paths) for row in dense
    )
    assert nested == pytest.approx(by_hand)
    assert 0 < nested < equal


def test_spark_gives_the_same_numbers(spark: Any) -> None:
    random = np.random.default_rng(3)
    table = pa.table(
        {
            "q": random.integers(0, 4, 60),
            "r": pa.array([None if i % 9 == 0 else "uvw"[i % 3] for i in range(60)]),
            "s": pa.array([None if i % 7 == 0 else float(i % 5) / 2 for i in range(60)]),
            "d": pa.array(["flu", "gout", "HIV"] * 20),
        }
    )
    roles = {"quasi_identifiers": ["q", "r"], "sensitive": ["s", "d"]}
    for missing in ("value", "drop"):
        here = diversity(table, **roles, missing=missing)
        there = diversity(spark.createDataFrame(table), **roles, missing=missing)
        assert there.to_dict(reveal=True) == here.to_dict(reveal=True)
