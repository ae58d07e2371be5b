"""The definitions of bagai2017 written out in rational arithmetic: slow and obviously right.

Every fast kernel is tested against this one. Sums run over all t! matchings, so t up to about 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

Matrix = Sequence[Sequence[Fraction | int]]


def weights(matrix: Matrix) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every matching (the column of each row) with its weight, the product of its cells."""
    for matching in permutations(range(len(matrix))):
        yield (
            matching,
            math.prod(
                (Fraction(matrix[row][column]) for row, column in enumerate(matching)), start=Fraction(1)
            ),
        )


def permanent(matrix: Matrix) -> Fraction:
    """The sum of the weights of all matchings (Proposition 1b).

    >>> permanent([[1, 2], [3, 4]])
    Fraction(10, 1)
    """
    return sum((weight for _, weight in weights(matrix)), start=Fraction(0))


def edge_probabilities(matrix: Matrix) -> list[list[Fraction]]:
    """The probability of each cell of being in the matching.

    >>> edge_probabilities([[1, 2], [3, 4]])[0]
    [Fraction(2, 5), Fraction(3, 5)]
    """
    size, total = len(matrix), permanent(matrix)
    cells = [[Fraction(0)] * size for _ in range(size)]
    for matching, weight in weights(matrix):
        for row, column in enumerate(matching):
            cells[row][column] += weight / total
    return cells


def crack_distribution(matrix: Matrix, truth: Sequence[int]) -> list[Fraction]:
    """The probability of 0, 1, ..., t cracks.

    >>> crack_distribution([[1, 1], [1, 1]], [0, 1])
    [Fraction(1, 2), Fraction(0, 1), Fraction(1, 2)]
    """
    total = permanent(matrix)
    counts = [Fraction(0)] * (len(matrix) + 1)
    for matching, weight in weights(matrix):
        hits = sum(column == truth[row] for row, column in enumerate(matching))
        counts[hits] += weight / total
    return counts


def entropy(matrix: Matrix) -> float:
    """The entropy of the matching in nats, from the probability of every single one."""
    total = permanent(matrix)
    shares = [weight / total for _, weight in weights(matrix) if weight]
    return -sum(float(share) * math.log(share) for share in shares)
