"""The verdict in one sentence about people, and what causes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from crypsis.options import Role
from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import Finding, Status, Verdict
from crypsis.report import wording
from crypsis.results import Estimate, Number, percent_text

_MAX_CLAUSES = 3
"""An explanation has so many clauses; further questions are counted."""
_MIN_SIMILAR_PART = 0.8
"""Fewer columns that make nearly as many records unique are the better explanation."""
_NAMED_COLUMNS = 4
"""So many columns, the first, are named in a clause."""
_NOUNS = {
    "patient": "patients",
    "proband": "participants",
    "participant": "participants",
    "respondent": "respondents",
    "employee": "employees",
    "mitarbeiter": "employees",
    "customer": "customers",
    "kunde": "customers",
    "client": "clients",
    "student": "students",
    "pupil": "pupils",
    "schueler": "pupils",
    "subscriber": "subscribers",
    "voter": "voters",
    "donor": "donors",
    "member": "members",
    "inmate": "inmates",
    "tenant": "tenants",
}
"""What the column that identifies people calls them."""
_ORDER = ("singling_out", "columns", "inference", "linkage", "releases", "synthetic", "pseudonyms")
_OTHER_COLUMNS = {
    "unicity",
    "unique_on_released_columns",
    "small_classes_on_released_columns",
    "special_uniques",
}
"""The measures that are not about the quasi-identifiers alone."""
_ABOUT_COLUMNS = {
    "columns.direct_identifiers": ("identifies {them} directly", "identify {them} directly"),
    "columns.identifiers_by_evidence": ("looks like a direct identifier", "look like direct identifiers"),
    "columns.free_text": ("contains free text", "contain free text"),
}


def explanation(assessment: AssessmentData) -> str:
    """Why the verdict is what it is, in one sentence that counts people.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    """
    if assessment.verdict is Verdict.NOT_SAFE:
        clauses = list(_harms(assessment))
        more = len(clauses) - _MAX_CLAUSES
        if more > 0:
            clauses[_MAX_CLAUSES:] = [f"and {wording.plural(more, 'further question')} exceed"]
            clauses[-1] += f"{'s' if more == 1 else ''} {'its' if more == 1 else 'their'} threshold"
        return f"Not safe: {'; '.join(clauses)}."
    if assessment.verdict is Verdict.SAFE:
        return f"Safe under this policy: {'; '.join(_protections(assessment))}."
    texts = [reason.text.removesuffix(".") for reason in assessment.reasons]
    more = len(texts) - 1
    rest = f"; and {more} more {'reason' if more == 1 else 'reasons'}" if more > 0 else ""
    return f"Cannot tell whether it is safe: {_lowered(texts[0])}{rest}."


def causes(assessment: AssessmentData) -> list[str]:
    """Which columns single people out: one alone, or several together.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    """
    answer = assessment.answer("singling_out")
    if answer is None:
        return []
    search: Any = answer.results.get("quasi_identifiers")
    classes: Any = answer.results.get("equivalence_classes")
    if search is None or classes is None or not search.found:
        return []
    most = max(column_set.unique_fraction for column_set in search.found)
    if not most:
        return []
    similar = [
        column_set for column_set in search.found if column_set.unique_fraction >= _MIN_SIMILAR_PART * most
    ]
    worst = min(similar, key=lambda column_set: (len(column_set.columns), -column_set.unique_fraction))
    share = percent_text(worst.unique_fraction)
    if len(worst.columns) == 1:
        return [f"{_quoted(worst.columns)} alone makes {share} of the records unique."]
    alone = {column_share.column: column_share.alone for column_share in search.ranking}
    highest = max((alone.get(name, 0.0) for name in worst.columns), default=0.0)
    each = "none of them makes a record unique alone"
    if highest > 0:
        each = f"alone none of them makes more than {ceil(1000 * highest) / 10:g} % unique"
    text = (
        f"No single column is to blame: {_quoted(worst.columns)} together make {share} of the "
        f"records unique; {each}."
    )
    further = len(classes.columns) - len(worst.columns)
    if further > 0 and float(classes.unique_share) > worst.unique_fraction:
        everything = percent_text(classes.unique_share)
        text += f" All {len(classes.columns)} quasi-identifiers together: {everything}."
    return [text]


def people_noun(assessment: AssessmentData) -> str:
    """What the people are called by the column that identifies them; else people."""
    person = assessment.parameters.get("person")
    for column in assessment.columns:
        is_of_person = column.column == person or (
            column.role == "identifier" and column.distinct == assessment.rows
        )
        if is_of_person:
            name = column.column.casefold().replace("ü", "ue")
            for word, noun in _NOUNS.items():
                if word in name:
                    return noun
    return "people"


def people(assessment: AssessmentData, count: Number, total: int, unit: str) -> str:
    """How many people: counted, or the people of as many records where nobody is known.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment, for what the people are called.
    count : int, float or Estimate
        How many of them.
    total : int
        Of how many.
    unit : str
        What was counted: "records" or "people".
    """
    noun = people_noun(assessment)
    several = assessment.parameters.get("person") is not None
    of_records = unit == "records" and (several or noun == "people")
    name = "records" if of_records else noun
    if isinstance(count, Estimate):
        amount = f"{percent_text(count.value / max(1, total))} of {total:,} {name}"
    elif count == total == 1:
        amount = f"the only {'person' if name == 'people' else name.removesuffix('s')}"
    elif count == total:
        amount = f"all {total:,} {name}"
    else:
        amount = f"{round(float(count)):,} of {total:,} {name}"
    if amount.startswith("1 of ") and noun == "people":
        noun = "person"
    return f"the {noun} of {amount}" if of_records else amount


def _harms(assessment: AssessmentData) -> Iterator[str]:
    """A clause for each question with a threshold that is exceeded."""
    for question in _ORDER:
        exceeded = [finding for finding in assessment.exceeded if finding.question == question]
        if exceeded:
            yield _CLAUSE[question](assessment, exceeded)


def _columns(assessment: AssessmentData, exceeded: Sequence[Finding]) -> str:
    finding = exceeded[0]
    count = 0 if finding.value is None else round(float(finding.value))
    texts = _ABOUT_COLUMNS.get(finding.measure)
    if texts is None:
        return _plain(finding)
    them = people_noun(assessment)
    return f"{wording.plural(count, 'column')} {texts[count != 1].format(them=them)}"


def _singling_out(assessment: AssessmentData, exceeded: Sequence[Finding]) -> str:
    answer = assessment.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    by_measure = {finding.measure.partition(".")[2]: finding for finding in exceeded}
    sizes = [finding.k for finding in exceeded if finding.k is not None]
    if classes is None or not set(by_measure) - _OTHER_COLUMNS:
        return _by_released_columns(assessment, by_measure) or _plain(exceeded[0])
    unique = classes.records_below(2)
    by = _known(classes.columns)
    if float(unique) >= 1:
        whom = people(assessment, unique, classes.units, classes.unit)
        return f"{whom} can be singled out by {by}"
    k = max(sizes, default=5)
    few = classes.records_below(k)
    if float(few) < 1:
        return _plain(exceeded[0])
    whom = people(assessment, few, classes.units, classes.unit)
    return f"{whom} share {by} with fewer than {k - 1} others"


def _by_released_columns(assessment: AssessmentData, by_measure: Mapping[str, Finding]) -> str | None:
    """What those can do who know all that is released; None where that was not the matter."""
    answer = assessment.answer("singling_out")
    results: Mapping[str, Any] = {} if answer is None else answer.results
    counted = results.get("released_columns") or results.get("equivalence_classes")
    total, unit = (assessment.rows, "records") if counted is None else (counted.units, counted.unit)
    unique = by_measure.get("unique_on_released_columns")
    if unique is not None and unique.affected:
        whom = people(assessment, unique.affected, total, unit)
        return f"{whom} can be singled out by all released columns together"
    small = by_measure.get("small_classes_on_released_columns")
    if small is not None and small.affected and small.k:
        whom = people(assessment, small.affected, total, unit)
        return f"{whom} share all released columns with fewer than {small.k - 1} others"
    return None


def _inference(assessment: AssessmentData, exceeded: Sequence[Finding]) -> str:
    certain = [finding for finding in exceeded if finding.measure == "inference.near_certain_values"]
    if certain and certain[0].columns and certain[0].affected:
        worst = max(certain, key=lambda finding: finding.affected or 0)
        whom = people(assessment, worst.affected or 0, assessment.rows, "records")
        return f"'{_name(worst.columns[0])}' is nearly certain for {whom}"
    names = list(dict.fromkeys(finding.columns[0] for finding in exceeded if finding.columns))
    if not names:
        return _plain(exceeded[0])
    return f"{_quoted(names[:_NAMED_COLUMNS])} can be inferred of some people"


def _linkage(assessment: AssessmentData, exceeded: Sequence[Finding]) -> str:
    answer = assessment.answer("linkage")
    suite: Any = None if answer is None else answer.results.get("suite")
    if suite is None or suite.correct_share is None:
        return _plain(exceeded[0])
    return (
        f"whoever has the original links {percent_text(suite.correct_share.value)} of its records "
        "to the release"
    )


def _first(assessment: AssessmentData, exceeded: Sequence[Finding]) -> str:
    return _plain(exceeded[0])


_CLAUSE: dict[str, Callable[[AssessmentData, Sequence[Finding]], str]] = {
    "columns": _columns,
    "singling_out": _singling_out,
    "inference": _inference,
    "linkage": _linkage,
    "pseudonyms": _first,
    "releases": _first,
    "synthetic": _first,
}


def without_sensitive(assessment: AssessmentData) -> bool:
    """Whether nothing could be inferred, because no column is a sensitive attribute."""
    sensitive = any(column.role == Role.SENSITIVE for column in assessment.columns)
    return not sensitive and assessment.answer("synthetic") is None


def _protections(assessment: AssessmentData) -> Iterator[str]:
    """What was measured and is safe, and which questions were not asked."""
    answer = assessment.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    noun = people_noun(assessment)
    if classes is not None and float(classes.k) > 1:
        who = "each record" if classes.unit == "records" and noun == "people" else "each person"
        others_in_class = max(1, int(float(classes.k)) - 1)
        shared_with = f"at least {wording.plural(others_in_class, 'other')}"
        yield f"{who} shares {_known(classes.columns)} with {shared_with}"
    met = [answer.question for answer in assessment.answers if answer.status is Status.MET]
    left = [answer.question for answer in assessment.answers if answer.status is Status.NOT_ASKED]
    if "inference" in met and without_sensitive(assessment):
        met.remove("inference")
        left.insert(0, "inference")
    if "inference" in met:
        yield "no sensitive attribute can be inferred beyond the thresholds"
    if "linkage" in met:
        yield "hardly any record can be linked to its original"
    rest = [question for question in met if question not in ("singling_out", "inference", "linkage")]
    if rest or not met:
        names = ", ".join(wording.SHORT_QUESTIONS[question] for question in rest) or "all measures"
        yield f"the thresholds of {names} are met"
    if left:
        yield f"not asked: {_joined([wording.SHORT_QUESTIONS[question] for question in left])}"


def _known(columns: Sequence[str]) -> str:
    """The columns that an intruder knows, the first of them by name."""
    names = [_name(name) for name in columns[:_NAMED_COLUMNS]]
    more = len(columns) - len(names)
    if more > 0:
        return f"{', '.join(names)} and {wording.plural(more, 'further column')}"
    return _joined(names)


def _quoted(names: Sequence[str]) -> str:
    return _joined([f"'{_name(name)}'" for name in names])


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _name(column: str) -> str:
    return wording.visible(column, 40)


def _plain(finding: Finding) -> str:
    return _lowered(finding.statement.removesuffix("."))


def _lowered(text: str) -> str:
    """A sentence as a part of another; names and abbreviations keep their capitals."""
    if len(text) > 1 and text[0].isupper() and text[1].islower():
        return text[0].lower() + text[1:]
    return text
