"""What a verdict asks for can be done on the page: people of the original, keys, checklists, fields."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crypsis
from crypsis.protection import Key
from crypsis.web.wording import page_option
from tests.assessment.test_people_of_the_original import released, stays
from tests.web.conftest import Caller

SOURCE = Path(crypsis.__file__).parent
ROLES = {"age": "quasi-identifier", "ward": "quasi-identifier", "ill": "sensitive"}
_OPTION = re.compile(r"\{([a-z_]+)(?:=([^{}]*))?\}")


def csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def upload(caller: Caller, table: str, slot: str, name: str, content: bytes) -> None:
    address = f"/api/v1/tables/{table}/files/{slot}/upload"
    assert caller.post(address, params={"name": name}, content=content).is_success


def verdict(caller: Caller, table: str, **body: object) -> tuple[str, str]:
    caller.done(caller.ask(table, "assess", **body))
    found = caller.get(f"/api/v1/tables/{table}/assessment").json()
    return found["verdict"], " ".join(found["reasons"])


@pytest.fixture
def release(caller: Caller) -> tuple[str, list[int]]:
    made, rows = released(stays())
    table = caller.table("release.csv", csv(made))
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"roles": ROLES}).is_success
    return table, rows


def test_people_are_counted_with_the_key(
    caller: Caller, release: tuple[str, list[int]], tmp_path: Path
) -> None:
    table, rows = release
    upload(caller, table, "original", "original.csv", csv(stays()))
    asked = {"original_person": "patient_nbr"}
    state, reasons = verdict(caller, table, **asked)
    assert state != "safe"
    assert "“Person column of the original”" in reasons
    key = Key(1, tuple(rows)).save(tmp_path / "key.json")
    upload(caller, table, "key", "key.json", key.read_bytes())
    assert verdict(caller, table, **asked)[0] == "not safe"
    found = caller.get(f"/api/v1/tables/{table}/assessment").json()
    assert any("20 of 20 people" in one["statement"] for one in found["findings"])
    page = caller.get(f"/t/{table}/verdict").text
    assert "✓ original.csv" in page
    assert "Person column of the original" in page


def test_a_roles_file_with_a_person_that_the_release_lacks(
    caller: Caller, release: tuple[str, list[int]]
) -> None:
    table, _ = release
    lines = [f'{name} = "{role}"' for name, role in ROLES.items()]
    text = '[units]\nperson = "patient_nbr"\n[roles]\npatient_nbr = "identifier"\n'
    upload(caller, table, "roles", "roles.toml", (text + "\n".join(lines)).encode())
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"file": True}).is_success
    state, reasons = verdict(caller, table)
    assert state == "cannot tell"
    assert "'patient_nbr'" in reasons


def test_a_checklist_is_answered_on_the_page(caller: Caller) -> None:
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "ill": rng.choice(["a", "b"], 600)})
    table = caller.table("people.csv", csv(people))
    roles = {"sex": "quasi-identifier", "ill": "sensitive"}
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"roles": roles}).is_success
    state, reasons = verdict(caller, table, policy="hipaa-safe-harbor")
    assert state == "cannot tell"
    assert "Checklist of the policy" in reasons
    found = caller.get(f"/api/v1/tables/{table}/assessment").json()
    items = [one["item"] for one in found["checklist"]]
    page = caller.get(f"/t/{table}/verdict").text
    assert page.count("data-answer=") == len(items) > 0
    answers = dict.fromkeys(items, "N.N., 2026-11-01")
    state, reasons = verdict(caller, table, policy="hipaa-safe-harbor", answers=answers)
    assert (state, reasons) == ("safe", "")
    assert verdict(caller, table, policy="default", answers={items[0]: " "})[0] == "safe"


def named_options() -> set[tuple[str, str | None]]:
    """The options that hints of reasons and of measures name."""
    found: set[tuple[str, str | None]] = set()
    for file in (SOURCE / "assessment").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                asks = re.search(r"(?:[Ss]et|or|with) \{", node.value)
                found |= set(_OPTION.findall(node.value)) if asks and "\n" not in node.value else set()
    return {(name, value or None) for name, value in found}


def test_every_field_that_a_verdict_names_is_on_the_page(
    caller: Caller, release: tuple[str, list[int]]
) -> None:
    table, _ = release
    verdict(caller, table)
    upload(caller, table, "earlier", "earlier.csv", csv(released(stays())[0]))
    places = {
        "person": "What a record is",
        "household": "Household column",
        "weight": "Survey weight column",
        "population": "population",
        "policy": "Policy",
        "context": "Who receives it",
        "on": "Column of record numbers",
        "key": "The re-identification key",
        "original": "The original",
        "earlier": "An earlier release",
        "earlier_keys": "The key of the earlier release",
        "holdout": "Other people",
        "accept_guesses": "Accept guessed roles",
        "synthetic": "The records are synthetic",
        "attack": "Baskets of pseudonyms",
        "exact": "Count exactly",
    }
    elsewhere = {
        "quasi_identifiers",
        "identifiers",
        "sensitive",
        "insensitive",
        "excluded",
        "roles",
        "note",
        "earlier_roles",
    }
    names = {name for name, _ in named_options()}
    assert names <= {*places, *elsewhere}
    assert {"person", "key", "population", "on"} <= names
    page = caller.get(f"/t/{table}/verdict").text
    for name in names & {*places}:
        assert places[name] in page, name
        assert name == "on" or "_" not in page_option(name, None)
    columns = caller.get(f"/t/{table}/columns").text
    for note in ("override", "sign_off", "harmless"):
        assert f'data-note="{note}"' in columns
    caller.done(caller.ask(table, "preview"))
    assert "Household column" in caller.get(f"/t/{table}/protect").text
