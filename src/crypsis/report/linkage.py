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
_SHOWN_SUBSETS = 8
"""So many subsets of columns are shown."""


def notes(result: Comparison | RecordVerification) -> list[str]:
    """The columns without ranks or ordered by frequency, and what was not computed."""
    suite = getattr(result, "suite", None)
    what = "was not compared" if suite is None else "has no ranks; the other intruders use it"
    excluded = [f"Column {column.column!r} {what}. {column.reason}" for column in result.excluded]
    ordered = [f"The categories of column {name!r} are ordered by frequency." for name in result.by_frequency]
    paired = () if suite is None else suite.notes
    return [*paired, *excluded, *ordered, *getattr(result, "not_computed", ())]


def comparison_view(comparison: Comparison, title: str) -> RenderableType:
    """A comparison in the terminal."""
    parts: list[RenderableType] = [
        Text.assemble(
            (title, "bold"),
            f": {comparison.records:,} original and {comparison.masked_records:,} masked records, "
            f"{len(comparison.columns)} column{'' if len(comparison.columns) == 1 else 's'}",
        ),
        "",
        Text.assemble(
            "Against the maximum-knowledge intruder: ",
            (comparison.verdict, f"bold {_VERDICT_COLORS[comparison.verdict]}"),
            " (by the test of the paper, which assumes independent columns: "
            f"{comparison.verification.paper_verdict}).",
        ),
        *(Text(f"- {reason}") for reason in comparison.reasons),
        "",
        Text("Links", "bold"),
        _links(comparison),
        "",
        Text("Columns", "bold"),
        _columns(comparison),
    ]
    if comparison.subsets:
        parts += ["", Text("Subsets of columns with the most correct links", "bold")]
        parts.append(_subsets(comparison))
    for view in (comparison.protector, comparison.subject):
        if view is not None:
            d = ", ".join(f"{value:g}" for value in view.d)
            v = ", ".join(f"{value:.4g}" for value in view.v)
            heading = f"Permuted privacy by {view.criterion}, mapping of the {view.mapping}"
            parts += ["", Text(heading, "bold")]
            parts.append(Text(f"{number_text(view.share, '.1%')} of the records meet d = ({d}), v = ({v})"))
            if view.share == 1 and not any(view.d):
                parts.append(Text("The worst record did not move; a larger d shows how many did."))
    return Group(*parts, "", *(Text(note, "dim") for note in notes(comparison)))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(names):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    return table


def _links(comparison: Comparison) -> Table:
    confidence = next(
        (
            estimate.confidence
            for _, link in comparison.intruders
            if (estimate := link.correct_share) is not None
        ),
        None,
    )
    interval = "" if confidence is None else f" ({100 * confidence:.3g} % CI)"
    table = _table("intruder", f"correct links{interval}", "chance", "confident", "precision")
    for name, link in comparison.intruders:
        table.add_row(
            name,
            _share(link.correct_share),
            number_text(link.chance, ".2%"),
            _number(link.confident_links, ","),
            "-" if link.precision is None else number_text(link.precision.value, ".0%"),
        )
    return table


def _columns(comparison: Comparison) -> Table:
    table = _table("column", "rank correlation", "mean rank distance", "noise", "residual noise")
    noise = {column_noise.column: column_noise for column_noise in comparison.noise}
    for column in comparison.link.column_distances:
        part = noise.get(column.column)
        distance = column.matched if column.own is None else column.own
        parts = (part.rank_correlation, part.noise, part.residual_noise) if part else (None,) * 3
        risk, *amounts = map(_number, parts)
        table.add_row(shown(column.column, 30), risk, f"{distance:,.1f}", *amounts)
    return table


def _subsets(comparison: Comparison) -> Table:
    table = _table("columns", "correct links", "mean distance")
    for part in comparison.subsets[:_SHOWN_SUBSETS]:
        names = Text(", ").join(shown(name, 30) for name in part.columns)
        table.add_row(names, _number(part.correct_share, ".2%"), f"{part.mean_distance:,.1f}")
    return table


def _share(value: Estimate | None) -> str:
    """A share with its interval, whose confidence is in the head of the column."""
    if value is None:
        return "-"
    share, low, high = (
        number_text(share_value, ".1%") for share_value in (value.value, value.low, value.high)
    )
    return f"{share} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"


def _number(value: float | None, spec: str = ".4g") -> str:
    return "-" if value is None else number_text(value, spec)


def comparison_page(comparison: Comparison, title: str) -> str:
    """A comparison as one HTML page: charts as pictures with a description, nothing fetched."""
    from crypsis.report.charts import linkage as charts
    from crypsis.report.figures import figure

    check = comparison.verification
    drawn: dict[str, Any] = {
        "independent": charts.match_distances(check.independent),
        "columns": charts.column_distances(comparison.link),
    }
    if check.dependent is not None:
        drawn["dependent"] = charts.match_distances(check.dependent)
    if comparison.link.true_matches is not None:
        drawn["links"] = charts.links(comparison.intruders)
    if any(column_noise.noise is not None for column_noise in comparison.noise):
        drawn["noise"] = charts.noise(comparison.noise)
    if comparison.frontier is not None:
        drawn["frontier"] = charts.frontier(comparison.frontier)
    if comparison.subsets and comparison.subsets[0].correct_share is not None:
        drawn["subsets"] = charts.subsets(comparison.subsets)
    return (
        page_environment()
        .get_template("compare.html")
        .render(
            found=comparison,
            title=title,
            figures={name: figure(chart) for name, chart in drawn.items()},
            notes=notes(comparison),
            version=__version__,
        )
    )


def record_view(record_verification: RecordVerification, title: str) -> RenderableType:
    """What a data subject learns, in the terminal."""
    criterion = record_verification.criterion
    table = _table("column", "distance, ranks", f"{criterion} near it", f"{criterion} of column")
    for column in record_verification.columns:
        numbers = (column.diversity, column.column_diversity)
        table.add_row(
            shown(column.column, 30), f"{column.distance:,.4g}", *(f"{number:.4g}" for number in numbers)
        )
    head = Text.assemble((title, "bold"), f": {record_verification.records:,} records")
    lines = [Text(f"- {reason}") for reason in record_verification.reasons]
    if record_verification.plausible is None:
        text = (
            "- Whether such a match is plausible as chance is known only for releases that are a "
            "permutation of the original values."
        )
        lines.append(Text(text, "dim"))
    return Group(head, "", *lines, "", table, *(Text(note, "dim") for note in notes(record_verification)))
