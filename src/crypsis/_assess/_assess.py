"""`assess`: may this release leave the house?"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crypsis import __version__, progress, singling_out
from crypsis._assess import _questions as q
from crypsis._assess._columns import look, measure_columns, with_roles
from crypsis._assess._remedies import Setting, with_remedies
from crypsis._assess._sampled import ask_crowds
from crypsis._assess._sampled_secrets import ask_secrets
from crypsis.errors import Cancelled, InputError, ParameterError, TooLarge
from crypsis.policy import QUESTIONS, Policy, hold, load_policy, verdict
from crypsis.release import Release, as_release
from crypsis.results import Answer, Assessment, Change, ColumnRole, Finding, Status

_TRIED_UP_TO = 200_000
_PARTS = ("duckdb", "narwhals", "numba", "numpy", "pyarrow", "scipy")


def assess(
    release: Any,
    original: Any = None,
    belief: Any = None,
    policy: str | Path | Policy = "default",
    *,
    accept_guesses: bool = False,
    on: str | None = None,
    row_map: Sequence[int] | None = None,
    try_remedies: bool | None = False,
    exact: bool = False,
    name: str = "the release",
    source: Sequence[str] = ("DATA",),
    original_source: Sequence[str] = ("ORIGINAL",),
    attack_source: str = "ATTACK.toml",
    seed: int = 0,
    **roles: Any,
) -> Assessment:
    """Ask all the questions that the data allows, and hold the answers against a policy.

    Roles that nobody decided are guessed, and then the verdict is at best "cannot tell", unless
    `accept_guesses`. `original` (row by row, joined `on` a column of record numbers, or by a
    `row_map` such as `anonymize.Key.load(path).row_map`) brings in linkage, `belief` (see
    `pseudonyms.Belief`) the pseudonyms. With `try_remedies` the proposed anonymization is carried
    out in memory and measured (None: where that takes seconds). Interrupted work (Ctrl-C, or a
    listener of the progress that raises Cancelled) gives what is known by then, with `complete`
    False.

    `name` is what the report calls the data; `source`, `original_source` and `attack_source` are
    the words that name the files in commands. Missing values count as the release says. On very
    many rows what has too many values to count is estimated, with its interval; `exact` counts it.
    Cost: a scan per column and one for the cells of quasi-identifiers and sensitive columns; all
    else is counted in those.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "disease": ["flu", "gout", "flu"]})
    >>> found = assess(people, quasi_identifiers=["age"], sensitive=["disease"])
    >>> found.verdict.value, found.findings[0].measure
    ('not safe', 'singling_out.share_in_small_crowds')
    """
    given = as_release(release, **roles)
    before = None if original is None else as_release(original)
    rules = load_policy(policy)
    if seed < 0:
        raise ParameterError(f"A seed is a whole number of at least 0; {seed} was given.")
    columns = look(given, seed, exact=exact)
    ready = with_roles(given, columns)
    known = _as_belief(belief)
    work = _Work(ready, columns, before, known, rules, on, seed, exact, row_map)
    work.run()
    findings = hold(rules, work.measured)
    setting = Setting(
        ready, columns, rules, tuple(source), seed, before, tuple(original_source),
        known, attack_source,
    )  # fmt: skip
    tried = _worth_trying(work) if try_remedies is None else try_remedies
    findings, complete = _remedied(findings, setting, tried and work.complete, work.complete)
    reasons = _reasons(columns, findings, accept_guesses, complete)
    return Assessment(
        verdict=verdict(findings, reasons),
        complete=complete,
        reasons=reasons,
        name=name,
        rows=given.count,
        policy=_told(rules),
        columns=columns,
        findings=findings,
        answers=tuple(_answer(name, work.answers[name], findings) for name in work.answers),
        changes=work.changes,
        parameters={
            "seed": seed,
            "missing": given.missing.value,
            "person": given.person,
            "weight": given.weight,
            "population": _size(given.population),
            "original_rows": None if before is None else before.count,
            "on": on,
            "row_map": row_map is not None,
            "attack": belief is not None,
            "accept_guesses": accept_guesses,
            "try_remedies": tried,
            "exact": exact,
        },
        versions=_versions(),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


class _Work:
    """The questions, one after the other, and what is known so far."""

    def __init__(
        self, release: Release, columns: Sequence[ColumnRole], original: Release | None,
        belief: Any, policy: Policy, on: str | None, seed: int, exact: bool,
        row_map: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.release, self.columns, self.original = release, columns, original
        self.belief, self.row_map = belief, row_map
        self.policy, self.on, self.seed, self.exact = policy, on, seed, exact
        self.measured: list[Any] = []
        self.answers: dict[str, q.Asked] = {}
        self.changes: tuple[Change, ...] = ()
        self.complete = True

    def run(self) -> None:
        """Ask everything, or as much as there is time for."""
        release, policy, seed = self.release, self.policy, self.seed
        asks: dict[str, Callable[[], q.Asked]] = {
            "singling_out": lambda: ask_crowds(release, policy, seed, exact=self.exact),
            "inference": lambda: ask_secrets(release, policy, seed, exact=self.exact),
            "linkage": lambda: q.ask_linkage(
                release, self.original, policy, self.on, seed, self.row_map
            ),
            "pseudonyms": lambda: q.ask_pseudonyms(self.belief, policy, seed),
        }
        try:
            with progress.step("assessing", total=len(asks)) as step:
                self._count_once()
                for name, ask in asks.items():
                    self._take(name, q.guarded(name, policy, ask))
                    step.advance()
                self.changes = _changes(self.original, release)
        except (KeyboardInterrupt, Cancelled):
            self.complete = False

    def _take(self, name: str, asked: q.Asked) -> None:
        self.answers[name] = asked
        self.measured += asked.measured
        if asked.stopped:  # the search hands over what it has when it is stopped
            raise Cancelled

    def _count_once(self) -> None:
        """One scan for the cells that singling out and inference share."""
        self.measured += measure_columns(self.release, self.columns, self.policy)
        names = (*self.release.quasi_identifiers, *self.release.sensitive)
        if names:
            try:
                self.release.cells(names)
            except (InputError, TooLarge):
                return  # each question then asks for what it needs, and says so if it cannot


def _changes(original: Release | None, release: Release) -> tuple[Change, ...]:
    """Crowds before and after, in the columns that both files have."""
    if original is None:
        return ()
    names = [name for name in release.quasi_identifiers if name in original.names]
    if not names:
        return ()
    try:
        before, after = (singling_out.crowds(one, names) for one in (original, release))
    except (InputError, TooLarge):
        return ()
    return (
        Change("smallest crowd", before.k, after.k, "people"),
        Change("in crowds of fewer than five", before.prosecutor.above, after.prosecutor.above,
               "fraction"),
        Change("average risk", before.prosecutor.average, after.prosecutor.average, "fraction"),
        Change("distinct combinations", before.classes, after.classes, "combinations"),
        Change("rows", original.count, release.count, "rows"),
    )  # fmt: skip


def _worth_trying(work: _Work) -> bool:
    """Whether a remedy is tried without being asked for: the time goes with the crowds."""
    asked = work.answers.get("singling_out")
    crowds: Any = None if asked is None else asked.results.get("crowds")
    return crowds is not None and crowds.classes <= _TRIED_UP_TO


def _remedied(
    findings: Sequence[Finding], setting: Setting, tried: bool, complete: bool
) -> tuple[tuple[Finding, ...], bool]:
    """The findings with their remedies; interrupted, with remedies that were not tried."""
    try:
        return with_remedies(findings, setting, tried=tried), complete
    except (KeyboardInterrupt, Cancelled):
        return with_remedies(findings, setting, tried=False), False


def _reasons(
    columns: Sequence[ColumnRole], findings: Sequence[Finding], accepted: bool, complete: bool
) -> tuple[str, ...]:
    """What keeps the release from being called safe."""
    reasons = []
    if not complete:
        reasons.append("The assessment was interrupted; what is not listed was not looked at.")
    outside = [one for one in findings if one.status is Status.OUTSIDE]
    if outside:
        noun = "threshold is" if len(outside) == 1 else "thresholds are"
        reasons.append(f"{len(outside)} {noun} broken.")
    guessed = sum(one.guessed for one in columns)
    if guessed and not accepted:
        reasons.append(
            f"{guessed} of {len(columns)} roles are guesses. Decide them: crypsis scan DATA --save "
            "roles.toml, read and correct that file, then --roles roles.toml."
        )
    free = [one.column for one in columns if one.free_text]
    if free:
        reasons.append(f"Free text is never called safe: {', '.join(map(repr, free))}.")
    missing = [one for one in findings if one.status is Status.UNKNOWN]
    reasons += [f"{one.measure}: {one.statement}" for one in missing]
    return tuple(dict.fromkeys(reasons))


def _answer(question: str, asked: q.Asked, findings: Sequence[Finding]) -> Answer:
    states = [one.status for one in findings if one.question == question]
    order = (Status.OUTSIDE, Status.UNKNOWN, Status.WITHIN)
    status = next((state for state in order if state in states), Status.NOT_ASKED)
    if not asked.results:
        status = Status.UNKNOWN if status is Status.UNKNOWN else Status.NOT_ASKED
    title = QUESTIONS[question]
    return Answer(question, title, status, asked.headline, asked.results, tuple(asked.notes))


def _as_belief(belief: Any) -> Any:
    if belief is None:
        return None
    from crypsis.pseudonyms import Belief  # not before it is asked for: it takes a second to load

    return belief if isinstance(belief, Belief) else Belief(belief)


def _size(population: int | Release | None) -> int | None:
    return population.count if isinstance(population, Release) else population


def _told(policy: Policy) -> dict[str, Any]:
    return policy.model_dump(mode="json", exclude={"small_zip3"}, exclude_none=True)


def _versions() -> dict[str, str]:
    parts = {name: version(name) for name in _PARTS}
    return {"crypsis": __version__, "python": platform.python_version(), **parts}
