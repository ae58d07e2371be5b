"""The verdict, and what lies behind a finding."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from crypsis import inference, singling_out
from crypsis.assessment import assess as ask
from crypsis.assessment.result import Assessment
from crypsis.dataset import Dataset
from crypsis.errors import InputError
from crypsis.options import Role
from crypsis.policies import Policy, requirements_for
from crypsis.policies.findings import Finding
from crypsis.report import wording
from crypsis.report.dossier.gauge import risk_gauge
from crypsis.report.figures import figures
from crypsis.results import Group
from crypsis.web.operations._attack import by_frequency
from crypsis.web.operations._compare import key_rows
from crypsis.web.operations._figures import figure_view
from crypsis.web.operations._notation import ValueNotation
from crypsis.web.operations._session import TableSession
from crypsis.web.wording import HINTS, page_option

_MAX_CLASSES_SHOWN = 12
"""Classes that the page shows of a finding: the smallest, or the riskiest."""
PHRASING = wording.Phrasing(page_option, lambda _remedy: None, HINTS)
"""What to do is done on the page, not by a call."""


def assess(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    policy: str = "default",
    population: int | None = None,
    person: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    stratum: str | None = None,
    cluster: str | None = None,
    context: str | None = None,
    synthetic: bool = False,
    exact: bool = False,
    accept_guesses: bool = False,
    together: dict[str, Any] | None = None,
    earlier: dict[str, Any] | None = None,
    holdout: dict[str, Any] | None = None,
    original: dict[str, Any] | None = None,
    original_person: str | None = None,
    key: dict[str, Any] | None = None,
    earlier_key: dict[str, Any] | None = None,
    population_table: dict[str, Any] | None = None,
    answers: dict[str, str] | None = None,
    on: str | None = None,
    attack: dict[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Ask every question; the report is written to the table's folder in three forms.

    With an `original` records are linked back to it, with an `attack` (files `released`, `known`
    and `truth`) pseudonyms are tried by how often they occur.
    """
    with session.engine:
        belief = None
        if attack is not None:
            belief = by_frequency(session, **attack)
        release = session.release(
            file,
            roles,
            population=population,
            person=person,
            weight=weight,
            household=household,
            stratum=stratum,
            cluster=cluster,
        )
        before = None if original is None else session.release(original, person=original_person)
        if before is None and original_person is not None:
            release = replace(release, absent={**release.absent, "person": original_person})
        if population_table is not None:
            release = replace(release, population=session.release(population_table))
        more: dict[str, Any] = {}
        if together is not None:
            more["together"] = [_named_alike(session, together, roles)]
        if earlier is not None:
            more["earlier"] = [_named_alike(session, earlier, roles)]
            if key is not None and earlier_key is not None:
                more["earlier_row_maps"] = [key_rows(earlier_key)]
        if holdout is not None:
            more["holdout"] = session.release(holdout)
        assessment = ask(
            release,
            before,
            belief,
            policy,
            **more,
            context=context,
            synthetic=synthetic,
            exact=exact,
            accept_guesses=accept_guesses,
            answers=answers,
            on=on,
            row_map=None if key is None else key_rows(key) or range(release.count),
            name=file["title"],
            seed=seed,
        )
    write_report(session, assessment, "report")
    return assessment_view(assessment)


def _named_alike(session: TableSession, file: dict[str, Any], roles: dict[str, str]) -> Dataset:
    """Another file of the same people: columns of the same name have the same role."""
    names = session.release(file).names
    return session.release(file, {name: role for name, role in roles.items() if name in names})


def write_report(session: TableSession, assessment: Assessment, name: str) -> None:
    """The assessment as HTML, Markdown and JSON, beside the table."""
    for suffix, text in (
        ("html", assessment.to_html(PHRASING)),
        ("md", assessment.to_markdown(PHRASING)),
        ("json", assessment.to_json()),
    ):
        (session.folder / f"{name}.{suffix}").write_text(text, encoding="utf-8")


def assessment_view(assessment: Assessment) -> dict[str, Any]:
    """An assessment for the page: plain values, numbers in words, charts as specifications."""
    plain = assessment.to_dict()
    drawn = figures(assessment)
    gauge = risk_gauge(assessment)
    return {
        "verdict": plain["verdict"],
        "head": wording.head(assessment),
        "explanation": assessment.explanation,
        "causes": list(assessment.causes),
        "gauge": None if gauge is None else asdict(gauge),
        "complete": plain["complete"],
        "reasons": [PHRASING.reason(reason) for reason in assessment.reasons],
        "clean_copy": any(wording.CLEAN_COPY in reason.hint for reason in assessment.reasons),
        "requirements": _requirements(assessment),
        "rows": plain["rows"],
        "policy": {key: plain["policy"][key] for key in ("name", "title", "source", "summary")},
        "checklist": plain["checklist"],
        "parameters": plain["parameters"],
        "made": plain["made"],
        "findings": [finding_view(finding, i) for i, finding in enumerate(assessment.findings)],
        "answers": [
            {
                "question": answer.question,
                "title": answer.title,
                "status": answer.status.value,
                "headline": answer.headline,
                "notes": list(answer.notes),
                "figures": [figure_view(figure) for figure in drawn[answer.question]],
            }
            for answer in assessment.answers
        ],
        "changes": [
            {
                "measure": change.measure,
                "before": wording.number(change.before, change.unit),
                "after": wording.number(change.after, change.unit),
            }
            for change in assessment.changes
        ],
    }


