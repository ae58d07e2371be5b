"""The hook in pre-commit itself, installed from this repository as users install it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.people import ROLES_FILE, csv

ROOT = Path(__file__).resolve().parents[2]
PRE_COMMIT = Path(sys.executable).with_name("pre-commit")


def run(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], cwd=folder, capture_output=True, text=True)


def committed(folder: Path) -> None:
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "t"],
    ):
        done = run(folder, "git", *words)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a repository with one commit."""
    folder = tmp_path_factory.mktemp("crypsis")
    for name in ("src", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        source = ROOT / name
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / name, ignore=ignore) if source.is_dir() else shutil.copy(
            source, folder
        )
    committed(folder)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "open").mkdir(parents=True)
    (folder / "open" / "people.csv").write_text(csv())
    (folder / "open" / "roles.toml").write_text(ROLES_FILE)
    return folder


def test_the_hook(hook: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["PRE_COMMIT_HOME"] = str(tmp_path_factory.mktemp("home"))

    def tried() -> subprocess.CompletedProcess[str]:
        return run(repository, PRE_COMMIT, "try-repo", hook, "crypsis-assess", "--all-files", "-v")

    committed(repository)
    done = tried()
    assert done.returncode == 0, done.stdout
    assert "open/people.csv: Safe to release" in done.stdout
    (repository / "open" / "people.csv").write_text(csv(leaking=True))
    done = tried()
    assert done.returncode != 0
    assert "Not safe to release" in done.stdout
    assert "hiv-secret" not in done.stdout
    (repository / "open" / "people.csv").write_text(csv())
    (repository / "open" / "roles.toml").unlink()
    run(repository, "git", "rm", "-q", "--cached", "open/roles.toml")
    done = tried()
    assert done.returncode != 0
    assert "neither people.roles.toml nor roles.toml" in done.stdout
