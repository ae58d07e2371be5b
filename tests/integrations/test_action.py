"""The script of the GitHub action, run as a runner does; only the set-up of Python is left out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.integrations.people import ROLES_FILE, csv

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def _run(tmp_path: Path, data: str) -> tuple[int, Path, Path]:
    """The last step of the action for a file: its status, outputs and summary."""
    (tmp_path / "roles.toml").write_text(ROLES_FILE)
    program = tmp_path / "crypsis" / "bin" / "crypsis"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m crypsis "$@"\n')
    program.chmod(0o755)
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    inputs = {"DATA": data, "ROLES": "roles.toml", "POLICY": "default"}
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", ACTION["runs"]["steps"][-1]["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            **inputs,
            "ARGUMENTS": "--no-try --seed 3",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        check=False,
    )
    return done.returncode, outputs, summary


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
@pytest.mark.parametrize(
    ("data", "leaking", "status"), [("people.csv", False, 0), ("people.csv", True, 1), ("-k3.csv", True, 1)]
)
def test_the_action(tmp_path: Path, data: str, leaking: bool, status: int) -> None:
    (tmp_path / data).write_text(csv(leaking=leaking))
    returned, outputs, summary = _run(tmp_path, data)
    assert returned == status
    named = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    assert set(named) == set(ACTION["outputs"])
    assert all(Path(path).stat().st_size > 300 for path in named.values())
    assert "safe to release" in summary.read_text()


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
@pytest.mark.parametrize("data", ["--help", "--version", "-h"])
def test_a_name_like_an_option_is_a_file(tmp_path: Path, data: str) -> None:
    """Help is printed with status 0, which would be "safe"."""
    assert _run(tmp_path, data)[0] == 2


def test_what_is_typed_is_never_part_of_the_script() -> None:
    """Inputs reach the script as variables: a name of a file cannot be a command."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
