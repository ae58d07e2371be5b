"""Charts of itpr2019: its metrics over sweeps, over two parameters, and judged (Table 7).

Colors are those of Okabe and Ito (2008), which color-blind readers can distinguish; lines differ
in dashes as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from crypsis.errors import ParameterError
from papers.charts import inline_data
from papers.itpr2019.metric_judgment import MetricJudgment
from papers.itpr2019.sweeps import Surface, Sweep

_LINES = {
    "ITPR": ("#D55E00", [1, 0]),
    "DR": ("#0072B2", [6, 3]),
    "MI": ("#009E73", [2, 2]),
    "CP": ("#CC79A7", [8, 3, 2, 3]),
    "ELD": ("#E69F00", [10, 4]),
    "MIL": ("#56B4E9", [1, 0]),
}
_OTHER_LINE = ("#000000", [4, 1])
_GRADES = {"right": "#009E73", "right but hard to read": "#E69F00", "wrong": "#D55E00"}
_WIDTH = 460


def sweep(result: Sweep) -> alt.TopLevelMixin:
    """Metrics over a sweep, those that leave [0, 1] in a panel of their own (as in Figs. 1-4)."""
    bounded = [name for name, values in result.metrics.items() if max(values) <= 1 + 1e-9]
    wide = [name for name in result.metrics if name not in bounded]
    panels = [_panel(result, names) for names in (bounded, wide) if names]
    falls = [name for name, values in result.metrics.items() if values[-1] < values[0] - 1e-9]
    trend = f"They fall for: {', '.join(falls)}." if falls else "None falls."
    panels_below: alt.VConcatChart = alt.vconcat(*panels).resolve_scale(
        color="independent", strokeDash="independent"
    )
    return panels_below.properties(
        title=alt.TitleParams(
            result.title, subtitle=f"the risk rises with {result.parameter}", anchor="start"
        ),
        description=(
            f"Line chart of {', '.join(result.metrics)} over {result.parameter} from "
            f"{result.at[0]:.4g} to {result.at[-1]:.4g}. {trend}"
        ),
    )


def _panel(result: Sweep, names: Sequence[str]) -> Any:
    rows = [
        {"at": at, "value": value, "metric": name}
        for name in names
        for at, value in zip(result.at, result.metrics[name], strict=True)
    ]
    colors, dashes = zip(*(_LINES.get(name, _OTHER_LINE) for name in names), strict=True)
    domain = list(names)
    return (
        alt.Chart(inline_data(rows))
        .mark_line(size=2.5)
        .encode(
            x=alt.X("at:Q", title=result.parameter, axis=alt.Axis(tickCount=6)),
            y=alt.Y("value:Q", title="value"),
            color=alt.Color("metric:N", scale=alt.Scale(domain=domain, range=list(colors)), title="metric"),
            strokeDash=alt.StrokeDash(
                "metric:N", scale=alt.Scale(domain=domain, range=list(dashes)), title="metric"
            ),
            tooltip=["metric:N", "at:Q", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(width=_WIDTH, height=220)
    )


def surface(result: Surface) -> alt.TopLevelMixin:
    """One metric over epsilon and theta (Fig. 5), as colors from low to high."""
    rows = [
        {"epsilon": epsilon, "theta": round(theta, 4), "value": value}
        for epsilon, row in zip(result.epsilon, result.values, strict=True)
        for theta, value in zip(result.variation, row, strict=True)
    ]
    low, high = result.values[0][0], result.values[-1][-1]
    boxes: alt.Chart = (
        alt.Chart(inline_data(rows))
        .mark_rect()
        .encode(
            x=alt.X("epsilon:O", title="epsilon (rows)", axis=alt.Axis(labelAngle=0, format=".0f")),
            y=alt.Y("theta:O", sort="descending", title="theta (bits)"),
            color=alt.Color("value:Q", scale=alt.Scale(scheme="viridis"), title=result.metric),
            tooltip=["epsilon:Q", "theta:Q", alt.Tooltip("value:Q", format=".4f")],
        )
    )
    return boxes.properties(
        title=alt.TitleParams(result.title, anchor="start"),
        description=(
            f"Heat map of {result.metric} over epsilon and theta: from {low:.3g} where both are 0 "
            f"to {high:.3g} where both are largest."
        ),
        width=_WIDTH,
        height=300,
    )


def judgments(results: Sequence[MetricJudgment]) -> alt.TopLevelMixin:
    """Table 7: which metric assesses which risk, and whether its value can be read."""
    if not results:
        raise ParameterError("There is no judgment to draw.")
    rows = [
        {"metric": one.metric, "risk": risk, "grade": grade.value, "sign": grade.sign}
        for one in results
        for risk, grade in (("re-identification", one.reidentification), ("inference", one.inference))
    ]
    base = alt.Chart(inline_data(rows)).encode(
        x=alt.X(
            "risk:N",
            sort=["re-identification", "inference"],
            title=None,
            axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
        ),
        y=alt.Y("metric:N", sort=[one.metric for one in results], title=None),
    )
    boxes = base.mark_rect(opacity=0.85, stroke="white").encode(
        color=alt.Color(
            "grade:N", scale=alt.Scale(domain=list(_GRADES), range=list(_GRADES.values())), title=None
        ),
        tooltip=["metric:N", "risk:N", "grade:N"],
    )
    signs = base.mark_text(size=16, fontWeight="bold").encode(text="sign:N")
    text = "; ".join(f"{one.metric}: {one.reidentification.value} / {one.inference.value}" for one in results)
    return alt.layer(boxes, signs).properties(
        title=alt.TitleParams("What each metric is good for", anchor="start"),
        description=f"Table of judgments for re-identification / inference. {text}.",
        width=300,
        height=40 * len(results),
    )
