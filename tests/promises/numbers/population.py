"""Models of the population, by their likelihoods and expectations written out term by term."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from crypsis import singling_out as so
from crypsis.counting.cells import Cells
from crypsis.singling_out import _distinct as estimators
from crypsis.singling_out._models import pitman_uniques, slide_negative_binomial_uniques, zayatz_uniques
from tests.promises.numbers.draws import release

Draw = np.random.Generator


def individual_risk(draw: Draw) -> None:
    """E[1/F | f] as an integral over the share, not as a hypergeometric function."""
    size, weight = int(draw.integers(1, 9)), float(draw.uniform(1.01, 80))
    ages = [1] * size
    held = Cells.from_columns(a=ages)
    known = replace(held, weights=np.array([size * weight]))
    given = replace(release({"a": ages}), weight="w")
    given._counts.add(("a",), "w", known)
    found = so.individual_risk(given, ["a"]).maximum
    p = 1 / weight
    # E[1/F] of a negative binomial F >= f: p^f int_0^1 t^(f-1) / (1 - (1-p) t)^f dt
    value, _ = integrate.quad(
        lambda t: t ** (size - 1) / (1 - (1 - p) * t) ** size, 0, 1, epsabs=0, epsrel=1e-11, limit=400
    )
    assert found == pytest.approx(p**size * value, rel=1e-8)


def zayatz(draw: Draw) -> None:
    """Bayes' rule with hypergeometric probabilities in whole numbers, up to 10^12 people."""
    sizes = np.unique(np.append([1], draw.integers(1, 8, 4)))
    number = draw.integers(1, 20, sizes.size)
    rows = int(sizes @ number)
    people = rows * int(draw.integers(1, 30)) + int(10 ** draw.uniform(0, 12)) * int(draw.integers(2))
    found = zayatz_uniques(sizes, number, float(people))
    assert found is not None
    one = [int(j) * math.comb(people - int(j), rows - 1) for j in sizes]
    below = sum(int(n) * p for n, p in zip(number, one, strict=True))
    wanted = int(number[0]) ** 2 * Fraction(one[0], below) * Fraction(people, rows)
    assert found.uniques == pytest.approx(float(min(wanted, Fraction(people))), rel=1e-10)


