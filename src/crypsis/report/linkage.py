"""Linkage results on screen and on a page that stands alone."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis import __version__
from crypsis.report.html import _environment
from crypsis.report.terminal import shown

if TYPE_CHECKING:
    from crypsis.linkage import Assignment, Comparison, Link, SubjectView

_VERDICT_COLOURS = {"withstands": "green", "fails": "red", "cannot tell": "yellow"}
_SUBSETS_SHOWN = 8


def intruders(found: Comparison) -> list[tuple[str, Link | Assignment]]:
    """Each kind of intruder with what he found."""
    named = (
        ("nearest ranks", found.link),
        ("nearest values", found.link_by_values),
        ("one to one", found.assignment),
    )
    return [(name, link) for name, link in named if link is not None]


def comparison_view(found: Comparison, title: str, left_out: Sequence[str] = ()) -> RenderableType:
    """A comparison in the terminal."""
    check = found.verification
    parts: list[RenderableType] = [
        Text.assemble(
            (title, "bold"),
            f": {found.records:,} original and {found.masked_records:,} masked records, "
            f"{len(found.columns)} columns",
        ),
        "",
        Text.assemble(
            "Against an intruder who knows all originals, this masking ",
            (found.verdict, f"bold {_VERDICT_COLOURS[found.verdict]}"),
            " (by the paper's own test, which takes columns as independent: "
            f"{check.paper_verdict}).",
        ),
        *(Text(f"- {reason}") for reason in found.reasons),
        "",
        Text("Links", "bold"),
        _links(found),
        "",
        Text("Columns", "bold"),
        _columns(found),
    ]
    if found.subsets:
        parts += ["", Text("Columns that link best", "bold"), _subsets(found)]
    for view in (found.protector, found.subject):
        if view is not None:
            d = ", ".join(f"{value:g}" for value in view.d)
            v = ", ".join(f"{value:.4g}" for value in view.v)
            title = f"Permuted privacy by {view.criterion}, as the {view.mapping} sees it"
            parts += ["", Text(title, "bold")]
            parts.append(Text(f"{view.share:.1%} of the records meet d = ({d}), v = ({v})"))
            if view.share == 1 and not any(view.d):
                parts.append(Text("The worst record did not move; --d asks who moved further."))
    parts += ["", *(Text(f"Left out: {note}", "dim") for note in (*found.left_out, *left_out))]
    return Group(*parts)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(names):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    return table


def _links(found: Comparison) -> Table:
    table = _table("intruder", "correct", "multiple", "wrong", "right", "blind guess")
    for name, link in intruders(found):
        multiple = getattr(link, "multiple", 0)
        wrong = None if link.correct is None else link.records - link.correct - multiple
        right = "-" if link.right is None else f"{link.right.value:.2%}"
        table.add_row(
            name, _count(link.correct), _count(multiple), _count(wrong), right, f"{link.chance:.2%}"
        )
    return table


def _columns(found: Comparison) -> Table:
    table = _table("column", "rank correlation", "mean rank distance", "noise", "residual")
    steps = {step.column: step for step in found.steps}
    for column in found.link.column_distances:
        step = steps.get(column.column)
        numbers: tuple[float | None, ...] = (None, None, None)
        if step is not None:
            numbers = (step.rank_correlation, step.noise, step.residual)
        distance = column.matched if column.own is None else column.own
        table.add_row(
            shown(column.column, 30),
            _number(numbers[0]),
            f"{distance:,.1f}",
            _number(numbers[1]),
            _number(numbers[2]),
        )
    return table


def _subsets(found: Comparison) -> Table:
    table = _table("columns", "right", "mean distance")
    for part in found.subsets[:_SUBSETS_SHOWN]:
        names = Text(", ").join(shown(name, 30) for name in part.columns)
        right = "-" if part.right_share is None else f"{part.right_share:.2%}"
        table.add_row(names, right, f"{part.mean_distance:,.1f}")
    return table


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


@dataclass(frozen=True)
class _Figure:
    address: str
    description: str


def comparison_page(found: Comparison, title: str, left_out: Sequence[str] = ()) -> str:
    """A comparison as one HTML page: charts as pictures with a description, nothing fetched."""
    from crypsis.report.charts import linkage as charts

    check = found.verification
    drawn: dict[str, Any] = {
        "independent": charts.match_distances(check.independent),
        "columns": charts.column_distances(found.link),
    }
    if check.dependent is not None:
        drawn["dependent"] = charts.match_distances(check.dependent)
    if found.link.correct is not None:
        drawn["links"] = charts.links(intruders(found))
    if any(step.noise is not None for step in found.steps):
        drawn["noise"] = charts.noise(found.steps)
    if found.frontier is not None:
        drawn["frontier"] = charts.frontier(found.frontier)
    if found.subsets and found.subsets[0].right_share is not None:
        drawn["subsets"] = charts.subsets(found.subsets)
    return (
        _environment()
        .get_template("compare.html")
        .render(
            found=found,
            title=title,
            intruders=intruders(found),
            figures={name: _figure(chart) for name, chart in drawn.items()},
            left_out=(*found.left_out, *left_out),
            version=__version__,
        )
    )


def _figure(chart: Any) -> _Figure:
    import vl_convert

    # Room at the sides: the reader's font may be wider than the one the text was measured with.
    roomy = chart.properties(padding={"left": 28, "right": 48, "top": 5, "bottom": 5})
    picture = vl_convert.vegalite_to_svg(roomy.to_json())
    coded = base64.b64encode(picture.encode()).decode()
    return _Figure(f"data:image/svg+xml;base64,{coded}", chart.description)


def subject_screen(found: SubjectView, title: str, notes: Sequence[str] = ()) -> RenderableType:
    """What one person learns, in the terminal."""
    table = _table("column", "moved, ranks", f"{found.criterion} around", f"{found.criterion}, all")
    for column in found.columns:
        table.add_row(
            shown(column.column, 30),
            f"{column.distance:,.4g}",
            f"{column.diversity:.4g}",
            f"{column.whole:.4g}",
        )
    head = Text.assemble((title, "bold"), f": {found.records:,} records")
    lines = [Text(f"- {word}") for word in found.words]
    if found.plausible is None:
        lines.append(
            Text(
                "- Whether such a match is plausible as chance can be told only if the release is "
                "a permutation of the original values (--permutation-only).",
                "dim",
            )
        )
    return Group(head, "", *lines, "", table, *(Text(note, "dim") for note in notes))
