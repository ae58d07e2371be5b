"""Charts of linkage results (domingo2016, Figs. 1-3, and more).

Functions from results to Altair charts; the numbers are fields of the results. Colors are those of
Okabe and Ito for color-blind readers; series differ in shape or dash as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import altair as alt

from crypsis.report.charts.style import BLUE, DARK_GREY, ORANGE, SKY_BLUE, YELLOW
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.linkage import (
        Link,
        LinkAttack,
        NoiseDecomposition,
        NullComparison,
        PrivacyFrontier,
        SubsetLink,
    )

_ORIGINALS = "originals"
_NULL = "null distribution"
_THEORY = "closed form (independent columns)"
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2]]


def match_distances(comparison: NullComparison) -> alt.TopLevelMixin:
    """The match distances of originals and of the null distribution (Figs. 1, 2 and 3)."""
    rows: list[dict[str, Any]] = []
    for distance_bin in comparison.bins:
        series = {
            _ORIGINALS: distance_bin.originals,
            _NULL: distance_bin.random,
            _THEORY: distance_bin.closed_form,
        }
        rows += [
            {"distance": distance_bin.low, "to": distance_bin.high, "share": share, "series": name}
            for name, share in series.items()
            if share is not None
        ]
    names = [n for n in (_ORIGINALS, _NULL, _THEORY) if any(r["series"] == n for r in rows)]
    legend = alt.Legend(title=None, orient="top", labelLimit=260)
    base = _chart(rows).encode(
        x=alt.X("distance:Q", title="distance of the match, in ranks"),
        y=_share("share of records"),
        color=_split("series", names, [BLUE, ORANGE, DARK_GREY], legend=legend),
        tooltip=["series:N", "distance:Q", "to:Q", alt.Tooltip("share:Q", format=".3%")],
    )
    shapes = ["circle", "triangle-up", "diamond"]
    return _sized(
        alt.layer(
            base.mark_line().encode(strokeDash=_split("series", names, _DASHES, alt.StrokeDash, legend)),
            base.mark_point(filled=True, size=36).encode(
                shape=_split("series", names, shapes, alt.Shape, legend)
            ),
        ),
        f"Do originals match nearer than the null distribution? ({comparison.null})",
        f"Two curves over the match distance: the share of original records and of "
        f"{comparison.records:,} records of the null distribution ({comparison.null}) that match "
        f"at each distance. Their largest difference is {comparison.advantage.text('.3f')}, their "
        f"Hellinger distance {comparison.hellinger:.3f}.",
    )


def noise(noise_decompositions: Sequence[NoiseDecomposition]) -> alt.TopLevelMixin:
    """Noise E = Y - X and residual noise E' = Y - Z, in standard deviations of each column."""
    kinds = ["without permutation", "after permutation"]
    rows = [
        {
            "column": _name(noise_decomposition.column),
            "noise": kind,
            "size": value / noise_decomposition.standard_deviation,
        }
        for noise_decomposition in noise_decompositions
        if noise_decomposition.noise is not None
        and noise_decomposition.residual_noise is not None
        and noise_decomposition.standard_deviation
        for kind, value in zip(
            kinds, (noise_decomposition.noise, noise_decomposition.residual_noise), strict=True
        )
    ]
    chart = (
        _chart(rows)
        .mark_bar()
        .encode(
            y=_rows("column"),
            x=alt.X("size:Q", title="mean absolute noise, in standard deviations of the column"),
            yOffset=alt.YOffset("noise:N", sort=kinds),
            color=_split("noise", kinds, [ORANGE, BLUE]),
            tooltip=["column:N", "noise:N", alt.Tooltip("size:Q", format=".4f")],
        )
    )
    return _sized(
        chart,
        "How much noise remains after the permutation?",
        "For each column the mean absolute noise between original and masked values, and the "
        "residual noise after the permutation: "
        + _sentence(f"{row['column']} {row['noise']} {row['size']:.3f}" for row in rows),
        alt.Step(14),
    )


def column_distances(link: Link) -> alt.TopLevelMixin:
    """The permutation distance of each column, in the matches and to the own record."""
    kinds = ["in the matches", "to the own record"]
    rows = [
        {"column": _name(column.column), "distance": value, "which": which}
        for column in link.column_distances
        for which, value in zip(kinds, (column.matched, column.own), strict=True)
        if value is not None
    ]
    chart = (
        _chart(rows)
        .mark_point(filled=True, size=90)
        .encode(
            y=_rows("column"),
            x=alt.X("distance:Q", title="mean distance, in ranks"),
            color=_split("which", kinds, [BLUE, ORANGE]),
            shape=_split("which", kinds, ["circle", "square"], alt.Shape),
            tooltip=["column:N", "which:N", alt.Tooltip("distance:Q", format=",.1f")],
        )
    )
    text = f"Mean rank distance of each column. Least protected: {_name(link.least_protected)}."
    return _sized(chart, "Which column was permuted least?", text, alt.Step(22))


