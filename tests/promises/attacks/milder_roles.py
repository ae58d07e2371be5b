"""Roles that are milder than what the column is: a secret that nobody was asked about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import learned, singled_out
from tests.promises.attacks.judge import assessed
from tests.promises.attacks.people import DISEASES, ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Roles milder than the column")
scenario = SCENARIOS.add
ROWS, SIZE = 1_200, 20


def _secret(name: str, values: Any, **roles: list[str]) -> Trial:
    """Sixty districts, in each of which everybody has one value of the secret."""
    place = np.arange(ROWS) // SIZE
    release = pd.DataFrame(
        {"district": [f"d{n:02d}" for n in place], name: np.asarray(values, object)[place % len(values)]}
    )
    if isinstance(values[0], int):
        release[name] = release[name].astype(int)
    known = ["district", *roles.pop("quasi_identifiers", [])]
    verdict = assessed(release, quasi_identifiers=known, **roles)
    chance = float(release[name].value_counts(normalize=True).iloc[0])
    return Trial(learned(release, release, ["district"], name), verdict, chance=chance)


@scenario("knows the district")
def diagnosis_called_a_quasi_identifier(draw: Draw, folder: Path) -> Trial:
    """One diagnosis a district, declared a quasi-identifier; there is no sensitive attribute."""
    return _secret("diagnosis", list(DISEASES), quasi_identifiers=["diagnosis"])


@scenario("knows the district")
def diagnosis_called_insensitive(draw: Draw, folder: Path) -> Trial:
    """One diagnosis a district, declared insensitive."""
    return _secret("diagnosis", list(DISEASES), insensitive=["diagnosis"])


@scenario("knows the district")
def test_result_called_a_quasi_identifier(draw: Draw, folder: Path) -> Trial:
    """One HIV status a district, declared a quasi-identifier."""
    return _secret("hiv_status", ["pos", "neg", "neg"], quasi_identifiers=["hiv_status"])


@scenario("knows the district")
def salary_called_a_quasi_identifier(draw: Draw, folder: Path) -> Trial:
    """One salary a district, declared a quasi-identifier."""
    return _secret("salary", [30_000 + 1_000 * n for n in range(60)], quasi_identifiers=["salary"])


@scenario("knows the district")
def religion_called_insensitive(draw: Draw, folder: Path) -> Trial:
    """One religion a district, declared insensitive, in a column with a German name."""
    values = ["katholisch", "evangelisch", "keine", "muslimisch"]
    return _secret("Religion", values, insensitive=["Religion"])


@scenario("knows the year of birth", least=0.0)
def year_of_birth_called_insensitive(draw: Draw, folder: Path) -> Trial:
    """The year of birth, declared insensitive beside bands of the age: hardly anybody is unique."""
    release = plain(ROWS).assign(yob=draw.integers(1950, 1990, ROWS))
    alone = release.groupby(["age", "sex", "yob"])["yob"].transform("size") < 5
    return Trial(
        float(alone.mean()) + singled_out(release, release, ["age", "sex", "yob"]),
        assessed(release, **ROLES, insensitive=["yob"]),
    )
