"""Figs. 1 to 4 of bagai2017: attacks that rule pairs out."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from crypsis import pseudonyms as ps
from papers import charts as common
from papers.bagai2017 import attack_graphs, charts, printed
from papers.comparison import NOTHING, claim, number, same, underivable
from papers.results import Drawn, RunSettings, paper_item

_LOST = "the figure is lost from the text of the paper"


@paper_item("Figure 1", "Complete anonymity, and none", figure="two bipartite graphs")
def figure_1(_: RunSettings) -> Drawn:
    complete, none = np.ones((4, 4), int), np.eye(4, dtype=int)
    cells = (
        same("matchings of the complete graph, t!", math.factorial(4), ps.permanent(complete)),
        number("its degree of anonymity", "1", ps.degree_of_anonymity(complete)),
        same("matchings of a single matching", 1, ps.permanent(none)),
        number("its degree of anonymity", "0", ps.degree_of_anonymity(none)),
    )

    panels = [("complete anonymity", complete), ("no anonymity", none[[2, 0, 3, 1]])]
    names = ("x1", "x2", "x3", "x4"), ("y1", "y2", "y3", "y4")
    return cells, lambda: common.graphs(panels, *names, title="The two extremes (Fig. 1)")


@paper_item("Figure 2", "A frequency attack on ten transactions", figure="the bipartite graph that is left")
def figure_2(_: RunSettings) -> Drawn:
    belief = ps.frequency_attack(printed.BASKETS, printed.RANGES)
    shares = dict(zip(belief.pseudonyms or (), ps.frequencies(printed.BASKETS).shares, strict=True))
    matrix = belief.matrix.toarray()
    bread = [p for p, cell in zip(belief.pseudonyms or (), matrix[0], strict=True) if cell]
    cells = (
        number(
            "observed frequency of a", f"{float(100 * printed.FREQUENCY_OF_A):g} %", 100 * float(shares["a"])
        ),
        same("what Bread may be", "c, d", ", ".join(map(str, bread))),
        underivable(
            "transactions and ranges",
            NOTHING,
            "ten that fit",
            note=f"{_LOST}: only the frequency of a, the range of Bread and what follows for Bread "
            "are in the text. Ten orders with these frequencies are used, and ranges of our own "
            "for the other items.",
        ),
    )

    panels = [("pairs that the frequencies allow", matrix)]
    names = [str(one) for one in belief.items or ()], [str(one) for one in belief.pseudonyms or ()]
    title = "The pairs that a frequency attack leaves possible (Fig. 2)"
    return cells, lambda: common.graphs(panels, *names, title=title)


@cache
def _fitting() -> tuple[NDArray[np.bool_], ...]:
    """The graphs whose matchings have 1, 2, 2, 2 and 4 cracks."""
    return tuple(g for g in printed.graphs() if tuple(printed.crack_counts(g)) == printed.CRACKS)


@paper_item(
    "Figure 3", "An attack on the employee database", figure="a bipartite graph that fits what is printed"
)
def figure_3(_: RunSettings) -> Drawn:
    fitting = _fitting()
    beliefs = [ps.Belief(graph.astype(int), truth=printed.TRUTH) for graph in fitting]
    first = beliefs[0]
    spread = {
        (
            ps.permanent(b),
            round(float(ps.degree_of_anonymity(b)), 12),
            round(float(ps.expected_cracks(b)), 12),
        )
        for b in beliefs
    }
    shares = ps.crack_distribution(first).probabilities * 5
    counts = [k for k, times in enumerate(shares) for _ in range(round(float(times)))]
    cells = (
        same("matchings", 5, ps.permanent(first)),
        same("of so many possible", 24, math.factorial(4)),
        number("degree of anonymity d = log 5 / log 24", "0.506", ps.degree_of_anonymity(first)),
        same("cracks of the five matchings", list(printed.CRACKS), counts),
        number("expected cracks E", "2.2", float(ps.expected_cracks(first))),
        underivable(
            "the graph itself",
            NOTHING,
            f"{len(fitting)} graphs fit",
            note=f"{_LOST}. Of the 4,096 graphs that contain M_O, {len(fitting)} have five "
            f"matchings with these cracks; on d and E all of them agree ({len(spread)} value). The "
            "first is drawn.",
        ),
    )

    return cells, lambda: common.graphs(
        [("one of the graphs that fit; thick: the truth", fitting[0])],
        printed.ITEMS,
        printed.PSEUDONYMS,
        truth=printed.TRUTH,
        title="An attack that leaves five matchings (Fig. 3)",
    )


@paper_item(
    "Figure 4",
    "Permanents and expected cracks of all attack graphs on four items",
    figure="a scatter of permanent and expected cracks",
)
def figure_4(_: RunSettings) -> Drawn:
    points = attack_graphs.attack_graphs(4)
    at = {n: sorted(p.expected_cracks for p in points if p.permanent == n) for n in (4, 6)}
    averages = [
        sum(p.expected_cracks * p.graphs for p in points if p.permanent == n)
        / sum(p.graphs for p in points if p.permanent == n)
        for n in sorted({p.permanent for p in points})
    ]
    example = next(g for g in printed.graphs() if printed.crack_counts(g) == [0, 1, 1, 4]).astype(int)
    belief = ps.Belief(example, truth=printed.TRUTH)
    cells = (
        same("matrices, 2^12", 4096, sum(p.graphs for p in points)),
        claim("distinct points", "far fewer", len(points) < 100, f"{len(points)}"),
        number("smallest E at permanent 4", f"{float(printed.MIN_CRACKS_4)}", at[4][0]),
        number("largest E at permanent 4", f"{float(printed.MAX_CRACKS_4)}", at[4][-1]),
        number("(b) E of a matrix with cracks 0, 1, 1, 4", "1.5", float(ps.expected_cracks(belief))),
        same("(b) its permanent", 4, ps.permanent(belief)),
        claim(
            "(c) a point at permanent 6, E = 2",
            "exists",
            2.0 in at[6],
            "E there: " + ", ".join(f"{e:.4g}" for e in at[6]),
        ),
        claim(
            "trend",
            "E falls as the permanent grows",
            averages[0] == 4
            and averages[-1] == 1
            and float(np.corrcoef(np.arange(len(averages)), averages)[0, 1]) < -0.8,
            "mean E falls from 4 to 1",
        ),
        underivable(
            "(b) and (c), the matrices shown",
            NOTHING,
            _rows(example),
            note=f"{_LOST}; this one has the permanent and the cracks of (b), row by row.",
        ),
    )

    return cells, lambda: charts.graph_points(points)


def _rows(matrix: NDArray[np.int64]) -> str:
    return " ".join("".join(map(str, row)) for row in matrix.tolist())
