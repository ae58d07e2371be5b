"""Do the originals, all together, fit the masked file better than people who are not in it?

Single links show little where masking is strong; many slight fits add up. Every masked record is
divided among the originals and controls near it, so that those who fit compete for it (Sinkhorn's
scaling to one-to-one expectations): the share that a person receives is the score. Scores do not
know who is an original. If the masked file says nothing of who is in it, originals and controls are
exchangeable, and permuting them gives the exact distribution of the test.

One column that was released unchanged links everybody and is lost among others that were shuffled.
So every subset of columns has statistics of its own: shares received at several widths, and equal
values that few people have. A column that was transformed by a smooth function keeps how the gaps
between neighboring values change. The largest of all these statistics, permuted, is the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.linkage._joint_columns import (
    FAR_DISTANCE,
    JointColumns,
    equal_values,
    gap_changes,
    is_continuous,
    joint_columns,
    normal_scores,
    subsets,
)
from crypsis.linkage._ranks import Floats, Ints
from crypsis.results import Result
from crypsis.scientific import spatial, special

MAX_P_VALUE = 0.01
"""The p-value up to which the originals fit better than controls: a false alarm in 100 files."""
ENOUGH_POWER = 0.8
"""The power from which a test that sees nothing is sufficient."""
_PERMUTATIONS = 999
"""With so many, the smallest p-value is 0.001."""
_SIMULATED_FILES = 10
"""Masked files over which the power of the test is averaged."""
_MAX_TESTED_RECORDS = 5_000
"""Originals and controls that are scored; of more a sample is drawn."""
_MAX_GAP_RECORDS = 50_000
"""The originals of which the gaps between values are compared, in seconds."""
_NEAREST_RECORDS = 60
"""Masked records near a person that give a share to the person."""
_SINKHORN_SWEEPS = 6
"""Times that the shares are scaled between masked records and people."""
_KERNEL_WIDTHS = (0.5, 1.0, 1.6, 2.8)
"""In units of the median distance between a person and the nearest masked record."""
_KERNEL_WIDTHS_OF_FEW_COLUMNS = {1: (0.7, 2.8, 8.0, 24.0), 2: (0.7, 1.6, 3.0, 6.0)}
"""In one or two columns records are dense: a leak that matters moves them past many others."""


class JointTest(Result):
    """All originals together against controls: an exact permutation test, and its power.

    `p_value` is small if originals fit the masked file better than controls do, in `columns`, the
    subset with the largest statistic of the `subsets` that were tested; `complete` states whether
    these are all subsets through which a leak of that size is possible. `power` is the probability
    that a masking with a share `leak` of correct links would be seen at the level 0.01, with as many
    records, controls and columns of the same dependence: the least over noise in a single column
    (`weakest`) beside others that show nothing, or in as few as allow so many links, and over equal
    noise in all of them. It is None where the test has seen something.
    """

    p_value: float
    records: int
    controls: int
    leak: float
    power: float | None
    subsets: int = 1
    complete: bool = True
    columns: tuple[str, ...] = ()
    weakest: tuple[str, ...] = ()

    @property
    def seen(self) -> bool:
        """Whether originals fit the masked file better than controls, at the level 0.01."""
        return self.p_value <= MAX_P_VALUE

    @property
    def sufficient(self) -> bool:
        """Whether a leak of the size that matters would have been seen, through any columns."""
        return self.complete and self.power is not None and self.power >= ENOUGH_POWER


@dataclass(frozen=True, eq=False)
class _Null:
    """The statistics of the labels as they are, and of permuted labels; the columns of each."""

    observed: Floats
    permuted: Floats
    labels: NDArray[np.bool_]
    of: tuple[tuple[int, ...], ...] = ()

    @property
    def p_value(self) -> float:
        if not self.observed.size:
            return 1.0
        as_large = (self.permuted.max(axis=1) >= self.observed.max()).sum()
        return float((1 + as_large) / (len(self.permuted) + 1))

    @property
    def critical(self) -> float:
        if not self.observed.size:
            return np.inf
        return float(np.quantile(self.permuted.max(axis=1), 1 - MAX_P_VALUE))


class _Sample(NamedTuple):
    """The people who are scored, originals first, and the others; how many originals in each."""

    scored: Ints
    rest: Ints
    inside: int
    rest_inside: int


def joint_test(
    originals: Floats,
    controls: Floats,
    masked: Floats,
    leak: float,
    seed: int,
    *,
    nominal: Sequence[bool] = (),
    names: Sequence[str] = (),
) -> JointTest:
    """Test whether originals fit the masked file better than controls (records by columns).

    NaN is a missing value; columns that are `nominal` have codes of categories.
    """
    rng = np.random.default_rng((seed, 6))
    width, number = originals.shape[1], len(originals)
    names = names or [str(j + 1) for j in range(width)]
    everyone = np.vstack([originals, controls]).astype(np.float64)
    masked = masked.astype(np.float64)
    columns = joint_columns(everyone, masked, nominal or [False] * width)
    tested, complete = subsets(width)
    sample = _drawn(len(everyone), number, rng)
    scores, of = _scores(columns, tested, sample, number, leak)
    null = _null(scores, sample.inside, rng, of)
    null = _with_gaps(null, everyone, masked, number, sample, columns.nominal, rng)
    power: float | None = None
    weakest: tuple[int, ...] = ()
    if null.p_value > MAX_P_VALUE:
        power, weakest = _power(columns, tested, number, leak, null, rng)
    best: tuple[int, ...] = null.of[int(null.observed.argmax())] if null.observed.size else ()
    return JointTest(
        null.p_value,
        number,
        len(controls),
        leak,
        power,
        len(tested),
        complete,
        tuple(names[j] for j in best),
        tuple(names[j] for j in weakest),
    )


def _drawn(people: int, originals: int, rng: np.random.Generator) -> _Sample:
    """Some of the originals, who come first, and some of the others; and everybody else.

    Within each part labels are exchangeable, as the part is the same whoever is an original in it.
    """
    parts = []
    for part in (np.arange(originals), np.arange(originals, people)):
        large = len(part) > _MAX_TESTED_RECORDS
        parts.append(rng.choice(part, _MAX_TESTED_RECORDS, replace=False) if large else part)
    scored = np.concatenate(parts)
    rest = np.setdiff1d(np.arange(people), scored)
    return _Sample(scored, rest, len(parts[0]), int((rest < originals).sum()))


def _scores(
    columns: JointColumns, tested: Sequence[tuple[int, ...]], sample: _Sample, originals: int, leak: float
) -> tuple[Floats, tuple[tuple[int, ...], ...]]:
    """The scores of the people of the sample in each subset, and the subset of each score.

    A subset in which too many people are alike for a leak of that size has none.
    """
    parts: list[Floats] = []
    of: list[tuple[int, ...]] = []
    expected = min(1.0, sample.inside / len(columns.masked))
    few = len(columns.people) / (originals * leak)  # a link to one of more people is wrong as often
    for subset in tested:
        which, people, records = equal_values(columns, subset)
        if len(np.unique(which)) <= leak * originals:
            continue
        equal = np.where(people <= few, np.minimum(1.0, records / people), 0.0)
        fit = _fit(columns.people[sample.scored][:, subset], columns.masked[:, subset], expected)
        parts += [fit, equal[sample.scored][:, None]]
        of += [subset] * (fit.shape[1] + 1)
    return (np.hstack(parts) if parts else np.empty((len(sample.scored), 0))), tuple(of)


def _with_gaps(
    null: _Null,
    everyone: Floats,
    masked: Floats,
    originals: int,
    sample: _Sample,
    nominal: NDArray[np.bool_],
    rng: np.random.Generator,
) -> _Null:
    """The statistics with how well the gaps between values of each column fit, in either direction.

    The gaps are those between the originals in their order, so they are computed anew for every
    permutation, of all people. Only of complete files the gaps are comparable.
    """
    if originals != len(masked) or not 3 < originals <= _MAX_GAP_RECORDS:
        return null
    with_gaps = [
        j
        for j in range(masked.shape[1])
        if not nominal[j] and is_continuous(everyone[:, j]) and is_continuous(masked[:, j])
    ]
    if not with_gaps:
        return null
    people = np.concatenate([sample.scored, sample.rest])
    order = [np.argsort(everyone[people, j], kind="stable") for j in with_gaps]
    ordered = [everyone[people[of], j] for of, j in zip(order, with_gaps, strict=True)]
    theirs = [_unit(gap_changes(np.sort(masked[:, j]))) for j in with_gaps]
    statistics = np.empty((_PERMUTATIONS + 1, 2 * len(with_gaps)))
    label = people < originals
    for row in range(_PERMUTATIONS + 1):
        if row:
            label = np.concatenate(
                [null.labels[row - 1], rng.permutation(len(sample.rest)) < sample.rest_inside]
            )
        for position, (of, values, changes) in enumerate(zip(order, ordered, theirs, strict=True)):
            unit_values = _unit(gap_changes(values[label[of]]))
            # Reversed, what was a growing gap is a shrinking one.
            statistics[row, 2 * position] = unit_values @ changes
            statistics[row, 2 * position + 1] = -(unit_values @ changes[::-1])
    statistics = (statistics - statistics.mean(axis=0)) / np.maximum(statistics.std(axis=0), 1e-12)
    return _Null(
        np.append(null.observed, statistics[0]),
        np.hstack([null.permuted, statistics[1:]]),
        null.labels,
        null.of + tuple((j,) for j in with_gaps for _ in range(2)),
    )


def _unit(values: Floats) -> Floats:
    centered = values - values.mean()
    return np.asarray(centered / max(float(np.sqrt(centered @ centered)), 1e-12))


def _widths(columns: int) -> tuple[float, ...]:
    return _KERNEL_WIDTHS_OF_FEW_COLUMNS.get(columns, _KERNEL_WIDTHS)


def _fit(people: Floats, masked: Floats, expected: float) -> Floats:
    """The share of masked records that each person receives, for several widths of the kernel.

    Each masked record gives `expected` in all to the people near it; a person receives at most 1.
    """
    neighbors = min(_NEAREST_RECORDS, len(masked))
    distance, neighbor = spatial.cKDTree(masked).query(people, neighbors)
    distance, neighbor = distance.reshape(len(people), neighbors), neighbor.reshape(len(people), neighbors)
    within = distance[:, 0][distance[:, 0] < FAR_DISTANCE / 2]
    unit = max(float(np.median(within)) if within.size else 1.0, 1e-6)
    scores = [
        _received(
            np.exp(-np.minimum((distance / (width * unit)) ** 2 / 2, 300.0)), neighbor, len(masked), expected
        )
        for width in _widths(people.shape[1])
    ]
    return np.column_stack(scores)


def _received(kernel: Floats, neighbor: Ints, masked: int, expected: float) -> Floats:
    """Sinkhorn's sweeps between masked records, which give, and people, who may stay without."""
    flat, tiny = neighbor.ravel(), 1e-300
    wish = np.ones(len(kernel))
    received = wish
    for _ in range(_SINKHORN_SWEEPS):
        demand = np.bincount(flat, (kernel * wish[:, None]).ravel(), minlength=masked)
        offer = expected / np.maximum(demand, tiny)
        offered = np.log(np.maximum((kernel * offer[neighbor]).sum(axis=1), tiny))
        received = special.expit(offered + _level(offered, expected * masked))
        wish = received / np.exp(offered)
    return received


