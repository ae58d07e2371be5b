"""Attacks on the server: no request, connection, upload or neighbor takes it over or stops it."""

from __future__ import annotations

import io
import os
import re
import socket
import sqlite3
import struct
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from crypsis.web import ListeningServer
from crypsis.web.connections import MAX_CONNECTIONS
from crypsis.web.limits import folder_bytes
from tests.web.conftest import Caller, running

SLOW = "/api/v1/tables/upload?name=slow.csv"


def _address(server: ListeningServer) -> str:
    return f"http://127.0.0.1:{server.port}"


@contextmanager
def _browser(server: ListeningServer) -> Iterator[tuple[httpx.Client, str]]:
    """A client that came in through the start address, and the path of its pages."""
    with httpx.Client(base_url=_address(server), timeout=30) as client:
        opened = client.get("/", params={"token": server.token})
        root = re.search(r"url=(/s/[^/]+)/", opened.text)
        assert root is not None
        yield client, root[1]


def test_a_large_cookie_does_not_stop_the_server() -> None:
    with running() as server:
        cookie = 'x="' + "\\" * 60_000 + '"'
        began = time.monotonic()
        answer = httpx.get(f"{_address(server)}/", headers={"Cookie": cookie}, timeout=30)
        assert answer.status_code in (400, 431)
        below = {"Cookie": 'x="' + "\\" * 15_000 + '"'}
        assert httpx.get(f"{_address(server)}/", headers=below, timeout=30).status_code == 403
        assert time.monotonic() - began < 5


def test_the_cookie_of_a_neighboring_port_is_of_no_use() -> None:
    """Browsers send cookies to every port of a host; ours only below a path nobody can guess."""
    with running() as server, _browser(server) as (client, root):
        (cookie,) = client.cookies.jar
        assert cookie.path == f"{root}/"
        assert client.get(f"{root}/").status_code == 200
        stolen = {"Cookie": f"{cookie.name}={cookie.value}"}
        for path in ("/", "/api/v1/tables", "/s/guess/", f"{root}x/", f"{root[:-1]}/"):
            assert httpx.get(_address(server) + path, headers=stolen).status_code == 403
        # What the browser sends to another port of this host: no cookie, whatever path it asks.
        other = httpx.Client(cookies=client.cookies, base_url="http://127.0.0.1:1")
        with other:
            sent = other.build_request("GET", "/").headers.get("cookie", "")
            assert str(cookie.value) not in sent


def test_pages_link_below_their_own_path() -> None:
    with running() as server, _browser(server) as (client, root):
        for page in ("/", "/compare", "/verify", "/pseudonyms", "/api"):
            text = client.get(root + page).text
            links = re.findall(r'(?:href|src)="(/[^"]*)"', text)
            assert links
            assert all(link.startswith(root + "/") for link in links), page


def test_half_open_connections_do_not_stop_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.web.connections.HEADER_SECONDS", 1.0)
    with running() as server:
        links = []
        for _ in range(MAX_CONNECTIONS + 100):
            link = socket.create_connection(("127.0.0.1", server.port), 5)
            link.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            links.append(link)
        until = time.monotonic() + 20
        status = 0
        while status != 403 and time.monotonic() < until:
            try:
                status = httpx.get(f"{_address(server)}/", timeout=5).status_code
            except httpx.TransportError:
                time.sleep(0.2)
        assert status == 403
        for link in links:
            link.close()


