"""A plan carried out: steps in the engine, crowds for who is left, and the promise measured."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from crypsis.anonymize._anonymized import Anonymized, Loss
from crypsis.anonymize._each_column import each_column
from crypsis.anonymize._hierarchy import HierarchyGap, as_text
from crypsis.anonymize._key import Key
from crypsis.anonymize._ladder import ladder
from crypsis.anonymize._levels import full_domain
from crypsis.anonymize._methods import methods_told
from crypsis.anonymize._plan import Plan
from crypsis.anonymize._repair import repair
from crypsis.anonymize._staged import staged
from crypsis.anonymize._steps import Keep, Level, Step
from crypsis.anonymize._table import Repair, table_of
from crypsis.anonymize._tell import Told, tell
from crypsis.anonymize._verify import check, demands_of, measure, qi_groups, secrets_of
from crypsis.cells import Cells, NullPolicy
from crypsis.engine import Rows
from crypsis.errors import ColumnError, PromiseBroken, RoleError, unknown_columns
from crypsis.release import Release, as_release

_CLOSER = (1.0, 0.95, 0.9, 0.8)


def apply(
    plan: Plan, data: Any, *, local: bool = True, verify: bool = True, **roles: Any
) -> Anonymized:
    """Carry out a plan and hand over the release with what it measures; refuse if it misses.

    The steps run where the rows are. If the promise is about the release itself, its cells are
    counted, and rows without a crowd get one at the least cost (`local`), or all rows are told on
    the same levels and those without a crowd are left out (`local=False`, as in ARX). Nothing is
    written; `Anonymized.write` does that, and measures the file before it takes its name; if that
    is all that happens to the result, `verify=False` saves measuring twice. The input is never
    touched.
    """
    release = as_release(data, **roles)
    wanted = [*(one.name for one in plan.columns), *plan.removed]
    unknown = [name for name in wanted if name not in release.names]
    if unknown:
        raise unknown_columns(unknown, release.names)
    twice = sorted(name for name, count in Counter(wanted).items() if count > 1)
    if twice:
        raise RoleError(f"The plan names {', '.join(map(repr, twice))} twice; once is enough.")
    left = [name for name in release.quasi_identifiers if name not in wanted]
    if left:  # k over fewer columns than others know would be no k
        raise RoleError(
            f"The plan says nothing of {', '.join(map(repr, left))}, which others may know; "
            "add them to it, or make a new plan."
        )
    for one in plan.columns:
        kind = release.rows.column(one.name).kind
        if not all(step.suits(kind) for step in (one.step, *one.coarser)):
            raise ColumnError(
                f"The plan treats the column {one.name!r} as something else than {kind.value}, "
                "which it holds; make a new plan for this table."
            )
    _check_gaps(plan, release)
    steps: dict[str, Step] = {one.name: one.step for one in plan.columns}
    rows = staged(release.rows, steps, plan.removed)
    told, found, measured = Told(rows), None, None
    if plan.promise.each_column is not None and verify:
        plan, rows, measured = each_column(plan, release, rows)
        told = Told(rows)
    elif plan.promise.k is not None or plan.promise.about_secrets:
        told, found = _crowded(plan, release, rows, local)
    anonymous = _with_rows(release, told.rows)
    if verify:
        measured = measured or measure(anonymous, list(steps), plan.promise)
        check(measured, plan.promise)
    return Anonymized(
        anonymous, plan, measured, _losses(found, release.count), Key(row_map=told.row_map),
        release, methods_told(plan, found, local),
    )  # fmt: skip


def _with_rows(release: Release, rows: Rows) -> Release:
    """Other rows, with the roles of the columns that are still there."""
    there = set(rows.names)
    return Release(
        rows,
        {name: role for name, role in release.roles.items() if name in there},
        release.person if release.person in there else None,
        release.weight if release.weight in there else None,
        release.population,
        release.missing,
    )


def _crowded(plan: Plan, release: Release, rows: Rows, local: bool) -> tuple[Told, Repair]:
    """Every row in a crowd.

    Closeness is to the rows that are released: where rows were left out, that is measured again,
    and a little more is asked if it was missed.
    """
    promise, names = plan.promise, [one.name for one in plan.columns]
    secret = list(_with_rows(release, rows).sensitive) if promise.about_secrets else []
    if all(isinstance(one.step, Keep) for one in plan.columns):  # what was counted before holds
        cells = replace(release.cells([*names, *secret]), missing=NullPolicy.VALUE)
    else:
        cells = Cells.from_table(rows.cells([*names, *secret]), [*names, *secret])
    first, member, totals = qi_groups(cells, len(names))
    ladders = [
        ladder(one.name, cells.values[c].to_pylist(), one.step, one.coarser)
        for c, one in enumerate(plan.columns)
    ]
    table = table_of(ladders, [cells.codes[c][first] for c in range(len(names))], totals)
    demands = demands_of(promise, secrets_of(cells, secret, rows, member))
    budget = int(promise.suppression * release.count + 1e-9)
    weighed = table.weighed([one.weight for one in plan.columns])
    enough = 1.0  # of the closeness promised, from what was missed last
    for closer in _CLOSER:
        if closer > max(enough, _CLOSER[-1]):
            continue
        asked = demands
        if demands.closeness is not None:
            asked = replace(demands, closeness=closer * demands.closeness)
        found = (repair if local else full_domain)(weighed, asked, budget)
        found = table.summary(found.levels)
        told = tell(rows, cells, first, table, found)
        if demands.closeness is None or not found.rows_suppressed:
            return told, found
        measured = measure(_with_rows(release, told.rows), names, promise)
        promised, reached = promise.closeness or 0.0, measured.closeness or 0.0
        if measured.closeness is not None and reached <= promised:
            return told, found
        enough = closer * promised / reached if reached > promised else enough
    if not local:
        raise PromiseBroken(
            "Leaving rows out moves the whole that groups must be close to, and no levels were "
            "found that are close to what is left. Allow more (t), or do without same levels."
        )
    found = table.summary(repair(weighed, demands, budget, leave=False).levels)
    return tell(rows, cells, first, table, found), found


def _check_gaps(plan: Plan, release: Release) -> None:
    """Every value of a column with a hierarchy must be in it."""
    for one in plan.columns:
        levels = [step for step in (one.step, *one.coarser) if isinstance(step, Level)]
        if not levels:
            continue
        known = {value for values in levels[0].groups.values() for value in values}
        cells = release.cells([one.name])
        texts = (as_text(v) for v in cells.values[0].to_pylist() if v is not None)
        gaps = tuple(text for text in texts if text not in known)
        if gaps:
            raise HierarchyGap(
                f"{len(gaps):,} values of the column {one.name!r} are not in its hierarchy. Add a "
                "line for each; the error's attribute `missing` names them.",
                gaps,
            )


def _losses(found: Repair | None, rows: int) -> Loss:
    if found is None:
        return Loss(rows)
    return Loss(
        rows, found.loss, found.rows_suppressed, found.cells_suppressed,
        found.rows_with_suppressed_cells, found.rows_generalized, found.emptied,
    )  # fmt: skip
