"""How often the interval of `unique_match_risk` covers, for samples of known designs.

python -m benchmarks.studies.designs [runs]

Prints a table of truth, estimate and coverage; its status is 1 if an interval that is stated as 95 %
covers less than 90 % of the samples of a design that it was told.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.singling_out import unique_match_risk

PEOPLE, RUNS, LEAST, SAMPLES_OF_ONE = 20_000, 200, 0.9, 20
Draw = np.random.Generator


class Population:
    """People with a key of three columns, in regions and in households of two."""

    def __init__(self, draw: Draw, *, alike: bool) -> None:
        age = np.minimum(draw.geometric(0.03, PEOPLE), 90)
        job = draw.integers(0, 6, PEOPLE)
        town = np.minimum(draw.zipf(1.6, PEOPLE), 40)
        self.region = draw.choice(4, PEOPLE, p=[0.6, 0.25, 0.1, 0.05])
        self.home = np.arange(PEOPLE) // 2
        first = self.home * 2
        if alike:  # members of a household often share a job and a town, and some an age
            same = draw.random(PEOPLE) < 0.6
            town, job = np.where(same, town[first], town), np.where(same, job[first], job)
            age = np.where(draw.random(PEOPLE) < 0.3, age[first], age)
        self.age, self.key = age, age * 10_000 + job * 1_000 + town

    def truth(self, sample: Any) -> float:
        """The share of correct ones among all matches with the sample uniques."""
        values, counts = np.unique(self.key[sample], return_counts=True)
        every, people = np.unique(self.key, return_counts=True)
        matching = people[np.searchsorted(every, values[counts == 1])]
        return float(matching.size / matching.sum())


def simple(people: Population, draw: Draw) -> tuple[Any, Any]:
    sample = draw.choice(PEOPLE, 1_500, replace=False)
    return sample, np.full(1_500, PEOPLE / 1_500)


def strata(people: Population, draw: Draw) -> tuple[Any, Any]:
    shares = np.array([0.03, 0.08, 0.2, 0.4])
    sample = np.concatenate(
        [
            draw.choice(own, round(share * own.size), replace=False)
            for own, share in ((np.flatnonzero(people.region == h), s) for h, s in enumerate(shares))
        ]
    )
    return sample, 1 / shares[people.region[sample]]


def unequal(people: Population, draw: Draw) -> tuple[Any, Any]:
    chance = 0.02 + 0.2 * (people.age / 90) ** 1.5
    sample = np.flatnonzero(draw.random(PEOPLE) < chance)
    return sample, 1 / chance[sample]


def households(people: Population, draw: Draw) -> tuple[Any, Any]:
    homes = draw.choice(PEOPLE // 2, 900, replace=False)
    sample = np.flatnonzero(np.isin(people.home, homes))
    return sample, np.full(sample.size, PEOPLE / 2 / 900)


DESIGNS: dict[str, tuple[Callable[..., tuple[Any, Any]], bool, bool, bool]] = {
    "simple random, 7.5 %": (simple, False, False, True),
    "four strata, 3 % to 40 %": (strata, False, False, True),
    "unequal probabilities, 2 % to 22 %": (unequal, False, False, True),
    "9 % of households, members alike": (households, True, True, True),
    "the same, clusters not named": (households, True, False, False),
}
"""Each with: members alike, clusters named, and whether the interval has to cover."""


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    draw, low = np.random.default_rng(0), 1.0
    print("| sample | truth | estimate | covered |\n| --- | --- | --- | --- |")
    for name, (design, alike, named, required) in DESIGNS.items():
        truths, found = [], []
        for run in range(runs):
            if run % SAMPLES_OF_ONE == 0:
                people = Population(draw, alike=alike)
            sample, weights = design(people, draw)
            table = pa.table({"key": people.key[sample], "w": weights, "home": people.home[sample]})
            cluster = "home" if named else None
            estimate = unique_match_risk(table, ["key"], weight="w", cluster=cluster).probability
            if estimate is not None:
                found.append(estimate)
                truths.append(people.truth(sample))
        covered = np.mean([e.low <= t <= e.high for e, t in zip(found, truths, strict=True)])
        low = min(low, float(covered)) if required else low
        print(
            f"| {name} | {np.mean(truths):.3f} | {np.mean([float(e) for e in found]):.3f} | "
            f"{100 * covered:.0f} % |"
        )
    return int(low < LEAST)


if __name__ == "__main__":
    sys.exit(main())
