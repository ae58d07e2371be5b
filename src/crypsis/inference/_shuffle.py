"""What ITPR would be if the target had nothing to do with the given columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.inference._conditional import Conditional
from crypsis.results import Estimate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SHUFFLES = 100
_PERMUTED_ROWS = 20_000
_DRAWN_COUNTS = 2_000_000


def independent_itpr(known: Conditional) -> float:
    """ITPR when every group has the distribution of all rows: 1 - |Y| min p(y), in closed form.

    For a unique target that cannot be, and shuffling it changes nothing: ITPR itself.
    """
    if known.totals is None or int(known.totals.max()) == 1:
        return known.itpr
    if known.entropy == 0:
        return 0.0
    return 1 - len(known.groups) * int(known.sizes.min()) / known.rows


def shuffled_itpr(known: Conditional, seed: int) -> Estimate | float:
    """ITPR of a shuffled target: the median of seeded shuffles, and where 95 % of them lie.

    Exact, hence a float, where shuffling cannot change it. Up to 20,000 rows the target is permuted
    row by row; beyond, the counts of the smallest groups, where the maximum lies, are drawn from
    the distribution of all rows, which then hardly differs from a permutation. Of very many groups
    of nearly one size some are left out, which may understate it a little.
    """
    smallest = int(known.sizes.min())
    trivial = known.entropy == 0 or len(known.groups) == 1
    if known.totals is None or int(known.totals.max()) == 1 or trivial:
        return known.itpr
    if smallest == 1:
        return 1.0
    random = np.random.default_rng(seed)
    if known.rows <= _PERMUTED_ROWS:
        lowest = _permuted(known.sizes, known.totals, random)
        method = f"{lowest.size} permutations"
    else:
        lowest = _drawn(known.sizes, known.totals, random)
        method = f"{lowest.size} draws for the smallest groups"
    found = 1 - len(known.groups) * lowest / (known.rows * known.entropy)
    low, middle, high = np.quantile(found, [0.025, 0.5, 0.975])
    return Estimate(float(middle), float(low), float(high), method=f"{method}, seed {seed}")


def _permuted(sizes: Ints, totals: Ints, random: np.random.Generator) -> Floats:
    """The smallest n_y H_y over the groups, shuffle by shuffle."""
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
