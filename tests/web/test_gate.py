"""Closed by default: every way in that is not the one way in."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from crypsis.errors import ParameterError
from crypsis.web import ListeningServer, Settings, listen
from crypsis.web.security import POLICY
from tests.web.conftest import Caller

PATHS = ["/", "/compare", "/api", "/api/openapi.json", "/api/v1/tables", "/assets/crypsis.js"]


def _plain(server: ListeningServer, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers)


def _root(page: str) -> str:
    """The path of the pages, as the opening page gives it."""
    return page.partition("url=")[2].partition('/"')[0]


@pytest.mark.parametrize("path", PATHS)
def test_without_token_nothing_is_told(server: ListeningServer, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"crypsis-{server.port}=x"}):
        with _plain(server, **headers) as client:
            answer = client.get(path)
        assert answer.status_code == 403
        assert answer.headers["content-security-policy"] == POLICY
        assert "set-cookie" not in answer.headers


def test_a_wrong_token_in_the_address(server: ListeningServer) -> None:
    with _plain(server) as client:
        for token in ("", "x", server.token[:-1], server.token + "x", "\udcff"):
            answer = client.get(f"/?token={token.encode('utf-8', 'replace').decode()}")
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


def test_the_cookie_is_strict_and_not_the_token(server: ListeningServer) -> None:
    with _plain(server) as client:
        answer = client.get("/", params={"token": server.token})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert server.token not in cookie
        assert server.token not in answer.text
        assert client.get("/").status_code == 403  # the cookie is for the pages' own path
        assert client.get(_root(answer.text) + "/").status_code == 200
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:1", ""]
)
def test_foreign_hosts(server: ListeningServer, host: str) -> None:
    """A page whose name was bound to this machine (DNS rebinding) sends its own name."""
    given = host.format(port=server.port)
    with _plain(server, Authorization=f"Bearer {server.token}", Host=given) as client:
        assert client.get("/api/v1/tables").status_code in (400, 421)


def test_two_hosts_are_none(server: ListeningServer) -> None:
    request = (
        f"GET /api/v1/tables HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nHost: evil.example\r\n"
        f"Authorization: Bearer {server.token}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), 10) as link:
        link.sendall(request.encode())
        answer = link.recv(100)
    assert answer.split()[1] in (b"400", b"421")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}"])
def test_foreign_origins(server: ListeningServer, origin: str) -> None:
    given = origin.format(port=server.port)
    with _plain(server, Authorization=f"Bearer {server.token}", Origin=given) as client:
        assert client.get("/api/v1/tables").status_code == 403
        assert client.post("/api/v1/tables", json={}).status_code == 403


def test_own_origin(server: ListeningServer) -> None:
    origin = f"http://127.0.0.1:{server.port}"
    with _plain(server, Authorization=f"Bearer {server.token}", Origin=origin) as client:
        assert client.get("/api/v1/tables").status_code == 200


def test_a_change_with_the_cookie_needs_the_csrf_token(server: ListeningServer) -> None:
    with _plain(server) as client:
        root = _root(client.get("/", params={"token": server.token}).text)
        csrf = client.get(f"{root}/").text.partition('name="csrf" content="')[2].partition('"')[0]
        assert len(csrf) > 30
        assert client.post(f"{root}/api/v1/tables", json={}).status_code == 403
        wrong = {"X-CSRF-Token": "x" * len(csrf)}
        assert client.post(f"{root}/api/v1/tables", json={}, headers=wrong).status_code == 403
        cross = {"X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"}
        assert client.post(f"{root}/api/v1/tables", json={}, headers=cross).status_code == 403
        made = client.post(f"{root}/api/v1/tables", json={}, headers={"X-CSRF-Token": csrf})
        assert made.status_code == 201
        table = f"{root}/api/v1/tables/{made.json()['id']}"
        assert client.delete(table).status_code == 403
        assert client.delete(table, headers={"X-CSRF-Token": csrf}).status_code == 204


def test_every_answer_carries_the_policy(caller: Caller) -> None:
    for path in (*PATHS, "/nothing", "/api/v1/tables/x", "/api/v1/nothing"):
        answer = caller.get(path)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
    assert "unsafe" not in POLICY


def test_only_loopback(server: ListeningServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_whoever_comes_early_waits(tmp_path: Path) -> None:
    """The address is shown before the first answer; it must not be refused until then."""
    server = listen(Settings(folder=tmp_path))
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5):
            pass
        with pytest.raises(ParameterError):
            listen(Settings(folder=tmp_path), server.port)
    finally:
        server.socket.close()
        server.app.state.workspace.end()


def test_bodies_have_an_end(caller: Caller) -> None:
    """JSON that says how long it is, and JSON that does not."""
    large = b'{"title": "' + b"x" * 3_000_000 + b'"}'
    headers = {"Content-Type": "application/json"}
    shown = caller.post("/api/v1/tables", content=large, headers=headers)
    assert shown.status_code == 413
    pieces = (large[i : i + 65_536] for i in range(0, len(large), 65_536))
    assert caller.post("/api/v1/tables", content=pieces, headers=headers).status_code == 413


def test_what_was_sent_is_not_sent_back(caller: Caller) -> None:
    answer = caller.post("/api/v1/tables", json={"kind": "secret-value-0451"})
    assert answer.status_code == 422
    assert "0451" not in answer.text
    assert "kind" in answer.json()["error"]


def test_200_requests_at_once(server: ListeningServer) -> None:
    async def all_at_once() -> list[int]:
        limits = httpx.Limits(max_connections=200)
        headers = {"Authorization": f"Bearer {server.token}"}
        base = f"http://127.0.0.1:{server.port}"
        async with httpx.AsyncClient(base_url=base, headers=headers, limits=limits, timeout=60) as client:
            paths = ["/", "/api/v1/tables", "/api/v1/jobs", "/assets/crypsis.css", "/t/none"] * 40
            answers = await asyncio.gather(*(client.get(path) for path in paths))
        return [answer.status_code for answer in answers]

    # In a thread of its own: the browser of other tests keeps a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(lambda: asyncio.run(all_at_once())).result()
    assert len(found) == 200
    assert set(found) == {200, 404}
    assert found.count(404) == 40
