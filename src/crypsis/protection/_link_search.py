"""The search for coarser levels and new pseudonyms that keep most of a release and of its links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.random import SeedSequence

from crypsis.dataset import Dataset
from crypsis.errors import RequirementsNotMetError
from crypsis.protection._anonymized import Anonymized, Plan
from crypsis.protection._links import LinkedRecords, LinkRequirements, inferred_share, linked
from crypsis.protection._preview import Preview
from crypsis.protection._recode_classes import RecodingKind
from crypsis.protection._requirements import checked_requirements
from crypsis.protection._statement import Method
from crypsis.protection.recoding._deadline import passed

_TRIED_PLANS = 6
"""So many choices of coarser levels, evenly spaced, are tried to keep more links."""
_REFINING_ROUNDS = 3
"""How often a choice of levels on either side of the best one is tried then."""
_LINKS_STREAM = 1_002
"""The place of pseudonyms of linked records among the streams of a seed."""


def with_links(
    first: Anonymized,
    plan: Plan,
    data: Dataset,
    recoding: RecodingKind | None,
    shuffle: bool,
    link_requirements: LinkRequirements,
) -> Anonymized:
    """The release with new pseudonyms that link records, with the least loss of values and links.

    Coarser columns keep more links: levels are raised for all records, from the plan's own upward,
    and a few of these choices are tried, then some next to the best. What is lost is the
    information loss (NCP) plus the share of links that are cut.
    """
    checked_requirements(
        unicity=link_requirements.unicity,
        events=link_requirements.events,
        inferred=link_requirements.inferred,
    )
    failures: list[RequirementsNotMetError] = []
    path = _coarser_plans(data, plan)
    tried: dict[int, Anonymized | None] = {}

    def attempt(plan_index: int) -> None:
        """Try one of the plans; nothing is noted where it cannot be met."""
        try:
            attempted = first
            if plan_index:
                coarser_plan = path[plan_index][0]()
                attempted = coarser_plan.apply(data, recoding=recoding, shuffle=shuffle, seed=first.key.seed)
            random = np.random.default_rng(SeedSequence(first.key.seed, spawn_key=(_LINKS_STREAM,)))
            linked_records = linked(attempted.data, data, attempted.key.row_map, link_requirements, random)
            tried[plan_index] = _as_linked(attempted, linked_records, link_requirements)
        except RequirementsNotMetError as error:
            failures.append(error)
            tried[plan_index] = None

    def price(plan_index: int) -> float:
        result = tried[plan_index]
        return np.inf if result is None else price_of(result)

    for plan_position in np.unique(np.linspace(0, len(path) - 1, _TRIED_PLANS).round().astype(int)).tolist():
        least = min(map(price, tried), default=np.inf)
        if path[plan_position][1] >= least or (least < np.inf and passed()):
            break
        attempt(plan_position)
    for _ in range(_REFINING_ROUNDS):
        best = min(tried, key=price)
        below = max((index for index in tried if index < best), default=best)
        within = [position for position, (_, loss) in enumerate(path) if loss < price(best)] or [best]
        above = min((index for index in tried if index > best), default=within[-1] + 1)
        for plan_position in ((below + best) // 2, (best + min(above, within[-1] + 1)) // 2):
            if plan_position not in tried and (price(best) == np.inf or not passed()):
                attempt(plan_position)
    anonymized = tried[min(tried, key=price)]
    if anonymized is None:
        raise failures[0]
    if anonymized.measured is not None and link_requirements.inferred is None:  # stated, though not required
        inferred = inferred_share(anonymized.data, link_requirements.events)
        anonymized = replace(anonymized, measured=replace(anonymized.measured, inferred=inferred))
    return anonymized


def _coarser_plans(data: Dataset, plan: Plan) -> list[tuple[Callable[[], Plan], float]]:
    """The plan, and then one with a column on a coarser level after the other, with its loss.

    Always the level is raised that costs the least.
    """
    path: list[tuple[Callable[[], Plan], float]] = [(lambda: plan, 0.0)]
    requirements = plan.requirements
    if requirements.population is not None or requirements.each_column is not None or not plan.columns:
        return path
    preview = Preview(data, plan)
    levels = dict.fromkeys(preview.names, 0)
    while any(levels[name] < preview.top(name) for name in levels):
        above = [{**levels, name: level + 1} for name, level in levels.items() if level < preview.top(name)]
        losses = [preview.outcome(levels, k=1).loss for levels in above]
        levels = above[int(np.argmin(losses))]
        path.append((partial(preview.plan_with, levels), min(losses)))
    return path


def price_of(anonymized: Anonymized) -> float:
    """What is lost of values and records (NCP), and of links."""
    return (anonymized.loss.ncp or 0.0) + 1 - (anonymized.loss.links_kept or 0.0)


def _as_linked(
    anonymized: Anonymized, linked_records: LinkedRecords, link_requirements: LinkRequirements
) -> Anonymized:
    assert anonymized.plan is not None and anonymized.measured is not None  # noqa: S101, PT018 - it was applied
    required = {
        "unicity": link_requirements.unicity,
        "events": link_requirements.events,
        "inferred": link_requirements.inferred,
        "links": link_requirements.links,
        "order": link_requirements.order,
    }
    person = linked_records.data.person or ""
    methods = tuple(method for method in anonymized.methods if method.column != person)
    new = Method(person, "new pseudonyms", linked_records.cut.describe(), linked_records.cut.parameters)
    removed = tuple(name for name in anonymized.plan.removed if name != person)
    loss = replace(
        anonymized.loss,
        links_kept=linked_records.links_kept,
        records_per_pseudonym=linked_records.records_per_pseudonym,
        records_per_person=linked_records.records_per_person,
    )
    requirements = anonymized.plan.requirements.model_copy(update=required)
    return replace(
        anonymized,
        data=linked_records.data,
        methods=(*methods, new),
        loss=loss,
        plan=anonymized.plan.model_copy(update={"requirements": requirements, "removed": removed}),
        measured=replace(
            anonymized.measured, unicity=linked_records.unicity, inferred=linked_records.inferred
        ),
    )
