"""How far the target's distribution in each group is from that in all rows (Li et al. 2007).

The earth mover's distance for the three ground distances of t-closeness. Only the values that occur
in a group are visited: what a group does not hold enters through sums over the whole distribution.
`crypsis.distributions` has the same distances for two distributions written out in full.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.inference._conditional import Joint

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def equal_distances(table: Joint) -> Floats:
    """All values equally far: half the sum of absolute differences.

    The differences sum to zero, so that half is the sum of the positive ones, which only values
    that occur in the group can have.
    """
    return table.per_group(np.maximum(table.shares - table.prior[table.codes], 0.0))


def hierarchical_distances(table: Joint, ancestors: Sequence[Sequence[object]]) -> Floats:
    """Values as far as the level of their lowest common ancestor, in a tree of one height.

    `ancestors[i]` lists those of value i, its parent first, the root last.
    """
    height = len(ancestors[0])
    distances = equal_distances(table)
    for level in range(height - 1):
        nodes: dict[tuple[object, ...], int] = {}
        node = np.array([nodes.setdefault(tuple(path[level:]), len(nodes)) for path in ancestors])
        prior = np.bincount(node, table.prior, minlength=len(nodes))
        keys, inverse = np.unique(
            table.member * len(nodes) + node[table.codes], return_inverse=True
        )
        surplus = np.bincount(inverse, table.shares) - prior[keys % len(nodes)]
        distances = distances + np.bincount(keys // len(nodes), np.maximum(surplus, 0.0))
    return np.asarray(distances / height)


def ordered_distances(table: Joint) -> Floats:
    """Neighbouring values 1/(m-1) apart, m values in all.

    A missing value has no place in an order. Moving rows between missing and known costs 1 each;
    what is known on both sides is moved along the order. That is one way to carry the earth, so the
    distance is never understated, and exact where nothing is missing.
    """
    if table.values[-1].is_valid:
        return _along_the_order(table.member, table.codes, table.counts, table.sizes, table.totals)
    known = table.codes != len(table.values) - 1
    counts = table.counts * known
    known_sizes = np.add.reduceat(counts, table.starts)
    here, everywhere = known_sizes / table.sizes, 1 - table.prior[-1]
    moved = np.abs(here - everywhere)
    if not known.any():
        return np.asarray(moved)
    along = _along_the_order(
        table.member[known], table.codes[known], counts[known], known_sizes, table.totals[:-1]
    )
    return np.asarray(moved + np.minimum(here, everywhere) * along)


def _along_the_order(
    member: Ints, codes: NDArray[np.int32], counts: Ints, sizes: Ints, totals: Ints
) -> Floats:
    """Sum over the values i of |Q_i - P_i| / (m-1), P and Q the cumulated distributions.

    Between two values of a group Q stays what it is while P grows. Where P overtakes it is found by
    bisection, and both sides are differences of sums of P. Cost: cells times log(values).
    """
    there = np.flatnonzero(totals)
    m = there.size
    if m == 1:
        return np.zeros(sizes.size)
    upto = np.cumsum(totals[there]) / totals.sum()
    sums = np.concatenate([[0.0], np.cumsum(upto)])
    place = np.searchsorted(there, codes)
    first = np.flatnonzero(np.diff(member, prepend=-1))
    last = np.append(first[1:], member.size) - 1
    before = np.concatenate([[0], np.cumsum(counts)])
    start_of = np.repeat(before[first], np.diff(np.append(first, member.size)))
    level = (before[1:] - start_of) / sizes[member]
    end = np.append(place[1:], m)
    end[last] = m
    turn = np.clip(np.searchsorted(upto, level, side="right"), place, end)
    below = level * (turn - place) - (sums[turn] - sums[place])
    above = (sums[end] - sums[turn]) - level * (end - turn)
    distance = np.bincount(member, below + above, minlength=sizes.size)
    distance[member[first]] += sums[place[first]]
    return np.asarray(np.maximum(distance, 0.0) / (m - 1))
