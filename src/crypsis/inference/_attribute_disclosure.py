"""The privacy models of attribute disclosure, of one sensitive attribute in its classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats
from crypsis.errors import unknown_columns
from crypsis.inference._class_risks import worst
from crypsis.inference._closeness import GroundDistance, class_distances
from crypsis.inference.conditional import Joint
from crypsis.results import Group, Result

_ROUNDING = 1e-9
"""What rounding may add to a measure."""


class LDiversity(Result):
    """l-diversity of a sensitive attribute (Machanavajjhala et al. 2007), in its worst classes."""

    attribute: str
    distinct: int
    """Distinct l-diversity: the fewest values in a class."""
    entropy: float
    """Entropy l-diversity: 2^(smallest entropy of a class)."""
    recursive: int
    """Recursive (c,l)-diversity: the largest l that every class has; 0 if none."""
    c: float
    recursive_bounds: tuple[float, ...]
    """For l = 1, 2, ... the bound that c must exceed; no c suffices for more values."""
    distinct_class: Group
    """The class that decides; of several the largest. So for the other two."""
    entropy_class: Group
    recursive_class: Group


class TCloseness(Result):
    """t-closeness of a sensitive attribute (Li et al. 2007)."""

    attribute: str
    t: float
    """The largest distance of a class from all records."""
    ground_distance: str
    """How far values are apart: "equal", "ordered" or "hierarchical"."""
    worst_class: Group


class BetaLikeness(Result):
    """beta-likeness of a sensitive attribute (Cao and Karras 2012)."""

    attribute: str
    beta: float
    """Basic: the largest relative gain (q-p)/p of a value in a class."""
    enhanced: float
    """The same if no gain exceeds -ln p; else infinite: no beta is met."""
    worst_class: Group


class DeltaDisclosure(Result):
    """delta-disclosure privacy of a sensitive attribute (Brickell and Shmatikov 2008)."""

    attribute: str
    delta_bits: float
    """The largest |log2(q/p)|; infinite where a class lacks a value."""
    present_bits: float
    """The same over the values that are in the class."""
    worst_class: Group


class AlphaKAnonymity(Result):
    """(alpha,k)-anonymity of a sensitive attribute (Wong et al. 2006)."""

    attribute: str
    alpha: float
    """The largest share of one value in a class."""
    k: int
    """The smallest class size."""
    worst_class: Group


class SensitiveAttribute(Result):
    """All models for one sensitive attribute."""

    attribute: str
    records: int
    dropped: int
    values: int
    """How many values it takes."""
    l_diversity: LDiversity
    t_closeness: TCloseness
    beta_likeness: BetaLikeness
    delta_disclosure: DeltaDisclosure
    alpha_k_anonymity: AlphaKAnonymity


class AttributeDisclosure(Result):
    """k-anonymity, and all models of attribute disclosure for each sensitive attribute."""

    quasi_identifiers: tuple[str, ...]
    records: int
    dropped: int
    classes: int
    k: int
    """The smallest class size."""
    smallest_class: Group
    others_known: bool
    attributes: tuple[SensitiveAttribute, ...]

    def __getitem__(self, attribute: str) -> SensitiveAttribute:
        for disclosure in self.attributes:
            if disclosure.attribute == attribute:
                return disclosure
        raise unknown_columns([attribute], [attribute.attribute for attribute in self.attributes])

    @property
    def distinct_l(self) -> int:
        """The smallest distinct l of all sensitive attributes."""
        return min(attribute.l_diversity.distinct for attribute in self.attributes)

    @property
    def entropy_l(self) -> float:
        """The smallest entropy l of all sensitive attributes."""
        return min(attribute.l_diversity.entropy for attribute in self.attributes)

    @property
    def t(self) -> float:
        """The largest t of all sensitive attributes."""
        return max(attribute.t_closeness.t for attribute in self.attributes)

    @property
    def alpha(self) -> float:
        """The largest alpha of all sensitive attributes."""
        return max(attribute.alpha_k_anonymity.alpha for attribute in self.attributes)

    def __str__(self) -> str:
        head = (
            f"Attribute disclosure: {self.records:,} records in {self.classes:,} equivalence "
            f"classes, k = {self.k:,}"
        )
        width = max(len(attribute.attribute) for attribute in self.attributes)
        lines = [
            f"  {attribute.attribute:<{width}}  l = {attribute.l_diversity.distinct:,} (distinct), "
            f"{attribute.l_diversity.entropy:.4g} (entropy), {attribute.l_diversity.recursive:,} (recursive, "
            f"c = {attribute.l_diversity.c:g}); t = {attribute.t_closeness.t:.4g} "
            f"({attribute.t_closeness.ground_distance})"
            for attribute in self.attributes
        ]
        return "\n".join([head, *lines])


@dataclass(frozen=True, eq=False)
class AttributeCounts:
    """A sensitive attribute counted in the classes of the quasi-identifiers.

    Records without a person are read in two ways (`Joint.readings`); each measure is the worse.
    """

    name: str
    table: Joint

    @cached_property
    def _readings(self) -> list[_Counts]:
        return [_Counts(self.name, table) for table, _ in self.table.readings]

    def l_diversity(self, c: float) -> LDiversity:
        """l-diversity; recursive with this c."""
        first, *remaining = (reading.l_diversity(c) for reading in self._readings)
        for diversity in remaining:
            first = replace(
                first,
                **_lower(first, diversity, "distinct"),
                **_lower(first, diversity, "entropy"),
                **_lower(first, diversity, "recursive"),
                recursive_bounds=min(
                    first, diversity, key=lambda diversity: diversity.recursive
                ).recursive_bounds,
            )
        return first

    def t_closeness(self, ground: GroundDistance) -> TCloseness:
        """t-closeness by a ground distance."""
        return max(
            (reading.t_closeness(ground) for reading in self._readings), key=lambda closeness: closeness.t
        )

    def beta_likeness(self) -> BetaLikeness:
        """beta-likeness, basic and enhanced."""
        likenesses = (reading.beta_likeness() for reading in self._readings)
        return max(likenesses, key=lambda likeness: (likeness.enhanced, likeness.beta))

    def delta_disclosure(self) -> DeltaDisclosure:
        """delta-disclosure privacy."""
        disclosures = (reading.delta_disclosure() for reading in self._readings)
        return max(disclosures, key=lambda disclosure: (disclosure.delta_bits, disclosure.present_bits))

    def alpha_k_anonymity(self, k: int) -> AlphaKAnonymity:
        """(alpha,k)-anonymity, given k."""
        return max(
            (reading.alpha_k_anonymity(k) for reading in self._readings), key=lambda result: result.alpha
        )

    def classes_exceeding(
        self,
        least: Mapping[str, float],
        most: Mapping[str, float],
        recursive: tuple[float, int] | None,
        ground: GroundDistance,
    ) -> Flags:
        """Which classes have less or more of a measure than required, or are not (c,l)-diverse."""
        exceeding = np.zeros(self.table.starts.size, bool)
        for reading, (_, classes) in zip(self._readings, self.table.readings, strict=True):
            above = np.zeros(classes.size, bool)
            for name, limit in least.items():
                above |= reading.of_classes(name, ground) < limit - _ROUNDING * max(1.0, limit)
            for name, limit in most.items():
                above |= reading.of_classes(name, ground) > limit + _ROUNDING * max(1.0, limit)
            if recursive is not None:
                above |= ~_is_recursive(reading.table.present, *recursive)
            exceeding[classes] |= above
        return exceeding

    def every_model(self, c: float, ground: GroundDistance, k: int) -> SensitiveAttribute:
        """All models at once."""
        return SensitiveAttribute(
            attribute=self.name,
            records=int(self.table.records.sum()),
            dropped=self.table.dropped,
            values=self.table.distinct,
            l_diversity=self.l_diversity(c),
            t_closeness=self.t_closeness(ground),
            beta_likeness=self.beta_likeness(),
            delta_disclosure=self.delta_disclosure(),
            alpha_k_anonymity=self.alpha_k_anonymity(k),
        )


def _lower(first: LDiversity, ldiversity: LDiversity, name: str) -> dict[str, Any]:
    """The lower of two values of l, with its class."""
    source = min(first, ldiversity, key=lambda diversity: getattr(diversity, name))
    return {part: getattr(source, part) for part in (name, f"{name}_class")}


@dataclass(frozen=True, eq=False)
class _Counts:
    """One reading of the counts."""

    name: str
    table: Joint

    @cached_property
    def entropies(self) -> Floats:
        """The entropy of each class, without missing values."""
        present = self.table.present
        return present.per_class(-present.shares * np.log2(present.shares))

    @property
    def largest_shares(self) -> Floats:
        """The largest share of a value in each class."""
        return np.maximum.reduceat(self.table.shares_having, self.table.starts)

    @cached_property
    def gains(self) -> tuple[Floats, bool]:
        """The largest relative gain of a value in each class; whether one exceeds -ln p."""
        gains = [shares / prior - 1 for shares, prior in self._shares]
        pairs = zip(gains, self._shares, strict=True)
        exceeds = any(bool(np.any(gain > -np.log(prior) + 1e-12)) for gain, (_, prior) in pairs)
        return np.maximum.reduceat(np.max(gains, axis=0), self.table.starts), exceeds

    @cached_property
    def changes(self) -> tuple[Floats, Floats]:
        """The largest change of a share in each class in bits; the same of the values it has."""
        table = self.table
        ratios = np.max([np.abs(np.log2(share / prior)) for share, prior in self._shares], axis=0)
        present = np.maximum.reduceat(ratios, table.starts)
        lengths = np.diff(np.append(table.starts, table.counts.size))
        return np.where(lengths < table.distinct, np.inf, present), present

    def of_classes(self, requirement: str, ground: GroundDistance) -> Floats:
        """What a requirement limits, in each class."""
        match requirement:
            case "diversity":
                return self.table.diversity.astype(np.float64)
            case "entropy_diversity":
                return np.asarray(2.0**self.entropies)
            case "closeness":
                return class_distances(self.table, ground, self.name)
            case "best_guess":
                return self.largest_shares
            case "beta_likeness":
                return self.gains[0]
            case "delta_disclosure":
                return self.changes[0]
        raise KeyError(requirement)

    def worst(self, risks: Floats) -> Group:
        """The class with the highest risk."""
        return self.table.classes.group(worst(risks, self.table.sizes))

    def l_diversity(self, c: float) -> LDiversity:
        """l-diversity; recursive with this c."""
        present, entropies = self.table.present, self.entropies
        bounds, excess = _recursive(present, c)
        return LDiversity(
            attribute=self.name,
            distinct=int(present.diversity.min()),
            entropy=float(2.0 ** entropies.min()),
            recursive=sum(bound < c for bound in bounds),
            c=c,
            recursive_bounds=bounds,
            distinct_class=self.worst(-present.diversity.astype(np.float64)),
            entropy_class=self.worst(-entropies),
            recursive_class=self.worst(excess),
        )

    def t_closeness(self, ground: GroundDistance) -> TCloseness:
        """t-closeness by a ground distance."""
        distances = class_distances(self.table, ground, self.name)
        name = ground if isinstance(ground, str) else "hierarchical"
        return TCloseness(self.name, float(distances.max()), name, self.worst(distances))

    def beta_likeness(self) -> BetaLikeness:
        """beta-likeness, basic and enhanced."""
        gains, exceeds = self.gains
        beta = max(0.0, float(gains.max()))
        enhanced = float("inf") if exceeds else beta
        return BetaLikeness(self.name, beta, enhanced, self.worst(gains))

    def delta_disclosure(self) -> DeltaDisclosure:
        """delta-disclosure privacy."""
        changes, present = self.changes
        return DeltaDisclosure(self.name, float(changes.max()), float(present.max()), self.worst(changes))

    def alpha_k_anonymity(self, k: int) -> AlphaKAnonymity:
        """(alpha,k)-anonymity, given k."""
        shares = self.largest_shares
        return AlphaKAnonymity(self.name, float(shares.max()), k, self.worst(shares))

    @property
    def _shares(self) -> list[tuple[Floats, Floats]]:
        """The share of each cell and that of its value in the table, in each reading of people."""
        table = self.table
        shares = [(table.shares, table.prior[table.codes])]
        if table.people is not None:
            values = len(table.values)
            prior = table.prior_having(np.arange(values), values)
            shares.append((table.shares_having, prior[table.codes]))
        return shares


def _is_recursive(table: Joint, c: float, places: int) -> Flags:
    """Which classes are recursively (c,l)-diverse, l being `places`."""
    order = np.lexsort((-table.counts, table.member))
    counts = table.counts[order]
    rank = np.arange(order.size) - table.starts[table.member]
    tail = np.add.reduceat(np.where(rank >= places - 1, counts, 0), table.starts)
    return np.asarray(counts[table.starts] < c * tail)


def _recursive(table: Joint, c: float) -> tuple[tuple[float, ...], Floats]:
    """For each l the bound on c, and how far each class exceeds it at the first l that fails.

    A class with counts r1 >= r2 >= ... is recursively (c,l)-diverse if r1 < c (r_l + r_l+1 + ...).
    """
    order = np.lexsort((-table.counts, table.member))
    sorted_counts = table.counts[order]
    rank = np.arange(order.size) - table.starts[table.member]
    upto = np.cumsum(sorted_counts)
    ends = upto[np.append(table.starts[1:], order.size) - 1]
    tail = ends[table.member] - upto + sorted_counts
    ratios = sorted_counts[table.starts][table.member] / tail
    lengths = np.diff(np.append(table.starts, order.size))
    bounds = np.zeros(int(lengths.min()))
    within = rank < bounds.size
    np.maximum.at(bounds, rank[within], ratios[within])
    failing = int((bounds < c).sum())
    excess = np.full(table.starts.size, np.inf)
    reaches = lengths > failing
    excess[reaches] = ratios[table.starts[reaches] + failing]
    return tuple(map(float, bounds)), excess
