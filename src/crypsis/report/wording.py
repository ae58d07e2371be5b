"""How an assessment is worded, alike in the terminal, in Markdown, on the page and in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from crypsis.errors import python_option, render_hint
from crypsis.policies.assessed import AssessmentData, ColumnRole
from crypsis.policies.findings import NOT_TRIED, Finding, Reason, Remedy, Status, Verdict
from crypsis.results import Estimate, Number, percent_text

VERDICTS = {
    Verdict.SAFE: "Safe to release under this policy",
    Verdict.NOT_SAFE: "Not safe to release",
    Verdict.CANNOT_TELL: "Cannot tell whether it is safe",
}
SHORT_QUESTIONS = {
    "columns": "direct identifiers and free text",
    "singling_out": "singling out",
    "inference": "inference",
    "linkage": "linkage",
    "pseudonyms": "pseudonyms",
    "releases": "earlier releases",
    "synthetic": "synthetic records",
}
STATUSES = {
    Status.EXCEEDED: "threshold exceeded",
    Status.NOT_EVALUATED: "not evaluated",
    Status.MET: "threshold met",
    Status.NOT_ASKED: "not asked",
}
TERMS = {
    "singling_out": "k-anonymity, re-identification risk",
    "inference": "l-diversity, t-closeness, attribute disclosure",
    "linkage": "record linkage by a maximum-knowledge intruder",
    "pseudonyms": "expected cracks, degree of anonymity",
    "releases": "classes intersected over releases, differences between them",
    "synthetic": "attacks on training records, beside a control group",
}
CLEAN_COPY = "crypsis rewrite FILE -o clean.parquet"
"""The command that makes the clean copy of a file; the command line names the file in it."""
_SHOWN_COLUMNS = 6
"""A sentence names so many columns, and counts the others."""
_SHOWN_UNDECIDED = 20
"""A sentence about undecided columns names so many, as each has to be decided."""
# Control characters and marks of direction or of no width: they hide or reorder text.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def python_call(remedy: Remedy) -> str | None:
    """A remedy as a call in Python, where there is one.

    >>> python_call(Remedy("anonymize", "", {"k": 5, "closeness": 0.2}))
    'crypsis.anonymize(data, k=5, closeness=0.2)'
    """
    parameters = remedy.parameters
    if remedy.action == "anonymize":
        rest = {name: value for name, value in parameters.items() if name != "excluded"}
        options = "".join(f", {name}={value!r}" for name, value in rest.items())
        excluded = "".join(f", {name!r}: 'excluded'" for name in parameters.get("excluded", ()))
        data = f"data.with_roles({{**data.roles{excluded}}})" if excluded else "data"
        return f"crypsis.anonymize({data}{options})"
    if remedy.action == "rank_swap":
        columns, percent = list(parameters["columns"]), parameters["percent"]
        return f"crypsis.protection.masking.rank_swap(original, {columns!r}, percent={percent!r})"
    if remedy.action == "suppress_items" and parameters:
        return "crypsis.pseudonyms.crack_probabilities(belief)"
    return None


@dataclass(frozen=True)
class Phrasing:
    """How a surface words what to do: options of hints, remedies, and hints of its own."""

    option: Callable[[str, str | None], str] = python_option
    remedy: Callable[[Remedy], str | None] = python_call
    hints: Mapping[str, str] = field(default_factory=dict)
    """Hints that replace that of a reason, by the code of the reason."""

    def sentence(self, text: str, hint: str) -> str:
        """A sentence and its hint."""
        return f"{text} {render_hint(hint, self.option)}".strip()

    def reason(self, reason: Reason) -> str:
        """A reason and what to do about it."""
        return self.sentence(reason.text, self.hints.get(reason.code, reason.hint))


def visible(text: str, most: int = 120) -> str:
    """Text from the data without characters that hide or reorder text, cut at this length."""
    clean = UNSEEN.sub("", text)
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def plural(count: int, noun: str) -> str:
    """A count and its noun.

    >>> plural(1, "record"), plural(1200, "class"), plural(0, "column")
    ('1 record', '1,200 classes', '0 columns')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def records(assessment: AssessmentData) -> str:
    """The records, and the people whose they are, if that is known."""
    record_count = plural(assessment.rows, "record")
    if assessment.people is None:
        return record_count
    return f"{record_count} of {assessment.people:,} {'person' if assessment.people == 1 else 'people'}"


def listed(names: Sequence[str]) -> str:
    """Names in quotes, with commas."""
    return ", ".join(map(repr, names))


def named(names: Sequence[str], most: int = _SHOWN_COLUMNS) -> str:
    """The first names in quotes, and how many more there are.

    >>> named(["age", "sex", "zip"]), named(["age", "sex", "zip"], 2)
    ("'age', 'sex', 'zip'", "'age', 'sex' and 1 more")
    """
    more = len(names) - most
    return f"{listed(names[:most])} and {more} more" if more > 0 else listed(names)


_ONE = {"people": "person", "classes": "class"}


