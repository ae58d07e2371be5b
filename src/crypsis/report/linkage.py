"""Linkage results in the terminal and as an HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis import __version__
from crypsis.report.html import page_environment
from crypsis.report.terminal import shown
from crypsis.results import Estimate, number_text

if TYPE_CHECKING:
    from crypsis.linkage import Comparison, RecordVerification

_VERDICT_COLORS = {"safe": "green", "not safe": "red", "cannot tell": "yellow"}
_SUBSETS_SHOWN = 8


def notes(found: Comparison | RecordVerification) -> list[str]:
    """The columns without ranks or ordered by frequency, and what was not computed."""
    suite = getattr(found, "suite", None)
    what = "was not compared" if suite is None else "has no ranks; the other intruders use it"
    excluded = [f"Column {one.column!r} {what}. {one.reason}" for one in found.excluded]
    ordered = [
        f"The categories of column {name!r} are ordered by frequency."
        for name in found.by_frequency
    ]
    paired = () if suite is None else suite.notes
    return [*paired, *excluded, *ordered, *getattr(found, "not_computed", ())]


def comparison_view(found: Comparison, title: str) -> RenderableType:
    """A comparison in the terminal."""
    parts: list[RenderableType] = [
        Text.assemble(
            (title, "bold"),
            f": {found.records:,} original and {found.masked_records:,} masked records, "
            f"{len(found.columns)} column{'' if len(found.columns) == 1 else 's'}",
        ),
        "",
        Text.assemble(
            "Against the maximum-knowledge intruder: ",
            (found.verdict, f"bold {_VERDICT_COLORS[found.verdict]}"),
            " (by the test of the paper, which assumes independent columns: "
            f"{found.verification.paper_verdict}).",
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
        parts += ["", Text("Subsets of columns with the most correct links", "bold")]
        parts.append(_subsets(found))
    for view in (found.protector, found.subject):
        if view is not None:
            d = ", ".join(f"{value:g}" for value in view.d)
            v = ", ".join(f"{value:.4g}" for value in view.v)
            heading = f"Permuted privacy by {view.criterion}, mapping of the {view.mapping}"
            parts += ["", Text(heading, "bold")]
            parts.append(
                Text(f"{number_text(view.share, '.1%')} of the records meet d = ({d}), v = ({v})")
            )
            if view.share == 1 and not any(view.d):
                parts.append(Text("The worst record did not move; a larger d shows how many did."))
    return Group(*parts, "", *(Text(note, "dim") for note in notes(found)))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(names):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    return table


def _links(found: Comparison) -> Table:
    confidence = next((one.confidence for _, link in found.intruders
                       if (one := link.correct_share) is not None), None)  # fmt: skip
    interval = "" if confidence is None else f" ({100 * confidence:.3g} % CI)"
    table = _table("intruder", f"correct links{interval}", "chance", "confident", "precision")
    for name, link in found.intruders:
        table.add_row(
            name,
            _share(link.correct_share),
            number_text(link.chance, ".2%"),
            _number(link.confident_links, ","),
            "-" if link.precision is None else number_text(link.precision.value, ".0%"),
        )
    return table


def _columns(found: Comparison) -> Table:
    table = _table("column", "rank correlation", "mean rank distance", "noise", "residual noise")
    noise = {one.column: one for one in found.noise}
    for column in found.link.column_distances:
        part = noise.get(column.column)
        distance = column.matched if column.own is None else column.own
        parts = (part.rank_correlation, part.noise, part.residual_noise) if part else (None,) * 3
        risk, *amounts = map(_number, parts)
        table.add_row(shown(column.column, 30), risk, f"{distance:,.1f}", *amounts)
    return table


def _subsets(found: Comparison) -> Table:
    table = _table("columns", "correct links", "mean distance")
    for part in found.subsets[:_SUBSETS_SHOWN]:
        names = Text(", ").join(shown(name, 30) for name in part.columns)
        table.add_row(names, _number(part.correct_share, ".2%"), f"{part.mean_distance:,.1f}")
    return table


def _share(value: Estimate | None) -> str:
    """A share with its interval, whose confidence is in the head of the column."""
    if value is None:
        return "-"
    share, low, high = (number_text(one, ".1%") for one in (value.value, value.low, value.high))
    return f"{share} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"


def _number(value: float | None, spec: str = ".4g") -> str:
    return "-" if value is None else number_text(value, spec)


def comparison_page(found: Comparison, title: str) -> str:
    """A comparison as one HTML page: charts as pictures with a description, nothing fetched."""
    from crypsis.report.charts import linkage as charts
    from crypsis.report.figures import figure

    check = found.verification
    drawn: dict[str, Any] = {
        "independent": charts.match_distances(check.independent),
        "columns": charts.column_distances(found.link),
    }
    if check.dependent is not None:
        drawn["dependent"] = charts.match_distances(check.dependent)
    if found.link.true_matches is not None:
        drawn["links"] = charts.links(found.intruders)
    if any(one.noise is not None for one in found.noise):
        drawn["noise"] = charts.noise(found.noise)
    if found.frontier is not None:
        drawn["frontier"] = charts.frontier(found.frontier)
    if found.subsets and found.subsets[0].correct_share is not None:
        drawn["subsets"] = charts.subsets(found.subsets)
    return (
        page_environment()
        .get_template("compare.html")
        .render(
            found=found,
            title=title,
            figures={name: figure(chart) for name, chart in drawn.items()},
            notes=notes(found),
            version=__version__,
        )
    )


def record_view(found: RecordVerification, title: str) -> RenderableType:
    """What a data subject learns, in the terminal."""
    criterion = found.criterion
    table = _table("column", "distance, ranks", f"{criterion} near it", f"{criterion} of column")
    for column in found.columns:
        numbers = (column.diversity, column.column_diversity)
        table.add_row(
            shown(column.column, 30), f"{column.distance:,.4g}", *(f"{one:.4g}" for one in numbers)
        )
    head = Text.assemble((title, "bold"), f": {found.records:,} records")
    lines = [Text(f"- {reason}") for reason in found.reasons]
    if found.plausible is None:
        text = (
            "- Whether such a match is plausible as chance is known only for releases that are a "
            "permutation of the original values."
        )
        lines.append(Text(text, "dim"))
    return Group(head, "", *lines, "", table, *(Text(note, "dim") for note in notes(found)))
