"""What is compiled ahead is not compiled again by the first command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.heavy
def test_the_first_release_compiles_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def command(*words: str) -> set[str]:
        subprocess.run(
            [sys.executable, "-m", "crypsis", *words],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
            check=True,
            capture_output=True,
        )
        return {path.name for path in cache.rglob("*.nbc")}

    before = command("compile")
    assert before
    known = [word for name in ("age", "zip", "sex") for word in ("--qi", name)]
    for rows, more in ((5_000, "--k 5"), (60, "--k 2"), (60, "--k 2 --closeness 0.6")):
        (tmp_path / "people.csv").write_text(_people(rows))
        release = ["-o", "safe.csv", "--key", "key.json", "--force", "--id", "id"]
        found = command(
            "anonymize",
            "--person",
            "each record",
            "people.csv",
            *release,
            *known,
            "--sensitive",
            "job",
            *more.split(),
        )
        assert found == before, (rows, more)


def _people(rows: int) -> str:
    lines = (
        f"{i},{20 + i * 7 % 50},{10000 + i * 13 % 40},{'mf'[i % 2]},{'abcdef'[i * 11 % 6]}"
        for i in range(rows)
    )
    return "\n".join(("id,age,zip,sex,job", *lines)) + "\n"
