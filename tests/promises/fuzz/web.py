"""The web forms as a function of bytes: requests to the whole application, without a network.

The bytes are requests with an empty line between them, each a line `METHOD PATH` and a body. In a
path `{release}`, `{comparison}`, `{subject}` and `{attack}` stand for tables that are open. The
processes of tables answer in this one, so that fuzzing sees the code behind the forms, and every
input finds the tables as they were.
"""

from __future__ import annotations

import asyncio
import atexit
import io
import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, unquote_to_bytes

from crypsis.web.app import create_app
from crypsis.web.errors import from_worker
from crypsis.web.open_tables import OpenTable
from crypsis.web.security import Gate
from crypsis.web.settings import Settings
from crypsis.web.worker import QuestionService
from crypsis.web.worker_process import Question
from tests.promises.fuzz.watch import changes_outside

PLANTED = ("Zebedee", "quinsy", "scrofula")
"""Values of the data: nothing that is answered may hold one, unless it was asked for."""
REVEALING = ("/downloads/release.", "/downloads/plan.toml", "/key", "/columns")
"""What holds values on purpose: the release, the owner's key, and histograms for the owner."""
_KINDS = ("release", "comparison", "subject", "attack")
_STATE = (
    "title",
    "files",
    "hierarchies",
    "roles",
    "notes",
    "profile",
    "assessed",
    "preview",
    "made",
    "found",
)


class Here:
    """A table's process that is this one: same service, same lines, answered before `ask` ends."""

    alive = True

    def __init__(self) -> None:
        self._lines = io.StringIO()
        self._temporary: str | None = None  # each process has its own place for temporary files
        self.service = QuestionService(self._lines)

    def ask(self, do: str, given: dict[str, Any], news: Any = None) -> Question:
        with patch.object(tempfile, "tempdir", self._temporary):
            question = self._asked(do, given, news)
            self._temporary = tempfile.tempdir
        return question

    def _asked(self, do: str, given: dict[str, Any], news: Any) -> Question:
        question = Question(1, news)
        message = json.loads(json.dumps({"id": 1, "do": do, "with": given}))
        self.service._stops[1] = threading.Event()
        self._lines.seek(0)
        self._lines.truncate()
        self.service._answer(message)
        for line in self._lines.getvalue().splitlines():
            told = json.loads(line)
            if "error" in told:
                question.answer.set_exception(from_worker(told["error"]))
            elif "result" in told:
                question.answer.set_result(told["result"])
        return question

    def cancel(self, question: Question) -> None: ...

    def kill(self) -> None: ...

    def memory_bytes(self) -> int:
        return 0


class WorkerPool:
    """Processes that are all this one."""

    def take(self) -> Here:
        return Here()

    def end(self) -> None: ...


class AtOnce:
    """Work is done when it is put in line."""

    def submit(self, do: Callable[..., None], *given: Any) -> Future[None]:
        do(*given)
        return Future()

    def shutdown(self, **_: Any) -> None: ...


