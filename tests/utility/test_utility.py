"""Utility measures against values computed by hand or by another library."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crypsis import utility as u
from crypsis.errors import ColumnError, ParameterError
from crypsis.hierarchies import Hierarchy, HierarchyGapError
from papers.lodha2007.trade_off import trade_off


def test_trade_off_is_the_equation_of_section_5_2() -> None:
    for n, k in [(10, 2), (250_000, 10_000), (7, 7)]:
        found = trade_off(n, k)
        assert found.privacy == 1 - 1 / k
        assert found.constant == pytest.approx(1 / n**2)
    with pytest.raises(ParameterError):
        trade_off(5, 6)


def test_normalized_error() -> None:
    found = u.normalized_error([0, 1, 2, 3], [1.5] * 4)
    assert (found.error, found.groups, found.ratio) == (1.0, 1, 1.0)
    assert u.normalized_error([1, 2, np.nan], [1, 2, 5]).error == 0


def test_il1s_by_hand() -> None:
    before = np.array([[0.0, 10.0], [2.0, 10.0], [4.0, 10.0]])
    after = before + np.array([[1.0, 5.0], [0.0, 5.0], [0.0, 5.0]])
    assert u.il1s(before, after) == pytest.approx(1 / (np.sqrt(2) * 2) / 3)


def test_correlation_change() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    y = x.copy()
    y[:, 0] = rng.permutation(y[:, 0])
    gap = np.abs(np.corrcoef(x.T) - np.corrcoef(y.T))[np.triu_indices(3, 1)].mean()
    assert u.correlation_change(x, y) == pytest.approx(gap)
    assert u.correlation_change(x, x) == 0


def test_propensity_of_the_same_and_of_another_table() -> None:
    rng = np.random.default_rng(3)
    one = pa.table({"x": rng.normal(size=3_000), "c": rng.choice(list("abc"), 3_000)})
    same = pa.table({"x": rng.normal(size=3_000), "c": rng.choice(list("abc"), 3_000)})
    far = pa.table({"x": rng.normal(5, 1, 3_000), "c": rng.choice(list("ab"), 3_000)})
    assert u.propensity(one, one).pmse == pytest.approx(0, abs=1e-12)
    assert 0.01 < u.propensity(one, same).ratio < 5
    found = u.propensity(one, far)
    assert found.largest == 0.25
    assert found.pmse > 0.2


def test_propensity_expected_value() -> None:
    rng = np.random.default_rng(4)
    ratios = [
        u.propensity(pa.table({"x": rng.normal(size=400)}), pa.table({"x": rng.normal(size=400)})).ratio
        for _ in range(60)
    ]
    assert np.mean(ratios) == pytest.approx(1, abs=0.4)


def test_class_sizes() -> None:
    table = pa.table({"a": [1, 1, 1, 2, 2]})
    assert u.discernibility(table, suppressed=1, quasi_identifiers=["a"]) == 9 + 4 + 6
    assert u.average_class_size(table, k=2, quasi_identifiers=["a"]) == 5 / 2 / 2


def test_a_suppressed_record_costs_1() -> None:
    before = pa.table({"a": ["x", "y", "z", "x"], "b": [1, 2, 3, 4]})
    after = pa.table({"a": ["xy", None, "x"], "b": [1, 2, 3]})
    trees = {"a": Hierarchy([("x", "xy"), ("y", "xy"), ("z", "z")])}
    found = u.information_loss(before, after, ["a", "b"], hierarchies=trees)
    assert found == pytest.approx((2 / 3 + 1 + 0 + 0 + 2) / 8)
    assert u.information_loss(before, before) == 0


def test_information_loss_of_unknown_labels_is_an_error() -> None:
    before, after = pa.table({"a": ["x", "y"]}), pa.table({"a": ["xy", "xy"]})
    with pytest.raises(ColumnError, match="needs its hierarchy"):
        u.information_loss(before, after)
    with pytest.raises(HierarchyGapError):
        u.information_loss(before, after, hierarchies={"a": Hierarchy([("x", "z"), ("y", "z")])})
    with pytest.raises(ParameterError, match="more records"):
        u.information_loss(before.slice(1), before)


def test_distances_against_pandas() -> None:
    rng = np.random.default_rng(5)
    one = pd.DataFrame({"a": rng.integers(0, 4, 300), "b": rng.choice(["p", "q", None], 300)})
    two = pd.DataFrame({"a": rng.integers(0, 5, 200), "b": rng.choice(["p", "q", None], 200)})

    def shares(frame: pd.DataFrame, names: list[str]) -> pd.Series:
        return frame[names].fillna("none").value_counts(normalize=True)

    expected = shares(one, ["a"]).sub(shares(two, ["a"]), fill_value=0).abs().sum() / 2
    assert u.column_changes(one, two, "a").columns[0].distance == pytest.approx(expected)
    expected = shares(one, ["a", "b"]).sub(shares(two, ["a", "b"]), fill_value=0).abs().sum() / 2
    assert u.pairwise_distances(one, two)[0].distance == pytest.approx(expected)


def test_changes_column_by_column() -> None:
    one = pa.table({"id": [1, 2, 3], "a": ["x", "y", None], "n": [1, 2, 3]})
    two = pa.table({"a": ["x", None, None], "n": ["1-2", "1-2", "3"]})
    found = u.column_changes(one, two)
    assert found.removed == ("id",)
    a, n = found.columns
    assert (a.values_before, a.values_after, a.missing_before, a.missing_after) == (2, 1, 1, 2)
    assert a.distance == pytest.approx(1 / 3)
    assert n.distance is None
    assert n.entropy_before_bits == pytest.approx(np.log2(3))


def test_what_labels_of_different_precision_leave() -> None:
    """By hand: two bits; half keep them, a quarter one of them, and a quarter nothing."""
    before = pa.table({"zip": ["10", "11", "20", "21"] * 4})
    labels = ["10", "11", "20", "21"] * 2 + ["1*", "1*", "2*", "2*"] + ["*"] * 2 + [None] * 2
    (change,) = u.column_changes(before, pa.table({"zip": labels})).columns
    assert change.entropy_after_bits == pytest.approx(2 / 2 + 1 / 4)
    # What was missing before is a value like others, and is left.
    missing = pa.table({"zip": ["10", "11", None, None]})
    (same,) = u.column_changes(missing, missing).columns
    assert same.entropy_after_bits == same.entropy_before_bits == 1.5
    # Masked numbers cover nothing: the smaller entropy is all that is known.
    (masked,) = u.column_changes(pa.table({"x": [1, 2, 3, 4]}), pa.table({"x": [1.5, 2.5, 3.5, 4.5]})).columns
    assert masked.entropy_after_bits == 2.0
