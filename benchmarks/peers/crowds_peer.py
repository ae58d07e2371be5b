"""crowds in its own environment: optimal lattice anonymization of Adult with given hierarchies."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks import data
from benchmarks.losses import worth
from crowds.kanonymity import ola  # type: ignore[import-not-found]
from crowds.kanonymity.generalizations import GenRule  # type: ignore[import-not-found]


def _rule(file: str) -> Any:
    """The levels between the value itself and `*`, which crowds adds on its own."""
    with Path(file).open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.reader(lines) if row]
    levels = [{row[0]: row[level] for row in rows} for level in range(1, len(rows[0]) - 1)]
    return GenRule([lambda value, names=names: names[str(value)] for names in levels])


def k_anonymity(path: str, requirements: dict[str, Any], local: bool) -> Any:
    frame = pd.read_csv(path)
    rules = {name: _rule(file) for name, file in data.trees().items()}
    columns = [*rules, "income"]

    def call() -> Any:
        made, _levels = ola.anonymize(
            frame[columns], rules, k=requirements["k"], max_sup=requirements["suppression_percent"]
        )
        return made

    return call, lambda made: worth(made, len(frame))
