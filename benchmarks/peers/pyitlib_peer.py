"""pyitlib in its own environment: entropies of a column given others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from pyitlib import discrete_random_variable as drv  # type: ignore[import-not-found]


def entropies(path: str, target: str, given: list[str]) -> Callable[[], Any]:
    """It takes whole numbers; what is given is coded as one, which is timed as reading is not."""
    frame = pd.read_csv(path)

    def call() -> list[float]:
        known = frame.groupby(given, sort=False).ngroup().to_numpy()
        secret = pd.factorize(frame[target])[0]
        left = drv.entropy_conditional(secret, known)
        return [float(left), float(drv.information_mutual(secret, known))]

    return call
