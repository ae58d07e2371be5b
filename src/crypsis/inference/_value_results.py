"""What the disclosure of values found: the largest measures, and the classes where they are."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.errors import unknown_columns
from crypsis.results import Group, Result


class WorstClass(Result):
    """The class in which a measure is largest, and what is known in it."""

    group: Group
    share: float
    """The share of the value, or of the interval, among the members of the class."""
    prior: float
    """Its prior."""
    baseline: float | None
    """What a model without the members of the class predicts; None where none was asked."""
    level: str
    """What is known: a "value", a "group" of the hierarchy, an "interval", "not zero", ..."""


class ValueMeasure(Result):
    """A measure of the values in the classes: the largest, and where."""

    value: float
    worst: WorstClass | None
    _by_class: NDArray[np.float64] = field(repr=False, compare=False)
    """The largest of each class."""
    _sizes: NDArray[np.int64] = field(repr=False, compare=False)

    def records_above(self, limit: float) -> int:
        """The records in classes where it is larger."""
        return int(self._sizes[self._by_class > limit].sum())


class AttributeValues(Result):
    """What classes disclose about one sensitive attribute, value by value."""

    attribute: str
    records: int
    unit: str
    """What classes count: a "record", or a "person" where people have several records."""
    classes: int
    prior_source: str
    """Where priors are from: "this table", "the population" or "the rates given"."""
    gain: ValueMeasure
    """p(x | class) - p(x), of the same value x."""
    ratio: ValueMeasure
    """p(x | class) / p(x), by the lower confidence limit in small classes."""
    excess: ValueMeasure
    """p(x | class) minus the baseline, by the lower confidence limit in small classes."""
    excess_ratio: ValueMeasure
    """p(x | class) over the baseline or, if that is larger, the prior; by the same limit."""
    interval: ValueMeasure | None
    """For numbers and dates: the excess of an interval; None for other attributes."""
    near_certain: int
    """The records in classes where a rare or declared value or interval is near-certain."""
    near_certain_people: int | None
    """The people whose records these are, where people have several."""
    near_certain_classes: int
    near_certain_class: WorstClass | None
    """The largest of these classes."""
    presence: float
    """The largest share of a value, or group, in all records that presence alone discloses."""
    presence_prior: float | None
    """Its prior, where one was given."""
    not_zero: float
    """The share of records with a number other than zero, where zero stands out; else 0."""
    presence_stated_public: bool
    """Whether the owner states that presence in the table is public."""
    _classes: Cells = field(repr=False, compare=False)
    _certain: NDArray[np.bool_] = field(repr=False, compare=False)

    def classes_above(self, excess: float, ratio: float) -> tuple[Cells, NDArray[np.bool_]]:
        """The equivalence classes, and in which of them a measure of a value is larger.

        That is the excess of a value or interval, its ratio, or that a rare one is near-certain.
        """
        above = self._certain | (self.excess._by_class > excess)
        above |= self.excess_ratio._by_class > ratio
        if self.interval is not None:
            above |= self.interval._by_class > excess
        return self._classes, above


class ValueDisclosure(Result):
    """What classes disclose about each sensitive attribute, value by value."""

    quasi_identifiers: tuple[str, ...]
    confidence: float
    attributes: tuple[AttributeValues, ...]

    def __getitem__(self, attribute: str) -> AttributeValues:
        for disclosure in self.attributes:
            if disclosure.attribute == attribute:
                return disclosure
        raise unknown_columns([attribute], [attribute.attribute for attribute in self.attributes])

    def __str__(self) -> str:
        width = max(len(attribute.attribute) for attribute in self.attributes)
        lines = [
            f"  {attribute.attribute:<{width}}  gain {attribute.gain.value:.3g}, excess over the baseline "
            f"{attribute.excess.value:.3g}; near-certain for {attribute.near_certain:,} of "
            f"{attribute.records:,} records"
            for attribute in self.attributes
        ]
        return "\n".join([f"Disclosure of values from {', '.join(self.quasi_identifiers)}", *lines])
