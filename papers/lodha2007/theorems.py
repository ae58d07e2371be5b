"""Theorems 1 to 4 of lodha2007, tried on many distributions and sizes."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from crypsis import singling_out as so
from crypsis.protection import quantile_groups
from papers.comparison import NOTHING, claim, critique, number
from papers.lodha2007 import printed
from papers.results import ComparedValue, RunSettings, Values, paper_item

_TRIES = 2_000


def _loneliest(fewer_values: bool, seed: int) -> float:
    """The largest ratio of expected uniques, sum np exp(-np), to the bound over distributions."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(_TRIES):
        n = int(rng.integers(2, 200))
        distinct = int(rng.integers(1, n + 1) if fewer_values else rng.integers(n, 4 * n))
        x = n * rng.dirichlet(np.full(distinct, 10 ** rng.uniform(-1.5, 3)))
        worst = max(worst, float((x * np.exp(-x)).sum()) / (n * so.uniqueness_bound(distinct, n)))
    return worst


@paper_item("Theorem 1", "At most D/e unique rows if D <= n")
def theorem_1(_: RunSettings) -> Values:
    worst = _loneliest(True, 1)
    n, distinct = 10_000, 2_500
    x = np.r_[np.ones(distinct - 1), n - distinct + 1]
    tight = float((x * np.exp(-x)).sum()) / (n * so.uniqueness_bound(distinct, n))
    return (
        claim(
            "expected uniques",
            "at most D/e",
            worst <= 1 + 1e-12,
            f"at most {worst:.4f} of it, {_TRIES:,} distributions",
        ),
        claim("x = 1 everywhere but in one cell", "almost D/e", 0.999 < tight < 1, f"{tight:.5f}"),
        critique(
            "ten draws from ten values, exactly",
            "D/e",
            10 * so.uniqueness_bound(10, 10, exact=True),
            correct="3.8742",
            note=f"The bound is a Poisson limit, here {10 / math.e:.4f}. Exactly, 10 (1 - 1/10)^9 "
            "are expected, which is more; `uniqueness_bound(exact=True)` has the form for finite n. "
            "For a population it makes no difference.",
        ),
    )


@paper_item("Theorem 2", "At most n exp(-n/D) unique rows if D >= n")
def theorem_2(_: RunSettings) -> Values:
    worst = _loneliest(False, 2)
    even = so.uniqueness_bound(400, 100)
    return (
        claim(
            "expected uniques",
            "at most n exp(-n/D)",
            worst <= 1 + 1e-12,
            f"at most {worst:.4f} of it, {_TRIES:,} distributions",
        ),
        number(
            "equally likely values, n = 100, D = 400",
            f"{100 * math.exp(-0.25):.15g}",
            100 * even,
            text="100 exp(-1/4)",
        ),
        critique(
            "ten draws from twenty values, exactly",
            "n exp(n/D)",
            10 * so.uniqueness_bound(20, 10, exact=True),
            correct="6.3025",
            note=f"A Poisson limit again, {10 * math.exp(-0.5):.4f}: exactly 10 (1 - 1/20)^9. (In "
            "the text of the paper the minus sign of the exponent is lost; its examples have it.)",
        ),
    )


@paper_item("Theorem 3", "How many values an alpha-quasi-identifier needs")
def theorem_3(_: RunSettings) -> Values:
    cells: list[ComparedValue] = []
    for alpha in (0.5, 0.75, 0.9, 0.99):
        wanted = printed.US / math.log(1 / alpha)
        found = so.min_cells(printed.US, alpha)
        reached = so.uniqueness_bound(found * (1 + 1e-9), printed.US)
        below = so.uniqueness_bound(found * (1 - 1e-9), printed.US)
        name = f"alpha = {alpha:g}"
        cells.append(number(name, f"{wanted:.15g}", found, text="n/ln(1/alpha)", group="D"))
        cells.append(
            claim(
                name, "alpha is reached", below < alpha < reached, "just there", group="the bound at that D"
            )
        )
    return cells


@paper_item("Theorem 4", "How many cells keep k people in each")
def theorem_4(_: RunSettings) -> Values:
    least = math.inf
    for n in (10_000, 1_000_000, printed.US):
        for k in (2, 5, 10, 100, 1000):
            for beta in (0.3, 0.1, 0.01):
                p = 1 / so.max_cells(n, k, beta)
                least = min(least, float(stats.binom.sf(k - 1, n, p)) - (1 - beta))
    x = -math.log(0.1) / 99
    wanted = printed.US / 99 * (1 + x - math.sqrt(x * x + 2 * x))
    limit = so.max_cells(printed.US, 100, 0.1)
    small = so.max_cells(printed.US, 10, 0.1)
    return (
        number(
            "D' for k = 100, beta = 0.1", f"{wanted:.12g}", limit, text="n/(k-1) (1 + x - sqrt(x^2 + 2x))"
        ),
        claim(
            "k people with probability 1 - beta",
            "at least",
            least >= 0,
            f"with {least:.3f} to spare, 45 settings",
        ),
        claim(
            "c for k = 100, beta = 0.1",
            "n/125 < n/100 * (1 - c)",
            limit > printed.US / 125,
            f"c = {1 - limit * 100 / printed.US:.4f}",
        ),
        critique(
            "c for k = 10, beta = 0.1",
            "some small constant c",
            1 - small * 10 / printed.US,
            correct="0.4487",
            note="The constant is not small for small k. At k = 1 the printed expression divides "
            "by zero; written as n / (k - 1 + L + sqrt(L (L + 2 (k - 1)))) with L = -ln beta it "
            "does not, and needs no cancellation.",
        ),
        _dependent(),
    )


def _dependent() -> ComparedValue:
    """Quantile cells of two columns that depend on each other are not equally likely."""
    n, k, beta = 100_000, 100, 0.1
    side = int(math.sqrt(so.max_cells(n, k, beta)))
    rng = np.random.default_rng(7)

    def alone(correlation: float) -> float:
        x = rng.standard_normal((n, 2))
        x[:, 1] = correlation * x[:, 0] + math.sqrt(1 - correlation**2) * x[:, 1]
        labels = [quantile_groups(column, n // side).labels for column in x.T]
        counts = np.bincount(labels[0] * side + labels[1], minlength=side * side)
        return float(counts[(counts > 0) & (counts < k)].size / (counts > 0).sum())

    apart, together = alone(0.0), alone(0.9)
    return critique(
        "cells with fewer than k people, correlation 0.9, beta = 0.1",
        NOTHING,
        together,
        correct="0.5",
        note="The theorem needs equally likely cells. Cutting each column into quantiles gives "
        f"them only where the columns are independent: of {side} by {side} cells, {apart:.1%} that "
        f"are not empty hold fewer than {k} people then, and {together:.0%} if the correlation is "
        "0.9. A plan has to be measured after it was carried out.",
    )
