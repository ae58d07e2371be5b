"""Tables of people: one that is safe to release, and one as a hospital has it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.promises.attacks.scenario import Draw

QIS, SENSITIVE = ["age", "sex"], ["disease"]
ROLES = {"quasi_identifiers": QIS, "sensitive": SENSITIVE}
"""The roles of `plain`."""
DISEASES = ("flu", "gout", "asthma", "none")
FIRST = (
    "Anna Bert Clara David Emma Felix Greta Hugo Ida Jonas Klara Lukas Maria Noah Olga Paul Rosa "
    "Stefan Tina Uwe Vera Willem Xenia Yusuf Zoe"
).split()
LAST = (
    "Abel Bauer Conrad Dietrich Ebert Fischer Gross Huber Iven Jansen Kaiser Lorenz Maier Neumann "
    "Otto Peters Quandt Richter Schmitt Thoma Ulrich Vogel Wagner Xander Young Zimmer"
).split()


def plain(rows: int = 600) -> pd.DataFrame:
    """Six equivalence classes of equal size, in each four diseases equally often."""
    place = np.arange(rows)
    return pd.DataFrame(
        {
            "age": np.array(["30-39", "40-49", "50-59"])[place % 3],
            "sex": np.array(["f", "m"])[place // 3 % 2],
            "disease": np.array(DISEASES)[place // 6 % 4],
        }
    )


def names(draw: Draw, rows: int) -> np.ndarray:
    """Full names, all different."""
    every = [f"{first} {last}" for first in FIRST for last in LAST]
    many = -(-rows // len(every))
    pool = [f"{one}{'' if n == 0 else '-' + LAST[n - 1]}" for n in range(many) for one in every]
    return draw.permutation(np.array(pool, dtype=object))[:rows]


def hospital(draw: Draw, rows: int = 1_000) -> pd.DataFrame:
    """Patients as the hospital knows them: names, exact ages and zip codes, diseases."""
    return pd.DataFrame(
        {
            "name": names(draw, rows),
            "ssn": [
                f"{a:03d}-{b:02d}-{c:04d}"
                for a, b, c in zip(
                    draw.integers(100, 660, rows),
                    draw.integers(1, 99, rows),
                    draw.integers(1, 9999, rows),
                    strict=True,
                )
            ],
            "age": draw.integers(20, 67, rows),
            "zip": [f"021{n:02d}" for n in draw.integers(0, 40, rows)],
            "sex": draw.choice(["f", "m"], rows),
            "disease": draw.choice(DISEASES, rows),
        }
    )
