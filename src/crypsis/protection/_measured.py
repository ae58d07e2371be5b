"""What a release meets, measured in its rows and compared with the requirements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import ConfigDict

from crypsis.array_types import Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.dataset import Dataset
from crypsis.errors import RequirementsNotMetError
from crypsis.hierarchies import Hierarchy
from crypsis.inference.rules import MAX_RATIO
from crypsis.options import Role
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding._columns import column_counts, min_count
from crypsis.results import Result, percent_text
from crypsis.scientific import special

_ROUNDING_SLACK = 1e-9
"""By so much a measure may miss its limit: an error of rounding, not of the release."""


class PopulationClasses(Result):
    """The equivalence classes of the population behind the released cells (lodha2007, Theorem 4).

    The theorem assumes equally likely cells, which quantiles per column do not give if columns
    depend on each other. So a lower bound on the share of the population is computed from every
    cell's count (Clopper and Pearson 1934, one-sided), and from it the expected class size there.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    population: int
    k: int
    beta: float
    confidence: float
    """Of the bounds below, one-sided."""
    smallest_expected: float
    """The lower bound of the expected size of the smallest class."""
    rows_expecting_k: float
    """The share of records whose class has an expected size of k, by the lower bound."""
    rows_meeting_k: float
    """The share whose class has k people with probability 1 - beta, by the lower bound."""
    cells_meeting_k: float
    """The share of the released cells of which that is true; 1 - beta are required."""


