"""Which sets of columns tell the most about a target: a search over subsets that prunes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal, get_args

from crypsis import progress
from crypsis.cells import Cells
from crypsis.errors import ParameterError
from crypsis.inference._conditional import checked_columns, conditional
from crypsis.inference._uniqueness import Uniqueness, assumption, uniqueness
from crypsis.release import as_release
from crypsis.results import Result

Measure = Literal["best_guess", "worst_guess", "mutual_information", "itpr"]
_ROUNDING = 1e-12
_BOUND_PAYS = 3


@dataclass(frozen=True)
class SetRisk(Result):
    """What a set of given columns tells about the target."""

    columns: tuple[str, ...]
    groups: int
    itpr: float
    discrimination_rate: float
    mutual_information: float
    best_guess: float
    """The average best guess."""
    worst_guess: float
    """The best guess in the worst group."""


@dataclass(frozen=True)
class RiskySets(Result):
    """The sets of given columns that tell the most about the target."""

    target: str
    among: tuple[str, ...]
    most: int
    """The largest number of columns in a set."""
    measure: str
    threshold: float
    """The risk at which a set is not extended any more; the highest possible, if none was asked."""
    reaching: tuple[SetRisk, ...]
    """The smallest sets that reach the threshold: leaving out any column brings it below."""
    worst: tuple[SetRisk, ...]
    """The sets that were measured, the worst first; of equal ones the smaller first."""
    measured: int
    pruned: int
    """Sets that needed no measuring."""
    uniqueness: Uniqueness
    assumes: str


def riskiest_sets(
    data: Any,
    target: str,
    among: Sequence[str] | None = None,
    *,
    most: int = 3,
    measure: Measure = "best_guess",
    threshold: float | None = None,
    top: int = 20,
    unique: bool | None = None,
    prove: bool = False,
    **roles: Any,
) -> RiskySets:
    """Which sets of at most `most` columns (default: of the quasi-identifiers) are worst to know.

    More columns never tell less: mutual information and both best guesses only rise. So a set that
    reaches the threshold (or tells all there is to tell) is not extended; and where even all the
    columns that could still be added do not reach the threshold, none of those sets is measured.
    ITPR may fall when columns are added, but not from 1, so for it only the first holds, and the
    threshold is 1.

    Missing values count as in `leakage`. Cost: one scan, then one pass over the cells for each set
    that is measured.

    >>> import pyarrow as pa
    >>> people = pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0] * 4, "x": [0, 1, 1, 0]})
    >>> found = riskiest_sets(people, "x", ["a", "b", "c"])
    >>> [one.columns for one in found.reaching], found.measured, found.pruned
    ([('a', 'b')], 6, 1)
    """
    if measure not in get_args(Measure):
        choices = ", ".join(repr(name) for name in get_args(Measure))
        raise ParameterError(f"Sets are measured by {choices}; {measure!r} was given.")
    if most < 1 or top < 1:
        raise ParameterError("`most` columns and `top` sets are at least 1.")
    if measure == "itpr" and threshold not in (None, 1):
        raise ParameterError(
            "ITPR may fall when columns are added, so the search by it has no threshold but 1."
        )
    release = as_release(data, **roles)
    names = checked_columns(
        target, release.quasi_identifiers if among is None else among, release.names
    )
    how = uniqueness(release, target, unique, prove)
    cells = release.cells(names if how.unique else [*names, target])
    search = _Search(cells, names, None if how.unique else target, measure, most)
    limit = search.highest if threshold is None else threshold
    found = list(search.run(limit, bounded=threshold is not None and measure != "itpr"))
    order = sorted(found, key=lambda one: (-search.value(one), len(one.columns)))
    reaching = tuple(one for one in order if search.value(one) >= limit - _ROUNDING)
    return RiskySets(
        target=target,
        among=tuple(names),
        most=most,
        measure=measure,
        threshold=limit,
        reaching=reaching,
        worst=tuple(order[:top]),
        measured=search.measured,
        pruned=_subsets(len(names), most) - len(found),
        uniqueness=how,
        assumes=assumption(target, how),
    )


class _Search:
    """Level by level: sets of one column, of two, and so on."""

    def __init__(
        self, cells: Cells, names: Sequence[str], target: str | None, measure: str, most: int
    ) -> None:
        self.cells, self.names, self.target = cells, tuple(names), target
        self.measure, self.most = measure, min(most, len(names))
        self.measured = 0
        one = conditional(cells, self.names[:1], target)
        self.highest = one.entropy if measure == "mutual_information" else 1.0

    def value(self, found: SetRisk) -> float:
        return float(getattr(found, self.measure))

    def run(self, limit: float, *, bounded: bool) -> Iterator[SetRisk]:
        """Every set worth measuring; those that reach the limit are minimal."""
        closed: list[frozenset[int]] = []
        level: list[tuple[int, ...]] = [()]
        with progress.step("sets of columns", _subsets(len(self.names), self.most)) as step:
            for _ in range(self.most):
                following = []
                for wider in self._extensions(level, limit if bounded else None):
                    if any(small <= set(wider) for small in closed):
                        continue
                    found = self._measure(wider)
                    step.advance()
                    yield found
                    if self.value(found) >= limit - _ROUNDING:
                        closed.append(frozenset(wider))
                    else:
                        following.append(wider)
                level = following

    def _extensions(
        self, level: Sequence[tuple[int, ...]], limit: float | None
    ) -> Iterator[tuple[int, ...]]:
        """Each set with each later column added, unless all of them together miss the limit."""
        for chosen in level:
            rest = range(chosen[-1] + 1 if chosen else 0, len(self.names))
            pays = limit is not None and len(rest) >= _BOUND_PAYS
            if limit is None or not pays or self._may_reach((*chosen, *rest), limit):
                yield from ((*chosen, column) for column in rest)

    def _may_reach(self, chosen: tuple[int, ...], limit: float) -> bool:
        return self.value(self._measure(chosen)) >= limit - _ROUNDING

    def _measure(self, chosen: tuple[int, ...]) -> SetRisk:
        self.measured += 1
        columns = tuple(self.names[i] for i in chosen)
        known = conditional(self.cells, columns, self.target)
        return SetRisk(
            columns=columns,
            groups=len(known.groups),
            itpr=known.itpr,
            discrimination_rate=known.discrimination_rate,
            mutual_information=known.mutual_information,
            best_guess=known.average_guess,
            worst_guess=float(known.best_guesses.max()),
        )


def _subsets(columns: int, most: int) -> int:
    return sum(comb(columns, size) for size in range(1, min(most, columns) + 1))
