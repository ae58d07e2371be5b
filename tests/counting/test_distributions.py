"""Distances between distributions, against SciPy and linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import entropy, wasserstein_distance

from crypsis.counting import distributions as d
from crypsis.errors import ParameterError

counts = (
    st.integers(2, 6)
    .flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 9), min_size=n, max_size=n),
            st.lists(st.integers(0, 9), min_size=n, max_size=n),
        )
    )
    .filter(lambda pair: sum(pair[0]) > 0 and sum(pair[1]) > 0)
)


def transport(p: np.ndarray, q: np.ndarray, cost: np.ndarray) -> float:
    """The earth mover's distance by its definition, a linear program."""
    n = p.size
    rows = np.kron(np.eye(n), np.ones(n))
    columns = np.kron(np.ones(n), np.eye(n))
    found = linprog(
        cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([p, q]), method="highs"
    )
    return float(found.fun)


@given(counts)
def test_entropy_and_divergence(pair: tuple[list[int], list[int]]) -> None:
    p, q = pair
    assert d.entropy_bits(p) == pytest.approx(entropy(p, base=2), abs=1e-12)
    with np.errstate(divide="ignore"):
        expected = entropy(p, q, base=2)
    assert d.kullback_leibler_bits(p, q) == pytest.approx(expected, abs=1e-12)


@given(counts)
def test_earth_movers_distances(pair: tuple[list[int], list[int]]) -> None:
    p, q = d.proportions(pair[0]), d.proportions(pair[1])
    n = p.size
    equal = 1 - np.eye(n)
    assert d.total_variation(p, q) == pytest.approx(transport(p, q, equal), abs=1e-9)
    places = np.arange(n)
    ordered = np.abs(places[:, None] - places[None, :]) / (n - 1)
    assert d.ordered_distance(p, q) == pytest.approx(transport(p, q, ordered), abs=1e-9)
    by_scipy = wasserstein_distance(places, places, p, q) / (n - 1)
    assert d.ordered_distance(p, q) == pytest.approx(by_scipy, abs=1e-12)


@given(counts)
def test_hierarchical_distance(pair: tuple[list[int], list[int]]) -> None:
    p, q = d.proportions(pair[0]), d.proportions(pair[1])
    paths = [(i // 2, i // 4, "*") for i in range(p.size)]
    cost = np.array(
        [
            [
                0.0 if i == j else (1 + next(k for k in range(3) if a[k] == b[k])) / 3
                for j, b in enumerate(paths)
            ]
            for i, a in enumerate(paths)
        ]
    )
    found = d.hierarchical_distance(p, q, paths)
    assert found == pytest.approx(transport(p, q, cost), abs=1e-9)


@given(counts)
def test_hellinger(pair: tuple[list[int], list[int]]) -> None:
    p, q = d.proportions(pair[0]), d.proportions(pair[1])
    overlap = min(1.0, float(np.sqrt(p * q).sum()))
    assert d.hellinger(p, q) == pytest.approx(np.sqrt(1 - overlap), abs=1e-7)


@pytest.mark.parametrize("bad", [[], [0, 0], [-1, 2], [float("nan"), 1]])
def test_no_distribution(bad: list[float]) -> None:
    with pytest.raises(ParameterError):
        d.entropy_bits(bad)


def test_distributions_must_match() -> None:
    with pytest.raises(ParameterError, match="2 and 3 values"):
        d.total_variation([1, 1], [1, 1, 1])
    with pytest.raises(ParameterError, match="ancestors"):
        d.hierarchical_distance([1, 1], [1, 1], [("a",), ("a", "b")])