def _level(offered: Floats, total: float) -> float:
    """The constant with which people receive `total` in all, by bisection."""
    low, high = -700.0, 700.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if special.expit(offered + middle).sum() < total else (low, middle)
    return middle


def _observed(scores: Floats, originals: int) -> Floats:
    """The means of the originals in standard errors."""
    return np.asarray(_standardized(scores, originals)[:originals].mean(axis=0))


def _standardized(scores: Floats, originals: int) -> Floats:
    """Scores around their mean, so that the mean of the originals has a variance of 1 by chance."""
    number, spread = len(scores), scores.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    unit = unit * np.sqrt((number - originals) / (originals * max(number - 1, 1)))
    return np.asarray((scores - scores.mean(axis=0)) / unit)


def _null(
    scores: Floats, originals: int, rng: np.random.Generator, of: tuple[tuple[int, ...], ...] = ()
) -> _Null:
    """The statistics as they are and with permuted labels."""
    centered = _standardized(scores, originals)
    drawn = rng.random((_PERMUTATIONS, len(scores)))
    chosen = drawn <= np.partition(drawn, originals - 1, axis=1)[:, [originals - 1]]
    return _Null(_observed(scores, originals), chosen @ centered / originals, chosen, of)


def _power(
    columns: JointColumns,
    tested: Sequence[tuple[int, ...]],
    originals: int,
    leak: float,
    null: _Null,
    rng: np.random.Generator,
) -> tuple[float, tuple[int, ...]]:
    """How often the worst masking with a share `leak` of correct links would be seen, and where.

    As many people as there are originals, drawn from all, are masked by noise: in each single column
    alone, in more where so many links need more, and in all of them equally. The other columns show
    nothing. The statistics of such a file in these columns are those of permuted labels, moved by
    their mean over the files. Where no noise leaves so many correct links, because people are alike,
    there is no such leak to be seen.
    """
    least = 1.0
    weakest: tuple[int, ...] = ()
    possible: list[tuple[int, ...]] = []
    for subset in tested:
        if any(set(fewer) <= set(subset) for fewer in possible) and len(subset) < len(columns.nominal):
            continue
        part = _Masking.of(columns, subset, originals)
        noise = part.noise_with(leak, rng)
        if noise is None:
            continue
        possible.append(subset)
        positions = [position for position, of in enumerate(null.of) if of == subset][
            : len(_widths(len(subset)))
        ]
        moved = np.zeros(len(positions))
        for _ in range(_SIMULATED_FILES):
            people, masked = part.file(noise, rng)
            sample = _drawn(len(people), originals, rng)
            expected = sample.inside / originals
            scores = _fit(people[sample.scored], masked, expected)
            moved += _observed(scores, sample.inside) / _SIMULATED_FILES
        seen = (null.permuted[:, positions] + moved).max(axis=1) > null.critical
        if float(seen.mean()) < least:
            least, weakest = float(seen.mean()), subset
    return least, weakest


