"""The release itself: carried out, measured, written with everything that goes with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from crypsis import anonymize as an
from crypsis import progress
from crypsis._assess import assess as ask
from crypsis.errors import ParameterError
from crypsis.release import Release, Role
from crypsis.report.charts.utility import before_and_after
from crypsis.report.figures import figure
from crypsis.web.operations._assessing import assessment_told, figure_told, write_report
from crypsis.web.operations._desk import Desk
from crypsis.web.operations._planning import planned

_MASKS: dict[str, tuple[Any, str | None]] = {
    "noise": (an.Noise, "scale"),
    "rank-swap": (an.RankSwap, "percent"),
    "shuffle": (an.Shuffle, None),
    "microaggregate": (an.Microaggregate, "k"),
    "pram": (an.Pram, "stay"),
    "round": (an.Round, "base"),
    "top": (an.TopCode, "limit"),
    "bottom": (an.BottomCode, "limit"),
    "pseudonym": (an.Pseudonym, None),
}


def make(
    desk: Desk,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int],
    masks: dict[str, dict[str, Any]],
    same_levels: bool,
    form: str,
    policy: str,
    population: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Carry the plan out and write release, statement, plan, report and key to the folder."""
    with desk.engine, progress.step("making the release", total=4) as step:
        release = desk.release(file, roles, population=population)
        masked = _masked(release, masks)
        subject = release if masked is None else masked.release
        plan = planned(subject, options, hierarchies)
        if any(levels.values()):
            plan = an.Sketch(subject, plan).chosen_plan(levels)
        made = plan.apply(subject, local=not same_levels)
        made = _together(release, masked, made)
        step.advance()
        target = made.write(desk.folder / f"release.{form}", overwrite=True)
        plan.save(desk.folder / "plan.toml", overwrite=True)
        made.key.save(desk.folder / "owner.key.json", overwrite=True)
        step.advance()
        lost = made.utility
        step.advance()
        after = ask(made.release, policy=policy, name=target.name, source=(target.name,), seed=seed)
        write_report(desk, after, "report-after")
        step.advance()
    drawn = [figure(before_and_after(lost))] if _has_bits(lost) else []
    measured = None if made.measured is None else made.measured.to_dict()
    return {
        "form": form,
        "rows_before": lost.rows_before,
        "rows_after": lost.rows_after,
        "plan": [list(row) for row in plan.rows()],
        "promise": plan.promise.model_dump(mode="json", exclude_none=True),
        "measured": measured,
        "loss": made.loss.to_dict(),
        "methods": [one.to_dict() for one in made.methods],
        "columns": [one.to_dict() for one in lost.columns],
        "removed": list(lost.removed),
        "figures": [figure_told(one) for one in drawn],
        "after": assessment_told(after),
    }


def _has_bits(lost: Any) -> bool:
    return any(one.entropy_before_bits is not None for one in lost.columns)


def _masked(release: Release, masks: dict[str, dict[str, Any]]) -> an.Anonymized | None:
    """The masked columns; one with pseudonyms is no identifier any more, and stays."""
    if not masks:
        return None
    chosen: dict[str | tuple[str, ...], Any] = {
        name: _mask(name, given) for name, given in masks.items()
    }
    made = an.mask(release, chosen)
    hidden = {name for name, method in chosen.items() if isinstance(method, an.Pseudonym)}
    roles = {n: Role.OTHER if n in hidden else role for n, role in made.release.roles.items()}
    return replace(made, release=made.release.with_roles(roles))


def _mask(name: str, given: dict[str, Any]) -> Any:
    word, amount = given.get("method"), given.get("amount")
    if word not in _MASKS:
        raise ParameterError(f"Masks are {', '.join(_MASKS)}; another was given for {name!r}.")
    maker, option = _MASKS[word]
    try:
        return maker(**({} if option is None else {option: amount}))
    except ValidationError:
        raise ParameterError(
            f"The mask {word!r} of the column {name!r} needs an amount in its range."
        ) from None


def _together(release: Release, masked: an.Anonymized | None, made: an.Anonymized) -> an.Anonymized:
    if masked is None:
        return made
    key = an.Key(masked.key.seed, made.key.row_map, masked.key.pseudonyms)
    return replace(made, methods=masked.methods + made.methods, key=key, original=release)
