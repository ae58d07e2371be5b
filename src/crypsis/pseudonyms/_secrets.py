"""Cracking the secret rather than the name: pseudonyms that share a sensitive value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError, TooLarge
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._cracks import CrackDistribution, Hits, fold
from crypsis.pseudonyms._metrics import _truth, edge_probabilities
from crypsis.pseudonyms._solve import Block, check_options
from crypsis.pseudonyms.kernels import cracks as kernel
from crypsis.results import Result, raw


@dataclass(frozen=True)
class SecretRisk(Result):
    """How well the attacker knows the secrets, whoever has which pseudonym.

    `expected` secrets are right in a matching drawn by the attacker; `best_guesses_right` counts
    items whose likeliest secret is the true one; `certain` those whose secret is known for sure.
    `by_chance` is what someone gets who only knows how common each secret is.
    """

    size: int
    kinds: int
    expected: float
    by_chance: float
    best_guesses_right: int
    certain: int
    exact: bool
    blocks: tuple[Block, ...]
    probabilities: NDArray[np.float64] = raw()


def secret_risk(
    belief: Belief,
    secrets: Sequence[Hashable] | Mapping[Hashable, Hashable],
    *,
    method: str = "auto",
    seed: int = 0,
    precision: float = 0.005,
) -> SecretRisk:
    """The probability that each item's secret is known, for secrets that pseudonyms carry.

    bagai2017 (Sec. VII) leaves this open for probabilistic attacks: Jessica and Steven may be a and
    b in either order, but if a and b both have the disease, the order does not matter. `secrets`
    gives the secret of each pseudonym, in column order or as a dict; a missing secret (None) is
    never known. From the edge probabilities, at their cost.

    >>> belief = Belief([[1, 1, 0], [1, 1, 0], [0, 0, 1]], truth=[0, 1, 2])
    >>> found = secret_risk(belief, ["AIDS", "AIDS", "flu"])
    >>> found.expected, found.certain
    (3.0, 3)
    """
    truth = _truth(belief)
    codes = _codes(belief, secrets)
    edges = edge_probabilities(belief, method=method, seed=seed, precision=precision)
    kinds = int(codes.max()) + 1
    by_secret = np.zeros((belief.size, kinds))
    for code in range(kinds):
        by_secret[:, code] = edges.probabilities[:, codes == code].sum(axis=1)
    own = codes[truth]
    known = own >= 0
    right = np.where(known, by_secret[np.arange(belief.size), np.maximum(own, 0)], 0.0)
    counts = np.bincount(codes[codes >= 0], minlength=kinds)
    return SecretRisk(
        belief.size, kinds, float(right.sum()), float((counts**2).sum() / belief.size),
        int((known & (by_secret.argmax(axis=1) == own)).sum()), int((right >= 1 - 1e-12).sum()),
        edges.exact, edges.blocks, np.clip(right, 0.0, 1.0),
    )  # fmt: skip


def secret_distribution(
    belief: Belief,
    secrets: Sequence[Hashable] | Mapping[Hashable, Hashable],
    *,
    method: str = "auto",
) -> CrackDistribution:
    """How likely each number of rightly known secrets is; exact, or `TooLarge`.

    >>> belief = Belief([[1, 1], [1, 1]], truth=[0, 1])
    >>> secret_distribution(belief, ["flu", "flu"]).probabilities
    array([0., 0., 1.])
    """
    check_options(method, 0.5)
    truth = _truth(belief)
    codes = _codes(belief, secrets)
    found = []
    for rows, columns in belief.structure.blocks:
        marks = (codes[truth[rows]][:, None] == codes[columns]) & (codes[columns] >= 0)
        found.append(_hits(belief.block(rows, columns), marks))
    return fold(belief.size, found)


def _hits(cells: NDArray[np.float64], marks: NDArray[np.bool_]) -> Hits:
    size = cells.shape[0]
    level = cells / cells.max(axis=1, keepdims=True)
    shares = kernel.marked(level / level.max(axis=0), marks)
    if shares is None:
        raise TooLarge(
            f"The distribution over a block of {size} items is out of reach of exact computation. "
            "`secret_risk` gives the expected number and each item's probability, by sampling."
        )
    return Hits(shares, Block(size, "frontier", True))


def _codes(belief: Belief, secrets: Any) -> NDArray[np.int64]:
    """The secret of each column as a number, -1 where it is missing."""
    if isinstance(secrets, Mapping):
        names = belief.pseudonyms or tuple(range(belief.size))
        if not set(names) <= set(secrets):
            raise InputError("Some pseudonyms have no secret given; use None for a missing one.")
        secrets = [secrets[name] for name in names]
    values = list(secrets)
    if len(values) != belief.size:
        raise InputError(f"There are {belief.size} pseudonyms and {len(values)} secrets.")
    codes: dict[Hashable, int] = {}
    found = [
        -1 if value is None or value != value else codes.setdefault(value, len(codes))
        for value in values
    ]
    if not codes:
        raise InputError("All secrets are missing; there is nothing to know.")
    return np.array(found, dtype=np.int64)
