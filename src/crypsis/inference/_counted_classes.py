"""The equivalence classes of the given columns, as far as they were counted, and sums over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.estimates import CONFIDENCE, mapped, row_mean, scaled_total
from crypsis.inference._class_risks import ClassRisk
from crypsis.inference._closeness import class_distances
from crypsis.inference.conditional import Conditional, counted_conditional, joint, unique_conditional
from crypsis.results import Estimate, Number

_OF_THE_COUNTED = "the worst of the classes counted; a class not counted may be worse"


@dataclass(frozen=True, eq=False)
class CountedClasses:
    """The classes that were counted: each with probability `share`, the `certain` ones always.

    Classes alike in size, mode and number of values may be one entry; `times` is how many they are.
    """

    records: int
    """All records that count, in classes counted or not."""
    dropped: int
    entropy: float
    """H(X), in bits."""
    values: int
    """The values that the target takes."""
    top: float
    """The records of its most frequent value."""
    sizes: Ints
    modes: Ints | Floats
    distinct: Ints
    weighted: Floats
    """p(y) H(X|Y=y) of each class, in bits; of classes counted by the engine their sum alone."""
    least_weighted: float
    """The smallest of a single class."""
    least_entropy: float | None
    """The smallest H(X|Y=y); None where it is not known."""
    times: Ints
    certain: Flags
    share: float = 1.0
    confidence: float = CONFIDENCE
    known: Conditional | None = None
    """The classes themselves, unless the engine counted them."""
    distances: Floats | None = None
    """The distance of each class from all records; None for a unique target."""

    @property
    def counted(self) -> int:
        """How many classes were counted."""
        return int(self.times.sum())

    @property
    def prior_guess(self) -> float:
        """The best guess without the given columns."""
        return self.top / self.records

    @cached_property
    def guesses(self) -> Floats:
        """The best guess in each class."""
        return self.modes / self.sizes

    @cached_property
    def classes(self) -> Number:
        """How many classes there are."""
        if self.share == 1:
            return self.counted
        sure = int(self.times[self.certain].sum())
        drawn = scaled_total([1], [self.counted - sure], self.share, largest=1, confidence=self.confidence)
        return mapped(drawn, lambda count: count + sure)

    @cached_property
    def conditional_entropy(self) -> Number:
        """H(X|Y), between 0 and H(X)."""
        limits = (0.0, float(np.log2(max(self.values, 1))))
        return _within(self._mean(self.weighted, limits), 0.0, self.entropy)

    @property
    def class_entropy(self) -> Number:
        """H(Y)."""
        if self.known is not None and self.share == 1:
            return self.known.classes.entropy_bits()
        shares = self.sizes / self.records
        limits = (0.0, float(np.log2(self.records)))
        return self._mean(-shares * np.log2(shares) * self.times, limits)

    @cached_property
    def average_guess(self) -> Number:
        """The best guess with the given columns, averaged over the records."""
        if self.share == 1:
            right: Number = float((self.modes * self.times).sum() / self.records)
        else:
            right = self._mean(self.modes * self.times / self.records, (0.0, 1.0))
        return _within(right, self.prior_guess, 1.0)

    def fraction(self, chosen: Flags) -> Number:
        """The share of the records that are in the chosen classes."""
        if self.share == 1:
            return float((self.sizes * self.times)[chosen].sum() / self.records)
        weights = np.where(chosen, self.sizes * self.times / self.records, 0.0)
        return self._mean(weights, (0.0, 1.0))

    def at_least(self, counted: float, most: float = 1.0) -> Number:
        """The largest of all classes, of which the largest of those counted is known."""
        if self.share == 1 or counted >= most:
            return counted
        return Estimate(counted, counted, most, self.confidence, _OF_THE_COUNTED)

    def at_most(self, counted: int) -> Number:
        """The smallest count in all classes, of which that in the classes counted is known."""
        if self.share == 1 or counted == 1:
            return counted
        return Estimate(counted, 1, counted, self.confidence, _OF_THE_COUNTED)

    def per_class(self, least: float, of: float) -> Number:
        """1 - |Y| least / of, the form of formula (10); 0 where there is nothing to learn."""
        if not of:
            return 0.0
        if least == 0:
            return 1.0
        classes = self.classes
        if not isinstance(classes, Estimate):
            return 1 - classes * least / of
        low, value = (1 - count * least / of for count in (classes.high, classes.value))
        return Estimate(value, low, 1.0, self.confidence, _OF_THE_COUNTED)

    def class_risk(self, conditional: Conditional, class_index: int) -> ClassRisk:
        """One of the classes as a result."""
        guess = None
        if conditional.guesses is not None and conditional.values is not None:
            guess = conditional.values[int(conditional.guesses[class_index])].as_py()
        return ClassRisk(
            group=conditional.classes.group(class_index),
            share=float(conditional.sizes[class_index] / self.records),
            entropy_bits=float(conditional.entropies[class_index]),
            distinct=int(conditional.distinct[class_index]),
            itpr=self.per_class(float(self.weighted[class_index]), self.entropy),
            divergence_bits=float(conditional.divergences[class_index]),
            best_guess=float(conditional.best_guesses[class_index]),
            guess=guess,
        )

    def _mean(self, terms: Floats, limits: tuple[float, float]) -> Number:
        """The sum over all classes of terms that are weighted with p(y)."""
        if self.share == 1:
            return float(terms.sum())
        sure, totals = self.certain, terms * self.records
        return row_mean(
            totals[~sure],
            self.sizes[~sure],
            self.share,
            self.records,
            certain=(float(totals[sure].sum()), int(self.sizes[sure].sum())),
            limits=limits,
            confidence=self.confidence,
        )


def _within(number: Number, low: float, high: float) -> Number:
    return mapped(number, lambda value: min(max(value, low), high))


def all_classes(
    cells: Cells, names: Sequence[str], target: str | None, ordered: bool, person: str | None = None
) -> tuple[Conditional, CountedClasses]:
    """All classes, from their cells; `target=None` means a unique one."""
    if target is None:
        known_cells = cells if cells.columns == tuple(names) else cells.marginal(names)
        result = unique_conditional(known_cells)
        return result, classes_of(result, result.records, result.records, None)
    table = joint(cells, target, names, person)
    distances = class_distances(table, "ordered" if ordered else "equal")
    result = counted_conditional(table)
    return result, classes_of(result, result.records, table.distinct, distances)


def classes_of(
    conditional: Conditional, records: int, values: int, distances: Floats | None
) -> CountedClasses:
    """Classes that were fetched, of so many records in all."""
    weighted = conditional.sizes / records * conditional.entropies
    return CountedClasses(
        records=records,
        dropped=conditional.dropped,
        entropy=conditional.entropy,
        values=values,
        top=1 if conditional.totals is None else float(conditional.totals.max()),
        sizes=conditional.sizes,
        modes=conditional.modes,
        distinct=conditional.distinct,
        weighted=weighted,
        least_weighted=float(weighted.min()),
        least_entropy=float(conditional.entropies.min()),
        times=np.ones_like(conditional.sizes),
        certain=np.ones(conditional.sizes.size, bool),
        known=conditional,
        distances=distances,
    )
