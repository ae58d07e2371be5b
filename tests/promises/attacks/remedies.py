"""Remedies as printed: every command that a report shows is run, and what it writes is attacked."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pandas as pd

from tests.promises.attacks.attackers import found_in
from tests.promises.attacks.judge import STATUS, command, flags, people_of_the_demo
from tests.promises.attacks.people import hospital
from tests.promises.attacks.scenario import CHANGED, Draw, Scenarios, Trial

SCENARIOS = Scenarios("Remedies as printed")
scenario = SCENARIOS.add


def printed(text: str) -> list[list[str]]:
    """The commands of crypsis that a text shows, as words; comments are not run."""
    lines = [line.strip().removeprefix("$ ") for line in text.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("crypsis ")]


def _followed(folder: Path, wanted: list[str], *words: str | Path) -> Trial:
    """Assess, run all that is printed in an empty folder, and look for identifiers in what is written."""
    shown = command("assess", "--person", "each record", *words)
    place = folder / "followed"
    place.mkdir()
    before = Path.cwd()
    statuses = []
    os.chdir(place)
    os.environ["XDG_DATA_HOME"] = str(folder / "keys")
    try:
        for one in printed(shown.out):
            statuses.append(command(*one).status)
    finally:
        os.chdir(before)
        del os.environ["XDG_DATA_HOME"]
    original = Path(words[0]) if "--original" not in words else Path(words[words.index("--original") + 1])
    success = found_in(original, wanted)
    wrote = any(one.is_file() for one in place.rglob("*") if one.suffix in (".csv", ".parquet"))
    if not statuses:
        return Trial(success, shown.verdict)
    if not wrote:
        refused = [status for status in statuses if status]
        return Trial(success, STATUS.get(refused[-1] if refused else 0, "status 3"))
    return Trial(success, CHANGED, after=found_in(place, wanted))


@scenario("reads the file that the printed command wrote")
def remedy_of_the_demo(draw: Draw, folder: Path) -> Trial:
    """The demonstration's release beside its original; the remedy masks the original's incomes."""
    files = people_of_the_demo(folder, 300)
    people = pd.read_csv(files.original, dtype=str)
    wanted = [*people["name"], *people["ssn"]]
    return _followed(folder, wanted, files.masked, "--original", files.original)


@scenario("reads the file that the printed command wrote")
def remedy_with_guessed_roles(draw: Draw, folder: Path) -> Trial:
    """A file of patients without any decided role; the file of guesses is not edited."""
    people = hospital(draw, 200)
    people.to_csv(folder / "patients.csv", index=False)
    return _followed(folder, [*people["name"], *people["ssn"]], folder / "patients.csv")


@scenario("reads the file that the printed command wrote")
def remedy_with_some_roles(draw: Draw, folder: Path) -> Trial:
    """A file of patients of which only the quasi-identifiers are decided."""
    people = hospital(draw, 200)
    people.to_csv(folder / "patients.csv", index=False)
    return _followed(
        folder,
        [*people["name"], *people["ssn"]],
        folder / "patients.csv",
        *flags(quasi_identifiers=["age", "zip", "sex"]),
    )


@scenario("reads the file that the printed command wrote")
def remedy_with_a_roles_file(draw: Draw, folder: Path) -> Trial:
    """A file of patients with a roles file in which one column is excluded."""
    people = hospital(draw, 200)
    people.to_csv(folder / "patients.csv", index=False)
    (folder / "roles.toml").write_text(
        '[roles]\nname = "identifier"\nssn = "excluded"\nage = "quasi-identifier"\n'
        'zip = "quasi-identifier"\nsex = "quasi-identifier"\ndisease = "sensitive"\n'
    )
    return _followed(
        folder, [*people["name"], *people["ssn"]], folder / "patients.csv", "--roles", folder / "roles.toml"
    )


@scenario("reads the file that the printed command wrote")
def remedy_of_masked_numbers(draw: Draw, folder: Path) -> Trial:
    """Numbers with too little noise beside the original, which has names too."""
    people = hospital(draw, 200).assign(income=draw.integers(20_000, 90_000, 200))
    people.to_csv(folder / "original.csv", index=False)
    masked = people[["age", "income"]].assign(income=lambda t: t["income"] + draw.integers(-9, 9, 200))
    masked.to_csv(folder / "masked.csv", index=False)
    return _followed(
        folder,
        [*people["name"], *people["ssn"]],
        folder / "masked.csv",
        "--original",
        folder / "original.csv",
        *flags(insensitive=["age", "income"]),
    )
