"""`crypsis dbt` and the dbt package in a project that dbt built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.people import csv

ROOT = Path(__file__).resolve().parents[2]
PROJECT = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n"
    "flags: {send_anonymous_usage_stats: false}\n",
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n"
    "    dev: {type: duckdb, path: \"{{ env_var('SHOP_DB') }}\"}\n",
    "packages.yml": f"packages:\n  - local: {ROOT / 'dbt'}\n",
    "models/release.sql": "select * from {{ ref('people') }}",
    "models/leaky.sql": "{{ config(materialized='table', schema='open') }}\n"
    "select * from {{ ref('people') }} "
    "union all select 99, 'f', 'gout'",
    "models/undecided.sql": "select * from {{ ref('people') }}",
    "models/other.sql": "select 1 as one",
    "models/properties.yml": """
models:
  - name: release
    config: {tags: [crypsis], meta: {crypsis: {policy: default, units: {person: each record}}}}
    data_tests: &tests
      - crypsis.k_anonymous: {arguments: {columns: [age, sex], k: 5}}
      - crypsis.l_diverse: {arguments: {columns: [age, sex], sensitive: disease, l: 2}}
    columns: &columns
      - {name: age, config: {meta: {crypsis: quasi-identifier}}}
      - {name: sex, config: {meta: {crypsis: quasi-identifier}}}
      - {name: disease, config: {meta: {crypsis: {role: sensitive, weight: 2}}}}
  - name: leaky
    config: {tags: [crypsis], meta: {crypsis: {units: {person: each record}}}}
    data_tests: *tests
    columns: *columns
  - name: undecided
    config: {tags: [crypsis]}
""",
    "seeds/people.csv": csv(),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    os.environ["SHOP_DB"] = "shop.duckdb"
    return folder


def dbt(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("dbt")
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)


def crypsis(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crypsis", "dbt", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_package_counts_in_the_warehouse(project: Path) -> None:
    assert dbt(project, "deps").returncode == 0
    built = dbt(project, "build")
    failed = [line for line in built.stdout.splitlines() if " FAIL " in line]
    assert len(failed) == 2, built.stdout
    assert all("leaky" in line for line in failed)


def test_tagged_models_are_assessed(project: Path) -> None:
    found = crypsis(project, "--json")
    assert found.returncode == 1, found.stderr
    verdicts = {one["result"]["name"]: one["result"]["verdict"] for one in json.loads(found.stdout)}
    assert verdicts == {"release": "safe", "leaky": "not safe", "undecided": "cannot tell"}


@pytest.mark.parametrize(("model", "status"), [("release", 0), ("leaky", 1), ("undecided", 4)])
def test_the_status_is_the_verdict(project: Path, model: str, status: int) -> None:
    assert crypsis(project, model).returncode == status


def test_reports(project: Path) -> None:
    (project / "reports").mkdir()
    assert crypsis(project, "release", "-o", "reports").returncode == 0
    assert sorted(one.name for one in (project / "reports").iterdir()) == ["release.html", "release.xml"]


def test_mistakes(project: Path) -> None:
    assert "is not a tagged model" in crypsis(project, "other").stderr
    assert crypsis(project, "--target", "prod").returncode == 2
    assert crypsis(project, "--database", "none.duckdb").returncode == 2
    assert crypsis(project.parent).returncode == 2
