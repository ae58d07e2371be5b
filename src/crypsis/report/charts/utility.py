"""Charts of utility: risk and information loss of a plan, entropy of each column before and after.

The colors are those of Okabe and Ito (2008), which color-blind readers can distinguish; shapes
differ, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError
from crypsis.report.charts.style import BLUE, GREY, ORANGE, WIDTH
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.protection import PreviewOutcome
    from crypsis.utility import ColumnChanges


def risk_and_loss(path: Sequence[PreviewOutcome]) -> alt.TopLevelMixin:
    """Information loss and records in classes smaller than k, for each step of a plan."""
    if not path:
        raise ParameterError("The chart needs at least one step.")
    k = path[0].k
    points = [
        {"step": i, "loss": choice.loss, "below": choice.share_below, "smallest": choice.smallest}
        for i, choice in enumerate(path)
    ]
    x = alt.X("loss:Q", title="information loss (NCP)", axis=alt.Axis(format="%"), scale=alt.Scale(zero=True))
    y = alt.Y(
        "below:Q",
        title=f"records in classes smaller than {k}",
        axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, max(0.01, points[0]["below"])]),
    )
    base = alt.Chart(_data(points)).encode(x=x, y=y)
    line = base.mark_line(color=GREY, interpolate="step-after")
    dots = base.mark_point(filled=True, size=70, color=BLUE).encode(
        tooltip=[
            alt.Tooltip("loss:Q", format=".1%", title="information loss (NCP)"),
            alt.Tooltip("below:Q", format=".2%", title=f"records in classes smaller than {k}"),
            alt.Tooltip("smallest:Q", title="smallest class (k)"),
        ]
    )
    ends = [
        f"{number_text(point['below'], '.1%')} at a loss of {number_text(point['loss'], '.1%')}"
        for point in (points[0], points[-1])
    ]
    return alt.layer(line, dots).properties(
        width=WIDTH,
        height=220,
        title="Risk and information loss",
        description=(
            f"Share of records in classes smaller than {k} by information loss, in {len(points)} "
            f"steps: from {ends[0]} to {ends[1]}."
        ),
    )


def before_and_after(changes: ColumnChanges) -> alt.TopLevelMixin:
    """The entropy of each column in bits, before and after."""
    rows = [
        {"column": column.column, "bits": bits, "when": when}
        for column in changes.columns
        for when, bits in (("before", column.entropy_before_bits), ("after", column.entropy_after_bits))
        if bits is not None
    ]
    if not rows:
        raise ParameterError("All columns have too many values to compare.")
    columns = list(dict.fromkeys(str(row["column"]) for row in rows))
    below = alt.Legend(orient="bottom", title=None)
    color = alt.Color(
        "when:N", scale=alt.Scale(domain=["before", "after"], range=[GREY, ORANGE]), legend=below
    )
    y = alt.Y("column:N", sort=columns, title=None)
    x = alt.X("bits:Q", title="entropy (bits)", scale=alt.Scale(zero=True))
    base = alt.Chart(_data(rows))
    line = base.mark_line(color=GREY).encode(x=x, y=y, detail="column:N")
    dots = base.mark_point(filled=True, size=80).encode(
        x=x,
        y=y,
        color=color,
        shape=alt.Shape("when:N", scale=alt.Scale(domain=["before", "after"]), legend=below),
        tooltip=["column:N", "when:N", "bits:Q"],
    )
    return alt.layer(line, dots).properties(
        width=WIDTH,
        title="Entropy of each column",
        description="For each column the Shannon entropy in bits before and after anonymizing.",
    )


def _data(rows: Sequence[dict[str, Any]]) -> alt.Data:
    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]
