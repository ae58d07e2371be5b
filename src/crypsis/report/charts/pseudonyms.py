"""Chart of an attack on pseudonyms: the items exposed most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError
from crypsis.report.charts.style import ORANGE

if TYPE_CHECKING:
    from crypsis.pseudonyms import Anonymity


def exposed_items(anonymity: Anonymity, *, reveal: bool = False) -> alt.TopLevelMixin:
    """The items exposed most, with the probability that each is cracked.

    Items appear by row number; their names only with `reveal=True`, for the owner.
    """
    if not anonymity.most_exposed:
        raise ParameterError(
            "No exposed items are listed: the belief has no truth, or the limit is 0.", hint="Set {truth}."
        )
    rows = [
        {
            "item": str(risk.item) if reveal and risk.item is not None else f"row {risk.position + 1}",
            "probability": risk.probability,
            "candidates": risk.candidates,
        }
        for risk in anonymity.most_exposed
    ]
    bars: Any = alt.Chart(alt.InlineData(values=rows)).mark_bar(color=ORANGE)
    chart: alt.Chart = bars.encode(
        y=alt.Y("item:N", sort=None, title=None),
        x=alt.X("probability:Q", scale=alt.Scale(domain=[0, 1]), title="probability of being cracked"),
        tooltip=["item:N", alt.Tooltip("probability:Q", format=".4f"), "candidates:Q"],
    )
    return chart.properties(
        title=alt.TitleParams(f"The {len(rows)} items exposed most, of {anonymity.size:,}", anchor="start"),
        description="Bars of the probability of being cracked for the "
        f"{len(rows)} items exposed most, from {rows[0]['probability']:.3f} down to "
        f"{rows[-1]['probability']:.3f}.",
        width=460,
        height=max(80, 18 * len(rows)),
    )
