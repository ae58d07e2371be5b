from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from crypsis import linkage
from crypsis.errors import TooLargeError
from crypsis.linkage import _assignment
from tests.linkage.brute import average_ranks, pairwise


@pytest.mark.parametrize(
    ("n", "masked", "noise", "digits"),
    [
        (200, 200, 0.05, 9),
        (200, 200, 0.5, 9),
        (150, 150, 5.0, 9),
        (120, 120, 0.5, 0),
        (100, 70, 0.3, 9),
        (70, 100, 0.3, 9),
    ],
)
def test_total_distance_equals_the_dense_optimum(n: int, masked: int, noise: float, digits: int) -> None:
    rng = np.random.default_rng(n + masked)
    x = rng.normal(size=(max(n, masked), 3)).round(digits)
    y = (x + noise * rng.normal(size=x.shape)).round(digits)
    x, y = x[:n], y[:masked]
    found = linkage.assign(x, y, ties="average")
    table = pairwise((2 * average_ranks(x) - 1) * masked, (2 * average_ranks(y) - 1) * n) / (2 * n)
    rows, columns = linear_sum_assignment(table)
    placed = found.partner >= 0
    assert placed.sum() == min(n, masked)
    assert len(set(found.partner[placed].tolist())) == min(n, masked)
    assert found.mean_distance == pytest.approx(table[rows, columns].mean())
    np.testing.assert_allclose(found.distances[placed], table[np.flatnonzero(placed), found.partner[placed]])
    assert found.candidates < n * masked


def test_stronger_than_nearest_links_where_noise_is_small() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 3))
    y = x + 0.1 * rng.normal(size=x.shape)
    assert (linkage.assign(x, y).true_matches or 0) > (linkage.link(x, y).true_matches or 0)


def test_row_order_gives_nothing_away() -> None:
    x = np.zeros((200, 1))  # nothing to go by: right only by chance
    found = linkage.assign(x, x, ties="average")
    assert found.true_matches is not None
    assert found.true_matches < 10


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLargeError, match="at most 20,000 records"):
        linkage.assign(np.zeros((20_001, 1)), np.zeros((20_001, 1)))
    monkeypatch.setattr(_assignment, "_MAX_NEAR_PAIRS", 100)
    with pytest.raises(TooLargeError, match="limit of 100"):
        linkage.assign(np.zeros((50, 1)), np.zeros((50, 1)), ties="average")
