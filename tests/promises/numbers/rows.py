"""Cells, uniqueness, quasi-identifiers, crowds, bounds, leakage, attribute disclosure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import optimize, stats

import crypsis as cr
from crypsis import inference as inf
from crypsis import singling_out as so
from tests.promises.numbers.draws import release, table, tuples

Draw = np.random.Generator
EXACT = 1e-12


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """One connection for all cases: opening one takes longer than a case."""
    return duckdb.connect()


def cells(draw: Draw) -> None:
    """The engine's counts against a Counter; NaN is missing, and minus zero is zero."""
    rows = int(draw.integers(1, 30))
    numbers = draw.choice([0.0, -0.0, 1.5, np.nan, np.inf], rows)
    words = draw.choice(np.array(["x", "y", "", None], dtype=object), rows).tolist()
    given = pa.table({"n": numbers, "w": pa.array(words, pa.string())})
    counted = cr.Dataset.from_frame(_engine().from_arrow(given)).rows.cells(["n", "w"])
    found = Counter()
    for n, w, count in zip(*(counted[i].to_pylist() for i in range(3)), strict=True):
        found[(n, w)] += count
    plain = [None if math.isnan(n) else n + 0.0 for n in numbers.tolist()]
    assert found == Counter(zip(plain, words, strict=True))


def uniqueness(draw: Draw) -> None:
    given = table(draw, 3, missing=0.2)
    found = so.uniqueness(release(given), ["a", "b", "c"])
    counts = tuples(given, "abc")
    once = sum(count == 1 for count in counts.values())
    assert (found.classes, found.uniques) == (len(counts), once)
    assert found.fraction == float(Fraction(once, len(given["a"])))
    assert found.k == min(counts.values())


def quasi_identifiers(draw: Draw) -> None:
    """Minimal sets by trying every set of columns."""
    given = table(draw, 4)
    alpha = float(draw.choice([0.2, 0.5, 0.8]))
    columns = ["a", "b", "c", "s"]
    found = so.find_quasi_identifiers(release(given, secret=()), alpha, columns=columns)
    rows = len(given["a"])
    reach = {
        names
        for size in range(1, 5)
        for names in combinations(columns, size)
        if Fraction(sum(n == 1 for n in tuples(given, names).values()), rows) >= Fraction(str(alpha))
    }
    minimal = {names for names in reach if not any(set(m) < set(names) for m in reach)}
    assert {one.columns for one in found.found} == minimal


def equivalence_classes(draw: Draw) -> None:
    given = table(draw, 2)
    found = so.equivalence_classes(release(given, secret=()), ["a", "b"], threshold=0.3)
    counts = list(tuples(given, "ab").values())
    rows = sum(counts)
    assert (found.k, found.classes, found.units) == (min(counts), len(counts), rows)
    assert found.risk.prosecutor.maximum == float(Fraction(1, min(counts)))
    average = float(Fraction(len(counts), rows))
    assert found.risk.prosecutor.average == pytest.approx(average, rel=EXACT)
    above = sum(n for n in counts if Fraction(1, n) > Fraction(3, 10))
    assert found.risk.prosecutor.share_above == pytest.approx(float(Fraction(above, rows)), rel=EXACT)


def bounds(draw: Draw) -> None:
    """The theorems against direct computation: limits, a root, and the binomial distribution."""
    n, cells_ = float(draw.integers(2, 400)), float(draw.integers(2, 400))
    even = n * (1 / cells_) * (1 - 1 / cells_) ** (n - 1) * cells_ / n
    exact = so.uniqueness_bound(cells_, n, exact=True)
    assert exact >= even * (1 - 1e-9)
    weights = draw.dirichlet(np.ones(int(cells_)))
    assert (weights * (1 - weights) ** (n - 1)).sum() <= exact + 1e-9
    k, beta = int(draw.integers(2, 50)), float(draw.uniform(0.01, 0.5))
    people = float(int(10.0 ** draw.uniform(4, 9)))
    most = so.max_cells(people, k, beta)
    mean = people / most  # Theorem 4: exp(-mean (1 - (k-1)/mean)^2 / 2) = beta
    assert math.exp(-mean * (1 - (k - 1) / mean) ** 2 / 2) == pytest.approx(beta, rel=1e-9)
    limit = so.max_cells(people, k, beta, exact=True)
    assert stats.binom.cdf(k - 1, int(people), 1 / limit) == pytest.approx(beta, rel=1e-6)


def _entropy(counts: list[int]) -> float:
    rows = sum(counts)
    return math.fsum(-c / rows * math.log2(Fraction(c, rows)) for c in counts)