def _workbook(declared: int | None) -> bytes:
    """A workbook whose sheet is 60 MB of spaces, and says that it is `declared` bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", b" " * 60_000_000)
    data = bytearray(buffer.getvalue())
    if declared is not None:
        at = data.rindex(b"PK\x01\x02")
        struct.pack_into("<I", data, at + 24, declared)
    return bytes(data)


@pytest.mark.parametrize("declared", [None, 1_000])
def test_a_workbook_is_measured_not_believed(declared: int | None) -> None:
    with running(job_bytes=200_000_000) as server, Caller(server) as caller:
        body = _workbook(declared)
        answer = caller.post("/api/v1/tables/upload", params={"name": "a.xlsx"}, content=body)
        assert answer.status_code == 413
        assert "larger than" in answer.json()["error"]


def test_an_endless_view_is_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "endless.sqlite"
    with sqlite3.connect(path) as base:
        base.execute(
            "create view v as with recursive c(x) as (select 1 union all select x + 1 from c) "
            "select x, hex(zeroblob(500)) as y from c"
        )
    place = tmp_path / "serve"
    place.mkdir()
    limits = {"disk_bytes": 60_000_000, "job_seconds": 20.0, "folder": place}
    with running(**limits) as server, Caller(server) as caller:
        answer = caller.post("/api/v1/tables/upload", params={"name": "v.sqlite"}, content=path.read_bytes())
        if answer.status_code == 202:
            job = caller.ended(answer)
            assert job["state"] == "failed"
        time.sleep(0.5)
        assert folder_bytes(place) < 60_000_000


def test_two_uploads_to_one_slot_do_not_mix() -> None:
    first, second = b"a,b\n" + b"1,2\n" * 200_000, b"c,d\n" + b"3,4\n" * 200_000
    with running() as server, Caller(server) as caller:
        table = caller.post("/api/v1/tables", json={}).json()["id"]

        def send(body: bytes) -> int:
            with Caller(server) as own:
                url = f"/api/v1/tables/{table}/files/data/upload"
                return own.post(url, params={"name": "x.csv"}, content=body).status_code

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(send, [first, second] * 4))
        folder = next(Path(server.app.state.workspace.private.path).glob("*/data.csv"))
        assert folder.read_bytes() in (first, second)


def test_an_upload_replaces_the_one_before() -> None:
    with running() as server, Caller(server) as caller:
        table = caller.post("/api/v1/tables", json={}).json()["id"]
        url = f"/api/v1/tables/{table}/files/data/upload"
        caller.post(url, params={"name": "x.csv"}, content=b"a\n1\n")
        caller.post(url, params={"name": "x.json"}, content=b'{"a": 1}\n')
        found = [one.name for one in Path(server.app.state.workspace.private.path).glob("*/data.*")]
        assert found == ["data.json"]


def test_a_quick_answer_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions outside of jobs are stopped in time, and the work behind them ends."""
    monkeypatch.setattr("crypsis.web.open_tables._QUICK_SECONDS", 0.0)
    monkeypatch.setattr("crypsis.web.limits._GRACE_SECONDS", 0.2)
    with running() as server, Caller(server) as caller:
        rows = "\n".join(f"{i % 97},{i % 89},{i % 83}" for i in range(200_000))
        table = caller.table("t.csv", f"a,b,c\n{rows}\n".encode())
        roles = {"roles": {"a": "quasi-identifier", "b": "quasi-identifier", "c": "sensitive"}}
        caller.put(f"/api/v1/tables/{table}/roles", json=roles)
        answer = caller.ask(table, "causes", question="singling_out", columns=["a", "b"])
        assert answer.status_code == 409
        assert "longer than" in answer.json()["error"]
        workers = threading.active_count()
        assert workers < 100


def _begun(server: ListeningServer, address: str) -> socket.socket:
    """An upload of which the first bytes came and the rest does not."""
    begun = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    begun.sendall(
        f"POST {address} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1000\r\n"
        f"Authorization: Bearer {server.token}\r\n\r\nage,zip\n".encode()
    )
    return begun


def _arriving(server: ListeningServer, count: int) -> None:
    """Wait until so many files are on their way."""
    folder = server.app.state.workspace.private.path
    until = time.monotonic() + 20
    while len([n for _, _, names in os.walk(folder) for n in names if n.endswith(".partial")]) != count:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_dropped_upload_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    with running(tables=3) as server, Caller(server) as asking:
        table = asking.table("p.csv", b"a,b\n1,2\n")
        another = f"/api/v1/tables/{table}/files/original/upload?name=slow.csv"
        for address in (SLOW, another) * 8:
            begun = _begun(server, address)
            _arriving(server, 1)
            begun.close()
            _arriving(server, 0)
        assert [opened["id"] for opened in asking.get("/api/v1/tables").json()] == [table]
    assert [record.getMessage() for record in caplog.records] == []


def test_stalled_uploads_block_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tables=3) as server, Caller(server) as asking:
        stalled = [_begun(server, SLOW) for _ in range(14)]
        _arriving(server, 14)
        asking.table("p.csv", b"a,b\n1,2\n")
        assert [opened["title"] for opened in asking.get("/api/v1/tables").json()] == ["p.csv"]
        for one in stalled:
            one.close()
        _arriving(server, 0)
        # Nor does one wait for ever: not for a file, and not for any other body.
        monkeypatch.setattr("crypsis.web.security.STALLED_SECONDS", 0.3)
        for address in (SLOW, "/api/v1/tables"):
            with _begun(server, address) as slow:
                assert slow.recv(4096).startswith(b"HTTP/1.1 408 ")
        _arriving(server, 0)
