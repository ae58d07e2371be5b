"""A linkage as a belief: Psi (bagai2017) measures a masked file."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from crypsis import linkage, pseudonyms


def cracks_by_hand(distances: np.ndarray, bandwidth: float) -> float:
    """The expected number of correct links over all one-to-one mappings, by their likelihood."""
    likelihood = np.exp(-((distances / bandwidth) ** 2) / 2)
    n = len(distances)
    weights = [
        (np.prod([likelihood[i, p[i]] for i in range(n)]), sum(p[i] == i for i in range(n)))
        for p in permutations(range(n))
    ]
    return float(sum(w * right for w, right in weights) / sum(w for w, _ in weights))


def test_expected_cracks_of_a_masked_file() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 2))
    found = []
    for noise in (0.01, 1.0, 5.0):
        near = linkage.near_distances(x, x + noise * rng.normal(size=x.shape), nearest=4)
        table = np.full(near.shape, np.inf)
        table[near.tocoo().coords] = near.data
        belief = pseudonyms.Belief.from_distances(table, bandwidth=1.5, truth=list(range(6)))
        found.append(float(pseudonyms.expected_cracks(belief)))
        assert found[-1] == pytest.approx(cracks_by_hand(table, 1.5))
    assert found == sorted(found, reverse=True)
