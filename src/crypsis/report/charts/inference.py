"""Charts of leakage: the risk by equivalence class, and what each column adds.

Colors are those of Okabe and Ito (2008), which color-blind readers can distinguish. Values of the
data appear only with `reveal=True`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from crypsis.errors import ParameterError
from crypsis.report.charts.style import BLUE, GREY, ORANGE, WIDTH
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.inference import ClassRisk, Leakage


_KINDS = ("alone", "in addition to the others")


def risk_by_class(leakage: Leakage, *, limit: int = 20, reveal: bool = False) -> alt.TopLevelMixin:
    """The riskiest classes: the probability of the best guess in each, and without the columns."""
    if limit < 1:
        raise ParameterError(f"Parameter 'limit' must be at least 1; {limit} was given.", parameter="limit")
    guess = leakage.best_guess
    rows = [
        {
            "place": position,
            "class": _label(position, class_risk, reveal),
            "size": class_risk.group.size,
            "best_guess": class_risk.best_guess,
        }
        for position, class_risk in enumerate(leakage.first(limit), 1)
    ]
    bars = (
        alt.Chart(_data(rows))
        .mark_bar(color=ORANGE)
        .encode(
            y=alt.Y(
                "class:N", sort=alt.EncodingSortField("place"), title=None, axis=alt.Axis(labelLimit=260)
            ),
            x=alt.X("best_guess:Q", scale=alt.Scale(domain=[0, 1]), title="probability of the best guess"),
            tooltip=["class:N", "size:Q", alt.Tooltip("best_guess:Q", format=".3f")],
        )
    )
    sizes = bars.mark_text(align="left", dx=4, color="#333333").encode(text=alt.Text("size:Q", format=",d"))
    prior = (
        alt.Chart(_data([{"prior": guess.prior}]))
        .mark_rule(color=BLUE, strokeDash=[6, 3], size=2)
        .encode(x="prior:Q")
    )
    classes = f"{len(rows)} of {number_text(leakage.classes, ',')} equivalence classes"
    counted = "" if leakage.complete else f" of the {leakage.classes_counted:,} counted"
    title = alt.TitleParams(
        f"Where {leakage.target} can be inferred from {', '.join(leakage.given)}",
        subtitle=[
            f"{classes}, the riskiest{counted} first; the number is the class size;",
            f"the dashed line the best guess without these columns ({guess.prior:.3g})",
        ],
        anchor="start",
    )
    description = (
        f"Bar chart of {classes}. In the worst the best guess is right with probability "
        f"{number_text(guess.worst, '.3g')}, on average {number_text(guess.average, '.3g')}, "
        f"without the given columns {guess.prior:.3g}."
    )
    return _finished(bars + sizes + prior, title=title, description=description, width=WIDTH)


def _label(position: int, class_risk: ClassRisk, reveal: bool) -> str:
    if not reveal:
        return f"class {position}"
    values_text = ", ".join(map(str, class_risk.group.values))
    return values_text if class_risk.guess is None else f"{values_text}: {class_risk.guess}"


def contributions(leakage: Leakage) -> alt.TopLevelMixin:
    """What each given column reveals alone, and what it adds to the others."""
    rows = [
        {"column": contribution.column, "kind": kind, "bits": bits}
        for contribution in leakage.contributions
        for kind, bits in zip(_KINDS, (contribution.alone_bits, contribution.added_bits), strict=True)
    ]
    first = leakage.contributions[0]
    bars = (
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            y=alt.Y(
                "column:N", sort=[contribution.column for contribution in leakage.contributions], title=None
            ),
            x=alt.X("bits:Q", title=f"bits about {leakage.target}"),
            yOffset=alt.YOffset("kind:N", sort=list(_KINDS)),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=list(_KINDS), range=[GREY, ORANGE]),
                title=None,
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=["column:N", "kind:N", alt.Tooltip("bits:Q", format=".4f")],
        )
    )
    return _finished(
        bars,
        title=alt.TitleParams(f"What each column reveals about {leakage.target}", anchor="start"),
        description=(
            f"Bar chart of the information each given column has about {leakage.target}, alone and "
            f"in addition to the others. {first.column} adds the most: {first.added_bits:.3g} bits."
        ),
        width=WIDTH,
    )


def _data(rows: Sequence[dict[str, Any]]) -> Any:
    return alt.InlineData(values=list(rows))


def _finished(chart: Any, **properties: Any) -> alt.TopLevelMixin:
    """The chart with its title, description and size."""
    done: alt.TopLevelMixin = chart.properties(**properties)
    return done
