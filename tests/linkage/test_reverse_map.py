from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crypsis import linkage
from crypsis.errors import ColumnError, InputError, ParameterError
from crypsis.hierarchies import Hierarchy

DISEASES = Hierarchy.from_ancestors(
    {"flu": ("lung", "*"), "asthma": ("lung", "*"), "ulcer": ("gut", "*"), "gout": ("joint", "*")}
)


def test_columns_become_permutations_in_the_order_of_the_masked_ones() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, size=(200, 2))
    y = x + rng.normal(size=x.shape)
    z = linkage.reverse_map(x, y)
    np.testing.assert_array_equal(np.sort(z, axis=0), np.sort(x, axis=0))
    for j in range(2):
        order = np.argsort(y[:, j])
        assert (np.diff(z[order, j]) >= 0).all()


def test_returns_the_kind_of_frame_given() -> None:
    x, y = {"a": [3, 1, 2], "s": ["u", "v", "w"]}, {"a": [1.5, 9.0, 0.2], "s": ["w", "u", "v"]}
    options = {"orders": {"s": ["u", "v", "w"]}}
    arrow = linkage.reverse_map(pa.table(x), pa.table(y), **options)
    assert isinstance(arrow, pa.Table)
    assert arrow.to_pydict() == {"a": [2, 3, 1], "s": ["w", "u", "v"]}
    polars = linkage.reverse_map(pl.DataFrame(x), pl.DataFrame(y), **options)
    assert isinstance(polars, pl.DataFrame)
    assert polars.to_dict(as_series=False) == arrow.to_pydict()
    masked = pd.DataFrame(y, index=[7, 8, 9])
    pandas = linkage.reverse_map(pd.DataFrame(x), masked, **options)
    assert list(pandas.index) == [7, 8, 9]
    assert pandas.to_dict("list") == arrow.to_pydict()
    mixed = linkage.reverse_map(pl.DataFrame(x), masked, **options)
    assert mixed.to_dict("list") == arrow.to_pydict()


def test_ties_repeat_with_the_seed() -> None:
    x, y = np.arange(50.0)[:, None], np.zeros((50, 1))
    one, again, other = (linkage.reverse_map(x, y, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_unequal_counts_take_the_same_quantile() -> None:
    z = linkage.reverse_map({"a": [10, 20, 30, 40]}, {"a": [7.0, 5.0]})
    assert list(z["a"]) == [40, 20]
    z = linkage.reverse_map({"a": [10, 20]}, {"a": [1.0, 2.0, 3.0, 4.0]})
    assert list(z["a"]) == [10, 10, 20, 20]


def test_mean_residual_noise_never_exceeds_mean_noise() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y = rng.normal(size=(30, 1)), rng.gamma(1.0, size=(30, 1)) * 5
        step = linkage.decompose_noise(x, y)[0]
        assert step.residual_noise is not None
        assert step.noise is not None
        assert step.residual_noise <= step.noise + 1e-12


def test_residual_noise_is_not_necessarily_small() -> None:
    """The paper says it is; Y = 1000 X is a counterexample: no rank changes, all is residual."""
    x = np.random.default_rng(0).normal(size=(100, 1))
    step = linkage.decompose_noise(x, 1000 * x)[0]
    assert step.rank_correlation == 1.0
    assert step.residual_noise == step.noise
    assert step.residual_noise is not None
    assert step.residual_noise > 100 * x.std()


def test_the_decomposition_needs_the_true_matches() -> None:
    with pytest.raises(InputError, match="row map"):
        linkage.decompose_noise({"a": [1, 2]}, {"a": [1, 2, 3]})
    steps = linkage.decompose_noise({"a": [1, 2, 9]}, {"a": [3, 4]}, row_map=[1, 0])
    assert steps[0].noise == pytest.approx((abs(3 - 2) + abs(4 - 1)) / 2)


def test_categories_are_ranked_but_not_subtracted() -> None:
    x = {"s": ["a", "b", "c", "a"]}
    step = linkage.decompose_noise(x, x, orders={"s": ["c", "b", "a"]})[0]
    assert (step.noise, step.residual_noise, step.smaller_share) == (None, None, None)
    assert step.rank_correlation == 1.0


def test_ordered_categories_have_an_order() -> None:
    levels = ["low", "middle", "high"]
    values = ["high", "low", "middle"]
    masked = ["middle", "low", "high"]
    for make in (
        lambda v: pl.DataFrame({"g": pl.Series(v, dtype=pl.Enum(levels))}),
        lambda v: pd.DataFrame({"g": pd.Categorical(v, categories=levels, ordered=True)}),
    ):
        found = linkage.link(make(values), make(masked))
        assert [match.tolist() for match in found.matches] == [[2], [1], [0]]
    with pytest.raises(ColumnError, match="differ between the two files"):
        linkage.link(
            pl.DataFrame({"g": pl.Series(values, dtype=pl.Enum(levels))}),
            pl.DataFrame({"g": pl.Series(masked, dtype=pl.Enum(levels[::-1]))}),
        )


def test_frequency_order_ranks_the_rarest_first() -> None:
    x = {"s": ["a", "b", "b", "c", "c", "c"]}
    y = {"s": ["c", "c", "c", "b", "b", "a"]}
    z = linkage.reverse_map(x, y, orders={"s": "frequency"})
    assert list(z["s"]) == list(y["s"])
    assert linkage.decompose_noise(x, y, orders={"s": "frequency"})[0].rank_correlation < 0


def test_marginality_order_of_a_hierarchy() -> None:
    values = ["gout", "ulcer"] + ["ulcer"] * 2 + ["asthma"] * 5 + ["flu"] * 10
    z = linkage.reverse_map(
        {"d": values}, {"d": ["gout", "flu"]}, orders={"d": DISEASES}
    )  # central values first: flu, asthma, ulcer, gout
    assert list(z["d"]) == ["asthma", "flu"]
    assert DISEASES.marginality_order({"flu": 10, "asthma": 5, "ulcer": 3, "gout": 1}) == (
        "flu",
        "asthma",
        "ulcer",
        "gout",
    )
    with pytest.raises(ColumnError, match="not in its hierarchy"):
        linkage.link({"d": ["flu"]}, {"d": ["plague"]}, orders={"d": DISEASES})


def test_orders_from_text(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("flu;lung;*\nulcer;gut;*\n")
    found = linkage.read_orders(["a=frequency", 'b="x,y", z'], [f"d={tmp_path / 'tree.csv'}"])
    assert found["a"] == "frequency"
    assert found["b"] == ["x,y", "z"]
    assert found["d"].values == ("flu", "ulcer")
    for wrong in ("a", "a=", "=x"):
        with pytest.raises(ParameterError, match="is written COLUMN="):
            linkage.read_orders([wrong])
