"""Section 4 and Theorem 5 of lodha2007: one column at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from scipy import special

from crypsis import singling_out as so
from crypsis.protection import cluster, quantile_groups
from papers.comparison import NOTHING, claim, critique, erratum, number
from papers.lodha2007 import printed
from papers.results import ComparedValue, RunSettings, Values, paper_item

Group = list[int]


def _partitions(n: int, k: int) -> Iterator[list[Group]]:
    """All ways to put n things into groups of at least k."""

    def place(i: int, groups: list[Group]) -> Iterator[list[Group]]:
        if i == n:
            if all(len(group) >= k for group in groups):
                yield [list(group) for group in groups]
            return
        for group in groups:
            group.append(i)
            yield from place(i + 1, groups)
            group.pop()
        if (len(groups) + 1) * k <= n:
            yield from place(i + 1, [*groups, [i]])

    yield from place(0, [])


def _rank_cost(group: Group) -> float:
    return min(sum(abs(i - target) for i in group) for target in range(max(group) + 1))


@paper_item("Theorem 5", "The quantile transformation has the smallest rank difference")
def theorem_5(_: RunSettings) -> Values:
    cells = []
    for n, k in ((5, 2), (6, 2), (7, 3), (8, 2), (8, 3), (9, 4)):
        least = min(sum(map(_rank_cost, groups)) for groups in _partitions(n, k))
        ours = quantile_groups(np.arange(n), k).cost
        name = f"rank difference, n = {n}, k = {k}"
        cells.append(claim(name, "minimum", ours == least, f"{ours:g}, as of all partitions"))
    return (*cells, _definition_9())


def _definition_9() -> ComparedValue:
    """Groups of k + floor(r/q) or k + ceil(r/q) elements, where n = qk + r."""
    wrong, tries = 0, [(n, k) for n in range(5, 60) for k in range(2, 6)]
    for n, k in tries:
        q, r = divmod(n, k)
        sizes = np.bincount(quantile_groups(np.arange(n), k).labels)
        wrong += not (len(sizes) == q and set(sizes.tolist()) <= {k + r // q, k + -(-r // q)})
    return claim(
        "sizes of the groups (Definition 9)",
        "k + floor(r/q) or k + ceil(r/q)",
        wrong == 0,
        f"so for {len(tries)} pairs of n and k",
    )


def _diameter(points: Sequence[float]) -> float:
    return max(points) - min(points)


_COSTS: dict[str, tuple[Callable[[Sequence[float]], float], Callable[[list[float]], float]]] = {
    "center": (_diameter, max),
    "median": (lambda p: sum(abs(x - sorted(p)[len(p) // 2]) for x in p), sum),
    "cellular": (lambda p: _diameter(p) / 2 * len(p), sum),
}


def _cheapest(points: Sequence[float], k: int, cost: str, *, contiguous: bool) -> float:
    """The least cost over all clusterings, one by one."""
    one, together = _COSTS[cost]
    ordered = sorted(points)
    found = math.inf
    for groups in _partitions(len(ordered), k):
        if contiguous and any(max(g) - min(g) + 1 != len(g) for g in groups):
            continue
        found = min(found, together([one([ordered[i] for i in g]) for g in groups]))
    return found


@paper_item("Section 4.1", "The dynamic program, and samples for quantiles")
def clustering(_: RunSettings) -> Values:
    rng = np.random.default_rng(41)
    tries = [
        (rng.normal(size=int(n)).round(2).tolist(), int(k))
        for n, k in product((5, 7, 8), (2, 3))
        for _each in range(3)
    ]
    cells = []
    for cost in _COSTS:
        gap = max(
            abs(cluster(x, k, cost=cost).cost - _cheapest(x, k, cost, contiguous=cost == "cellular"))
            for x, k in tries
        )
        name = "contiguous clusterings" if cost == "cellular" else "all clusterings"
        cells.append(
            claim(f"{cost} cost", f"optimal of {name}", gap < 1e-9, f"found for {len(tries)} columns")
        )
    sizes = [
        int(cluster(rng.normal(size=500), k, cost=cost).sizes.max()) / k
        for cost in _COSTS
        for k in (2, 5, 10)
    ]
    cells.append(
        claim("members of an optimal cluster", "below 2k", max(sizes) < 2, f"at most {max(sizes):.2f} k")
    )
    return (*cells, _split_values(), _not_contiguous(), *_samples())


def _split_values() -> ComparedValue:
    """Equal values in different groups: fine by rank, not safe by value."""
    values = np.array([1, 1, 1, 2, 2, 2])

    def split(keep_equal: bool) -> int:
        labels = quantile_groups(values, 2, keep_equal=keep_equal).labels
        return sum(len(set(labels[values == value].tolist())) > 1 for value in (1, 2))

    return critique(
        "values of 1, 1, 1, 2, 2, 2 that lie in two groups",
        NOTHING,
        split(False),
        correct=2,
        note="A transformation maps a value to one image, so that none should. Consecutive ranks "
        "for equal values (Definition 7) and groups of 2 split both; a release that is to be "
        "k-anonymous by value has to keep equal values together (`keep_equal=True`, which splits "
        f"{split(True)}).",
    )


def _not_contiguous() -> ComparedValue:
    points = list(printed.NOT_CONTIGUOUS)
    free = _cheapest(points, 2, "cellular", contiguous=False)
    return critique(
        "cheapest cellular clustering of 0, 5, 5.05, 5.1, 10",
        "contiguous",
        free,
        correct="10.15",
        note='"Each cluster in the optimal clustering contains contiguous elements" does not hold '
        "for the cellular cost: {0, 10} and {5, 5.05, 5.1} cost less than any cut of the line "
        f"({cluster(points, 2, cost='cellular').cost:g}). The "
        "dynamic program is optimal among contiguous clusterings.",
    )


def _samples() -> list[ComparedValue]:
    """The sample size for quantiles, checked by the exact distribution of a sample quantile."""
    epsilon = delta = 0.05
    stated = math.ceil(math.log(1 / delta) / epsilon)
    enough = math.ceil(math.log(2 / delta) / (2 * epsilon**2))
    return [
        erratum(
            f"chance that the median of {stated} is off by more than 5 %, delta = 0.05",
            "below delta",
            _off(stated, epsilon),
            correct=f"{_counted_off(stated, epsilon):.6f}",
            note="s = (1/eps) log(1/delta) is too small by a factor of about 1/(2 eps). A sample "
            f"quantile needs s >= ln(2/delta) / (2 eps^2), here {enough}.",
        ),
        claim(
            f"the same for a sample of {enough}",
            "below delta",
            _off(enough, epsilon) <= delta,
            f"{_off(enough, epsilon):.4f}",
        ),
        claim(
            "the 5th of 100 for the 5,000th of 100,000",
            "approximated well",
            _off(100, 0.05, 0.05) < 0.05,
            f"off by 5,000 ranks with {_off(100, 0.05, 0.05):.1%}",
        ),
    ]


def _off(sample: int, epsilon: float, level: float = 0.5) -> float:
    """The chance that a sample quantile lies further than epsilon from its own rank."""
    place = max(1, round(sample * level))

    def below(share: float) -> float:
        return float(special.betainc(place, sample - place + 1, min(1.0, max(0.0, share))))

    return below(level - epsilon) + 1 - below(level + epsilon)


def _counted_off(sample: int, epsilon: float) -> float:
    """The same for the median by counting: how many of the sample lie below a share of all."""
    place = round(sample / 2)

    def at_least(share: float) -> float:
        return sum(
            math.comb(sample, i) * share**i * (1 - share) ** (sample - i) for i in range(place, sample + 1)
        )

    return at_least(0.5 - epsilon) + 1 - at_least(0.5 + epsilon)


@paper_item("Section 3.1", "How many values each column keeps, equation (1)")
def section_3_1(_: RunSettings) -> Values:
    rng = np.random.default_rng(31)
    weights, cells = np.array([1.0, 2.0, 5.0]), 1e6
    best = np.array(so.values_per_column(cells, [math.inf] * 3, weights=weights.tolist()))
    least = float((weights / best).sum())
    others = np.exp(rng.normal(size=(1_000, 3)))
    others *= (cells / others.prod(axis=1, keepdims=True)) ** (1 / 3)
    costs = (weights / others).sum(axis=1)
    found = "minimize" if least <= costs.min() else "maximize"
    unit = (cells / weights.prod()) ** (1 / 3)
    return (
        number(
            "d' of the first of three columns, weights 1, 2, 5",
            f"{unit:.15g}",
            best[0],
            text="(D'/prod w)^(1/m) w",
        ),
        erratum(
            "rank difference of 100 quantiles of 10,000 rows",
            "n^2/d'",
            quantile_groups(np.arange(10_000), 100).cost,
            correct="250000",
            note="The text takes (n/d')^2 for a group of n/d' ranks, which makes 10^6 here. Mapped "
            "to its median a group of g ranks has a rank difference of g^2/4. A constant factor, so "
            "that equation (1) is as it was.",
        ),
        erratum(
            "what equation (1) does to the sum of w/d'",
            "maximize",
            found,
            correct="minimize",
            note='"Maximize" stands where a column is taken out of the problem; the derivation '
            "minimizes, and the maximum is infinite.",
        ),
    )
