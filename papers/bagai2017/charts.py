"""Figs. 4, 9 and 10 of bagai2017."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np

from papers.bagai2017.attack_graphs import GraphPoint, HeuristicErrors, TruthPoint
from papers.charts import BLUE, ORANGE, inline_data, sized


def graph_points(points: Sequence[GraphPoint]) -> alt.TopLevelMixin:
    """Permanent against expected cracks for all attack graphs (Fig. 4)."""
    rows = [{"permanent": p.permanent, "cracks": p.expected_cracks, "graphs": p.graphs} for p in points]
    chart = (
        alt.Chart(inline_data(rows))
        .mark_circle(color=BLUE, opacity=0.85)
        .encode(
            x=alt.X("permanent:Q", title="permanent: matchings that remain possible"),
            y=alt.Y("cracks:Q", title="expected cracks", scale=alt.Scale(zero=False)),
            size=alt.Size("graphs:Q", title="graphs", scale=alt.Scale(type="log", range=[20, 300])),
            tooltip=["permanent:Q", alt.Tooltip("cracks:Q", format=".4f"), "graphs:Q"],
        )
    )
    return sized(
        chart,
        f"Two measures of one attack: {len(points)} points (Fig. 4)",
        f"Scatter of {len(points)} points: the more matchings remain possible, the fewer cracks "
        "are expected, but graphs with equal permanents differ in expected cracks.",
    )


def heuristic_curves(points: Sequence[TruthPoint]) -> alt.TopLevelMixin:
    """Psi and H over all possible truths, in the order of Psi (Fig. 9)."""
    names = {"expected_cracks": "Psi, exact", "heuristic": "H, the heuristic"}
    rows = [
        {"truth": point.place, "value": getattr(point, field), "measure": name}
        for point in points
        for field, name in names.items()
    ]
    order = list(names.values())
    legend = alt.Legend(title=None, orient="top")
    base = alt.Chart(inline_data(rows)).encode(
        x=alt.X("truth:Q", title="possible truths, in the order of Psi"),
        y=alt.Y("value:Q", title="expected cracks"),
        color=alt.Color("measure:N", scale=alt.Scale(domain=order, range=[BLUE, ORANGE]), legend=legend),
        tooltip=["truth:Q", "measure:N", alt.Tooltip("value:Q", format=".4f")],
    )
    dots = base.mark_point(filled=True, size=40).encode(
        shape=alt.Shape(
            "measure:N", scale=alt.Scale(domain=order, range=["circle", "triangle-up"]), legend=legend
        )
    )
    worst = max(abs(point.expected_cracks - point.heuristic) for point in points)
    return sized(
        alt.layer(base.mark_line(), dots),
        f"The heuristic against what it stands for, {len(points)} truths (Fig. 9)",
        f"Two curves over {len(points)} possible truths. The heuristic is too high where few "
        f"cracks are expected and too low where many are; the largest gap is {worst:.3f}.",
    )


def heuristic_cloud(found: HeuristicErrors) -> alt.TopLevelMixin:
    """NMAPE against the permanent for random matrices (Fig. 10), counted in small cells."""
    top = float(np.ceil(found.errors.max()))
    counts, edges_x, edges_y = np.histogram2d(
        found.permanents, found.errors, bins=[80, 60], range=[[0.0, 1.0], [0.0, top]]
    )
    rows = [
        {
            "left": float(edges_x[i]),
            "right": float(edges_x[i + 1]),
            "low": float(edges_y[j]),
            "high": float(edges_y[j + 1]),
            "matrices": int(counts[i, j]),
        }
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]
    chart = (
        alt.Chart(inline_data(rows))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", title="permanent", scale=alt.Scale(domain=[0, 1])),
            x2="right:Q",
            y=alt.Y("low:Q", title="NMAPE of the heuristic, in %"),
            y2="high:Q",
            color=alt.Color("matrices:Q", scale=alt.Scale(type="log", scheme="viridis"), title="matrices"),
            tooltip=["left:Q", "low:Q", "matrices:Q"],
        )
    )
    return sized(
        chart,
        f"How far the heuristic is off: {found.errors.size:,} random matrices (Fig. 10)",
        f"Density of {found.errors.size:,} random {found.size} by {found.size} matrices "
        f"({found.generator}): the error is 0 at both ends of the permanent and at most "
        f"{found.largest:.2f} percent, for low permanents.",
    )
