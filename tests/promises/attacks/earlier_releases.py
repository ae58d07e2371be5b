"""Earlier releases: what two safe releases say together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import equal
from tests.promises.attacks.judge import assessed
from tests.promises.attacks.people import DISEASES
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Earlier releases")
scenario = SCENARIOS.add
ROLES = {"quasi_identifiers": ["age"], "sensitive": ["disease"]}


def _band(ages: np.ndarray, start: int, width: int) -> list[str]:
    low = (ages - start) // width * width + start
    return [f"{n}-{n + width - 1}" for n in low]


@scenario("has both releases and intersects the diseases", least=0.6)
def intervals_that_overlap(draw: Draw, folder: Path) -> Trial:
    """The same people in two releases, their ages in intervals that overlap; k = 12 in both."""
    ages, place = np.repeat(np.arange(20, 60), 6), np.tile(np.arange(6), 40)
    # Of every age four people have the disease of that age, and two people others.
    disease = np.where(place < 4, ages % 4, (ages + place - 3) % 4)
    people = pd.DataFrame({"age": ages, "disease": np.array(DISEASES)[disease]})
    first = people.assign(age=_band(ages, 20, 2))
    inner = (ages > 20) & (ages < 59)
    second = people.assign(age=_band(ages, 21, 2))[inner]
    left, right = (one.groupby("age")["disease"].value_counts() for one in (first, second))
    claims = []
    for here, there in zip(first["age"][inner], second["age"], strict=True):
        one, two = left[here], right[there]
        claims.append(max(DISEASES, key=lambda d: min(one.get(d, 0), two.get(d, 0))))
    alone = float(right.groupby("age").max().sum() / len(second))
    return Trial(equal(claims, second["disease"]), assessed(second.reset_index(drop=True), **ROLES),
                 chance=alone)  # fmt: skip


@scenario("has both releases and subtracts them")
def one_person_more(draw: Draw, folder: Path) -> Trial:
    """Two releases, k = 5 in both, of which the second has one person more."""
    rows = 600
    first = pd.DataFrame({"age": np.array(["20-39", "40-59"])[np.arange(rows) % 2],
                          "disease": np.array(DISEASES)[np.arange(rows) // 2 % 4]})  # fmt: skip
    new = pd.DataFrame({"age": ["20-39"], "disease": ["flu"]})
    second = pd.concat([first, new], ignore_index=True)
    counts = [one.groupby(["age", "disease"]).size() for one in (first, second)]
    difference = (counts[1] - counts[0]).idxmax()
    return Trial(float(difference == ("20-39", "flu")), assessed(second, **ROLES), chance=0.25)
