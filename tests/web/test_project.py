"""What is chosen on the page: tried by the real search, compared, saved and opened again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.web import ListeningServer
from crypsis.web.operations._anonymize import anonymize
from crypsis.web.operations._session import TableSession
from crypsis.web.operations._try import try_release
from tests.web.conftest import Caller

ROWS = [(20 + 7 * i % 31, f"{10100 + 3 * i % 7:05d}", "fm"[i % 2], "abc"[i % 3]) for i in range(120)]
CSV = "age,zip,sex,ward\n" + "".join(f"{a},{z},{s},{w}\n" for a, z, s, w in ROWS)
ROLES = {**dict.fromkeys(("age", "zip", "sex"), "quasi-identifier"), "ward": "insensitive"}


@pytest.fixture(scope="module")
def table(server: ListeningServer) -> str:
    with Caller(server) as caller:
        found = caller.table("p.csv", CSV.encode())
        caller.put(f"/api/v1/tables/{found}/roles", json={"roles": ROLES})
        return found


def _same(**options: Any) -> Any:
    names = ("age", "zip", "sex", "ward")
    data = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(names)})
    roles = {"quasi_identifiers": ["age", "zip", "sex"], "insensitive": ["ward"], **options}
    return cr.anonymize(data, **roles, person="each record")


def test_a_trial_is_the_release(caller: Caller, table: str) -> None:
    options = {"k": 4, "keep": {"sex": 0}, "weights": {"zip": 0}, "average_risk": 0.2}
    caller.done(caller.post(f"/api/v1/tables/{table}/try", json={"options": options}))
    tried = caller.get(f"/api/v1/tables/{table}/tried").json()
    same = _same(**options)
    assert tried["released"][0]["words"] in same.released_values.values()
    assert tried["loss"] == pytest.approx(same.loss.ncp)
    assert (tried["sampled"], tried["rows"]) == (False, 120)
    assert "examples" not in tried["released"][0]
    page = caller.get(f"/t/{table}/tried").text
    assert "sex as it is" in page
    excluded = {"k": 4, "exclude": ["age"]}
    caller.done(caller.post(f"/api/v1/tables/{table}/try", json={"options": excluded}))
    words = [one["words"] for one in caller.get(f"/api/v1/tables/{table}/tried").json()["released"]]
    assert "age is not released" in words
    impossible = {"k": 200}
    caller.done(caller.post(f"/api/v1/tables/{table}/try", json={"options": impossible}))
    assert caller.get(f"/api/v1/tables/{table}/tried").json()["failure"]


def test_other_work_cancels_a_trial(caller: Caller, table: str) -> None:
    begun = caller.post(f"/api/v1/tables/{table}/try", json={"options": {"k": 3}})
    again = caller.post(f"/api/v1/tables/{table}/try", json={"options": {"k": 5}})
    assert (begun.status_code, again.status_code) == (202, 202)
    assert caller.get(f"/api/v1/tables/{table}").json()["job"] is None
    assert caller.ended(begun)["state"] in ("cancelled", "done")
    caller.done(again)
    assert caller.get(f"/api/v1/tables/{table}/tried").json()["smallest"] >= 5


def test_groups_of_values(caller: Caller, table: str) -> None:
    shown = caller.ask(table, "values", column="zip", reveal=True).json()
    counted = Counter(row[1] for row in ROWS)
    assert {one["value"]: one["count"] for one in shown["values"]} == counted
    first = sorted(counted)[:3]
    asked = {"column": "zip", "build": "groups", "groups": {"south": first}, "reveal": True}
    built = caller.ask(table, "hierarchy", **asked).json()
    assert built["counts"] == [7, 5, 1]
    assert [line for line in built["first"] if line[1] == "south"] == [
        [value, "south", "*"] for value in first
    ]
    wrong = {**asked, "groups": {"south": ["99999"]}}
    assert caller.ask(table, "hierarchy", **wrong).status_code == 400
    caller.ask(table, "hierarchy", column="zip", build="none")


def test_a_project_is_saved_and_opened(caller: Caller, table: str) -> None:
    address = f"/api/v1/tables/{table}/choices"
    caller.patch(address, json={"changes": {"k": "5"}})
    assert caller.patch(address, json={"changes": {"k": "9"}}).json()["steps"] == 2
    asked = {"column": "zip", "build": "groups", "groups": {"s": ["10100"]}}
    caller.ask(table, "hierarchy", **asked)
    bare = caller.get(f"/api/v1/tables/{table}/project")
    assert "10100" not in bare.text
    project = caller.get(f"/api/v1/tables/{table}/project", params={"hierarchies": True})
    other = caller.table("p.csv", CSV.encode())
    upload = f"/api/v1/tables/{other}/files/project/upload"
    caller.post(upload, params={"name": "x.json"}, content=project.content)
    caller.done(caller.put(f"/api/v1/tables/{other}/project", json={}))
    state = caller.get(f"/api/v1/tables/{other}").json()
    assert {one["column"]: one["role"] for one in state["columns"]} == ROLES
    assert (state["guesses"], state["hierarchies"]) == (0, ["zip"])
    assert caller.get(f"/api/v1/tables/{other}/choices").json()["choices"]["k"] == "9"
    caller.post(upload, params={"name": "x.json"}, content=b'{"format": "other"}')
    assert caller.put(f"/api/v1/tables/{other}/project", json={}).status_code == 400
    back = caller.post(f"/api/v1/tables/{table}/undo").json()
    assert (back["choices"], back["steps"], back["undone"]) == ({"k": "5"}, 1, 1)
    assert back["history"] == [{"k": "5"}, {"k": "9"}]
    again = caller.post(f"/api/v1/tables/{table}/redo", params={"steps": 7}).json()
    assert (again["choices"]["k"], again["steps"], again["undone"]) == ("9", 2, 0)
    caller.post(f"/api/v1/tables/{table}/undo")
    assert caller.patch(address, json={"changes": {"k": "6"}}).json()["undone"] == 0
    caller.post(f"/api/v1/tables/{table}/undo", params={"steps": 9})


def test_requirements_of_the_command_line_are_those_of_the_page(caller: Caller, table: str) -> None:
    """(c,l)-diversity, what must be preserved, sensitive attributes that may change, k-map."""
    options = {
        "k": 3,
        "recursive_diversity": [3, 2],
        "preserve": [["sex"], ["sex", "zip"]],
        "may_change": ["ward"],
        "suppression": 0.5,
    }
    roles = f"/api/v1/tables/{table}/roles"
    caller.put(roles, json={"roles": {"ward": "sensitive"}, "discard": True})
    caller.done(caller.ask(table, "anonymize", options=options))
    made = caller.get(f"/api/v1/tables/{table}/release").json()
    assert made["requirements"]["recursive_diversity"] == [3, 2]
    asked = {"options": {"k": 2, "k_map": 4, "suppression": 0.5}}
    assert "upload it" in caller.ended(caller.ask(table, "anonymize", **asked))["error"]
    upload = f"/api/v1/tables/{table}/files/population/upload"
    rows = CSV.splitlines()
    everyone = "\n".join([rows[0], *rows[1:], *rows[1:]])
    caller.post(upload, params={"name": "all.csv"}, content=everyone.encode())
    caller.done(caller.ask(table, "anonymize", **asked))
    made = caller.get(f"/api/v1/tables/{table}/release").json()
    assert made["requirements"]["k_map"] == 4 <= made["measured"]["k_map"]
    caller.put(roles, json={"roles": ROLES, "discard": True})


def test_roles_as_a_file(caller: Caller, table: str) -> None:
    notes = {
        "ward": {"sign_off": "Known to the hospital alone."},
        "zip": {"harmless": ["10100", 7], "priors": {"10101": 0.25}, "public_presence": "A register."},
    }
    body = {"notes": notes, "units": {"household": "zip"}}
    caller.put(f"/api/v1/tables/{table}/roles", json=body)
    file = caller.get(f"/api/v1/tables/{table}/roles.toml")
    other = caller.table("p.csv", CSV.encode())
    upload = f"/api/v1/tables/{other}/files/roles/upload"
    caller.post(upload, params={"name": "roles.toml"}, content=file.content)
    state = caller.put(f"/api/v1/tables/{other}/roles", json={"file": True}).json()
    assert {one["column"]: one["role"] for one in state["columns"]} == ROLES
    assert {one["column"]: one["note"] for one in state["columns"] if one["note"]} == notes
    no_reason = caller.put(f"/api/v1/tables/{other}/roles", json={"notes": {"ward": {"sign_off": "-"}}})
    assert (no_reason.status_code, "must say why" in no_reason.text) == (400, True)
    assert state["units"] == {"person": "each record", "household": "zip"}
    empty = {"harmless": [], "priors": {}, "public_presence": ""}
    body = {"units": {"household": ""}, "notes": {"zip": empty}}
    state = caller.put(f"/api/v1/tables/{table}/roles", json=body).json()
    assert {one["column"]: one["note"] for one in state["columns"]}["zip"] == {}


def test_alternatives(caller: Caller, table: str) -> None:
    caller.done(caller.post(f"/api/v1/tables/{table}/explore", json={"options": {"k": 4}}))
    page = caller.get(f"/t/{table}/explored").text
    assert page.count("<circle") >= 5
    assert 'data-recoding="full-domain"' in page


def test_masks_are_drawn_once_for_the_trial_and_the_release(tmp_path: Path) -> None:
    """Noise is drawn by one seed: what was tried is what is released. Other choices are drawn anew."""
    draw = np.random.default_rng(1)
    path = tmp_path / "people.csv"
    ages, incomes = draw.integers(20, 60, 300), draw.normal(50_000, 9_000, 300).round()
    path.write_text("age,income\n" + "\n".join(f"{a},{i}" for a, i in zip(ages, incomes, strict=True)))
    session = TableSession()
    session.folder, session.rows, session.columns = tmp_path, 1_000, 10
    choices: dict[str, Any] = {
        "file": {"path": str(path)},
        "roles": {"age": "quasi-identifier", "income": "insensitive"},
        "options": {"k": 5, "person": "each record"},
        "hierarchies": {},
        "levels": {},
        "recoding": "local",
    }
    noise = {"income": {"method": "noise", "amount": 0.5}}
    seeds = []
    for amount in (0.5, 0.5, 0.4):
        masks = {"income": {**noise["income"], "amount": amount}}
        assert not try_release(session, **choices, masks=noise)["failure"]
        assert session.tried is not None
        tried = session.tried[1]
        anonymize(session, **choices, masks=masks, form="csv", policy="default")
        assert session.made is not None
        seeds.append((tried, session.made[0].key.seed))
    assert [released == tried for tried, released in seeds] == [True, True, False]
    assert None not in seeds[0]