def leakage(draw: Draw) -> None:
    given = table(draw, 2)
    found = inf.leakage(pa.table(given), "b", ["a"])
    groups: dict[int, Counter[int]] = defaultdict(Counter)
    for a, b in zip(given["a"], given["b"], strict=True):
        groups[a][b] += 1
    rows = len(given["a"])
    prior = Counter(given["b"])
    h = _entropy(list(prior.values()))
    inside = {y: (sum(c.values()), _entropy(list(c.values()))) for y, c in groups.items()}
    weighted = [size / rows * e for size, e in inside.values()]
    left = math.fsum(weighted)
    assert found.entropy_bits == pytest.approx(h, abs=EXACT, rel=EXACT)
    assert found.mutual_information == pytest.approx(h - left, abs=1e-11)
    best = Fraction(sum(max(c.values()) for c in groups.values()), rows)
    assert found.best_guess.average == pytest.approx(float(best), rel=EXACT)
    assert found.best_guess.prior == pytest.approx(float(Fraction(max(prior.values()), rows)), rel=EXACT)
    assert found.entropy_l_diversity == pytest.approx(2 ** -min(e for _, e in inside.values()), rel=1e-11)
    if h > 0:
        assert found.discrimination_rate == pytest.approx(1 - left / h, abs=1e-11)
        wanted = 1 - len(groups) * min(weighted) / h  # weighted reading of Definition 4.2
        assert found.itpr == pytest.approx(wanted, abs=1e-11)


def attribute_disclosure(draw: Draw) -> None:
    """l-diversity, t-closeness and related models, written anew from their definitions."""
    given = table(draw, 2)
    given["s"] = given.pop("b")
    ordered = bool(draw.integers(2))
    ground = {"s": "ordered" if ordered else "equal"}
    found = inf.attribute_disclosure(release(given), distances=ground)["s"]  # type: ignore[arg-type]
    groups: dict[int, Counter[int]] = defaultdict(Counter)
    for a, s in zip(given["a"], given["s"], strict=True):
        groups[a][s] += 1
    rows, prior = len(given["s"]), Counter(given["s"])
    values = sorted(prior)
    shares = {v: Fraction(prior[v], rows) for v in values}
    t = alpha = beta = Fraction(0)
    recursive = []
    for counts in groups.values():
        size = sum(counts.values())
        own = {v: Fraction(counts[v], size) for v in values}
        gaps = [own[v] - shares[v] for v in values]
        if ordered and len(values) > 1:
            running = [abs(sum(gaps[: i + 1])) for i in range(len(values))]
            t = max(t, sum(running) / (len(values) - 1))
        else:
            t = max(t, sum(map(abs, gaps)) / 2)
        alpha = max(alpha, max(own.values()))
        beta = max(beta, max((own[v] - shares[v]) / shares[v] for v in counts))
        falling = sorted(counts.values(), reverse=True)
        recursive.append([Fraction(falling[0], sum(falling[i:])) for i in range(len(falling))])
    assert found.l_diversity.distinct == min(len(counts) for counts in groups.values())
    least = min(_entropy(list(counts.values())) for counts in groups.values())
    assert found.l_diversity.entropy == pytest.approx(2**least, rel=1e-11)
    assert found.t_closeness.t == pytest.approx(float(t), abs=EXACT)
    assert found.alpha_k_anonymity.alpha == pytest.approx(float(alpha), rel=EXACT)
    assert found.beta_likeness.beta == pytest.approx(float(beta), abs=EXACT)
    depth = min(map(len, recursive))
    wanted = [float(max(one[i] for one in recursive)) for i in range(depth)]
    assert found.l_diversity.recursive_bounds == pytest.approx(wanted, rel=EXACT)


def values_per_column(draw: Draw) -> None:
    """Equation (1) against a numerical optimizer of the paper's objective, sum of w / d."""
    width = int(draw.integers(1, 4))
    domains = draw.uniform(2, 500, width)
    weights = draw.uniform(0.5, 3, width)
    budget = float(draw.uniform(1, np.prod(domains)))
    found = np.array(so.values_per_column(budget, domains.tolist(), weights=weights.tolist()))
    assert (found <= domains * (1 + 1e-9)).all()
    wanted = min(budget, float(np.prod(domains)))
    assert np.prod(found) == pytest.approx(wanted, rel=1e-9)

    def loss(logs: np.ndarray) -> float:
        return float((weights / np.exp(logs)).sum())

    start = np.log(domains) * math.log(wanted) / max(np.log(domains).sum(), 1e-12)
    best = optimize.minimize(
        loss,
        start,
        method="SLSQP",
        bounds=[(-20, math.log(d)) for d in domains],
        constraints={"type": "eq", "fun": lambda x: x.sum() - math.log(wanted)},
        options={"ftol": 1e-14, "maxiter": 300},
    )
    assert loss(np.log(found)) <= best.fun * (1 + 1e-6)


CHECKS = {
    "cells": cells,
    "uniqueness": uniqueness,
    "quasi-identifiers": quasi_identifiers,
    "equivalence classes": equivalence_classes,
    "bounds": bounds,
    "values per column": values_per_column,
    "leakage": leakage,
    "attribute disclosure": attribute_disclosure,
}
