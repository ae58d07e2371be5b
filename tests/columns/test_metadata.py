"""Roles in data contracts (ODCS) and in Frictionless metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from crypsis.cli import run
from crypsis.columns.roles import load, load_answers
from crypsis.errors import CrypsisError, RoleError, SourceError
from crypsis.options import Role

COLUMNS = ["name", "age", "disease", "ward"]
EXPECTED = [Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.UNDECIDED]
AGE = {"role": "quasi-identifier", "weight": 2}
ABOUT = {"units": {"person": "name"}, "answers": {"no photographs": "N.N., 2026-11-01"}}


def contract(more: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    def told(value: Any) -> dict[str, Any]:
        return {"customProperties": [{"property": "crypsis", "value": value}]}

    columns = [
        {"name": "name", **told("identifier")},
        {"name": "how old", "physicalName": "age", **told(AGE)},
        {"name": "disease", "classification": "restricted", **told("sensitive")},
        {"name": "ward", "classification": "public"},
    ]
    table = {"name": "patients", "properties": columns, **told(ABOUT)}
    return {"kind": "DataContract", "apiVersion": "v3.0.2", "schema": [*(more or []), table]}


def package(more: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    fields = [
        {"name": "name", "type": "string", "crypsis": "identifier"},
        {"name": "age", "type": "integer", "crypsis": AGE},
        {"name": "disease", "type": "string", "crypsis": "sensitive"},
        {"name": "ward", "type": "string"},
    ]
    table = {"name": "p", "path": "data/patients.csv", "schema": {"fields": fields}}
    return {"resources": [*(more or []), {**table, "crypsis": ABOUT}]}


def written(folder: Path, document: Any, name: str) -> Path:
    path = folder / name
    path.write_text(yaml.safe_dump(document) if name.endswith("yaml") else json.dumps(document))
    return path


@pytest.mark.parametrize(("make", "name"), [(contract, "c.yaml"), (package, "datapackage.json")])
@pytest.mark.parametrize("others", [0, 2])
def test_roles_notes_units_and_answers(tmp_path: Path, make: Any, name: str, others: int) -> None:
    path = written(tmp_path, make([{"name": f"other{i}"} for i in range(others)]), name)
    found = load(path, COLUMNS, "patients.csv")
    assert list(found.roles.values()) == EXPECTED
    assert found.notes["age"].weight == 2
    assert found.units == {"person": "name"}
    assert load_answers(path, "patients.csv") == ABOUT["answers"]


def test_the_schema_of_one_table(tmp_path: Path) -> None:
    path = written(tmp_path, package()["resources"][0]["schema"], "schema.json")
    assert list(load(path, COLUMNS).roles.values()) == EXPECTED


def test_a_classification_is_not_a_role(tmp_path: Path) -> None:
    bare = {"name": "age", "classification": "public"}
    document = {"kind": "DataContract", "schema": [{"name": "t", "properties": [bare]}]}
    with pytest.raises(SourceError, match="no column with the property 'crypsis'"):
        load(written(tmp_path, document, "c.yaml"), ["age"])


def test_it_must_be_clear_which_table(tmp_path: Path) -> None:
    path = written(tmp_path, contract([{"name": "visits", "properties": []}]), "c.yaml")
    with pytest.raises(SourceError, match=r"2 tables \('visits', 'patients'\)"):
        load(path, COLUMNS, "people.csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "kind: [broken"),
        ("a.yaml", "kind: other"),
        ("a.yaml", "- 1"),
        ("a.yaml", "kind: DataContract\nschema: 3"),
        ("a.yaml", "!!python/object/apply:os.system ['true']"),
        ("a.json", "{"),
        ("a.json", "[" * 100_000),
        ("a.json", '{"resources": [{"name": "t", "schema": "schema.json"}]}'),
        ("a.json", '{"fields": [{"name": "age", "crypsis": "quasi"}]}'),
        ("a.json", '{"crypsis": 3, "fields": [{"name": "age", "crypsis": "sensitive"}]}'),
        ("a.json", '{"crypsis": {"x": 1}, "fields": [{"name": "age", "crypsis": "sensitive"}]}'),
        ("missing.json", None),
    ],
)
def test_what_is_wrong_is_an_error_of_ours(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(CrypsisError) as error:
        load(tmp_path / name, ["age"])
    assert name in str(error.value) or isinstance(error.value, RoleError)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "patients.csv"
    data.write_text("age,disease,ward\n" + "30,flu,a\n31,gout,a\n" * 40)
    path = written(tmp_path, contract([{"name": "visits", "properties": []}]), "c.yaml")
    assert run(["assess", "--person", "each record", str(data), "--roles", str(path), "--no-try"]) in (1, 4)
    assert "'ward'" in capsys.readouterr().out  # nobody decided about it
