"""Transferable pseudonyms: several releases, with pseudonyms that change between them or do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._metrics import crack_probabilities
from crypsis.results import Result, raw


@dataclass(frozen=True)
class ReleasesRisk(Result):
    """Items cracked over several releases whose pseudonyms were drawn anew each time.

    `expected_once` items are cracked in at least one release, `expected_always` in every one.
    `kept` is what would be expected had the pseudonyms been kept: the attacker could then put all
    his knowledge together.
    """

    size: int
    releases: int
    expected_each: tuple[float, ...]
    expected_once: float
    expected_always: float
    kept: float | None
    probabilities_once: NDArray[np.float64] = raw()


def releases_risk(
    beliefs: Sequence[Belief], *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> ReleasesRisk:
    """What several releases of the same items give away (bagai2017, Sec. VII).

    With fresh pseudonyms each time the releases are independent to the attacker, so an item escapes
    with the product of its chances to escape. Items are matched by row. Where all beliefs have the
    same truth, `kept` compares with pseudonyms that stay: the product of the beliefs (`combine`).

    >>> one = Belief([[1, 1], [1, 1]], truth=[0, 1])
    >>> found = releases_risk([one, one])
    >>> found.expected_each, found.expected_once, found.expected_always
    ((1.0, 1.0), 1.5, 0.5)
    """
    _check(beliefs)
    options: dict[str, Any] = {"method": method, "precision": precision}
    each = np.stack(
        [crack_probabilities(belief, seed=seed + k, **options) for k, belief in enumerate(beliefs)]
    )
    once = 1.0 - np.prod(1.0 - each, axis=0)
    truths = {tuple(belief.truth.tolist()) for belief in beliefs if belief.truth is not None}
    kept = None
    if len(truths) == 1:
        kept = float(crack_probabilities(combine(beliefs), seed=seed, **options).sum())
    return ReleasesRisk(
        beliefs[0].size, len(beliefs), tuple(float(row.sum()) for row in each), float(once.sum()),
        float(np.prod(each, axis=0).sum()), kept, once,
    )  # fmt: skip


def combine(beliefs: Sequence[Belief]) -> Belief:
    """One belief from several about the same pseudonyms: independent evidence multiplies.

    >>> combine([Belief([[1, 1], [1, 1]]), Belief([[0.9, 0.1], [0.1, 0.9]])]).matrix.toarray()
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    _check(beliefs)
    product = beliefs[0].matrix
    for belief in beliefs[1:]:
        product = product.multiply(belief.matrix)
    first = beliefs[0]
    truth = None if first.truth is None else first.truth.tolist()
    return Belief(product, truth, first.items, first.pseudonyms)


def _check(beliefs: Sequence[Belief]) -> None:
    if len(beliefs) == 0 or len({belief.size for belief in beliefs}) != 1:
        raise InputError("Give at least one belief, all about the same items in the same rows.")
    if len({belief.items for belief in beliefs}) > 1:
        raise InputError("The beliefs name different items; put their rows into the same order.")
