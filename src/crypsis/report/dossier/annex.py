"""The annex: methods with formulas, thresholds with sources, roles with reasons, parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crypsis.policies.findings import Finding, Status
from crypsis.report import wording
from crypsis.report.dossier.blocks import Block, Bullets, Facts, Grid, Section, Text
from crypsis.report.dossier.content import DossierContent
from crypsis.report.dossier.numbers import numbers
from crypsis.report.plain_titles import plain_title

_METHODS = {
    "singling_out": (
        "Equivalence classes: records with equal values in all quasi-identifiers form a class. In a "
        "class of size f the prosecutor risk, of an intruder who knows that the person is in the "
        "release, is 1/f; k is the smallest f. The marketer risk is the number of classes over the "
        "number of records, the average of 1/f (El Emam 2013). Where people have several records, f "
        "is the number of people in the class, and each person counts once, by the smallest of their "
        "classes. Sets of columns are counted as by "
        "Lodha and Thomas (2007): F₁ = S/n, the fraction of the n records that are unique."
    ),
    "inference": (
        "Inference: without the release the best guess of a sensitive attribute X is right with "
        "probability maxₓ p(x), in an equivalence class y with maxₓ p(x|y); the gain is the "
        "difference. The t of t-closeness is the largest earth mover's distance between the "
        "distribution in a class and that of all records (Li et al. 2007). ITPR is the largest "
        "1 − |Y| p(y) H(X|Y=y) / H(X)."
    ),
    "linkage": (
        "Linkage: each intruder of a suite links every original record to the masked record that is "
        "nearest by ranks, by values or by a learned matcher (Domingo-Ferrer and Muralidhar 2016, "
        "Sec. 5, and others). Correct links are compared with chance, 1/n."
    ),
    "pseudonyms": (
        "Pseudonyms: with m(i,j) = P(i,j) · per(P without row i and column j) / per(P), the expected "
        "cracks are the sum of m over the true pairs, and the degree of anonymity is the entropy of "
        "the matching over log t! (Bagai and others 2017)."
    ),
    "releases": "Earlier releases: the classes that a person is in are intersected over all releases.",
    "synthetic": "Synthetic records: attacks on training records are compared with a control group.",
}
_VERDICT = (
    "Verdict: an estimate meets or exceeds a threshold only with its complete confidence interval; "
    "in between the threshold is not evaluated. The verdict is 'cannot tell' if a required "
    "threshold is not evaluated, or if roles are guesses that were not accepted."
)
_PARAMETERS = {
    "seed": "Seed of the analysis",
    "context": "Recipient in the policy's sense",
    "missing": "How missing values count",
    "person": "Column of the person",
    "household": "Column of the household",
    "weight": "Column of the weight",
    "stratum": "Column of the stratum",
    "cluster": "Column of the cluster",
    "population": "People in the population",
    "original_rows": "Records of the original",
    "on": "Column of record numbers",
    "row_map": "Original rows known from the key",
    "together_rows": "Records of further files",
    "earlier_releases": "Earlier releases",
    "synthetic": "Judged as synthetic",
    "holdout_rows": "Records of the control group",
    "attack": "Attack on pseudonyms given",
    "accept_guesses": "Guessed roles accepted",
    "try_remedies": "Remedies tried",
    "exact": "Everything counted exactly",
}
_WORDS = {
    True: "yes",
    "value": "as a value of its own",
    "wildcard": "as any value",
    "drop": "records with one are left out",
}


def annex(dossier: DossierContent) -> Iterator[Section]:
    """The sections of the annex."""
    yield _methods(dossier)
    yield _thresholds(dossier)
    yield _roles(dossier)
    yield _parameters(dossier)
    if dossier.sha256 is not None:
        yield _verification(dossier)


def _methods(dossier: DossierContent) -> Section:
    assessment = dossier.assessment
    blocks: list[Block] = [Text(_VERDICT)]
    for answer in assessment.answers:
        if answer.results and answer.question in _METHODS:
            blocks += [Text(_METHODS[answer.question]), *numbers(answer)]
    blocks += [Text("The release was made so:"), Bullets(dossier.methods)] if dossier.methods else []
    return Section("methods", "Annex A: Methods", tuple(blocks))


def _thresholds(dossier: DossierContent) -> Section:
    assessment = dossier.assessment
    in_policy = [finding for finding in assessment.findings if finding.status is not Status.NOT_ASKED]
    rows = tuple(
        (
            plain_title(same[0].measure, same[0].k),
            wording.limit(same[0]),
            _by_status(same),
            f"{same[0].why} Source: {same[0].source}.",
        )
        for same in wording.by_threshold(in_policy)
    )
    policy = assessment.policy
    about = f"Policy {policy['title']}: {policy['summary']} Source: {policy['source']}."
    left = len(assessment.findings) - len(in_policy)
    if left:
        about += (
            f" {wording.plural(left, 'threshold')} of the policy {'is' if left == 1 else 'are'} "
            "about what was not asked, and not listed."
        )
    head = ("What is limited", "Allowed", "Found", "Why, and where the threshold comes from")
    return Section("thresholds", "Annex B: Thresholds and their sources", (Text(about), Grid(head, rows)))


def _by_status(findings: Sequence[Finding]) -> str:
    """The values that were found, by whether they meet the threshold."""
    texts_by_status: dict[str, list[str]] = {}
    for finding in findings:
        texts = texts_by_status.setdefault(finding.status.value, [])
        value = None if finding.value is None else wording.number(finding.value, finding.unit)
        if finding.question == "inference" and finding.columns:
            name = wording.visible(finding.columns[0], 40)
            texts.append(name if value is None else f"{name} {value}")
        elif value is not None:
            texts.append(value)
        if finding.question == "columns" and finding.columns:
            texts.append(wording.visible(wording.named(finding.columns), 300))
    return "; ".join(
        f"{status}: {', '.join(texts)}" if texts else status for status, texts in texts_by_status.items()
    )


def _roles(dossier: DossierContent) -> Section:
    rows = []
    listed = any(finding.measure == "columns.hipaa_identifiers" for finding in dossier.assessment.findings)
    for column in dossier.assessment.columns:
        role = f"{column.role} (guess, {round(100 * column.confidence)} %)" if column.guessed else column.role
        missing = f"{column.missing:,}" if column.missing else "–"
        reason = wording.column_evidence(column)
        if column.hipaa and listed:
            reason += f" HIPAA: {column.hipaa}."
        name = wording.visible(column.column, 40)
        rows.append(
            (name, role, column.kind, f"{round(column.distinct):,}", missing, wording.visible(reason, 600))
        )
    head = ("Column", "Role", "Type", "Values", "Missing", "Reason")
    return Section("columns", "Annex C: Roles of the columns", (Grid(head, tuple(rows), (3, 4)),))


def _parameters(dossier: DossierContent) -> Section:
    assessment = dossier.assessment
    pairs = []
    for name, value in assessment.parameters.items():
        if value not in (None, False, 0) or name == "seed":
            text = _WORDS.get(value) if isinstance(value, str | bool) else None
            text = text or wording.visible(_value(value), 200)
            pairs.append((_PARAMETERS.get(name, name.replace("_", " ").capitalize()), text))
    versions = ", ".join(f"{name} {number}" for name, number in assessment.versions.items())
    pairs += [
        ("Versions", versions),
        ("Assessed", assessment.made.replace("T", " ").replace("+00:00", " UTC")),
    ]
    return Section("parameters", "Annex D: Parameters and versions", (Facts(tuple(pairs)),))


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _verification(dossier: DossierContent) -> Section:
    file = dossier.file or "the file"
    quoted = '"' + file.replace('"', "") + '"'
    commands = f"sha256sum {quoted}\nshasum -a 256 {quoted}\ncertutil -hashfile {quoted} SHA256"
    package = "sha256sum -c SHA256SUMS\nshasum -a 256 -c SHA256SUMS"
    return Section(
        "digest",
        "Annex E: How to verify the file",
        (
            Text(
                "One of these commands (Linux, macOS, Windows) prints the digest of a file. It is this "
                "release if and only if it prints:"
            ),
            Text(dossier.sha256 or "", "code"),
            Text(commands, "code"),
            Text(
                "If it came in a package (a .zip file), unpack that. One of these commands (Linux, "
                "macOS), in the folder with SHA256SUMS, checks every file of it:"
            ),
            Text(package, "code"),
        ),
    )
