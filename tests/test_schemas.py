"""JSON Schemas: real files and real outputs fit them, and broken ones do not."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.columns.roles import Guess, save
from crypsis.dataset import ColumnNote
from crypsis.options import Role
from crypsis.policies import PRESETS, preset_text
from crypsis.results import Result, field_descriptions, result_schema
from crypsis.schemas import SCHEMAS, schema
from tests.structure.code import PUBLIC_PACKAGES, public_names

KNOWN = ["--person", "each record", "--qi", "age", "--qi", "zip"]
ROLES = [*KNOWN, "--sensitive", "disease"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    lines = [f"{20 + i % 7},0213{i % 3},{('flu', 'gout', 'none')[i % 3]}" for i in range(60)]
    path.write_text("\n".join(["age,zip,disease", *lines, ""]))
    return path


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_are_valid(kind: str) -> None:
    made = schema(kind)
    jsonschema.Draft202012Validator.check_schema(made)
    json.dumps(made)


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("scan", ["scan", "DATA"]),
        ("scan", ["scan", "DATA", "--population", "1000"]),
        ("assess", ["assess", "DATA", *ROLES, "--no-try"]),
        ("assess", ["assess", "DATA", *ROLES, "--try"]),
        ("anonymize", ["anonymize", "DATA", *ROLES, "--k", "3", "-o", "OUT"]),
        ("rewrite", ["rewrite", "DATA", "-o", "OUT"]),
        ("leak", ["leak", "DATA", "--target", "disease", "--given", "age"]),
        ("compare", ["compare", "DATA", "DATA", "--seed", "1"]),
        ("verify", ["verify", "DATA", "--record", "RECORD"]),
        ("explore", ["anonymize", "DATA", *KNOWN, "--exclude", "disease", "--explore", "--k", "3"]),
        ("indicators", ["compare", "DATA", "DATA", "--indicators", "GATE"]),
        ("posterior", ["compare", "DATA", "DATA", "--method", "age=noise:0.5"]),
        (
            "histories",
            [
                "attack",
                "histories",
                "DATA",
                "--person",
                "zip",
                "--known",
                "age",
                "--target",
                "disease",
                "--smallest",
            ],
        ),
        ("package", ["package", "check", "PACKAGE"]),
    ],
)
def test_outputs_fit(kind: str, command: list[str], people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = people.with_name("record.csv")
    record.write_text("age,zip,disease\n21,02131,gout\n")
    gate, package = people.with_name("gate.toml"), people.with_name("safe.zip")
    gate.write_text('[[indicators]]\nname = "a"\nestimate = "mean"\ncolumns = ["age"]\nleast_overlap = 0.5\n')
    if "PACKAGE" in command:
        words = ["anonymize", str(people), *ROLES, "--k", "3", "--package", str(package)]
        assert run([*words, "-o", str(people.with_name("safe.csv"))]) in (0, 1, 4)
        capsys.readouterr()
    named = {
        "DATA": people,
        "OUT": people.with_name("out.csv"),
        "RECORD": record,
        "GATE": gate,
        "PACKAGE": package,
    }
    assert run([str(named.get(word, word)) for word in command] + ["--json"]) in (0, 1, 4)
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema(kind))
    broken = deepcopy(found)
    broken["result"][next(iter(broken["result"]))] = {"not": "this"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**found, "more": 1}, schema(kind))
    if kind not in ("scan", "package"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema(kind))


def test_attacks_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = tmp_path / "belief.csv"
    matrix.write_text(",x,y\na,0.5,0.5\nb,0.2,0.8\n")
    assert run(["attack", "matrix", str(matrix), "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), schema("attack"))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_fit(name: str) -> None:
    content = json.loads(json.dumps(tomllib.loads(preset_text(name)), default=str))
    jsonschema.validate(content, schema("policy"))
    content["thresholds"][0]["measure"] = "singling_out.k_anonimity"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema("policy"))


def test_roles_files_fit(tmp_path: Path) -> None:
    note = ColumnNote(harmless=("none", 1), priors={"flu": 0.1}, weight=2, keep="month")
    guesses = [Guess(one.value, one, "The reason.", 0.9) for one in Role]
    file = save(guesses, tmp_path / "roles.toml", notes={"sensitive": note}, units={"person": "p"})
    content = tomllib.loads(file.read_text())
    jsonschema.validate(content, schema("roles"))
    for wrong in ({"role": "quasi"}, {"role": "sensitive", "harmles": []}, "quasi"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"roles": {"age": wrong}}, schema("roles"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"roles": {}, "unit": {}}, schema("roles"))


def test_every_note_is_explained() -> None:
    assert set(field_descriptions(ColumnNote)) == {one.name for one in fields(ColumnNote)}


def test_plans_fit(people: Path, tmp_path: Path) -> None:
    made = cr.protection.plan(str(people), k=3, quasi_identifiers=["age", "zip"], sensitive=["disease"])
    for path in (tmp_path / "plan.json", tmp_path / "plan.toml"):
        made.save(path)
        text = path.read_text()
        content: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        jsonschema.validate(content, schema("plan"))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**content, "columns": 3}, schema("plan"))


def test_every_public_result_has_a_schema() -> None:
    from importlib import import_module

    for package in ("", *PUBLIC_PACKAGES):
        module = import_module(f"crypsis.{package}".rstrip("."))
        for name in public_names(package):
            kind = getattr(module, name)
            if name == "Dossier":  # a document; its assessment has a schema
                continue
            if isinstance(kind, type) and issubclass(kind, Result) and kind is not Result:
                assert result_schema(kind)["$defs"][kind.__name__]["properties"], name


def test_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "policy"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("policy")
    assert run(["schema", "polic"]) == 2
    assert "'polic' has no schema" in capsys.readouterr().err
