"""What a person chooses on the page is one list: it is what is previewed, tried and released."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.conftest import Caller, running
from tests.web.test_project import CSV, ROLES


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    with running() as server, Caller(server) as asking:
        yield asking


@pytest.fixture
def table(caller: Caller) -> str:
    opened = caller.table("p.csv", CSV.encode())
    caller.put(f"/api/v1/tables/{opened}/roles", json={"roles": {**ROLES, "ward": "sensitive"}})
    return opened


def _choose(caller: Caller, table: str, version: int | None = None, **changes: Any) -> Any:
    named = {name.replace("__", ":"): value for name, value in changes.items()}
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return caller.patch(f"/api/v1/tables/{table}/choices", json={"changes": named}, headers=headers)


def test_preview_trial_and_release_are_of_the_list(caller: Caller, table: str) -> None:
    _choose(caller, table, aim__sex="exclude", aim__ward="apart", k="4")
    caller.done(caller.ask(table, "preview"))
    assert caller.get(f"/api/v1/tables/{table}/choices").json()["previewed"]
    after = _choose(caller, table, method__zip="prefix").json()
    assert after["choices"]["aim:sex"] == "exclude"
    # The cells are those of another list now, so nothing is answered from them.
    assert not after["previewed"]
    assert caller.ask(table, "what-if").status_code == 409
    caller.done(caller.ask(table, "preview"))
    assert caller.ask(table, "what-if").json()["rows"] == 120
    caller.done(caller.ask(table, "try"))
    tried = caller.get(f"/api/v1/tables/{table}/tried").json()
    words = [one["words"] for one in tried["released"]]
    assert {"sex is not released", "ward apart, in a file of its own"} <= set(words)
    planned = caller.ask(table, "plan").json()["columns"]
    assert ["ward", "", "", "released apart"] in planned
    caller.done(caller.ask(table, "anonymize"))
    made = caller.get(f"/api/v1/tables/{table}/release").json()
    assert (made["requirements"]["k"], made["separation"]) == (4, tried["separation"])
    address = f"/api/v1/tables/{table}/downloads/release.csv"
    rows = list(csv.DictReader(io.StringIO(caller.get(address).text)))
    assert set(rows[0]) == {"age", "zip"}
    assert "made with other choices" not in caller.get(f"/t/{table}/release").text
    caller.post(f"/api/v1/tables/{table}/undo")
    assert "made with other choices" in caller.get(f"/t/{table}/release").text


def test_a_change_of_another_list_than_was_shown_is_refused(caller: Caller, table: str) -> None:
    address = f"/api/v1/tables/{table}"
    shown = caller.get(f"{address}/choices").json()["version"]
    assert _choose(caller, table, shown, aim__sex="exclude").status_code == 200
    for refused in (
        _choose(caller, table, shown, k="9"),
        caller.post(f"{address}/undo", headers={"If-Match": str(shown)}),
        caller.post(f"{address}/redo", headers={"If-Match": str(shown)}),
        caller.post(f"{address}/anonymize", headers={"If-Match": str(shown)}, json={}),
    ):
        assert refused.status_code == 412
        assert "another window" in refused.json()["error"]
    now = caller.get(f"{address}/choices").json()
    assert now["choices"] == {"aim:sex": "exclude"}
    # Roles, hierarchies and what a policy requires are shown there, too.
    caller.put(f"{address}/roles", json={"roles": {"zip": "insensitive"}})
    roles = caller.get(f"{address}/choices").json()["version"]
    caller.ask(table, "hierarchy", column="age", build="intervals", steps=[5])
    trees = caller.get(f"{address}/choices").json()["version"]
    caller.done(caller.ask(table, "assess"))
    required = caller.get(f"{address}/choices").json()
    assert now["version"] < roles < trees < required["version"]
    assert required["choices"] == {"aim:sex": "exclude"}
    assert required["fields"]["excess"] == "0.2"
    # What the policy requires is no choice, and stays when the verdict is no longer valid.
    caller.put(f"{address}/roles", json={"roles": {"zip": "quasi-identifier"}, "discard": True})
    assert caller.get(f"{address}/choices").json()["fields"]["excess"] == "0.2"
