"""Charts of leakage: risk by group, what each column adds, and the metrics of itpr2019 compared.

Colours are those of Okabe and Ito (2008), which the colour-blind tell apart; lines differ in dashes
as well. Values of the data appear only where `reveal=True` asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError

if TYPE_CHECKING:
    from crypsis.inference import GroupRisk, Leakage, MetricVerdict, Surface, Sweep

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#8C8C8C"
_LINES = {
    "ITPR": ("#D55E00", [1, 0]),
    "DR": ("#0072B2", [6, 3]),
    "MI": ("#009E73", [2, 2]),
    "CP": ("#CC79A7", [8, 3, 2, 3]),
    "ELD": ("#E69F00", [10, 4]),
    "MIL": ("#56B4E9", [1, 0]),
}
_OTHER_LINE = ("#000000", [4, 1])
_VERDICTS = {"right": "#009E73", "right but hard to read": "#E69F00", "wrong": "#D55E00"}
_WIDTH = 460


def risk_by_group(leakage: Leakage, *, top: int = 20, reveal: bool = False) -> alt.TopLevelMixin:
    """The riskiest groups: the probability of the best guess in each, against guessing blindly."""
    if top < 1:
        raise ParameterError(f"Show at least one group; {top} was asked for.")
    rows = [
        {
            "place": place,
            "group": _label(place, one, reveal),
            "size": one.group.size,
            "best_guess": one.best_guess,
        }
        for place, one in enumerate(leakage.first(top), 1)
    ]
    order = alt.EncodingSortField("place")
    bars = (
        alt.Chart(_data(rows))
        .mark_bar(color=_ORANGE)
        .encode(
            y=alt.Y("group:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X(
                "best_guess:Q",
                scale=alt.Scale(domain=[0, 1]),
                title="probability of the best guess",
            ),
            tooltip=["group:N", "size:Q", alt.Tooltip("best_guess:Q", format=".3f")],
        )
    )
    names = bars.mark_text(align="left", dx=4, color="#333333").encode(
        text=alt.Text("size:Q", format=",d")
    )
    blind = (
        alt.Chart(_data([{"prior": leakage.best_guess.prior}]))
        .mark_rule(color=_BLUE, strokeDash=[6, 3], size=2)
        .encode(x="prior:Q")
    )
    shown = len(rows)
    title = alt.TitleParams(
        f"Where {leakage.target} can be guessed from {', '.join(leakage.given)}",
        subtitle=[
            f"{shown} of {leakage.groups:,} groups, the riskiest first; the number is the rows of "
            "the group,",
            f"the dashed line the best guess without knowing anything "
            f"({leakage.best_guess.prior:.3g})",
        ],
        anchor="start",
    )
    description = (
        f"Bar chart of the {shown} riskiest of {leakage.groups:,} groups. In the worst the best "
        f"guess is right with probability {leakage.best_guess.worst:.3g}, on average "
        f"{leakage.best_guess.average:.3g}, without the given columns "
        f"{leakage.best_guess.prior:.3g}."
    )
    return _finished(bars + names + blind, title=title, description=description, width=_WIDTH)


def _label(place: int, one: GroupRisk, reveal: bool) -> str:
    if not reveal:
        return f"group {place}"
    known = ", ".join(map(str, one.group.values))
    return known if one.guess is None else f"{known}: {one.guess}"


def contributions(leakage: Leakage) -> alt.TopLevelMixin:
    """What each given column tells alone, and what it adds to the others."""
    rows = [
        {"column": one.column, "kind": kind, "bits": bits}
        for one in leakage.contributions
        for kind, bits in (
            ("tells alone", one.alone_bits),
            ("adds to the others", one.added_bits),
        )
    ]
    first = leakage.contributions[0]
    base = alt.Chart(_data(rows)).encode(
        y=alt.Y("column:N", sort=[one.column for one in leakage.contributions], title=None)
    )
    kinds = ["tells alone", "adds to the others"]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[_GREY, _ORANGE]),
        title=None,
        legend=alt.Legend(orient="bottom"),
    )
    bars = base.mark_bar().encode(
        x=alt.X("bits:Q", title=f"bits about {leakage.target}"),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        color=colour,
        tooltip=["column:N", "kind:N", alt.Tooltip("bits:Q", format=".4f")],
    )
    return _finished(
        bars,
        title=alt.TitleParams(f"What each column tells about {leakage.target}", anchor="start"),
        description=(
            f"Bar chart of the information each given column has about {leakage.target}, alone and "
            f"beyond the others. {first.column} adds the most: {first.added_bits:.3g} bits."
        ),
        width=_WIDTH,
    )


def sweep(result: Sweep) -> alt.TopLevelMixin:
    """Metrics over a sweep, those that leave [0, 1] in a panel of their own (as in Figs. 1-4)."""
    bounded = [name for name, values in result.metrics.items() if max(values) <= 1 + 1e-9]
    wide = [name for name in result.metrics if name not in bounded]
    panels = [_panel(result, names) for names in (bounded, wide) if names]
    falls = [name for name, values in result.metrics.items() if values[-1] < values[0] - 1e-9]
    described = f"They fall for: {', '.join(falls)}." if falls else "None falls."
    whole = alt.vconcat(*panels).resolve_scale(color="independent", strokeDash="independent")
    return _finished(
        whole,
        title=alt.TitleParams(
            result.title, subtitle=f"the risk rises with {result.parameter}", anchor="start"
        ),
        description=(
            f"Line chart of {', '.join(result.metrics)} over {result.parameter} from "
            f"{result.at[0]:.4g} to {result.at[-1]:.4g}. {described}"
        ),
    )


def _panel(result: Sweep, names: Sequence[str]) -> Any:
    rows = [
        {"at": at, "value": value, "metric": name}
        for name in names
        for at, value in zip(result.at, result.metrics[name], strict=True)
    ]
    colours, dashes = zip(*(_LINES.get(name, _OTHER_LINE) for name in names), strict=True)
    domain = list(names)
    return (
        alt.Chart(_data(rows))
        .mark_line(size=2.5)
        .encode(
            x=alt.X("at:Q", title=result.parameter, axis=alt.Axis(tickCount=6)),
            y=alt.Y("value:Q", title="value"),
            color=alt.Color(
                "metric:N", scale=alt.Scale(domain=domain, range=list(colours)), title="metric"
            ),
            strokeDash=alt.StrokeDash(
                "metric:N", scale=alt.Scale(domain=domain, range=list(dashes)), title="metric"
            ),
            tooltip=["metric:N", "at:Q", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(width=_WIDTH, height=220)
    )


def surface(result: Surface) -> alt.TopLevelMixin:
    """One metric over epsilon and theta (Fig. 5), as colours from low to high."""
    rows = [
        {"epsilon": epsilon, "theta": round(theta, 4), "value": value}
        for epsilon, row in zip(result.epsilon, result.values, strict=True)
        for theta, value in zip(result.variation, row, strict=True)
    ]
    low, high = result.values[0][0], result.values[-1][-1]
    boxes = (
        alt.Chart(_data(rows))
        .mark_rect()
        .encode(
            x=alt.X("epsilon:O", title="epsilon (rows)", axis=alt.Axis(labelAngle=0, format=".0f")),
            y=alt.Y("theta:O", sort="descending", title="theta (bits)"),
            color=alt.Color("value:Q", scale=alt.Scale(scheme="viridis"), title=result.metric),
            tooltip=["epsilon:Q", "theta:Q", alt.Tooltip("value:Q", format=".4f")],
        )
    )
    return _finished(
        boxes,
        title=alt.TitleParams(result.title, anchor="start"),
        description=(
            f"Heat map of {result.metric} over epsilon and theta: from {low:.3g} where both are 0 "
            f"to {high:.3g} where both are largest."
        ),
        width=_WIDTH,
        height=300,
    )


def verdicts(results: Sequence[MetricVerdict]) -> alt.TopLevelMixin:
    """Table 7: which metric assesses which risk, and whether its value can be read."""
    if not results:
        raise ParameterError("There is no verdict to draw.")
    rows = [
        {"metric": one.metric, "risk": risk, "verdict": verdict.value, "sign": verdict.sign}
        for one in results
        for risk, verdict in (
            ("re-identification", one.reidentification),
            ("inference", one.inference),
        )
    ]
    base = alt.Chart(_data(rows)).encode(
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
            "verdict:N",
            scale=alt.Scale(domain=list(_VERDICTS), range=list(_VERDICTS.values())),
            title=None,
        ),
        tooltip=["metric:N", "risk:N", "verdict:N"],
    )
    signs = base.mark_text(size=16, fontWeight="bold").encode(text="sign:N")
    said = "; ".join(
        f"{one.metric}: {one.reidentification.value} / {one.inference.value}" for one in results
    )
    return _finished(
        boxes + signs,
        title=alt.TitleParams("What each metric is good for", anchor="start"),
        description=f"Table of verdicts for re-identification / inference. {said}.",
        width=300,
        height=40 * len(results),
    )


def _data(rows: Sequence[dict[str, Any]]) -> Any:
    return alt.InlineData(values=list(rows))


def _finished(chart: Any, **properties: Any) -> alt.TopLevelMixin:
    """The chart with its title, description and size."""
    done: alt.TopLevelMixin = chart.properties(**properties)
    return done