def links(link_results: Sequence[tuple[str, LinkAttack]]) -> alt.TopLevelMixin:
    """True, multiple and false matches of each kind of intruder."""
    kinds = ["true match", "multiple", "false match"]
    rows: list[dict[str, Any]] = []
    for name, link in link_results:
        numbers = (link.true_matches, link.multiple_matches, link.false_matches)
        rows += [
            {"intruder": name, "link": kind, "records": number, "order": order}
            for order, (kind, number) in enumerate(zip(kinds, numbers, strict=True))
            if number is not None and link.true_matches is not None
        ]
    chart = (
        _chart(rows)
        .mark_bar()
        .encode(
            y=_rows("intruder", 220),
            x=alt.X("records:Q", title="original records", stack="zero"),
            color=_split("link", kinds, [ORANGE, YELLOW, SKY_BLUE]),
            order="order:Q",
            tooltip=["intruder:N", "link:N", alt.Tooltip("records:Q", format=",")],
        )
    )
    text = _sentence(f"{r['intruder']}: {r['records']:,} {r['link']}" for r in rows)
    text = f"Original records by the result of their link: {text}"
    return _sized(chart, "How many links are correct?", text, alt.Step(30))


def subsets(subset_links: Sequence[SubsetLink], limit: int = 15) -> alt.TopLevelMixin:
    """The subsets of columns with the most correct links."""
    rows: list[dict[str, Any]] = [
        {"columns": ", ".join(map(_name, part.columns)), "share": float(part.correct_share)}
        for part in subset_links[:limit]
        if part.correct_share is not None
    ]
    chart = (
        _chart(rows)
        .mark_bar(color=BLUE)
        .encode(
            y=_rows("columns", 260),
            x=alt.X("share:Q", title="correct links", axis=alt.Axis(format="%")),
            tooltip=["columns:N", alt.Tooltip("share:Q", format=".2%")],
        )
    )
    text = _sentence(f"{row['columns']} {number_text(row['share'], '.2%')}" for row in rows[:5])
    text = f"Share of correct links on the subsets of columns with the most: {text}"
    return _sized(chart, "Which columns link most records?", text, alt.Step(18))


def frontier(privacy_frontier: PrivacyFrontier) -> alt.TopLevelMixin:
    """The share of records that moved a distance, at each diversity near them."""
    rows = [
        {"distance": p.distance, "diversity": f"{p.diversity:g}", "share": p.share}
        for p in privacy_frontier.points
    ]
    levels = [f"{level:g}" for level in sorted({p.diversity for p in privacy_frontier.points})]
    legend = alt.Legend(title=f"v: {privacy_frontier.criterion}", symbolType="stroke", symbolSize=300)
    scale = alt.Scale(scheme="viridis", domain=levels)
    title = "d: distance in every column, in ranks"
    chart = (
        _chart(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("distance:Q", title=title, scale=alt.Scale(type="symlog")),
            y=_share("share of records"),
            color=alt.Color("diversity:N", scale=scale, legend=legend),
            strokeDash=_split("diversity", levels, _DASHES, alt.StrokeDash, legend),
            tooltip=["distance:Q", "diversity:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    reached = max((point.distance for point in privacy_frontier.at(0.5)), default=0)
    return _sized(
        chart,
        "How many records meet (d, v)?",
        "Share of records by their distance in every column, one line per diversity. "
        f"Half of the records moved at least {reached:,} ranks in every column.",
    )


def _chart(rows: Sequence[dict[str, Any]]) -> Any:
    return alt.Chart(alt.InlineData(values=list(rows)))


def _rows(field: str, label_limit: int | None = None) -> Any:
    axis = alt.Undefined if label_limit is None else alt.Axis(labelLimit=label_limit)
    return alt.Y(f"{field}:N", title=None, sort=None, axis=axis)


def _share(title: str) -> Any:
    return alt.Y("share:Q", title=title, axis=alt.Axis(format="%"))


def _split(
    field: str, kinds: list[str], values: list[Any], channel: Any = alt.Color, legend: Any = None
) -> Any:
    """A channel that separates the kinds of a field by colors, shapes or dashes."""
    scale = alt.Scale(domain=kinds, range=values[: len(kinds)])
    legend = legend or alt.Legend(title=None, orient="top")
    return channel(f"{field}:N", sort=kinds, scale=scale, legend=legend)


def _sized(chart: Any, title: str, description: str, height: Any = 240) -> alt.TopLevelMixin:
    head = alt.TitleParams(title, anchor="start")
    sized = chart.properties(title=head, description=description, width=460, height=height)
    return cast(alt.TopLevelMixin, sized)


def _name(name: str, limit: int = 40) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _sentence(parts: Iterable[str], limit: int = 12) -> str:
    listed = list(parts)
    more = f"; and {len(listed) - limit} more" if len(listed) > limit else ""
    return "; ".join(listed[:limit]) + more + "."