class Site:
    """The application with its four tables."""

    def __init__(self) -> None:
        self.place = tempfile.TemporaryDirectory(prefix="fuzz-web-")
        folder = Path(self.place.name).resolve() / "served"
        folder.mkdir()
        self.gate = Gate(80)
        with patch("crypsis.web.open_tables.WorkerPool", WorkerPool):
            self.app = create_app(
                Settings(folder=folder, tables=8, upload_bytes=100_000, prepare=False), self.gate
            )
        self.workspace = self.app.state.workspace
        self.workspace.jobs._threads = AtOnce()
        self.folder = self.workspace.private.path
        self.loop = asyncio.new_event_loop()
        # A browser's loop may be running in this thread.
        self.thread = ThreadPoolExecutor(1)
        self.ids: dict[str, str] = {}
        self.kept: dict[str, tuple[dict[str, Any], Any, dict[Any, Any], set[str]]] = {}
        for kind in _KINDS:
            self._open(kind)
        atexit.register(self.end)

    def end(self) -> None:
        self.workspace.end()
        self.thread.shutdown()
        self.loop.close()
        self.place.cleanup()

    def _carried_out(self, *call: Any) -> None:
        self.loop.run_until_complete(self.app(*call))

    def table(self, kind: str) -> OpenTable:
        found: OpenTable = self.workspace.tables._tables[self.ids[kind]]
        return found

    def _open(self, kind: str) -> None:
        """A table of a kind with all its files, as far as it goes before questions."""
        self.ids[kind] = json.loads(
            self._asked("POST", "/api/v1/tables", json.dumps({"kind": kind}).encode())[1]
        )["id"]
        table = self.table(kind)
        for slot, body in _files(kind).items():
            path = table.folder / f"{slot}.csv"
            path.write_bytes(body)
            self.workspace.add_upload(table, slot, str(path), f"{slot}.csv")
        if kind == "release":
            self.workspace.scan(table)
            roles = {
                "name": "identifier",
                "age": "quasi-identifier",
                "zip": "quasi-identifier",
                "born": "quasi-identifier",
                "ill": "sensitive",
                "pay": "insensitive",
            }
            for verb, path, form in (("PUT", "roles", {"roles": roles}), ("POST", "preview", {})):
                status, _ = self._asked(verb, f"/api/v1/tables/{table.id}/{path}", json.dumps(form).encode())
                assert status < 300
        session = table.worker().service.session  # type: ignore[attr-defined]
        state = {name: _copied(getattr(table, name)) for name in _STATE}
        self.kept[kind] = (
            state,
            session.preview,
            dict(session._open),
            {p.name for p in table.folder.iterdir()},
        )

    def restore(self) -> None:
        """Every table as it was, and no other."""
        for name in [name for name in self.workspace.tables._tables if name not in self.ids.values()]:
            self.workspace.close(name)
        self.workspace.jobs._jobs.clear()
        for kind in _KINDS:
            if self.ids[kind] not in self.workspace.tables._tables:
                self._open(kind)
                continue
            table = self.table(kind)
            state, preview, opened, files = self.kept[kind]
            for name, value in state.items():
                setattr(table, name, _copied(value))
            session = table.worker().service.session  # type: ignore[attr-defined]
            session.preview, session._open = preview, dict(opened)
            for path in table.folder.iterdir():
                if path.name not in files:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            for slot, body in _files(kind).items():
                if (table.folder / f"{slot}.csv").read_bytes() != body:
                    (table.folder / f"{slot}.csv").write_bytes(body)

    def ask(self, method: str, path: str, body: bytes) -> None:
        """Send a request and hold the answer against what is promised."""
        for kind, name in self.ids.items():
            path = path.replace(f"{{{kind}}}", name)
        with changes_outside(self.folder) as written:
            status, answer = self._asked(method, path, body)
        assert not written, f"written outside its folder: {written}"
        assert 200 <= status < 500, (status, answer[:500])
        text = answer.decode("utf-8", "replace")
        assert str(self.folder) not in text, "an answer tells where the private folder is"
        assert "Traceback" not in text
        if path.startswith("/api/v1") and "/downloads/" not in path and status != 204:
            told = json.loads(text, parse_constant=_no_constant)
            assert status < 400 or (len(told["error"]) > 5 and "internal fault" not in text), text[:500]
        for job in self.workspace.jobs.every():
            assert job.status < 500, f"{job.what}: {job.error}"
            text += job.error or ""
        if not any(part in path for part in REVEALING) and b"reveal" not in body:
            for value in PLANTED:
                assert value in path or value.encode() in body or value not in text, "a value is told"

    def _asked(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        plain, _, query = path.partition("?")
        kind = "application/octet-stream" if plain.endswith("/upload") else "application/json"
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote_to_bytes(plain).decode("utf-8", "replace"),
            "raw_path": plain.encode("utf-8", "replace"),
            "query_string": quote(query, safe="=&%+").encode(),
            "root_path": "",
            "headers": [
                (b"host", b"127.0.0.1:80"),
                (b"content-type", kind.encode()),
                (b"authorization", f"Bearer {self.gate.token}".encode()),
            ],
            "client": ("127.0.0.1", 9),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])
        status, parts = [], []

        async def receive() -> dict[str, Any]:
            return next(messages, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
            else:
                parts.append(message.get("body", b""))

        self.thread.submit(self._carried_out, scope, receive, send).result()
        assert len(status) == 1
        return status[0], b"".join(parts)


def _copied(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else value


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


@cache
def _files(kind: str) -> dict[str, bytes]:
    ill = ("quinsy", "scrofula")
    rows = [
        (
            f"Zebedee-{i}",
            20 + i * 7 % 40,
            f"{10100 + i % 9}",
            f"19{60 + i % 30}-0{1 + i % 9}-11",
            ill[i % 2],
            i * 1.5,
        )
        for i in range(60)
    ]
    people = _csv("name,age,zip,born,ill,pay", rows)
    masked = _csv(
        "name,age,zip,born,ill,pay",
        [(*row[:1], row[1] + i % 3, *row[2:5], row[5] - i % 4) for i, row in enumerate(rows)],
    )
    baskets = _csv("person,item", [(i // 2, "pqrs"[i * i % 4]) for i in range(40)])
    return {
        "release": {"data": people},
        "comparison": {"original": people, "masked": masked},
        "subject": {"released": masked},
        "attack": {
            "released": baskets,
            "known": _csv("item,share", [("a", 0.2), ("b", 0.2), ("c", 0.3), ("d", 0.3)]),
            "truth": _csv("item,pseudonym", zip("abcd", "pqrs", strict=True)),
        },
    }[kind]


def _csv(head: str, rows: Any) -> bytes:
    return "\n".join([head, *(",".join(map(str, row)) for row in rows), ""]).encode()


@cache
def _site() -> Site:
    return Site()


def target(data: bytes) -> None:
    """Send the requests, one after another, to tables that are as they were at the beginning."""
    site = _site()
    try:
        for request in data.split(b"\n\n")[:6]:
            line, _, body = request.partition(b"\n")
            method, _, path = line.decode("utf-8", "replace").partition(" ")
            if method in ("GET", "POST", "PUT", "DELETE") and path.startswith("/"):
                site.ask(method, path, body)
    finally:
        site.restore()