def _requirements(assessment: Assessment) -> dict[str, int | float]:
    """The requirements that meet the policy, as far as recoding can.

    The release is compared with its original, which is here, so links are limited, too.
    """
    sensitive = any(column.role == Role.SENSITIVE.value for column in assessment.columns)
    policy = Policy.model_validate(dict(assessment.policy))
    links = tuple(
        threshold.model_copy(update={"required": True})
        if threshold.measure.startswith("linkage.")
        else threshold
        for threshold in policy.thresholds
    )
    return requirements_for(policy.model_copy(update={"thresholds": links}), sensitive=sensitive)


def finding_view(finding: Finding, position: int) -> dict[str, Any]:
    """A finding with its numbers in words."""
    return {
        "place": position,
        "question": finding.question,
        "measure": finding.measure,
        "status": finding.status.value,
        "severity": finding.severity.value,
        "statement": finding.statement,
        "title": wording.sentence_title(finding.measure, finding.k),
        "number": wording.number(finding.value, finding.unit),
        "limit": wording.limit(finding),
        "class_size": finding.k,
        "columns": list(finding.columns),
        "affected": finding.affected,
        "why": finding.why,
        "source": finding.source,
        "unit": finding.unit,
        "remedy": None if finding.remedy is None else wording.remedy_text(finding.remedy),
        "recoding": finding.remedy is not None and finding.remedy.action == "anonymize",
    }


def causes(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    question: str,
    columns: list[str],
    class_size: int = 5,
    reveal: bool = False,
) -> dict[str, Any]:
    """Which columns and which groups are behind a finding; values of the data with `reveal`."""
    with session.engine:
        release = session.release(file, roles)
        if question == "singling_out":
            return _small_classes(release, columns, class_size, reveal)
        if question == "inference":
            return _guesses(release, columns, reveal)
    raise InputError(f"Behind {question!r} there are no groups to show.")


def _small_classes(release: Dataset, columns: list[str], class_size: int, reveal: bool) -> dict[str, Any]:
    # Other columns single people out together with the quasi-identifiers, which are known as well.
    names = list(dict.fromkeys((*release.quasi_identifiers, *columns)))
    cells = release.cells(names)
    sizes = cells.class_sizes
    whole = max(1, cells.rows)

    def below(left: list[str]) -> float:
        part = cells.marginal(left)
        small = (part.class_sizes > 0) & (part.class_sizes < class_size)
        return int(part.counts[small].sum()) / whole

    now = int(cells.counts[(sizes > 0) & (sizes < class_size)].sum()) / whole
    columns_without = []
    for name in names:
        left = [column for column in names if column != name]
        alone = singling_out.uniqueness(release, [name])
        columns_without.append(
            {"column": name, "distinct": alone.classes, "without": below(left) if left else 0.0}
        )
    rest = [float(column["without"]) for column in columns_without]
    equal_shares = len(rest) > 1 and max(rest) - min(rest) < 0.0005
    occupied = np.flatnonzero(sizes > 0)
    notation = ValueNotation.of(release)
    worst = occupied[np.argsort(sizes[occupied], kind="stable")][:_MAX_CLASSES_SHOWN]
    return {
        "class_size": class_size,
        "columns": names,
        "share": now,
        "without": sorted(columns_without, key=lambda column: column["without"]),
        "alike": rest[0] if equal_shares else None,
        "groups": [
            {"size": int(sizes[i]), "values": _values(cells.group(int(i)), notation, reveal)}
            for i in worst.tolist()
        ],
    }


def _guesses(release: Dataset, columns: list[str], reveal: bool) -> dict[str, Any]:
    target = next((name for name in columns if name in release.sensitive), None)
    if target is None:
        raise InputError("This finding names no sensitive column.")
    leakage_result = inference.leakage(release, target, list(release.quasi_identifiers))
    notation = ValueNotation.of(release)
    return {
        "target": target,
        "columns": list(leakage_result.given),
        "prior": leakage_result.best_guess.prior,
        "contributions": [contribution.to_dict() for contribution in leakage_result.contributions],
        "groups": [
            {
                "size": class_risk.group.size,
                "values": _values(class_risk.group, notation, reveal),
                "guess": class_risk.best_guess,
                "value": notation.text(target, class_risk.guess)
                if reveal and class_risk.guess is not None
                else None,
            }
            for class_risk in leakage_result.riskiest[:_MAX_CLASSES_SHOWN]
        ],
    }


def _values(group: Group, notation: ValueNotation, reveal: bool) -> list[str] | None:
    if not reveal:
        return None
    pairs = zip(group.columns, group.values, strict=True)
    return ["(missing)" if v is None else notation.text(name, v)[:80] for name, v in pairs]
