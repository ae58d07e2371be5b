"""`assess`: is this release safe under a policy?"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from crypsis import __version__
from crypsis.assessment import _questions as questions
from crypsis.assessment._checklist import answered_checklist, unanswered
from crypsis.assessment._columns import describe_columns, milder_roles, with_roles
from crypsis.assessment._container import content_reasons
from crypsis.assessment._earlier import about_earlier, open_earlier, with_ledger
from crypsis.assessment._evaluation import Evaluation
from crypsis.assessment._original import about_original
from crypsis.assessment._people import with_units
from crypsis.assessment._questions import QuestionOutcome
from crypsis.assessment._reasons import milder_role_reasons, reasons_against
from crypsis.assessment._remedies import with_remedies
from crypsis.assessment._request import Request
from crypsis.assessment._unmeasured import columns_not_compared, unmeasured
from crypsis.assessment.result import Assessment
from crypsis.dataset import Data, as_dataset, takes_roles
from crypsis.errors import CancelledError, ParameterError
from crypsis.options import Roles
from crypsis.policies import QUESTIONS, Policy, evaluate, load_policy, verdict
from crypsis.policies.assessed import Answer
from crypsis.policies.findings import Finding, Status
from crypsis.report.wording import verdict_text

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief
    from crypsis.releases import LedgerCheck

_DEPENDENCIES = ("duckdb", "narwhals", "numba", "numpy", "pyarrow", "scipy")


@takes_roles()
def assess(
    data: Data,
    original: Data = None,
    belief: Belief | Any = None,
    policy: str | Path | Policy = "default",
    *,
    earlier: Sequence[Data] = (),
    ledger: str | Path | LedgerCheck | None = None,
    synthetic: bool = False,
    holdout: Data = None,
    context: str | None = None,
    answers: Mapping[str, str] | None = None,
    accept_guesses: bool = False,
    on: str | None = None,
    row_map: Sequence[int] | None = None,
    earlier_row_maps: Sequence[Sequence[int]] | None = None,
    together: Data | Sequence[Data] = None,
    try_remedies: bool | None = False,
    exact: bool = False,
    name: str = "the release",
    seed: int = 0,
    **roles: Unpack[Roles],
) -> Assessment:
    """Assess a release: ask every question that the data allows, and compare with a policy.

    Parameters
    ----------
    data : Dataset, frame or path
        The release.
    original : Dataset, frame or path, optional
        The data the release was made from; evaluates linkage.
    belief : Belief or matrix, optional
        An attack on the pseudonyms; evaluates how many are resolved.
    policy : str, Path or Policy
        A preset (`crypsis.policies.PRESETS`), a `.toml` file, or a policy.
    earlier : sequence of Dataset, frame or path, optional
        Earlier releases of the same people; evaluates what they disclose together. Columns have the
        roles of those of the same name; others need their own.
    ledger : str, Path or LedgerCheck, optional
        The ledger of releases, each of which is an earlier one; or what `releases.check_ledger`
        found in it, where its files are in `earlier`.
    synthetic : bool
        Whether the records are synthetic. They are then judged as such: no equivalence classes of
        invented people, but attacks on the people of the training data, which is `original`.
    holdout : Dataset, frame or path, optional
        Records of other people of the same population, which the generator never saw: the control
        group of a synthetic file. Without it "safe" is impossible.
    context : {"public", "registered", "contract", "internal"}, optional
        Who receives the release, where the policy has a release context: adapts its class sizes.
    answers : mapping of str to str, optional
        The owner's signed answers to the checklist of the policy, by item.
    accept_guesses : bool
        Whether guessed roles count as decisions where their confidence is at least 0.8. A column
        without a decision is undecided, and the verdict is then at best "cannot tell".
    on : str, optional
        The column of record numbers in both files; by default records correspond row by row.
    row_map : sequence of int, optional
        The original row of each released row, as in the re-identification key.
    earlier_row_maps : sequence of sequence of int, optional
        The same of each earlier release; with `row_map` the classes that people are in are known.
    together : Dataset, frame or path, or a sequence of them, optional
        Further files of the same release. They are joined on the columns they share with `data`,
        and the joint class sizes count in the verdict. A column without a role has that of the same
        name in `data`; other roles are guessed, and "cannot tell" unless guesses are accepted.
    try_remedies : bool, optional
        Whether remedies are applied in memory and measured, and with them alternatives by other
        recodings; None does so without alternatives, if it takes seconds: where the number of
        equivalence classes times the square of the number of quasi-identifiers is at most 10^6.
    exact : bool
        Whether everything is counted that is estimated on very many rows by default.
    name : str
        The name of the release in the report.
    seed : int
        The seed of the analysis.
    **roles
        See `crypsis.read`. Roles that are not given are guessed.

    Returns
    -------
    Assessment
        With `complete` False if it was interrupted (Ctrl-C, or a progress listener that raises
        `CancelledError`); it then has what is known by then.

    Raises
    ------
    InputError
        If the data, the policy or a parameter cannot be used.

    Notes
    -----
    Missing values count as the dataset says. Cost: one scan per column and one for the cells of
    quasi-identifiers and sensitive attributes; everything else is computed from those.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "disease": ["flu", "gout", "flu"]})
    >>> roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "person": "each record"}
    >>> found = assess(people, **roles)
    >>> found.verdict.value, found.findings[0].measure
    ('not safe', 'singling_out.records_in_small_classes')
    """
    dataset = as_dataset(data, **roles)
    before = None if original is None else with_units(as_dataset(original), dataset.absent)
    rules = load_policy(policy)
    if context is not None:
        rules = rules.in_context(context)
    if seed < 0:
        raise ParameterError(f"Parameter 'seed' must be at least 0; {seed} was given.", parameter="seed")
    columns = describe_columns(dataset, seed, exact=exact)
    checked, earlier = with_ledger(ledger, earlier, data)
    request = Request(
        with_roles(dataset, columns),
        columns,
        rules,
        before,
        _as_belief(belief),
        on,
        row_map,
        open_earlier(earlier, seed, accept_guesses),
        earlier_row_maps,
        checked,
        synthetic,
        None if holdout is None else as_dataset(holdout),
        exact,
        seed,
        accept_guesses,
        questions.other_files(together, dataset, columns, accept_guesses, seed),
    )
    questions.check_earlier(request)
    questions.check_synthetic(request)
    questions.check_record_numbers(request)
    evaluation = Evaluation(request)
    evaluation.run()
    findings = evaluate(rules, evaluation.measured)
    tried = evaluation.tried_in_seconds if try_remedies is None else try_remedies
    complete = evaluation.complete
    try:
        findings = with_remedies(
            findings, request, tried=tried and complete, thorough=complete and try_remedies is True
        )
    except (KeyboardInterrupt, CancelledError):
        complete, findings = False, with_remedies(findings, request, tried=False)
    checklist = answered_checklist(request, answers or {})
    reasons = reasons_against(columns, findings, accept_guesses, complete) + unanswered(checklist)
    answered = evaluation.outcomes.get("singling_out")
    reasons += content_reasons(evaluation.contents)
    reasons += questions.together_reasons(request, answered) + about_earlier(request)
    if synthetic:
        reasons += columns_not_compared(request)
    else:
        reasons += milder_role_reasons(milder_roles(columns, rules)) + about_original(request)
        results = {} if answered is None else answered.results
        reasons += unmeasured(request, results, complete)
    decided = verdict(findings, reasons)
    return Assessment(
        verdict=decided,
        statement=verdict_text(
            decided, complete, rules.not_asked, no_sensitive=not (request.data.sensitive or synthetic)
        ),
        complete=complete,
        reasons=reasons,
        name=name,
        rows=dataset.count,
        people=_people(request),
        policy=rules.model_dump(mode="json", exclude={"small_zip3"}, exclude_none=True),
        columns=columns,
        findings=findings,
        answers=tuple(
            _answer(question, outcome, findings, rules.not_asked.get(question))
            for question, outcome in evaluation.outcomes.items()
        ),
        changes=evaluation.changes,
        not_asked=rules.not_asked,
        checklist=checklist,
        parameters={
            "seed": seed,
            "context": None if rules.context is None else rules.context.recipient,
            "missing": dataset.missing.value,
            "person": request.of_people.data.person,
            "household": request.of_people.data.household,
            "weight": dataset.weight,
            "stratum": dataset.stratum,
            "cluster": dataset.cluster,
            "population": getattr(dataset.population, "count", dataset.population),
            "original_rows": None if before is None else before.count,
            "on": on,
            "row_map": row_map is not None,
            "together_rows": [file.data.count for file in request.together] or None,
            "earlier_releases": len(request.earlier),
            "synthetic": synthetic,
            "holdout_rows": None if request.holdout is None else request.holdout.count,
            "attack": belief is not None,
            "accept_guesses": accept_guesses,
            "try_remedies": tried,
            "exact": exact,
        },
        versions={
            "crypsis": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _DEPENDENCIES},
        },
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _people(request: Request) -> int | None:
    """The number of people, where the column that identifies them is known."""
    data = request.of_people.data
    person_column = next((column for column in request.columns if column.column == data.person), None)
    if person_column is None and data.person is not None:
        return round(data.rows.tally([data.person]).values)
    return None if person_column is None else round(person_column.distinct)


def _answer(
    question: str, outcome: QuestionOutcome, findings: Sequence[Finding], not_asked: str | None
) -> Answer:
    states = [finding.status for finding in findings if finding.question == question]
    order = (Status.EXCEEDED, Status.NOT_EVALUATED, Status.MET)
    status = next((state for state in order if state in states), Status.NOT_ASKED)
    scope = () if not_asked is None else (f"Not part of this policy: {not_asked}",)
    return Answer(
        question,
        QUESTIONS[question],
        status,
        outcome.headline,
        outcome.results,
        (*scope, *outcome.notes),
        outcome.hint,
    )


def _as_belief(belief: Any) -> Belief | None:
    if belief is None:
        return None
    from crypsis.pseudonyms import Belief  # loading it takes a second

    return belief if isinstance(belief, Belief) else Belief(belief)
