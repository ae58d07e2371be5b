"""Right numbers: every measure on random cases, against an implementation that shares nothing.

500 cases a measure, and as many as CRYPSIS_CASES says in `make nightly` (10,000).
"""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest

from tests.promises.numbers import CHECKS
from tests.promises.numbers.anonymizing import SLOW

CASES = int(os.environ.get("CRYPSIS_CASES", "500"))
FEWER = {} if "CRYPSIS_CASES" in os.environ else SLOW


@pytest.mark.filterwarnings("ignore::RuntimeWarning:scipy")
@pytest.mark.parametrize("measure", CHECKS)
def test_random_cases(measure: str) -> None:
    for number in range(CASES // FEWER.get(measure, 1)):
        draw = np.random.default_rng([zlib.crc32(measure.encode()), number])
        try:
            CHECKS[measure](draw)
        except Exception as error:
            error.add_note(f"{measure}: case {number}")
            raise
