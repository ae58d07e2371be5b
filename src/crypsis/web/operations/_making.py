"""The release itself: carried out, measured, written with everything that goes with it."""

from __future__ import annotations

from typing import Any

from crypsis import anonymize as an
from crypsis import progress
from crypsis._assess import assess as ask
from crypsis.errors import ParameterError
from crypsis.report.charts.utility import before_and_after
from crypsis.report.figures import figure
from crypsis.web.operations._assessing import assessment_told, figure_told, write_report
from crypsis.web.operations._desk import Desk
from crypsis.web.operations._planning import planned


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
        masked = an.masked_first(release, {n: _mask(n, given) for n, given in masks.items()})
        subject = release if masked is None else masked.release
        plan = planned(subject, options, hierarchies)
        if any(levels.values()):
            plan = an.Sketch(subject, plan).chosen_plan(levels)
        made = plan.apply(subject, local=not same_levels)
        made = an.together(release, masked, made)
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


def _mask(name: str, given: dict[str, Any]) -> an.Masking:
    try:
        return an.named_mask(str(given.get("method")), given.get("amount"))
    except ParameterError as error:
        raise ParameterError(f"{error} It was given for the column {name!r}.") from None
