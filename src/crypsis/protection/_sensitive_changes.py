"""Sensitive attributes that may change: generalized or dropped where that costs less.

Often the least change is not to the quasi-identifiers: incomes in bands, or a rare diagnosis grouped
with others, meet a requirement that would generalize many quasi-identifiers. Each attribute that may
change is tried on its levels, from the finest to none, and each trial is a search of its own; the
price is the information loss of all quasi-identifiers and of these attributes together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from crypsis.dataset import Dataset
from crypsis.errors import RequirementsNotMetError
from crypsis.protection._recode_classes import with_rows
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._columns import column_counts, recoded_columns
from crypsis.protection.recoding._deadline import passed
from crypsis.protection.recoding._levels import column_levels
from crypsis.protection.recoding._steps import Keep, Step, Suppress

_MAX_STEPS = 5
"""How many coarser steps of one attribute are tried, besides dropping it."""
_MAX_PASSES = 2
"""How often all attributes are gone through."""
_Outcome = TypeVar("_Outcome")
_Attempt = Callable[[tuple[ColumnPlan, ...], tuple[str, ...]], tuple[_Outcome, float]]


def on_steps(data: Dataset, sensitive: Sequence[ColumnPlan]) -> Dataset:
    """The data with sensitive attributes on their steps.

    What the owner wrote about single values is not about labels: none of them is harmless then.
    """
    steps = {
        column_plan.name: column_plan.step
        for column_plan in sensitive
        if not isinstance(column_plan.step, Keep)
    }
    if not steps:
        return data
    notes = {
        name: replace(note, harmless=(), hierarchy="", priors={}) if name in steps else note
        for name, note in data.notes.items()
    }
    return replace(with_rows(data, recoded_columns(data.rows, steps)), notes=notes)


def least_change(
    data: Dataset,
    sensitive: tuple[ColumnPlan, ...],
    columns: int,
    attempt: _Attempt[_Outcome],
    preserved: Collection[str] = (),
) -> tuple[_Outcome, dict[str, float]]:
    """What loses the least, and the information loss of each attribute that was changed.

    `attempt` recodes with sensitive attributes on the steps of these plans and without those that
    are dropped; it returns the outcome with the loss of the `columns` quasi-identifiers. What is to
    be preserved is not dropped.
    """
    options = {
        column_plan.name: _steps(column_plan, droppable=column_plan.name not in preserved)
        for column_plan in sensitive
        if column_plan.may_change
    }
    losses = {name: _losses(data, name, steps) for name, steps in options.items()}
    weights = {column_plan.name: column_plan.weight for column_plan in sensitive}
    best: tuple[_Outcome, dict[str, int]] | None = None
    price, floor, failure = np.inf, 0.0, None
    tried: set[tuple[int, ...]] = set()

    def trial(positions: dict[str, int]) -> float:
        """The loss of the quasi-identifiers with this choice; the best of all is kept."""
        nonlocal best, price, failure
        tried.add(tuple(positions.values()))
        try:
            outcome, lost = attempt(*_plans(sensitive, options, positions))
        except RequirementsNotMetError as error:
            failure = error
            return 0.0
        own_loss = sum(weights[name] * losses[name][option] for name, option in positions.items())
        if lost * columns + own_loss < price - 1e-12:
            price, best = lost * columns + own_loss, (outcome, positions)
        return lost * columns

    chosen = dict.fromkeys(options, 0)
    trial(chosen)
    # Without these attributes, or with the coarsest, the quasi-identifiers lose the least: what costs more is
    # not tried.
    if best is None or not passed():
        floor = trial({name: len(steps) - 1 for name, steps in options.items()})
    for _ in range(_MAX_PASSES):
        chosen = before = chosen if best is None else best[1]
        for name, steps in options.items():
            for position in range(len(steps)):
                candidate = {**chosen, name: position}
                sensitive_loss = sum(weights[n] * losses[n][i] for n, i in candidate.items())
                if sensitive_loss + floor >= price or tuple(candidate.values()) in tried:
                    continue
                if best is None or not passed():
                    trial(candidate)
            chosen = chosen if best is None else best[1]
        if chosen == before:
            break
    if best is None:
        raise failure or RequirementsNotMetError("The requirements cannot be met.")
    return best[0], {name: losses[name][option] for name, option in best[1].items() if option}


def _steps(column_plan: ColumnPlan, *, droppable: bool) -> list[Step]:
    """As it is, some coarser steps, and none at all if it may be dropped."""
    coarser = [step for step in column_plan.coarser if not isinstance(step, Suppress)]
    if len(coarser) > _MAX_STEPS:
        places = np.linspace(0, len(coarser) - 1, _MAX_STEPS).round().astype(int)
        coarser = [coarser[position] for position in np.unique(places)]
    return [column_plan.step, *coarser, *([Suppress()] if droppable else [])]


def _plans(
    sensitive: tuple[ColumnPlan, ...], options: dict[str, list[Step]], chosen: dict[str, int]
) -> tuple[tuple[ColumnPlan, ...], tuple[str, ...]]:
    """The plans on the chosen steps, and the attributes that are dropped."""
    plans, dropped = [], []
    for column_plan in sensitive:
        step = (
            options[column_plan.name][chosen[column_plan.name]]
            if column_plan.name in chosen
            else column_plan.step
        )
        if isinstance(step, Suppress):
            dropped.append(column_plan.name)
            continue
        steps = [column_plan.step, *column_plan.coarser]
        above = tuple(steps[steps.index(step) + 1 :])
        plans.append(column_plan.model_copy(update={"step": step, "coarser": above, "may_change": False}))
    return tuple(plans), tuple(dropped)


def _losses(data: Dataset, name: str, steps: Sequence[Step]) -> list[float]:
    """The average information loss of an attribute on each of its steps."""
    counts = column_counts(data.rows, [name])[name]
    values = [*counts, None]
    rows = np.array([*counts.values(), data.count - sum(counts.values())], np.int64)
    first = steps[0]
    levels = column_levels(name, values, Keep(), steps[:-1] if first != Keep() else steps[1:-1])
    losses: list[float] = levels.average_loss(rows).tolist()
    return losses if isinstance(first, Keep) else losses[1:]
