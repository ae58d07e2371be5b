"""ITPR of a shuffled target, which is independent of the given columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.inference.conditional import Conditional
from crypsis.results import Estimate, Number

SHUFFLES = 100
_PERMUTED_RECORDS = 20_000
_DRAWN_COUNTS = 2_000_000


def shuffled_itpr(conditional: Conditional, seed: int) -> Number:
    """ITPR of a shuffled target: the median of seeded shuffles, and where 95 % of them lie.

    Exact, hence a float, where shuffling cannot change it. Up to 20,000 records the target is
    permuted; beyond, the counts of the smallest classes, where the maximum lies, are drawn from the
    distribution of all records, which then hardly differs from a permutation. Of very many classes
    of nearly one size some are omitted, which may understate it slightly.
    """
    smallest = int(conditional.sizes.min())
    trivial = conditional.entropy == 0 or len(conditional.classes) == 1
    if conditional.totals is None or trivial:
        return conditional.itpr
    totals = integer_counts(conditional.totals)
    if totals.max() == 1:
        return conditional.itpr
    if smallest == 1:
        return 1.0
    random = np.random.default_rng(seed)
    if conditional.records <= _PERMUTED_RECORDS:
        lowest = _permuted(conditional.sizes, totals, random)
        method = f"{lowest.size} permutations"
    else:
        lowest = _drawn(conditional.sizes, totals, random)
        method = f"{lowest.size} draws for the smallest classes"
    shuffled = 1 - len(conditional.classes) * lowest / (conditional.records * conditional.entropy)
    low, middle, high = np.quantile(shuffled, [0.025, 0.5, 0.975])
    return Estimate(float(middle), float(low), float(high), method=f"{method}, seed {seed}")


def integer_counts(totals: NDArray[Any]) -> Ints:
    """Counts that add up to the same: of people spread over their records the nearest."""
    lower = np.floor(totals + 1e-9).astype(np.int64)
    left = round(float(totals.sum())) - int(lower.sum())
    lower[np.argsort(lower - totals, kind="stable")[:left]] += 1
    return lower


def _permuted(sizes: Ints, totals: Ints, random: np.random.Generator) -> Floats:
    """The smallest n_y H_y over the classes, shuffle by shuffle."""
    target = np.repeat(np.arange(totals.size), totals)
    group = np.repeat(np.arange(sizes.size), sizes) * totals.size
    lowest = np.empty(SHUFFLES)
    for i in range(SHUFFLES):
        random.shuffle(target)
        keys = np.sort(group + target)
        ends = np.flatnonzero(np.diff(keys, append=-1))
        counts = np.diff(ends, prepend=-1)
        member = keys[ends] // totals.size
        share = counts / sizes[member]
        lowest[i] = np.bincount(member, -counts * np.log2(share)).min()
    return np.maximum(lowest, 0.0)


def _drawn(sizes: Ints, totals: Ints, random: np.random.Generator) -> Floats:
    values = totals[totals > 0]
    shuffles = int(np.clip(_DRAWN_COUNTS // values.size, 10, SHUFFLES))
    most = max(1, _DRAWN_COUNTS // (values.size * shuffles))
    few = np.sort(sizes)[:most]
    counts = random.multinomial(few, values / values.sum(), size=(shuffles, few.size))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, -counts * np.log2(counts / few[:, None]), 0.0)
    return np.asarray(terms.sum(axis=2).min(axis=1))
