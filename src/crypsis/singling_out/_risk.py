"""Re-identification risk: the probability that the match of an intruder is correct.

The three attackers are those of El Emam (2013), Guide to the De-Identification of Personal Health
Information: a prosecutor knows that the person is in the data, a journalist does not, and a
marketer wants to re-identify as many persons as possible.
"""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.counting.match_probability import PopulationModel, check_weights, match_probability
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, RoleError
from crypsis.options import MissingValues
from crypsis.results import Number, Result, number_text, percent_text
from crypsis.singling_out._cover import people_alike

PersonCells = tuple[Ints, Ints, Ints]


class AttackerRisk(Result):
    """The re-identification risk of the records (or persons) under one attacker."""

    maximum: Number
    average: Number
    share_above: Number
    """The share of records (or persons) whose risk is above the threshold."""


class ReidentificationRisk(Result):
    """Prosecutor, journalist and marketer risk."""

    columns: tuple[str, ...]
    unit: str
    """What is counted: records, or persons where the data says whose records they are."""
    units: int
    threshold: float
    prosecutor: AttackerRisk
    journalist: AttackerRisk | None
    """None where the population is known neither by a table nor by weights, and for samples."""
    marketer: AttackerRisk

    def __str__(self) -> str:
        lines = [f"Re-identification risk of {self.units:,} {self.unit}"]
        for name in ("prosecutor", "journalist", "marketer"):
            risk = getattr(self, name)
            if risk is not None:
                lines.append(
                    f"  {name:<10}  maximum {number_text(risk.maximum)}, average "
                    f"{number_text(risk.average)}, {percent_text(risk.share_above)} of the "
                    f"{self.unit} above {self.threshold:g}"
                )
        return "\n".join(lines)


def cell_risks(
    dataset: Dataset, cells: Cells, units: Ints, sizes: Ints, person: PersonCells | None, threshold: float
) -> ReidentificationRisk:
    """The risk from all equivalence classes and, where it is known, from the population."""
    counted = sizes > 0
    cell_risk = np.where(counted, 1 / np.maximum(sizes, 1), 0.0)
    wanted = population_risk(dataset, cells, sizes, person)
    journalist = None if wanted is None else attacker_risk(wanted, units, counted, person, threshold)
    prosecutor = attacker_risk(cell_risk, units, counted, person, threshold)
    return ReidentificationRisk(
        columns=cells.columns,
        unit="records" if person is None else "people",
        units=unit_count(units, counted, person),
        threshold=threshold,
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=journalist or prosecutor,
    )


def units_alike(dataset: Dataset, cells: Cells) -> tuple[Ints, Ints, PersonCells | None]:
    """Per cell its records (or persons) and the size of its class, and the cells of each person."""
    if dataset.person is None:
        return np.where(cells.class_sizes > 0, cells.counts, 0), cells.class_sizes, None
    refuse_wildcards(cells)
    if dataset.person in cells.columns:
        raise RoleError(
            f"Column {dataset.person!r} identifies the person of a record; it cannot be a "
            "quasi-identifier as well.",
            code="person-is-quasi-identifier",
            columns=(dataset.person,),
        )
    person = with_column(dataset, cells, dataset.person)
    member, persons, _ = person
    people = np.bincount(member[persons >= 0], minlength=len(cells))
    people = np.where(cells.class_sizes > 0, people, 0).astype(np.int64)
    return people, people, person


def with_column(dataset: Dataset, cells: Cells, name: str) -> PersonCells:
    """The cells split by one more column: the old cell, the new code (-1: missing), the records."""
    finer = dataset.cells((*cells.columns, name))
    _, member = group(finer.codes[:-1], finer.domains[:-1])  # in the order of `cells`
    new = finer.codes[-1].astype(np.int64)
    if finer.missing_codes[-1] >= 0:
        new[new == finer.missing_codes[-1]] = -1
    return member, new, finer.counts


