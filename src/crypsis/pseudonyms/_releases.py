"""Several releases of the same items, with new pseudonyms each time or the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._edges import crack_probabilities
from crypsis.pseudonyms._solve import SolverOptions
from crypsis.results import Result, raw


class MultipleReleaseRisk(Result, eq=False):
    """Items cracked over several releases whose pseudonyms were drawn anew each time.

    `expected_once` items are cracked in at least one release, `expected_always` in every one.
    `kept` is expected had the pseudonyms been kept, so that the intruder could combine what they
    know of each release.
    """

    size: int
    releases: int
    expected_each: tuple[float, ...]
    expected_once: float
    expected_always: float
    kept: float | None
    probabilities_once: NDArray[np.float64] = raw()


def multiple_release_risk(beliefs: Sequence[Belief], **options: Unpack[SolverOptions]) -> MultipleReleaseRisk:
    """Expected cracks over several releases of the same items.

    Parameters
    ----------
    beliefs : sequence of Belief
        One for each release, with its truth; items are matched by row.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    MultipleReleaseRisk
        With new pseudonyms each time the releases are independent to the intruder. Where all
        beliefs have the same truth, `kept` is for pseudonyms that stay (`combine_beliefs`).

    References
    ----------
    bagai2017, Sec. VII.

    Examples
    --------
    >>> one = Belief([[1, 1], [1, 1]], truth=[0, 1])
    >>> found = multiple_release_risk([one, one])
    >>> found.expected_each, found.expected_once, found.expected_always
    ((1.0, 1.0), 1.5, 0.5)
    """
    _check(beliefs)
    seeds = [options.get("seed", 0) + k for k in range(len(beliefs))]
    seeded: list[SolverOptions] = [{**options, "seed": seed} for seed in seeds]
    each = np.stack(
        [
            crack_probabilities(belief, **options_of_release)
            for belief, options_of_release in zip(beliefs, seeded, strict=True)
        ]
    )
    once = 1.0 - np.prod(1.0 - each, axis=0)
    truths = {tuple(belief.truth.tolist()) for belief in beliefs if belief.truth is not None}
    kept = None
    if len(truths) == 1:
        kept = float(crack_probabilities(combine_beliefs(beliefs), **options).sum())
    return MultipleReleaseRisk(
        beliefs[0].size,
        len(beliefs),
        tuple(float(row.sum()) for row in each),
        float(once.sum()),
        float(np.prod(each, axis=0).sum()),
        kept,
        once,
    )


def combine_beliefs(beliefs: Sequence[Belief]) -> Belief:
    """One belief from several about the same pseudonyms: independent evidence multiplies.

    Parameters
    ----------
    beliefs : sequence of Belief
        About the same items, in the same rows.

    Returns
    -------
    Belief
        With the truth and the labels of the first.

    Examples
    --------
    >>> both = combine_beliefs([Belief([[1, 1], [1, 1]]), Belief([[0.9, 0.1], [0.1, 0.9]])])
    >>> both.matrix.toarray()
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    _check(beliefs)
    first = beliefs[0]
    product = first.matrix
    for belief in beliefs[1:]:
        product = product.multiply(belief.matrix)
    truth = None if first.truth is None else first.truth.tolist()
    return Belief(product, truth, first.items, first.pseudonyms)


def _check(beliefs: Sequence[Belief]) -> None:
    if len(beliefs) == 0 or len({belief.size for belief in beliefs}) != 1:
        raise InputError("At least one belief is needed, all about the same items in the same rows.")
    if len({belief.items for belief in beliefs}) > 1:
        raise InputError("The beliefs name different items; their rows must have the same order.")
