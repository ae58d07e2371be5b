"""Fuzz a target guided by coverage: `python -m tests.promises.fuzz "hierarchy in CSV" 60`.

Without arguments every target is fuzzed in a process of its own for 20 seconds, one a core. Needs atheris
(Linux; in the dependency group `heavy`). What it finds is printed as bytes for `found.py`.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def mutator(shaped: Callable[[bytes, random.Random], bytes]) -> Callable[[bytes, int, int], bytes]:
    """Blows that know the shape, and every fourth time the fuzzer's own, which know nothing."""
    import atheris

    def strike(data: bytes, longest: int, seed: int) -> bytes:
        if seed % 4 == 0:
            return atheris.Mutate(data, longest)
        return shaped(data, random.Random(seed))[:longest]

    return strike


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target in this process; it ends with the process."""
    import atheris

    # What Numba compiles must stay as it is written.
    source = Path(__file__).parents[3] / "src"
    compiled = [
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path in source.rglob("*.py")
        if re.search(r"^@(kernel|inner|intrinsic)\b", path.read_text(encoding="utf-8"), re.M)
    ]
    with atheris.instrument_imports(include=["crypsis", "tomllib"], exclude=compiled):
        from tests.promises.fuzz.found import FOUND
        from tests.promises.fuzz.targets import BLOWS, SEEDS, TARGETS

        if name == "web forms":
            from tests.promises.fuzz import web  # noqa: F401 - so that it is instrumented as well
    target = TARGETS[name]
    shaped = BLOWS.get(name)

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
            f"-artifact_prefix={corpus}/",
        ]
        how = {} if shaped is None else {"custom_mutator": mutator(shaped)}
        command = [sys.argv[0], corpus, *limits, "-verbosity=0", "-print_final_stats=1"]
        atheris.Setup(command, one, **how)
        atheris.Fuzz()


def main() -> int:
    """Fuzz what was asked for; the status is the number of targets that broke."""
    if len(sys.argv) == 3:
        fuzz(sys.argv[1], int(sys.argv[2]))
        return 0
    from tests.promises.fuzz.targets import TARGETS

    seconds = sys.argv[1] if len(sys.argv) == 2 else "20"
    with ThreadPoolExecutor(os.cpu_count()) as several:
        return sum(several.map(lambda name: broken(name, seconds), TARGETS))


def broken(name: str, seconds: str) -> bool:
    """Fuzz a target in a process of its own, and say what came of it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.promises.fuzz", name, seconds],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    runs = next((line.split()[-1] for line in said.splitlines() if "executed_units" in line), "?")
    print(f"{name}: {runs} runs, {'broken' if done.returncode else 'nothing found'}", flush=True)
    if done.returncode:
        print(said[-4_000:], flush=True)
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
