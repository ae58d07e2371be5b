"""All items assigned to pseudonyms at once by how often each two occur together.

The intruder knows the pairs of the population by name, up to an error, and the release has those of a
sample by pseudonym. What a single sample happens to show helps nobody, and what is true of the
population does: how far its counts differ is estimated from those of the release without the part
that is chance (the maximum likelihood of a mixture), and samples are drawn anew. The pairs of an item, sorted
by size, are the same whatever the others are called; they give one assignment, as do the eigenvectors
of both tables. Each is refined until the pairs of every item, named by the assignment, give the same.

References
----------
Fan, Mao, Wu and Xu (2023), Spectral graph matching and regularized quadratic relaxations.
Kiefer and Wolfowitz (1956), Consistency of the maximum likelihood estimator in the presence of
infinitely many incidental parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.scientific import optimize, spatial

MAX_JOINT_ITEMS = 400
"""Above, an assignment of all items takes minutes."""
_DRAWN_SAMPLES = 10
"""Samples that are drawn; an item is resolved if it is assigned correctly in nine of them."""
_MAX_REFINEMENTS = 40
"""Assignments in a row, each from the one before; it ends where none is better."""
_EIGENVALUE_BANDWIDTH = 0.2
"""Of the eigenvalues, relative to their standard deviation: from 0.1 to 0.5 results are alike."""
_NEAR_CERTAIN_SHARE = 0.9
"""The share of samples in which a resolved item is assigned correctly."""
_IMPOSSIBLE_COST = 1e9
"""The cost of a pair that is ruled out: an assignment avoids it if it can."""
_ROOT_DEVIATION = 0.5
"""The standard deviation of the square root of a Poisson count."""
_GRID_DEVIATIONS = 0.5
"""The distance of points of the mixture in standard deviations: nearer ones give the same fit."""
_MAX_GRID_POINTS = 200
"""Points of the mixture; wider ranges have coarser grids."""
_EM_STEPS = 200
"""Steps of the EM algorithm, after which the likelihood hardly grows."""

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class JointAssignment(NamedTuple):
    """How many items one assignment of all of them resolves, on average and nearly always."""

    expected: float
    near_certain: int


def joint_assignment(
    counts: _Ints, truth: _Ints, cells: _Floats, error: float, seed: int = 0
) -> JointAssignment:
    """Assign all items by their pairs; `cells` is how likely each pseudonym is without them.

    `counts` are those of pairs of pseudonyms, `truth` the pseudonym of each item, `error` the
    relative error with which the intruder knows them.
    """
    rng, size = np.random.default_rng((seed, 31)), len(truth)
    with np.errstate(divide="ignore"):
        prior = np.minimum(-np.log(cells), _IMPOSSIBLE_COST)
    upper = np.triu_indices(size, 1)
    observed = np.sqrt(counts[upper].astype(np.float64))
    expected = _item_effects(observed, upper, size)
    residuals = _population_roots(observed - expected)
    right = np.zeros(size)
    for _ in range(_DRAWN_SAMPLES):
        true = np.maximum(expected + residuals(rng), 0.0)
        seen = np.maximum(true + _ROOT_DEVIATION * rng.normal(size=true.size), 0.0)
        seen_by_intruder = true * np.sqrt(np.maximum(0.0, 1 + error * rng.normal(size=true.size)))
        items = rng.permutation(size)  # so that equal costs favor nobody
        mine = _table(seen_by_intruder, upper, size)[np.ix_(truth[items], truth[items])]
        assignment = _assigned(mine, _table(seen, upper, size), prior[items])
        right[items] += assignment == truth[items]
    right /= _DRAWN_SAMPLES
    return JointAssignment(float(right.sum()), int((right >= _NEAR_CERTAIN_SHARE).sum()))


def _item_effects(roots: _Floats, upper: tuple[_Ints, _Ints], size: int) -> _Floats:
    """How much more often both items of a pair occur with all others, as far as it is not chance."""
    means = _table(roots, upper, size).sum(axis=1) / (size - 1)
    effects = (means - means.mean()) * (size - 1) / max(size - 2, 1)
    chance = _ROOT_DEVIATION**2 / max(size - 2, 1)
    effects *= np.sqrt(max(0.0, 1 - chance / max(float(effects.var()), 1e-12)))
    return np.asarray(effects[upper[0]] + effects[upper[1]])


def _population_roots(roots: _Floats) -> Callable[[np.random.Generator], _Floats]:
    """Draws of the roots of expected counts, given those of the counts (normal, of one deviation).

    Their distribution is the mixture of points on a grid with the largest likelihood.
    """
    step = _ROOT_DEVIATION * _GRID_DEVIATIONS
    low, high = float(roots.min()), float(roots.max())
    grid = np.linspace(low, high, int(np.clip((high - low) / step, 1, _MAX_GRID_POINTS)) + 1)
    values, counted = np.unique(np.round(roots / step), return_counts=True)
    fit = np.exp(-(((values[:, None] * step - grid) / _ROOT_DEVIATION) ** 2) / 2) + 1e-300
    weights = np.full(grid.size, 1 / grid.size)
    for _ in range(_EM_STEPS):
        posterior = fit * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        weights = counted @ posterior / counted.sum()
    steps = (np.cumsum(posterior, axis=1) + np.arange(values.size)[:, None]).ravel()
    row = np.searchsorted(values, np.round(roots / step))

    def drawn(rng: np.random.Generator) -> _Floats:
        grid_index = np.searchsorted(steps, row + rng.random(row.size)) - row * grid.size
        return np.asarray(grid[np.clip(grid_index, 0, grid.size - 1)])

    return drawn


def _table(values: _Floats, upper: tuple[_Ints, _Ints], size: int) -> _Floats:
    """A symmetric table of pairs."""
    table = np.zeros((size, size))
    table[upper] = values
    return table + table.T


def _assigned(mine: _Floats, theirs: _Floats, prior: _Floats) -> _Ints:
    """The pseudonym of each item in the better of two refined assignments."""
    profiles = spatial.distance.cdist(np.sort(mine), np.sort(theirs), "sqeuclidean")
    best, least = np.arange(len(mine)), np.inf
    for start in (profiles + prior, _spectral(mine, theirs) + prior):
        chosen, cost = _refined(mine, theirs, prior, optimize.linear_sum_assignment(start)[1])
        if cost < least:
            best, least = chosen, cost
    return best


def _refined(mine: _Floats, theirs: _Floats, prior: _Floats, chosen: _Ints) -> tuple[_Ints, float]:
    """The best of the assignments that follow, each from the pairs as named by the one before."""
    best, least, rows = chosen, np.inf, np.arange(len(mine))
    squares = (mine**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1)
    for _ in range(_MAX_REFINEMENTS):
        cost = float(((mine - theirs[np.ix_(chosen, chosen)]) ** 2).sum() / 2)
        cost += float(prior[rows, chosen].sum())
        if cost >= least:
            break
        best, least = chosen, cost
        gaps = squares - 2 * mine @ theirs[:, chosen].T
        chosen = optimize.linear_sum_assignment(gaps + prior)[1]
    return best, least


def _spectral(mine: _Floats, theirs: _Floats) -> _Floats:
    """Minus the similarity of items and pseudonyms by all eigenvectors, near eigenvalues the most."""
    spectra = []
    for table in (mine, theirs):
        values, vectors = np.linalg.eigh(table - table.mean())
        spectra.append((values / max(float(values.std()), 1e-12), vectors))
    (first_values, left), (second_values, right) = spectra
    weights = 1 / ((first_values[:, None] - second_values) ** 2 + _EIGENVALUE_BANDWIDTH**2)
    # The sum over all entries of a matrix of ones, between the eigenvectors.
    weights *= left.sum(axis=0)[:, None] * right.sum(axis=0)
    return np.asarray(-left @ weights @ right.T)
