"""Entropy, divergences and the earth mover's distance: counts in, numbers out.

Every function takes non-negative counts (or probabilities; only proportions matter), in natural
order where the order matters. Logarithms are to base 2, so entropies are in bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.errors import ParameterError


def proportions(counts: ArrayLike) -> NDArray[np.float64]:
    """Counts as shares of their sum.

    >>> proportions([1, 3])
    array([0.25, 0.75])
    """
    values = np.asarray(counts, dtype=np.float64)
    if values.size == 0 or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ParameterError("A distribution needs at least one count, all finite and >= 0.")
    total = values.sum()
    if total <= 0:
        raise ParameterError("A distribution needs a count above zero.")
    return np.asarray(values / total)


def entropy_bits(counts: ArrayLike) -> float:
    """Shannon entropy of the distribution given by `counts`.

    >>> entropy_bits([1, 1, 1, 1])
    2.0
    """
    p = proportions(counts)
    p = p[p > 0]
    return max(0.0, float(-(p * np.log2(p)).sum()))


def kullback_leibler_bits(counts: ArrayLike, reference: ArrayLike) -> float:
    """How surprising `counts` are to someone who expects `reference`; infinite where it has none.

    >>> kullback_leibler_bits([1, 0], [1, 1])
    1.0
    """
    p, q = _pair(counts, reference)
    here = p > 0
    if np.any(q[here] == 0):
        return float("inf")
    return max(0.0, float((p[here] * np.log2(p[here] / q[here])).sum()))


def total_variation(counts: ArrayLike, reference: ArrayLike) -> float:
    """Half the sum of absolute differences: the earth mover's distance of equally far values.

    >>> total_variation([1, 0], [1, 1])
    0.5
    """
    p, q = _pair(counts, reference)
    return float(np.abs(p - q).sum() / 2)


def hellinger(counts: ArrayLike, reference: ArrayLike) -> float:
    """Hellinger distance, between 0 (equal) and 1 (nothing in common).

    >>> hellinger([1, 0], [0, 1])
    1.0
    """
    p, q = _pair(counts, reference)
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


def ordered_distance(counts: ArrayLike, reference: ArrayLike) -> float:
    """Earth mover's distance when neighbouring values are 1/(m-1) apart (Li et al. 2007).

    >>> ordered_distance([1, 0, 0], [0, 0, 1])
    1.0
    """
    p, q = _pair(counts, reference)
    if p.size == 1:
        return 0.0
    return float(np.abs(np.cumsum(p - q)[:-1]).sum() / (p.size - 1))


def hierarchical_distance(
    counts: ArrayLike, reference: ArrayLike, ancestors: Sequence[Sequence[object]]
) -> float:
    """Earth mover's distance on a tree whose leaves are the values (Li et al. 2007).

    `ancestors[i]` lists the ancestors of value i from its parent up to the root; all lists have the
    height of the tree. Two values are (level of their lowest common ancestor)/height apart.

    >>> tree = [("warm", "*"), ("warm", "*"), ("cold", "*"), ("cold", "*")]
    >>> hierarchical_distance([1, 0, 0, 0], [0, 1, 0, 0], tree)
    0.5
    >>> hierarchical_distance([1, 0, 0, 0], [0, 0, 0, 1], tree)
    1.0
    """
    p, q = _pair(counts, reference)
    heights = {len(path) for path in ancestors}
    if len(ancestors) != p.size or len(heights) != 1 or heights == {0}:
        raise ParameterError(
            "Each value needs its list of ancestors, all equally long: parent first, root last."
        )
    height = heights.pop()
    # A unit of mass that leaves a node of level h passes from level h to h+1, half of 1/height on
    # either side of the way; what is still unbalanced below a node has to leave it.
    cost = float(np.abs(p - q).sum())
    for level in range(height - 1):
        surplus: dict[tuple[object, ...], float] = {}
        for difference, path in zip(p - q, ancestors, strict=True):
            node = tuple(path[level:])
            surplus[node] = surplus.get(node, 0.0) + float(difference)
        cost += sum(abs(value) for value in surplus.values())
    return cost / (2 * height)


def _pair(counts: ArrayLike, reference: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p, q = proportions(counts), proportions(reference)
    if p.shape != q.shape:
        raise ParameterError(f"The distributions have {p.size} and {q.size} values; they must match.")
    return p, q
