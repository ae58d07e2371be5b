"""Charts of the papers: attack graphs, matrices, curves, and times next to the paper's.

Plain numbers to Altair charts. Colors are those of Okabe and Ito, which color-blind readers can
distinguish; series differ in shape or dash as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#7F7F7F"
_WIDTH, _HEIGHT = 460, 280
Points = Sequence[tuple[float, float]]


def graphs(
    panels: Sequence[tuple[str, ArrayLike]],
    items: Sequence[str],
    pseudonyms: Sequence[str],
    *,
    title: str,
    truth: Sequence[int] | None = None,
) -> alt.TopLevelMixin:
    """Bipartite graphs side by side: items left, pseudonyms right, the truth in thick lines."""
    drawn = [_graph(name, np.asarray(matrix), items, pseudonyms, truth) for name, matrix in panels]
    edges = [int((np.asarray(matrix) != 0).sum()) for _, matrix in panels]
    return cast(
        alt.TopLevelMixin,
        alt.hconcat(*drawn).properties(
            title=alt.TitleParams(title, anchor="start"),
            description=f"Bipartite graphs of {len(items)} items and as many pseudonyms with "
            f"{' and '.join(map(str, edges))} edges.",
        ),
    )


def _graph(
    name: str, matrix: Any, items: Sequence[str], pseudonyms: Sequence[str], truth: Sequence[int] | None
) -> Any:
    lines = [
        {
            "edge": f"{i}-{j}",
            "x": side,
            "y": -float(i if side == 0 else j),
            "kind": "truth" if truth is not None and truth[i] == j else "possible",
        }
        for i, j in zip(*np.nonzero(matrix), strict=True)
        for side in (0, 1)
    ]
    ends = [
        *({"x": 0, "y": -float(i), "name": str(one)} for i, one in enumerate(items)),
        *({"x": 1, "y": -float(j), "name": str(one)} for j, one in enumerate(pseudonyms)),
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.45, 1.25]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-len(items) + 0.6, 0.4]))
    width = alt.Size("kind:N", scale=alt.Scale(domain=["truth", "possible"], range=[4, 1.5]), legend=None)
    edges = alt.Chart(inline_data(lines)).mark_line(color=BLUE).encode(x=x, y=y, detail="edge:N", size=width)
    dots = alt.Chart(inline_data(ends)).mark_point(filled=True, size=80, color="black").encode(x=x, y=y)
    texts = alt.Chart(inline_data(ends)).encode(x=x, y=y, text="name:N")
    left = texts.transform_filter("datum.x == 0").mark_text(align="right", dx=-10, fontSize=13)
    right = texts.transform_filter("datum.x == 1").mark_text(align="left", dx=10, fontSize=13)
    return alt.layer(edges, dots, left, right).properties(
        width=280, height=50 * len(items), title=alt.TitleParams(name, fontWeight="normal")
    )


def matrix(cells: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, title: str) -> alt.TopLevelMixin:
    """A small matrix as a heat map with its numbers."""
    values = np.asarray(cells, float)
    data = [
        {
            "row": row,
            "column": column,
            "value": float(values[i, j]),
            "text": f"{values[i, j]:.3g}",
            "dark": bool(values[i, j] > 0.6 * values.max()),
        }
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    base = alt.Chart(inline_data(data)).encode(
        x=alt.X(
            "column:N",
            sort=list(columns),
            title=None,
            axis=alt.Axis(orient="top", labelAngle=0, labelFontSize=13),
        ),
        y=alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(labelFontSize=13)),
    )
    boxes = base.mark_rect(stroke="white").encode(
        color=alt.Color("value:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), legend=None)
    )
    texts = base.mark_text(fontSize=13).encode(
        text="text:N", color=alt.condition("datum.dark", alt.value("white"), alt.value("black"))
    )
    return sized(
        boxes + texts,
        title,
        f"A {len(rows)} by {len(columns)} matrix with its numbers.",
        width=70 * len(columns),
        height=46 * len(rows),
    )


def matching_weights(weights: Sequence[float], *, title: str) -> alt.TopLevelMixin:
    """The probability of each feasible matching, with the even share as a line."""
    rows = [{"matching": i, "probability": w} for i, w in enumerate(weights, 1)]
    even = 1 / len(weights)
    bars = (
        alt.Chart(inline_data(rows))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X(
                "matching:O",
                title="feasible matchings, the least probable first",
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y("probability:Q", title="probability of being the truth"),
        )
    )
    line = (
        alt.Chart(inline_data([{"even": even, "text": f"even: 1/{len(weights)}"}]))
        .mark_rule(color=ORANGE, strokeDash=[6, 3], size=2)
        .encode(y="even:Q")
    )
    name = line.mark_text(align="left", x=6, dy=-8, color=ORANGE).encode(text="text:N")
    return sized(
        bars + line + name,
        title,
        f"Bars from {weights[0]:.3f} to {weights[-1]:.3f}; even would be {even:.3f}.",
    )


def curve(
    points: Points, x_title: str, y_title: str, *, title: str, marks: Sequence[tuple[str, float, float]] = ()
) -> alt.TopLevelMixin:
    """A curve with some of its points named."""
    line = (
        alt.Chart(inline_data([{"x": x, "y": y} for x, y in points]))
        .mark_line(color=BLUE, size=2.5)
        .encode(x=alt.X("x:Q", title=x_title), y=alt.Y("y:Q", title=y_title))
    )
    named = alt.Chart(inline_data([{"x": x, "y": y, "name": name} for name, x, y in marks]))
    dots = named.mark_point(filled=True, size=70, color=ORANGE).encode(x="x:Q", y="y:Q")
    names = named.mark_text(align="left", dx=10, dy=6, fontSize=12).encode(x="x:Q", y="y:Q", text="name:N")
    return sized(
        line + dots + names,
        title,
        f"{y_title} over {x_title}; marked: " + ", ".join(name for name, _, _ in marks) + ".",
    )


def scaling(ours: Points, paper: Points, *, title: str) -> alt.TopLevelMixin:
    """Times over rows, both on logarithmic scales, ours and the paper's."""
    x = alt.X("x:Q", scale=alt.Scale(type="log"), title="rows", axis=alt.Axis(format="~s"))
    y = alt.Y("y:Q", scale=alt.Scale(type="log"), title="seconds", axis=alt.Axis(format="~g"))
    return _two_lines(ours, paper, x, y, title)


