"""The report: one HTML page that stands alone, for a protection officer and for a statistician."""

from __future__ import annotations

from html import escape
from typing import Any

from markupsafe import Markup

from crypsis import __version__
from crypsis.report import wording
from crypsis.report.figures import figures, script
from crypsis.report.html import _environment
from crypsis.report.markdown import _UNSEEN
from crypsis.results import Assessment, Estimate, Result, Status

_LONGEST = 120
_KEY_NUMBERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "singling_out": (
        ("crowds", "k", "smallest crowd"),
        ("crowds", "classes", "distinct combinations"),
        ("crowds", "average_size", "people in a combination, on average"),
        ("crowds", "prosecutor.above", "share at a risk above 0.2"),
        ("crowds", "marketer.average", "share found by who looks for everyone"),
        ("quasi_identifiers", "rows", "rows searched for quasi-identifiers"),
        ("population", "best", "share of the population that is unique"),
        ("population", "chosen", "model"),
    ),
    "linkage": (
        ("verification", "verdict", "against an intruder who has all originals"),
        ("verification", "right", "share of right links"),
        ("verification", "chance", "share of a blind guess"),
        ("link", "correct", "correct links"),
        ("link", "multiple", "links to several records"),
        ("link", "wrong", "wrong links"),
    ),
    "pseudonyms": (
        ("anonymity", "size", "items"),
        ("anonymity", "degree", "degree of anonymity (Delta)"),
        ("anonymity", "expected_cracks", "expected cracks (Psi)"),
        ("anonymity", "possible_pairs", "possible pairs"),
        ("anonymity", "superfluous_pairs", "pairs that no assignment uses"),
    ),
}


def assessment_page(found: Assessment) -> str:
    """An assessment as one HTML page: nothing is fetched, everything from the data is escaped."""
    code, allowed = script()
    environment = _environment()
    environment.filters["name"] = shown
    return environment.get_template("assessment.html").render(
        found=found,
        words=wording,
        figures=figures(found),
        numbers={one.question: _numbers(one.question, one.results) for one in found.answers},
        secrets=_secrets(found),
        sets=_sets(found),
        outside=Status.OUTSIDE,
        unknown=Status.UNKNOWN,
        script=Markup(code),  # noqa: S704 - Vega's own, bundled by vl-convert
        allowed=allowed,
        version=__version__,
    )


def assessment_fragment(found: Assessment) -> str:
    """The verdict and the findings as a small table, for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(wording.STATES[one.status])}</td><td>{escape(one.statement)}</td>"
        f"<td>{escape(wording.number(one.value, one.unit))}</td>"
        f"<td>{escape(wording.limit(one))}</td></tr>"
        for one in found.findings
    )
    guessed = wording.guesses(found)
    note = f"<p>{escape(guessed)}</p>" if guessed else ""
    head = "<tr><th></th><th>finding</th><th>number</th><th>threshold</th></tr>"
    return (
        f"<div class='crypsis'>{note}<p><b>{escape(found.name)}: {wording.head(found)}</b></p>"
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"
    )


def shown(name: str) -> str:
    """A name from the data: without marks that hide or turn text, and not endless."""
    clean = _UNSEEN.sub("", name)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def _numbers(question: str, results: Any) -> list[tuple[str, str]]:
    """The few numbers of a question that belong in a table."""
    rows = []
    for name, path, label in _KEY_NUMBERS.get(question, ()):
        value: Any = results.get(name)
        for part in path.split("."):
            value = None if value is None else getattr(value, part, None)
        if value is not None:
            rows.append((label, _told(value)))
    return rows


def _told(value: Any) -> str:
    if isinstance(value, Estimate | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.4g}"


def _secrets(found: Assessment) -> list[Result]:
    answer = found.answer("inference")
    if answer is None:
        return []
    return [one for name, one in answer.results.items() if name.startswith("leakage")]


def _sets(found: Assessment) -> list[Any]:
    answer = found.answer("singling_out")
    sets: Any = None if answer is None else answer.results.get("quasi_identifiers")
    return [] if sets is None else list(sets.found[:10])
