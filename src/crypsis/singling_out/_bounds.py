"""Bounds on the number of unique people and on the number of cells: lodha2007, sections 2 and 3.

Numbers in, numbers out. `population` is the number n of people that the table could be about,
`distinct` the number D of values that a set of columns can take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from crypsis.errors import ParameterError
from crypsis.scientific import optimize, special


def uniqueness_bound(distinct: float, population: float, *, exact: bool = False) -> float:
    """Bound the expected share of unique people, whatever the distribution of the values.

    Parameters
    ----------
    distinct : float
        The number D of values that the columns can take.
    population : float
        The number n of people.
    exact : bool
        The bound for a finite n, instead of its limit for large n.

    Returns
    -------
    float
        D/(e n) for D < n, else exp(-n/D); with `exact` the maximum over all distributions.

    Notes
    -----
    With cell probabilities p the expected number of uniques is n sum p(1-p)^(n-1). Its summand is
    concave up to p = 2/n and falls beyond 1/n, so at the maximum either all cells are equally
    likely, or all but one are and that one takes the rest; `exact` compares both cases.

    References
    ----------
    lodha2007, Theorems 1 and 2 (with the minus sign that is missing in print).

    Examples
    --------
    >>> round(uniqueness_bound(4e9, 3e8), 2)  # gender, date of birth, zip code in the U.S.
    0.93
    >>> round(uniqueness_bound(20, 10), 3), round(uniqueness_bound(20, 10, exact=True), 3)
    (0.607, 0.63)
    """
    _check_at_least_one(distinct, "distinct")
    _check_at_least_one(population, "population")
    if exact:
        return _exact_bound(float(distinct), float(population))
    if distinct < population:
        return distinct / (math.e * population)
    return math.exp(-population / distinct)


def min_cells(population: float, alpha: float) -> float:
    """Compute the number of values above which columns can be an alpha-quasi-identifier.

    Parameters
    ----------
    population : float
        The number n of people.
    alpha : float
        The share of unique people, between 0 and 1.

    Returns
    -------
    float
        n / ln(1/alpha); below alpha = 1/e, where the paper stops, e alpha n by Theorem 1.

    References
    ----------
    lodha2007, Theorem 3.

    Examples
    --------
    >>> round(min_cells(3e8, 0.5) / 3e8, 3), round(min_cells(3e8, 0.2) / 3e8, 3)
    (1.443, 0.544)
    """
    _check_at_least_one(population, "population")
    check_fraction(alpha, "alpha")
    if alpha < 1 / math.e:
        return math.e * alpha * population
    return population / -math.log(alpha)


def max_cells(population: float, k: int, beta: float, *, exact: bool = False) -> float:
    """Compute how many equally likely cells have k people each with probability 1 - beta.

    Parameters
    ----------
    population : float
        The number n of people.
    k : int
        The smallest number of people in a cell.
    beta : float
        The probability that a cell has fewer, between 0 and 1.
    exact : bool
        The largest number by the binomial distribution, instead of a Chernoff bound.

    Returns
    -------
    float
        n/(k-1) (1 + x - sqrt(x^2 + 2x)) with x = -ln(beta)/(k-1), in a form that neither cancels
        nor divides by zero at k = 1; with `exact` the largest D' with
        P[Binomial(n, 1/D') >= k] >= 1 - beta, by the inverse of the incomplete beta function.

    References
    ----------
    lodha2007, Theorem 4, the exact expression of its proof.

    Examples
    --------
    >>> round(max_cells(3e8, 100, 0.1))  # Example 6; the paper rounds to n/125
    2443425
    >>> round(max_cells(3e8, 100, 0.1, exact=True))
    2654620
    """
    _check_at_least_one(population, "population")
    check_fraction(beta, "beta")
    if not 1 <= k <= population or k != int(k):
        raise ParameterError(
            f"Parameter 'k' must be a whole number from 1 to the population ({population:g}); {k} was given.",
            parameter="k",
        )
    if not exact:
        surprise = -math.log(beta)
        return population / (k - 1 + surprise + math.sqrt(surprise * (surprise + 2 * (k - 1))))
    if k == 1:  # (1 - p)^n <= beta
        return -1 / math.expm1(math.log(beta) / population)
    if k == population:  # p^n >= 1 - beta
        return math.exp(-math.log1p(-beta) / population)

    return float(1 / special.betainccinv(float(k), population - k + 1.0, beta))


def values_per_column(
    cells: float, domains: Sequence[float], *, weights: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Compute how many values each column may keep if all columns together may have `cells` cells.

    Parameters
    ----------
    cells : float
        The number of cells of all columns together.
    domains : sequence of float
        The number of values of each column; `math.inf` where it is not known.
    weights : sequence of float, optional
        The importance of each column; by default all are equally important.

    Returns
    -------
    tuple of float
        In proportion to the weights, except that a column with fewer values than its share keeps
        them all and leaves more to the others.

    References
    ----------
    lodha2007, equation (1).

    Examples
    --------
    >>> [round(d) for d in values_per_column(2.4e6, [2, 21900, 1e5])]  # Example 7
    [2, 1095, 1095]
    """
    _check_at_least_one(cells, "cells")
    shares = [1.0] * len(domains) if weights is None else list(weights)
    if not domains or len(shares) != len(domains):
        raise ParameterError(
            f"Parameter 'weights' must have one weight for each column; {len(domains)} columns and "
            f"{len(shares)} weights were given.",
            parameter="weights",
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
        raise ParameterError(
            f"Parameter {name!r} must be above 0 and below 1; {value} was given.", parameter=name
        )


def _exact_bound(cells: float, n: float) -> float:
    """The largest expected share of unique people among n, over all distributions on the cells."""
    if n == 1:
        return 1.0
    if cells == 1:
        return 0.0
    even = min(1.0, _exactly_one(n / cells, n) * cells / n)
    if cells >= n:
        return even
    rest = cells - 1

    def loss(x: float) -> float:  # x = n p of the small cells
        return -(rest * _exactly_one(x, n) + _exactly_one(n - rest * x, n)) / n

    best = optimize.minimize_scalar(loss, bounds=(1.0, n / cells), method="bounded", options={"xatol": 1e-9})
    return float(max(even, -best.fun, -loss(1.0)))


def _exactly_one(x: float, n: float) -> float:
    """The probability that a cell has exactly one of n people: n p (1-p)^(n-1), with x = n p."""
    return 0.0 if x >= n else x * math.exp((n - 1) * math.log1p(-x / n))


def _check_at_least_one(value: float, name: str) -> None:
    if not 1 <= value < math.inf:
        raise ParameterError(f"Parameter {name!r} must be at least 1; {value} was given.", parameter=name)
