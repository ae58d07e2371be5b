"""Charts of pseudonyms (bagai2017): beliefs, cracks, and Figs. 4, 9 and 10.

Functions from results to Altair charts; the numbers are fields of the results. Colours are those of
Okabe and Ito and viridis, which colour-blind readers tell apart; series differ in shape as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import altair as alt
import numpy as np

from crypsis.errors import ParameterError

if TYPE_CHECKING:
    from crypsis.pseudonyms import (
        Anonymity,
        CrackDistribution,
        EdgeProbabilities,
        GraphPoint,
        HeuristicErrors,
        TruthPoint,
    )

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#7F7F7F"
_WIDTH, _HEIGHT = 460, 280
_MOST_CELLS = 200
_BLOCKS_NAMED = 6


def belief_map(edges: EdgeProbabilities) -> alt.TopLevelMixin:
    """Edge probabilities as a heat map, blocks down the diagonal and framed.

    Beyond 200 items neighbouring cells are added up, so that the picture stays small.
    """
    cells = edges.probabilities[np.ix_(edges.row_order, edges.column_order)]
    step = -(-edges.size // _MOST_CELLS)
    starts = np.arange(0, edges.size, step)
    small = np.add.reduceat(np.add.reduceat(cells, starts, axis=0), starts, axis=1) / step
    rows = [
        {"item": int(starts[i]), "to": int(starts[i]) + step, "pseudonym": int(starts[j]),
         "until": int(starts[j]) + step, "probability": float(small[i, j])}
        for i, j in zip(*np.nonzero(small > 0), strict=True)
    ]  # fmt: skip
    domain = alt.Scale(domain=[0, edges.size], nice=False)
    heat = (
        alt.Chart(_data(rows))
        .mark_rect()
        .encode(
            x=alt.X("pseudonym:Q", scale=domain, title="pseudonyms, by block"),
            x2="until:Q",
            y=alt.Y(
                "item:Q",
                scale=alt.Scale(domain=[edges.size, 0], nice=False),
                title="items, by block",
            ),
            y2="to:Q",
            color=alt.Color(
                "probability:Q",
                scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                title="probability",
            ),
            tooltip=["item:Q", "pseudonym:Q", alt.Tooltip("probability:Q", format=".4f")],
        )
    )
    ends = np.cumsum([block.size for block in edges.blocks])
    frames = [
        {"from": int(end - block.size), "end": int(end)}
        for end, block in zip(ends, edges.blocks, strict=True)
    ]
    outline = (
        alt.Chart(_data(frames))
        .mark_rect(filled=False, stroke=_ORANGE, strokeWidth=1.5)
        .encode(x="from:Q", x2="end:Q", y="from:Q", y2="end:Q")
    )
    largest = sorted((block.size for block in edges.blocks), reverse=True)
    sizes = ", ".join(str(size) for size in largest[:_BLOCKS_NAMED])
    return _sized(
        alt.layer(heat, outline),
        f"Who could be whom: {edges.size:,} items in {len(edges.blocks):,} blocks",
        f"Heat map of the probability of each pair of item and pseudonym, reordered so that the "
        f"{len(edges.blocks)} irreducible blocks lie on the diagonal, framed. The largest blocks "
        f"have {sizes} items.",
        height=_WIDTH,
    )


def exposed_items(found: Anonymity, *, reveal: bool = False) -> alt.TopLevelMixin:
    """The items exposed most, with the probability that each is cracked.

    Items appear by row number; their names only with `reveal=True`, for the owner.
    """
    if not found.most_exposed:
        raise ParameterError("No items are listed: measure a belief with its truth, exposed > 0.")
    rows = [
        {
            "item": str(risk.item)
            if reveal and risk.item is not None
            else f"row {risk.position + 1}",
            "probability": risk.probability,
            "candidates": risk.candidates,
        }
        for risk in found.most_exposed
    ]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(color=_ORANGE)
        .encode(
            y=alt.Y("item:N", sort=None, title=None),
            x=alt.X(
                "probability:Q",
                scale=alt.Scale(domain=[0, 1]),
                title="probability of being cracked",
            ),
            tooltip=["item:N", alt.Tooltip("probability:Q", format=".4f"), "candidates:Q"],
        )
    )
    return _sized(
        chart,
        f"The {len(rows)} items exposed most, of {found.size:,}",
        f"Bars of the probability of being cracked for the {len(rows)} items exposed most, from "
        f"{rows[0]['probability']:.3f} down to {rows[-1]['probability']:.3f}.",
        height=max(80, 18 * len(rows)),
    )


def crack_chart(found: CrackDistribution) -> alt.TopLevelMixin:
    """The probability of each number of cracks, with the expected number marked."""
    shown = np.flatnonzero(found.probabilities > 1e-6)
    first, last = (int(shown[0]), int(shown[-1])) if shown.size else (0, found.size)
    half = np.zeros(found.size + 1) if found.half_widths is None else found.half_widths
    rows = [
        {"cracks": k, "probability": float(found.probabilities[k]),
         "low": max(0.0, float(found.probabilities[k] - half[k])),
         "high": float(found.probabilities[k] + half[k])}
        for k in range(first, last + 1)
    ]  # fmt: skip
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("cracks:O", title="number of cracks", axis=alt.Axis(labelOverlap=True)),
        tooltip=["cracks:O", alt.Tooltip("probability:Q", format=".5f")],
    )
    layers = [base.mark_bar(color=_BLUE).encode(y=alt.Y("probability:Q", title="probability"))]
    if found.half_widths is not None:
        layers.append(base.mark_rule(color="black").encode(y="low:Q", y2="high:Q"))
    mean = {"cracks": round(found.expected)}
    layers.append(
        alt.Chart(_data([mean]))
        .mark_rule(color=_ORANGE, strokeDash=[6, 3], size=2)
        .encode(x="cracks:O")
    )
    kind = "exact" if found.exact else "sampled, with 95 % intervals"
    return _sized(
        alt.layer(*layers),
        f"How many of {found.size:,} items are cracked ({kind}); {found.expected:.4g} expected",
        f"Bars of the probability of each number of cracks from {first} to {last}; the expected "
        f"number, {found.expected:.4g}, is marked with a dashed line.",
    )


def graph_points(points: Sequence[GraphPoint]) -> alt.TopLevelMixin:
    """Permanent against expected cracks for all attack graphs (Fig. 4)."""
    rows = [
        {"permanent": p.permanent, "cracks": p.expected_cracks, "graphs": p.graphs} for p in points
    ]
    chart = (
        alt.Chart(_data(rows))
        .mark_circle(color=_BLUE, opacity=0.85)
        .encode(
            x=alt.X("permanent:Q", title="permanent: matchings that remain possible"),
            y=alt.Y("cracks:Q", title="expected cracks", scale=alt.Scale(zero=False)),
            size=alt.Size("graphs:Q", title="graphs", scale=alt.Scale(type="log", range=[20, 300])),
            tooltip=["permanent:Q", alt.Tooltip("cracks:Q", format=".4f"), "graphs:Q"],
        )
    )
    return _sized(
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
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("truth:Q", title="possible truths, in the order of Psi"),
        y=alt.Y("value:Q", title="expected cracks"),
        color=alt.Color(
            "measure:N", scale=alt.Scale(domain=order, range=[_BLUE, _ORANGE]), legend=legend
        ),
        tooltip=["truth:Q", "measure:N", alt.Tooltip("value:Q", format=".4f")],
    )
    dots = base.mark_point(filled=True, size=40).encode(
        shape=alt.Shape(
            "measure:N",
            scale=alt.Scale(domain=order, range=["circle", "triangle-up"]),
            legend=legend,
        )
    )
    worst = max(abs(point.expected_cracks - point.heuristic) for point in points)
    return _sized(
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
        {"left": float(edges_x[i]), "right": float(edges_x[i + 1]), "low": float(edges_y[j]),
         "high": float(edges_y[j + 1]), "matrices": int(counts[i, j])}
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]  # fmt: skip
    chart = (
        alt.Chart(_data(rows))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", title="permanent", scale=alt.Scale(domain=[0, 1])),
            x2="right:Q",
            y=alt.Y("low:Q", title="NMAPE of the heuristic, in %"),
            y2="high:Q",
            color=alt.Color(
                "matrices:Q", scale=alt.Scale(type="log", scheme="viridis"), title="matrices"
            ),
            tooltip=["left:Q", "low:Q", "matrices:Q"],
        )
    )
    return _sized(
        chart,
        f"How far the heuristic is off: {found.errors.size:,} random matrices (Fig. 10)",
        f"Density of {found.errors.size:,} random {found.size} by {found.size} matrices "
        f"({found.generator}): the error is 0 at both ends of the permanent and at most "
        f"{found.largest:.2f} percent, for low permanents.",
    )


def _sized(chart: Any, title: str, description: str, height: Any = _HEIGHT) -> alt.TopLevelMixin:
    sized = chart.properties(
        title=alt.TitleParams(title, anchor="start"),
        description=description,
        width=_WIDTH,
        height=height,
    )
    return cast(alt.TopLevelMixin, sized)


def _data(rows: Sequence[dict[str, Any]]) -> Any:
    return alt.InlineData(values=list(rows))
