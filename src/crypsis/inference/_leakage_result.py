"""What the given columns reveal about a target: the result, and its measures from the classes."""

from __future__ import annotations

from dataclasses import field

import numpy as np
import pyarrow as pa

from crypsis.counting.estimates import mapped
from crypsis.errors import ColumnError, TooLargeError
from crypsis.inference._class_risks import ClassRisk, Order, class_table, ranking, worst
from crypsis.inference._contributions import Contribution
from crypsis.inference._counted_classes import CountedClasses
from crypsis.inference._uniqueness import UniquenessBasis
from crypsis.results import Estimate, Number, Result, number_text

_MAX_CLASSES_LISTED = 20
"""The riskiest classes that a result lists."""


class BestGuess(Result):
    """The probability of guessing the target right: the number to decide on."""

    prior: float
    """The most frequent value of all records, without the given columns."""
    average: Number
    """The most frequent value of the class, averaged over all records."""
    worst: Number
    """The same in the class where it is most likely to be right."""
    average_gain: Number
    """What the given columns add on average."""
    worst_gain: Number
    """What they add in the worst class."""
    worst_class: ClassRisk | None
    """That class; of several the largest. None where the classes were not fetched."""

    def __float__(self) -> float:
        return float(self.worst)


class Leakage(Result):
    """What the given columns reveal about the target, on average and in the worst class.

    Every number is exact or an `Estimate`. Where classes were sampled, an average is estimated and
    a worst case is known from the worst class counted up to its limit.
    """

    target: str
    given: tuple[str, ...]
    records: int
    dropped: int
    """Records without a value in one of the columns (only with missing="drop")."""
    classes: Number
    """The equivalence classes: distinct tuples of the given columns."""
    classes_counted: int
    sampled_share: float
    """The probability of a class to be counted; 1 where all were."""
    values: int
    """How many values the target takes."""
    entropy_bits: float
    conditional_entropy_bits: Number
    joint_entropy_bits: Number
    normalized_conditional_entropy: Number
    """Formula (3): H(X|Y) / H(X); 1 for a constant target, about which nothing can be learned."""
    mutual_information: Number
    """Formula (6), in bits."""
    discrimination_rate: Number
    """Formula (5)."""
    conditional_privacy: Number
    """Formula (7): 1 - 2^-I(X;Y)."""
    max_information_leakage: Number
    """Formula (8), the largest H(X) - p(y) H(X|Y=y), in bits: the reading of the tables."""
    max_information_leakage_difference: Number | None
    """The largest H(X) - H(X|Y=y), in bits, which is also formula (13), theta."""
    max_information_leakage_divergence: Number | None
    """The largest divergence of p(x|y) from p(x), in bits."""
    entropy_l_diversity: Number | None
    """2^-(smallest entropy of a class): the risk that itpr2019 calls ELD."""
    itpr: Number
    """Formula (10) and Definition 4.2: the largest 1 - |Y| p(y) H(X|Y=y) / H(X)."""
    itpr_before_scaling: Number
    """Formula (9): the largest 1 - p(y) H(X|Y=y) / H(X)."""
    itpr_independent: Number
    """ITPR if every class were distributed as all records: 1 - |Y| min p(y)."""
    itpr_shuffled: Number | None
    """ITPR of the shuffled target; None where it is not known."""
    best_guess: BestGuess
    homogeneous_share: Number
    """The share of the records in classes with one value of the target (homogeneity attack)."""
    distinct_l: Number
    """Distinct l-diversity: the fewest values of the target in a class."""
    t: Number | None
    """t-closeness: the largest distance of a class from all records; None for a unique target or
    where the engine counted the classes."""
    worst_class: ClassRisk | None
    """The class that attains ITPR; of several the largest."""
    riskiest: tuple[ClassRisk, ...]
    """The first twenty classes of `table()`; where classes were sampled, of those counted."""
    contributions: tuple[Contribution, ...]
    """What each given column reveals alone and adds to the others, the largest addition first."""
    uniqueness: UniquenessBasis
    confidence: float
    _classes: CountedClasses = field(repr=False, compare=False)

    @property
    def complete(self) -> bool:
        """Whether all classes were counted."""
        return self.sampled_share == 1

    def share_above(self, best_guess: float) -> Number:
        """The share of the records in classes where the best guess is right more often."""
        return self._classes.fraction(self._classes.guesses > best_guess)

    def table(self, by: Order = "best_guess") -> pa.Table:
        """All classes, the riskiest first, with their values: what to generalize or suppress.

        `by`: "best_guess", "itpr" (each class's term) or "divergence"; of equal ones the larger
        first. The table has values of the data and is for the owner of the data only.
        """
        conditional = self._classes.known
        if conditional is None or not self.complete:
            raise TooLargeError(
                f"The columns {', '.join(map(repr, self.given))} have too many equivalence classes "
                "for a table of all.",
                columns=self.given,
                hint="Set fewer columns with {given}.",
            )
        return class_table(conditional, by)

    def first(self, limit: int, by: Order = "best_guess") -> tuple[ClassRisk, ...]:
        """The first classes of `table(by)`, as results, which show no values by default."""
        return _first(self._classes, limit, by)

    def __str__(self) -> str:
        guess = self.best_guess
        lines = [
            f"Leakage of {self.target!r} from {', '.join(map(repr, self.given))}: "
            f"{self.records:,} records in {number_text(self.classes, ',')} equivalence classes",
            f"  best guess  {number_text(guess.worst)} in the worst class, "
            f"{number_text(guess.average)} on average, {guess.prior:.4g} without these columns",
            f"  ITPR        {number_text(self.itpr)}, "
            f"discrimination rate {number_text(self.discrimination_rate)}",
            f"  l-diversity {number_text(self.distinct_l, ',')} (distinct)",
        ]
        if self.t is not None:
            lines.append(f"  t-closeness {number_text(self.t)}")
        return "\n".join(lines)


