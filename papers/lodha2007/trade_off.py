"""The privacy-utility equation of lodha2007, section 5.2, and its Fig. 7."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from crypsis import Result
from crypsis.errors import ParameterError
from crypsis.utility import NormalizedError
from papers.charts import BLUE, GREY, inline_data, sized


class TradeOff(Result):
    """Privacy and utility of k-anonymous groups of n rows."""

    rows: int
    k: int
    privacy: float
    """1 - 1/k: the identity disclosure risk is below 1/k."""
    utility: float
    """1 - k^2/n^2."""

    @property
    def constant(self) -> float:
        """(1 - privacy)^2 (1 - utility), which is 1/n^2 for every k."""
        return (1 - self.privacy) ** 2 * (1 - self.utility)


def trade_off(rows: int, k: int) -> TradeOff:
    """The privacy-utility equation (1 - p)^2 (1 - u) = 1/n^2.

    >>> round(trade_off(1000, 10).constant * 1000**2, 9)
    1.0
    """
    if not 1 <= k <= rows:
        raise ParameterError(f"Parameter 'k' must be from 1 to {rows}; {k} was given.", parameter="k")
    return TradeOff(rows, k, 1 - 1 / k, 1 - (k / rows) ** 2)


def trade_off_chart(errors: Sequence[NormalizedError]) -> alt.TopLevelMixin:
    """Fig. 7 of lodha2007: normalized error by number of groups, with the curve 1/b^2."""
    if not errors:
        raise ParameterError("The chart needs at least one normalized error.")
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
    line = alt.Chart(inline_data(curve)).mark_line(color=GREY).encode(x=x, y=y)
    marks = alt.Chart(inline_data(points)).mark_point(filled=True, size=70, color=BLUE)
    return sized(
        alt.layer(line, marks.encode(x=x, y=y, tooltip=["groups:Q", "error:Q"])),
        "Fewer groups, more error: points measured, line 1/b\u00b2",
        "Normalized squared error against the number of groups, both on logarithmic scales, with "
        "the curve one over b squared that uniform values follow.",
        height=260,
    )
