"""The release itself: carried out, measured, written with everything that goes with it."""

from __future__ import annotations

import json
from typing import Any

from crypsis import progress
from crypsis import protection as an
from crypsis.assessment import assess as ask
from crypsis.columns.histograms import histograms
from crypsis.policies import load_policy
from crypsis.protection.masking import Mask, parse_mask
from crypsis.report.charts.utility import before_and_after
from crypsis.report.figures import figure
from crypsis.web.operations._assess import assessment_view, write_report
from crypsis.web.operations._figures import figure_view
from crypsis.web.operations._notation import ValueNotation
from crypsis.web.operations._plan import (
    asked_options,
    of_people,
    remaining,
    unchanged,
    with_population,
    without_excluded,
)
from crypsis.web.operations._scan import bars_view
from crypsis.web.operations._session import TableSession
from crypsis.web.results import RELEASED, remove


def anonymize(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int],
    masks: dict[str, dict[str, Any]],
    recoding: an.RecodingKind,
    form: str,
    policy: str,
    population: int | None = None,
    seed: int = 0,
    neutralize_formulas: bool = False,
    answers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Anonymize the table and write release, statement, plan, report and key to the folder."""
    with session.engine, progress.step("making the release", total=4) as step:
        person = options.get("person")
        release = session.release(
            file,
            without_excluded(roles, options),
            population=population,
            person=person,
            weight=options.get("weight"),
            household=options.get("household"),
        )
        release = with_population(session, release, options)
        anonymized = an.anonymize(
            release,
            **asked_options(options, hierarchies),
            **of_people(options),
            methods={**(options.get("methods") or {}), **masks_of(masks)},
            levels=levels,
            recoding=recoding,
            seed=_drawn(session, choices_text(file, options, hierarchies, levels, masks, recoding)),
        )
        step.advance()
        name = f"release.{form}"
        session.made = None  # the earlier release, whose files are not of this one
        remove(session.folder, RELEASED)
        anonymized = anonymized.write(
            session.folder / name, overwrite=True, neutralize_formulas=neutralize_formulas and form == "csv"
        )
        plan = anonymized.plan
        assert plan is not None  # noqa: S101 - anonymize makes one
        plan.save(session.folder / "plan.toml", overwrite=True)
        anonymized.key.save(session.folder / "reidentification.key.json", overwrite=True)
        step.advance()
        lost = anonymized.utility
        pairs = _pairs(anonymized)
        step.advance()
        rows = anonymized.key.row_map
        original = anonymized.original if rows is None or rows else None  # the largest releases have no map
        after = ask(
            anonymized.data,
            original,
            policy=policy,
            row_map=rows or None,
            name=name,
            seed=seed,
            together=list(anonymized.apart) or None,
            answers=_of_policy(answers or {}, policy),
        )
        write_report(session, after, "report-after")
        session.made = anonymized, after, name
        step.advance()
    drawn = [figure(before_and_after(lost))] if _has_bits(lost) else []
    measured = None if anonymized.measured is None else anonymized.measured.to_dict()
    return {
        "form": form,
        "rows_before": lost.rows_before,
        "rows_after": lost.rows_after,
        "plan": [list(row) for row in plan.rows()],
        "requirements": plan.requirements.model_dump(mode="json", exclude_none=True),
        "measured": measured,
        "loss": anonymized.loss.to_dict(),
        "separation": anonymized.loss.separation,
        "methods": [method.to_dict() for method in anonymized.methods],
        "columns": [column.to_dict() for column in lost.columns],
        "removed": list(lost.removed),
        "released": remaining(anonymized),
        "unchanged": unchanged(anonymized),
        "histograms": pairs,
        "figures": [figure_view(figure) for figure in drawn],
        "after": assessment_view(after),
    }


def choices_text(file: dict[str, Any], *choices: Any) -> str:
    """What a release is made of, as text that is equal for equal choices of the same file."""
    return json.dumps([file, *choices], sort_keys=True, default=str)


def _drawn(session: TableSession, choices: str) -> int | None:
    """The seed with which these choices were tried; None if others were."""
    return session.tried[1] if session.tried is not None and session.tried[0] == choices else None


def _of_policy(answers: dict[str, str], policy: str) -> dict[str, str]:
    """The answers that were given to the checklist of this policy."""
    items = {entry.item for entry in load_policy(policy).checklist}
    return {item: answer for item, answer in answers.items() if item in items}


def _pairs(anonymized: an.Anonymized) -> dict[str, Any]:
    """The distribution of each released column, as it was and as it is."""
    before = {histogram.column: histogram for histogram in histograms(anonymized.original)}
    after = {histogram.column: histogram for histogram in histograms(anonymized.data)}
    notation = ValueNotation.of(anonymized.original)
    return {
        name: {"before": bars_view(before[name], notation), "after": bars_view(bars, notation)}
        for name, bars in after.items()
        if name in before and before[name].counts and bars.counts
    }


def _has_bits(lost: Any) -> bool:
    return any(column.entropy_before_bits is not None for column in lost.columns)


def masks_of(masks: dict[str, dict[str, Any]]) -> dict[str, Mask]:
    """The masks chosen on the page, by column."""
    return {
        name: parse_mask(
            mask["method"] if mask.get("amount") is None else f"{mask['method']}:{mask['amount']}"
        )
        for name, mask in masks.items()
    }
