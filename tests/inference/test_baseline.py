"""The baseline: no seed, no folds; a class is left out as if the model had never seen it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression

from crypsis.counting.cells import Cells
from crypsis.dataset import ColumnNote, Dataset
from crypsis.inference import value_disclosure
from crypsis.inference._baseline import baseline
from crypsis.inference._class_regression import Regression, chances_of

ROLES: dict[str, Any] = {"sensitive": ["s"]}


def classes_of(*columns: np.ndarray) -> Cells:
    """A class for each row of these columns."""
    coded = [np.unique(column, return_inverse=True) for column in columns]
    names = tuple(f"q{place}" for place in range(len(columns)))
    codes = tuple(code.astype(np.int32) for _, code in coded)
    values = tuple(pa.array(value.tolist()) for value, _ in coded)
    return Cells(names, codes, values, np.ones(len(columns[0]), np.int64))


def cells_of(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The class, the state and the number of each cell of a table of counts."""
    member, state = np.nonzero(counts)
    return member, state, counts[member, state]


def two_columns(seed: int, shared: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A class for each pair of values of two columns, whose effects on the log odds add up."""
    random = np.random.default_rng(seed)
    a, b = (grid.ravel() for grid in np.meshgrid(np.arange(6), np.arange(shared)))
    sizes = random.integers(10, 60, a.size)
    chances = 1 / (1 + np.exp(-(random.normal(0, 1, 6)[a] + random.normal(0, 1, shared)[b])))
    ill = random.binomial(sizes, chances)
    return np.column_stack([a, b]), sizes.astype(float), ill.astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_a_class_is_left_out_as_by_fitting_without_it(seed: int) -> None:
    """Each class against a regression of another library to the records of all other classes."""
    levels, sizes, ill = two_columns(seed)
    penalty = np.diag([1e-9, *[2.0] * 10])
    columns = np.column_stack([np.zeros(len(levels), int), 1 + levels[:, 0], 7 + levels[:, 1]])
    model = Regression(columns, penalty)
    rows = np.arange(len(levels))
    fitted = model.fit(sizes, ill)
    one_step = model.left_out(fitted, rows, sizes, ill)
    found = model.refitted(fitted, one_step, rows, sizes, ill)
    effects = np.column_stack([levels[:, [0]] == np.arange(6), levels[:, [1]] == np.arange(4)])
    for left_out in rows:
        others = np.repeat(rows[rows != left_out], 2)
        other = LogisticRegression(C=0.5, tol=1e-10, max_iter=1_000)
        weights = np.column_stack([sizes - ill, ill])[rows != left_out].ravel()
        other.fit(effects[others], np.tile([0, 1], len(rows) - 1), sample_weight=weights)
        expected = other.predict_proba(effects[[left_out]])[0, 1]
        assert chances_of(found[left_out]) == pytest.approx(expected, abs=0.002)
        assert chances_of(one_step[left_out]) == pytest.approx(expected, abs=0.05)


def test_one_class_more_changes_what_others_predict_for_it_not_at_all() -> None:
    """What the members of a class have says nothing of the prediction for them."""
    levels, sizes, ill = two_columns(9)
    predicted = []
    for share in (0.0, 0.5, 1.0):
        changed = ill.copy()
        changed[5] = share * sizes[5]
        table = np.column_stack([sizes - changed, changed])
        found = baseline(classes_of(*levels.T), *cells_of(table), 2, np.arange(len(levels)))
        predicted.append(found[5, 1])
    assert np.ptp(predicted) < 0.05


def test_with_two_classes_it_is_the_share_in_the_other() -> None:
    table = np.array([[30, 10], [20, 40]])
    found = baseline(classes_of(np.array(["f", "m"])), *cells_of(table), 2, np.arange(2))
    assert found == pytest.approx(np.array([[20, 40], [30, 10]]) / [[60], [40]])


def test_weights_of_cells_are_records() -> None:
    """A cell that stands for many records is these records; weights need not be whole."""
    levels, sizes, ill = two_columns(3)
    table = np.column_stack([sizes - ill, ill])
    member, state, counts = cells_of(table)
    every = np.arange(len(levels))
    classes = classes_of(*levels.T)
    whole = baseline(classes, member, state, counts, 2, every)
    halves = [np.concatenate([array, array]) for array in (member, state)]
    split = np.concatenate([0.25 * counts, 0.75 * counts])
    assert baseline(classes, *halves, split, 2, every) == pytest.approx(whole)


@pytest.mark.parametrize("states", [2, 5])
def test_the_probabilities_of_all_states_are_one(states: int) -> None:
    random = np.random.default_rng(4)
    table = random.integers(0, 9, (40, states))
    table[:, 0] += 1
    classes = classes_of(np.arange(40) % 8, np.array(list("abcde"))[np.arange(40) // 8])
    found = baseline(classes, *cells_of(table), states, np.arange(40))
    assert found.sum(axis=1) == pytest.approx(np.ones(40))
    assert found.min() > 0


def explained(kind: str, rows: int = 40_000) -> pa.Table:
    """400 classes of about a hundred people, whose risk other people explain in full."""
    random = np.random.default_rng(11)
    age, region, sex = (random.integers(0, values, rows) for values in (20, 10, 2))
    risk = {
        "sums": 0.1 + 0.02 * age + 0.03 * region,
        "pairs": np.where((sex == 1) & (age >= 14), 0.7, 0.1),
        "steps": np.where((age >= 5) & (age < 9), 0.75, 0.15),
        "odds": chances_of(age / 4 - 2.5 + np.array([-3, -1, 0, 2, 4])[region // 2] / 2),
        "texts": np.where(np.isin(region, [2, 5, 7]), 0.7, 0.1),
    }[kind]
    names = np.array([f"region {letter}" for letter in "kcfaheigdb"])
    return pa.table(
        {
            "age": age,
            "region": names[region],
            "sex": np.array(["f", "m"])[sex],
            "s": np.where(random.random(rows) < risk, "ill", "well"),
        }
    )


@pytest.mark.parametrize("kind", ["sums", "pairs", "steps", "odds", "texts"])
def test_what_other_people_explain_is_no_excess_in_hundreds_of_classes(kind: str) -> None:
    found = value_disclosure(explained(kind), quasi_identifiers=["age", "region", "sex"], **ROLES)["s"]
    assert found.classes > 300
    assert found.excess.value < 0.2


def test_one_class_that_differs_is_an_excess_among_hundreds() -> None:
    table = explained("pairs").to_pandas()
    hit = (table["age"] == 3) & (table["region"] == "region f") & (table["sex"] == "f")
    table.loc[hit, "s"] = np.where(np.arange(hit.sum()) % 5 < 4, "ill", "well")
    found = value_disclosure(table, quasi_identifiers=["age", "region", "sex"], **ROLES)["s"]
    assert found.excess.value > 0.4
    assert found.excess.worst is not None
    assert found.excess.worst.group.values == (3, "region f", "f")


def test_the_order_of_the_records_and_the_names_of_values_decide_nothing() -> None:
    """A verdict that hangs on chance would differ: the folds were drawn by a hash of the values."""
    table = explained("sums", 8_000).to_pandas()
    other = table.sample(frac=1, random_state=1).assign(sex=table["sex"].map({"f": "1", "m": "2"}))
    found = [
        value_disclosure(one, quasi_identifiers=["age", "region", "sex"], **ROLES)["s"].excess.value
        for one in (table, table.sample(frac=1, random_state=2), other)
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-9)
    assert found[2] == pytest.approx(found[0], abs=0.02)


def by_class(common: int, share: int, size: int = 20, classes: int = 60) -> pa.Table:
    """Classes in which `share` of 20 say "no", and a first one in which `common` do."""
    place = np.arange(size * classes)
    values = np.where(place % 20 < share, "no", "yes")
    values[:size] = np.where(np.arange(size) < common, "no", "yes")
    return pa.table({"q": place // size, "s": values})


def test_a_common_value_does_not_jump_where_nearly_all_share_it() -> None:
    """17 of 20 counted as 0.66 and 18 of 20 as 0.90: both count by their lower limits."""
    found = [
        value_disclosure(by_class(common, 12), quasi_identifiers=["q"], **ROLES)["s"].excess.value
        for common in range(16, 21)
    ]
    lower = [float(beta.ppf(0.05, common, 21 - common)) for common in range(16, 21)]
    assert found[1:] == pytest.approx([limit - 0.6 for limit in lower[1:]], abs=0.001)
    assert np.diff(found).max() < 0.15
    assert found[-1] > 0.2  # all of 20 share what 60 % have: one in 27,000 by chance


@pytest.mark.parametrize("seed", range(8))
def test_five_who_share_what_most_people_have_are_no_disclosure(seed: int) -> None:
    """Five times "no" where 80 % say no: one class in three by chance alone."""
    random = np.random.default_rng(seed)
    values = np.where(random.random(1_000) < 0.8, "no", "yes")
    table = pa.table({"q": np.arange(1_000) // 5, "s": values})
    found = value_disclosure(table, quasi_identifiers=["q"], **ROLES)["s"]
    alike = (values.reshape(-1, 5) == "no").all(axis=1)
    assert alike.sum() > 40
    assert found.excess._by_class[alike].max() < 0.05
    assert not found._certain[alike].any()


@pytest.mark.parametrize("harmless", [None, "yes"])
def test_all_of_a_class_with_a_rare_or_declared_value_are_caught(harmless: str | None) -> None:
    rare = "yes" if harmless is None else "no"
    table = by_class(0 if rare == "yes" else 20, 16)
    data = Dataset.from_frame(table, quasi_identifiers=["q"], sensitive=["s"])
    if harmless is not None:
        data = data.with_roles(data.roles, {"s": ColumnNote(harmless=(harmless,))})
    found = value_disclosure(data)["s"]
    assert found.near_certain == 20
