"""Columns scaled by what the masking did: canonical correlations of original and masked records.

By the transparency principle the masking is published, so an intruder knows how much of each column,
and of each combination of columns, survived it. Canonical correlation analysis finds those
combinations; what survived counts, what was shuffled does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._files import Files

_MAX_VARIATES = 8
"""Canonical variates with the largest correlations that are scored."""
_MIN_CORRELATION = 0.02
"""Lower canonical correlations count as 0: those of a finite sample are never quite that."""
_MIN_UNEXPLAINED = 1e-10
"""Of the variance of a variate: unchanged values correlate by 1, and none would be left to divide by."""
_MIN_VARIANCE_RATIO = 1e-6
"""Directions with less of the largest variance are left out: other columns determine them."""


@dataclass(frozen=True, eq=False)
class CanonicalScale:
    """For some targets: their points and those of the places, and the density of the places."""

    some: Ints
    original: Floats
    masked: Floats
    density: Floats

    def score(self, target: Ints, released_place: Ints) -> Floats:
        """The logarithm of the likelihood ratio of pairs, for normal variates."""
        gaps = self.original[target] - self.masked[released_place]
        return np.asarray(self.density[released_place] - 0.5 * (gaps**2).sum(axis=1))


def scaled(files: Files) -> list[CanonicalScale]:
    """For each half of the targets the scale that the other half shows; nothing if few are known."""
    scales = []
    x = np.column_stack([original_points for original_points, _ in files.points])
    y = np.column_stack([two for _, two in files.points])
    for half in (0, 1):
        learn = files.known[files.fold[files.known] != half]
        if len(learn) < 20 or files.own is None:
            return []
        to_x, to_y, kept = _canonical(x[learn], y[files.own[learn]])
        if not len(kept):  # nothing survived
            return []
        targets_of_half = np.flatnonzero(files.fold == half)
        u, v = (x[targets_of_half] - x[learn].mean(0)) @ to_x, (y - y[files.own[learn]].mean(0)) @ to_y
        spread = np.sqrt(1 - kept**2)
        scales.append(
            CanonicalScale(targets_of_half, u * kept / spread, v / spread, 0.5 * (v**2).sum(axis=1))
        )
    return scales


def _canonical(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """The canonical variates with the largest correlations, and these."""
    n = len(x)
    root_x, root_y = _whitened(x), _whitened(y)
    cross = root_x.T @ ((x - x.mean(0)).T @ (y - y.mean(0)) / n) @ root_y
    left, kept, right = np.linalg.svd(cross, full_matrices=False)
    # Correlations of a finite sample are never quite 0, and those of unchanged values quite 1.
    least = max(_MIN_CORRELATION, 2.5 / np.sqrt(n))
    dimensions = np.flatnonzero(kept > least)[:_MAX_VARIATES]
    kept = np.minimum(kept[dimensions], np.sqrt(1 - _MIN_UNEXPLAINED))
    return root_x @ left[:, dimensions], root_y @ right[dimensions].T, kept


def _whitened(x: Floats) -> Floats:
    """A matrix that makes the columns uncorrelated, of variance 1."""
    covariance = np.atleast_2d(np.cov(x, rowvar=False, bias=True))
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _MIN_VARIANCE_RATIO * max(values.max(), 1e-300)
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
