"""How many people can be unique, and how many cells keep them in a crowd: lodha2007, sections 2-3.

Plain numbers in, plain numbers out: nothing here looks at data. `population` is the number n of
people the table could be about, `distinct` the number D of values that a set of columns can take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from crypsis.errors import ParameterError
from crypsis.results import Result


def uniqueness_bound(distinct: float, population: float) -> float:
    """The largest expected share of people who are unique, whatever the distribution of values.

    lodha2007, Theorems 1 and 2 (with the minus sign that the print lost): D/(e n) up to D = n, and
    exp(-n/D) beyond. These are limits for large n; `exact_uniqueness_bound` has the finite form.

    >>> round(uniqueness_bound(4e9, 3e8), 2)  # gender, date of birth, zip code in the U.S.
    0.93
    """
    _at_least_one(distinct, "distinct")
    _at_least_one(population, "population")
    if distinct < population:
        return distinct / (math.e * population)
    return math.exp(-population / distinct)


def exact_uniqueness_bound(distinct: float, population: float) -> float:
    """The same bound for `population` draws exactly, without the limit of Theorems 1 and 2.

    With cell probabilities p the expected number of uniques is n sum p(1-p)^(n-1). Its summand is
    concave up to p = 2/n and falls beyond 1/n, so at the maximum either all cells are equally
    likely or all but one are, and that one takes the rest; both cases are compared.

    >>> round(10 * exact_uniqueness_bound(20, 10), 2)  # the limit would say 6.07
    6.3
    """
    _at_least_one(distinct, "distinct")
    _at_least_one(population, "population")
    n, cells = float(population), float(distinct)
    if n == 1:
        return 1.0
    if cells == 1:
        return 0.0
    even = min(1.0, _lone(n / cells, n) * cells / n)
    if cells >= n:
        return even
    rest = cells - 1

    from scipy.optimize import minimize_scalar

    def loss(x: float) -> float:  # x = n p of the small cells
        return -(rest * _lone(x, n) + _lone(n - rest * x, n)) / n

    best = minimize_scalar(loss, bounds=(1.0, n / cells), method="bounded", options={"xatol": 1e-9})
    return float(max(even, -best.fun, -loss(1.0)))


def _lone(x: float, n: float) -> float:
    """The chance that a cell holds exactly one of n people: n p (1-p)^(n-1), with x = n p."""
    if x >= n:
        return 0.0
    return x * math.exp((n - 1) * math.log1p(-x / n))


def min_cells(population: float, alpha: float) -> float:
    """The number of distinct values above which columns can be an alpha-quasi-identifier.

    lodha2007, Theorem 3: n / ln(1/alpha). Below alpha = 1/e, where the paper stops, Theorem 1 gives
    e alpha n; the two meet at 1/e.

    >>> round(min_cells(3e8, 0.5) / 3e8, 3), round(min_cells(3e8, 0.2) / 3e8, 3)
    (1.443, 0.544)
    """
    _at_least_one(population, "population")
    check_fraction(alpha, "alpha")
    if alpha < 1 / math.e:
        return math.e * alpha * population
    return population / -math.log(alpha)


def max_cells(population: float, k: int, beta: float) -> float:
    """The most equally likely cells that still hold k people each with probability 1 - beta.

    lodha2007, Theorem 4, the exact expression of its proof, n/(k-1) (1 + x - sqrt(x^2 + 2x)) with
    x = -ln(beta)/(k-1), written so that it neither cancels nor divides by zero at k = 1. It rests
    on a Chernoff bound; `max_cells_binomial` needs none and allows more.

    >>> round(max_cells(3e8, 100, 0.1))  # Example 6; the paper rounds to n/125
    2443425
    """
    _check_crowd(population, k, beta)
    surprise = -math.log(beta)
    return population / (k - 1 + surprise + math.sqrt(surprise * (surprise + 2 * (k - 1))))


def max_cells_binomial(population: float, k: int, beta: float) -> float:
    """As `max_cells`, from the binomial distribution itself instead of the Chernoff bound.

    The largest D' with P[Binomial(n, 1/D') >= k] >= 1 - beta, through the inverse of the incomplete
    beta function.

    >>> round(max_cells_binomial(3e8, 100, 0.1))
    2654620
    """
    _check_crowd(population, k, beta)
    if k == 1:  # (1 - p)^n <= beta
        return -1 / math.expm1(math.log(beta) / population)
    if k == population:  # p^n >= 1 - beta
        return math.exp(-math.log1p(-beta) / population)
    from scipy.special import betainccinv

    return float(1 / betainccinv(float(k), population - k + 1.0, beta))


@dataclass(frozen=True)
class CellLimit(Result):
    """How many equally likely cells hold at least k people each with probability 1 - beta."""

    population: int
    k: int
    beta: float
    chernoff: float
    """Theorem 4, the exact expression of its proof."""
    binomial: float
    """Without the Chernoff bound."""
    mean_crowd: float
    """n/k: the cells that hold k people on average, which promises nothing for one cell."""
    slack: float
    """The constant c with which the paper writes the limit as n/k (1-c)."""
    gain: float
    """How many times more cells the binomial distribution allows than the Chernoff bound."""


def cell_limit(population: int, k: int, beta: float) -> CellLimit:
    """The limit of Theorem 4 in all its forms, and what the exact tail wins.

    >>> limit = cell_limit(300_000_000, 100, 0.1)
    >>> round(limit.slack, 3), round(limit.gain, 3)
    (0.186, 1.086)
    """
    chernoff = max_cells(population, k, beta)
    binomial = max_cells_binomial(population, k, beta)
    mean = population / k
    return CellLimit(
        int(population), int(k), beta, chernoff, binomial, mean, 1 - chernoff / mean,
        binomial / chernoff,
    )  # fmt: skip


def values_per_column(
    cells: float, domains: Sequence[float], *, weights: Sequence[float] | None = None
) -> tuple[float, ...]:
    """How many values each column may keep when all of them together may make `cells` cells.

    lodha2007, equation (1): in proportion to the weights, except that a column with fewer values
    than its share stays as it is and leaves more to the others. Use `math.inf` for a column whose
    number of values is not known.

    >>> [round(d) for d in values_per_column(2.4e6, [2, 21900, 1e5])]  # Example 7
    [2, 1095, 1095]
    """
    _at_least_one(cells, "cells")
    shares = [1.0] * len(domains) if weights is None else list(weights)
    if not domains or len(shares) != len(domains):
        raise ParameterError(
            f"Give at least one column, and a weight for each: {len(domains)} numbers of values "
            f"and {len(shares)} weights were given."
        )
    if any(not d >= 1 for d in domains) or any(not 0 < w < math.inf for w in shares):
        raise ParameterError("A column has at least one value, and its weight is above zero.")
    kept = dict(enumerate(domains))
    free = set(range(len(domains)))
    while free:
        # Logarithms, because the product over many columns leaves the range of floats.
        left = math.log(cells) - sum(math.log(kept[i]) for i in kept if i not in free)
        unit = math.exp((left - sum(math.log(shares[i]) for i in free)) / len(free))
        full = {i for i in free if unit * shares[i] >= domains[i]}
        if not full:
            kept.update({i: unit * shares[i] for i in free})
            break
        free -= full
    return tuple(float(kept[i]) for i in range(len(domains)))


def check_fraction(value: float, name: str) -> None:
    """Raise unless `value` lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ParameterError(f"{name} lies between 0 and 1, both excluded; {value} was given.")


def _at_least_one(value: float, name: str) -> None:
    if not 1 <= value < math.inf:
        raise ParameterError(f"{name} is a number of at least 1; {value} was given.")


def _check_crowd(population: float, k: int, beta: float) -> None:
    _at_least_one(population, "population")
    check_fraction(beta, "beta")
    if not 1 <= k <= population or k != int(k):
        raise ParameterError(
            f"k is a whole number from 1 to the population ({population:g}); {k} was given."
        )
