"""anonypy in its own environment: Mondrian on Adult; it takes no hierarchies."""

from __future__ import annotations

from typing import Any

import anonypy  # type: ignore[import-not-found]
import pandas as pd
from benchmarks import data
from benchmarks.losses import worth


def k_anonymity(path: str, requirements: dict[str, Any], local: bool) -> Any:
    frame = pd.read_csv(path)
    columns = list(data.TREES)
    for name in [*columns, "income"]:
        if frame[name].dtype == object:
            frame[name] = frame[name].astype("category")
    frame = frame[[*columns, "income"]]

    def call() -> Any:
        preserver = anonypy.Preserver(frame, columns, "income")
        rows = pd.DataFrame(preserver.anonymize_k_anonymity(k=requirements["k"]))
        return rows.loc[rows.index.repeat(rows["count"])].drop(columns="count")

    return call, lambda made: worth(made.map(_told), len(frame))


def _told(cell: Any) -> Any:
    """A group of values comes as a list."""
    return ",".join(map(str, cell)) if isinstance(cell, list) else cell


def release(source: str, columns: list[str], sensitive: str, k: int, out: str) -> None:
    """A release of a file, written to another; groups of values are written with commas."""
    frame = pd.read_csv(source, sep=";")[[*columns, sensitive]]
    for name in frame.columns:
        if frame[name].dtype == object:
            frame[name] = frame[name].astype("category")
    rows = pd.DataFrame(anonypy.Preserver(frame, columns, sensitive).anonymize_k_anonymity(k=k))
    rows = rows.loc[rows.index.repeat(rows["count"])].drop(columns="count")
    rows.map(_told).to_csv(out, sep=";", index=False)
