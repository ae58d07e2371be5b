"""The transformer in scikit-learn, on pandas and on Polars."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import crypsis
from crypsis.errors import CrypsisError
from crypsis.integrations.sklearn import Anonymizer


def people(kind: Any, rows: int = 200, seed: int = 1) -> Any:
    draw = np.random.default_rng(seed)
    return kind(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": draw.integers(18, 80, rows).tolist(),
            "city": draw.choice(["a", "b", "c"], rows).tolist(),
            "visits": draw.integers(0, 9, rows).tolist(),
        }
    )


def anonymizer(**more: Any) -> Anonymizer:
    roles = {"identifiers": ["name"], "insensitive": ["visits"], "person": "each record"}
    return Anonymizer(**{"k": 5, "quasi_identifiers": ["age", "city"], **roles, **more})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_what_it_is_fitted_to_is_k_anonymous(kind: Any) -> None:
    data = people(kind)
    made = anonymizer()
    released = made.fit_transform(data)
    assert type(released) is type(data)
    assert list(released.columns) == ["age", "city", "visits"]
    assert released["visits"].to_list() == data["visits"].to_list()  # rows stay in their order
    classes: dict[Any, int] = {}
    for one in zip(released["age"].to_list(), released["city"].to_list(), strict=True):
        classes[one] = classes.get(one, 0) + 1
    assert min(classes.values()) >= 5
    assert min(classes.values()) == made.measured_.k


def test_new_data_are_generalized_alike() -> None:
    data = people(pd.DataFrame)
    made = anonymizer().fit(data)
    labels = dict(zip(data["age"], made.transform(data)["age"], strict=True))
    new = made.transform(people(pd.DataFrame, 50, seed=2))
    for age, label in zip(people(pd.DataFrame, 50, seed=2)["age"], new["age"], strict=True):
        assert label == labels.get(age, label)
        assert label is not None
    odd = data.head(2).assign(age=[3, 130], city=["a", "z"])
    assert set(made.transform(odd)["age"]) <= set(labels.values())


def test_an_index_is_kept() -> None:
    data = people(pd.DataFrame).set_index(pd.Index(range(1000, 1200), name="row"))
    assert anonymizer().fit_transform(data).index.equals(data.index)


def test_parameters_and_clones() -> None:
    made = anonymizer()
    assert made.get_params()["quasi_identifiers"] == ["age", "city"]
    other = clone(made).set_params(k=7)
    assert (made.k, other.k) == (5, 7)
    with pytest.raises(NotFittedError):
        other.transform(people(pd.DataFrame))
    assert other.fit(people(pd.DataFrame)).measured_.k >= 7


def test_in_a_pipeline() -> None:
    data = people(pd.DataFrame)
    target = (data["age"] > 50).astype(int)
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["age", "city"]))
    pipe = make_pipeline(anonymizer(), encode, LogisticRegression())
    assert pipe.fit(data, target).score(data, target) > 0.7
    grid = {"anonymizer__k": [2, 5]}
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(data, target)
    assert search.best_params_["anonymizer__k"] in (2, 5)
    assert list(pipe[0].get_feature_names_out()) == ["age", "city", "visits"]


def test_mistakes_are_errors() -> None:
    with pytest.raises(CrypsisError, match="named columns"):
        anonymizer().fit(np.zeros((10, 4)))
    with pytest.raises(CrypsisError, match="undecided"):
        anonymizer(insensitive=[]).fit(people(pd.DataFrame))
    made = anonymizer().fit(people(pd.DataFrame))
    with pytest.raises(CrypsisError, match="'city' does not exist"):
        made.transform(people(pd.DataFrame).drop(columns="city"))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("column", ["age", "city"])
def test_a_missing_value_does_not_cost_a_column(kind: Any, column: str) -> None:
    """One record has no age: it could be in a class with others only if nobody had one."""
    data = people(dict, 432)
    data[column][0] = None
    made = anonymizer()
    released = made.fit_transform(kind(data))
    for name in ("age", "city"):
        assert sum(one is None or one != one for one in released[name].to_list()) <= 15, name
    assert 5 <= made.emptied_ <= 0.05 * 432
    found = crypsis.singling_out.k_anonymity(released, quasi_identifiers=["age", "city"])
    assert found == made.measured_.k >= 5
    assert released["visits"].to_list() == data["visits"]
    full = anonymizer(suppression=0.0)
    with pytest.warns(UserWarning, match="All values of .* are suppressed"):
        full.fit(kind(data))
    assert made.loss_.ncp + made.emptied_ / 432 < 0.2 < full.loss_.ncp


def test_a_column_that_is_empty_is_named() -> None:
    data = people(pd.DataFrame).assign(city=[f"c{n}" for n in range(200)])
    with pytest.warns(UserWarning, match="'city' are suppressed"):
        released = anonymizer().fit_transform(data)
    assert released["city"].isna().all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anonymizer().fit(people(pd.DataFrame))  # nothing to be said
