"""Synthetic files: what a generator remembers of the people it was trained on."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.judge import command, flags
from tests.promises.attacks.scenario import Draw, Scenarios, Trial
from tests.synthetic import generators as make

SCENARIOS = Scenarios("Synthetic files")
scenario = SCENARIOS.add
ROWS = 700
ROLES = {
    "quasi_identifiers": ["age", "sex", "region"],
    "sensitive": ["disease"],
    "insensitive": ["income", "height", "visits"],
}


def _judged(
    folder: Path, synthetic: pd.DataFrame, training: pd.DataFrame, holdout: pd.DataFrame | None
) -> str:
    files = {"synthetic": synthetic, "training": training, "holdout": holdout}
    for name, one in files.items():
        if one is not None:
            one.to_csv(folder / f"{name}.csv", index=False)
    other = [] if holdout is None else ["--holdout", folder / "holdout.csv"]
    return command(
        "assess",
        "--person",
        "each record",
        folder / "synthetic.csv",
        "--no-try",
        *flags(**ROLES),
        "--synthetic",
        "--original",
        folder / "training.csv",
        *other,
    ).verdict


@cache
def _control() -> str:
    """The verdict on a file of which every column is drawn by itself."""
    draw = np.random.default_rng(3)
    training, holdout = make.people(1_500, draw), make.people(1_500, draw)
    with tempfile.TemporaryDirectory() as folder:
        made = make.independent(training, 1_500, draw)
        return _judged(Path(folder), made, training, holdout)


def _members(synthetic: pd.DataFrame, training: pd.DataFrame, others: pd.DataFrame, within: float) -> float:
    """How often the claim is right that a person was in the training data.

    It is made of those to whom a synthetic record is nearer than `within` standard deviations in
    every number, and equal in every category.
    """
    scale = training[make.NUMBERS].std().to_numpy()
    numbers = synthetic[make.NUMBERS].to_numpy(float) / scale
    words = synthetic[make.CATEGORIES].to_numpy(str)
    claims = []
    for true, group in ((True, training), (False, others)):
        for _, person in group.iterrows():
            near = (np.abs(numbers - person[make.NUMBERS].to_numpy(float) / scale) <= within).all(1)
            same = (words == person[make.CATEGORIES].to_numpy(str)).all(1)
            if (near & same).any():
                claims.append(true)
    return float(np.mean(claims)) if len(claims) >= 10 else 0.0


def _attacked(
    folder: Path, draw: Draw, synthetic: pd.DataFrame, people: list[pd.DataFrame], within: float
) -> Trial:
    training, holdout, others = people
    return Trial(
        _members(synthetic, training, others, within),
        _judged(folder, synthetic, training, holdout),
        chance=0.5,
        control=_control(),
    )


@scenario("has the records of some people and looks for equal ones")
def forty_per_cent_memorized(draw: Draw, folder: Path) -> Trial:
    """A synthetic file from a Gaussian copula, and two in five training records as they are."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    return _attacked(folder, draw, make.memorizing(people[0], ROWS, draw, 0.4), people, 0.0)


@scenario("has the records of some people and looks for equal ones")
def five_per_cent_memorized(draw: Draw, folder: Path) -> Trial:
    """A synthetic file from a Gaussian copula, and one in twenty training records as they are."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    return _attacked(folder, draw, make.memorizing(people[0], ROWS, draw, 0.05), people, 0.0)


@scenario("has the records of some people and looks for near ones")
def copies_with_noise(draw: Draw, folder: Path) -> Trial:
    """A synthetic file of training records, of which every number has a little noise."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    return _attacked(folder, draw, make.noisy_copies(people[0], ROWS, draw), people, 0.15)


@scenario("has the records of some people and looks for equal ones")
def people_of_one_region_memorized(draw: Draw, folder: Path) -> Trial:
    """A synthetic file that remembers everybody of the smallest region, and nobody else."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    made = make.copula(people[0], ROWS, draw)
    rare = people[0][people[0]["region"] == "r7"]
    made.iloc[draw.permutation(ROWS)[: len(rare)]] = rare.to_numpy()
    return _attacked(folder, draw, made, people, 0.0)


@scenario("has the records of some people and looks for equal ones")
def a_holdout_of_training_records(draw: Draw, folder: Path) -> Trial:
    """A file that remembers two in five; the holdout was taken from the training data itself."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    made = make.memorizing(people[0], ROWS, draw, 0.4)
    own = people[0].iloc[: ROWS // 2]
    return Trial(
        _members(made, people[0], people[2], 0.0),
        _judged(folder, made, people[0], own),
        chance=0.5,
        control=_control(),
    )


@scenario("has the records of some people and looks for near ones")
def copies_with_noise_and_no_holdout(draw: Draw, folder: Path) -> Trial:
    """Training records with a little noise, and no other people to compare with."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    made = make.noisy_copies(people[0], ROWS, draw)
    return Trial(
        _members(made, people[0], people[2], 0.15),
        _judged(folder, made, people[0], None),
        chance=0.5,
        control=_control(),
    )


@scenario("has the records of some people and looks for near ones")
def a_copy_whose_columns_are_renamed(draw: Draw, folder: Path) -> Trial:
    """A synthetic file of training records; the income has another name, so nobody compared it."""
    people = [make.people(ROWS, draw) for _ in range(3)]
    made = make.independent(people[0], ROWS, draw)
    made["income"] = people[0]["income"]
    equal = float(made["income"].isin(people[0]["income"]).mean())
    renamed, roles = made.rename(columns={"income": "earnings"}), dict(ROLES)
    roles["insensitive"] = ["earnings", "height", "visits"]
    for name, one in (("s", renamed), ("t", people[0]), ("h", people[1])):
        one.to_csv(folder / f"{name}.csv", index=False)
    ended = command(
        "assess",
        "--person",
        "each record",
        folder / "s.csv",
        "--no-try",
        *flags(**roles),
        "--synthetic",
        "--original",
        folder / "t.csv",
        "--holdout",
        folder / "h.csv",
    )
    return Trial(equal, ended.verdict)
