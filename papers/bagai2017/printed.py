"""What bagai2017 prints: its matrices, its matchings, and how they are named."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction as F  # noqa: N817 - a page full of fractions
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ITEMS = ("Brad", "Claudia", "Mike", "Susan")
PSEUDONYMS = ("a", "b", "c", "d")
TRUTH = (3, 1, 2, 0)
"""M_O: Brad-d, Claudia-b, Mike-c, Susan-a."""

P = [[F(0), F(1, 3), F(1, 3), F(1, 3)]] * 2 + [[F(1, 2), F(1, 6), F(1, 6), F(1, 6)]] * 2
"""Fig. 5."""
PERMANENT_P, PROBABILITY_M2 = F(1, 9), F(1, 12)
A = [[0, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
"""Fig. 7(a): where P is not zero."""
PERMANENT_A, PSI_A = 12, F(4, 3)
A_G = [[0, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 0]]
"""Fig. 8(a)."""
_ROOT = math.sqrt(5)
FLAT = [
    [0.0, 0.0, 0.0, 1.0],
    [0.0, (_ROOT - 1) / 2, (3 - _ROOT) / 2, 0.0],
    [(_ROOT - 1) / 2, 0.0, (3 - _ROOT) / 2, 0.0],
    [(3 - _ROOT) / 2, (3 - _ROOT) / 2, _ROOT - 2, 0.0],
]
"""Fig. 8(b)."""
FLAT_TEXT = {0.0: "0", 1.0: "1", 0.618: "(√5 - 1)/2", 0.382: "(3 - √5)/2", 0.236: "√5 - 2"}
"""How the figure writes them."""
BASKETS = [
    ["a", "b", "c", "d"],
    ["a", "b", "c", "d"],
    ["b", "c", "d"],
    ["b", "c", "d"],
    ["c", "d"],
    ["c", "d"],
    ["d"],
    [],
    [],
    [],
]
"""Ten orders in which a stands twice, as the text says; the rest of Fig. 2(a) is our choice."""
RANGES: dict[Hashable, tuple[float, float]] = {
    "Bread": (0.5, 0.8),
    "Eggs": (0.1, 0.5),
    "Milk": (0.3, 0.9),
    "Sausages": (0.1, 0.7),
}
"""That of Bread is in the text; the others are our choice."""
FREQUENCY_OF_A = F(1, 5)
"""The share of the transactions that have the pseudonym a."""
CRACKS = (1, 2, 2, 2, 4)
"""Of the five matchings of Fig. 3."""
MIN_CRACKS_4, MAX_CRACKS_4 = F(3, 2), F(5, 2)
"""Fig. 4: the least and the most expected cracks at the permanent 4."""
PERMANENT_Q, PSI_Q = F(699, 4096), F(1183, 1398)
"""Fig. 7(b)."""
M4_PLACES, M5_PLACES = (2, 3, 0, 1), (3, 2, 0, 1)
"""The pseudonyms of Brad, Claudia, Mike and Susan in the two matchings of Q that are named."""
WEIGHTS = (5, 7, 12, 16, 30, 30, 42, 56, 72, 96, 360, 672)
"""The weights of Q's matchings, in parts of 1398 (Sec. IV-A)."""
M3 = (F(1, 8), F(5, 16), F(1, 16), F(1, 4))
M4 = (F(3, 8), F(5, 16), F(3, 4), F(1, 2))
M5 = (F(1, 2), F(7, 16), F(3, 4), F(1, 2))
"""The products printed for three matchings of Q, in the order Brad, Claudia, Mike, Susan."""


def recovered_q() -> list[list[F]]:
    """Fig. 7(b), which the text has lost, from three printed products and sums of 1.

    Brad: b 1/8 (M_3), c 3/8 (M_4), d 1/2 (M_5), a 0 as in P. Claudia: c 7/16 (M_5), d 5/16 (M_4),
    so b is what is left. Mike-a and Susan-b are in M_4, Susan-a in M_3. Mike-b and then Mike-c and
    Mike-d (1/16, from M_3, and the rest of the row) follow from sums, and so do Susan's c and d.
    """
    brad = [F(0), M3[0], M4[0], M5[0]]
    claudia = [F(0), 1 - M5[1] - M4[1], M5[1], M4[1]]
    mike_b = 1 - brad[1] - claudia[1] - M4[3]
    mike = [M4[2], mike_b, M3[2], 1 - M4[2] - mike_b - M3[2]]
    susan = [M3[3], M4[3], *(1 - brad[j] - claudia[j] - mike[j] for j in (2, 3))]
    return [brad, claudia, mike, susan]


def floats(matrix: object) -> Floats:
    """A matrix of fractions as numbers."""
    return np.array(matrix, dtype=np.float64)


def matchings(size: int = 4) -> NDArray[np.int64]:
    """All matchings: row by row the pseudonym of each item."""
    return np.array(list(permutations(range(size))))


def graphs() -> NDArray[np.bool_]:
    """All 4,096 attack graphs on four items that contain M_O."""
    free = [(i, j) for i in range(4) for j in range(4) if TRUTH[i] != j]
    every = np.zeros((2 ** len(free), 4, 4), dtype=bool)
    every[:, range(4), TRUTH] = True
    every[:, [i for i, _ in free], [j for _, j in free]] = list(product((False, True), repeat=len(free)))
    return every


def crack_counts(graph: NDArray[np.bool_]) -> list[int]:
    """How many cracks each matching of a graph has, counted one by one."""
    every = matchings(len(graph))
    inside = every[graph[np.arange(len(graph)), every].all(axis=1)]
    truth = np.array(TRUTH if len(graph) == 4 else range(len(graph)))
    return sorted((inside == truth).sum(axis=1).tolist())


def edge_names(matching: object) -> str:
    """A matching in words."""
    pairs = zip(ITEMS, np.asarray(matching).tolist(), strict=True)
    return ", ".join(f"{item}-{PSEUDONYMS[place]}" for item, place in pairs)
