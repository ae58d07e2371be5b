"""anonymeter in its own environment: its three risks of a synthetic file, as JSON.

python anonymeter_peer.py SYNTHETIC TRAINING HOLDOUT COLUMN
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

ATTACKS = 500


def risks(paths: list[str], column: str) -> dict[str, Any]:
    """Each risk with its interval; an error of the package by its name."""
    import pandas as pd
    from anonymeter import evaluators  # type: ignore[import-not-found]

    synthetic, training, control = (pd.read_csv(path) for path in paths)
    names = list(training.columns)
    files: dict[str, Any] = {"ori": training, "syn": synthetic, "control": control}
    count = min(ATTACKS, len(control))
    made = {
        "singling out": (evaluators.SinglingOutEvaluator, {}),
        "linkability": (
            evaluators.LinkabilityEvaluator,
            {"aux_cols": (names[::2], names[1::2]), "n_neighbors": 5},
        ),
        "inference": (
            evaluators.InferenceEvaluator,
            {"aux_cols": [name for name in names if name != column], "secret": column, "regression": False},
        ),
    }
    found: dict[str, Any] = {}
    for name, (kind, options) in made.items():
        one = kind(**files, **options, n_attacks=count)
        try:
            one.evaluate(**({"mode": "multivariate"} if name == "singling out" else {}))
            risk = one.risk()
            found[name] = [risk.value, *risk.ci]
        except (RuntimeError, ValueError) as error:
            found[name] = type(error).__name__
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    *files, secret = sys.argv[1:]
    print(json.dumps(risks(files, secret)))
