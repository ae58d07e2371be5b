"""What crypsis is made of is known, may be passed on, and builds to the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "supply_chain.py"


def told(what: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, str(TOOL), what], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wanted() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {re.split(r"[<>=!~;\[ ]", need)[0].lower() for need in project["dependencies"]}


def test_every_part_has_a_licence_that_lets_it_be_passed_on() -> None:
    lines = told("licences").splitlines()
    assert wanted() <= {line.split()[0] for line in lines}
    assert not [line for line in lines if line.rstrip().endswith("unknown")]
    constrained = {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    assert {line.split()[0] for line in lines} - constrained == {"crypsis"}


def test_the_bill_of_materials_is_whole_and_repeatable() -> None:
    first, again = told("sbom"), told("sbom")
    assert first == again
    bill = json.loads(first)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    names = {part["name"] for part in bill["components"]}
    assert wanted() <= names
    refs = {part["bom-ref"] for part in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    for one in bill["dependencies"]:
        assert one["ref"] in refs
        assert set(one["dependsOn"]) <= refs


def built(source: Path, where: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(where)]
    subprocess.run(command, check=True, capture_output=True, cwd=source)
    (wheel,) = where.glob("*.whl")
    return wheel


def test_the_wheel_is_the_same_wherever_it_is_built(tmp_path: Path) -> None:
    digests, umask = [], os.umask(0o022)
    try:
        for number, mask in ((1, 0o022), (2, 0o077)):
            os.umask(mask)
            copy = tmp_path / f"copy{number}"
            copy.mkdir()
            for name in ("pyproject.toml", "README.md", "LICENSE"):
                shutil.copyfile(ROOT / name, copy / name)
            ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
            shutil.copytree(ROOT / "src", copy / "src", ignore=ignored, copy_function=shutil.copyfile)
            for path in (copy / "src").rglob("*"):
                os.utime(path, (number * 10**9, number * 10**9))
            wheel = built(copy, tmp_path / f"dist{number}")
            digests.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    finally:
        os.umask(umask)
    assert digests[0] == digests[1]
    names = zipfile.ZipFile(wheel).namelist()
    assert "crypsis/policies/presets/default.toml" in names
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]


def test_every_action_is_pinned_and_says_its_version() -> None:
    """A tag can be moved by whoever owns the action; a commit cannot."""
    used = [
        line
        for path in (ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml"))
        for line in re.findall(r"^ *(?:- )?uses: *(.*)$", path.read_text("utf-8"), flags=re.M)
    ]
    assert len(used) >= 20
    for line in used:
        assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
