"""Figs. 9 and 10 of bagai2017: how near the heuristic H comes to Psi."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import altair as alt
import numpy as np

from crypsis import pseudonyms as ps
from papers.bagai2017 import attack_graphs, charts, printed
from papers.charts import titled
from papers.comparison import claim, critique, number, underivable
from papers.results import ComparedValue, Drawn, RunSettings, paper_item

_COUNT = 24_000


@paper_item(
    "Figure 9", "Psi and H of Q and F for each of the 24 possible truths", figure="two curves for each matrix"
)
def figure_9(_: RunSettings) -> Drawn:
    matrices = {"Q": printed.floats(printed.recovered_q()), "F": printed.floats(printed.FLAT)}
    curves = {name: attack_graphs.heuristic_by_truth(matrix) for name, matrix in matrices.items()}
    cells: list[ComparedValue] = []
    for name, points in curves.items():
        psi = np.array([p.expected_cracks for p in points])
        h = np.array([p.heuristic for p in points])
        low, high = psi < np.median(psi), psi > np.median(psi)
        cells += [
            number("truths", "24", len(points), group=name),
            number("sum of Psi (Theorem 5)", "24", float(psi.sum()), group=name),
            number("sum of H (Theorem 5)", "24", float(h.sum()), group=name),
            claim(
                "low Psi",
                "H usually over",
                float((h - psi)[low].mean()) > 0,
                f"by {float((h - psi)[low].mean()):.3f} on average",
                group=name,
            ),
            claim(
                "high Psi",
                "H usually under",
                float((h - psi)[high].mean()) < 0,
                f"by {float((psi - h)[high].mean()):.3f} on average",
                group=name,
            ),
        ]
    likeliest = (3, 2, 0, 1)
    belief = ps.Belief(matrices["Q"], truth=likeliest)
    cells.append(
        critique(
            "Psi of Q, were its likeliest matching the truth",
            "errs only on the safer side",
            float(ps.expected_cracks(belief)),
            correct=str(_exact_psi(likeliest)),
            group="Q",
            note="The heuristic does not err on the safer side only: where the attack is right, H "
            f"is below Psi, here {float(ps.crack_heuristic(belief)):g}, more than half a crack less. "
            "A release must never be decided on H.",
        )
    )

    def draw() -> object:
        panels = [
            titled(charts.heuristic_curves(points), f"Psi and H of {name}") for name, points in curves.items()
        ]
        return alt.vconcat(*panels).properties(
            title=alt.TitleParams("The heuristic and Psi (Fig. 9)", anchor="start"),
            description="Psi and H of Q and of F over the 24 possible truths, in the order of Psi.",
        )

    return cells, draw


def _exact_psi(truth: tuple[int, ...]) -> Fraction:
    """Psi of Q in fractions, matching by matching: what the critique is held against."""
    q, total, cracks = printed.recovered_q(), Fraction(0), Fraction(0)
    for matching in printed.matchings().tolist():
        weight = math.prod((q[i][j] for i, j in enumerate(matching)), start=Fraction(1))
        total += weight
        cracks += weight * sum(a == b for a, b in zip(matching, truth, strict=True))
    return cracks / total


@cache
def _random() -> attack_graphs.HeuristicErrors:
    return attack_graphs.random_heuristic_errors(_COUNT)


@paper_item(
    "Figure 10",
    "NMAPE of the heuristic and permanent, 24,000 random matrices",
    figure="a cloud of permanent and error",
)
def figure_10(_: RunSettings) -> Drawn:
    found = _random()
    errors, permanents = found.errors, found.permanents
    cycle = (2 * np.eye(4) + np.roll(np.eye(4), 1, axis=1)) / 3
    above = float(attack_graphs.heuristic_error(cycle))
    why = (
        "The paper does not describe how its matrices were drawn, and what it says of them is about "
        f"them. Ours: {found.generator}, seed {found.seed}. It is not a bound: the matrix with 2/3 on "
        f"the diagonal and 1/3 beside it, in a circle, is doubly stochastic and has {above:.2f} %."
    )
    ends = [attack_graphs.heuristic_error(np.full((4, 4), 0.25)), attack_graphs.heuristic_error(np.eye(4))]
    worst = float(permanents[errors.argmax()])
    cells = (
        underivable(
            "largest NMAPE of 24,000 matrices", "9%", float(errors.max()), within=(8.0, 9.2), note=why
        ),
        underivable(
            "share within 6 %", "usually just within 6%", f"{float((errors < 6).mean()):.1%}", note=why
        ),
        number("NMAPE at the smallest permanent, 24/256", "0", ends[0]),
        number("NMAPE at permanent 1", "0", ends[1]),
        claim(
            "smallest permanent drawn",
            "at least 0.09375",
            float(permanents.min()) >= math.factorial(4) / 4**4 - 1e-12,
            f"{float(permanents.min()):.5f}",
        ),
        claim(
            "where the large errors are",
            "low permanents",
            worst < 0.5 and errors[permanents < 0.5].max() > errors[permanents > 0.7].max(),
            f"the largest at permanent {worst:.2f}",
        ),
    )

    return cells, lambda: charts.heuristic_cloud(found)
