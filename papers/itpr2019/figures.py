"""Figs. 1 to 5 of itpr2019: the metrics over data whose risk is known to rise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.inference import Leakage, leakage
from papers.charts import titled
from papers.comparison import NOTHING, claim, critique, number, underivable
from papers.itpr2019 import charts
from papers.itpr2019.sweeps import (
    METRICS,
    Sweep,
    epsilon_sweep,
    lambda_sweep,
    of_table,
    risk_surface,
    variation_sweep,
)
from papers.results import ComparedValue, Drawn, RunSettings, paper_item

_UNPRINTED = (
    "The data is not printed beyond its sizes; the trends appear when every age leans to one "
    "disease and one age leans most."
)


def _way(values: tuple[float, ...]) -> str:
    steps = [b - a for a, b in pairwise(values)]
    if max(map(abs, steps)) < 1e-9:
        return "constant"
    if min(steps) > -1e-12:
        return "rises"
    return "falls" if max(steps) < 1e-12 else "rises and falls"


def _trends(sweep: Sweep, **ways: str) -> list[ComparedValue]:
    cells = []
    for metric, way in ways.items():
        found = sweep.metrics[metric]
        ours = _way(found)
        text = f"{ours}, {found[0]:.3g} to {found[-1]:.3g}"
        cells.append(claim(metric, way, ours == way, text, group=f"as {sweep.parameter} grows"))
    return cells


@paper_item(
    "Figure 1",
    "Re-identification from a column of two values, 10,000 records",
    figure="six metrics over epsilon",
)
def figure_1(_: RunSettings) -> Drawn:
    sweep = epsilon_sweep(2)
    found = sweep.metrics
    cells = [
        *_trends(sweep, ITPR="rises", DR="falls", MI="falls", CP="falls", ELD="rises", MIL="rises"),
        number("ITPR at epsilon = 9998", "1", found["ITPR"][-1], group="values"),
        number(
            "ITPR at epsilon = 0",
            "0.07",
            found["ITPR"][0],
            cut=True,
            group="values",
            note="The paper truncates.",
        ),
        claim("largest DR", "below 0.1", max(found["DR"]) < 0.1, f"{max(found['DR']):.4f}", group="values"),
        number("smallest MIL", "7", min(found["MIL"]), cut=True, group="values", note="The paper truncates."),
        number("largest MIL", "13", max(found["MIL"]), cut=True, group="values", note="The paper truncates."),
    ]
    return cells, lambda: _lines(sweep, "Fig. 1")


@paper_item(
    "Figure 2",
    "Re-identification from a column of ten values, 10,000 records",
    figure="six metrics over epsilon",
)
def figure_2(_: RunSettings) -> Drawn:
    sweep = epsilon_sweep(10)
    cells = _trends(sweep, ITPR="rises", DR="falls", MI="falls", CP="falls", ELD="rises", MIL="rises")
    return cells, lambda: _lines(sweep, "Fig. 2")


@paper_item("Figure 3", "Inference as a disease prevails", figure="six metrics over lambda")
def figure_3(_: RunSettings) -> Drawn:
    sweep = lambda_sweep()
    cells = [
        *_trends(sweep, ITPR="rises", DR="rises", MI="rises", ELD="rises", CP="rises", MIL="falls"),
        underivable("the curves", NOTHING, "same trends", note=_UNPRINTED),
    ]
    return cells, lambda: _lines(sweep, "Fig. 3")


@paper_item("Figure 4", "Inference as one group stands out", figure="six metrics over theta")
def figure_4(_: RunSettings) -> Drawn:
    sweep = variation_sweep()
    cells = [
        *_trends(sweep, ITPR="rises", DR="rises", MI="rises", CP="rises", MIL="rises", ELD="constant"),
        number(
            "CP where MI is 0.02",
            "0.01",
            _conditional_privacy(0.02),
            cut=True,
            note="The paper truncates.",
            group="values",
        ),
        *_between(sweep, MIL="0.07, 0.09", MI="0, 0.02", CP="0, 0.01"),
        *_skewness(),
    ]
    return cells, lambda: _lines(sweep, "Fig. 4")


def _between(sweep: Sweep, **printed: str) -> list[ComparedValue]:
    """What the metrics are at theta = 0 and at 0.4, or as near to it as our data comes."""
    place = min(range(len(sweep.at)), key=lambda i: abs(sweep.at[i] - 0.4))
    cells = []
    for metric, text in printed.items():
        values = sweep.metrics[metric]
        ours = f"{values[0]:.2g}, {values[place]:.2g}"
        note = f"{_UNPRINTED} Ours at theta = {sweep.at[0]:.2g} and {sweep.at[place]:.2g}."
        name = f"{metric} at theta 0 and 0.4"
        cells.append(underivable(name, text, ours, group="values", note=note))
    return cells


def _conditional_privacy(bits: float) -> float:
    """CP of a table of two by two values whose mutual information is that."""
    low, high = 0, 500_000
    while high - low > 1:
        middle = (low + high) // 2
        table = np.array([[500_000 + middle, 500_000 - middle], [500_000 - middle, 500_000 + middle]])
        low, high = (middle, high) if METRICS["MI"](table) < bits else (low, middle)
    return float(METRICS["CP"](table))


def _skewness() -> list[ComparedValue]:
    """The example that theta is introduced with: HIV at 0.001 %, and at 5 % in one group."""
    groups, size, others = 10, 100_000, 9
    even = [1] + [(size - 1) // others] * others
    worst = [size // 20] + [(size - size // 20) // others] * others
    worst[1] += size - sum(worst)
    before, after = ([even] * groups, [worst, *[even] * (groups - 1)])
    found = [_leakage_of(np.array(counts)) for counts in (before, after)]
    theta, itpr, surprise = (
        [getattr(one, name) for one in found]
        for name in ("max_information_leakage_difference", "itpr", "max_information_leakage_divergence")
    )
    share = np.array(worst) / size
    inside = -float((share * np.log2(share)).sum())
    more = _theta(0.12)
    return [
        critique(
            "theta when one group of ten has 5 % HIV",
            "drastically impact",
            _grown(theta[1] - theta[0]),
            correct="below 0.1 bits",
            group="the text",
            note="Formula (13) is introduced with this example: HIV at 0.001 % everywhere and at "
            "5 % in one group. But a difference of entropies does not see it: with nine other "
            "diseases, equally frequent, that group is more diverse than the whole table "
            f"({found[1].entropy_bits:.2f} bits, the group {inside:.2f}), so it is not the one "
            f"that theta is about. Theta goes from {theta[0]:.3f} to {theta[1]:.3f}, ITPR from "
            f"{itpr[0]:.3f} to {itpr[1]:.3f}; the divergence of the group from the whole, which "
            f"t-closeness is about, goes from {surprise[0]:.3f} to {surprise[1]:.3f}.",
        ),
        critique(
            "theta when a group of 100 has 12 % HIV",
            "0.4",
            _grown(more[0]),
            correct="below 0.1 bits",
            group="the text",
            note="The text says that theta = 0.4 can represent the case in which a group has 12 % "
            "HIV. In its own example, 1,000 of 10^8 people with HIV and groups of 100, formula (13) "
            f"gives {more[0]:.1e}: the group has more entropy than the whole, by {more[1]:.2f} bits, "
            "and the maximum is taken by another group.",
        ),
    ]


def _theta(share: float) -> tuple[float, float]:
    """Formula (13) for 1,000 of 10^8 people with HIV, that share in a group of 100, and by how
    much the entropy of the group is above that of the whole.
    """
    people, sick = 10**8, 1_000
    own = round(100 * share)
    known = of_table(np.array([[own, 100 - own], [sick - own, people - 100 - (sick - own)]]))
    return known.entropy - float(known.entropies.min()), float(known.entropies[0]) - known.entropy


def _leakage_of(counts: NDArray[np.int64]) -> Leakage:
    """The leakage of a contingency table of group and disease, as rows."""
    group, disease = np.indices(counts.shape).reshape(2, -1)
    times = counts.ravel()
    columns = {"group": np.repeat(group, times), "disease": np.repeat(disease, times)}
    return leakage(pa.table(columns), "disease", ["group"])


def _grown(bits: float) -> str:
    return "below 0.1 bits" if bits < 0.1 else f"{bits:.3f} bits"


@paper_item("Figure 5", "ITPR over epsilon and theta", figure="a heat map")
def figure_5(_: RunSettings) -> Drawn:
    surface = risk_surface()
    by_theta = all(_way(row) == "rises" for row in surface.values)
    by_epsilon = all(_way(column) == "rises" for column in zip(*surface.values, strict=True))
    low, high = surface.values[0][0], surface.values[-1][-1]
    cells = (
        claim("ITPR as theta grows", "rises smoothly", by_theta, "rises for each epsilon"),
        claim("ITPR as epsilon grows", "rises smoothly", by_epsilon, "rises for each theta"),
        underivable(
            "values",
            NOTHING,
            f"{low:.2f} to {high:.2f}",
            note="10,000 records, 10 ages and 20 diseases are given, their table is not. "
            "Ours: one age has epsilon rows more than the others, one of those leans. (Section 5.2 "
            "calls this surface Figure 3, which has curves over lambda.)",
        ),
    )

    return cells, lambda: titled(charts.surface(surface), "ITPR over epsilon and theta (Fig. 5)")


def _lines(sweep: Sweep, name: str) -> object:

    return titled(charts.sweep(sweep), f"{sweep.title} ({name})")
