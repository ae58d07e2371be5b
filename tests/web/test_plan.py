"""A plan made on the page is the same recoding on the command line and in Python."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import crypsis as cr
from crypsis.assessment import check_package
from crypsis.cli import run
from crypsis.protection import Plan
from tests.web.conftest import Caller

ROLES = {"quasi_identifiers": ["age", "zip", "sex"], "sensitive": ["disease"], "excluded": ["name"]}
WORDS = [
    "--person",
    "each record",
    "--exclude",
    "name",
    "--qi",
    "age",
    "--qi",
    "zip",
    "--qi",
    "sex",
    "--sensitive",
    "disease",
]
TREE = "".join(f"{code};{str(code)[:4]};*\n" for code in range(10100, 10120))


@pytest.fixture(params=["local", "full-domain"])
def page(request: Any, caller: Caller, people: pa.Table, tmp_path: Path) -> dict[str, Any]:
    """The release, the plan and the key of the page."""
    buffer = io.BytesIO()
    pa.csv.write_csv(people, buffer)
    (tmp_path / "people.csv").write_bytes(buffer.getvalue())
    table = caller.table("people.csv", buffer.getvalue())
    address = f"/api/v1/tables/{table}"
    roles = {name: role for role, names in _named().items() for name in names}
    assert caller.put(f"{address}/roles", json={"roles": roles}).status_code == 200
    caller.post(f"{address}/files/hierarchy/upload", params={"name": "zip.csv"}, content=TREE.encode())
    assert caller.ask(table, "hierarchy", column="zip", build="file").status_code == 200
    body = {"options": {"k": 5, "excess": 0.2}, "recoding": request.param}
    caller.done(caller.post(f"{address}/anonymize", json=body))
    (tmp_path / "plan.toml").write_text(caller.get(f"{address}/downloads/plan.toml").text)
    return {
        "release": caller.get(f"{address}/downloads/release.csv").content,
        "key": caller.post(f"{address}/key", json={"confirm": True}).json(),
    }


def test_an_attribute_is_released_apart(caller: Caller, people: pa.Table, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pa.csv.write_csv(people, buffer)
    table = caller.table("people.csv", buffer.getvalue())
    address = f"/api/v1/tables/{table}"
    roles = {name: role for role, names in _named().items() for name in names}
    caller.put(f"{address}/roles", json={"roles": roles})
    body = {"options": {"k": 5, "apart": ["disease"]}}
    caller.done(caller.post(f"{address}/try", json=body))
    tried = caller.get(f"{address}/tried").json()
    assert {"column": "disease", "words": "disease apart, in a file of its own", "lost": 0.0} in (
        tried["released"]
    )
    assert "3 of 6 pairs of columns" in tried["separation"]
    assert "3 of 6 pairs of columns" in caller.get(f"/t/{table}/tried").text
    levels = {"zip": 1}
    planned = caller.ask(table, "plan", options=body["options"], levels=levels).json()
    assert ["disease", "", "", "released apart"] in planned["columns"]
    caller.done(caller.post(f"{address}/anonymize", json=body))
    assert "3 of 6 pairs of columns" in caller.get(f"/t/{table}/release").text
    header = caller.get(f"{address}/downloads/release.csv").text.splitlines()[0]
    assert "disease" not in header
    apart = caller.get(f"{address}/downloads/release.apart-1.csv").content
    values = pa.csv.read_csv(io.BytesIO(apart))
    assert values.column_names == ["disease"]
    assert sorted(values["disease"].to_pylist()) == sorted(people["disease"].to_pylist())
    (tmp_path / "plan.toml").write_text(caller.get(f"{address}/downloads/plan.toml").text)
    assert Plan.load(tmp_path / "plan.toml").apart == (("disease",),)
    caller.done(caller.post(f"{address}/package", json={}))
    (tmp_path / "x.zip").write_bytes(caller.get(f"{address}/downloads/release.zip").content)
    found = check_package(tmp_path / "x.zip")
    assert found.valid
    (file,) = [one for one in found.manifest.files if one.part == "apart"]
    assert (file.name, file.sha256) == ("release.apart-1.csv", hashlib.sha256(apart).hexdigest())
    caller.done(caller.post(f"{address}/anonymize", json={"options": {"k": 5}}))
    assert caller.get(f"{address}/downloads/release.apart-1.csv").status_code == 404


def _named() -> dict[str, list[str]]:
    names = ("quasi-identifier", "sensitive", "excluded")
    return dict(zip(names, ROLES.values(), strict=True))


def test_a_plan_of_the_page_gives_the_same_release(
    page: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    plan = Plan.load("plan.toml")
    data = cr.read("people.csv", types={"zip": "text"}, **ROLES)
    plan.apply(data, seed=page["key"]["seed"]).write("python.csv")
    assert Path("python.csv").read_bytes() == page["release"]
    command = ["anonymize", "people.csv", *WORDS, "--plan", "plan.toml"]
    command += ["--type", "zip=text"]
    assert run([*command, "-o", "cli.csv", "--keep-order"]) == 0
    header, *rows = page["release"].splitlines(keepends=True)
    order = page["key"]["row_map"]
    in_order = [row for _, row in sorted(zip(order, rows, strict=True))]
    assert Path("cli.csv").read_bytes() == header + b"".join(in_order)
    text = Path("people.csv").read_text()
    Path("people.csv").write_text(text.replace("10107", "20107", 1))
    capsys.readouterr()
    assert run([*command, "-o", "new.csv"]) == 2
    assert "1 value of column 'zip' is not in its hierarchy." in capsys.readouterr().err
    assert not Path("new.csv").exists()
