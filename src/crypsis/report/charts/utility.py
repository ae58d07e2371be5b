"""Charts of what was lost: the trade-off of lodha2007's Fig. 7, and each column before and after.

Colours are those of Okabe and Ito (2008), which the colour-blind tell apart; shapes differ, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError

if TYPE_CHECKING:
    from crypsis.anonymize import WhatIf
    from crypsis.utility import Lost, NormalizedError

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#8C8C8C"
_WIDTH = 460


def trade_off(errors: Sequence[NormalizedError]) -> alt.TopLevelMixin:
    """Fig. 7 of lodha2007: normalized error by number of groups, with the curve 1/b^2."""
    if not errors:
        raise ParameterError("The trade-off needs at least one normalized error.")
    points = [{"groups": one.groups, "error": one.error} for one in errors if one.error > 0]
    most = max(one.groups for one in errors)
    steps = [max(1.0, most) ** (i / 100) for i in range(101)]
    curve = [{"groups": b, "error": 1 / b**2} for b in steps]
    x = alt.X("groups:Q", scale=alt.Scale(type="log"), title="groups (b)")
    y = alt.Y(
        "error:Q",
        scale=alt.Scale(type="log"),
        title="error, 1 for a single group",
        axis=alt.Axis(format="~e"),
    )
    line = alt.Chart(_data(curve)).mark_line(color=_GREY).encode(x=x, y=y)
    dots = (
        alt.Chart(_data(points))
        .mark_point(filled=True, size=70, color=_BLUE)
        .encode(x=x, y=y, tooltip=["groups:Q", "error:Q"])
    )
    return alt.layer(line, dots).properties(
        width=_WIDTH,
        height=260,
        title="Fewer groups, more error: points measured, line 1/b\u00b2",
        description=(
            "Normalized squared error against the number of groups, both on logarithmic scales, "
            "with the curve one over b squared that uniform values follow."
        ),
    )


def risk_and_loss(path: Sequence[WhatIf]) -> alt.TopLevelMixin:
    """What is lost against who is still in too small a crowd, step by step of a plan."""
    if not path:
        raise ParameterError("The curve needs at least one point.")
    k = path[0].k
    points = [
        {"step": i, "loss": one.loss, "below": one.share_below, "smallest": one.smallest}
        for i, one in enumerate(path)
    ]
    x = alt.X("loss:Q", title="variety lost", axis=alt.Axis(format="%"), scale=alt.Scale(zero=True))
    y = alt.Y(
        "below:Q", title=f"rows in crowds under {k}", axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, max(0.01, points[0]["below"])]),
    )  # fmt: skip
    base = alt.Chart(_data(points)).encode(x=x, y=y)
    line = base.mark_line(color=_GREY, interpolate="step-after")
    dots = base.mark_point(filled=True, size=70, color=_BLUE).encode(
        tooltip=[
            alt.Tooltip("loss:Q", format=".1%", title="variety lost"),
            alt.Tooltip("below:Q", format=".2%", title=f"rows in crowds under {k}"),
            alt.Tooltip("smallest:Q", title="smallest crowd"),
        ]
    )
    first, last = points[0], points[-1]
    return alt.layer(line, dots).properties(
        width=_WIDTH,
        height=220,
        title="What safety costs",
        description=(
            f"Share of rows in crowds of fewer than {k} against the share of variety lost, in "
            f"{len(points)} steps: from {first['below']:.1%} at {first['loss']:.1%} lost to "
            f"{last['below']:.1%} at {last['loss']:.1%} lost."
        ),
    )


def before_and_after(lost: Lost) -> alt.TopLevelMixin:
    """The information of each column, in bits, before and after."""
    rows = [
        {"column": one.column, "bits": bits, "when": when}
        for one in lost.columns
        for when, bits in (("before", one.entropy_before_bits), ("after", one.entropy_after_bits))
        if bits is not None
    ]
    if not rows:
        raise ParameterError("No column has few enough values to compare.")
    columns = list(dict.fromkeys(str(row["column"]) for row in rows))
    color = alt.Color(
        "when:N", scale=alt.Scale(domain=["before", "after"], range=[_GREY, _ORANGE]), title=None
    )
    y = alt.Y("column:N", sort=columns, title=None)
    x = alt.X("bits:Q", title="information (bits)", scale=alt.Scale(zero=True))
    base = alt.Chart(_data(rows))
    line = base.mark_line(color=_GREY).encode(x=x, y=y, detail="column:N")
    dots = base.mark_point(filled=True, size=80).encode(
        x=x,
        y=y,
        color=color,
        shape=alt.Shape("when:N", scale=alt.Scale(domain=["before", "after"]), title=None),
        tooltip=["column:N", "when:N", "bits:Q"],
    )
    return alt.layer(line, dots).properties(
        width=_WIDTH,
        title="What each column still tells",
        description="For each column the Shannon entropy in bits before and after anonymizing.",
    )


def _data(rows: Sequence[dict[str, Any]]) -> alt.Data:
    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]
