"""What the given columns tell about a target where their groups are too many to fetch.

Some groups are drawn by a hash of their values and fetched in full, so that everything about a
group seen is exact, and sums over all groups are estimates with intervals. Or, on request, the
engine counts all groups and hands over how many there are of each make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crypsis.engine import Rows
from crypsis.engine.base import Sketch
from crypsis.engine.large import sketches, without_missing
from crypsis.errors import ColumnError, InputError, ParameterError
from crypsis.estimates import CONFIDENCE
from crypsis.inference import _drawn
from crypsis.inference._conditional import checked_columns
from crypsis.inference._drawn import SeenGroup, Sums
from crypsis.inference._uniqueness import Uniqueness, assumption, uniqueness
from crypsis.release import NullPolicy, Release, as_release
from crypsis.results import Estimate, Number, Result

_GROUPS = 1_000_000
_CELLS = 5_000_000


@dataclass(frozen=True)
class SampledLeakage(Result):
    """What the given columns tell about the target, from a part of their groups seen in full."""

    target: str
    given: tuple[str, ...]
    rows: int
    dropped: int
    """Rows left out because a value is missing (only with missing='drop')."""
    share: float
    """The chance of a group to be seen; 1 where all were counted."""
    seen: int
    """The groups seen; the largest are seen for certain."""
    groups: Number
    """Distinct tuples of the given columns."""
    values: int
    """How many values the target takes."""
    entropy_bits: float
    conditional_entropy_bits: Number
    mutual_information: Number
    discrimination_rate: Number
    conditional_privacy: Number
    prior_guess: float
    """Always naming the most frequent value, knowing nothing."""
    average_guess: Number
    """Naming the most frequent value of the group, averaged over all rows."""
    average_gain: Number
    told_outright: Number
    """The share of rows in groups that hold one value of the target alone."""
    worst_guess: Number
    """The best guess in the worst group: where no group seen settles it, from the worst one seen
    up to 1."""
    itpr: Number
    """Formula (10) of itpr2019, in the same way from the riskiest group seen up to 1."""
    itpr_shuffled: float | None
    """1 where a row alone in its group was seen; None: not known."""
    fewest_values_seen: int
    """The fewest values of the target in a group seen; there may be fewer, unless it is 1."""
    closeness_seen: float | None
    """The largest distance of a group seen from all rows (t); there may be larger ones."""
    riskiest_seen: tuple[SeenGroup, ...]
    """The riskiest of the groups seen; there may be riskier ones."""
    uniqueness: Uniqueness
    assumes: str
    confidence: float
    _sums: Sums

    def in_groups_above(self, guess: float) -> Number:
        """The share of rows in groups where the best guess is right more often than `guess`."""
        return self._sums.in_groups_above(guess)


@dataclass(frozen=True)
class SampledLeakages(Result):
    """What the same given columns tell about several targets, from a part of their groups."""

    given: tuple[str, ...]
    targets: tuple[SampledLeakage, ...]


def sampled_leakage(
    data: Any,
    target: str,
    given: str | Sequence[str] | None = None,
    *,
    unique: bool | None = None,
    prove: bool = False,
    groups: int = _GROUPS,
    exact: bool = False,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    **roles: Any,
) -> SampledLeakage:
    """`leakage` where the given columns have too many combinations to fetch them all.

    About `groups` of them are drawn by a hash of their values, those that a sample of rows meets
    often are taken besides, and all rows of these are counted. Means over the rows, such as the
    average best guess and H(X|Y), are then estimates with intervals (see `estimates.row_mean`);
    entropy and prior guess are exact. The worst group there is cannot be estimated: the worst one
    seen is a bound, unless it settles the matter. With `exact` the engine counts all groups, in
    memory or spill disk for each, and everything is exact but the distances, which are left out.

    Missing values count as the release says, but not as wildcards. Cost: four passes (a sketch of
    how many there are, a sample of rows, the target's values, the groups), with `exact` also four.
    The sample depends on the seed and the engine.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 30, 47], "disease": ["flu", "gout", "flu", "HIV"]})
    >>> found = sampled_leakage(people, "disease", ["age"])
    >>> found.share, found.average_guess, found.worst_guess, found.told_outright
    (1.0, 0.75, 1.0, 0.25)
    """
    release = as_release(data, **roles)
    known = release.quasi_identifiers if given is None else given
    names = checked_columns(target, known, release.names)
    if release.missing is NullPolicy.WILDCARD:
        raise ParameterError(
            "When missing values match anything, groups overlap and have no distribution; read the "
            "data with missing values as a value of their own ('value') or dropped ('drop')."
        )
    if groups < 1 or seed < 0:
        raise ParameterError("Groups are at least 1, and a seed is at least 0.")
    how = uniqueness(release, target, unique, prove)
    asked = names if how.unique else [*names, target]
    look, pairs = sketches(release.rows, [names, asked])
    rows, dropped = _counting(release, asked, pairs)
    if exact:
        sums = _drawn.counted_sums(rows, names, None if how.unique else target)
    else:
        share = min(1.0, groups / max(1.0, look.distinct), _CELLS / max(1.0, pairs.distinct))
        sums = _drawn.drawn_sums(release, rows, names, target, how, share, confidence, seed)
    return _told(sums, target, names, dropped, how, confidence)


def sampled_leakages(
    data: Any,
    targets: Sequence[str],
    given: str | Sequence[str] | None = None,
    *,
    unique: Sequence[str] = (),
    **options: Any,
) -> SampledLeakages:
    """`sampled_leakage` of each target; `unique` names those that are declared unique."""
    stray = [name for name in unique if name not in targets]
    if not targets or stray:
        raise ColumnError("Name at least one target, and declare only targets unique.")
    found = tuple(
        sampled_leakage(data, target, given, unique=True if target in unique else None, **options)
        for target in targets
    )
    return SampledLeakages(found[0].given, found)


def _counting(release: Release, asked: Sequence[str], look: Sketch) -> tuple[Rows, int]:
    """The rows that count, and how many do not."""
    dropped = look.missing if release.missing is NullPolicy.DROP else 0
    if look.rows == dropped:
        raise InputError("There are no rows that count, so nothing can be measured.")
    if not dropped:
        return release.rows, 0
    return without_missing(release.rows, asked, look.rows - dropped), dropped


def _told(
    sums: Sums, target: str, names: list[str], dropped: int, how: Uniqueness, confidence: float
) -> SampledLeakage:
    average = sums.average_guess()
    told = sums.information()
    return SampledLeakage(
        target=target,
        given=tuple(names),
        rows=sums.rows,
        dropped=dropped,
        share=sums.share,
        seen=sums.seen,
        groups=sums.groups(),
        values=sums.values,
        entropy_bits=sums.entropy,
        conditional_entropy_bits=told.conditional_entropy,
        mutual_information=told.mutual_information,
        discrimination_rate=told.discrimination_rate,
        conditional_privacy=told.conditional_privacy,
        prior_guess=sums.prior_guess,
        average_guess=average,
        average_gain=sums.gain(average),
        told_outright=sums.told_outright(),
        worst_guess=_at_least(sums, sums.worst_guess),
        itpr=_itpr(sums, told.discrimination_rate),
        itpr_shuffled=_shuffled(sums, how),
        fewest_values_seen=sums.fewest_values,
        closeness_seen=sums.closeness,
        riskiest_seen=sums.riskiest,
        uniqueness=how,
        assumes=assumption(target, how),
        confidence=confidence,
        _sums=sums,
    )


def _at_least(sums: Sums, seen: float) -> Number:
    """The largest share there is, of which the largest seen is known."""
    if sums.share == 1 or seen == 1:
        return seen
    return Estimate(seen, seen, 1.0, sums.confidence, "the worst group seen; worse may be there")


def _itpr(sums: Sums, discrimination_rate: Number) -> Number:
    """A group in which nothing is uncertain makes it 1, however many groups there are."""
    if sums.entropy == 0:
        return 0.0
    if sums.least_left == 0:
        return 1.0
    groups, per_group = sums.groups(), sums.least_left / (sums.rows * sums.entropy)
    if not isinstance(groups, Estimate) or not isinstance(discrimination_rate, Estimate):
        return max(1 - float(groups) * per_group, float(discrimination_rate))
    low = max(1 - groups.high * per_group, discrimination_rate.low)
    value = max(1 - groups.value * per_group, discrimination_rate.value)
    told = "the riskiest group seen; riskier may be there"
    return Estimate(max(value, low), low, 1.0, sums.confidence, told)


def _shuffled(sums: Sums, how: Uniqueness) -> float | None:
    if sums.entropy == 0:
        return 0.0
    return 1.0 if sums.smallest == 1 and not how.unique else None
