"""What was done to each column, as the statement tells it: how, to how many rows, nothing else.

A step of a plan holds more than may be told: the values under a name of a hierarchy, the values
that count as common, the bounds of groups for which one number stands. What is told is what the
release shows anyway: which level, how many names or groups, and the labels where all rows have one.
"""

from __future__ import annotations

from typing import Any

from crypsis.anonymize._anonymized import Method
from crypsis.anonymize._columns import ColumnPlan
from crypsis.anonymize._plan import Plan
from crypsis.anonymize._steps import Common, Intervals, Level, Step, Suppress
from crypsis.anonymize._table import Repair

_SUPPRESS = Suppress()


def methods_told(plan: Plan, found: Repair | None, local: bool) -> tuple[Method, ...]:
    """Every column of the plan, the columns removed, and how rows found a crowd."""
    told = []
    for c, one in enumerate(plan.columns):
        rows = () if found is None else found.rows_on[c]
        told.append(_on_levels(one, rows) if any(rows[1:]) else _alike(one.name, one.step))
    told += [Method(name, "removed", "left out of the release") for name in plan.removed]
    if found is not None and (found.levels != 0).any():
        name, how = "full-domain generalization", "all rows on the same levels"
        if local:
            name = "local generalization and suppression"
            how = "each row on the finest levels that were found to give it a crowd"
        told.append(Method("all quasi-identifiers", name, how))
    return tuple(told)


def _alike(name: str, step: Step) -> Method:
    parameters = shown(step)
    if isinstance(step, Intervals):
        parameters["labels"] = list(step.labels)
    return Method(name, step.method, step.describe(), parameters)


def _on_levels(one: ColumnPlan, rows: tuple[int, ...]) -> Method:
    """A column whose rows are told on several levels, or on another one than planned."""
    coarser = [step for step in one.coarser if not isinstance(step, Suppress)]
    steps: list[Step] = [one.step, *coarser, _SUPPRESS]
    used = [(step, count) for step, count in zip(steps, rows, strict=True) if count]
    how = "; ".join(f"{step.describe()} ({count:,} rows)" for step, count in used)
    levels = [{"method": step.method, "rows": count, **shown(step)} for step, count in used]
    name = used[0][0].method if len(used) == 1 else "levels"
    return Method(one.name, name, how, {"levels": levels})


def shown(step: Step) -> dict[str, Any]:
    """The parameters of a step that tell of no value that only the original has."""
    if isinstance(step, Level):
        return {"level": step.level, "names": len(step.groups)}
    if isinstance(step, Common):
        return {"values_kept": len(step.values), "other": step.other}
    if isinstance(step, Intervals):
        return {"groups": len(step.labels)}
    return step.model_dump(mode="json", exclude={"method"})
