"""The transition matrix of PRAM: what each category of a column becomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.errors import ParameterError, TooLargeError
from crypsis.protection.masking._masks import PramMatrix

_MAX_CATEGORIES = 5_000
"""A transition matrix has a row and a column for each category, at most so many."""


def transition_matrix(mask: PramMatrix, name: str, categories: Sequence[str], counts: Ints) -> Floats:
    """The matrix over all categories of a column, in their order; rows sum to 1.

    It is what an intruder knows who knows the mask, and what an analyst needs to correct estimates:
    the expected counts of the release are `counts @ matrix`.
    """
    if len(categories) > _MAX_CATEGORIES:
        raise TooLargeError(
            f"Column {name!r} has more than {_MAX_CATEGORIES:,} categories, too many for a matrix.",
            columns=(name,),
        )
    position = {text: i for i, text in enumerate(categories)}
    named = {*mask.matrix, *(to for row in mask.matrix.values() for to in row)}
    unknown = sum(text not in position for text in named)
    if unknown:
        raise ParameterError(
            f"The matrix has {unknown:,} {'category' if unknown == 1 else 'categories'} that column "
            f"{name!r} does not have.",
            code="unknown-categories",
            parameter="matrix",
            columns=(name,),
        )
    matrix = np.eye(len(categories))
    for text, row in mask.matrix.items():
        matrix[position[text]] = 0.0
        for to, probability in row.items():
            matrix[position[text], position[to]] = probability
    matrix /= matrix.sum(axis=1, keepdims=True)
    return invariant(matrix, counts) if mask.invariant else matrix


def invariant(matrix: Floats, counts: Ints) -> Floats:
    """The invariant form: first the matrix, then the way back by Bayes' rule.

    The second step draws the category that the new one came from, so the expected counts are those
    of the original (two-stage PRAM; Gouweleeuw et al. 1998).

    >>> both = invariant(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([30, 70]))
    >>> np.allclose(np.array([30, 70]) @ both, [30, 70])
    True
    """
    joint = matrix * counts[:, None]
    arrived = joint.sum(axis=0)
    back = np.divide(joint.T, arrived[:, None], out=np.zeros_like(joint.T), where=arrived[:, None] > 0)
    return np.asarray(matrix @ back)
