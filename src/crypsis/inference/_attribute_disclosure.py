"""The privacy models of attribute disclosure, of one sensitive attribute in its classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import unknown_columns
from crypsis.inference._class_risks import worst
from crypsis.inference._closeness import GroundDistance, class_distances
from crypsis.inference.conditional import Conditional, Joint, counted_conditional
from crypsis.results import Group, Result

Floats = NDArray[np.float64]


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
        for one in self.attributes:
            if one.attribute == attribute:
                return one
        raise unknown_columns([attribute], [one.attribute for one in self.attributes])

    @property
    def distinct_l(self) -> int:
        """The smallest distinct l of all sensitive attributes."""
        return min(one.l_diversity.distinct for one in self.attributes)

    @property
    def entropy_l(self) -> float:
        """The smallest entropy l of all sensitive attributes."""
        return min(one.l_diversity.entropy for one in self.attributes)

    @property
    def t(self) -> float:
        """The largest t of all sensitive attributes."""
        return max(one.t_closeness.t for one in self.attributes)

    @property
    def alpha(self) -> float:
        """The largest alpha of all sensitive attributes."""
        return max(one.alpha_k_anonymity.alpha for one in self.attributes)

    def __str__(self) -> str:
        head = (
            f"Attribute disclosure: {self.records:,} records in {self.classes:,} equivalence "
            f"classes, k = {self.k:,}"
        )
        width = max(len(one.attribute) for one in self.attributes)
        lines = [
            f"  {one.attribute:<{width}}  l = {one.l_diversity.distinct:,} (distinct), "
            f"{one.l_diversity.entropy:.4g} (entropy), {one.l_diversity.recursive:,} (recursive, "
            f"c = {one.l_diversity.c:g}); t = {one.t_closeness.t:.4g} "
            f"({one.t_closeness.ground_distance})"
            for one in self.attributes
        ]
        return "\n".join([head, *lines])


@dataclass(frozen=True, eq=False)
class AttributeCounts:
    """A sensitive attribute counted in the classes of the quasi-identifiers."""

    name: str
    table: Joint

    @cached_property
    def known(self) -> Conditional:
        """The attribute in each class."""
        return counted_conditional(self.table)

    def worst(self, risks: Floats) -> Group:
        """The class with the highest risk."""
        return self.table.classes.group(worst(risks, self.table.sizes))

    def l_diversity(self, c: float) -> LDiversity:
        """l-diversity; recursive with this c."""
        present = self.table.present
        entropies = present.per_class(-present.shares * np.log2(present.shares))
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
        found = class_distances(self.table, ground, self.name)
        name = ground if isinstance(ground, str) else "hierarchical"
        return TCloseness(self.name, float(found.max()), name, self.worst(found))

    def beta_likeness(self) -> BetaLikeness:
        """beta-likeness, basic and enhanced."""
        table = self.table
        prior = table.prior[table.codes]
        gains = table.shares / prior - 1
        beta = max(0.0, float(gains.max()))
        enhanced = float("inf") if np.any(gains > -np.log(prior) + 1e-12) else beta
        most = np.maximum.reduceat(gains, table.starts)
        return BetaLikeness(self.name, beta, enhanced, self.worst(most))

    def delta_disclosure(self) -> DeltaDisclosure:
        """delta-disclosure privacy."""
        table = self.table
        ratios = np.abs(np.log2(table.shares / table.prior[table.codes]))
        present = np.maximum.reduceat(ratios, table.starts)
        lengths = np.diff(np.append(table.starts, table.counts.size))
        every = np.where(lengths < table.distinct, np.inf, present)
        return DeltaDisclosure(
            self.name, float(every.max()), float(present.max()), self.worst(every)
        )

    def alpha_k_anonymity(self, k: int) -> AlphaKAnonymity:
        """(alpha,k)-anonymity, given k."""
        shares = self.known.best_guesses
        return AlphaKAnonymity(self.name, float(shares.max()), k, self.worst(shares))

    def every_model(self, c: float, ground: GroundDistance, k: int) -> SensitiveAttribute:
        """All models at once."""
        return SensitiveAttribute(
            attribute=self.name,
            records=self.known.records,
            dropped=self.known.dropped,
            values=self.table.distinct,
            l_diversity=self.l_diversity(c),
            t_closeness=self.t_closeness(ground),
            beta_likeness=self.beta_likeness(),
            delta_disclosure=self.delta_disclosure(),
            alpha_k_anonymity=self.alpha_k_anonymity(k),
        )


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