def population_risk(
    dataset: Dataset, cells: Cells, sizes: Ints, person: PersonCells | None = None
) -> Floats | None:
    """For each cell the probability that a match of the journalist is correct; None if not known.

    In the table of a population it is 1 over the people that match. Weights only estimate these
    people, and the risk is the expectation of 1 over them given the sample (see `individual_risk`):
    1 over the sum of the weights is below it, for a single record of weight 50 by a factor of 4.
    """
    if isinstance(dataset.population, Dataset):
        matches = people_alike(cells, dataset.population)
        # A record is a member of its population, however its table was made.
        return np.asarray(1 / np.maximum(np.maximum(matches, sizes), 1), np.float64)
    return None if dataset.weight is None else risk_by_weights(dataset, cells, sizes, person)


def risk_by_weights(
    dataset: Dataset,
    cells: Cells,
    sizes: Ints,
    person: PersonCells | None = None,
    model: PopulationModel = "negative binomial",
) -> Floats:
    """For each cell the expectation of 1 over its people in the population, given the weights."""
    expanded = expanded_sizes(dataset, cells, person)
    risk = np.zeros(len(cells))
    counted = sizes > 0
    risk[counted] = match_probability(sizes[counted].astype(np.float64), expanded[counted], model)
    return risk


def expanded_sizes(dataset: Dataset, cells: Cells, person: PersonCells | None) -> Floats:
    """The sum of the weights of the records of each class; of persons, each with one weight."""
    if person is None:
        weighted = dataset.cells(cells.columns, weighted=True)
        check_weights(weighted)
        return weighted.class_weights
    finer = dataset.cells((*cells.columns, str(dataset.person)), weighted=True)
    check_weights(finer)
    member, persons, counts = person
    each = np.where(persons >= 0, np.asarray(finer.weights) / counts, 0.0)
    return np.asarray(np.bincount(member, weights=each, minlength=len(cells)), np.float64)


def refuse_wildcards(cells: Cells) -> None:
    """Raise if missing values match every value, because then there are no classes."""
    if cells.missing is MissingValues.WILDCARD and cells.missing_mask.any():
        raise ParameterError(
            "Missing values that match every value have no equivalence classes.",
            code="wildcards",
            hint="Set {missing=value} or {missing=drop}.",
        )


def check_threshold(threshold: float) -> None:
    """Raise unless a threshold of risk is a probability above zero."""
    if not 0 < threshold <= 1:
        raise ParameterError(
            f"Parameter 'threshold' must be above 0 and at most 1; {threshold} was given.",
            parameter="threshold",
        )


def attacker_risk(
    risk: Floats, units: Ints, counted: Flags, person: PersonCells | None, limit: float
) -> AttackerRisk:
    """The risk over records, or over persons by the record of each with the highest risk."""
    if person is None:
        values, weights = risk[counted], units[counted].astype(np.float64)
    else:
        member, persons, _ = person
        has_person = (persons >= 0) & counted[member]
        worst = np.zeros(int(persons.max(initial=-1)) + 1)
        np.maximum.at(worst, persons[has_person], risk[member[has_person]])
        values = worst[worst > 0]
        weights = np.ones(values.size)
    total = weights.sum()
    above = float(weights[values > limit].sum() / total)
    return AttackerRisk(float(values.max()), float(values @ weights / total), above)


def unit_count(units: Ints, counted: Flags, person: PersonCells | None) -> int:
    """The number of records, or of persons, that count."""
    if person is None:
        return int(units[counted].sum())
    member, persons, _ = person
    return int(np.unique(persons[(persons >= 0) & counted[member]]).size)


def units_by_size(occurring: Ints, units: Ints, sizes: Ints, person: PersonCells | None) -> Ints:
    """For each size the records in classes of it; a person counts once, in their smallest class."""
    of_sizes = np.searchsorted(occurring, sizes)
    counted = sizes > 0
    if person is None:
        units_of_size = np.bincount(of_sizes[counted], units[counted], len(occurring))
    else:
        member, persons, _ = person
        has_person = (persons >= 0) & counted[member]
        smallest = np.full(int(persons.max(initial=-1)) + 1, len(occurring))
        np.minimum.at(smallest, persons[has_person], of_sizes[member[has_person]])
        units_of_size = np.bincount(smallest, minlength=len(occurring) + 1)[:-1]
    return np.asarray(units_of_size, np.int64)
