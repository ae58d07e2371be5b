"""Group pseudonyms: one pseudonym for several items (bagai2017, Sec. VII)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._cracks import CrackDistribution
from crypsis.pseudonyms._metrics import degree_of_anonymity, edge_probabilities
from crypsis.pseudonyms._secrets import secret_distribution
from crypsis.pseudonyms._solve import Block
from crypsis.results import Estimate, Number, Result, raw


@dataclass(frozen=True)
class GroupAnonymity(Result):
    """What an attack leaves of group pseudonyms.

    `degree` is the entropy of the assignment of items to groups over its largest value,
    log(t! / prod size!). `expected_cracks` counts items put into their own group, `by_chance` how
    many that would be without any knowledge.
    """

    size: int
    groups: int
    degree: Number
    expected_cracks: float | None
    by_chance: float
    blocks: tuple[Block, ...]
    probabilities: NDArray[np.float64] = raw()


def group_belief(
    matrix: Any, sizes: Sequence[int], *, truth: Sequence[int] | None = None
) -> Belief:
    """A belief between items and group pseudonyms as one between items and places in groups.

    `matrix` has a row for each item and a column for each group, `sizes` says how many items each
    group pseudonym stands for, `truth` gives the group of each item. Places of a group are alike,
    and identical columns are merged, so large groups cost little.

    >>> group_belief([[1, 1], [1, 1], [0, 1]], [1, 2]).matrix.toarray()
    array([[1., 1., 1.],
           [1., 1., 1.],
           [0., 1., 1.]])
    """
    cells = np.asarray(matrix, dtype=np.float64)
    counts = np.asarray(sizes)
    if cells.ndim != 2 or counts.shape != cells.shape[1:] or counts.dtype.kind not in "iu":
        raise InputError("There must be one whole-number size for each column of the matrix.")
    if (counts < 1).any() or int(counts.sum()) != cells.shape[0]:
        raise InputError(
            f"Group sizes must be at least 1 and add up to the {cells.shape[0]} items; these add "
            f"up to {int(counts.sum())}."
        )
    group_of = np.repeat(np.arange(counts.size), counts)
    places = None if truth is None else _places(np.asarray(truth), counts)
    return Belief(cells[:, group_of], truth=places)


def group_anonymity(
    matrix: Any,
    sizes: Sequence[int],
    *,
    truth: Sequence[int] | None = None,
    method: str = "auto",
    seed: int = 0,
    precision: float = 0.005,
) -> GroupAnonymity:
    """Anonymity and expected cracks where a pseudonym stands for several items.

    Every assignment of items to groups corresponds to prod size! equally likely matchings to
    places, so its entropy is that of the matching less sum log size!.

    >>> found = group_anonymity([[1, 1], [1, 1], [1, 1], [1, 1]], [2, 2], truth=[0, 0, 1, 1])
    >>> round(found.degree, 12), round(found.expected_cracks, 12)
    (1.0, 2.0)
    """
    belief = group_belief(matrix, sizes, truth=truth)
    counts = np.asarray(sizes)
    options: dict[str, Any] = {"method": method, "seed": seed, "precision": precision}
    edges = edge_probabilities(belief, **options)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    by_group = np.add.reduceat(edges.probabilities, starts, axis=1)
    cracks = None
    if truth is not None:
        cracks = float(by_group[np.arange(belief.size), np.asarray(truth)].sum())
    return GroupAnonymity(
        belief.size, counts.size, _degree(degree_of_anonymity(belief, **options), counts), cracks,
        float((counts.astype(float) ** 2).sum() / belief.size), edges.blocks, by_group,
    )  # fmt: skip


def group_crack_distribution(
    matrix: Any, sizes: Sequence[int], *, truth: Sequence[int]
) -> CrackDistribution:
    """How likely each number of items in their own group is.

    >>> group_crack_distribution([[1, 1], [1, 1]], [1, 1], truth=[0, 1]).probabilities
    array([0.5, 0. , 0.5])
    """
    belief = group_belief(matrix, sizes, truth=truth)
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    return secret_distribution(belief, group_of.tolist())


def _degree(of_places: Number, counts: NDArray[np.int64]) -> Number:
    """From the degree of the matching to places to that of the assignment to groups."""
    whole = math.lgamma(int(counts.sum()) + 1)
    inside = math.fsum(math.lgamma(int(count) + 1) for count in counts)
    if whole - inside <= 0:
        return 0.0

    def changed(value: float) -> float:
        return min(max((value * whole - inside) / (whole - inside), 0.0), 1.0)

    if isinstance(of_places, Estimate):
        return Estimate(
            changed(of_places.value), changed(of_places.low), changed(of_places.high),
            method=of_places.method,
        )  # fmt: skip
    return changed(float(of_places))


def _places(truth: NDArray[np.int64], counts: NDArray[np.int64]) -> list[int]:
    """A place in its group for each item."""
    if truth.shape != (int(counts.sum()),) or truth.dtype.kind not in "iu":
        raise InputError(f"The truth must give the group of each of the {int(counts.sum())} items.")
    if not np.array_equal(np.bincount(truth, minlength=counts.size), counts):
        raise InputError("The truth does not put as many items into each group as its size says.")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    used = np.zeros(counts.size, dtype=np.int64)
    places = []
    for group in truth:
        places.append(int(starts[group] + used[group]))
        used[group] += 1
    return places
