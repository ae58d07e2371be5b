"""Missing values: which are missing says who it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import commonest, predicted, singled_out
from tests.promises.attacks.judge import assessed
from tests.promises.attacks.people import DISEASES, ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Missing values")
scenario = SCENARIOS.add


def _pattern(extra: pd.DataFrame, **roles: list[str]) -> Trial:
    release = pd.concat([plain(len(extra)), extra], axis=1)
    shape = release[list(extra.columns)].isna()
    given = roles or {"insensitive": list(extra.columns)}
    return Trial(singled_out(shape, shape, list(extra.columns)), assessed(release, **ROLES, **given))


@scenario("knows which questions the person did not answer")
def questions_without_an_answer(draw: Draw, folder: Path) -> Trial:
    """Twenty columns with one and the same value or none, declared insensitive."""
    empty = draw.random((600, 20)) < 0.5
    return _pattern(pd.DataFrame(np.where(empty, None, "yes"), columns=[f"answer_{n}" for n in range(20)]))


@scenario("knows which examinations the person had", least=0.8)
def examinations_that_were_not_made(draw: Draw, folder: Path) -> Trial:
    """Sixteen normal results, rounded to one value, each missing for a third of the people."""
    empty = draw.random((600, 16)) < 1 / 3
    return _pattern(pd.DataFrame(np.where(empty, np.nan, 1.0), columns=[f"exam_{n}" for n in range(16)]))


@scenario("knows that only one test is made of the ill")
def missing_test_discloses_the_disease(draw: Draw, folder: Path) -> Trial:
    """Four constant columns, each missing unless the person has one of the diseases."""
    release = plain(600)
    extra = {
        f"panel_{n}": np.where(release["disease"] == one, "done", None) for n, one in enumerate(DISEASES)
    }
    release = release.assign(**extra)
    return Trial(
        predicted(release[list(extra)].isna(), release["disease"]),
        assessed(release, **ROLES, insensitive=list(extra)),
        chance=commonest(release["disease"]),
    )


@scenario("knows who gave no age")
def missing_quasi_identifier_of_one_person(draw: Draw, folder: Path) -> Trial:
    """Two people alone in having no age, among quasi-identifiers where missing matches everything."""
    release = plain(600)
    release["age"] = release["age"].astype(object)
    release.loc[[4, 7], "age"] = None
    targets = release.loc[[4, 7]]
    return Trial(
        singled_out(release, targets, ["age", "sex"]),
        assessed(release, **ROLES, missing="wildcard"),
        control=assessed(plain(600), **ROLES, missing="wildcard"),
    )


@scenario("knows who gave no age")
def missing_quasi_identifier_dropped(draw: Draw, folder: Path) -> Trial:
    """Forty people who are alone, each with a missing value; such records are not counted."""
    extra = pd.DataFrame(
        {
            "age": [None] * 40,
            "sex": [f"x{n}" for n in range(40)],
            "disease": ["flu", "gout", "asthma", "none"] * 10,
        }
    )
    release = pd.concat([plain(600), extra], ignore_index=True)
    targets = release.iloc[600:]
    return Trial(
        singled_out(release, targets, ["age", "sex"]),
        assessed(release, **ROLES, missing="drop"),
        control=assessed(plain(600), **ROLES, missing="drop"),
    )