def number(value: Number | None, unit: str) -> str:
    """A number with its unit: fractions in per cent, an estimate with its interval.

    >>> number(1810.3, "times"), number(1, "people"), number(1.5, "times"), number(0.25, "fraction")
    ('1,810 times', '1 person', '1.5 times', '25 %')
    """
    if value is None:
        return "–"
    if isinstance(value, Estimate):
        return value.phrase(*(number(end, unit) for end in (value.value, value.low, value.high)))
    if unit == "fraction":
        return percent_text(value)
    text = f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.3g}"
    return f"{text} {_ONE.get(unit, unit.removesuffix('s')) if value == 1 else unit}"


def too_wide(finding: Finding) -> str:
    """Why an estimate decides nothing, as a sentence after others: its interval has the threshold."""
    value = finding.value
    if not isinstance(value, Estimate) or not value.low <= finding.threshold < value.high:
        return ""
    middle, low, high = (number(n, finding.unit) for n in (value.value, value.low, value.high))
    return f" The estimate, {middle}, may be anything from {low} to {high}, and allowed is {limit(finding)}."


def limit(finding: Finding) -> str:
    """The threshold of a finding in words."""
    return f"{finding.comparison} {number(finding.threshold, finding.unit)}"


def affected(finding: Finding) -> str:
    """How many records a finding affects."""
    return "–" if finding.affected is None else f"{finding.affected:,}"


