"""anonypyx in its own environment: Mondrian on Adult; it takes no hierarchies."""

from __future__ import annotations

from typing import Any

import anonypyx  # type: ignore[import-not-found]
import pandas as pd
from benchmarks import data
from benchmarks.losses import worth


def k_anonymity(path: str, requirements: dict[str, Any], local: bool) -> Any:
    frame = pd.read_csv(path)
    columns = list(data.TREES)
    for name in [*columns, "income"]:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    frame = frame[[*columns, "income"]]

    def call() -> Any:
        maker = anonypyx.Anonymiser(
            frame,
            k=requirements["k"],
            algorithm="Mondrian",
            feature_columns=columns,
            sensitive_column="income",
            generalisation_strategy="human-readable",
        )
        rows = maker.anonymise()
        return rows.loc[rows.index.repeat(rows["count"])].drop(columns="count")

    return call, lambda made: worth(made, len(frame))


def release(source: str, columns: list[str], sensitive: str, k: int, out: str) -> None:
    """A release of a file, written to another; groups of values are written with commas."""
    frame = pd.read_csv(source, sep=";")[[*columns, sensitive]]
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    maker = anonypyx.Anonymiser(
        frame,
        k=k,
        algorithm="Mondrian",
        feature_columns=columns,
        sensitive_column=sensitive,
        generalisation_strategy="human-readable",
    )
    rows = maker.anonymise()
    rows.loc[rows.index.repeat(rows["count"])].drop(columns="count").to_csv(out, sep=";", index=False)