class _Masking(NamedTuple):
    """People in some of the columns, to be masked by noise; categories by exchanging records."""

    people: Floats
    nominal: NDArray[np.bool_]
    same_scale: NDArray[np.bool_]
    originals: int

    @classmethod
    def of(cls, columns: JointColumns, subset: tuple[int, ...], originals: int) -> _Masking:
        chosen = list(subset)
        return cls(columns.people[:, chosen], columns.nominal[chosen], columns.same_scale[chosen], originals)

    def file(self, noise: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """People in another order, the originals first, and their masked records.

        Where there are only categories, `noise` is the share of records that are those of others.
        """
        people = self.people[rng.permutation(len(self.people))]
        masked = people[: self.originals].copy()
        if self.nominal.all():
            replaced = rng.random(len(masked)) < noise
            masked[replaced] = people[rng.integers(0, len(people), int(replaced.sum()))]
            return people, masked
        ordered = ~self.nominal
        masked[:, ordered] += noise * rng.normal(size=(len(masked), int(ordered.sum())))
        by_rank = ordered & ~self.same_scale
        if by_rank.any():
            masked[:, by_rank] = normal_scores(masked[:, by_rank])
        return people, masked

    def right(self, noise: float, rng: np.random.Generator) -> float:
        """How often the nearest masked record is right."""
        queries = min(self.originals, _MAX_TESTED_RECORDS)
        people, masked = self.file(noise, rng)
        mine = people[: self.originals].copy()
        by_rank = ~self.same_scale & ~self.nominal
        if by_rank.any():  # the intruder has the originals alone
            mine[:, by_rank] = normal_scores(mine[:, by_rank])
        nearest_masked = spatial.cKDTree(masked).query(mine[:queries])[1]
        return float((nearest_masked == np.arange(queries)).mean())

    def noise_with(self, leak: float, rng: np.random.Generator) -> float | None:
        """The noise at which the nearest masked record is right that often."""
        low, high = (0.0, 1.0) if self.nominal.all() else (1e-6, 10.0)
        if self.right(low, rng) <= leak:
            return None
        for _ in range(20):
            noise = (low + high) / 2 if self.nominal.all() else float(np.sqrt(low * high))
            low, high = (noise, high) if self.right(noise, rng) > leak else (low, noise)
        return low