def by_threshold(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings by their threshold: those that differ in the column alone are together."""
    findings_by_key: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.measure, finding.k, finding.comparison, finding.threshold, finding.why, finding.source)
        findings_by_key.setdefault(key, []).append(finding)
    return list(findings_by_key.values())


def some(names: Sequence[str], most: int = _SHOWN_COLUMNS) -> list[str]:
    """The first names, and how many more there are."""
    more = len(names) - most
    return [*names[:most], *([f"and {more} more"] if more > 0 else [])]


def verdict_text(
    verdict: Verdict, complete: bool, not_asked: Iterable[str], *, no_sensitive: bool = False
) -> str:
    """The verdict in one sentence, with the questions that were not asked.

    >>> verdict_text(Verdict.SAFE, True, ["inference"])
    'Safe to release under this policy; not part of this policy: inference'
    >>> verdict_text(Verdict.SAFE, True, [], no_sensitive=True)
    'Safe to release under this policy; inference not asked: no sensitive attribute'
    """
    outside = list(not_asked)
    names = ", ".join(SHORT_QUESTIONS[question] for question in outside)
    scope = f"; not part of this policy: {names}" if names else ""
    if no_sensitive and "inference" not in outside:
        scope += f"; {SHORT_QUESTIONS['inference']} not asked: no sensitive attribute"
    return VERDICTS[verdict] + ("" if complete else " (incomplete)") + scope


def head(assessment: AssessmentData) -> str:
    """The verdict in one line."""
    return assessment.statement


def outcome(assessment: AssessmentData) -> str:
    """Whether the policy passes."""
    if assessment.verdict is Verdict.CANNOT_TELL:
        return "not decided"
    return "passes" if assessment.verdict is Verdict.SAFE else "fails"


def undecided_text(names: Sequence[str]) -> str:
    """Which columns are undecided.

    >>> undecided_text(["V1", "V2"])
    "2 columns are undecided: 'V1', 'V2'."
    """
    verb = "is" if len(names) == 1 else "are"
    return f"{plural(len(names), 'column')} {verb} undecided: {named(names, _SHOWN_UNDECIDED)}."


def column_evidence(column: ColumnRole) -> str:
    """Why a column has its role, what contradicts it, and what the owner says about that."""
    decided = "" if column.guessed else "Decided by the owner; "
    parts = [f"{decided}{column.reason.rstrip('.')}."]
    if column.evidence and not column.guessed and column.role != "identifier":
        parts.append("That is strong evidence of a direct identifier.")
    if column.stricter_role:
        parts.append(f"That is strong evidence of a {column.stricter_role} column.")
    if column.override:
        parts.append(f"The owner's reason: {column.override}")
    return " ".join(parts)


def overrides(assessment: AssessmentData) -> list[str]:
    """The reasons that the owner gives for roles that contradict the evidence."""
    return [
        f"{column.column!r} is {column.role} although: {column.evidence or column.stricter_reason} "
        f"The owner's reason: {column.override}"
        for column in assessment.columns
        if column.override and (column.evidence or column.stricter_role) and not column.guessed
    ]


def guesses_text(guessed: int, columns: int) -> str:
    """How many roles are guesses."""
    return f"{guessed} of {plural(columns, 'role')} {'is a guess' if guessed == 1 else 'are guesses'}."


def guesses(assessment: AssessmentData) -> str | None:
    """That roles are guesses; it comes first in every report."""
    guessed = len(assessment.guessed)
    if not guessed:
        return None
    accepted = assessment.parameters.get("accept_guesses")
    after = "They were accepted." if accepted else "With guessed roles the verdict cannot be safe."
    return f"{guesses_text(guessed, len(assessment.columns))} {after}"


def missing(assessment: AssessmentData, phrasing: Phrasing) -> list[str]:
    """What is missing for a verdict: what to do about the first reason, then the others.

    The first reason itself is in the explanation.
    """
    if not assessment.reasons:
        return []
    first, *later_reasons = assessment.reasons
    hint = phrasing.sentence("", phrasing.hints.get(first.code, first.hint))
    return [*([hint] if hint else []), *map(phrasing.reason, later_reasons)]


def remedies(assessment: AssessmentData, phrasing: Phrasing) -> list[str]:
    """The commands or calls of the remedies, each once."""
    remedies_proposed = [finding.remedy for finding in assessment.exceeded if finding.remedy is not None]
    return list(dict.fromkeys(text for remedy in remedies_proposed if (text := phrasing.remedy(remedy))))


def alternatives(assessment: AssessmentData, phrasing: Phrasing) -> list[tuple[str, str | None]]:
    """What other remedies lose that were tried, and their commands or calls."""
    tried = [
        alternative
        for finding in assessment.exceeded
        if finding.remedy is not None
        for alternative in finding.remedy.alternatives
    ]
    texts = {
        f"{alternative.description} {alternative.outcome}": phrasing.remedy(alternative)
        for alternative in tried
    }
    return list(texts.items())


_WORDS = {
    "k anonymity": "k-anonymity",
    "l diversity": "l-diversity",
    "t closeness": "t-closeness",
    "near certain": "near-certain",
    "itpr": "ITPR",
    "dis suda": "DIS-SUDA",
    "k map": "k-map",
    "delta presence": "delta-presence",
    "container contents": "contents of the file besides the table",
}


def measure_title(name: str, k: int | None = None) -> str:
    """A measure in words, with the class size that it refers to.

    >>> measure_title("singling_out.records_in_small_classes", 5), measure_title("inference.itpr")
    ('records in classes smaller than 5', 'ITPR')
    """
    title = name.partition(".")[2].replace("_", " ") or name
    if k is not None:
        title = title.replace("in small classes", f"in classes smaller than {k:,}")
        title = title.replace("at risk", f"at a risk above 1/{k:,}")
    for word, written in _WORDS.items():
        title = title.replace(word, written)
    return title


def sentence_title(name: str, k: int | None = None) -> str:
    """The same at the beginning of a sentence.

    >>> sentence_title("singling_out.k_anonymity"), sentence_title("inference.near_certain_values")
    ('k-anonymity', 'Near-certain values')
    """
    return capitalized(measure_title(name, k))


def capitalized(title: str) -> str:
    """A title at the beginning of a sentence: "k-anonymity" keeps its small letter."""
    return title if title[1:2] == "-" else title[0].upper() + title[1:]


def remedy_text(remedy: Remedy) -> str:
    """What to do; where columns are to be excluded, with their names and what it comes to."""
    if remedy.action == "exclude_columns" and remedy.outcome not in ("", NOT_TRIED):
        return remedy.outcome
    return remedy.description


def outcomes(assessment: AssessmentData, most: int | None = None) -> list[str]:
    """The measured effects of the remedies that were tried, then what those releases lose."""
    titled_remedies = [
        (measure_title(finding.measure, finding.k), finding.remedy)
        for finding in assessment.exceeded[:most]
        if finding.remedy is not None
    ]
    by_title: dict[str, list[str]] = {}
    for title, remedy in titled_remedies:
        if remedy.outcome and remedy.outcome != NOT_TRIED:
            text = remedy.outcome.removesuffix(remedy.loss).rstrip()
            by_title.setdefault(f"{title[0].upper()}{title[1:]}", []).append(text)
    effects = [f"{title}: {_joined_texts(texts)}" for title, texts in by_title.items()]
    if any(remedy.outcome == NOT_TRIED for _, remedy in titled_remedies):
        effects.append("The remedy was not tried on this release; assess --try measures it.")
    losses = [f"The release that was tried: {remedy.loss}" for _, remedy in titled_remedies if remedy.loss]
    return list(dict.fromkeys([*effects, *losses]))


def _joined_texts(texts: Sequence[str]) -> str:
    """Sentences with the same beginning as one; others one after the other."""
    texts = list(dict.fromkeys(texts))
    start, colon, _ = texts[0].partition(": ")
    if colon and all(text.startswith(start + colon) for text in texts):
        return f"{start}: {'; '.join(t.removeprefix(start + colon).removesuffix('.') for t in texts)}."
    return " ".join(texts)


def clauses(text: str, most: int) -> str:
    """As many clauses of a long sentence as fit, and all before what is released of each column.

    >>> clauses("3 records are suppressed; released: age in 2 intervals; sex as it is.", 60)
    '3 records are suppressed; released: age in 2 intervals; …'
    >>> clauses("NCP is 44 %; still above the threshold: k; released: age in 2 intervals.", 20)
    'NCP is 44 %; still above the threshold: k; …'
    """
    parts = text.split("; ")
    before, released, _ = text.partition("; released: ")
    kept = len(before.split("; ")) if released else 1
    while kept < len(parts) and len("; ".join(parts[: kept + 1])) <= most:
        kept += 1
    return text if kept == len(parts) else f"{'; '.join(parts[:kept])}; …"
