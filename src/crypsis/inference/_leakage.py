"""How much the given columns tell about a target: re-identification and inference risk (itpr2019).

With an identifier as target this is the risk of re-identification, with a sensitive column that of
inference. Logarithms are to base 2. All measures come from one pass over Cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.cells import Cells
from crypsis.errors import ParameterError
from crypsis.inference._conditional import Conditional, checked_columns, conditional
from crypsis.inference._contributions import Contribution, contributions
from crypsis.inference._groups import GroupRisk, Order, group_risk, group_table, ranking, worst
from crypsis.inference._shuffle import independent_itpr, shuffled_itpr
from crypsis.inference._uniqueness import Uniqueness, assumption, uniqueness
from crypsis.release import as_release
from crypsis.results import Estimate, Result

_RISKIEST_SHOWN = 20


@dataclass(frozen=True)
class BestGuess(Result):
    """The probability of guessing the target right: the number to decide on."""

    prior: float
    """Always naming the most frequent value, knowing nothing."""
    average: float
    """Naming the most frequent value of the group, averaged over all rows."""
    worst: float
    """The same in the group where it is most likely to be right."""
    average_gain: float
    """What the given columns add on average."""
    worst_gain: float
    """What they add in the worst group."""
    group: GroupRisk
    """That group; of several the largest."""

    def __float__(self) -> float:
        return self.worst


@dataclass(frozen=True)
class PrintedReadings(Result):
    """The formulas of itpr2019 taken to the letter, where that differs from what its tables need.

    They use H(X | Y = y) without the weight p(y); ITPR may then be far below 0.
    """

    itpr: float
    """Formula (10) and Definition 4.2."""
    itpr_before_scaling: float
    """Formula (9)."""
    max_information_leakage: float
    """Formula (8): the largest H(X) - H(X | Y = y)."""
    entropy_l_diversity: float
    """2 to the minus *largest* entropy of a group."""


@dataclass(frozen=True)
class Leakage(Result):
    """What the given columns tell about the target, on average and in the worst group."""

    target: str
    given: tuple[str, ...]
    rows: int
    dropped: int
    """Rows left out because a value is missing (only with missing='drop')."""
    groups: int
    """Distinct tuples of the given columns."""
    entropy_bits: float
    conditional_entropy_bits: float
    joint_entropy_bits: float
    normalized_conditional_entropy: float
    """Formula (3): H(X|Y) / H(X); 1 for a constant target, about which nothing can be learned."""
    mutual_information: float
    """Formula (6), in bits."""
    discrimination_rate: float
    """Formula (5)."""
    conditional_privacy: float
    """Formula (7): 1 - 2^-I(X;Y)."""
    max_information_leakage: float
    """Formula (8), the largest H(X) - p(y) H(X|Y=y), in bits: the reading of the tables."""
    max_information_leakage_difference: float
    """The largest H(X) - H(X|Y=y), in bits: the most uncertainty that one group takes away."""
    max_information_leakage_divergence: float
    """The largest divergence of p(x|y) from p(x), in bits: the most that one group surprises."""
    entropy_l_diversity: float
    """2^-(smallest entropy of a group): the risk that itpr2019 calls ELD."""
    variation: float
    """Formula (13), theta: H(X) less the smallest entropy of a group, in bits."""
    itpr: float
    """Formula (10) and Definition 4.2: the largest 1 - |Y| p(y) H(X|Y=y) / H(X)."""
    itpr_before_scaling: float
    """Formula (9): the largest 1 - p(y) H(X|Y=y) / H(X)."""
    itpr_independent: float
    """What ITPR would be if every group were distributed as all rows: 1 - |Y| min p(y)."""
    itpr_shuffled: Estimate | float
    """What ITPR is when the target is shuffled."""
    best_guess: BestGuess
    worst_group: GroupRisk
    """The group that attains ITPR; of several the largest."""
    riskiest: tuple[GroupRisk, ...]
    """The first twenty groups of `table()`."""
    contributions: tuple[Contribution, ...]
    """What each given column tells alone and adds to the others, the most telling first."""
    printed: PrintedReadings
    uniqueness: Uniqueness
    assumes: str
    _known: Conditional = field(repr=False, compare=False)

    def table(self, by: Order = "best_guess") -> pa.Table:
        """All groups, the riskiest first, with their values: what to generalize or suppress.

        `by`: "best_guess", "itpr" (each group's term) or "divergence"; larger groups first of equal
        ones. It holds values of the data and is for the owner of the data only.
        """
        return group_table(self._known, by)

    def first(self, most: int, by: Order = "best_guess") -> tuple[GroupRisk, ...]:
        """The first groups of `table(by)`, as results, which show no values unless asked to."""
        return tuple(group_risk(self._known, int(i)) for i in ranking(self._known, by)[:most])


def leakage(
    data: Any,
    target: str,
    given: str | Sequence[str] | None = None,
    *,
    unique: bool | None = None,
    prove: bool = False,
    seed: int = 0,
    **roles: Any,
) -> Leakage:
    """How much the given columns (default: the quasi-identifiers) tell about the target.

    itpr2019, formulas (1) to (10), (13) and Definition 4.2, in the reading that reproduces its
    tables; the printed one is in `printed`. Read `itpr` beside `itpr_independent` and
    `itpr_shuffled`: a rare group alone makes it high, even if nothing can be inferred from it. The
    `best_guess` is the number to decide on. Every measure of a constant target is 0, except
    `entropy_l_diversity` and `best_guess`, which are 1: everyone knows its value already.

    `unique=True` declares that the values of the target are all different, `prove=True` has that
    checked; a target that is neither, is long and repeats nowhere in its first million rows is
    assumed to be unique, and the result `assumes` so. Then only the given columns are grouped.

    Missing values count as the release says: as a value of their own or not at all; as wildcards
    they have no distribution, which is an error. Cost: one scan that groups the given columns and
    the target; after that time and memory go with the number of groups.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 30, 47], "disease": ["flu", "gout", "flu", "HIV"]})
    >>> found = leakage(people, "disease", ["age"])
    >>> found.itpr, found.best_guess.prior, found.best_guess.average, found.best_guess.worst
    (1.0, 0.5, 0.75, 1.0)
    >>> found.worst_group.group.size, found.worst_group.guess
    (1, 'HIV')
    """
    if isinstance(data, Cells):
        return _of_cells(data, target, given, unique, seed)
    release = as_release(data, **roles)
    given = release.quasi_identifiers if given is None else given
    names = checked_columns(target, given, release.names)
    known = uniqueness(release, target, unique, prove)
    cells = release.cells(names if known.unique else [*names, target])
    return measured(cells, target, names, known, seed)


def _of_cells(
    cells: Cells, target: str, given: str | Sequence[str] | None, unique: bool | None, seed: int
) -> Leakage:
    there = (*cells.columns, target) if unique else cells.columns
    others = [name for name in cells.columns if name != target]
    names = checked_columns(target, others if given is None else given, there)
    return measured(
        cells, target, names, Uniqueness.DECLARED if unique else Uniqueness.COUNTED, seed
    )


def measured(
    cells: Cells, target: str, given: Sequence[str], how: Uniqueness, seed: int = 0
) -> Leakage:
    """All measures from the cells of the given columns and, unless it is unique, the target."""
    if seed < 0:
        raise ParameterError(f"A seed is a whole number of at least 0; {seed} was given.")
    counted = None if how.unique else target
    known = conditional(cells, given, counted)
    least = float(known.entropies.min())
    order = ranking(known, "best_guess")
    return Leakage(
        target=target,
        given=tuple(given),
        rows=known.rows,
        dropped=known.dropped,
        groups=len(known.groups),
        entropy_bits=known.entropy,
        conditional_entropy_bits=known.conditional_entropy,
        joint_entropy_bits=known.groups.entropy_bits() + known.conditional_entropy,
        normalized_conditional_entropy=1 - known.discrimination_rate,
        mutual_information=known.mutual_information,
        discrimination_rate=known.discrimination_rate,
        conditional_privacy=1 - 2.0**-known.mutual_information,
        max_information_leakage=known.entropy - float(known.weighted.min()),
        max_information_leakage_difference=known.entropy - least,
        max_information_leakage_divergence=float(known.divergences.max()),
        entropy_l_diversity=2.0**-least,
        variation=known.entropy - least,
        itpr=known.itpr,
        itpr_before_scaling=_scaled(float(known.weighted.min()), 1, known.entropy),
        itpr_independent=independent_itpr(known),
        itpr_shuffled=shuffled_itpr(known, seed),
        best_guess=_best_guess(known, int(order[0])),
        worst_group=group_risk(known, worst(-known.weighted, known.sizes)),
        riskiest=tuple(group_risk(known, int(i)) for i in order[:_RISKIEST_SHOWN]),
        contributions=contributions(cells, given, counted, known),
        printed=_printed(known, least),
        uniqueness=how,
        assumes=assumption(target, how),
        _known=known,
    )


def _best_guess(known: Conditional, place: int) -> BestGuess:
    prior, average = known.prior_guess, known.average_guess
    worst = float(known.best_guesses[place])
    return BestGuess(
        prior, average, worst, average - prior, worst - prior, group_risk(known, place)
    )


def _printed(known: Conditional, least: float) -> PrintedReadings:
    return PrintedReadings(
        itpr=_scaled(least, len(known.groups), known.entropy),
        itpr_before_scaling=_scaled(least, 1, known.entropy),
        max_information_leakage=known.entropy - least,
        entropy_l_diversity=2.0 ** -float(np.max(known.entropies)),
    )


def _scaled(entropy_left: float, groups: int, entropy: float) -> float:
    return 1 - groups * entropy_left / entropy if entropy else 0.0
