"""Long work: cancelled, too long, too much, too many; and what is left behind."""

from __future__ import annotations

import shutil
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crypsis.web import limits
from crypsis.web.jobs import Job, Jobs
from crypsis.web.limits import folder_bytes
from crypsis.web.settings import Settings
from crypsis.web.worker_process import Question, WorkerProcess
from tests.web.conftest import Caller, running

UPLOAD = "/api/v1/tables/upload"


def _rows(count: int) -> bytes:
    lines = [f"{i},{i * 7919 % 104729},{i % 97},{i % 89},{i % 3}" for i in range(count)]
    return ("id,a,b,c,d\n" + "\n".join(lines)).encode()


def test_a_job_that_needs_too_much_memory_is_stopped(tmp_path: Path) -> None:
    with running(job_bytes=60_000_000, folder=tmp_path) as server, Caller(server) as asking:
        answer = asking.post(UPLOAD, params={"name": "x.csv"}, content=_rows(100))
        job = asking.ended(answer)
        assert job["state"] == "failed"
        assert "limit of 60 MB" in job["error"]
        assert asking.get("/").status_code == 200  # nobody else is taken along


def test_a_job_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    with running(job_seconds=0.01, folder=tmp_path) as server, Caller(server) as asking:
        job = asking.ended(asking.post(UPLOAD, params={"name": "x.csv"}, content=_rows(200_000)))
        assert job["state"] == "failed"
        assert "longer than the limit of 0.01 seconds" in job["error"]


def test_cancelling(caller: Caller) -> None:
    table = caller.table("x.csv", _rows(60_000))
    roles = {
        "id": "insensitive",
        "a": "quasi-identifier",
        "b": "quasi-identifier",
        "c": "quasi-identifier",
        "d": "sensitive",
    }
    caller.put(f"/api/v1/tables/{table}/roles", json={"roles": roles})
    begun = caller.ask(table, "assess")
    busy = caller.ask(table, "assess")
    assert busy.status_code == 409
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"accept": True}).status_code == 409
    caller.post(f"/api/v1/jobs/{begun.json()['id']}/cancel")
    ended = caller.ended(begun)
    assert ended["seconds"] < 20
    if ended["state"] == "done":  # an assessment tells what is known by then
        assert not caller.get(f"/api/v1/tables/{table}/assessment").json()["complete"]
    else:
        assert ended["state"] == "cancelled"
    # and the table can be used at once
    assert caller.get(f"/api/v1/tables/{table}").json()["job"] is None
    counting = caller.ask(table, "preview")
    # Another role is taken at once: what is counted with the old one is dropped.
    again = caller.put(f"/api/v1/tables/{table}/roles", json={"roles": {"c": "excluded"}, "discard": True})
    assert again.status_code == 200
    caller.ended(counting)
    assert caller.ask(table, "what-if").status_code == 409


def test_progress_never_falls() -> None:
    job = Job("1", "t", "Asking", "/", main="assessing")
    heard = []
    for what, done, total in (
        ("counting values", 8, 8),  # a step before: it is no share of the job
        ("assessing", 1, 4),
        ("sampling", 0, 100),
        ("assessing", 2, 4),
        ("assessing", 0, 4),
    ):
        job.hear({"what": what, "done": done, "total": total, "finished": False})
        heard.append(job.to_dict()["share"])
    assert heard == [None, 0.25, 0.25, 0.5, 0.5]


def test_a_process_that_died_is_replaced(caller: Caller, server: object) -> None:
    table = caller.table("x.csv", _rows(300))
    workspace = server.app.state.workspace  # type: ignore[attr-defined]
    workspace.tables.get(table).worker().kill()
    roles = {"a": "quasi-identifier", "b": "quasi-identifier"}
    caller.put(f"/api/v1/tables/{table}/roles", json={"roles": roles})
    caller.done(caller.ask(table, "preview"))
    assert caller.ask(table, "what-if", k=3).json()["rows"] == 300


