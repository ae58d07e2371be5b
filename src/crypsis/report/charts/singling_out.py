"""Charts of singling out: the quasi-identifier test, class sizes and uniqueness by column set.

The colors are those of Okabe and Ito (2008), which color-blind readers can distinguish; the shapes
differ, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError
from crypsis.report.charts.style import BLUE, GREY, ORANGE, WIDTH
from crypsis.results import number_text, percent_text

if TYPE_CHECKING:
    from crypsis.singling_out import ColumnSet, EquivalenceClasses, QuasiIdentifiers, Unicity


_DECISIONS = {"publish": BLUE, "suppress": ORANGE}
_MAX_LABEL_PIXELS = 300
"""Longer labels of an axis are cut."""


def quasi_identifier_test(sets: Sequence[ColumnSet]) -> alt.TopLevelMixin:
    """Fig. 1 of lodha2007 with column sets on it.

    The curve is the largest expected share of unique people for D distinct values and n people. A
    point is the bound by the product of a set's domains, a tick the tighter bound.
    """
    shown = [column_set for column_set in sets if column_set.bound is not None]
    if not shown:
        raise ParameterError("The quasi-identifier test needs a population.", hint="Set {population}.")
    points: list[dict[str, Any]] = [
        _point(column_set)
        | {
            "ratio": column_set.domain_product / (column_set.population or 1),
            "bound": column_set.bound,
            "tighter": column_set.population_bound,
        }
        for column_set in shown
    ]
    ratios = [math.log10(point["ratio"]) for point in points]
    low, high = min(-3.0, min(ratios) - 0.5), max(2.0, max(ratios) + 0.5)
    steps = [10 ** (low + (high - low) * i / 200) for i in range(201)]
    curve = [{"ratio": x, "share": x / math.e if x < 1 else math.exp(-1 / x)} for x in steps]
    x = alt.X(
        "ratio:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~e"),
        title="distinct values per person (D/n)",
    )
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), title="largest expected share unique")
    line = _chart(curve).mark_line(color=GREY).encode(x=x, y=y)
    rule = _chart([{"share": shown[0].alpha}]).mark_rule(strokeDash=[4, 3]).encode(y=y)
    base = _chart(points).encode(
        x="ratio:Q",
        color=_decision_color(),
        shape=alt.Shape("decision:N", legend=None),
        tooltip=[
            "columns:N",
            alt.Tooltip("bound:Q", format=".3g"),
            alt.Tooltip("tighter:Q", format=".3g", title="tighter bound"),
        ],
    )
    dots = base.mark_point(filled=True, size=70).encode(y="bound:Q")
    ticks = base.mark_tick(thickness=2, width=14).encode(y="tighter:Q")
    return _finished(
        line + rule + dots + ticks,
        "Can these columns single people out?",
        f"The quasi-identifier test of Lodha and Thomas for {len(shown)} sets of columns; "
        f"{sum(not column_set.publish for column_set in shown)} of them reach alpha {shown[0].alpha:g}.",
        subtitle="points: all combinations possible; ticks: the tighter bound; dashed: alpha",
        height=280,
    )


def class_sizes(classes: EquivalenceClasses) -> alt.TopLevelMixin:
    """The share of records in equivalence classes of 1, 2, 3-4, 5-9, ... records."""
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 1000, math.inf]
    counted = (classes.class_sizes, classes.class_counts, classes.unit_counts)
    sizes = list(zip(*counted, strict=True))
    rows: list[dict[str, Any]] = []
    for position, (first, beyond) in enumerate(pairwise(edges)):
        inside = [size for size in sizes if first <= size[0] < beyond]
        share = sum(units for _, _, units in inside) / classes.units
        number = sum(count for _, count, _ in inside)
        rows.append({"place": position, "size": _range(first, beyond), "share": share, "classes": number})
    bars = (
        _chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("size:N", sort=alt.EncodingSortField("place"), title="size of the class"),
            y=alt.Y("share:Q", axis=alt.Axis(format="%"), title=f"share of {classes.unit}"),
            color=alt.condition("datum.place < 3", alt.value(ORANGE), alt.value(BLUE)),
            tooltip=["size:N", alt.Tooltip("share:Q", format=".2%"), "classes:Q"],
        )
    )
    unique = f"{number_text(rows[0]['share'], '.1%')} of {classes.unit} are unique"
    return _finished(
        bars,
        "How large are the equivalence classes?",
        f"Histogram of class sizes: {classes.classes:,} equivalence classes, k = {classes.k:,}; {unique}.",
        subtitle=f"k-anonymity: k = {classes.k:,}; {unique}",
        height=240,
    )


def risk_by_column_set(sets: Sequence[ColumnSet] | QuasiIdentifiers, *, limit: int = 20) -> alt.TopLevelMixin:
    """The sets of columns with the largest share of unique people, by the measure that decided."""
    listed: list[ColumnSet] = list(getattr(sets, "found", sets))  # type: ignore[arg-type]
    if limit < 1 or not listed:
        raise ParameterError("The chart needs at least one set of columns.")
    worst = sorted(listed, key=lambda column_set: -column_set.value)[:limit]
    rows = [
        _point(column_set) | {"place": i, "value": column_set.value} for i, column_set in enumerate(worst)
    ]
    bars = (
        _chart(rows)
        .mark_bar()
        .encode(
            y=alt.Y(
                "columns:N",
                sort=alt.EncodingSortField("place"),
                title=None,
                axis=alt.Axis(labelLimit=_MAX_LABEL_PIXELS),
            ),
            x=alt.X("value:Q", scale=alt.Scale(domain=[0, 1]), title=f"share unique ({worst[0].measure})"),
            color=_decision_color(),
            tooltip=["columns:N", alt.Tooltip("value:Q", format=".4f"), "decision:N"],
        )
    )
    rule = _chart([{"alpha": worst[0].alpha}]).mark_rule(strokeDash=[4, 3])
    return _finished(
        bars + rule.encode(x="alpha:Q"),
        "Which columns single people out together?",
        f"The {len(rows)} sets of columns with the largest share of unique people; the first, "
        f"{rows[0]['columns']}, has {number_text(worst[0].value, '.1%')}.",
    )


def contributions(quasi_identifiers: QuasiIdentifiers, *, limit: int = 20) -> alt.TopLevelMixin:
    """What each column adds to the share of unique records, averaged over all orders."""
    rows = [
        {"place": position, "column": share.column, "added": float(share.contribution)}
        for position, share in enumerate(quasi_identifiers.ranking[:limit])
    ]
    if not rows:
        raise ParameterError("There is no ranking: the search was interrupted.")
    bars = (
        _chart(rows)
        .mark_bar(color=BLUE)
        .encode(
            y=alt.Y("column:N", sort=alt.EncodingSortField("place"), title=None),
            x=alt.X("added:Q", title="added share of unique records (Shapley value)"),
            tooltip=["column:N", alt.Tooltip("added:Q", format=".4f")],
        )
    )
    return _finished(
        bars,
        "Which columns contribute most?",
        f"Columns by what they add to uniqueness; {rows[0]['column']} adds the most.",
    )


def unicity_curve(unicity: Unicity, *, limit: tuple[int, float] | None = None) -> alt.TopLevelMixin:
    """The share of people whom known records single out, by their number; a limit as a line."""
    rows = [
        {
            "events": many,
            "share": float(share),
            "low": getattr(share, "low", float(share)),
            "high": getattr(share, "high", float(share)),
        }
        for many, share in zip(unicity.events, unicity.curve, strict=True)
    ]
    x = alt.X("events:O", title="known records of a person", axis=alt.Axis(labelAngle=0))
    line = (
        _chart(rows)
        .mark_line(point=True, color=BLUE)
        .encode(
            x=x,
            y=alt.Y(
                "share:Q",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%"),
                title="people singled out",
            ),
            tooltip=[
                "events:O",
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("low:Q", format=".1%"),
                alt.Tooltip("high:Q", format=".1%"),
            ],
        )
    )
    chart = line + _chart(rows).mark_rule(color=BLUE, opacity=0.5).encode(x=x, y="low:Q", y2="high:Q")
    if limit is not None:
        rule = _chart([{"limit": limit[1]}]).mark_rule(color=ORANGE, strokeDash=[4, 3])
        chart += rule.encode(y="limit:Q")
    last = unicity.events[-1]
    said = ", ".join(
        f"{many} {'record' if many == 1 else 'records'} {percent_text(share)}"
        for many, share in zip(unicity.events, unicity.curve, strict=True)
    )
    return _finished(
        chart,
        "How many known records single a person out?",
        f"The share of {unicity.people:,} people whom 1 to {last} known records single out: {said}.",
        height=240,
    )


def _point(column_set: ColumnSet) -> dict[str, Any]:
    decision = "publish" if column_set.publish else "suppress"
    return {"columns": ", ".join(column_set.columns), "decision": decision}


def _decision_color() -> alt.Color:
    scale = alt.Scale(domain=list(_DECISIONS), range=list(_DECISIONS.values()))
    below = alt.Legend(orient="bottom", title=None)  # beside the bars it would narrow them
    return alt.Color("decision:N", scale=scale, legend=below)


def _range(first: float, beyond: float) -> str:
    if beyond == math.inf:
        return f"{first:,.0f}+"
    return f"{first:.0f}" if beyond == first + 1 else f"{first:.0f}-{beyond - 1:.0f}"


def _chart(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _finished(
    chart: Any, title: str, description: str, *, subtitle: str | None = None, **size: int
) -> alt.TopLevelMixin:
    """The chart with its title, description and size."""
    shown = title if subtitle is None else alt.Title(title, subtitle=subtitle)
    done: alt.TopLevelMixin = chart.properties(width=WIDTH, title=shown, description=description, **size)
    return done
