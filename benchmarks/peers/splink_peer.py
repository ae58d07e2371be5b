"""splink in its own environment: agreement weights by EM, the best match of each original."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import splink.comparison_level_library as cll
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on


def link(folder: str) -> Callable[[], Any]:
    """How many best matches are the own record, by the best of three trainings; all pairs.

    One of them is told the true matches, which no intruder knows: better than that it cannot be.
    """
    logging.getLogger("splink").setLevel(logging.ERROR)

    def call() -> int:
        x, y = (pd.read_csv(Path(folder) / f"{name}.csv") for name in ("original", "masked"))
        names = list(x.columns)
        comparisons = []
        for name in names:
            if pd.api.types.is_numeric_dtype(x[name]):
                spread = float(x[name].std()) or 1.0
                steps = [spread * size for size in (1e-6, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)]
                near = [cll.AbsoluteDifferenceLevel(name, step) for step in steps]
                levels = [cll.NullLevel(name), *near, cll.ElseLevel()]
                comparisons.append(cl.CustomComparison(levels, output_column_name=name))
            else:
                comparisons.append(cl.ExactMatch(name).configure(term_frequency_adjustments=True))
        for frame in (x, y):
            frame.insert(0, "unique_id", range(len(frame)))
            frame["truth"] = range(len(frame))
        settings = SettingsCreator(
            link_type="link_only",
            comparisons=comparisons,
            blocking_rules_to_generate_predictions=["1=1"],
            probability_two_random_records_match=1 / len(x),
        )
        return max(_right(x, y, settings, names, part) for part in (1.0, 0.1, None))

    return call


def _right(x: Any, y: Any, settings: Any, names: list[str], part: float | None) -> int:
    """Trained on pairs within the same part of a standard deviation of one of two columns.

    Without a part it is trained on the true matches.
    """
    engine = DuckDBAPI()
    linker = Linker([engine.register(frame) for frame in (x, y)], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    if part is None:
        linker.training.estimate_m_from_label_column("truth")
    for name in names[:2] if part is not None else ():
        rule: Any = block_on(name)
        if pd.api.types.is_numeric_dtype(x[name]):
            wide = (part or 1.0) * float(x[name].std()) or 1.0
            rule = f"floor(l.{name} / {wide}) = floor(r.{name} / {wide})"
        try:
            linker.training.estimate_parameters_using_expectation_maximisation(rule)
        except Exception as error:  # noqa: BLE001 - a rule without pairs teaches nothing
            print(f"{name}: {type(error).__name__}")
    found = linker.inference.predict().as_pandas_dataframe()
    best = found.sort_values("match_weight", ascending=False).drop_duplicates("unique_id_l")
    return int((best["unique_id_l"] == best["unique_id_r"]).sum())
