"""Findings about columns, classes and sensitive attributes: one anonymization, measured again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from crypsis.assessment._columns import describe_columns, measure_columns, undecided
from crypsis.assessment._questions import (
    CLASS_SIZES,
    INFERRED,
    LINKS,
    PRESENCE,
    SMALL,
    UNICITY,
    UNIQUE,
    ask_inference,
    ask_linkage,
    ask_singling_out,
)
from crypsis.assessment._remedies._left_out import (
    apart_or_excluded,
    decided,
    leave_out,
    left_out,
    text_left_out,
    values_of,
)
from crypsis.assessment._remedies._released_columns import columns_unique_alone, identifying_columns
from crypsis.assessment._remedies._shared_values import (
    identifying_attributes,
    sharing_methods,
    without_shared_values,
)
from crypsis.assessment._remedies._tried import with_outcome
from crypsis.assessment._request import OtherFile, Request
from crypsis.assessment._safe_harbor import PARTS, safe_harbor_recodings
from crypsis.dataset import Dataset
from crypsis.errors import InputError, RequirementsNotMetError, RoleError, TooLargeError
from crypsis.options import Role
from crypsis.policies import evaluate, requirements_for
from crypsis.policies.findings import NOT_TRIED, Finding, Remedy, Status
from crypsis.report.wording import measure_title, plural
from crypsis.results import percent_text
from crypsis.singling_out import equivalence_classes

_RULES = frozenset(f"columns.{name}" for name, _ in PARTS.values())


_RECODINGS = {
    "subtree": "Full-subtree recoding: the values of a column do not overlap, so it can be tabulated.",
    "full-domain": "Full-domain recoding: all values of a column on one level.",
}
_OTHER_FILES = ("pseudonyms", "releases", "synthetic")
"""The questions that compare with other files, which an anonymization does not change."""
_AVERAGES = ("singling_out.journalist_average_risk", "singling_out.individual_average_risk")
_MAX_ATTEMPTS = 3
"""How often an anonymization is tried, each time without the columns that prevented it."""
_MUCH_LOSS = 0.15
"""The information loss from which the outcome says why it is so much."""
_CLASS_SIZE_FACTORS = (2, 4)
"""How many times larger the classes of further trials are."""
_HIGHEST_RISK_FACTORS = (4, 1)
"""How many times the limit of an average the highest risk of further trials is."""


@dataclass(frozen=True)
class Trial:
    """The findings after the proposed anonymization and its loss, or why it failed."""

    findings: tuple[Finding, ...] = ()
    loss: str = ""
    failure: str = ""
    data: Dataset | None = None
    """The release that was tried."""


def anonymization(request: Request, exceeded: Sequence[Finding] = ()) -> dict[str, Any]:
    """The parameters of the anonymization that a policy requires of this release.

    The requirements are those of the policy's own measures (k = 1 if it has none on classes),
    columns are recoded where its rules name one, and what is undecided, looks like a direct
    identifier, is free text, cannot be recoded, links records that single people out together, is
    disclosed by presence, or joins another file of the release is excluded. Sensitive attributes that
    make records unique alone are released apart; one that stays is rounded, so that its values are shared.
    """
    data, columns = request.data, request.columns
    excluded = set(undecided(columns, accepted=True))
    excluded |= {column.column for column in columns if column.evidence and not column.override}
    excluded |= {column.column for column in columns if column.free_text}
    excluded |= {finding.columns[0] for finding in exceeded if finding.measure == UNICITY}
    excluded |= {finding.columns[1] for finding in exceeded if finding.measure == INFERRED}
    excluded |= {finding.columns[0] for finding in exceeded if finding.measure == PRESENCE}
    excluded |= _joining(data, exceeded)
    methods: dict[str, str] = {}
    if _RULES & {threshold.measure for threshold in request.policy.of("columns")}:
        for name, recoding in safe_harbor_recodings(request).items():
            if recoding == "drop":
                excluded.add(name)
            else:
                methods[name] = recoding
    alone: set[str] = set()
    limit = _uniqueness_limit(request)
    if limit is not None:  # no recoding of quasi-identifiers helps against these
        with suppress(InputError, TooLargeError):
            alone = {*columns_unique_alone(data, limit)} - excluded
    # A column that is guessed to be an identifier is not decided: the command excludes it.
    removed = {*data.identifiers, *data.excluded} - {*undecided(columns, accepted=True)}
    excluded -= removed
    separate, gone = apart_or_excluded(data, alone, excluded | removed)
    excluded |= gone
    identifying = {*identifying_attributes(request)} - {*excluded, *removed, *separate}
    excluded |= without_shared_values(request, identifying)
    kept = [name for name in data.names if name not in {*excluded, *removed, *separate}]
    sensitive = any(data.roles.get(name) is Role.SENSITIVE for name in kept)
    has_quasi_identifiers = any(data.roles.get(name) is Role.QUASI_IDENTIFIER for name in kept)
    options: dict[str, Any] = {"k": 1}
    if has_quasi_identifiers:
        people = isinstance(data.population, Dataset)
        options |= requirements_for(
            request.policy, sensitive=sensitive, population=people, weighted=data.weight is not None
        )
    methods |= sharing_methods(request, identifying, options["k"])
    methods = {name: method for name, method in methods.items() if name in kept}
    if methods:
        options["methods"] = methods
    if excluded:
        options["excluded"] = tuple(name for name in data.names if name in excluded)
    if separate:
        options["apart"] = tuple(name for name in data.names if name in separate)
    return options


def _joining(data: Dataset, exceeded: Sequence[Finding]) -> set[str]:
    """What joins another file of the release, and is not a quasi-identifier."""
    joint = [finding for finding in exceeded if finding.measure in CLASS_SIZES]
    quasi_identifiers = {*data.quasi_identifiers}
    return {
        name for finding in joint for name in finding.columns if name in data.released
    } - quasi_identifiers


def _uniqueness_limit(request: Request) -> float | None:
    limits = [threshold.limit for threshold in request.policy.thresholds if threshold.measure == UNIQUE]
    return limits[0] if limits else None


def impossible(request: Request, parameters: dict[str, Any]) -> str | None:
    """Why the anonymization cannot run, where that is known before it is tried."""
    data, excluded = request.data, {*parameters.get("excluded", ())}
    if not set(data.released) - excluded:
        return "no column remains that may be released."
    if parameters["k"] > data.count:
        return (
            f"the policy requires k = {parameters['k']:,}, but the data have only "
            f"{plural(data.count, 'record')}."
        )
    return None


def anonymize_remedy(
    finding: Finding, text: str, parameters: dict[str, Any], trial: Trial | str | None
) -> Remedy:
    """Anonymize by the requirements of the policy; with a trial, its measured effect."""
    remedy = Remedy("anonymize", text, parameters)
    if trial is None:
        return replace(remedy, outcome=NOT_TRIED)
    # A command that does not run is not shown.
    if isinstance(trial, str):
        return replace(remedy, action="none", parameters={}, outcome=f"Not possible: {trial}")
    if trial.failure:
        return replace(remedy, action="none", parameters={}, tried=True, outcome=f"Tried: {trial.failure}")
    how = left_out(parameters, finding.columns[:1]) if finding.question == "inference" else ""
    if how:
        text = f"Tried: the column {finding.columns[0]!r} is {how}. {trial.loss}"
        return replace(remedy, tried=True, outcome=text, loss=trial.loss)
    same = [repeated for repeated in trial.findings if repeated.measure == finding.measure]
    same_columns = [repeated for repeated in same if repeated.columns[:1] == finding.columns[:1]] or same
    return with_outcome(remedy, finding, same_columns[0] if same_columns else None, trial.loss)


def reaching(request: Request, parameters: dict[str, Any]) -> tuple[dict[str, Any], Trial]:
    """The policy's own requirements, or the first stronger ones that meet it, with their trial.

    A measure without a requirement of its own may need larger classes. If none of them meets the
    policy, the policy's own requirements are proposed with what they reach.
    """
    first = try_anonymization(request, parameters)
    limit = _uniqueness_limit(request)
    if first.data is not None and limit is not None:
        more: set[str] = set()
        for finding in first.findings:
            if finding.status is Status.EXCEEDED and finding.measure == UNIQUE:
                more |= {*identifying_columns(first.data, limit, request.seed)}
            if finding.status is Status.EXCEEDED and finding.measure == SMALL:
                more |= {*identifying_columns(first.data, finding.threshold, request.seed, finding.k)}
        if more:
            leave_out(request, parameters, more)
            first = try_anonymization(request, parameters)
    if first.failure or _meets(first):
        return parameters, first
    for more_strict in stronger(parameters, first.findings):
        trial = try_anonymization(request, more_strict)
        if not trial.failure and _meets(trial):
            return more_strict, trial
    return parameters, first


def stronger(parameters: dict[str, Any], findings: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    """Requirements that are more than a policy's own, by increasing strictness.

    Classes are larger and match more people of the population. An average risk is at most the
    highest one: where its limit is still exceeded, it is required of every class in the end. Of
    records that are alike one is linked correctly, so links are limited by the average risk.
    """
    links = [
        finding.threshold
        for finding in findings
        if finding.status is Status.EXCEEDED and finding.measure == LINKS and finding.threshold > 0
    ]
    if links and parameters["k"] > 1:
        yield {**parameters, "average_risk": min(*links, parameters.get("average_risk", 1.0))}
    risk = parameters.get("journalist_risk")
    larger = {name for name in ("k", "k_map") if parameters.get(name, 1) > 1}
    for factor in _CLASS_SIZE_FACTORS if larger or risk is not None else ():
        strengthened = {**parameters, **{name: parameters[name] * factor for name in larger}}
        if risk is not None:
            strengthened["journalist_risk"] = risk / factor
        for name in ("closeness", "excess"):
            if name in strengthened:
                strengthened[name] = round(strengthened[name] * 1.5 / factor, 3)
        yield strengthened
    averages = [
        finding.threshold
        for finding in findings
        if finding.status is Status.EXCEEDED and finding.measure in _AVERAGES and finding.threshold > 0
    ]
    for factor in _HIGHEST_RISK_FACTORS if averages else ():
        highest = min(averages) * factor
        if highest < (risk or 1.0):
            yield {**parameters, "journalist_risk": highest}


def alternatives(request: Request, parameters: dict[str, Any]) -> tuple[Remedy, ...]:
    """The same requirements by recodings that analysts may prefer, each tried."""
    remedies = []
    for recoding, text in _RECODINGS.items():
        options = {**parameters, "recoding": recoding}
        trial = try_anonymization(request, options)
        if trial.failure:
            remedies.append(Remedy("none", text, tried=True, outcome=f"Tried: {trial.failure}"))
        else:
            outcome = f"Tried: {trial.loss}"
            remedies.append(Remedy("anonymize", text, options, tried=True, outcome=outcome, loss=trial.loss))
    return tuple(remedies)


def _meets(trial: Trial) -> bool:
    """Whether nothing is exceeded that an anonymization can remedy; of links, if there is an original."""
    judged = [finding for finding in trial.findings if finding.question not in _OTHER_FILES]
    return all(finding.status is not Status.EXCEEDED for finding in judged)


def try_anonymization(request: Request, parameters: dict[str, Any]) -> Trial:
    """Apply the proposed anonymization in memory, and measure the release again."""
    from crypsis import protection

    try:
        for attempt in range(_MAX_ATTEMPTS):
            options = {name: value for name, value in parameters.items() if name != "excluded"}
            try:
                anonymized = protection.anonymize(decided(request, parameters), shuffle=False, **options)
                break
            except (RoleError, RequirementsNotMetError) as error:
                if (
                    error.code not in ("derived-column", "excess-not-met", "rejoined")
                    or attempt == _MAX_ATTEMPTS - 1
                ):
                    raise
                if error.code == "rejoined":
                    _exclude(parameters, error.parameters["columns"])
                    continue
                leave_out(request, parameters, in_the_way(request, parameters, error))
        columns = tuple(
            replace(describe_column, guessed=False)
            for describe_column in describe_columns(anonymized.data, request.seed)
        )
        files = tuple(OtherFile(", ".join(file.names), file) for file in anonymized.apart)
        after = replace(
            request,
            data=replace(anonymized.data, population=request.data.population),
            columns=columns,
            search=False,
            together=(*request.together, *files),
            on=None,
            row_map=_original_rows(request, anonymized.key.row_map),
        )
        measured = measure_columns(after)
        measured += ask_singling_out(after).measured
        measured += ask_inference(after).measured
        if request.original is not None:
            measured += ask_linkage(after).measured
    except (InputError, TooLargeError, RequirementsNotMetError) as error:
        return Trial(failure=error.message)
    loss = anonymized.loss
    verb = "is" if loss.suppressed_records == 1 else "are"
    text = f"{loss.suppressed_records:,} of {plural(loss.records, 'record')} {verb} suppressed"
    if loss.ncp is not None:
        text += f"; the information loss (NCP) is {percent_text(loss.ncp)}"
    findings = evaluate(request.policy, measured)
    open_ = dict.fromkeys(
        measure_title(finding.measure, finding.k) for finding in findings if finding.status is Status.EXCEEDED
    )
    if open_:
        text += f"; still above the threshold: {', '.join(open_)}"
    text += text_left_out(request.data, parameters)
    if loss.ncp is not None and loss.ncp > _MUCH_LOSS:
        text += _why_much(request.data, parameters)
    left = [words for words in anonymized.released_values.values() if "not released" not in words]
    if left:
        text += f"; released: {'; '.join(left)}"
    return Trial(findings, f"{text}.", data=anonymized.data)


def _exclude(parameters: dict[str, Any], names: Sequence[str]) -> None:
    """Do not release attributes that would be joined again if they were released apart."""
    parameters["apart"] = tuple(n for n in parameters.get("apart", ()) if n not in names)
    parameters["excluded"] = tuple(dict.fromkeys((*parameters.get("excluded", ()), *names)))


def _why_much(data: Dataset, parameters: dict[str, Any]) -> str:
    """Why classes of this size cost so much: how many records have nobody like them."""
    gone = {*parameters.get("excluded", ())}
    names = [name for name in data.quasi_identifiers if name not in gone]
    try:
        share = equivalence_classes(data, names).share_below(parameters["k"])
    except (InputError, TooLargeError):
        return ""
    if not float(share):
        return ""
    several = "quasi-identifier" if len(names) == 1 else f"{len(names)} quasi-identifiers together"
    return (
        f"; it is that much because {percent_text(share)} of the records are in classes smaller than "
        f"{parameters['k']:,} on the {several}: a column that an intruder cannot know is no "
        "quasi-identifier (decide it as insensitive, and write the reason)"
    )


def in_the_way(
    request: Request, parameters: dict[str, Any], error: RoleError | RequirementsNotMetError
) -> Sequence[str]:
    """The columns without which it may be possible: as few as can be."""
    columns: Sequence[str] = error.parameters["columns"]
    if error.code == "excess-not-met":  # without one of them the others may meet it
        return [max(columns, key=lambda name: values_of(request.data, name))]
    given_back: Sequence[str] = error.parameters["determines"]
    released = {*request.data.quasi_identifiers} - {*parameters.get("excluded", ())}
    fewer = len(given_back) < len(columns) and released.issuperset(given_back)
    return given_back if fewer else columns


def _original_rows(request: Request, kept: tuple[int, ...] | None) -> Sequence[int] | None:
    """The original row of each record of the trial, through the row map of the release."""
    row_map = request.original_rows
    rows = request.row_map if row_map is None else row_map.tolist()
    if rows is None or kept is None:
        return rows if kept is None else kept
    return [rows[row] for row in kept]
