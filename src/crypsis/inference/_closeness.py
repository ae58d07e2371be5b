"""The distance of the target's distribution in each class from that in all records.

The earth mover's distance for the three ground distances of t-closeness (Li et al. 2007). Only the
values that occur in a class are visited: the others enter through sums over all records.
`crypsis.counting.distributions` has the same distances for two distributions written out in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from crypsis.array_types import Codes, Floats, Ints
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.inference.conditional import Joint

GroundDistance: TypeAlias = Literal["equal", "ordered"] | Hierarchy
"""How far two values are apart: all equally, in their order, or by a generalization hierarchy."""


def ground_distances(
    dataset: Dataset, distances: Mapping[str, GroundDistance] | None
) -> dict[str, GroundDistance]:
    """For each sensitive attribute the distance that was set, or that of its type."""
    ground_by_name: dict[str, GroundDistance] = {
        name: "ordered" if dataset.rows.column(name).kind.ordered else "equal" for name in dataset.sensitive
    }
    for name, ground in (distances or {}).items():
        if name not in ground_by_name:
            raise ParameterError(
                f"Parameter 'distances' has column {name!r}, which is not a sensitive attribute.",
                parameter="distances",
                columns=(name,),
            )
        if not isinstance(ground, Hierarchy) and ground not in ("equal", "ordered"):
            raise ParameterError(
                f"The distance of column {name!r} must be 'equal', 'ordered' or a Hierarchy.",
                parameter="distances",
                columns=(name,),
            )
        ground_by_name[name] = ground
    return ground_by_name


def class_distances(table: Joint, ground: GroundDistance, column: str = "") -> Floats:
    """The distance of each class from all records."""
    if isinstance(ground, Hierarchy):
        return _hierarchical_distances(table, ground.nodes(table.values.to_pylist(), column))
    return _ordered_distances(table) if ground == "ordered" else _equal_distances(table)


def _equal_distances(table: Joint) -> Floats:
    """All values equally far: half the sum of absolute differences.

    The differences sum to zero, so that half is the sum of the positive ones, which only values
    that occur in the class can have.
    """
    return table.per_class(np.maximum(table.shares - table.prior[table.codes], 0.0))


def _hierarchical_distances(table: Joint, nodes: Ints) -> Floats:
    """Values as far as the level of their lowest common ancestor, in a tree of one height.

    `nodes[level, i]` is the node of value i on a level, from the values up to the root.
    """
    height = len(nodes) - 1
    distances = _equal_distances(table)
    for node in nodes[1:-1]:
        count = int(node.max()) + 1
        prior = np.bincount(node, table.prior, minlength=count)
        keys, inverse = np.unique(table.member * count + node[table.codes], return_inverse=True)
        surplus = np.bincount(inverse, table.shares) - prior[keys % count]
        distances = distances + np.bincount(keys // count, np.maximum(surplus, 0.0))
    return np.asarray(distances / height)


def _ordered_distances(table: Joint) -> Floats:
    """Neighboring values 1/(m-1) apart, m values in all.

    A missing value has no place in an order. Moving records between missing and known costs 1 each;
    what is known on both sides is moved along the order. That is one transport plan, so the
    distance is never understated, and exact where nothing is missing.
    """
    if table.values[-1].is_valid:
        return _along_the_order(table.member, table.codes, table.weights, table.sizes, table.totals)
    has_value = table.codes != len(table.values) - 1
    counts = table.weights * has_value
    known_sizes = np.add.reduceat(counts, table.starts)
    here, everywhere = known_sizes / table.sizes, 1 - table.prior[-1]
    moved = np.abs(here - everywhere)
    if not has_value.any():
        return np.asarray(moved)
    along = _along_the_order(
        table.member[has_value], table.codes[has_value], counts[has_value], known_sizes, table.totals[:-1]
    )
    return np.asarray(moved + np.minimum(here, everywhere) * along)


def _along_the_order(
    member: Ints, codes: Codes, counts: Floats, sizes: Ints | Floats, totals: Ints | Floats
) -> Floats:
    """Sum over the values i of |Q_i - P_i| / (m-1), P and Q the cumulated distributions.

    Between two values of a class Q is constant while P grows. Where P overtakes it is found by
    bisection, and both sides are differences of sums of P. Cost: cells times log(values).
    """
    present = np.flatnonzero(totals)
    m = present.size
    if m == 1:
        return np.zeros(sizes.size)
    upto = np.cumsum(totals[present]) / totals.sum()
    sums = np.concatenate([[0.0], np.cumsum(upto)])
    position = np.searchsorted(present, codes)
    first = np.flatnonzero(np.diff(member, prepend=-1))
    last = np.append(first[1:], member.size) - 1
    before = np.concatenate([[0], np.cumsum(counts)])
    start_of = np.repeat(before[first], np.diff(np.append(first, member.size)))
    level = (before[1:] - start_of) / sizes[member]
    end = np.append(position[1:], m)
    end[last] = m
    turn = np.clip(np.searchsorted(upto, level, side="right"), position, end)
    below = level * (turn - position) - (sums[turn] - sums[position])
    above = (sums[end] - sums[turn]) - level * (end - turn)
    distance = np.bincount(member, below + above, minlength=sizes.size)
    distance[member[first]] += sums[position[first]]
    return np.asarray(np.maximum(distance, 0.0) / (m - 1))
