"""Held-out prediction of columns without values, with one value and with numbers of any size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from crypsis.inference import prediction_gain
from crypsis.results import Estimate

_COUNT = 120
_DRAWN = np.random.default_rng(0)
_TARGETS = {
    "values": _DRAWN.choice(["a", "b", "c"], _COUNT),
    "numbers": _DRAWN.normal(size=_COUNT),
    "many": np.arange(_COUNT) % 15,
}
_COLUMNS = {
    "no texts": pa.nulls(_COUNT, pa.string()),
    "no numbers": pa.nulls(_COUNT, pa.int64()),
    "only NaN": pa.array([float("nan")] * _COUNT),
    "one value": pa.array([1.0] + [None] * (_COUNT - 1)),
    "infinite": pa.array([float("inf") if i % 7 == 0 else float(i) for i in range(_COUNT)]),
    "huge": pa.array([1e308 * (i % 3 - 1) for i in range(_COUNT)]),
}


@pytest.mark.parametrize("name", _COLUMNS)
@pytest.mark.parametrize("target", _TARGETS)
def test_columns_that_say_nothing_give_a_small_gain(name: str, target: str) -> None:
    noise = np.random.default_rng(1).normal(size=_COUNT)
    table = pa.table({"secret": _TARGETS[target], "noise": noise, "known": _COLUMNS[name]})
    (found,) = prediction_gain(table, sensitive="secret")
    assert found.records == _COUNT
    assert found.known == ("noise", "known")
    assert 0 <= found.gain < 0.5


def test_infinite_numbers_are_predicted() -> None:
    size = [float(i % 40) for i in range(_COUNT)]
    secret = [float("inf") if i == 39 else 2 * i + 1 for i in size]
    (found,) = prediction_gain(pa.table({"secret": secret, "size": size}), sensitive="secret")
    assert found.numeric
    assert found.values == 40
    assert found.gain > 0.8


@pytest.mark.parametrize("target", _TARGETS)
def test_the_order_of_the_records_changes_nothing(target: str) -> None:
    random = np.random.default_rng(2)
    table = pa.table(
        {
            "secret": _TARGETS[target],
            "a": random.integers(0, 9, _COUNT),
            "b": random.choice(["x", "y", None], _COUNT),
            "who": random.integers(0, 80, _COUNT),
        }
    )
    found = [
        prediction_gain(one, sensitive="secret", person="who")
        for one in (table, table.take(random.permutation(_COUNT)))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["no texts", "no numbers", "only NaN"])
def test_a_sensitive_attribute_without_values_has_no_gain(name: str) -> None:
    table = pa.table({"secret": _COLUMNS[name], "known": list(range(_COUNT))})
    (found,) = prediction_gain(table, sensitive="secret")
    assert (found.records, found.values, found.gain) == (0, 0, 0.0)


@pytest.mark.parametrize("size", [_COUNT, 60])
def test_several_attributes_are_predicted_as_each_alone(size: int) -> None:
    """They share one sample; what is known of each is the same."""
    table = pa.table({**_TARGETS, "known": np.arange(_COUNT) % 5})
    together = prediction_gain(table, sensitive=list(_TARGETS), size=size)
    alone = [prediction_gain(table, target, sensitive=list(_TARGETS), size=size)[0] for target in _TARGETS]
    assert [one.to_dict() for one in together] == [one.to_dict() for one in alone]
    assert [one.records for one in together] == [size] * len(_TARGETS)


@pytest.mark.parametrize("count", [150, 400, 1_200])
def test_other_seeds_stay_within_the_interval(count: int) -> None:
    """The folds and the model are drawn; what a threshold is compared with says by how much."""
    random = np.random.default_rng(1)
    a, b = random.integers(0, 9, count), random.integers(0, 5, count)
    secret = np.where(random.random(count) < 0.55, a % 5, random.integers(0, 5, count))
    table = pa.table({"a": a, "b": b, "secret": secret})
    found = [prediction_gain(table, sensitive="secret", seed=seed)[0].gain for seed in range(6)]
    inside = []
    for gain in found:
        assert isinstance(gain, Estimate)
        inside += [gain.low <= other <= gain.high for other in found]
    assert np.mean(inside) >= 0.8
