"""Charts of linkage results (domingo2016, Figs. 1-3, and what the figures leave out).

Functions from results to Altair charts; the numbers are fields of the results. Colours are those of
Okabe and Ito, which colour-blind readers tell apart; series differ in shape or dash as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import altair as alt

if TYPE_CHECKING:
    from crypsis.linkage import (
        Assignment,
        Frontier,
        Link,
        NullComparison,
        SubsetLink,
        TwoSteps,
    )

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7F7F7F"
_SKY, _YELLOW = "#56B4E9", "#E69F00"
_WIDTH, _HEIGHT = 460, 240
_ORIGINALS, _STRANGERS, _THEORY = "originals", "strangers", "closed form (independent columns)"


def match_distances(comparison: NullComparison) -> alt.TopLevelMixin:
    """The distances at which originals and strangers find their match (Figs. 1, 2 and 3)."""
    rows: list[dict[str, Any]] = []
    for row in comparison.rows:
        series = {_ORIGINALS: row.originals, _STRANGERS: row.random, _THEORY: row.closed_form}
        rows += [
            {"distance": row.low, "to": row.high, "share": share, "series": name}
            for name, share in series.items()
            if share is not None
        ]
    present = [
        name for name in (_ORIGINALS, _STRANGERS, _THEORY) if any(r["series"] == name for r in rows)
    ]
    colours = alt.Scale(domain=present, range=[BLUE, ORANGE, GREY][: len(present)])
    dashes = alt.Scale(domain=present, range=[[1, 0], [6, 3], [2, 2]][: len(present)])
    shapes = alt.Scale(domain=present, range=["circle", "triangle-up", "diamond"][: len(present)])
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("distance:Q", title="distance of the match, in ranks"),
        y=alt.Y("share:Q", title="share of records", axis=alt.Axis(format="%")),
        tooltip=[
            alt.Tooltip("series:N"),
            alt.Tooltip("distance:Q", title="from"),
            alt.Tooltip("to:Q"),
            alt.Tooltip("share:Q", format=".3%"),
        ],
    )
    legend = alt.Legend(title=None, orient="top", labelLimit=260)
    lines = base.mark_line().encode(
        color=alt.Color("series:N", scale=colours, legend=legend),
        strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=legend),
    )
    points = base.mark_point(filled=True, size=36).encode(
        color=alt.Color("series:N", scale=colours, legend=legend),
        shape=alt.Shape("series:N", scale=shapes, legend=legend),
    )
    return _sized(
        alt.layer(lines, points),
        f"Do originals match nearer than strangers? ({comparison.null})",
        f"Two curves over the match distance: the share of original records and of "
        f"{comparison.records:,} strangers ({comparison.null}) that match at each distance. "
        f"Their largest gap is {comparison.advantage.value:.3f}, their Hellinger distance "
        f"{comparison.hellinger:.3f}.",
    )


def noise(steps: Sequence[TwoSteps]) -> alt.TopLevelMixin:
    """Noise E = Y - X beside residual noise E' = Y - Z, in standard deviations of each column."""
    rows = [
        {"column": _name(step.column), "noise": what, "size": value / step.spread}
        for step in steps
        if step.noise is not None and step.residual is not None and step.spread
        for what, value in (
            ("without permutation", step.noise),
            ("after permutation", step.residual),
        )
    ]
    kinds = ["without permutation", "after permutation"]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            y=alt.Y("column:N", title=None, sort=None),
            x=alt.X("size:Q", title="mean absolute noise, in standard deviations of the column"),
            yOffset=alt.YOffset("noise:N", sort=kinds),
            color=alt.Color(
                "noise:N",
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=[ORANGE, BLUE]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            tooltip=["column:N", "noise:N", alt.Tooltip("size:Q", format=".4f")],
        )
    )
    return _sized(
        chart,
        "How much noise is left once the columns are permuted?",
        "For each column the mean absolute noise between original and masked values, and what is "
        "left of it after the permutation: "
        + _sentence(f"{row['column']} {row['noise']} {row['size']:.3f}" for row in rows),
        height=alt.Step(14),
    )


