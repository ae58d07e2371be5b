"""What was not required of a release is measured all the same, and stated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import RoleError

ROWS = 600


def people(**more: object) -> pa.Table:
    draw = np.random.default_rng(3)
    age = draw.integers(20, 60, ROWS)
    ill = draw.permutation(np.array(["flu", "gout", "none"] * (ROWS // 3)))
    return pa.table({"age": age, "ill": ill, **more})


def known(**more: list[str]) -> dict[str, list[str]]:
    return {"quasi_identifiers": ["age"], "sensitive": ["ill"], **more}


def test_near_certain_values_are_stated_if_nothing_was_required_of_them() -> None:
    table = people()
    ill = np.where(np.asarray(table["age"]) < 40, "HIV", "flu")
    table = table.set_column(1, "ill", pa.array(np.where(np.arange(ROWS) % 3 == 0, ill, ill)))
    made = cr.anonymize(
        table,
        k=20,
        recoding="full-domain",
        methods={"age": "keep"},
        seed=1,
        suppression=1.0,
        **known(),
        person="each record",
    )
    left = made.statement.not_required
    assert left is not None
    assert left.sensitive == ("ill",)
    # In the classes, which are single ages, everybody has the same disease; both are rare.
    released = made.frame.to_pandas()
    rare = released["ill"].value_counts(normalize=True)
    sure = released.groupby("age")["ill"].transform("nunique") == 1
    counted = int((sure & released["ill"].map(rare).le(0.5)).sum())
    assert left.near_certain == counted > 0
    text = "Nothing is required of the sensitive attributes ('ill')"
    assert text in str(made)
    assert "## Not required" in made.statement.to_markdown()


def test_nothing_is_stated_where_it_was_required() -> None:
    made = cr.anonymize(people(), k=20, excess=0.2, seed=1, **known(), person="each record")
    assert made.statement.not_required is None
    assert "Nothing is required" not in str(made)


def test_classes_with_the_other_columns_are_counted() -> None:
    form = [f"f{n % 3}" if n else "rare" for n in range(ROWS)]
    made = cr.anonymize(
        people(form=form), k=20, excess=0.5, seed=1, **known(insensitive=["form"]), person="each record"
    )
    left = made.statement.not_required
    assert left is not None
    released = made.frame.to_pandas()
    sizes = released.groupby(["age", "form"]).size()
    assert left.columns == ("form",)
    assert left.k == sizes.min() == 1
    assert left.below == sizes[sizes < 20].sum()
    assert "'form' is not part of the equivalence classes" in str(made)


def test_a_column_that_gives_back_one_that_is_not_released() -> None:
    income = np.random.default_rng(5).integers(20, 90, ROWS) * 1_000
    table = people(income=income, tax=income * 0.3)
    with pytest.raises(RoleError, match="which was not released") as raised:
        cr.anonymize(table, k=5, **known(insensitive=["tax"]), excluded=["income"], person="each record")
    assert raised.value.code == "derived-column"
    assert raised.value.parameters["columns"] == ("tax",)
    cents = income + np.arange(ROWS) / 100  # an identifier of every record, given back as well
    with pytest.raises(RoleError, match="which was not released"):
        cr.anonymize(
            people(income=cents, tax=cents * 0.3),
            k=5,
            **known(insensitive=["tax"]),
            identifiers=["income"],
            person="each record",
        )


def test_keys_and_unrelated_columns_are_no_such_columns() -> None:
    draw = np.random.default_rng(6)
    table = people(number=np.arange(ROWS), visit=np.arange(ROWS) // 2, income=draw.integers(20, 90, ROWS))
    made = cr.anonymize(
        table,
        k=5,
        **known(insensitive=["visit"]),
        excluded=["income"],
        identifiers=["number"],
        person="each record",
    )
    assert "visit" in made.data.names
