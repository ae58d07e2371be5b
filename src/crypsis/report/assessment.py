"""The report: one HTML page that works offline, for data protection and for statistics."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from crypsis import __version__
from crypsis.policies.findings import Status
from crypsis.report import wording
from crypsis.report.figures import figures, script
from crypsis.report.html import page_environment
from crypsis.report.wording import Phrasing
from crypsis.results import Estimate, Result, number_text, percent_text

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment

_KEY_NUMBERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "singling_out": (
        ("equivalence_classes", "k", "k-anonymity (k)"),
        ("equivalence_classes", "classes", "equivalence classes"),
        ("equivalence_classes", "average_size", "average class size"),
        ("equivalence_classes", "risk.prosecutor.maximum", "prosecutor risk, highest"),
        ("equivalence_classes", "risk.prosecutor.average", "prosecutor risk, average"),
        ("equivalence_classes", "risk.prosecutor.share_above", "records at a risk above 0.2"),
        ("equivalence_classes", "risk.journalist.maximum", "journalist risk, highest"),
        ("equivalence_classes", "risk.journalist.average", "journalist risk, average"),
        (
            "equivalence_classes",
            "risk.journalist.share_above",
            "records at a journalist risk above 0.2",
        ),
        ("equivalence_classes", "risk.marketer.average", "marketer risk, average"),
        ("individual_risk", "maximum", "individual risk, highest"),
        ("individual_risk", "average", "individual risk, average"),
        ("individual_risk", "expected", "expected re-identifications"),
        ("unique_match", "probability", "probability that a unique match is correct"),
        ("unique_match", "expected", "expected correct matches with sample uniques, by the design"),
        ("household_risk", "households", "households"),
        ("household_risk", "maximum", "household risk, highest"),
        ("household_risk", "average", "household risk, average"),
        ("household_risk", "share_above", "households at a risk above 0.2"),
        ("suda", "special_uniques", "special uniques (SUDA)"),
        ("suda", "maximum", "SUDA score, highest"),
        ("suda", "dis_maximum", "DIS-SUDA score, highest"),
        ("presence", "k_map", "k-map (k)"),
        ("presence", "high", "delta-presence (delta)"),
        ("unicity", "people", "people whose records are linked"),
        ("histories", "k", "k-anonymity of whole histories (k)"),
        ("histories", "unique_share", "people with a history of their own"),
        ("quasi_identifiers", "rows", "records searched for quasi-identifiers"),
        ("loglinear_risk", "uniqueness", "population uniqueness, log-linear model"),
        ("loglinear_risk", "correct_matches", "expected correct matches with sample uniques"),
        ("population", "best", "population uniqueness"),
        ("population", "chosen", "population model"),
    ),
    "linkage": (
        ("suite", "method", "intruder with the most correct links"),
        ("suite", "correct_share", "fraction of correct links"),
        ("suite", "chance", "fraction of correct links by chance"),
        ("suite", "records", "original records"),
    ),
    "pseudonyms": (
        ("anonymity", "size", "items"),
        ("anonymity", "degree", "degree of anonymity (Delta)"),
        ("anonymity", "expected_cracks", "expected cracks (Psi)"),
        ("anonymity", "possible_pairs", "possible pairs"),
        ("anonymity", "superfluous_pairs", "pairs in no perfect matching"),
    ),
}


def assessment_page(found: Assessment, phrasing: Phrasing | None = None) -> str:
    """An assessment as one HTML page: nothing is fetched, everything from the data is escaped.

    Parameters
    ----------
    found : Assessment
        The assessment.
    phrasing : Phrasing, optional
        How remedies and options are worded; by default as Python calls.
    """
    code, allowed = script()
    environment = page_environment()
    environment.filters["name"] = wording.visible
    return environment.get_template("assessment.html").render(
        found=found,
        words=wording,
        text=number_text,
        percent=percent_text,
        phrasing=phrasing or Phrasing(),
        figures=figures(found),
        numbers={one.question: _numbers(one.question, one.results) for one in found.answers},
        leakages=_leakages(found),
        sets=_sets(found),
        exceeded=Status.EXCEEDED,
        unknown=Status.NOT_EVALUATED,
        classes={Status.EXCEEDED: "exceeded", Status.MET: "met", Status.NOT_EVALUATED: "unknown",
                 Status.NOT_ASKED: "not"},
        script=Markup(code),  # noqa: S704 - Vega's own, bundled by vl-convert
        allowed=allowed,
        version=__version__,
    )  # fmt: skip


def assessment_fragment(found: Assessment) -> str:
    """The verdict and the findings as a small table, for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(wording.STATUSES[one.status])}</td><td>{escape(one.statement)}</td>"
        f"<td>{escape(wording.number(one.value, one.unit))}</td>"
        f"<td>{escape(wording.limit(one))}</td></tr>"
        for one in found.findings
    )
    guessed = wording.guesses(found)
    note = f"<p>{escape(guessed)}</p>" if guessed else ""
    head = "<tr><th></th><th>finding</th><th>value</th><th>threshold</th></tr>"
    return (
        f"<div class='crypsis'>{note}<p><b>{escape(found.name)}: {wording.head(found)}</b></p>"
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"
    )


def _numbers(question: str, results: Any) -> list[tuple[str, str]]:
    """The key numbers of a question."""
    rows = []
    for name, path, label in _KEY_NUMBERS.get(question, ()):
        value: Any = results.get(name)
        for part in path.split("."):
            value = None if value is None else getattr(value, part, None)
        if value is not None:
            rows.append((label, _text(value)))
    return rows


def _text(value: Any) -> str:
    if isinstance(value, Estimate | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.4g}"


def _leakages(found: Assessment) -> list[Result]:
    answer = found.answer("inference")
    if answer is None:
        return []
    return [one for name, one in answer.results.items() if name.startswith("leakage")]


def _sets(found: Assessment) -> list[Any]:
    answer = found.answer("singling_out")
    sets: Any = None if answer is None else answer.results.get("quasi_identifiers")
    return [] if sets is None else list(sets.found[:10])
