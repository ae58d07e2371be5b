"""Figs. 5 to 8 of bagai2017: attacks that make pairs more or less probable."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from crypsis import pseudonyms as ps
from papers import charts as common
from papers.bagai2017 import printed
from papers.comparison import claim, erratum, number, same
from papers.results import ComparedValue, Drawn, RunSettings, Values, paper_item


@paper_item("Figure 5", "A probability matrix, P, that is flat", figure="the matrix")
def figure_5(_: RunSettings) -> Drawn:
    p = printed.floats(printed.P)
    cells = (
        claim(
            "row and column sums",
            "1",
            bool(np.allclose(p.sum(0), 1) and np.allclose(p.sum(1), 1)),
            "1, all eight",
        ),
        number("permanent of P", str(printed.PERMANENT_P), ps.permanent(p)),
        number("probability of M_1", "0", ps.matching_probability(p, [0, 1, 2, 3])),
        number("probability of M_2", str(printed.PROBABILITY_M2), ps.matching_probability(p, printed.TRUTH)),
        same("matchings of weight 0", 12, _weightless(p)),
    )
    return cells, lambda: _matrix(p, "The flat matrix P (Fig. 5)")


@paper_item("Figure 6", "Functions from items to pseudonyms, and the matchings among them")
def figure_6(_: RunSettings) -> Values:
    q = printed.floats(printed.recovered_q())
    slices = list(product(range(4), repeat=4))
    weights = np.array([q[range(4), s].prod() for s in slices])
    one_to_one = np.array([len(set(s)) == 4 for s in slices])
    return (
        same("functions, t^t", 4**4, len(slices)),
        same("matchings among them, t!", 24, int(one_to_one.sum())),
        number("weights of all functions (Proposition 1a)", "1", float(weights.sum()), group="Q"),
        number(
            "weights of the matchings: per(Q) (Proposition 1b)",
            str(printed.PERMANENT_Q),
            float(weights[one_to_one].sum()),
            group="Q",
        ),
        number(
            "normalized weights of the matchings (Proposition 2)",
            "1",
            sum(ps.matching_probability(q, m) for m in printed.matchings().tolist()),
            group="Q",
        ),
        claim(
            "smallest permanent, t!/t^t",
            "all entries 1/t",
            abs(float(ps.permanent(np.full((4, 4), 0.25))) - 24 / 256) < 1e-15,
            "24/256",
        ),
    )


@paper_item(
    "Figure 7",
    "The same feasible matchings, evenly and unevenly probable",
    figure="the probabilities of the twelve matchings",
)
def figure_7(_: RunSettings) -> Drawn:
    exact = printed.recovered_q()
    q, truth = printed.floats(exact), printed.TRUTH
    a, belief = ps.Belief(printed.A, truth=truth), ps.Belief(q, truth=truth)
    weights = sorted(w for w in _weights(exact) if w)
    ours = [int(w * 1398 / sum(weights)) for w in weights]
    cells: list[ComparedValue] = [
        same("permanent of A", printed.PERMANENT_A, ps.permanent(a), group="(a)"),
        number("d = Delta of A and of P", "0.782", ps.degree_of_anonymity(a), group="(a)"),
        number("E = Psi of A and of P", str(printed.PSI_A), float(ps.expected_cracks(a)), group="(a)"),
        number("the same, rounded", "1.333", float(ps.expected_cracks(a)), group="(a)"),
        claim(
            "Q, lost from the text", "three products", _products_fit(exact), "one matrix fits", group="(b)"
        ),
        same(
            "its row and column sums",
            [1] * 8,
            [*map(sum, exact), *map(sum, zip(*exact, strict=True))],
            group="(b)",
        ),
        number("permanent of Q", str(printed.PERMANENT_Q), ps.permanent(belief), group="(b)"),
        number("Delta of Q", "0.496", ps.degree_of_anonymity(belief), group="(b)"),
        number("Psi of Q", str(printed.PSI_Q), float(ps.expected_cracks(belief)), group="(b)"),
        number("the same, rounded", "0.846", float(ps.expected_cracks(belief)), group="(b)"),
        same("weights of Q's matchings, in 1/1398", printed.WEIGHTS, ours, group="(c)"),
        number("smallest, 5/1398", "0.004", ours[0] / 1398, group="(c)"),
        number("largest, 336/699", "0.481", ours[-1] / 1398, group="(c)"),
        number("M_4", "360/1398", ps.matching_probability(q, printed.M4_PLACES), group="(c)"),
        number("the same, rounded", "0.258", ps.matching_probability(q, printed.M4_PLACES), group="(c)"),
        number("M_5", "672/1398", ps.matching_probability(q, printed.M5_PLACES), group="(c)"),
        _third(q),
    ]

    return cells, lambda: common.matching_weights(
        [float(w / sum(weights)) for w in weights],
        title="Twelve feasible matchings: even by A and P, uneven by Q (Fig. 7c)",
    )


def _third(q: printed.Floats) -> ComparedValue:
    """M_3: the printed product belongs to another matching than the printed edges."""
    as_printed = ps.matching_probability(q, [1, 2, 3, 0])
    by_product = ps.matching_probability(q, [1, 3, 2, 0])
    return erratum(
        "M_3, by its printed edges",
        "5/1398",
        as_printed,
        correct="7/1398",
        group="(c)",
        note="The printed edges are Brad-b, Claudia-c, Mike-d, Susan-a, and their product is "
        f"7/16384; the printed product has 5/16 for Claudia, which is Claudia-d (M_4 has it too), "
        f"so that Mike is c. With Claudia and Mike exchanged the probability is {by_product:.6f}, "
        "the printed 5/1398.",
    )


@paper_item("Figure 8", "The flat matrix of a graph", figure="the matrix")
def figure_8(_: RunSettings) -> Drawn:
    found = ps.doubly_stochastic(printed.A_G)
    wanted = printed.floats(printed.FLAT)
    names = [f"{item}-{p}" for item in printed.ITEMS for p in printed.PSEUDONYMS]
    cells = [
        number(name, f"{exact:.15g}", float(value), group="F", text=printed.FLAT_TEXT[round(exact, 3)])
        for name, exact, value in zip(names, wanted.ravel().tolist(), found.matrix.flat, strict=True)
    ]
    gaps = [_plain_sinkhorn(1_000), _plain_sinkhorn(2_000)]
    cells += [
        same("superfluous edges (Mike-d)", 1, found.superfluous),
        same("permanent of A_G", 3, ps.permanent(printed.A_G)),
        claim(
            "alternate normalization",
            "converges to F",
            gaps[1] < gaps[0] < 0.01,
            f"gap {gaps[0]:.1g} after 1,000 sweeps, {gaps[1]:.1g} after 2,000",
        ),
    ]
    return cells, lambda: _matrix(found.matrix, "The flat matrix F of a graph (Fig. 8b)")


def _plain_sinkhorn(sweeps: int) -> float:
    """How far the paper's procedure is from F: slow, because Mike-d only dies out like 1/sweeps."""
    cells = printed.floats(printed.A_G)
    for _ in range(sweeps):
        cells = cells / cells.sum(axis=1, keepdims=True)
        cells = cells / cells.sum(axis=0, keepdims=True)
    return float(np.abs(cells - printed.floats(printed.FLAT)).max())


def _weights(matrix: list[list[Fraction]]) -> list[Fraction]:
    """The exact weight of every matching."""
    found = []
    for matching in printed.matchings().tolist():
        weight = Fraction(1)
        for i, j in enumerate(matching):
            weight *= matrix[i][j]
        found.append(weight)
    return found


def _weightless(p: printed.Floats) -> int:
    return sum(ps.matching_probability(p, m) == 0 for m in printed.matchings().tolist())


def _products_fit(q: list[list[Fraction]]) -> bool:
    """Whether the recovered matrix has the printed factors, and probabilities everywhere."""
    fourth = tuple(q[i][j] for i, j in enumerate(printed.M4_PLACES))
    fifth = tuple(q[i][j] for i, j in enumerate(printed.M5_PLACES))
    third = tuple(q[i][j] for i, j in enumerate((1, 3, 2, 0)))
    legal = all(0 <= cell <= 1 for row in q for cell in row)
    return legal and (third, fourth, fifth) == (printed.M3, printed.M4, printed.M5)


def _matrix(cells: printed.Floats, title: str) -> object:

    return common.matrix(cells, printed.ITEMS, printed.PSEUDONYMS, title=title)
