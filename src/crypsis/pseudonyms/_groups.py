"""Group pseudonyms: one pseudonym for several items (bagai2017, Sec. VII)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError
from crypsis.pseudonyms._anonymity import degree_of_anonymity
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._edges import edge_probabilities
from crypsis.pseudonyms._solve import Block, SolverOptions
from crypsis.results import Estimate, Number, Result, raw


class GroupAnonymity(Result, eq=False):
    """The anonymity that an attack on group pseudonyms leaves.

    `degree` is the entropy of the assignment of items to groups over its largest value,
    log(t! / prod size!). `expected_cracks` counts items assigned to their own group, `by_chance`
    the same without any knowledge.
    """

    size: int
    groups: int
    degree: Number
    expected_cracks: float | None
    by_chance: float
    blocks: tuple[Block, ...]
    probabilities: NDArray[np.float64] = raw()


def group_belief(matrix: Any, sizes: Sequence[int], *, truth: Sequence[int] | None = None) -> Belief:
    """The belief between items and places in groups, from one between items and groups.

    Parameters
    ----------
    matrix : array-like
        Likelihoods: a row for each item, a column for each group.
    sizes : sequence of int
        How many items each group pseudonym stands for.
    truth : sequence of int, optional
        The group of each item.

    Returns
    -------
    Belief
        With one column for each place. Places of a group are alike, and identical columns are
        merged, so large groups cost little. The distribution of items in their own group is
        `sensitive_value_distribution` with the group of each place as its value.

    Examples
    --------
    >>> group_belief([[1, 1], [1, 1], [0, 1]], [1, 2]).matrix.toarray()
    array([[1., 1., 1.],
           [1., 1., 1.],
           [0., 1., 1.]])
    """
    cells = np.asarray(matrix, dtype=np.float64)
    counts = np.asarray(sizes)
    if cells.ndim != 2 or counts.shape != cells.shape[1:] or counts.dtype.kind not in "iu":
        raise InputError("Group sizes must be integers, one for each column of the matrix.")
    if (counts < 1).any() or int(counts.sum()) != cells.shape[0]:
        raise InputError(
            f"Group sizes must be at least 1 and add up to the {cells.shape[0]} items; they add up "
            f"to {int(counts.sum())}."
        )
    group_of = np.repeat(np.arange(counts.size), counts)
    places = None if truth is None else _places(np.asarray(truth), counts)
    return Belief(cells[:, group_of], truth=places)


def group_anonymity(
    matrix: Any, sizes: Sequence[int], *, truth: Sequence[int] | None = None, **options: Unpack[SolverOptions]
) -> GroupAnonymity:
    """Degree of anonymity and expected cracks where a pseudonym stands for several items.

    Parameters
    ----------
    matrix, sizes, truth
        See `group_belief`; expected cracks need the truth.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    GroupAnonymity
        Degree of anonymity, expected cracks and the same by chance.

    Notes
    -----
    Every assignment of items to groups corresponds to prod size! equally likely matchings to
    places, so its entropy is that of the matching less sum log size!.

    Examples
    --------
    >>> found = group_anonymity([[1, 1], [1, 1], [1, 1], [1, 1]], [2, 2], truth=[0, 0, 1, 1])
    >>> round(found.degree, 12), round(found.expected_cracks, 12)
    (1.0, 2.0)
    """
    belief = group_belief(matrix, sizes, truth=truth)
    counts = np.asarray(sizes)
    edges = edge_probabilities(belief, **options)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    by_group = np.add.reduceat(edges.probabilities, starts, axis=1)
    cracks = None
    if truth is not None:
        cracks = float(by_group[np.arange(belief.size), np.asarray(truth)].sum())
    return GroupAnonymity(
        belief.size,
        counts.size,
        _degree(degree_of_anonymity(belief, **options), counts),
        cracks,
        float((counts.astype(float) ** 2).sum() / belief.size),
        edges.blocks,
        by_group,
    )


def _degree(of_places: Number, counts: NDArray[np.int64]) -> Number:
    """From the degree of the matching to places to that of the assignment to groups."""
    total = math.lgamma(int(counts.sum()) + 1)
    inside = math.fsum(math.lgamma(int(count) + 1) for count in counts)
    if total - inside <= 0:
        return 0.0

    def of_groups(value: float) -> float:
        return min(max((value * total - inside) / (total - inside), 0.0), 1.0)

    return of_places.map(of_groups) if isinstance(of_places, Estimate) else of_groups(of_places)


def _places(truth: NDArray[np.int64], counts: NDArray[np.int64]) -> list[int]:
    """A place in its group for each item."""
    if truth.shape != (int(counts.sum()),) or truth.dtype.kind not in "iu":
        raise InputError(f"The truth must give the group of each of the {int(counts.sum())} items.")
    if not np.array_equal(np.bincount(truth, minlength=counts.size), counts):
        raise InputError("The number of items in each group of the truth must be its size.")
    places = np.empty(truth.size, dtype=np.int64)
    places[np.argsort(truth, kind="stable")] = np.arange(truth.size)
    return [int(index) for index in places]
