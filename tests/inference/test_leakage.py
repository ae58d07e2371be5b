"""Leakage: the classes at risk, what is assumed, missing values, errors, engines."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from crypsis.counting.cells import Cells
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, InputError, ParameterError, TooLargeError
from crypsis.inference import UniquenessBasis, leakage
from crypsis.inference import _uniqueness as how

PEOPLE = pa.table(
    {
        "id": range(10),
        "age": [30, 30, 30, 30, 41, 41, 41, 52, 52, 63],
        "sex": ["f", "m", "f", "m", "f", "f", "f", "m", "m", "f"],
        "disease": ["flu", "flu", "gout", "HIV", "flu", "flu", "flu", "gout", "HIV", "flu"],
    }
)


def test_best_guess_and_its_class() -> None:
    found = leakage(PEOPLE, "disease", ["age"])
    guess = found.best_guess
    assert guess.prior == 0.6
    assert guess.average == pytest.approx((2 + 3 + 1 + 1) / 10)
    assert guess.worst == 1.0
    assert guess.average_gain == pytest.approx(0.1)
    assert guess.worst_gain == pytest.approx(0.4)
    assert float(guess) == 1.0
    # Ages 41 and 63 both give the disease away; the larger group is named.
    assert guess.worst_class.group.size == 3
    assert guess.worst_class.group.values == (41,)
    assert guess.worst_class.guess == "flu"
    assert found.worst_class.group.values == (41,)
    assert found.itpr == 1.0


def test_table_of_classes_is_sorted_by_risk() -> None:
    found = leakage(PEOPLE, "disease", ["age"])
    table = found.table()
    assert table["age"].to_pylist() == [41, 63, 30, 52]
    assert table["size"].to_pylist() == [3, 1, 4, 2]
    assert table["best_guess"].to_pylist() == [1.0, 1.0, 0.5, 0.5]
    assert table["guess"].to_pylist() == ["flu", "flu", "flu", "HIV"]
    assert found.table("itpr")["age"].to_pylist() == [41, 63, 52, 30]
    assert found.table("divergence")["age"].to_pylist()[0] == 52
    assert [one.group.values[0] for one in found.riskiest] == [41, 63, 30, 52]
    with pytest.raises(ParameterError, match="is one of"):
        found.table("size")  # type: ignore[arg-type]


def test_given_columns_may_be_called_like_measures() -> None:
    table = PEOPLE.rename_columns(["id", "size", "guess", "disease"])
    found = leakage(table, "disease", ["size", "guess"]).table()
    assert found.column_names[:3] == ["size", "guess", "size (class)"]
    assert found["size (class)"].to_pylist()[0] == 3


def test_no_data_value_is_shown_unless_asked_for() -> None:
    found = leakage(PEOPLE, "disease", ["age", "sex"])
    table = PEOPLE.set_column(1, "age", pa.array([f"aged-{age}" for age in range(10)]))
    named = leakage(table, "disease", ["age"])
    shown = (str(named), repr(named), named._repr_html_(), str(named.to_dict()), str(found))
    for text in shown:
        assert "aged-" not in text
        assert "flu" not in text
    assert named == leakage(table, "disease", ["age"])
    assert found.to_dict(reveal=True)["best_guess"]["worst_class"]["guess"] == "flu"


def test_contributions() -> None:
    """x is a xor b: each adds everything and reveals nothing alone; c and its copy add nothing."""
    table = pa.table(
        {
            "a": [0, 0, 1, 1] * 2,
            "b": [0, 1] * 4,
            "c": [0] * 4 + [1] * 4,
            "copy": [0] * 4 + [1] * 4,
            "x": [0, 1, 1, 0] * 2,
        }
    )
    found = {one.column: one for one in leakage(table, "x", ["a", "b", "c", "copy"]).contributions}
    assert found["a"].alone_bits == 0
    assert found["a"].added_bits == 1
    assert found["a"].best_guess_alone == 0.5
    assert found["a"].best_guess_added == 0.5
    assert found["c"].added_bits == found["copy"].added_bits == 0


def test_contributions_to_identity() -> None:
    """What a column adds to re-identification is the entropy it adds."""
    found = leakage(PEOPLE, "id", ["age", "sex"], unique=True)
    cells = Dataset.from_frame(PEOPLE).cells(["age", "sex"])
    both = cells.entropy_bits()
    added = {one.column: one.added_bits for one in found.contributions}
    assert found.mutual_information == pytest.approx(both)
    assert added["age"] == pytest.approx(both - cells.marginal(["sex"]).entropy_bits())
    assert added["sex"] == pytest.approx(both - cells.marginal(["age"]).entropy_bits())


def test_rare_group_makes_itpr_high_and_best_guess_not() -> None:
    """Independent target, one rare group: ITPR 0.9, nothing to infer (README of the papers)."""
    table = pa.table({"y": ["rare"] * 20 + ["common"] * 380, "x": (["a"] * 10 + ["b"] * 10) * 20})
    found = leakage(table, "x", ["y"])
    assert found.itpr == pytest.approx(1 - 2 * 20 / 400)
    assert found.itpr_independent == pytest.approx(found.itpr)
    assert found.itpr_shuffled.low <= 0.91  # type: ignore[union-attr]
    assert found.itpr_shuffled.high >= 0.9  # type: ignore[union-attr]
    assert found.best_guess.worst_gain == 0
    assert found.mutual_information == pytest.approx(0, abs=1e-12)


def test_shuffled_itpr_is_seeded_and_below_a_real_dependence() -> None:
    table = pa.table({"y": [i % 4 for i in range(400)], "x": [i % 2 for i in range(400)]})
    one, again, other = (leakage(table, "x", ["y"], seed=seed) for seed in (1, 1, 2))
    assert one.itpr_shuffled == again.itpr_shuffled
    assert one.itpr_shuffled != other.itpr_shuffled
    assert one.itpr == 1.0
    assert one.itpr_shuffled.high < 0.1  # type: ignore[union-attr]
    with pytest.raises(ParameterError, match="seed"):
        leakage(table, "x", ["y"], seed=-1)


def test_shuffled_itpr_of_large_data_agrees_with_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    from crypsis.inference import _leakage

    table = pa.table({"y": [i % 50 for i in range(5000)], "x": [i % 7 for i in range(5000)]})
    permuted = leakage(table, "x", ["y"]).itpr_shuffled
    monkeypatch.setattr(_leakage, "_MAX_PERMUTED_RECORDS", 0)
    drawn = leakage(table, "x", ["y"]).itpr_shuffled
    assert "permutations" in permuted.method  # type: ignore[union-attr]
    assert "draws" in drawn.method  # type: ignore[union-attr]
    assert float(drawn) == pytest.approx(float(permuted), abs=0.01)


@pytest.mark.parametrize("unique", [True, False])
def test_identity_is_the_same_counted_or_declared(unique: bool) -> None:
    found = leakage(PEOPLE, "id", ["age"], unique=unique)
    sizes = [4, 3, 2, 1]
    left = sum(size / 10 * math.log2(size) for size in sizes)
    assert found.entropy_bits == pytest.approx(math.log2(10))
    assert found.conditional_entropy_bits == pytest.approx(left)
    assert found.joint_entropy_bits == pytest.approx(math.log2(10))
    assert found.best_guess.average == pytest.approx(0.4)
    assert found.best_guess.prior == pytest.approx(0.1)
    assert found.max_information_leakage_divergence == pytest.approx(math.log2(10))
    assert found.worst_class.distinct == 1
    assert found.itpr_shuffled == found.itpr == 1.0


def test_uniqueness_declared_proved_counted() -> None:
    assert leakage(PEOPLE, "id", ["age"]).uniqueness is UniquenessBasis.COUNTED
    assert leakage(PEOPLE, "id", ["age"], unique=True).uniqueness is UniquenessBasis.DECLARED
    assert leakage(PEOPLE, "id", ["age"], prove=True).uniqueness is UniquenessBasis.PROVED
    assert leakage(PEOPLE, "disease", ["age"], prove=True).uniqueness is UniquenessBasis.COUNTED
    with pytest.raises(ColumnError, match="declared unique, but it has 3 values in 10 records"):
        leakage(PEOPLE, "disease", ["age"], unique=True, prove=True)
    with pytest.raises(ParameterError, match="nothing to prove"):
        leakage(PEOPLE, "id", ["age"], unique=False, prove=True)


def test_uniqueness_is_never_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(how, "FIRST_RECORDS", 9)
    found = leakage(PEOPLE, "id", ["age"])
    assert found.uniqueness is UniquenessBasis.PROVED
    assert found.itpr == leakage(PEOPLE, "id", ["age"], unique=True).itpr
    assert leakage(PEOPLE, "disease", ["age"]).uniqueness is UniquenessBasis.COUNTED


def test_a_long_unique_target_is_never_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    """One and a half million rows: the id is looked at, and only the given column is counted."""
    import duckdb

    rows = duckdb.sql("SELECT range AS id, range % 120 AS age FROM range(1500000)")
    asked: list[tuple[str, ...]] = []
    grouped = Dataset.cells

    def watched(self: Dataset, columns: Any = None, **options: Any) -> Cells:
        asked.append(tuple(columns))
        return grouped(self, columns, **options)

    monkeypatch.setattr(Dataset, "cells", watched)
    found = leakage(rows, "id", ["age"])
    assert asked == [("age",)]
    assert found.uniqueness is UniquenessBasis.PROVED
    assert found.records == 1_500_000
    assert found.best_guess.worst == pytest.approx(1 / 12_500)


@pytest.mark.parametrize("given", [["age"], ["age", "sex"]])
def test_constant_target_leaks_nothing(given: list[str]) -> None:
    table = PEOPLE.append_column("same", pa.array(["x"] * 10))
    found = leakage(table, "same", given)
    for name in (
        "entropy_bits",
        "mutual_information",
        "discrimination_rate",
        "conditional_privacy",
        "max_information_leakage",
        "max_information_leakage_difference",
        "max_information_leakage_divergence",
        "itpr",
        "itpr_before_scaling",
        "itpr_independent",
        "itpr_shuffled",
    ):
        assert getattr(found, name) == 0, name
    assert found.best_guess.worst_gain == found.best_guess.average_gain == 0
    assert all(math.isfinite(value) for value in found.to_dict().values() if type(value) is float)


def test_missing_values() -> None:
    table = pa.table({"y": [1, 1, None, None], "x": ["a", None, "a", "b"]})
    value = leakage(table, "x", ["y"])
    assert (value.classes, value.records, value.dropped) == (2, 4, 0)
    assert value.entropy_bits == pytest.approx(1.5)
    drop = leakage(table, "x", ["y"], missing="drop")
    assert (drop.classes, drop.records, drop.dropped) == (1, 1, 3)
    assert drop.itpr == 0
    with pytest.raises(ParameterError, match="match any value"):
        leakage(table, "x", ["y"], missing="wildcard")
    full = leakage(PEOPLE, "disease", ["age"], missing="wildcard")
    assert full.itpr == leakage(PEOPLE, "disease", ["age"]).itpr


def test_missing_values_leave_nothing() -> None:
    table = pa.table({"y": pa.array([None, None], pa.int64()), "x": [1, 2]})
    with pytest.raises(InputError, match="no record is left"):
        leakage(table, "x", ["y"], missing="drop")


@pytest.mark.parametrize(
    ("target", "given", "message"),
    [
        ("disease", ["agee"], r"Column 'agee' does not exist \(did you mean 'age'\?\)"),
        ("illness", ["age"], "Column 'illness' does not exist"),
        ("disease", ["age", "disease"], "'disease' is among the given columns"),
        ("disease", [], "No given column"),
        ("disease", ["age", "age"], "named twice"),
    ],
)
def test_wrong_columns(target: str, given: list[str], message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        leakage(PEOPLE, target, given)


def test_empty_data() -> None:
    with pytest.raises(InputError, match="no records"):
        leakage(PEOPLE.slice(0, 0), "disease", ["age"])
    with pytest.raises(InputError, match="no records"):
        leakage(PEOPLE.slice(0, 0), "id", ["age"], unique=True)


def test_given_are_the_quasi_identifiers_by_default() -> None:
    release = Dataset.from_frame(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["disease"])
    assert leakage(release, "disease").given == ("age", "sex")
    assert leakage(release, "disease", "age").given == ("age",)


def test_too_many_values_of_the_target_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from crypsis.tables import Rows

    cells = Rows.cells

    def few(self: Rows, names: Any, **options: Any) -> pa.Table:
        return cells(self, names, **{**options, "at_most": 2})

    monkeypatch.setattr(Rows, "cells", few)
    with pytest.raises(TooLargeError, match="distinct combinations"):
        leakage(PEOPLE, "disease", ["age"])


def test_spark_gives_the_same_numbers(spark: Any) -> None:
    table = PEOPLE.append_column("score", pa.array([1.5, None, float("nan"), 2.5, 1.5] * 2))
    there = spark.createDataFrame(table)
    for target, given, options in (
        ("disease", ["age", "sex", "score"], {}),
        ("id", ["age", "score"], {"unique": True}),
        ("id", ["age"], {"prove": True}),
        ("score", ["age"], {"missing": "drop"}),
    ):
        here = leakage(table, target, given, **options)
        found = leakage(there, target, given, **options)
        assert found.to_dict(reveal=True) == here.to_dict(reveal=True)
        assert found.table().to_pylist() == here.table().to_pylist()


def test_a_sorted_file_hides_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No repeat in the first records; all later ones share a value."""
    monkeypatch.setattr(how, "FIRST_RECORDS", 9)
    table = pa.table({"age": [1] * 10 + [2] * 10, "ill": [f"d{i}" for i in range(10)] + ["x"] * 10})
    found = leakage(table, "ill", ["age"])
    assert found.uniqueness is UniquenessBasis.COUNTED
    assert found.best_guess.worst == 1
