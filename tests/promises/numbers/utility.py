"""Utility measures against the formulas of the papers, written out."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import optimize, special, stats

from crypsis import utility as ut
from crypsis.counting.cells import Cells
from crypsis.hierarchies import Hierarchy
from crypsis.utility._column_changes import total_variation
from papers.lodha2007.trade_off import trade_off as privacy_utility
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


def class_sizes(draw: Draw) -> None:
    given = table(draw, 2)
    k, out = int(draw.integers(1, 4)), int(draw.integers(0, 5))
    data = release(given, secret=())
    sizes = list(tuples(given, "ab").values())
    rows = sum(sizes)
    assert ut.discernibility(data, suppressed=out) == sum(s * s for s in sizes) + out * (rows + out)
    assert ut.average_class_size(data, k=k) == pytest.approx(float(Fraction(rows, len(sizes) * k)), rel=1e-12)


def distribution_distance(draw: Draw) -> None:
    """Total variation of two tables of counts."""
    first, second = table(draw, 2), table(draw, 2)
    found = total_variation(Cells.from_columns(**first), Cells.from_columns(**second))
    one, two = tuples(first, "ab"), tuples(second, "ab")
    m, n = sum(one.values()), sum(two.values())
    wanted = sum(abs(Fraction(one[v], m) - Fraction(two[v], n)) for v in one | two) / 2
    assert found == pytest.approx(float(wanted), abs=1e-12)


def _frame(draw: Draw, rows: int) -> pa.Table:
    numbers = draw.integers(0, 5, rows).tolist()
    words = draw.choice(np.array(["x", "y", "z", None], dtype=object), rows).tolist()
    return pa.table({"n": pa.array(numbers, pa.int64()), "w": pa.array(words, pa.string())})


def changes_by_column(draw: Draw) -> None:
    """Values, missing ones, entropies and distances of each column and of both together."""
    before, after = (_frame(draw, int(draw.integers(3, 30))) for _ in range(2))
    found = ut.column_changes(before, after)
    assert (found.rows_before, found.rows_after) == (before.num_rows, after.num_rows)
    for one in found.columns:
        first, second = (Counter(side[one.column].to_pylist()) for side in (before, after))
        assert (one.missing_before, one.missing_after) == (first[None], second[None])
        assert one.values_before == len(+first) - (first[None] > 0)
        assert one.values_after == len(+second) - (second[None] > 0)
        bits = [
            stats.entropy([c / counts.total() for c in counts.values() if c], base=2)
            for counts in (first, second)
        ]
        assert one.entropy_before_bits == pytest.approx(bits[0], abs=1e-11)
        new = set(+second) - set(+first) - {None}
        suppressed = max(0, second[None] - first[None]) / second.total()
        left = bits[0] if new else bits[0] * (1 - suppressed)
        assert one.entropy_after_bits == pytest.approx(min(*bits, left), abs=1e-11)
        if +first & +second:
            assert one.distance == pytest.approx(_apart(first, second), abs=1e-12)
    both = [Counter(zip(*(side[c].to_pylist() for c in "nw"), strict=True)) for side in (before, after)]
    (pair,) = ut.pairwise_distances(before, after)
    assert pair.distance == pytest.approx(_apart(*both), abs=1e-12)


def _apart(first: Counter[Any], second: Counter[Any]) -> float:
    m, n = first.total(), second.total()
    return float(sum(abs(Fraction(first[v], m) - Fraction(second[v], n)) for v in first | second) / 2)


def certainty_penalty(draw: Draw) -> None:
    """NCP record by record: a label costs its share of the values, a suppressed record costs 1."""
    values = list("abcdef")
    leaves = {"abc": 3, "de": 2, **dict.fromkeys(values, 1), None: 6}
    rows = int(draw.integers(1, 30))
    kept = int(draw.integers(1, rows + 1))
    labels = [list(leaves)[i] for i in draw.integers(0, len(leaves), kept)]
    before = pa.table({"a": draw.choice(values, rows)})
    after = pa.table({"a": pa.array(labels, pa.string())})
    tree = Hierarchy(zip("abcdef", ["abc"] * 3 + ["de"] * 2 + ["f"], strict=True))
    cost = sum(Fraction(leaves[label], 6) if leaves[label] > 1 else 0 for label in labels)
    wanted = (cost + rows - kept) / Fraction(rows)
    found = ut.information_loss(before, after, ["a"], hierarchies={"a": tree})
    assert found == pytest.approx(float(wanted), abs=1e-12)


def trade_off(draw: Draw) -> None:
    rows = int(draw.integers(1, 10**6))
    k = int(draw.integers(1, rows + 1))
    found = privacy_utility(rows, k)
    assert found.privacy == pytest.approx(float(1 - Fraction(1, k)), abs=1e-15)
    assert found.utility == pytest.approx(float(1 - Fraction(k, rows) ** 2), abs=1e-15)
    assert Fraction(1, k) ** 2 * Fraction(k, rows) ** 2 == Fraction(1, rows**2)  # lodha2007, 5.2


def propensity(draw: Draw) -> None:
    """The mean squared score, from a general optimizer's fit to a design of our own."""
    m, n = (int(size) for size in draw.integers(25, 45, 2))
    first, second = draw.normal(size=m), draw.normal(0.3, 1.2, size=n)
    words = [draw.choice(["x", "y", "z"], size) for size in (m, n)]
    found = ut.propensity(pa.table({"n": first, "w": words[0]}), pa.table({"n": second, "w": words[1]}))
    label = np.r_[np.zeros(m), np.ones(n)]
    numbers, letters = np.r_[first, second], np.r_[words[0], words[1]]
    design = np.column_stack([np.ones(m + n), numbers, letters == "x", letters == "y"])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = design @ w
        return float(np.logaddexp(0, z).sum() - label @ z), design.T @ (special.expit(z) - label)

    best = optimize.minimize(loss, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-8})
    share = n / (m + n)
    if np.abs(best.x).max() < 8:  # else the model separates some records, and there is no optimum
        wanted = ((special.expit(design @ best.x) - share) ** 2).mean()
        assert found.pmse == pytest.approx(wanted, abs=1e-6)
    assert (found.rows, found.terms) == (m + n, np.linalg.matrix_rank(design))
    assert found.expected == pytest.approx((found.terms - 1) * share * (1 - share) / (m + n))


CHECKS = {
    "utility: IL1s": il1s,
    "utility: correlations": correlations,
    "utility: normalized error": normalized_error,
    "utility: rank difference": rank_difference,
    "utility: class sizes": class_sizes,
    "utility: distance of distributions": distribution_distance,
    "utility: changes by column": changes_by_column,
    "utility: certainty penalty": certainty_penalty,
    "utility: trade-off": trade_off,
    "utility: propensity": propensity,
}
