"""Histories: many rows a person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import singled_out
from tests.promises.attacks.judge import assessed
from tests.promises.attacks.people import DISEASES
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Histories")
scenario = SCENARIOS.add


def _visits(draw: Draw, people: int = 150, visits: int = 6) -> pd.DataFrame:
    """Visits of people under a pseudonym; in every month and ward there are many visits."""
    rows = people * visits
    return pd.DataFrame({
        "code": np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:people]], visits),
        "month": draw.integers(1, 13, rows), "ward": draw.choice(["a", "b"], rows),
        "disease": np.array(DISEASES)[draw.permutation(rows) % 4],
    })  # fmt: skip


def _history(visits: pd.DataFrame) -> pd.DataFrame:
    """The set of months and wards of each person: what somebody knows who went along."""
    told = visits["month"].astype(str) + visits["ward"]
    whole = told.groupby(visits["code"]).agg(lambda one: " ".join(sorted(one)))
    return whole.to_frame("history")


@scenario("knows in which months and wards the person was", least=0.9)
def visits_under_a_kept_pseudonym(draw: Draw, folder: Path) -> Trial:
    """Visits with month and ward, k = 20 as rows, and a pseudonym of the person that is kept."""
    visits = _visits(draw)
    histories = _history(visits)
    return Trial(
        singled_out(histories, histories, ["history"]),
        assessed(visits, quasi_identifiers=["month", "ward"], sensitive=["disease"],
                 insensitive=["code"], person="code"),
    )  # fmt: skip


@scenario("knows in which months and wards the person was", least=0.9)
def visits_under_a_pseudonym_that_nobody_named(draw: Draw, folder: Path) -> Trial:
    """The same visits; nobody said that the pseudonym is that of a person."""
    visits = _visits(draw)
    histories = _history(visits)
    return Trial(
        singled_out(histories, histories, ["history"]),
        assessed(visits, quasi_identifiers=["month", "ward"], sensitive=["disease"],
                 insensitive=["code"]),
    )  # fmt: skip


@scenario("knows who was there that month")
def twelve_rows_of_one_person(draw: Draw, folder: Path) -> Trial:
    """A class of twelve rows that are all of one person; the column of persons is named and excluded."""
    visits = _visits(draw).assign(disease=np.array(DISEASES)[np.arange(900) % 4])
    mine = pd.DataFrame({"code": ["P9999"] * 12, "month": 13, "ward": "a",
                         "disease": np.array(DISEASES)[np.arange(12) % 4]})  # fmt: skip
    release = pd.concat([visits, mine], ignore_index=True)
    owners = release.groupby(["month", "ward"])["code"].nunique()
    roles = {"quasi_identifiers": ["month", "ward"], "sensitive": ["disease"], "excluded": ["code"]}
    return Trial(float(owners.loc[(13, "a")] == 1), assessed(release, person="code", **roles))


@scenario("knows how often the person was there", least=0.9)
def number_of_rows_of_a_person(draw: Draw, folder: Path) -> Trial:
    """Rows under a kept pseudonym, a different number of rows for each of forty people."""
    code = np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:40]], np.arange(1, 41))
    rows = len(code)
    release = pd.DataFrame({"code": code, "ward": np.array(["a", "b"])[np.arange(rows) % 2],
                            "disease": np.array(DISEASES)[draw.permutation(rows) % 4]})  # fmt: skip
    size = release.groupby("code").size().to_frame("rows")
    return Trial(
        singled_out(size, size, ["rows"]),
        assessed(release, quasi_identifiers=["ward"], sensitive=["disease"], insensitive=["code"],
                 person="code"),
    )  # fmt: skip


@scenario("knows the order of two visits", least=0.5)
def sequences_of_wards(draw: Draw, folder: Path) -> Trial:
    """Wards in the order of the rows, without times, under a kept pseudonym."""
    visits = _visits(draw, 100, 8).drop(columns="month")
    order = visits.groupby("code")["ward"].agg(" ".join).to_frame("order")
    return Trial(
        singled_out(order, order, ["order"]),
        assessed(visits, quasi_identifiers=["ward"], sensitive=["disease"], insensitive=["code"],
                 person="code"),
    )  # fmt: skip
