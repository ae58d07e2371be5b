"""Charts of singling out: the test of lodha2007's Fig. 1, crowds, and risk by set of columns.

Colours are those of Okabe and Ito (2008), which the colour-blind tell apart; shapes differ, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError

if TYPE_CHECKING:
    from crypsis.singling_out import ColumnSet, Crowds, QuasiIdentifiers

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#8C8C8C"
_VERDICTS = {"publish": _BLUE, "suppress": _ORANGE}
_WIDTH = 460
_NAME_LIMIT = 300


def quasi_identifier_test(sets: Sequence[ColumnSet]) -> alt.TopLevelMixin:
    """Fig. 1 of lodha2007 with the release's own column sets on it.

    The curve is the largest expected share of unique people for D distinct values among n people;
    a point stands where the product of a set's domains puts it, and a tick where the tighter bound
    does.
    """
    shown = [one for one in sets if one.bound is not None]
    if not shown:
        raise ParameterError("The test of Fig. 1 needs a population; give its size.")
    points: list[dict[str, Any]] = [
        {
            "columns": ", ".join(one.columns),
            "ratio": one.domain_product / (one.population or 1),
            "bound": one.bound,
            "tighter": one.population_bound,
            "verdict": "publish" if one.publish else "suppress",
        }
        for one in shown
    ]
    low = min(-3.0, math.log10(min(point["ratio"] for point in points)) - 0.5)
    high = max(2.0, math.log10(max(point["ratio"] for point in points)) + 0.5)
    steps = [10 ** (low + (high - low) * i / 200) for i in range(201)]
    curve = [{"ratio": x, "share": x / math.e if x < 1 else math.exp(-1 / x)} for x in steps]
    x = alt.X(
        "ratio:Q",
        scale=alt.Scale(type="log"),
        title="distinct values over people (D/n)",
        axis=alt.Axis(format="~e"),
    )
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), title="largest expected share unique")
    line = alt.Chart(_data(curve)).mark_line(color=_GREY).encode(x=x, y=y)
    rule = alt.Chart(_data([{"share": shown[0].alpha}])).mark_rule(strokeDash=[4, 3]).encode(y=y)
    base = alt.Chart(_data(points)).encode(
        x="ratio:Q",
        color=_verdict_colour(),
        shape=alt.Shape("verdict:N", legend=None),
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
        height=280,
        title=alt.Title(
            "Can these columns single people out?",
            subtitle="points: all combinations possible; ticks: the tighter bound; dashed: alpha",
        ),
        description=(
            f"The quasi-identifier test of Lodha and Thomas for {len(shown)} sets of columns; "
            f"{sum(not one.publish for one in shown)} of them reach alpha {shown[0].alpha:g}."
        ),
    )


def class_sizes(crowds: Crowds) -> alt.TopLevelMixin:
    """How many people stand in crowds of 1, 2, 3-4, 5-9, ... people."""
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 1000, math.inf]
    rows: list[dict[str, Any]] = []
    pairs = list(zip(crowds.class_sizes, crowds.class_counts, strict=True))
    total = sum(size * count for size, count in pairs)
    for place, (first, beyond) in enumerate(pairwise(edges)):
        inside = [(size, count) for size, count in pairs if first <= size < beyond]
        people = sum(size * count for size, count in inside)
        rows.append(
            {
                "place": place,
                "crowd": _range(first, beyond),
                "share": people / total,
                "classes": sum(count for _, count in inside),
            }
        )
    bars = (
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            x=alt.X("crowd:N", sort=alt.EncodingSortField("place"), title="size of the crowd"),
            y=alt.Y("share:Q", axis=alt.Axis(format="%"), title=f"share of {crowds.unit}"),
            color=alt.condition("datum.place < 3", alt.value(_ORANGE), alt.value(_BLUE)),
            tooltip=["crowd:N", alt.Tooltip("share:Q", format=".2%"), "classes:Q"],
        )
    )
    alone = rows[0]["share"]
    return _finished(
        bars,
        height=240,
        title=alt.Title(
            "How large are the crowds?",
            subtitle=f"k = {crowds.k:,}; {alone:.1%} of {crowds.unit} stand alone",
        ),
        description=(
            f"Histogram of crowd sizes: {crowds.classes:,} crowds, the smallest of {crowds.k:,}, "
            f"{alone:.1%} of {crowds.unit} unique."
        ),
    )


def risk_by_column_set(
    sets: Sequence[ColumnSet] | QuasiIdentifiers, *, top: int = 20
) -> alt.TopLevelMixin:
    """The sets of columns that single out most, by the measure that decided."""
    listed: list[ColumnSet] = list(getattr(sets, "found", sets))  # type: ignore[arg-type]
    if top < 1 or not listed:
        raise ParameterError("Give at least one set of columns, and show at least one.")
    worst = sorted(listed, key=lambda one: -one.value)[:top]
    rows = [
        {
            "place": place,
            "columns": ", ".join(one.columns),
            "value": one.value,
            "verdict": "publish" if one.publish else "suppress",
        }
        for place, one in enumerate(worst)
    ]
    bars = (
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            y=alt.Y(
                "columns:N",
                sort=alt.EncodingSortField("place"),
                title=None,
                axis=alt.Axis(labelLimit=_NAME_LIMIT),
            ),
            x=alt.X(
                "value:Q",
                scale=alt.Scale(domain=[0, 1]),
                title=f"share unique ({worst[0].measure})",
            ),
            color=_verdict_colour(),
            tooltip=["columns:N", alt.Tooltip("value:Q", format=".4f"), "verdict:N"],
        )
    )
    rule = alt.Chart(_data([{"alpha": worst[0].alpha}])).mark_rule(strokeDash=[4, 3])
    return _finished(
        bars + rule.encode(x="alpha:Q"),
        title="Which columns single people out together?",
        description=(
            f"The {len(rows)} sets of columns with the largest share of unique people; the first, "
            f"{rows[0]['columns']}, has {worst[0].value:.1%}."
        ),
    )


def contributions(found: QuasiIdentifiers, *, top: int = 20) -> alt.TopLevelMixin:
    """What each column adds to the share of unique rows, averaged over all orders."""
    rows = [
        {"place": place, "column": share.column, "added": float(share.contribution)}
        for place, share in enumerate(found.ranking[:top])
    ]
    if not rows:
        raise ParameterError("There is no ranking: the search was stopped before it.")
    bars = (
        alt.Chart(_data(rows))
        .mark_bar(color=_BLUE)
        .encode(
            y=alt.Y("column:N", sort=alt.EncodingSortField("place"), title=None),
            x=alt.X("added:Q", title="added share of unique rows (Shapley value)"),
            tooltip=["column:N", alt.Tooltip("added:Q", format=".4f")],
        )
    )
    return _finished(
        bars,
        title="Which columns contribute most?",
        description=f"Columns by what they add to uniqueness; {rows[0]['column']} adds the most.",
    )


def _verdict_colour() -> alt.Color:
    return alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(_VERDICTS), range=list(_VERDICTS.values())),
        title=None,
    )


def _range(first: float, beyond: float) -> str:
    if beyond == math.inf:
        return f"{first:,.0f}+"
    return f"{first:.0f}" if beyond == first + 1 else f"{first:.0f}-{beyond - 1:.0f}"


def _data(rows: list[dict[str, Any]]) -> Any:
    return alt.InlineData(values=rows)


def _finished(chart: Any, **properties: Any) -> alt.TopLevelMixin:
    """The chart with its title, description and size."""
    done: alt.TopLevelMixin = chart.properties(width=_WIDTH, **properties)
    return done