def column_distances(link: Link) -> alt.TopLevelMixin:
    """How far each column moved, in ranks: in the intruder's matches and in truth."""
    kinds = ["in the matches", "to the own record"]
    rows = [
        {"column": _name(column.column), "distance": value, "which": which}
        for column in link.column_distances
        for which, value in zip(kinds, (column.matched, column.own), strict=True)
        if value is not None
    ]
    chart = (
        alt.Chart(_data(rows))
        .mark_point(filled=True, size=90)
        .encode(
            y=alt.Y("column:N", title=None, sort=None),
            x=alt.X("distance:Q", title="mean distance, in ranks"),
            color=alt.Color(
                "which:N",
                scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            shape=alt.Shape("which:N", scale=alt.Scale(domain=kinds, range=["circle", "square"])),
            tooltip=["column:N", "which:N", alt.Tooltip("distance:Q", format=",.1f")],
        )
    )
    return _sized(
        chart,
        "Which column was permuted least?",
        f"Mean rank distance of each column. Least protected in the matches: "
        f"{_name(link.least_protected)}.",
        height=alt.Step(22),
    )


def links(found: Sequence[tuple[str, Link | Assignment]]) -> alt.TopLevelMixin:
    """How many links are right, for each kind of intruder (given with a name for each)."""
    rows = []
    for name, link in found:
        multiple = getattr(link, "multiple", 0)
        wrong = getattr(link, "wrong", None)
        if link.correct is None:
            continue
        wrong = link.records - link.correct if wrong is None else wrong
        for order, (what, number) in enumerate(
            (("correct", link.correct), ("multiple", multiple), ("wrong", wrong))
        ):
            rows.append({"intruder": name, "link": what, "records": number, "order": order})
    kinds = ["correct", "multiple", "wrong"]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            y=alt.Y("intruder:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            x=alt.X("records:Q", title="original records", stack="zero"),
            color=alt.Color(
                "link:N",
                scale=alt.Scale(domain=kinds, range=[ORANGE, _YELLOW, _SKY]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            order="order:Q",
            tooltip=["intruder:N", "link:N", alt.Tooltip("records:Q", format=",")],
        )
    )
    return _sized(
        chart,
        "How many links are right?",
        "Original records by how their link came out: "
        + _sentence(f"{r['intruder']}: {r['records']:,} {r['link']}" for r in rows),
        height=alt.Step(30),
    )


def subsets(found: Sequence[SubsetLink], most: int = 15) -> alt.TopLevelMixin:
    """The subsets of columns on which the intruder links best."""
    rows = [
        {"columns": ", ".join(map(_name, part.columns)), "share": part.right_share}
        for part in found[:most]
        if part.right_share is not None
    ]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(color=BLUE)
        .encode(
            y=alt.Y("columns:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X("share:Q", title="right links", axis=alt.Axis(format="%")),
            tooltip=["columns:N", alt.Tooltip("share:Q", format=".2%")],
        )
    )
    return _sized(
        chart,
        "Which columns give people away?",
        "Share of right links on the most telling subsets of columns: "
        + _sentence(f"{row['columns']} {row['share']:.2%}" for row in rows[:5]),
        height=alt.Step(18),
    )


def frontier(found: Frontier) -> alt.TopLevelMixin:
    """The share of records that moved a distance, at each diversity around them."""
    rows = [
        {"distance": p.distance, "diversity": f"{p.diversity:g}", "share": p.share}
        for p in found.points
    ]
    levels = [f"{level:g}" for level in sorted({p.diversity for p in found.points})]
    legend = alt.Legend(title=f"v: {found.criterion}", symbolType="stroke", symbolSize=300)
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2]]
    chart = (
        alt.Chart(_data(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "distance:Q",
                title="d: distance that every column moved, in ranks",
                scale=alt.Scale(type="symlog"),
            ),
            y=alt.Y("share:Q", title="share of records", axis=alt.Axis(format="%")),
            color=alt.Color(
                "diversity:N",
                scale=alt.Scale(scheme="viridis", domain=levels),
                legend=legend,
            ),
            strokeDash=alt.StrokeDash(
                "diversity:N",
                scale=alt.Scale(domain=levels, range=dashes[: len(levels)]),
                legend=legend,
            ),
            tooltip=["distance:Q", "diversity:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    reached = max((point.distance for point in found.at(0.5)), default=0)
    return _sized(
        chart,
        "How many records meet (d, v)?",
        "Share of records by the distance that all their columns moved, one line a diversity. "
        f"Half of the records moved at least {reached:,} ranks in every column.",
    )


def risk_utility(points: Sequence[dict[str, Any]], *, title: str) -> alt.TopLevelMixin:
    """Maskings by what they lose and what they still give away.

    Each point has `method`, `strength`, `order`, `loss` and `risk` (shares), and the `low` and
    `high` end of the risk's interval.
    """
    methods = list(dict.fromkeys(point["method"] for point in points))
    legend = alt.Legend(title=None, orient="top", columns=3, labelLimit=220)
    colours = [BLUE, ORANGE, GREEN, PURPLE, _YELLOW, GREY]
    shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
    colour = alt.Color(
        "method:N",
        scale=alt.Scale(domain=methods, range=colours[: len(methods)]),
        legend=legend,
    )
    base = alt.Chart(_data(points)).encode(
        x=alt.X("loss:Q", title="what is lost (mean change of correlations)"),
        color=colour,
        tooltip=[
            "method:N",
            "strength:N",
            alt.Tooltip("loss:Q", format=".4f"),
            alt.Tooltip("risk:Q", format=".2%"),
        ],
    )
    y = alt.Y("risk:Q", title="right links", axis=alt.Axis(format="%"))
    shape = alt.Shape(
        "method:N", scale=alt.Scale(domain=methods, range=shapes[: len(methods)]), legend=legend
    )
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(y=y, shape=shape)
    lines = base.mark_line(strokeWidth=1, opacity=0.5).encode(y=y, order="order:Q")
    spans = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q"), y2="high:Q")
    return _sized(
        alt.layer(lines, spans, marks),
        title,
        "Share of right links against loss: "
        + _sentence(
            f"{p['method']} {p['strength']}: {p['risk']:.1%} at {p['loss']:.3f}" for p in points
        ),
        height=320,
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


def _name(name: str, most: int = 40) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _sentence(parts: Iterable[str], most: int = 12) -> str:
    listed = list(parts)
    more = f"; and {len(listed) - most} more" if len(listed) > most else ""
    return "; ".join(listed[:most]) + more + "."