class Stubborn(WorkerProcess):
    """A process that answers nothing but `quick`, after a second, not even that it was cancelled."""

    def __init__(self) -> None:
        self._open, self._lock, self.killed = {}, threading.Lock(), False

    def ask(self, do: str, given: Any, news: Any = None) -> Question:
        question = Question(len(self._open), news)
        self._open[question.number] = question
        if do == "quick":
            threading.Timer(1.0, self._finish, [question]).start()
        return question

    def _finish(self, question: Question) -> None:
        if not self.killed:
            question.answer.set_result({})

    def cancel(self, question: Question) -> None: ...

    def memory_bytes(self) -> int:
        return 0

    @property
    def alive(self) -> bool:
        return not self.killed

    def kill(self) -> None:
        self.killed = True
        self._lose()


def test_a_process_that_is_killed_does_not_take_the_next_job_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_GRACE_SECONDS", 0.5)
    workers = [Stubborn()]

    def worker() -> WorkerProcess:
        if not workers[-1].alive:
            workers.append(Stubborn())
        return workers[-1]

    table = SimpleNamespace(id="t", folder=tmp_path, worker=worker, tidy=lambda: None, touch=lambda: None)
    jobs = Jobs(Settings())
    ask = partial(jobs.start, table, "asking", arguments={}, then=lambda _: None, page="/")  # type: ignore[arg-type]
    first = ask(do="slow", background=True)
    while first.state != "running":
        time.sleep(0.01)
    second = ask(do="quick")
    while first.active or second.active:
        time.sleep(0.01)
    assert (first.state, second.state) == ("cancelled", "done")
    # What is cancelled is over at once, though its process answers later; that answer is not taken.
    monkeypatch.setattr(limits, "_GRACE_SECONDS", 9.0)
    late: list[Any] = []
    for background in (True, False):
        job = jobs.start(table, "", "quick", {}, late.append, "/", background=background)  # type: ignore[arg-type]
        while job.state != "running":
            time.sleep(0.01)
        if background:
            jobs.drop_background("t")
        else:
            jobs.cancel(job.id)
        assert (job.state, job.over.is_set()) == ("cancelled", False)
    assert job.over.wait(10)
    assert (job.state, late) == ("cancelled", [])
    assert len(workers) == 2
    jobs.end()


def test_jobs_have_a_number(tmp_path: Path) -> None:
    with running(jobs=1, tables=40, folder=tmp_path) as server, Caller(server) as asking:
        workspace = server.app.state.workspace
        workspace.jobs._threads.submit(time.sleep, 1.0)  # the only place is taken for a while
        found = []
        for _ in range(9):
            table = asking.post("/api/v1/tables", json={"kind": "comparison"}).json()["id"]
            for slot in ("original", "masked"):
                answer = asking.post(
                    f"/api/v1/tables/{table}/files/{slot}/upload",
                    params={"name": "x.csv"},
                    content=b"a\n1\n2\n",
                )
                assert answer.status_code == 201
            found.append(asking.ask(table, "compare").status_code)
        assert found == [202] * 8 + [429]


def test_idle_tables_are_closed(tmp_path: Path) -> None:
    with running(idle_seconds=1.0, folder=tmp_path) as server, Caller(server) as asking:
        table = asking.post("/api/v1/tables", json={}).json()["id"]
        folder = server.app.state.workspace.tables.get(table).folder
        assert folder.is_dir()
        until = time.monotonic() + 15
        while folder.is_dir() and time.monotonic() < until:
            time.sleep(0.1)
        assert not folder.exists()
        assert asking.get(f"/api/v1/tables/{table}").status_code == 404
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_a_folder_that_vanishes_while_its_size_is_asked_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "stays").write_bytes(b"x" * 10)
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            inner = tmp_path / "profile" / "cache"
            inner.mkdir(parents=True)
            (inner / "entry").write_bytes(b"y")
            shutil.rmtree(tmp_path / "profile")

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        assert all(folder_bytes(tmp_path) in (10, 11) for _ in range(3000))
    finally:
        stop.set()
        thread.join()
