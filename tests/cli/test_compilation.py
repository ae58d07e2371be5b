"""What is compiled ahead is not compiled again by the first command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.heavy
def test_the_first_release_compiles_nothing(tmp_path: Path) -> None:
    rows = "".join(
        f"{i},{20 + i * 7 % 50},{10000 + i * 13 % 40},{'mf'[i % 2]},{'abcdef'[i * 11 % 6]}\n"
        for i in range(5_000)
    )
    (tmp_path / "people.csv").write_text("id,age,zip,sex,job\n" + rows)
    cache = tmp_path / "cache"
    words = "anonymize people.csv -o safe.csv --key key.json --k 5 --id id".split()
    words += [word for name in ("age", "zip", "sex", "job") for word in ("--qi", name)]

    def command(*words: str) -> set[str]:
        subprocess.run(
            [sys.executable, "-m", "crypsis", *words],
            cwd=tmp_path, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, check=True,
            capture_output=True,
        )  # fmt: skip
        return {path.name for path in cache.rglob("*.nbc")}

    before = command("compile")
    assert before
    assert command(*words) == before