def _frequencies(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    """Class sizes of a sample: some heavy in the tail, some even."""
    classes = int(draw.integers(5, 80))
    if draw.random() < 0.6:
        sizes = np.minimum(draw.zipf(draw.uniform(1.4, 3), classes), 60)
    else:
        sizes = draw.geometric(draw.uniform(0.15, 0.9), classes)
    return np.unique(sizes, return_counts=True)  # type: ignore[return-value]


def pitman(draw: Draw) -> None:
    """Pitman's formula person by person, its slopes solved for, and uniques as a product."""
    size, number = _frequencies(draw)
    rows, classes = int(size @ number), int(number.sum())
    people = rows + int(10 ** draw.uniform(1, 4.3))
    one, new = np.arange(1, rows), np.arange(1, classes)
    inner = [np.arange(1, j) for j in size]

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        theta, alpha = math.exp(point[0]), point[1]
        told = np.log(theta + new * alpha).sum() - np.log(theta + one).sum()
        told += sum(n * np.log(i - alpha).sum() for n, i in zip(number, inner, strict=True))
        by_theta = (1 / (theta + new * alpha)).sum() - (1 / (theta + one)).sum()
        by_alpha = (new / (theta + new * alpha)).sum()
        by_alpha -= sum(n * (1 / (i - alpha)).sum() for n, i in zip(number, inner, strict=True))
        return -told, -np.array([theta * by_theta, by_alpha])

    found = pitman_uniques(size, number, float(people))
    low, high = (-14.0, 1e-7), (14.0, 1 - 1e-7)
    best = min(
        (
            optimize.minimize(
                loss,
                start,
                jac=True,
                method="TNC",
                bounds=list(zip(low, high, strict=True)),
                options={"ftol": 1e-15, "gtol": 1e-9, "maxfun": 400},
            )
            for start in ((1.0, 0.3), (5.0, 0.7))
        ),
        key=lambda one: one.fun,
    )
    if found is None:  # no highest point inside: it lies on the edge, or there is nothing to fit
        edge = np.minimum(best.x - low, np.array(high) - best.x) / (28, 1)
        assert size.size < 2 or classes == rows or edge.min() < 1e-5, best.x
        return
    assert found.point is not None
    theta, alpha = math.exp(found.point[0]), 1 / (1 + math.exp(-found.point[1]))
    assert loss(np.array([found.point[0], alpha]))[0] <= best.fun + 1e-6 * classes
    others = np.arange(1, people)
    wanted = people * math.exp(np.log1p((alpha - 1) / (theta + others)).sum())
    assert found.uniques == pytest.approx(wanted, rel=1e-8)


def slide_negative_binomial(draw: Draw) -> None:
    """Every size that a class may have in the population, thinned; no identity of thinned counts."""
    size, number = _frequencies(draw)
    rows, classes = int(size @ number), int(number.sum())
    people = rows * draw.uniform(1.05, 20)
    q = rows / people
    found = slide_negative_binomial_uniques(size, number, people)
    if found is None:
        return
    shape, success = math.exp(found.point[0]), 1 / (1 + math.exp(-found.point[1]))  # type: ignore[index]
    longest = int(stats.nbinom.isf(1e-13, shape, success)) + 2
    if longest > 1_000 or success > 1 - 1e-6 or shape > 1e4:
        return  # too long to be written out, or a limit that is another distribution
    sizes = np.arange(1, 2 * longest + 60)
    seen = stats.binom.pmf(np.append(0, size)[:, None], sizes[None, :], q)

    def loss(point: np.ndarray) -> float:
        shape, success = math.exp(point[0]), 1 / (1 + math.exp(-point[1]))
        there = stats.nbinom.pmf(sizes - 1, shape, success)
        every = people / (1 + shape * (1 - success) / success)  # the mean size of a class
        shares = seen @ there
        return float(every * (1 - shares[0]) - number @ np.log(every * shares[1:]))

    here = loss(found.point)  # type: ignore[arg-type]
    for step in (1e-2, 1e-1):
        for turn in np.linspace(0.3, 2 * np.pi + 0.3, 4, endpoint=False):
            near = found.point + step * np.array([math.cos(turn), math.sin(turn)])  # type: ignore[operator]
            assert here <= loss(near) + 1e-7 * classes
    every = people / (1 + shape * (1 - success) / success)
    assert found.uniques == pytest.approx(min(every * stats.nbinom.pmf(0, shape, success), people), rel=1e-10)


def distinct_values(draw: Draw) -> None:
    """Chao 1984, Chao & Lin 2012, Haas & Stokes 1998 and Esty 1983 in fractions."""
    f1, f2, more = (int(n) for n in draw.integers(0, 30, 3))
    d = f1 + f2 + more
    n = f1 + 2 * f2 + more * int(draw.integers(3, 9))
    if n < 2:
        return
    people = n + int(10 ** draw.uniform(0, 6))
    unseen = Fraction(f1 * f1, 2 * f2) if f2 else Fraction(f1 * (f1 - 1), 2)
    wanted = d + Fraction(n - 1, n) * unseen
    found = estimators.chao(d, f1, f2, n)
    assert float(found.value) == pytest.approx(float(wanted), rel=1e-12)
    assert float(found.low) <= float(found.value) <= float(found.high)
    below = 2 * Fraction(n, n - 1) * f2 + Fraction(n, people - n) * f1
    known = d + (Fraction(f1 * f1) / below if f1 else 0)
    found = estimators.chao_in_population(d, f1, f2, n, people)
    assert float(found.value) == pytest.approx(float(known), rel=1e-12)
    squares = f1 + 4 * f2 + (n - f1 - 2 * f2) ** 2 // max(1, more)
    q = Fraction(n, people)
    seen = 1 - (1 - q) * Fraction(f1, n)
    first = d / seen
    uneven = max(first / n**2 * (squares - n) + first / people - 1, Fraction(0))
    second = (d - f1 * (1 - q) * Fraction(math.log1p(-n / people)) / q * uneven) / seen
    jackknife = min(max(second, Fraction(d)), Fraction(people))
    assert float(estimators.haas_stokes(d, f1, squares, n, people)) == pytest.approx(
        float(jackknife), rel=1e-10
    )
    spread = math.sqrt(max(f1 + 2 * f2 - f1 * f1 / n, 0))
    limit = min((f1 + stats.norm.ppf(0.975) * spread) / n, 1.0)
    assert float(estimators.unseen_fraction(f1, f2, n)) == pytest.approx(limit, rel=1e-12)


CHECKS = {
    "individual risk": individual_risk,
    "population models: Zayatz": zayatz,
    "population models: Pitman": pitman,
    "population models: slide negative binomial": slide_negative_binomial,
    "distinct values in the population": distinct_values,
}
