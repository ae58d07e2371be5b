"""pyCANON in its own environment: k of many sets of columns, timed together."""

from __future__ import annotations

import json
import sys
import time
import warnings

import pandas as pd
from pycanon import anonymity  # type: ignore[import-not-found]


def main() -> None:
    path, names, sets = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
    frame = pd.read_csv(path, names=names, skipinitialspace=True)
    start, cpu = time.perf_counter(), time.process_time()
    found = [int(anonymity.k_anonymity(frame, list(columns))) for columns in sets]
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu_seconds": used, "k": found}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
