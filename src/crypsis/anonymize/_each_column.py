"""k of each column alone: groups that came out too small are merged with a neighbour."""

from __future__ import annotations

from collections import Counter

from crypsis.anonymize._columns import ColumnPlan
from crypsis.anonymize._plan import Plan
from crypsis.anonymize._staged import staged
from crypsis.anonymize._steps import Intervals, Step, intervals
from crypsis.anonymize._verify import Measured, column_counts, min_count
from crypsis.engine import Rows
from crypsis.engine.base import Kind
from crypsis.errors import PromiseBroken
from crypsis.release import Release


def each_column(plan: Plan, release: Release, rows: Rows) -> tuple[Plan, Rows, Measured]:
    """Groups that ties or a sample made too small are merged with a neighbour, column by column."""
    k = plan.promise.each_column or 1
    counts = column_counts(rows, [one.name for one in plan.columns])
    least = min(map(min_count, counts.values()))
    if least >= k:
        return plan, rows, Measured(release.count, 1, 0, each_column=least)
    columns = []
    for one in plan.columns:
        found = counts[one.name]
        if min_count(found) < k:
            one = _merged_column(one, release, found, k)
        columns.append(one)
    again = plan.model_copy(update={"columns": tuple(columns)})
    steps: dict[str, Step] = {one.name: one.step for one in columns}
    rows = staged(release.rows, steps, plan.removed)
    least = min(map(min_count, column_counts(rows, list(steps)).values()))
    return again, rows, Measured(release.count, 1, 0, each_column=least)


def _told(counts: Counter[object], now: Step, step: Step) -> Counter[object]:
    """Values that `now` was applied to, counted as they would be after a coarser step instead."""
    found: Counter[object] = Counter()
    for value, rows in counts.items():
        found[step.label(now.raw_value(value))] += rows
    return found


def _merged_column(one: ColumnPlan, release: Release, found: Counter[object], k: int) -> ColumnPlan:
    if not isinstance(one.step, Intervals):
        for place, step in enumerate(one.coarser):
            if min_count(_told(found, one.step, step)) >= k:
                coarser = one.coarser[place + 1 :]
                return one.model_copy(update={"step": step, "coarser": coarser})
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
