"""Write a conda recipe (for rattler-build and conda-forge) from `pyproject.toml`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

from version import version

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"duckdb": "python-duckdb"}  # where conda-forge has another name


def conda_requirement(requirement: str) -> str:
    """A requirement as conda writes it: `duckdb>=1.5,<3` is `python-duckdb >=1.5,<3`."""
    name, limits = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", requirement.strip()).groups()  # type: ignore[union-attr]
    return f"{NAMES.get(name, name)} {limits}".strip()


def recipe() -> str:
    """The recipe; the source is the sdist in `dist`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    about, build = project["project"], project["build-system"]["requires"]
    parts = {
        "schema_version": 1,
        "package": {"name": about["name"], "version": version()},
        "source": {"path": f"../{about['name']}-{version()}.tar.gz"},
        "build": {
            "number": 0,
            "noarch": "python",
            "script": "${{ PYTHON }} -m pip install . --no-deps --no-build-isolation -vv",
            "python": {"entry_points": [f"{a} = {b}" for a, b in about["scripts"].items()]},
        },
        "requirements": {
            "host": ["python 3.11.*", "pip", *map(conda_requirement, build)],
            "run": [f"python {about['requires-python']}", *map(conda_requirement, about["dependencies"])],
        },
        "tests": [
            {"python": {"imports": ["crypsis"], "pip_check": True}},
            {"script": ["crypsis --version", "crypsis policy list"]},
        ],
        "about": {
            "license": about["license"],
            "license_file": about["license-files"][0],
            "summary": about["description"],
        },
    }
    return json.dumps(parts, indent=2) + "\n"  # JSON is YAML


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(recipe(), encoding="utf-8")
