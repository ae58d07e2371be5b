"""Manifests, profiles and statuses of `crypsis dbt`, without dbt; `check_dbt.py` runs it with dbt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from crypsis.cli import run
from crypsis.errors import SourceError
from crypsis.integrations.dbt import find_database, find_models
from tests.integrations.people import csv

ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "disease": {"role": "sensitive"}}
UNITS = {"person": "each record"}
OLD = {name: {"meta": {"crypsis": role}} for name, role in ROLES.items()}
NEW = {name: {"config": {"meta": {"crypsis": role}}} for name, role in ROLES.items()}


def node(name: str, columns: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "schema": "main", "resource_type": "model", "columns": columns, **more}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for leaking, name in ((False, "release"), (True, "leaky")):
        (tmp_path / "people.csv").write_text(csv(leaking=leaking))
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
            connection.execute(f"CREATE TABLE {name} AS FROM '{tmp_path / 'people.csv'}'")
    nodes = {
        "a": node("release", NEW, tags=["crypsis"], meta={"crypsis": {"units": UNITS}}),
        "b": node("leaky", OLD, tags=[], meta={"crypsis": {"policy": "default", "units": UNITS}}),
        "c": node("other", OLD, tags=[]),
        "d": {**node("test", OLD, tags=["crypsis"]), "resource_type": "test"},
    }
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "manifest.json").write_text(json.dumps({"nodes": nodes}))
    (tmp_path / "dbt_project.yml").write_text("profile: shop\n")
    return tmp_path


def profiles(folder: Path, **output: Any) -> None:
    target = {"target": "dev", "outputs": {"dev": output}}
    (folder / "profiles.yml").write_text(json.dumps({"shop": target}))


def test_tagged_models_and_those_with_meta(project: Path) -> None:
    found = find_models(project / "target" / "manifest.json")
    assert [(one.name, one.table, one.policy) for one in found] == [
        ("release", "main.release", None),
        ("leaky", "main.leaky", "default"),
    ]
    assert all(one.document["roles"] == ROLES for one in found)


@pytest.mark.parametrize(("model", "status"), [("release", 0), ("leaky", 1)])
def test_statuses(project: Path, model: str, status: int) -> None:
    profiles(project, type="duckdb", path="shop.duckdb")
    assert run(["dbt", model, "--project-dir", str(project)]) == status


def test_nothing_to_assess_is_an_error(project: Path) -> None:
    manifest = project / "target" / "manifest.json"
    manifest.write_text(json.dumps({"nodes": {"c": node("other", OLD, tags=[])}}))
    assert run(["dbt", "--project-dir", str(project)]) == 2
    for broken in ("{", "[]", "{}", '{"nodes": 3}'):
        manifest.write_text(broken)
        with pytest.raises(SourceError):
            find_models(manifest)


def test_addresses(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "a b.duckdb")
    profiles(project, type="duckdb", path="{{ env_var('PLACE') }}")
    assert find_database(project) == str(project / "a b.duckdb")
    profiles(project, type="postgres", host="h", user="u@x", password="p/w:1", dbname="d", port=1)
    assert find_database(project) == "postgresql://u%40x:p%2Fw%3A1@h:1/d"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"type": "snowflake", "password": "pass-word"}, "'snowflake' cannot be read"),
        ({"type": "duckdb", "path": "{{ env_var('NOT_SET_ANYWHERE') }}"}, "NOT_SET_ANYWHERE"),
        ({"type": "duckdb", "path": "{{ ().__class__.__mro__ }}"}, "not understood"),
        ({"type": "duckdb", "path": "{{ unknown }}"}, "not understood"),
        ({"type": "duckdb", "path": "{% broken"}, "not understood"),
    ],
)
def test_profiles_that_cannot_be_used(project: Path, output: Any, said: str) -> None:
    profiles(project, **output)
    with pytest.raises(SourceError, match=said) as error:
        find_database(project)
    assert "pass-word" not in str(error.value)


def test_no_profile(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project))
    with pytest.raises(SourceError, match=r"no profiles\.yml"):
        find_database(project)
    profiles(project, type="duckdb", path="shop.duckdb")
    with pytest.raises(SourceError, match="no target 'prod'"):
        find_database(project, target="prod")
    (project / "dbt_project.yml").write_text("profile: none\n")
    with pytest.raises(SourceError, match="no profile 'none'"):
        find_database(project)
