"""A plan carried out: steps in the engine, crowds for who is left, and the promise measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.anonymize._anonymized import Anonymized, Loss, Method
from crypsis.anonymize._hierarchy import HierarchyGap, as_text
from crypsis.anonymize._key import Key
from crypsis.anonymize._ladder import Ladder, ladder
from crypsis.anonymize._plan import ColumnPlan, Plan
from crypsis.anonymize._repair import Repair, full_domain, labels_of, repair, table_of
from crypsis.anonymize._staged import staged, with_exceptions
from crypsis.anonymize._steps import Intervals, Keep, Level, Step, intervals
from crypsis.anonymize._verify import (
    Measured,
    check,
    column_counts,
    demands_of,
    measure,
    min_count,
    qi_groups,
    secrets_of,
)
from crypsis.cells import Cells, NullPolicy
from crypsis.engine import Rows
from crypsis.engine.base import Kind
from crypsis.errors import ColumnError, PromiseBroken, RoleError, unknown_columns
from crypsis.release import Release, as_release

_MAPPED_ROWS = 50_000_000
_TRIES = 4


@dataclass(frozen=True)
class _Outcome:
    rows: Rows
    repair: Repair | None
    flags: Rows | None


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
    names = [one.name for one in plan.columns]
    sensitive = [name for name in release.sensitive if name not in plan.removed]
    promise = plan.promise
    outcome = _Outcome(rows, None, None)
    measured = None
    if promise.each_column is not None and verify:
        plan, rows, measured = _each_column(plan, release, rows)
        outcome = _Outcome(rows, None, None)
    elif promise.k is not None:
        untouched = all(isinstance(step, Keep) for step in steps.values())
        known = release if untouched else None
        outcome = _crowded(plan, rows, names, sensitive, release.count, local, known)
    if verify:
        measured = measured or measure(outcome.rows, names, sensitive, promise)
        check(measured, promise)
    anonymous = Release(
        outcome.rows,
        {name: role for name, role in release.roles.items() if name not in plan.removed},
        release.person if release.person not in plan.removed else None,
        release.weight if release.weight not in plan.removed else None,
        release.population,
        release.missing,
    )
    return Anonymized(
        anonymous, plan, measured, _losses(outcome.repair, release.count),
        Key(row_map=_row_map(outcome, release.count)), release,
        _methods(plan, outcome.repair, local),
    )  # fmt: skip


def _crowded(
    plan: Plan,
    rows: Rows,
    names: Sequence[str],
    sensitive: Sequence[str],
    count: int,
    local: bool,
    known: Release | None,
) -> _Outcome:
    """Every row in a crowd, tried with a little more closeness when suppression moved the whole."""
    promise = plan.promise
    asked = (promise.diversity, promise.closeness, promise.best_guess)
    secret = list(sensitive) if any(limit is not None for limit in asked) else []
    if known is not None:  # nothing was changed yet, so what was counted before holds
        cells = replace(known.cells([*names, *secret]), missing=NullPolicy.VALUE)
    else:
        cells = Cells.from_table(rows.cells([*names, *secret]), [*names, *secret])
    first, member, totals = qi_groups(cells, len(names))
    ordered = [rows.column(name).kind.ordered for name in secret]
    secrets = secrets_of(cells, range(len(names), len(names) + len(secret)), ordered, member)
    places = [cells.codes[c][first] for c in range(len(names))]
    ladders = [
        ladder(one.name, cells.values[c].to_pylist(), one.step, one.coarser)
        for c, one in enumerate(plan.columns)
    ]
    table = table_of(ladders, places, totals)
    budget = int(promise.suppression * count)
    demands = demands_of(promise, secrets)
    for attempt in range(_TRIES):
        search = repair if local else full_domain
        found = search(table, demands, budget)
        outcome = _told(rows, names, cells, places, ladders, table, found)
        if demands.closeness is None or attempt == _TRIES - 1 or not found.rows_suppressed:
            return outcome
        measured = measure(outcome.rows, names, sensitive, promise)
        if measured.closeness is not None and measured.closeness <= (promise.closeness or 0):
            return outcome
        demands = replace(demands, closeness=0.9 * demands.closeness)
    raise PromiseBroken("No release within the promise was found.")  # pragma: no cover


def _told(
    rows: Rows,
    names: Sequence[str],
    cells: Cells,
    places: Sequence[Any],
    ladders: Sequence[Ladder],
    table: Any,
    found: Repair,
) -> _Outcome:
    """The rows with every exception told on its own levels."""
    changed = np.flatnonzero((found.levels != 0).any(axis=1))
    if not changed.size:
        return _Outcome(rows, found, None)
    dropped = (found.levels[changed, 0] < 0).tolist()
    told = []
    for c, (labels, place) in enumerate(labels_of(table, found, changed)):
        used = set(np.unique(place).tolist())
        text = rows.column(ladders[c].name).kind is Kind.TEXT or any(
            isinstance(label, str) for i, label in enumerate(labels) if i in used
        )
        if text:
            named = pa.array([None if v is None else as_text(v) for v in labels], pa.string())
        else:
            there = [v if i in used else None for i, v in enumerate(labels)]
            named = pa.array(there, cells.values[c].type)
        told.append(named.take(pa.array(place)))
    keys = [cells.values[c].take(pa.array(places[c][changed])) for c in range(len(names))]
    kept, flags = with_exceptions(rows, names, keys, told, dropped)
    return _Outcome(kept, found, flags if any(dropped) else None)


def _each_column(plan: Plan, release: Release, rows: Rows) -> tuple[Plan, Rows, Measured]:
    """Groups that ties or a sample made too small are merged with a neighbour, column by column."""
    k = plan.promise.each_column or 1
    counts = column_counts(rows, [one.name for one in plan.columns])
    least = min(map(min_count, counts.values()))
    if least >= k:
        return plan, rows, Measured(rows.count, 1, 0, each_column=least)
    columns = []
    for one in plan.columns:
        found = counts[one.name]
        if min_count(found) < k:
            one = _merged_column(one, release, found, k)
        columns.append(one)
    again = plan.model_copy(update={"columns": tuple(columns)})
    steps: dict[str, Step] = {one.name: one.step for one in columns}
    rows = staged(release.rows, steps, plan.removed)
    return again, rows, measure(rows, list(steps), (), plan.promise)


def _merged_column(one: ColumnPlan, release: Release, found: Any, k: int) -> ColumnPlan:
    if not isinstance(one.step, Intervals):
        for place, step in enumerate(one.coarser):
            rows = staged(release.rows, {one.name: step})
            if min_count(column_counts(rows, [one.name])[one.name]) >= k:
                left = one.coarser[place + 1 :]
                return one.model_copy(update={"step": step, "coarser": left})
        raise PromiseBroken(
            f"The column {one.name!r} has values of fewer than {k:,} rows and no coarser step; "
            "give it a hierarchy, or leave it out."
        )
    sizes = [found.get(label, 0) for label in one.step.labels]
    upper, stands, held, best = [], [], 0, 0
    for place, size in enumerate(sizes):
        if size >= best:
            best, label = size, one.step.labels[place]
        held += size
        left = sum(sizes[place + 1 :])
        if held >= k and left >= k and place < len(one.step.upper):
            upper.append(one.step.upper[place])
            stands.append(label)
            held = best = 0
    stands.append(label)
    numbers = not isinstance(one.step.labels[0], str)
    whole = release.rows.column(one.name).kind is Kind.INTEGER
    step = intervals(upper, whole=whole, stands=stands if numbers else None)  # type: ignore[arg-type]
    return one.model_copy(update={"step": step, "coarser": (), "values_after": len(step.labels)})


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


def _row_map(outcome: _Outcome, count: int) -> Any:
    """For each released row the number of its original, counted from 0; None: all, in order."""
    if outcome.flags is None:
        return None
    if count > _MAPPED_ROWS or outcome.rows.backend.name == "spark":
        return ()
    dropped = np.array(outcome.flags.to_arrow()["dropped"].to_pylist(), bool)
    return tuple(np.flatnonzero(~dropped).tolist())


def _losses(found: Repair | None, rows: int) -> Loss:
    if found is None:
        return Loss(rows)
    return Loss(
        rows, found.loss, found.rows_suppressed, found.cells_suppressed,
        found.rows_with_suppressed_cells, found.rows_generalized, found.emptied,
    )  # fmt: skip


def _methods(plan: Plan, found: Repair | None, local: bool) -> tuple[Method, ...]:
    told = [
        Method(
            one.name, one.step.method, one.step.describe(),
            one.step.model_dump(mode="json", exclude={"method"}),
        )
        for one in plan.columns
    ]  # fmt: skip
    told += [Method(name, "removed", "left out of the release") for name in plan.removed]
    if found is not None and (found.levels != 0).any():
        how = "each row in the cheapest crowd" if local else "all rows on the same levels"
        name = "local generalization and suppression" if local else "full-domain generalization"
        told.append(Method("all quasi-identifiers", name, how))
    return tuple(told)
