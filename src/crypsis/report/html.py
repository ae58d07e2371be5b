"""Self-contained pages: everything from the data is escaped, nothing is fetched."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from crypsis import __version__
from crypsis.policies.assessed import AssessmentData
from crypsis.report import wording
from crypsis.results import number_text, without_control

if TYPE_CHECKING:
    from crypsis.columns.profile import Profile


def page_environment() -> Environment:
    """The templates, with everything from the data escaped."""
    environment = Environment(
        loader=PackageLoader("crypsis.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: without_control(value) if isinstance(value, str) else value,
    )
    environment.filters["count"] = lambda value: number_text(value, ",")
    environment.filters["percent"] = lambda share: f"{100 * share:.1f} %"
    return environment


def scan_page(profile: Profile, source: str) -> str:
    """The scan of a dataset as one HTML page."""
    template = page_environment().get_template("scan.html")
    return template.render(profile=profile, source=source, version=__version__)


def assessment_fragment(assessment: AssessmentData) -> str:
    """The verdict and the findings as a small table, for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(wording.STATUSES[finding.status])}</td><td>{escape(finding.statement)}</td>"
        f"<td>{escape(wording.number(finding.value, finding.unit))}</td>"
        f"<td>{escape(wording.limit(finding))}</td></tr>"
        for finding in assessment.findings
    )
    guessed = wording.guesses(assessment)
    note = f"<p>{escape(guessed)}</p>" if guessed else ""
    head = "<tr><th></th><th>finding</th><th>value</th><th>threshold</th></tr>"
    return (
        f"<div class='crypsis'>{note}<p><b>{escape(assessment.name)}: {wording.head(assessment)}</b></p>"
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"
    )
