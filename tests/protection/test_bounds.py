"""Kernels stay within their arrays: as plain Python, where leaving one is an error and not damage."""

from __future__ import annotations

import os
import subprocess
import sys

_RELEASES = """
import pyarrow as pa
from crypsis.protection import anonymize

for count in (2, 3, 5, 8, 11):
    people = pa.table({
        "age": [20 + i * i % 7 for i in range(count)],
        "sex": ["fm"[i % 2] for i in range(count)],
        "disease": [("flu", "gout", "none")[i % 3] for i in range(count)],
    })
    for more in ({}, {"diversity": 2}, {"recoding": "full-domain"}):
        roles = {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"]}
        roles["person"] = "each record"
        made = anonymize(people, k=2, suppression=1.0, **more, **roles)
        assert made.measured.k >= 2 or made.loss.withheld_share == 1, (count, more)
    print(count)
"""


def test_releases_of_a_few_records() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _RELEASES],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [str(count) for count in (2, 3, 5, 8, 11)]
