"""lodha2007, section 4.1 and 5.2: the examples and Fig. 7."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.protection import cluster, quantile_groups
from papers.lodha2007 import printed

S, F = list(printed.SET), printed.MAP


def test_example_9_a_2_anonymous_transformation() -> None:
    assert quantile_groups(S, 2).sizes.min() >= 2
    assert quantile_groups(S, 2).groups == 2
    found = cluster(S, 2, cost="median")
    assert found.transformed().tolist() == [F[value] for value in S]


def test_erratum_cellular_clusters_need_not_be_contiguous() -> None:
    contiguous = cluster(printed.NOT_CONTIGUOUS, 2, cost="cellular").cost
    assert contiguous == pytest.approx(12.425)
    assert contiguous > 5 * 2 + 0.05 * 3  # 0 and 10 apart from the others


@pytest.mark.parametrize("b", [2, 5, 10, 25, 50, 100])
@pytest.mark.parametrize("representative", ["mean", "median"])
def test_figure_7_error_follows_one_over_b_squared(b: int, representative: str) -> None:
    x = np.random.default_rng(7).random(100_000)
    found = quantile_groups(x, x.size // b).transformed(representative)
    error = ((found - x) ** 2).sum() / ((x - x.mean()) ** 2).sum()
    assert error * b**2 == pytest.approx(1, rel=0.05)
