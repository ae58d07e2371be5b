"""Do the originals, all together, fit the masked file better than people who are not in it?

Single links show little where masking is strong; many slight fits add up. Every masked record is
divided among the originals and controls near it, so that those who fit compete for it (Sinkhorn's
scaling to one-to-one expectations): the share that a person receives is the score. Scores do not
know who is an original. If the masked file says nothing of who is in it, originals and controls are
exchangeable, and permuting them gives the exact distribution of the test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.results import Result
from crypsis.scientific import spatial, special, stats

LEVEL = 0.01
ENOUGH_POWER = 0.8
_PERMUTATIONS = 999
_SIMULATED_FILES = 10
_MOST_RECORDS = 5_000
_NEAR = 60
_SWEEPS = 6
_WIDTHS = (0.5, 1.0, 1.6, 2.8)


class JointTest(Result):
    """All originals together against controls: an exact permutation test, and its power.

    `p_value` is small if originals fit the masked file better than controls do. `power` is the
    probability that a masking by noise with a share `leak` of correct links would be seen at the
    level 0.01, with as many records, controls and columns of the same dependence; None where the
    test has seen something.
    """

    p_value: float
    records: int
    controls: int
    leak: float
    power: float | None

    @property
    def seen(self) -> bool:
        """Whether originals fit the masked file better than controls, at the level 0.01."""
        return self.p_value <= LEVEL

    @property
    def sufficient(self) -> bool:
        """Whether a leak of the size that matters would have been seen."""
        return self.power is not None and self.power >= ENOUGH_POWER


@dataclass(frozen=True, eq=False)
class _Null:
    """The statistics of the labels as they are, and of permuted labels: one column a width."""

    observed: Floats
    permuted: Floats

    @property
    def p_value(self) -> float:
        as_large = (self.permuted.max(axis=1) >= self.observed.max()).sum()
        return float((1 + as_large) / (len(self.permuted) + 1))

    @property
    def critical(self) -> float:
        return float(np.quantile(self.permuted.max(axis=1), 1 - LEVEL))


def joint_test(
    originals: Floats, controls: Floats, masked: Floats, leak: float, seed: int
) -> JointTest:
    """Test whether originals fit the masked file better than controls (records by columns)."""
    rng = np.random.default_rng((seed, 6))
    everyone = _normal_scores(np.vstack([originals, controls]))
    people, inside = _drawn(everyone, len(originals), rng)
    expected = min(1.0, inside / len(masked))
    null = _null(_fit(people, _normal_scores(masked), expected), inside, rng)
    power = None
    if null.p_value > LEVEL:
        power = _power(everyone, len(originals), leak, null, rng)
    return JointTest(null.p_value, len(originals), len(controls), leak, power)


def _drawn(everyone: Floats, originals: int, rng: np.random.Generator) -> tuple[Floats, int]:
    """Some of the originals, who come first, and some of the others; how many originals."""
    parts = []
    for part in (everyone[:originals], everyone[originals:]):
        some = (
            rng.choice(len(part), _MOST_RECORDS, replace=False)
            if len(part) > _MOST_RECORDS
            else ...
        )
        parts.append(part[some])
    return np.vstack(parts), len(parts[0])


def _normal_scores(values: Floats) -> Floats:
    """Each column by its ranks, as quantiles of a normal distribution."""
    return np.asarray(special.ndtri((stats.rankdata(values, axis=0) - 0.5) / len(values)))


def _fit(people: Floats, masked: Floats, expected: float) -> Floats:
    """The share of masked records that each person receives, for several widths of the kernel.

    Each masked record gives `expected` in all to the people near it; a person receives at most 1.
    """
    near = min(_NEAR, len(masked))
    distance, place = spatial.cKDTree(masked).query(people, near)
    distance, place = distance.reshape(len(people), near), place.reshape(len(people), near)
    unit = max(float(np.median(distance[:, 0])), 1e-6)
    scores = [
        _received(np.exp(-np.minimum((distance / (width * unit)) ** 2 / 2, 300.0)), place,
                  len(masked), expected)
        for width in _WIDTHS
    ]  # fmt: skip
    return np.column_stack(scores)


def _received(kernel: Floats, place: Ints, masked: int, expected: float) -> Floats:
    """Sinkhorn's sweeps between masked records, which give, and people, who may stay without."""
    flat, tiny = place.ravel(), 1e-300
    wish = np.ones(len(kernel))
    received = wish
    for _ in range(_SWEEPS):
        asked = np.bincount(flat, (kernel * wish[:, None]).ravel(), minlength=masked)
        offer = expected / np.maximum(asked, tiny)
        offered = np.log(np.maximum((kernel * offer[place]).sum(axis=1), tiny))
        received = special.expit(offered + _level(offered, expected * masked))
        wish = received / np.exp(offered)
    return received


def _level(offered: Floats, total: float) -> float:
    """The constant with which people receive `total` in all, by bisection."""
    low, high = -700.0, 700.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if special.expit(offered + middle).sum() < total else (low, middle)
        )
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


def _null(scores: Floats, originals: int, rng: np.random.Generator) -> _Null:
    """The statistics as they are and with permuted labels."""
    centered = _standardized(scores, originals)
    drawn = rng.random((_PERMUTATIONS, len(scores)))
    chosen = drawn <= np.partition(drawn, originals - 1, axis=1)[:, [originals - 1]]
    return _Null(_observed(scores, originals), chosen @ centered / originals)


def _power(
    everyone: Floats, originals: int, leak: float, null: _Null, rng: np.random.Generator
) -> float:
    """How often noise that leaves a share `leak` of correct links would be seen.

    As many people as there are originals, drawn from all, are masked by noise. The statistic of
    such a file is that of permuted labels, moved by its mean over the files. Where no noise leaves
    so many correct links, because people are alike, there is no such leak to be seen.
    """
    noise = _noise_with(leak, everyone, originals, rng)
    if noise is None:
        return 1.0
    moved = np.zeros(len(_WIDTHS))
    for _ in range(_SIMULATED_FILES):
        mixed = everyone[rng.permutation(len(everyone))]
        masked = mixed[:originals] + noise * rng.normal(size=(originals, everyone.shape[1]))
        people, inside = _drawn(mixed, originals, rng)
        scores = _fit(people, _normal_scores(masked), inside / originals)
        moved += _observed(scores, inside) / _SIMULATED_FILES
    return float(((null.permuted + moved).max(axis=1) > null.critical).mean())


def _noise_with(
    leak: float, everyone: Floats, originals: int, rng: np.random.Generator
) -> float | None:
    """The noise, in standard deviations, at which the nearest masked record is right that often."""
    asked = min(originals, _MOST_RECORDS)

    def right(noise: float) -> float:
        mine = everyone[rng.permutation(len(everyone))[:originals]]
        masked = mine + noise * rng.normal(size=mine.shape)
        near = spatial.cKDTree(_normal_scores(masked)).query(_normal_scores(mine)[:asked])[1]
        return float((near == np.arange(asked)).mean())

    low, high = 1e-4, 10.0
    if right(low) <= leak:
        return None
    for _ in range(12):
        noise = float(np.sqrt(low * high))
        low, high = (noise, high) if right(noise) > leak else (low, noise)
    return float(np.sqrt(low * high))