def times(ours: Points, paper: Points, what: str, *, title: str) -> alt.TopLevelMixin:
    """Times over something: the paper's above, ours below, each on a scale of its own from 0."""
    panels = [
        alt.Chart(inline_data([{"x": float(at), "y": float(value)} for at, value in points]))
        .mark_line(color=colour, size=2, point=alt.OverlayMarkDef(size=50, color=colour))
        .encode(
            x=alt.X("x:Q", title=what, axis=alt.Axis(format="~s"), scale=alt.Scale(zero=True)),
            y=alt.Y("y:Q", title="seconds", scale=alt.Scale(zero=True)),
        )
        .properties(width=_WIDTH, height=150, title=alt.TitleParams(name, fontWeight="normal"))
        for name, points, colour in (("the paper", paper, GREY), ("this machine", ours, BLUE))
    ]
    return cast(
        alt.TopLevelMixin,
        alt.vconcat(*panels).properties(
            title=alt.TitleParams(title, anchor="start"),
            description=f"Seconds by {what}: the paper's end at {paper[-1][1]:g} s, ours at "
            f"{ours[-1][1]:.2g} s.",
        ),
    )


def _two_lines(ours: Points, paper: Points, x: alt.X, y: alt.Y, title: str) -> alt.TopLevelMixin:
    names = ["this machine", "the paper"]
    rows = [
        {"x": float(at), "y": float(value), "whose": name}
        for name, points in zip(names, (ours, paper), strict=True)
        for at, value in points
    ]
    legend = alt.Legend(title=None, orient="top", symbolSize=120)
    base = alt.Chart(inline_data(rows)).encode(
        x=x, y=y, color=alt.Color("whose:N", scale=alt.Scale(domain=names, range=[BLUE, GREY]), legend=legend)
    )
    lines = base.mark_line(size=2).encode(
        strokeDash=alt.StrokeDash(
            "whose:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 4]]), legend=None
        )
    )
    dots = base.mark_point(filled=True, size=60)
    last = f"{ours[-1][1]:.2g} s at {ours[-1][0]:,.0f}"
    return sized(
        lines + dots,
        title,
        f"Two lines of seconds; ours ends with {last}, the paper's "
        f"with {paper[-1][1]:g} s at {paper[-1][0]:,.0f}.",
    )


def titled(chart: Any, text: str) -> Any:
    """A chart with another title."""
    return chart.properties(title=alt.TitleParams(text, anchor="start"))


def sized(
    chart: Any, title: str, description: str, *, width: int = _WIDTH, height: int = _HEIGHT
) -> alt.TopLevelMixin:
    """A chart with its title, its description and its size."""
    framed = chart.properties(
        title=alt.TitleParams(title, anchor="start"), description=description, width=width, height=height
    )
    return cast(alt.TopLevelMixin, framed)


def inline_data(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    return alt.InlineData(values=list(rows))
