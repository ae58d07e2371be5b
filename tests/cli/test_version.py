"""`crypsis --version`: asked by scripts, so it loads nothing that it does not need."""

from __future__ import annotations

import subprocess
import sys

import crypsis

SCRIPT = """
import sys
from crypsis.cli import run
status = run(["--version"])
print(status, sorted({"numpy", "typer", "rich", "duckdb"} & set(sys.modules)))
"""


def test_the_version_needs_no_library() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"crypsis {crypsis.__version__}", "0 []"]
