"""Fuzz a target guided by coverage: `python -m tests.promises.fuzz "hierarchy in CSV" 60`.

Without arguments every target is fuzzed in a process of its own for 20 seconds. Needs atheris
(Linux; in the dependency group `heavy`). What it finds is printed as bytes for `found.py`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target in this process; it ends with the process."""
    import atheris

    with atheris.instrument_imports(include=["crypsis", "tomllib"]):
        from tests.promises.fuzz.found import FOUND
        from tests.promises.fuzz.targets import SEEDS, TARGETS

    target = TARGETS[name]

    def one(data: bytes) -> None:
        try:
            target(data)
        except BaseException:
            print(f"FOUND in {name!r}: {data!r}", flush=True)
            raise

    with tempfile.TemporaryDirectory() as corpus:
        for place, seed in enumerate((*SEEDS[name], *FOUND.get(name, ()))):
            Path(corpus, str(place)).write_bytes(seed)
        limits = [
            f"-max_total_time={seconds}",
            "-timeout=60",
            "-rss_limit_mb=4000",
            "-max_len=4096",
        ]
        atheris.Setup([sys.argv[0], corpus, *limits, "-verbosity=0", "-print_final_stats=1"], one)
        atheris.Fuzz()


def main() -> int:
    """Fuzz what was asked for; the status is the number of targets that broke."""
    if len(sys.argv) == 3:
        fuzz(sys.argv[1], int(sys.argv[2]))
        return 0
    from tests.promises.fuzz.targets import TARGETS

    seconds = sys.argv[1] if len(sys.argv) == 2 else "20"
    broken = 0
    for name in TARGETS:
        done = subprocess.run([sys.executable, "-m", "tests.promises.fuzz", name, seconds],
                              capture_output=True, text=True, check=False)  # fmt: skip
        said = done.stdout + done.stderr
        runs = next(
            (line.split()[-1] for line in said.splitlines() if "executed_units" in line), "?"
        )
        print(
            f"{name}: {runs} runs, {'broken' if done.returncode else 'nothing found'}", flush=True
        )
        if done.returncode:
            broken += 1
            print(said[-4_000:])
    return broken


if __name__ == "__main__":
    sys.exit(main())
