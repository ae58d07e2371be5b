"""ANJANA in its own environment: k-anonymity, l-diversity and t-closeness of Adult."""

from __future__ import annotations

from typing import Any

import pandas as pd
from anjana import anonymity  # type: ignore[import-not-found]
from benchmarks import data
from benchmarks.losses import worth


def _trees() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, file in data.trees().items():
        table = pd.read_csv(file, header=None)
        found[name] = {level: table[level].values for level in range(table.shape[1])}
    return found


def k_anonymity(path: str, requirements: dict[str, Any], local: bool) -> Any:
    frame, trees = pd.read_csv(path), _trees()
    ask = (requirements["k"], requirements["suppression_percent"], trees)
    return (lambda: anonymity.k_anonymity(frame, [], list(trees), *ask), lambda made: worth(made, len(frame)))


def l_diversity(path: str, requirements: dict[str, Any], local: bool) -> Any:
    frame, trees = pd.read_csv(path), _trees()
    ask = (requirements["k"], requirements["diversity"], requirements["suppression_percent"], trees)
    return (
        lambda: anonymity.l_diversity(frame, [], list(trees), "income", *ask),
        lambda made: worth(made, len(frame)),
    )


def t_closeness(path: str, requirements: dict[str, Any], local: bool) -> Any:
    frame, trees = pd.read_csv(path), _trees()
    ask = (requirements["k"], requirements["closeness"], requirements["suppression_percent"], trees)
    return (
        lambda: anonymity.t_closeness(frame, [], list(trees), "income", *ask),
        lambda made: worth(made, len(frame)),
    )
