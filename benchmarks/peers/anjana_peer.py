"""ANJANA in its own environment: k-anonymity of Adult, timed, the release written out."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import pandas as pd
from anjana.anonymity import k_anonymity  # type: ignore[import-not-found]


def main() -> None:
    path, out, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    frame = pd.read_csv(path)
    trees: dict[str, Any] = {}
    for name, file in asked["hierarchies"].items():
        table = pd.read_csv(file, header=None)
        trees[name] = {level: table[level].values for level in range(table.shape[1])}
    start, cpu = time.perf_counter(), time.process_time()
    made = k_anonymity(frame, [], list(trees), asked["k"], asked["suppression_percent"], trees)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    made[list(trees)].to_csv(out, index=False)
    print(json.dumps({"seconds": seconds, "cpu_seconds": used, "rows": len(made)}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
