"""An invented census extract in the form of UCI Adult, for tests that need its shape and no number of it."""

from __future__ import annotations

import random
from pathlib import Path

ROWS = 32_561
_EDUCATION = ("HS-grad", "Some-college", "Bachelors", "Masters", "11th", "Assoc-voc", "Doctorate")
_WORK = ("Private", "Self-emp-not-inc", "Local-gov", "State-gov", "Federal-gov", "?")
_STATUS = ("Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed")
_WORK_AS = ("Prof-specialty", "Craft-repair", "Exec-managerial", "Adm-clerical", "Sales", "Other-service")
_RACE = ("White", "Black", "Asian-Pac-Islander", "Other")
_COUNTRY = ("United-States", "Mexico", "?", "Philippines", "Germany", "Canada")


def write_census(path: Path, rows: int = ROWS, seed: int = 1) -> Path:
    """No header, a comma and a blank between fields, ? for missing, an empty last line."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(rows):
            file.write(", ".join(_person(draw)) + "\n")
        file.write("\n")
    return path


def _person(draw: random.Random) -> tuple[str, ...]:
    age = min(90, 17 + int(draw.gammavariate(2.2, 10)))
    level = draw.choices(range(len(_EDUCATION)), (32, 22, 17, 6, 12, 8, 3))[0]
    status = "Never-married" if age < 22 else draw.choices(_STATUS, (46, 33, 14, 3, 4))[0]
    sex = draw.choices(("Male", "Female"), (67, 33))[0]
    married = status == "Married-civ-spouse"
    home = (
        ("Husband" if sex == "Male" else "Wife") if married else draw.choice(("Not-in-family", "Own-child"))
    )
    work = draw.choices(_WORK, (70, 8, 6, 4, 3, 6))[0]
    chance = 0.02 + 0.07 * level + (0.35 if married else 0.0) - (0.1 if sex == "Female" else 0.0)
    rich = draw.random() < chance
    gain = draw.choices((0, draw.randrange(114, 15_024)), (92, 8))[0]
    loss = draw.choices((0, draw.randrange(155, 3_900)), (95, 5))[0]
    hours = min(99, max(1, int(draw.gauss(40, 11)))) if draw.random() < 0.5 else 40
    return (
        str(age),
        work,
        str(draw.randrange(12_285, 1_484_705)),
        _EDUCATION[level],
        str(9 + level),
        status,
        "?" if work == "?" else draw.choice(_WORK_AS),
        home,
        draw.choices(_RACE, (85, 10, 3, 2))[0],
        sex,
        str(gain),
        str(loss),
        str(hours),
        draw.choices(_COUNTRY, (90, 3, 2, 2, 2, 1))[0],
        ">50K" if rich else "<=50K",
    )
