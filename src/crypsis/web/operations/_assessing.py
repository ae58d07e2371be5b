"""The verdict, and what lies behind a finding."""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis import inference, singling_out
from crypsis._assess import assess as ask
from crypsis.errors import InputError
from crypsis.release import Release
from crypsis.report import wording
from crypsis.report.figures import Figure, figures
from crypsis.results import Assessment, Finding
from crypsis.web.operations._desk import Desk
from crypsis.web.words import for_page

_GROUPS = 12
_CLOSE = ("inference.closeness", "inference.ordered_closeness", "inference.best_guess_gain")


def assess(
    desk: Desk,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    policy: str = "default",
    population: int | None = None,
    person: str | None = None,
    weight: str | None = None,
    accept_guesses: bool = False,
    original: dict[str, Any] | None = None,
    on: str | None = None,
    attack: dict[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Ask every question; the report is written to the table's folder in three forms.

    With an `original` records are linked back to it, with an `attack` (files `released`, `known`
    and `truth`) pseudonyms are tried by how often they occur.
    """
    with desk.engine:
        belief = None
        if attack is not None:
            from crypsis.web.operations._attacking import by_frequency

            belief = by_frequency(desk, **attack)
        release = desk.release(file, roles, population=population, person=person, weight=weight)
        before = None if original is None else desk.release(original)
        found = ask(
            release,
            before,
            belief,
            policy,
            accept_guesses=accept_guesses,
            on=on,
            name=file["title"],
            source=(file["title"],),
            seed=seed,
        )
    write_report(desk, found, "report")
    return assessment_told(found)


def write_report(desk: Desk, found: Assessment, name: str) -> None:
    """The assessment as HTML, Markdown and JSON, beside the table."""
    for suffix, text in (
        ("html", found.to_html()),
        ("md", found.to_markdown()),
        ("json", found.to_json()),
    ):
        (desk.folder / f"{name}.{suffix}").write_text(text, encoding="utf-8")


def assessment_told(found: Assessment) -> dict[str, Any]:
    """An assessment for the page: plain values, numbers in words, charts as specifications."""
    plain = found.to_dict()
    drawn = figures(found)
    return {
        "verdict": plain["verdict"],
        "head": wording.head(found),
        "complete": plain["complete"],
        "reasons": [for_page(reason) for reason in found.reasons],
        "demands": demands(found),
        "rows": plain["rows"],
        "policy": {key: plain["policy"][key] for key in ("name", "title", "source", "summary")},
        "parameters": plain["parameters"],
        "made": plain["made"],
        "findings": [finding_told(one, i) for i, one in enumerate(found.findings)],
        "answers": [
            {
                "question": one.question, "title": one.title, "status": one.status.value,
                "headline": for_page(one.headline), "notes": [for_page(note) for note in one.notes],
                "figures": [figure_told(figure) for figure in drawn[one.question]],
            }
            for one in found.answers
        ],
        "changes": [
            {
                "measure": one.measure,
                "before": wording.number(one.before, one.unit),
                "after": wording.number(one.after, one.unit),
            }
            for one in found.changes
        ],
    }  # fmt: skip


def demands(found: Assessment) -> dict[str, float]:
    """What a plan must promise to meet the thresholds of the policy, as far as plans can."""
    asked: dict[str, float] = {}
    for one in found.findings:
        if one.status.value == "not asked":
            continue
        if one.crowd is not None or one.measure == "singling_out.smallest_crowd":
            asked["k"] = max(asked.get("k", 2), one.crowd or one.threshold)
        elif one.measure == "inference.distinct_values":
            asked["diversity"] = one.threshold
        elif one.measure in _CLOSE:
            asked["closeness"] = min(asked.get("closeness", 1.0), one.threshold)
    return asked


def finding_told(one: Finding, place: int) -> dict[str, Any]:
    """A finding with its numbers in words."""
    return {
        "place": place, "question": one.question, "measure": one.measure,
        "status": one.status.value, "severity": one.severity.value,
        "statement": for_page(one.statement),
        "number": wording.number(one.value, one.unit), "limit": wording.limit(one),
        "crowd": one.crowd, "columns": list(one.columns), "people": one.people,
        "why": one.why, "source": one.source, "unit": one.unit,
        "remedy": None if one.remedy is None else one.remedy.text,
    }  # fmt: skip


def figure_told(figure: Figure) -> dict[str, str]:
    """A chart: what draws it, and what it shows in words."""
    return {"specification": figure.specification, "description": figure.description}


def causes(
    desk: Desk,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    question: str,
    columns: list[str],
    crowd: int = 5,
    reveal: bool = False,
) -> dict[str, Any]:
    """Which columns and which groups are behind a finding; values of the data with `reveal`."""
    with desk.engine:
        release = desk.release(file, roles)
        if question == "singling_out":
            return _crowds(release, columns, crowd, reveal)
        if question == "inference":
            return _guesses(release, columns, reveal)
    raise InputError(f"Behind {question!r} there are no groups to show.")


def _crowds(release: Release, columns: list[str], crowd: int, reveal: bool) -> dict[str, Any]:
    names = [name for name in release.quasi_identifiers if name in columns] or columns
    cells = release.cells(names)
    sizes = cells.class_sizes
    whole = max(1, cells.rows)

    def below(left: list[str]) -> float:
        part = cells.marginal(left)
        small = (part.class_sizes > 0) & (part.class_sizes < crowd)
        return int(part.counts[small].sum()) / whole

    now = int(cells.counts[(sizes > 0) & (sizes < crowd)].sum()) / whole
    without = []
    for name in names:
        left = [other for other in names if other != name]
        alone = singling_out.uniqueness(release, [name])
        without.append(
            {"column": name, "distinct": alone.cells, "without": below(left) if left else 0.0}
        )
    there = np.flatnonzero(sizes > 0)
    worst = there[np.argsort(sizes[there], kind="stable")][:_GROUPS]
    return {
        "crowd": crowd,
        "columns": names,
        "share": now,
        "without": sorted(without, key=lambda one: one["without"]),
        "groups": [
            {"size": int(sizes[i]), "values": _values(cells.group(int(i)).values, reveal)}
            for i in worst.tolist()
        ],
    }


def _guesses(release: Release, columns: list[str], reveal: bool) -> dict[str, Any]:
    target = next((name for name in columns if name in release.sensitive), None)
    if target is None:
        raise InputError("This finding names no sensitive column.")
    found = inference.leakage(release, target, list(release.quasi_identifiers))
    return {
        "target": target,
        "columns": list(found.given),
        "prior": found.best_guess.prior,
        "contributions": [one.to_dict() for one in found.contributions],
        "groups": [
            {
                "size": one.group.size,
                "values": _values(one.group.values, reveal),
                "guess": one.best_guess,
                "value": str(one.guess) if reveal and one.guess is not None else None,
            }
            for one in found.riskiest[:_GROUPS]
        ],
    }


def _values(values: tuple[Any, ...], reveal: bool) -> list[str] | None:
    return ["(missing)" if v is None else str(v)[:80] for v in values] if reveal else None
