"""What was lost, by the formulas of the papers written out plainly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, special, stats

from crypsis import utility as ut
from crypsis.cells import Cells
from crypsis.utility._distances import _between
from crypsis.utility._propensity import _fit
from tests.promises.numbers.draws import release, table, tuples

Draw = np.random.Generator


def _two(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    rows = int(draw.integers(3, 30))
    first = draw.normal(size=(rows, 3))
    return first, first + draw.normal(scale=0.4, size=first.shape)


def il1s(draw: Draw) -> None:
    x, y = _two(draw)
    cells = [
        abs(x[i, c] - y[i, c]) / (math.sqrt(2) * np.std(x[:, c], ddof=1))
        for i in range(x.shape[0])
        for c in range(3)
    ]
    assert ut.il1s(x, y) == pytest.approx(math.fsum(cells) / len(cells), rel=1e-12)


def correlations(draw: Draw) -> None:
    x, y = _two(draw)
    gaps = [
        abs(stats.pearsonr(x[:, a], x[:, b]).statistic - stats.pearsonr(y[:, a], y[:, b]).statistic)
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert ut.correlation_change(x, y) == pytest.approx(sum(gaps) / 3, abs=1e-12)


def normalized_error(draw: Draw) -> None:
    x = draw.integers(0, 9, int(draw.integers(2, 20))).tolist()
    y = draw.integers(0, 9, len(x)).tolist()
    mean = Fraction(sum(x), len(x))
    least = sum((v - mean) ** 2 for v in x)
    error = sum(Fraction(a - b) ** 2 for a, b in zip(x, y, strict=True))
    found = ut.normalized_error(x, y)
    assert found.groups == len(set(y))
    if least:
        assert found.error == pytest.approx(float(error / least), rel=1e-12)


def rank_difference(draw: Draw) -> None:
    x = draw.permutation(int(draw.integers(2, 20))) * 1.0
    y = draw.choice(x, x.size)
    wanted = sum(abs(a - b) for a, b in zip(x, y, strict=True))  # ranks of 0..n-1 are 1..n
    assert ut.rank_difference(x, y) == pytest.approx(wanted, abs=1e-12)


def class_costs(draw: Draw) -> None:
    given = table(draw, 2)
    k, out = int(draw.integers(1, 4)), int(draw.integers(0, 5))
    found = ut.class_costs(release(given, secret=()), k=k, suppressed=out)
    sizes = list(tuples(given, "ab").values())
    rows = sum(sizes)
    assert found.discernibility == sum(s * s for s in sizes) + out * (rows + out)
    assert found.average_class_size == pytest.approx(
        float(Fraction(rows, len(sizes) * k)), rel=1e-12
    )


def marginal_distance(draw: Draw) -> None:
    """Total variation of two tables of counts."""
    first, second = table(draw, 2), table(draw, 2)
    found = _between(Cells.from_columns(**first), Cells.from_columns(**second))
    one, two = tuples(first, "ab"), tuples(second, "ab")
    m, n = sum(one.values()), sum(two.values())
    wanted = sum(abs(Fraction(one[v], m) - Fraction(two[v], n)) for v in one | two) / 2
    assert found == pytest.approx(float(wanted), abs=1e-12)


def propensity(draw: Draw) -> None:
    """The logistic fit against a general optimizer."""
    rows = int(draw.integers(30, 60))
    design = np.column_stack([np.ones(rows), draw.normal(size=(rows, 2))])
    label = (draw.random(rows) < special.expit(design @ [0.2, 0.7, -0.4])).astype(float)
    if not 3 < label.sum() < rows - 3:
        return

    def loss(w: np.ndarray) -> float:
        z = design @ w
        return float(np.logaddexp(0, z).sum() - label @ z)

    best = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    if best.success and np.abs(best.x).max() < 8:
        assert _fit(design, label) == pytest.approx(best.x, abs=2e-4)


CHECKS = {
    "utility: IL1s": il1s,
    "utility: correlations": correlations,
    "utility: normalized error": normalized_error,
    "utility: rank difference": rank_difference,
    "utility: class costs": class_costs,
    "utility: marginal distance": marginal_distance,
    "utility: propensity": propensity,
}
