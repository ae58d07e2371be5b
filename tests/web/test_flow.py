"""From a file to a safe release and the papers that go with it, as a program does it."""

from __future__ import annotations

import csv
import io
import json
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import betaincinv

import crypsis as cr
from crypsis.assessment import check_package
from crypsis.demo import write_demo
from crypsis.policies.findings import Verdict
from crypsis.web import GivenSource, ListeningServer
from crypsis.web.operations import operation
from crypsis.web.operations._session import TableSession
from tests.web.conftest import Caller, running

QI = ["age", "zip", "sex"]


def _bytes(people: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pa.csv.write_csv(people, buffer)
    return buffer.getvalue()


def _download(caller: Caller, table: str, name: str) -> str:
    answer = caller.get(f"/api/v1/tables/{table}/downloads/{name}")
    assert answer.status_code == 200, (name, answer.text)
    assert answer.headers["content-disposition"].startswith("attachment")
    return answer.text


@pytest.fixture(scope="module")
def made(server: ListeningServer, people: pa.Table) -> tuple[str, dict[str, Any]]:
    """A release made of the people, with what the policy asks for."""
    with Caller(server) as caller:
        table = caller.table("people.csv", _bytes(people))
        caller.put(f"/api/v1/tables/{table}/roles", json={"accept": True})
        caller.done(caller.ask(table, "assess"))
        requirements = caller.get(f"/api/v1/tables/{table}/assessment").json()["requirements"]
        options = {**requirements, "k": int(requirements["k"])}
        body = {"options": options, "recoding": "full-domain", "masks": {"name": {"method": "pseudonym"}}}
        caller.done(caller.post(f"/api/v1/tables/{table}/anonymize", json=body))
        return table, caller.get(f"/api/v1/tables/{table}/release").json()


def test_columns_and_guesses(caller: Caller, opened: Callable[[], str]) -> None:
    found = caller.get(f"/api/v1/tables/{opened()}").json()
    assert found["rows"] == 900
    assert found["guesses"] == 5
    roles = {one["column"]: one["role"] for one in found["columns"]}
    assert roles["name"] == "identifier"
    assert roles["disease"] == "sensitive"
    assert all(one["reason"] for one in found["columns"])
    assert "Zebedee" not in json.dumps(found)


def test_the_verdict_is_that_of_assess(caller: Caller, people: pa.Table, made: Any) -> None:
    shown = caller.get(f"/api/v1/tables/{made[0]}/assessment").json()
    same = cr.assess(
        people,
        identifiers=["name"],
        quasi_identifiers=QI,
        sensitive=["disease"],
        name="people.csv",
        person="each record",
    )
    assert shown["verdict"] == same.verdict.value == Verdict.NOT_SAFE.value
    assert [one["statement"] for one in shown["findings"]][:3] == [one.statement for one in same.findings][:3]
    # One correct link in twenty: the release is compared with the original that is here.
    assert shown["requirements"]["k"] == 20
    assert shown["requirements"]["excess"] == 0.2
    report = json.loads(_download(caller, made[0], "report.json"))
    assert report["result"]["verdict"] == "not safe"


def test_behind_a_finding(caller: Caller, people: pa.Table, opened: Callable[[], str]) -> None:
    table = opened()
    hidden = caller.ask(table, "causes", question="singling_out", columns=QI, class_size=5).json()
    rows = Counter(zip(*(people[name].to_pylist() for name in QI), strict=True))
    small = sum(count for count in rows.values() if count < 5)
    assert hidden["share"] == pytest.approx(small / 900)
    without = {one["column"]: one["without"] for one in hidden["without"]}
    fewer = Counter(zip(*(people[name].to_pylist() for name in ("age", "sex")), strict=True))
    expected = sum(count for count in fewer.values() if count < 5) / 900
    assert without["zip"] == pytest.approx(expected)
    assert hidden["alike"] is None
    assert all(one["values"] is None for one in hidden["groups"])
    asked = {"question": "singling_out", "columns": QI, "reveal": True}
    shown = caller.ask(table, "causes", **asked).json()
    assert shown["groups"][0]["size"] == min(rows.values())
    first = shown["groups"][0]["values"]
    assert rows[(int(first[0]), first[1], first[2])] == shown["groups"][0]["size"]
    secret = {"question": "inference", "columns": ["disease", *QI], "reveal": True}
    guessed = caller.ask(table, "causes", **secret).json()
    assert guessed["prior"] == pytest.approx(max(Counter(people["disease"].to_pylist()).values()) / 900)


def test_what_if_is_what_comes_to_be(caller: Caller, people: pa.Table, opened: Callable[[], str]) -> None:
    table = opened()
    caller.done(caller.ask(table, "preview"))
    shown = caller.ask(table, "what-if", k=5).json()
    rows = Counter(zip(*(people[name].to_pylist() for name in QI), strict=True))
    assert shown["classes"] == len(rows)
    assert shown["rows_below"] == sum(count for count in rows.values() if count < 5)
    coarse = caller.ask(table, "what-if", k=5, levels={"zip": 2}).json()
    cut = Counter((a, z[:3], s) for a, z, s in zip(*(people[n].to_pylist() for n in QI), strict=True))
    assert coarse["classes"] == len(cut)
    allowed = caller.ask(table, "what-if", k=5, population=10**6).json()["allowed"]
    assert {one["column"] for one in allowed} == set(QI)
    curve = caller.ask(table, "curve", k=5).json()["points"]
    assert [one["loss"] for one in curve] == sorted(one["loss"] for one in curve)
    assert curve[-1]["rows_below"] == 0
    assert caller.ask(table, "what-if", k=5, levels={"zip": 99}).status_code == 400
    assert caller.ask(table, "what-if", k=5, levels={"other": 1}).status_code == 400


def test_the_release_meets_its_requirements(caller: Caller, people: pa.Table, made: Any) -> None:
    table, shown = made
    text = _download(caller, table, "release.csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    classes = Counter(tuple(row[name] for name in QI) for row in rows)
    assert min(classes.values()) >= 20
    assert len(rows) == shown["rows_after"]
    states = {(one["question"], one["status"]) for one in shown["after"]["findings"]}
    assert "exceeded" not in {status for _, status in states}, shown["after"]["reasons"]
    assert ("linkage", "not asked") not in states  # the original is here, so links are tried
    assert shown["measured"]["excess"] <= 0.2
    # Diseases do not depend on the quasi-identifiers, so the baseline is about their share.
    whole = Counter(people["disease"].to_pylist())
    for one in classes:
        inside = Counter(row["disease"] for row in rows if tuple(row[n] for n in QI) == one)
        size = sum(inside.values())
        for value, count in inside.items():
            assert count < 0.9 * size
            lower = betaincinv(count, size - count + 1, 0.05)
            assert lower - whole[value] / 900 <= 0.2 + 0.1
    assert "Zebedee" not in text  # pseudonyms stand for the names
    assert len({row["name"] for row in rows}) == len(rows)


def test_what_goes_with_the_release(caller: Caller, made: Any, server: ListeningServer) -> None:
    table, shown = made
    statement = _download(caller, table, "release.csv.statement.md")
    assert "How this release was made" in statement
    found = json.loads(_download(caller, table, "release.csv.statement.json"))
    assert found["requirements"]["k"] == 20
    assert "[[columns]]" in _download(caller, table, "plan.toml")
    report = json.loads(_download(caller, table, "report-after.json"))["result"]
    assert report["verdict"] == shown["after"]["verdict"]
    assert "</html>" in _download(caller, table, "report-after.html")
    for name in caller.get(f"/api/v1/tables/{table}").json()["downloads"]:
        if name != "release.zip":
            assert "Zebedee" not in _download(caller, table, name), name
        assert "seed" not in name
    # The key comes on a confirmation of its own, and never by an address.
    assert caller.get(f"/api/v1/tables/{table}/downloads/reidentification.key.json").status_code == 404
    assert caller.post(f"/api/v1/tables/{table}/key", json={}).status_code == 422
    assert caller.post(f"/api/v1/tables/{table}/key", json={"confirm": False}).status_code == 422
    key = caller.post(f"/api/v1/tables/{table}/key", json={"confirm": True})
    assert key.json()["format"] == "crypsis key 1"
    assert key.json()["pseudonyms"]["name"]
    folder = server.app.state.workspace.tables.get(table).folder
    assert stat.S_IMODE((folder / "reidentification.key.json").stat().st_mode) == 0o600
    page = caller.get(f"/t/{table}/release").text
    assert key.json()["pseudonyms"]["name"] not in page


def test_the_dossier_and_the_package(caller: Caller, made: Any, tmp_path: Path) -> None:
    table, shown = made
    body = {"purpose": "a study of <b>coughs</b>", "conditions": ["not to be joined"]}
    caller.done(caller.post(f"/api/v1/tables/{table}/package", json=body))
    dossier = _download(caller, table, "dossier.html")
    assert "a study of &lt;b&gt;coughs&lt;/b&gt;" in dossier
    assert "not to be joined" in dossier
    assert "Zebedee" not in dossier
    content = caller.get(f"/api/v1/tables/{table}/downloads/release.zip").content
    (tmp_path / "release.zip").write_bytes(content)
    found = check_package(tmp_path / "release.zip")
    assert found.valid
    assert found.manifest.verdict == shown["after"]["verdict"]
    assert not any("key" in one.name for one in found.manifest.files)
    assert caller.post(f"/api/v1/tables/{table}/package", json={"title": "x" * 999}).status_code == 422


def test_hierarchies(caller: Caller, people: pa.Table, tmp_path: Path) -> None:
    table = caller.table("people.csv", _bytes(people.slice(0, 300)))
    built = caller.ask(table, "hierarchy", column="age", build="intervals", steps=[5, 10])
    assert built.json()["counts"][1:] == [9, 5, 1]
    caller.done(caller.ask(table, "preview"))
    options = {"options": {"k": 3}, "levels": {"age": 2}}
    plan = caller.post(f"/api/v1/tables/{table}/plan", json=options).json()["columns"]
    assert next(row for row in plan if row[0] == "age")[3].startswith("level 2")
    tree = "".join(f"{code};{code[:4]}*;*\n" for code in sorted(set(people["zip"].to_pylist())))
    upload = f"/api/v1/tables/{table}/files/hierarchy/upload"
    caller.post(upload, params={"name": "zip.csv"}, content=tree.encode())
    assert caller.ask(table, "hierarchy", column="zip", build="file").status_code == 200
    assert caller.get(f"/api/v1/tables/{table}").json()["hierarchies"] == ["age", "zip"]
    caller.post(upload, params={"name": "zip.csv"}, content=b"10100;1*;*\n")
    short = caller.ask(table, "hierarchy", column="zip", build="file")
    assert short.status_code == 400
    assert "are not in its hierarchy" in short.json()["error"]
    wrong = caller.ask(table, "hierarchy", column="sex", build="intervals", steps=[5])
    assert wrong.status_code == 400
    caller.ask(table, "hierarchy", column="age", build="none")
    assert caller.get(f"/api/v1/tables/{table}").json()["hierarchies"] == ["zip"]


def test_two_tables_do_not_mix(caller: Caller, people: pa.Table) -> None:
    first = caller.table("first.csv", _bytes(people.slice(0, 100)))
    second = caller.table("second.csv", b"height,town\n" + b"180,Ulm\n170,Bonn\n" * 20)
    caller.put(f"/api/v1/tables/{first}/roles", json={"roles": {"age": "sensitive"}})
    shown = caller.get(f"/api/v1/tables/{second}").json()
    assert [one["column"] for one in shown["columns"]] == ["height", "town"]
    assert shown["rows"] == 40
    wrong = caller.put(f"/api/v1/tables/{second}/roles", json={"roles": {"age": "insensitive"}})
    assert wrong.status_code == 400
    caller.delete(f"/api/v1/tables/{first}")
    assert caller.get(f"/api/v1/tables/{second}").status_code == 200
    assert caller.get(f"/t/{first}/columns").status_code == 404


def test_other_roles_forget_what_was_found(caller: Caller, people: pa.Table) -> None:
    table = caller.table("people.csv", _bytes(people.slice(0, 50)))
    caller.done(caller.ask(table, "preview"))
    caller.put(f"/api/v1/tables/{table}/roles", json={"roles": {"zip": "insensitive"}})
    assert caller.ask(table, "what-if").status_code == 409


def test_two_files(caller: Caller, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    before = rng.normal(size=(200, 2))
    after = before + 0.05 * rng.normal(size=before.shape)

    def text(table: Any) -> bytes:
        return b"x,y\n" + "\n".join(f"{a},{b}" for a, b in table).encode()

    work = caller.post("/api/v1/tables", json={"kind": "comparison"}).json()["id"]
    assert caller.ask(work, "compare").status_code == 409
    for slot, table in (("original", before), ("masked", after)):
        address = f"/api/v1/tables/{work}/files/{slot}/upload"
        caller.post(address, params={"name": f"{slot}.csv"}, content=text(table))
    caller.done(caller.ask(work, "compare"))
    found = caller.get(f"/api/v1/tables/{work}/found").json()
    assert found["verdict"] == cr.linkage.compare(before, after).verdict == "not safe"
    assert "comparison" in _download(caller, work, "comparison.html")

    check = caller.post("/api/v1/tables", json={"kind": "subject"}).json()["id"]
    address = f"/api/v1/tables/{check}/files/released/upload"
    caller.post(address, params={"name": "r.csv"}, content=text(after))
    caller.done(caller.ask(check, "verify", record={"x": "0.5", "y": "-1.25"}))
    shown = caller.get(f"/api/v1/tables/{check}/found").json()
    mine = cr.linkage.verify_record({"x": after[:, 0], "y": after[:, 1]}, {"x": 0.5, "y": -1.25})
    assert [one["distance"] for one in shown["columns"]] == list(mine.distances)
    bad = caller.ended(caller.ask(check, "verify", record={"x": "one-0451"}))
    assert bad["state"] == "failed"
    assert "0451" not in bad["error"]


def test_an_attack_on_pseudonyms(caller: Caller) -> None:
    work = caller.post("/api/v1/tables", json={"kind": "attack"}).json()["id"]
    files = {
        "known": b"name,age\nAnn,30\nBob,30\nCy,41\n",
        "released": b"id,age\nx,41\ny,30\nz,30\n",
        "truth": b"name,id\nAnn,y\nBob,z\nCy,x\n",
    }
    for slot, body in files.items():
        address = f"/api/v1/tables/{work}/files/{slot}/upload"
        caller.post(address, params={"name": f"{slot}.csv"}, content=body)
    asked = {"kind": "join", "on": {"age": 0}, "item": "name", "pseudonym": "id", "max_cracks": 1}
    caller.done(caller.post(f"/api/v1/tables/{work}/attack", json=asked))
    found = caller.get(f"/api/v1/tables/{work}/found").json()
    assert found["expected_cracks"] == "2"  # Cy for certain, Ann and Bob by half each
    assert found["decision"]["verdict"] == "not safe"
    assert "Ann" not in json.dumps(found)


def test_all_four_questions(caller: Caller, tmp_path: Path) -> None:
    files = write_demo(tmp_path, rows=300)
    table = caller.table("released.csv", files.masked.read_bytes())
    for slot, name in (
        ("original", "people"),
        ("released", "baskets"),
        ("known", "expected"),
        ("truth", "truth"),
    ):
        body = (tmp_path / f"{name}.csv").read_bytes()
        address = f"/api/v1/tables/{table}/files/{slot}/upload"
        assert caller.post(address, params={"name": f"{name}.csv"}, content=body).status_code == 201
    caller.done(caller.ask(table, "assess"))
    shown = caller.get(f"/api/v1/tables/{table}/assessment").json()
    same = cr.assess(
        cr.read(files.masked),
        cr.read(files.original),
        cr.pseudonyms.load_attack(files.attack),
        name="released.csv",
        person="each record",
    )
    states = {one["question"]: one["status"] for one in shown["answers"]}
    assert states == {one.question: one.status.value for one in same.answers}
    assert "not asked" not in states.values()
    page = caller.get(f"/t/{table}/verdict").text
    assert page.count('role="tabpanel"') == 4
    assert "--" not in " ".join(one["headline"] for one in shown["answers"])


def test_a_source_of_the_command_line_is_read_where_it_is(tmp_path: Path, people_csv: Path) -> None:
    given = GivenSource(str(people_csv), "people.csv", {"types": {"zip": "text"}}, {"age": "insensitive"})
    before = people_csv.stat()
    with running(given=(given,), folder=tmp_path) as server, Caller(server) as caller:
        job = caller.done(caller.post("/api/v1/tables/given", json={"place": 0}))
        shown = caller.get(f"/api/v1/tables/{job['table']}").json()
        kinds = {one["column"]: one["kind"] for one in shown["columns"]}
        assert kinds["zip"] == "text"
        assert {one["column"] for one in shown["columns"] if not one["guessed"]} == {"age"}
        inside = server.app.state.workspace.private.path
        assert list(inside.rglob("*.csv")) == []
        again = caller.put(f"/api/v1/tables/{job['table']}/reading", json={"missing_markers": ["f"]})
        caller.done(again)
        shown = caller.get(f"/api/v1/tables/{job['table']}").json()
        assert next(one for one in shown["columns"] if one["column"] == "sex")["missing"] > 0
    assert people_csv.stat().st_mtime_ns == before.st_mtime_ns
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_was_written_and_not_measured_is_not_there(
    caller: Caller, people: pa.Table, server: ListeningServer
) -> None:
    """As after a job that was cancelled between writing the file and assessing it."""
    table = caller.table("people.csv", _bytes(people))
    caller.put(f"/api/v1/tables/{table}/roles", json={"accept": True})
    options = {"k": 20}
    caller.done(caller.post(f"/api/v1/tables/{table}/anonymize", json={"options": options}))
    address = f"/api/v1/tables/{table}"
    assert "release.csv" in caller.get(address).json()["downloads"]
    # Requirements that cannot be met leave the release that is there.
    refused = caller.post(f"{address}/anonymize", json={"options": {"k": 100_000}})
    while (job := caller.get(f"/api/v1/jobs/{refused.json()['id']}").json())["state"] == "running":
        time.sleep(0.05)
    assert "release.csv" in caller.get(address).json()["downloads"], job
    file = server.app.state.workspace.tables.get(table).folder / "release.csv"
    file.write_bytes(file.read_bytes() + b"another,row\n")
    assert caller.get(f"{address}/release").status_code == 409
    assert not {"release.csv", "plan.toml"} & {*caller.get(address).json()["downloads"]}
    assert caller.get(f"{address}/downloads/release.csv").status_code == 404
    assert caller.post(f"{address}/key", json={"confirm": True}).status_code == 409
    assert caller.post(f"{address}/package", json={}).status_code == 409


def test_what_is_asked_next_is_loaded_before() -> None:
    session = TableSession()
    assert operation("prepare")(session) == {}
    assert (session.preview, session.made) == (None, None)
    assert {"crypsis.web.operations._assess", "sklearn.ensemble"} <= set(sys.modules)
