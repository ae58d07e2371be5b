"""Run the benchmarks: all of them, or those named."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NOT_BENCHMARKS = {"__init__", "__main__", "measure"}


def main() -> None:
    here = Path(__file__).parent
    known = sorted(path.stem for path in here.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    asked = sys.argv[1:] or known
    unknown = [name for name in asked if name not in known]
    if unknown:
        sys.exit(f"No benchmark {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in asked:
        print(f"== {name}", flush=True)
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
