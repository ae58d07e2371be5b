"""A limit of the average risk: larger classes, as few as it needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crypsis.errors import RequirementsNotMetError
from crypsis.protection.recoding._class_requirements import ClassRequirements, PeopleOfCells
from crypsis.protection.recoding._deadline import passed
from crypsis.protection.recoding._levels import CellLevels, Recoding

Search = Callable[[CellLevels, ClassRequirements, int], Recoding]


def within_average_risk(
    search: Search, cells: CellLevels, requirements: ClassRequirements, budget_rows: int
) -> Recoding:
    """The recoding with the least loss found whose records have at most the average risk required.

    The average risk is the number of classes over that of records, so it is met by every recoding
    with classes of one over the limit, and by many with smaller ones. Classes grow about as the size
    that is required: the smallest size that meets the limit is looked for there, then in steps that
    double, up to the middle of what is left; if the time is over, the sure one is taken.
    """
    limit = requirements.requirements.average_risk
    recoding = search(cells, requirements, budget_rows)
    if limit is None:
        return recoding
    risk = average_risk(cells, recoding, requirements.people)
    if risk <= limit:
        return recoding
    low, high = requirements.k, max(requirements.k + 1, math.ceil(1 / limit - 1e-9))
    size, step = math.ceil(low * risk / limit), max(1, low // 16)
    best: Recoding | None = None
    while best is None or (high - low > max(1, low // 16) and not passed()):
        size = high if high - low == 1 or passed() else min(max(size, low + 1), high - 1)
        larger = requirements.requirements.model_copy(update={"k": size})
        recoding = search(cells, replace(requirements, requirements=larger), budget_rows)
        if average_risk(cells, recoding, requirements.people) <= limit:
            best, high = recoding if best is None else min(best, recoding, key=_ncp), size
            size = max(high - step, (low + high) // 2)
        elif size == high:
            raise RequirementsNotMetError(
                "No recoding was found with the average risk that is required.",
                code="average-risk-not-met",
                hint="Raise {average_risk} or {suppression}.",
            )
        else:
            low = size
            size = min(low + step, (low + high) // 2)
        step *= 2
    return best


def average_risk(cells: CellLevels, recoding: Recoding, people: PeopleOfCells | None) -> float:
    """The average risk of the released records, or of people by the highest of their own."""
    released = recoding.levels[:, 0] >= 0
    if not released.any():
        return 1.0
    member = cells.class_of(recoding.levels)
    if people is None:
        return float(np.unique(member[released]).size / cells.counts[released].sum())
    cell = np.repeat(np.arange(cells.counts.size), np.diff(people.first))
    kept = released[cell]
    pairs = np.unique(np.stack([member[cell[kept]], people.people[kept]]), axis=1)
    risk = 1 / np.bincount(pairs[0])[pairs[0]]
    _, person = np.unique(pairs[1], return_inverse=True)
    worst = np.zeros(int(person.max()) + 1)
    np.maximum.at(worst, person, risk)
    return float(worst.mean())


def _ncp(recoding: Recoding) -> float:
    return recoding.ncp
