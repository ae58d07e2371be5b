"""The release of records of people: how many of each, how they stay linked, at the least loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, RequirementsNotMetError
from crypsis.protection._anonymized import Anonymized, Plan
from crypsis.protection._capped import capped, caps_to_try
from crypsis.protection._link_search import price_of, with_links
from crypsis.protection._links import LinkRequirements
from crypsis.protection._recode_classes import RecodingKind
from crypsis.protection._windows import ONE_LINK, checked_links
from crypsis.protection.recoding._deadline import passed

_OF_LINKS = ("unicity", "events", "inferred", "links", "order", "max_records")
_MIN_PRICE_GAIN = 1e-9
"""By so much a later release has to cost less than an earlier one: smaller differences are rounding."""


@dataclass(frozen=True)
class PeopleRequirements:
    """What is required of the records of a person: of their links, and how many there may be."""

    linked: LinkRequirements | None = None
    """None if records are not linked."""
    max_records: int | None = None

    @classmethod
    def of(
        cls,
        unicity: float | None,
        events: int,
        inferred: float | None,
        order: str | None,
        links: str | None,
        max_records: int | None,
    ) -> PeopleRequirements:
        """What was asked; an error if an option has no effect."""
        checked_links(links)
        if unicity is not None:
            link_requirements = LinkRequirements(unicity, events, inferred, order, links)
            return cls(link_requirements, max_records)
        for name, value in (("links", links), ("inferred", inferred), ("order", order)):
            if value is not None:
                raise ParameterError(
                    f"Without a requirement on unicity records are not linked, so {name!r} has no effect.",
                    code="option-without-effect",
                    parameter=name,
                    hint=f"Remove {{{name}}}, or set {{unicity}} (1 requires nothing).",
                )
        return cls(None, max_records)

    def with_plan(self, plan: Plan) -> tuple[PeopleRequirements, Plan]:
        """What a plan that was applied before requires in addition, and the plan without it."""
        requirements, linked, most = plan.requirements, self.linked, self.max_records
        if linked is None and requirements.unicity is not None:
            linked = LinkRequirements(
                requirements.unicity,
                requirements.events or 3,
                requirements.inferred,
                requirements.order,
                requirements.links,
            )
        most = requirements.max_records if most is None else most
        plain = requirements.model_copy(update=dict.fromkeys(_OF_LINKS))
        return PeopleRequirements(linked, most), plan.model_copy(update={"requirements": plain})

    @property
    def any(self) -> bool:
        """Whether anything is required."""
        return self.linked is not None or self.max_records is not None


def people_release(
    data: Dataset,
    people_requirements: PeopleRequirements,
    plan_for: Callable[[Dataset], Plan],
    *,
    recoding: RecodingKind | None,
    verify: bool,
    shuffle: bool,
    seed: int | None,
) -> Anonymized:
    """The release with the least loss among those that meet what is required of records of people.

    Where all records of a person keep one pseudonym, some numbers of records are tried at which
    further ones are dropped: that may cost less than coarser values.
    """
    best: Anonymized | None = None
    failure: RequirementsNotMetError | None = None
    caps: list[int | None] = [people_requirements.max_records]
    if (
        people_requirements.linked is not None
        and people_requirements.linked.links == ONE_LINK
        and people_requirements.max_records is None
    ):
        caps += caps_to_try(data)
    for cap in caps:
        part = None if cap is None else capped(data, cap, seed)
        part_data = data if part is None else part.data
        dropped = 0.0 if part is None else part.dropped / max(1, data.count)
        if best is not None and (dropped >= price_of(best) or passed()):
            break
        try:
            plan = plan_for(part_data)
            anonymized = plan.apply(part_data, recoding=recoding, verify=verify, shuffle=shuffle, seed=seed)
            if people_requirements.linked is not None:
                anonymized = with_links(
                    anonymized, plan, part_data, recoding, shuffle, people_requirements.linked
                )
        except RequirementsNotMetError as error:
            failure = failure or error
            continue
        anonymized = anonymized if part is None else part.on_original(anonymized)
        if best is None or price_of(anonymized) < price_of(best) - _MIN_PRICE_GAIN:
            best = anonymized
    if best is not None:
        return best
    assert failure is not None  # noqa: S101 - one of both is there
    raise failure
