"""What is published: one version, checked files, workflows that are well formed."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import crypsis
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))
PINNED = r"[\w-]+/[\w/-]+@[0-9a-f]{40}"
"""An action by its commit."""


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/crypsis/__init__.py"
    shown = subprocess.run(
        [sys.executable, ROOT / "tools" / "version.py"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == crypsis.__version__
    assert yaml.safe_load(text("dbt/dbt_project.yml"))["version"] == crypsis.__version__


def test_the_changelog_is_one_that_tools_read() -> None:
    """Keep a Changelog: versions with dates, known sections, nothing changed before a release."""
    heads = re.findall(r"^## (.*)$", text("CHANGELOG.md"), flags=re.M)
    assert heads[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in heads[1:])
    sections = re.findall(r"^### (.*)$", text("CHANGELOG.md"), flags=re.M)
    assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    if len(heads) == 1:
        assert sections == ["Added"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_yaml_and_least_privileged(path: Path) -> None:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.parent.name != "workflows":
        return
    assert found["permissions"]["contents"] == "read"
    for job in found["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(PINNED, step["uses"])
            assert "${{ github.event" not in step.get("run", "")  # never a title as a command


def test_what_workflows_make_is_a_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), flags=re.M))
    for path in WORKFLOWS:
        assert set(re.findall(r"make ([a-z-]+)", path.read_text(encoding="utf-8"))) <= targets


def test_all_supported_versions_are_tested() -> None:
    matrix = yaml.safe_load(text(".github/workflows/test.yml"))["jobs"]["test"]["strategy"]["matrix"]
    listed = [
        one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", one)
    ]
    assert matrix["python"] == listed
    assert len(matrix["os"]) == 3


def test_the_conda_recipe_has_the_dependencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    made = json.loads(importlib.import_module("conda_recipe").recipe())
    names = [one.split(" ")[0] for one in made["requirements"]["run"]]
    assert len(names) == len(PROJECT["project"]["dependencies"]) + 1
    assert "python-duckdb >=1.5,<3" in made["requirements"]["run"]
    assert made["package"]["version"] == crypsis.__version__