class Measured(Result):
    """What the records of a release meet."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    rows: int
    k: int
    """The size of the smallest equivalence class: records, or people where they are known."""
    classes: int
    """The number of equivalence classes."""
    diversity: int | None = None
    """The smallest number of sensitive values in a class."""
    entropy_diversity: float | None = None
    """2^(smallest entropy of a class)."""
    recursive_diversity: int | None = None
    """The largest l of recursive (c,l)-diversity with the c required."""
    closeness: float | None = None
    """The largest distance of a class from all records (t)."""
    best_guess: float | None = None
    """The largest share of a sensitive value in a class (alpha)."""
    excess: float | None = None
    """The largest excess of a sensitive value or interval in a class over its baseline."""
    excess_ratio: float | None = None
    """The largest ratio of the share of a sensitive value in a class to its baseline."""
    near_certain: int | None = None
    """Records in classes in which a rare sensitive value is near-certain."""
    beta_likeness: float | None = None
    """The largest relative gain of a sensitive value in a class (beta), where it is required."""
    delta_disclosure: float | None = None
    """The largest change of the share of a sensitive value in bits (delta), where it is required."""
    k_map: int | None = None
    """The fewest people of the population that match a class, where it is required."""
    presence: float | None = None
    """The highest probability of presence in the release (delta), where it is required."""
    average_risk: float | None = None
    """The average re-identification risk (prosecutor), where it is required."""
    combination_k: int | None = None
    """The smallest class of any combination of quasi-identifiers, where it is required."""
    each_column: int | None = None
    """The smallest number of records with a value of a quasi-identifier."""
    population: PopulationClasses | None = None
    people: int | None = None
    """The number of people whose records these are; None where it is not known."""
    unicity: float | None = None
    """The share of people whom the known records single out; the upper end of an interval."""
    inferred: float | None = None
    """The share of sensitive values that the known records make almost certain; the upper end."""
    journalist_risk: float | None = None
    """The highest journalist risk, in the table of the population or by the weights."""
    people_risk: float | None = None
    """The average over people of the risk in the smallest of their classes."""

    @property
    def marketer(self) -> float:
        """The average risk: of records, or of people by the smallest of their classes."""
        return self.classes / self.rows if self.people_risk is None else self.people_risk

    def __str__(self) -> str:
        return self.text(PrivacyRequirements())

    def text(self, required: PrivacyRequirements) -> str:
        """What was measured, each beside what is required."""
        of_people = "" if self.people is None else f" of {self.people:,} people"
        unit = "" if self.people is None else " people"
        lines = [
            f"{self.rows:,} records{of_people} in {self.classes:,} equivalence classes (k = {self.k:,}{unit})"
        ]
        if required.k is not None:
            lines[0] = f"{lines[0][:-1]}; required: {required.k:,})"
        if self.each_column is not None:
            lines = [f"{self.rows:,} records, each value of a column in {self.each_column:,} or more"]
        elif self.k and self.classes:
            lines.append(
                f"Re-identification risk: prosecutor {percent_text(1 / self.k)} (highest), marketer "
                f"{percent_text(self.marketer)} (average)"
            )
        for name, text in _MEASURES.items():
            value = getattr(self, name)
            if value is not None:
                limit = getattr(required, name, None)
                if name == "near_certain" and required.excess is not None:
                    limit = 0
                if name == "recursive_diversity" and limit is not None:
                    limit = limit[1]
                least = "at least" if name in _AT_LEAST else "at most"
                required_text = "" if limit is None else f" (required: {least} {limit:g})"
                lines.append(f"{text} {value:.4g}{required_text}")
        if self.population is not None:
            share = 100 * self.population.rows_meeting_k
            lines.append(f"Records in sufficient classes of the population: {share:.1f} %")
        return "\n".join(lines)


_MEASURES = {
    "diversity": "l-diversity: l =",
    "entropy_diversity": "Entropy l-diversity: l =",
    "recursive_diversity": "Recursive (c,l)-diversity: l =",
    "closeness": "t-closeness: t =",
    "best_guess": "Share of the most frequent sensitive value in a class:",
    "excess": "Largest excess of a sensitive value over its baseline:",
    "journalist_risk": "Highest journalist risk:",
    "near_certain": "Records with a near-certain rare sensitive value:",
    "beta_likeness": "beta-likeness: beta =",
    "delta_disclosure": "delta-disclosure privacy in bits: delta =",
    "k_map": "k-map, people of the population that match a class: k =",
    "presence": "delta-presence: delta =",
    "average_risk": "Average re-identification risk:",
    "combination_k": "k of every combination of the required number of quasi-identifiers: k =",
    "unicity": "Unicity, the share of people singled out by known records:",
    "inferred": "Share of sensitive values that known records make almost certain:",
}
_AT_LEAST = ("diversity", "entropy_diversity", "recursive_diversity", "k_map", "combination_k")


def measure(
    data: Dataset,
    names: Sequence[str],
    requirements: PrivacyRequirements,
    persons: Dataset | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Measured:
    """Count what the rows meet; missing values equal each other, the strictest reading.

    The sensitive columns are measured by `crypsis.inference`, as in any assessment. `persons` are
    the same rows with the column that identifies their people, if people are counted. `hierarchies` say
    what a label of a quasi-identifier covers, and how far the values of a sensitive attribute are
    apart.
    """
    rows = data.rows
    if requirements.each_column is not None:
        smallest = min(column_counts(rows, names).values(), key=min_count, default=Counter())
        return Measured(rows.count, 1, 0, each_column=min_count(smallest))
    strict = data.strict()
    sensitive = list(data.sensitive) if requirements.about_sensitive else []
    cells = strict.cells([*names, *sensitive])
    if not len(cells):
        return Measured(0, 0, 0)
    sizes = members = cells.marginal(names).counts
    people = risk = None
    counted = strict
    if requirements.people:
        if persons is None:
            raise RequirementsNotMetError(
                "Whose records these are is not known, so k of people could not be measured.",
                code="people-not-known",
                hint="Set {person}.",
            )
        members, people, risk = people_in_classes(persons, names)
        counted = persons.strict()
    return Measured(
        int(sizes.sum()),
        int(members.min()),
        sizes.size,
        **(_sensitive_measured(counted, names, requirements, hierarchies) if sensitive else {}),
        **_required_measured(strict, names, requirements, persons, hierarchies or {}),
        population=_population_classes(strict, names, members, requirements, people=people),
        people=people,
        people_risk=risk,
        journalist_risk=_journalist_risk(persons or data, names, requirements),
    )


def _journalist_risk(data: Dataset, names: Sequence[str], requirements: PrivacyRequirements) -> float | None:
    """The highest risk of a class, measured as in any assessment; None if it is not required."""
    if requirements.journalist_risk is None:
        return None
    from crypsis.singling_out import reidentification_risk

    people = None if requirements.weighted else data.population
    strict = replace(data.strict(), population=people)
    journalist = reidentification_risk(strict, names, exact=True).journalist
    return None if journalist is None else float(journalist.maximum)


def people_in_classes(data: Dataset, names: Sequence[str]) -> tuple[Ints, int, float]:
    """The people in each class, in the order of the cells; the number of all, and their mean risk.

    A record without a person is counted as nobody's.
    """
    person = data.person or ""
    cells = Cells.from_table(data.rows.cells([*names, person]), [*names, person])
    first, member = group(cells.codes[:-1], cells.domains[:-1])
    has_person = cells.codes[-1] != cells.missing_codes[-1]
    class_people = np.bincount(member[has_person], minlength=first.size)
    persons, whose = np.unique(cells.codes[-1][has_person], return_inverse=True)
    worst = np.zeros(persons.size)
    np.maximum.at(worst, whose, 1 / class_people[member[has_person]])
    return class_people.astype(np.int64), int(persons.size), float(worst.mean()) if worst.size else 0.0


def _required_measured(
    data: Dataset,
    names: Sequence[str],
    requirements: PrivacyRequirements,
    persons: Dataset | None,
    hierarchies: Mapping[str, Hierarchy],
) -> dict[str, Any]:
    """What is measured only if it is required: population, average risk, combinations."""
    from crypsis.singling_out import combination_k, delta_presence, reidentification_risk

    measured: dict[str, Any] = {}
    if requirements.about_population:
        used_hierarchies = {name: tree for name, tree in hierarchies.items() if name in names}
        present = delta_presence(data, names, hierarchies=used_hierarchies)
        measured = {"k_map": present.k_map, "presence": present.high}
    if requirements.average_risk is not None:
        risk = reidentification_risk(data if persons is None else persons, names)
        measured["average_risk"] = float(risk.prosecutor.average)
    if requirements.combinations is not None:
        size = min(requirements.combinations, len(names))
        people = persons and persons.strict()
        combinations = combination_k(people or data, names, size=size)
        measured["combination_k"] = min(combination.k for combination in combinations)
    return measured


def _sensitive_measured(
    data: Dataset,
    names: Sequence[str],
    requirements: PrivacyRequirements,
    hierarchies: Mapping[str, Hierarchy] | None,
) -> dict[str, Any]:
    from crypsis.inference import attribute_disclosure

    sensitive = {name: role for name, role in data.roles.items() if role is Role.SENSITIVE}
    class_roles = dict.fromkeys(names, Role.QUASI_IDENTIFIER)
    factor, _ = requirements.recursive_diversity or (1.0, 0)
    distances = {name: tree for name, tree in (hierarchies or {}).items() if name in sensitive}
    disclosure = attribute_disclosure(
        data.with_roles({**sensitive, **class_roles}), c=factor, distances=distances
    )
    recursive = min(attribute.l_diversity.recursive for attribute in disclosure.attributes)
    values: dict[str, Any] = {}
    if requirements.excess is not None:
        values = disclosed_values(data.with_roles({**sensitive, **class_roles}))
    if requirements.beta_likeness is not None:
        values["beta_likeness"] = max(attribute.beta_likeness.beta for attribute in disclosure.attributes)
    if requirements.delta_disclosure is not None:
        bits = [attribute.delta_disclosure.delta_bits for attribute in disclosure.attributes]
        values["delta_disclosure"] = max(bits)
    return {
        **values,
        "diversity": disclosure.distinct_l,
        "entropy_diversity": disclosure.entropy_l,
        "recursive_diversity": None if requirements.recursive_diversity is None else recursive,
        "closeness": disclosure.t,
        "best_guess": disclosure.alpha,
    }


def disclosed_values(data: Dataset) -> dict[str, Any]:
    """What the classes disclose of each value, over all sensitive attributes."""
    from crypsis.inference import value_disclosure

    attributes = value_disclosure(data).attributes
    intervals = [attribute.interval.value for attribute in attributes if attribute.interval is not None]
    return {
        "excess": max([*(attribute.excess.value for attribute in attributes), *intervals]),
        "excess_ratio": max(attribute.excess_ratio.value for attribute in attributes),
        "near_certain": sum(attribute.near_certain for attribute in attributes),
    }


def meets_excess(measured: Mapping[str, Any], limit: float) -> bool:
    """Whether what is disclosed of values meets the requirement on the excess."""
    within = measured["excess"] <= limit + _ROUNDING_SLACK
    return within and measured["excess_ratio"] <= MAX_RATIO and not measured["near_certain"]


def _population_classes(
    data: Dataset,
    names: Sequence[str],
    sizes: Ints,
    requirements: PrivacyRequirements,
    confidence: float = 0.95,
    people: int | None = None,
) -> PopulationClasses | None:
    """Sizes of records or, where the number of `people` in the release is known, of people."""
    in_release = people
    people, k, beta = requirements.population, requirements.population_k, requirements.beta
    if people is None or k is None or beta is None:
        return None
    rows = int(sizes.sum()) if in_release is None else in_release
    if isinstance(data.population, Dataset):
        from crypsis.singling_out import population_class_sizes

        matches = np.maximum(population_class_sizes(data, names), sizes)
        enough = matches >= k
        return PopulationClasses(
            people,
            k,
            beta,
            1.0,
            float(matches.min()),
            float(sizes[enough].sum() / sizes.sum()),
            float(sizes[enough].sum() / sizes.sum()),
            float(enough.mean()),
        )
    share = special.betaincinv(sizes, rows - sizes + 1, 1 - confidence)  # Clopper and Pearson 1934
    expected = np.maximum(people * share, sizes)  # released records are people of the population
    # At least k of the people, each there with that probability.
    safe = (special.betainc(k, people - k + 1, share) if people >= k else 0 * share) >= 1 - beta
    safe |= sizes >= k
    weight = sizes / sizes.sum()
    return PopulationClasses(
        people,
        k,
        beta,
        confidence,
        float(expected.min()),
        float(weight[expected >= k].sum()),
        float(weight[safe].sum()),
        float(np.mean(safe)),
    )


_POPULATION_HINT = "Set {release_k}, so that small cells of the release are generalized, or lower {k}."


def check(measured: Measured, requirements: PrivacyRequirements) -> None:
    """Raise `RequirementsNotMetError` unless what was measured meets the requirements."""
    if not measured.rows:
        raise RequirementsNotMetError(
            "No record would remain in the release, so it is not returned.",
            code="no-records",
            hint="Lower {suppression} or relax the requirements.",
        )
    missed: dict[str, str] = {}
    if requirements.k is not None and measured.k < requirements.k:
        unit = " people" if requirements.people else ""
        missed["k"] = f"k is {measured.k}{unit}, required is {requirements.k}"
    recursive = requirements.recursive_diversity
    slack = _ROUNDING_SLACK
    for name, limit, upper in (
        ("diversity", requirements.diversity, False),
        ("entropy_diversity", requirements.entropy_diversity, False),
        ("recursive_diversity", None if recursive is None else recursive[1], False),
        ("closeness", requirements.closeness, True),
        ("best_guess", requirements.best_guess, True),
        ("excess", requirements.excess, True),
        ("excess_ratio", None if requirements.excess is None else MAX_RATIO, True),
        ("near_certain", None if requirements.excess is None else 0, True),
        ("each_column", requirements.each_column, False),
        ("unicity", requirements.unicity, True),
        ("beta_likeness", requirements.beta_likeness, True),
        ("delta_disclosure", requirements.delta_disclosure, True),
        ("k_map", requirements.k_map, False),
        ("presence", requirements.presence, True),
        ("average_risk", requirements.average_risk, True),
        ("combination_k", requirements.combination_k, False),
        ("inferred", requirements.inferred, True),
        ("journalist_risk", requirements.journalist_risk, True),
    ):
        if limit is None:
            continue
        value = getattr(measured, name)
        if value is None or (value - limit if upper else limit - value) > slack * max(1, limit):
            shown = "not known" if value is None else f"{value:.6g}"
            missed[name] = f"{name.replace('_', ' ')} is {shown}, required is {limit:g}"
    people = measured.population
    if people is not None and people.cells_meeting_k < 1 - people.beta - slack:
        missed["population_k"] = (
            f"{100 * people.cells_meeting_k:.1f} % of the cells have k = {people.k:,} people in the "
            f"population, required are {100 * (1 - people.beta):g} %"
        )
    if missed:
        raise RequirementsNotMetError(
            f"The release does not meet its requirements ({'; '.join(missed.values())}), so it is "
            "not returned.",
            hint=_POPULATION_HINT
            if "population_k" in missed
            else "Raise {suppression}, relax the requirements or generalize further.",
            requirements=tuple(missed),
        )
