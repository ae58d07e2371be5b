"""thewalrus in its own environment: the permanent of random doubly stochastic matrices, timed."""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np
from thewalrus import perm  # type: ignore[import-not-found]


def main() -> None:
    """Read the path of a matrix a line, answer with its permanent and the time it took."""
    perm(np.ones((4, 4)), method="bbfg")  # compiled before anything is timed
    print(json.dumps({"version": version("thewalrus")}), flush=True)
    for line in sys.stdin:
        matrix = np.load(line.strip())
        start = time.perf_counter()
        value = float(perm(matrix, method="bbfg"))
        print(json.dumps({"seconds": time.perf_counter() - start, "value": value}), flush=True)


if __name__ == "__main__":
    main()