class Leakages(Result):
    """What the same given columns reveal about several targets."""

    given: tuple[str, ...]
    targets: tuple[Leakage, ...]

    @property
    def complete(self) -> bool:
        """Whether all classes were counted, for every target."""
        return all(target.complete for target in self.targets)

    def __getitem__(self, target: str) -> Leakage:
        for leakage in self.targets:
            if leakage.target == target:
                return leakage
        raise ColumnError(f"Column {target!r} is not among the targets.", columns=(target,))


def leakage_of(
    counted_classes: CountedClasses,
    target: str,
    names: list[str],
    basis: UniquenessBasis,
    shuffled: Number | None,
    added: tuple[Contribution, ...],
) -> Leakage:
    """All measures of the classes that were counted."""
    conditional, entropy, left = (
        counted_classes.known,
        counted_classes.entropy,
        counted_classes.conditional_entropy,
    )
    gained = mapped(left, lambda bits: entropy - bits)
    rate = mapped(left, lambda bits: 1 - bits / entropy) if entropy else 0.0
    least = counted_classes.least_entropy
    difference = None if least is None else counted_classes.at_least(entropy - least, entropy)
    distances = counted_classes.distances
    return Leakage(
        target=target,
        given=tuple(names),
        records=counted_classes.records,
        dropped=counted_classes.dropped,
        classes=counted_classes.classes,
        classes_counted=counted_classes.counted,
        sampled_share=counted_classes.share,
        values=counted_classes.values,
        entropy_bits=entropy,
        conditional_entropy_bits=left,
        joint_entropy_bits=counted_classes.class_entropy + left,
        normalized_conditional_entropy=mapped(rate, lambda share: 1 - share),
        mutual_information=gained,
        discrimination_rate=rate,
        conditional_privacy=mapped(gained, lambda bits: 1 - 2.0**-bits),
        max_information_leakage=counted_classes.at_least(entropy - counted_classes.least_weighted, entropy),
        max_information_leakage_difference=difference,
        max_information_leakage_divergence=None
        if conditional is None
        else counted_classes.at_least(
            float(conditional.divergences.max()), float(np.log2(counted_classes.records))
        ),
        entropy_l_diversity=None if least is None else counted_classes.at_least(2.0**-least),
        itpr=_itpr(counted_classes, rate),
        itpr_before_scaling=counted_classes.at_least(1 - counted_classes.least_weighted / entropy)
        if entropy
        else 0.0,
        itpr_independent=_independent_itpr(counted_classes, rate),
        itpr_shuffled=shuffled,
        best_guess=_best_guess(counted_classes),
        homogeneous_share=counted_classes.fraction(counted_classes.distinct == 1),
        distinct_l=counted_classes.at_most(int(counted_classes.distinct.min())),
        t=None if distances is None else counted_classes.at_least(float(distances.max())),
        worst_class=None
        if conditional is None
        else counted_classes.class_risk(conditional, worst(-counted_classes.weighted, counted_classes.sizes)),
        riskiest=_first(counted_classes, _MAX_CLASSES_LISTED, "best_guess"),
        contributions=added,
        uniqueness=basis,
        confidence=counted_classes.confidence,
        _classes=counted_classes,
    )


def _first(counted_classes: CountedClasses, limit: int, by: Order) -> tuple[ClassRisk, ...]:
    conditional = counted_classes.known
    if conditional is None:
        return ()
    return tuple(
        counted_classes.class_risk(conditional, int(index)) for index in ranking(conditional, by)[:limit]
    )


def _best_guess(counted_classes: CountedClasses) -> BestGuess:
    prior, average = counted_classes.prior_guess, counted_classes.average_guess
    most = counted_classes.at_least(float(counted_classes.guesses.max()))
    class_index = worst(counted_classes.guesses, counted_classes.sizes)
    where = (
        None
        if counted_classes.known is None
        else counted_classes.class_risk(counted_classes.known, class_index)
    )
    return BestGuess(prior, average, most, average - prior, most - prior, where)


def _itpr(counted_classes: CountedClasses, rate: Number) -> Number:
    """Formula (10); never below the discrimination rate."""
    risk = counted_classes.per_class(counted_classes.least_weighted, counted_classes.entropy)
    if not isinstance(risk, Estimate) or not isinstance(rate, Estimate):
        return max(risk, rate)
    low, value = max(risk.low, rate.low), max(risk.value, rate.value)
    return Estimate(max(value, low), low, 1.0, risk.confidence, risk.method)


def _independent_itpr(counted_classes: CountedClasses, rate: Number) -> Number:
    """In closed form; a unique target cannot be distributed alike everywhere, so ITPR itself."""
    if counted_classes.top == 1:
        return _itpr(counted_classes, rate)
    smallest = int(counted_classes.sizes.min())
    return counted_classes.per_class(smallest, counted_classes.records if counted_classes.entropy else 0)
