"""Agreement likelihoods (Fellegi and Sunter 1969), estimated without the true matches by EM.

A pair that agrees in a column at some level is so much the more likely a match as matches do so more
often than random pairs. How often random pairs do is counted, for each masked value by itself, so
that agreement on a rare value weighs more; how often matches do is estimated: each target has one
match at most, and the expected matches give the frequencies of the next round.
"""

from __future__ import annotations

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._candidates import Candidates
from crypsis.linkage.suite._files import Files

_ESTIMATION_ROUNDS = 15
"""Rounds in which the weights of the pairs and the frequencies of matches are estimated in turn."""
_MAX_ESTIMATION_TARGETS = 4_000
"""Targets that the frequencies are estimated from; of more a sample is drawn."""
_OUTSIDE_WEIGHT = 0.02
"""The weight of the records that are not candidates, each as likely as a random pair is."""


def levels(files: Files, pairs: Candidates) -> list[tuple[Ints, Floats]]:
    """For each field the level of each pair, and the logarithm of its share among random pairs."""
    rows = files.targets[pairs.target]
    chances = []
    for field in files.fields:
        level = field.level(rows, pairs.place)
        chances.append((level, np.log(field.random_levels[pairs.place, level])))
    return chances


def agreement(files: Files, pairs: Candidates, of: list[tuple[Ints, Floats]]) -> list[Floats]:
    """For each field the weight of each pair: log of the ratio of matches and random pairs."""
    in_sample = np.ones(len(pairs.target), bool)
    if len(files.targets) > _MAX_ESTIMATION_TARGETS:
        order = np.random.default_rng((files.seed, 27)).permutation(len(files.targets))
        in_sample = (order < _MAX_ESTIMATION_TARGETS)[pairs.target]
    target = pairs.target[in_sample]
    count = int(target.max(initial=-1)) + 1
    outside = 0.0
    if len(pairs.target) < len(files.targets) * len(files.sizes):
        outside = _OUTSIDE_WEIGHT * files.masked
    size = files.sizes[pairs.place[in_sample]]
    here = [(level[in_sample], random[in_sample]) for level, random in of]
    shares = [_first(field.levels, field.steps) for field in files.fields]
    for _ in range(_ESTIMATION_ROUNDS):
        score = sum(
            (np.log(share)[level] - random for share, (level, random) in zip(shares, here, strict=True)),
            np.zeros(len(target)),
        )
        weight = size * np.exp(np.minimum(score, 300.0))
        total = np.bincount(target, weight, minlength=count)[target] + outside
        match = weight / total
        shares = [
            _frequencies(level, match, field.levels)
            for (level, _), field in zip(here, files.fields, strict=True)
        ]
    return [np.log(share)[level] - random for share, (level, random) in zip(shares, of, strict=True)]


def _first(levels: int, steps: int) -> Floats:
    """Matches agree mostly: where the rounds begin."""
    share = np.full(levels, 0.02)
    share[:steps] = 0.5 ** np.arange(1, steps + 1)
    return np.asarray(share / share.sum())


def _frequencies(level: Ints, match: Floats, levels: int) -> Floats:
    counted = np.bincount(level, match, minlength=levels) + 0.5
    return np.asarray(counted / counted.sum())
