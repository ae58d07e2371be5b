"""Right numbers: every measure on random cases, against an implementation that shares nothing.

100 cases a measure, fewer of those that take long, and as many as CRYPSIS_CASES says in `make
nightly` (10,000).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

import numba
import numpy as np
import pytest

from tests.promises.numbers import CHECKS

CASES = int(os.environ.get("CRYPSIS_CASES", "0"))
FEWER = {
    "plan": 15,
    "leakage": 40,
    "population models: slide negative binomial": 25,
    "population models: Pitman": 25,
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Cases are small: threads that wait for each other would take longer than the work."""
    most = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(most)


@pytest.mark.filterwarnings("ignore::RuntimeWarning:scipy")
@pytest.mark.parametrize("measure", CHECKS)
def test_random_cases(measure: str) -> None:
    for number in range(CASES or FEWER.get(measure, 100)):
        draw = np.random.default_rng([zlib.crc32(measure.encode()), number])
        try:
            CHECKS[measure](draw)
        except Exception as error:
            error.add_note(f"{measure}: case {number}")
            raise
