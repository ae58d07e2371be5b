"""What cannot be printed is an error: of the standard output, with its status, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
COMMANDS = {
    "version": ["--version"],
    "help": ["assess", "--help"],
    "policy": ["policy", "show", "default"],
    "schema": ["schema", "assess"],
    "scan": ["scan", "t.csv"],
    "json": ["scan", "t.csv", "--json"],
    "assess": ["assess", "--person", "each record", "t.csv", "--qi", "age", "--insensitive", "sex"],
    "release": [
        "anonymize",
        "--person",
        "each record",
        "t.csv",
        "--qi",
        "age",
        "--insensitive",
        "sex",
        "--k",
        "2",
        "-o",
        "-",
    ],
}


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_full_standard_output(tmp_path: Path, words: list[str], unbuffered: str) -> None:
    (tmp_path / "t.csv").write_text("age,sex\n" + "30,m\n41,f\n" * 20)
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "XDG_DATA_HOME": str(tmp_path / "keys"),
        "PYTHONUNBUFFERED": unbuffered,
    }
    with FULL.open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "crypsis", *words],
            cwd=tmp_path,
            env=settings,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=300,
        )
    assert ended.returncode == 2
    said = ended.stderr.strip().splitlines()[-1]
    assert said == "Standard output could not be written (No space left on device)."
    assert ended.stderr.count("could not be written") == 1
    assert "Traceback" not in ended.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["t.csv"]
